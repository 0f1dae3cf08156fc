"""From a table to a report: contents, continuation, and reproduction."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import nbformat
import numpy as np
import pandas as pd
import pytest
from support.browsing import NEEDS_CHROMIUM
from support.commands import call, call_book
from support.faults import bad_argument, fault

import cobandit as cb
from cobandit.advice.recommender import REDRAWS
from cobandit.errors import CobanditError
from cobandit.figures.front_page import SORTABLE
from cobandit.tables.storage import file_sha256
from companion.figures import experiment_figures as pictures
from companion.paper import experiment_cells, experiments
from companion.report import pages, plan, report, rerun, run

SOME = ["landscape", "identification-results"]
#: Frames that each page keeps.
KEPT = {
    "landscape": ("every",),
    "online-results": ("runs", "paths"),
    "identification-results": ("runs", "charged", "full"),
}


def write_table(
    folder,
    name="mine",
    n_arms=5,
    n_objectives=2,
    n_instances=40,
    seed=0,
    unit="USD",
    scale=1,
    holes=0,
):
    """A file and its card; names of configurations are as nasty as a user's."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.2, 0.9, (n_arms, n_objectives))
    costs = rng.uniform(1, 5, n_arms)
    scores = (rng.random((n_arms, n_instances, n_objectives)) < means[:, None]).astype(
        float
    )
    scores[0, :holes] = np.nan
    table = cb.EvaluationTable.from_arrays(
        scores,
        scale * costs[:, None] * rng.uniform(0.5, 1.5, (n_arms, n_instances)),
        configs=[f"c{k:04d}<b>&$x$ | _*" for k in range(n_arms)],
        objectives=[f"score{d}" for d in range(n_objectives)],
        unit=unit,
        profiling=n_instances // 2,
        name=name,
        kind="synthetic",
    )
    cb.save(table, folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


def write_report(folder):
    """A report of two pages on a table of five configurations."""
    write_table(folder)
    rerun(folder / "mine.parquet", folder / "report", fast=True, pages=SOME, budget=50)


@pytest.fixture(scope="module")
def home(once, tmp_path_factory):
    return shutil.copytree(
        once("rerun", write_report), tmp_path_factory.mktemp("rerun") / "home"
    )


@pytest.fixture(scope="module")
def first(home):
    return home / "report"


def known(folder):
    """The manifest of a report, as it stands in its file."""
    return json.loads((folder / run.NAME).read_text(encoding="utf-8"))


def statuses(folder):
    """What became of each page."""
    return {entry["page"]: entry["status"] for entry in known(folder)["pages"]}


def put(folder, manifest):
    (folder / run.NAME).write_text(json.dumps(manifest), encoding="utf-8")


class References(HTMLParser):
    """What a page's tags refer to, its pictures and its headings."""

    def __init__(self, text):
        super().__init__()
        self.found, self.pictures, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        arguments = dict(attributes)
        self.found += [
            arguments[name]
            for name in ("src", "href", "data", "srcset", "action")
            if arguments.get(name)
        ]
        if tag == "img" or arguments.get("role") == "img":
            self.pictures.append(
                arguments.get("alt") or arguments.get("aria-label", "")
            )
        if "id" in arguments:
            self.ids.append(arguments["id"])


@pytest.mark.slow
def test_report_has_its_parts(first):
    assert statuses(first) == dict.fromkeys(SOME, "done")
    folder = first
    for page in SOME:
        notebook = nbformat.read(folder / "notebooks" / f"{page}.ipynb", as_version=4)
        assert [
            c
            for c in notebook.cells
            if "injected-parameters" in c.metadata.get("tags", [])
        ]
        for name in KEPT[page]:
            stem = folder / "results" / f"{page}-{name}"
            parquet = pd.read_parquet(f"{stem}.parquet")
            csv = pd.read_csv(f"{stem}.csv")
            assert len(parquet) == len(csv) > 0

    advice = pd.read_parquet(folder / "results" / "recommendation.parquet")
    assert len(advice) == 5 and advice["cost"].is_monotonic_increasing
    named = pd.read_csv(folder / "results" / "evaluate-next.csv")
    price = named["configuration"].map(advice["cost"]).sum() if len(named) else 0.0
    assert price <= 50 and advice["missing"].sum() >= len(named)


@pytest.mark.slow
def test_report_results_match_the_library(first, home):
    folder = first
    table = cb.read(home / "mine.parquet")
    stored_results = pd.read_parquet(
        folder / "results" / "identification-results-full.parquet"
    )
    (entry,) = [
        e for e in known(folder)["pages"] if e["page"] == "identification-results"
    ]
    arguments = entry["parameters"]
    second_race = experiments.play(
        "full-set",
        table,
        arguments["replications"] // 5,
        arguments["seed"],
        arguments["full_rho"],
    )
    columns = ["method", "rho", "replication", "spent", "pulls", "f1"]
    pd.testing.assert_frame_equal(
        stored_results[columns], second_race[columns], check_dtype=False
    )


@pytest.mark.slow
def test_html_is_self_contained_and_describes_its_table(first):
    text = (first / "index.html").read_text(encoding="utf-8")
    page = References(text)
    assert all(ref.startswith(("#", "data:")) for ref in page.found), page.found
    assert "default-src 'none'" in text and not re.findall(
        r"url\((?!data:|#)|@import", text
    )
    assert (
        len(page.pictures) > 3
        and all(page.pictures)
        and len(set(page.ids)) == len(page.ids)
    )
    assert all(ref[1:] in page.ids for ref in page.found if ref.startswith("#"))
    assert "c0000&lt;b&gt;&amp;$x$" in text and "<b>&" not in text
    assert not re.search(r"\{(doc|prf:ref|cite)", text)


@pytest.mark.slow
def test_manifest_records_the_inputs(first, home):
    manifest = known(first)
    folder = first
    assert manifest["table"]["path"] == "../mine.parquet"
    assert manifest["software"]["cobandit"] == cb.__version__
    for files in (
        manifest["recommendation"],
        *(entry["files"] for entry in manifest["pages"]),
    ):
        assert files and files == {name: file_sha256(folder / name) for name in files}
    assert [entry["page"] for entry in manifest["pages"]] == SOME


@pytest.fixture
def counted(monkeypatch):
    """Names of the pages that are executed; they are not really."""
    done = []

    def pretend(page, given, output):
        done.append(page)
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_markdown_cell(f"# {page}")]
        )
        nbformat.write(notebook, output)
        frame = pd.DataFrame({"x": [given["seed"]]})
        pages.save_frames(
            given["results"], {f"{page}-{name}": frame for name in KEPT[page]}
        )

    monkeypatch.setattr(pages, "execute", pretend)
    return done


@pytest.mark.slow
def test_finished_page_is_not_executed_again(first, home, counted):
    rerun(home / "mine.parquet", home / "report", fast=True, pages=SOME, budget=50)
    assert counted == [] and statuses(home / "report") == dict.fromkeys(SOME, "kept")


@pytest.mark.slow
def test_other_seed_or_damaged_file_is_executed_again(home, counted, tmp_path):
    table = write_table(tmp_path)
    rerun(table, tmp_path / "r", fast=True, pages=SOME)
    rerun(table, tmp_path / "r", fast=True, pages=SOME, seed=1)
    assert counted == SOME * 2
    (tmp_path / "r" / "results" / "landscape-every.csv").write_text("spoilt")
    rerun(table, tmp_path / "r", fast=True, pages=SOME, seed=1)
    assert counted == [*SOME * 2, "landscape"]
    assert statuses(tmp_path / "r") == {
        "landscape": "done",
        "identification-results": "kept",
    }


@pytest.mark.slow
def test_interrupted_report_continues(tmp_path, counted, monkeypatch):
    table = write_table(tmp_path)
    pretend = pages.execute

    def interrupted(page, *arguments, **how):
        if page == SOME[1]:
            raise KeyboardInterrupt
        pretend(page, *arguments, **how)

    monkeypatch.setattr(pages, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rerun(table, tmp_path / "r", fast=True, pages=SOME)
    monkeypatch.setattr(pages, "execute", pretend)
    rerun(table, tmp_path / "r", fast=True, pages=SOME)
    assert statuses(tmp_path / "r") == {SOME[0]: "kept", SOME[1]: "done"}
    assert (tmp_path / "r" / "index.html").is_file()


@pytest.mark.slow
def test_added_page_keeps_the_others(tmp_path, counted):
    table = write_table(tmp_path)
    rerun(table, tmp_path / "r", fast=True, pages=SOME)
    rerun(table, tmp_path / "r", fast=True, pages=["online-results"])
    assert statuses(tmp_path / "r") == dict(
        zip(run.SECTIONS, ["kept", "done", "kept"], strict=True)
    )


@pytest.mark.slow
def test_removed_page_loses_its_files(tmp_path, counted):
    table = write_table(tmp_path)
    report = tmp_path / "r"
    rerun(table, report, fast=True, pages=SOME)
    (report / "results" / "mine.csv").write_text("kept")
    rerun(table, report, fast=True, pages=["online-results"], seed=1)
    leftovers = {
        path.stem
        for folder in ("notebooks", "results")
        for path in (report / folder).iterdir()
    }
    assert not [name for name in leftovers if name.startswith(tuple(SOME))]
    assert {"online-results", "mine"} <= leftovers
    assert statuses(report) == {"online-results": "done"}


@pytest.mark.slow
def test_executed_pages_name_table_and_folder_as_given(tmp_path, monkeypatch):
    write_table(tmp_path)
    shutil.copytree(
        pages.pages_directory(),
        tmp_path / "book",
        ignore=shutil.ignore_patterns("*.ipynb"),
    )
    shown = BROKEN.replace(
        "1 / 0", "import cobandit\nprint(cobandit.open_table(dataset).n_arms)"
    )
    (tmp_path / "book" / "landscape.md").write_text(shown)
    monkeypatch.setattr(pages, "pages_directory", lambda: tmp_path / "book")
    monkeypatch.chdir(tmp_path)
    rerun("mine.parquet", "r", fast=True, pages=SOME[:1])
    executed = (tmp_path / "r" / "notebooks" / "landscape.ipynb").read_text()
    assert "mine.parquet" in executed and str(tmp_path) not in executed
    assert statuses(tmp_path / "r") == {"landscape": "done"}


def test_names_in_table_headings_are_escaped():
    shown = report._html(pd.DataFrame({"cost (<i>USD</i>)": ["<b>"]}))
    assert (
        "&lt;i&gt;USD" in shown and "<i>" not in shown and "<td>&lt;b&gt;</td>" in shown
    )


@pytest.mark.slow
def test_report_follows_its_options(tmp_path, counted):
    table = write_table(tmp_path)
    for about, message in (
        ("benchmark", "about the instances of the table"),
        ("instances", "independent draws from"),
    ):
        rerun(table, tmp_path / about, fast=True, pages=["landscape"], about=about)
        assert (
            message in (tmp_path / about / "index.html").read_text()
            and known(tmp_path / about)["options"]["about"] == about
        )
    second_run = rerun(None, tmp_path / "again", follow=tmp_path / "benchmark")
    assert second_run.options.about == "benchmark" and second_run.differs == []


@pytest.mark.slow
def test_interrupted_command_explains_how_to_continue(tmp_path, monkeypatch):
    def interrupted(*arguments, **how):
        raise KeyboardInterrupt

    table = write_table(tmp_path)
    monkeypatch.setattr(pages, "execute", interrupted)
    result = call_book("rerun", table, "-o", tmp_path / "r", "--fast")
    assert (
        result.exit_code == 130
        and "interrupted; the same command continues" in result.stderr
    )


@pytest.mark.slow
def test_report_on_another_table_does_not_mention_the_papers_tables(first):
    text = (first / "index.html").read_text(encoding="utf-8")
    shown = re.sub(r"<(style|script).*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
    assert (
        "The ranges" in shown
        and "Table 1" not in shown
        and not re.search(
            r"\bpapers?\b(?!.{1,6}s ratio)",
            shown,  # which the answer gives in one line, with its definition
        )
    )
    assert not re.search(r"\{[a-z:]+\}|```", shown)


@pytest.mark.slow
@pytest.mark.parametrize("page", KEPT)
def test_report_text_has_no_directives_or_paper_references(page):
    """Words of the pages; what their cells print is tested on reports."""
    text = "\n\n".join(
        cell.source
        for cell in pages._notebook(page).cells
        if cell.cell_type == "markdown"
    )
    assert text and not re.search(r"\{[\w:-]+\}|```|:::|\)=$", text, re.MULTILINE)
    allowed = "radii that the paper tuned on its own data"
    assert not re.search(
        r"[Pp]aper|Figures? \d|Table \d|claims", text.replace(allowed, "")
    )


@pytest.mark.slow
def test_landscape_shares_equal_those_of_the_recommendation():
    for fast in (True, False):
        planned = plan(cb.load("synthetic-24"), fast=fast, seed=3)[0]
        assert planned.parameters == {"replications": REDRAWS, "seed": 3}


@pytest.mark.slow
def test_manifest_reproduces_the_results(first, home, tmp_path):
    """Table and report moved to another place; one of its pages, really executed."""
    for name in ("mine.parquet", "mine.yml"):
        shutil.copy(home / name, tmp_path / name)
    (tmp_path / "report").mkdir()
    manifest = known(home / "report")
    manifest["options"]["pages"] = SOME[:1]
    put(tmp_path / "report", manifest | {"pages": manifest["pages"][:1]})
    earlier = tmp_path / "report" / "manifest.json"
    result = call_book("rerun", "--from", earlier, "-o", tmp_path / "again")
    assert result.exit_code == 0 and "byte for byte" in " ".join(
        result.stdout.split()
    ), result.output
    repeated = known(tmp_path / "again")
    assert repeated["options"] == manifest["options"]
    for suffix in ("csv", "parquet"):
        name = f"results/landscape-every.{suffix}"
        assert (
            repeated["pages"][0]["files"][name] == manifest["pages"][0]["files"][name]
        )


@pytest.mark.slow
def test_differences_from_the_manifest_are_named(tmp_path, counted):
    table = write_table(tmp_path)
    rerun(table, tmp_path / "r", fast=True, pages=SOME)
    report = known(tmp_path / "r")
    report["pages"][0]["files"]["results/landscape-every.csv"] = "0" * 64
    put(tmp_path / "r", report)
    result = call_book("rerun", "--from", tmp_path / "r", "-o", tmp_path / "again")
    assert result.exit_code == 1 and "results/landscape-every.csv" in "".join(
        result.stdout.split()
    )


BROKEN = """\
---
kernelspec: {display_name: Python 3, language: python, name: python3}
jupytext: {text_representation: {extension: .md, format_name: myst}}
---

# Broken

```{code-cell} ipython3
:tags: [parameters]

dataset = "synthetic-24"
replications = 3
seed = 0
results = ""
rho = [1]
full_rho = [1]
```

```{code-cell} ipython3
print("so far so good")
```

```{code-cell} ipython3
1 / 0
```
"""


@pytest.mark.slow
def test_failing_page_is_reported_and_others_are_kept(tmp_path, monkeypatch):
    table = write_table(tmp_path)
    book = tmp_path / "book"
    shutil.copytree(
        pages.pages_directory(), book, ignore=shutil.ignore_patterns("*.ipynb")
    )
    (book / "landscape.md").write_text(BROKEN)
    sound = BROKEN.replace(
        "1 / 0", "import pandas as pd\nruns = pd.DataFrame({'x': [1]})"
    )
    sound += "\n```{code-cell} ipython3\nfrom companion.report import pages\n"
    sound += 'pages.save_frames(results, {"identification-results-full": runs})\n```\n'
    (book / "identification-results.md").write_text(sound)
    monkeypatch.setattr(pages, "pages_directory", lambda: book)
    result = call_book(
        "rerun",
        table,
        "-o",
        tmp_path / "r",
        "--fast",
        "--page",
        SOME[0],
        "--page",
        SOME[1],
    )
    assert result.exit_code == 1 and "landscape: failed" in result.stdout, result.output
    text = (tmp_path / "r" / "index.html").read_text()
    assert (
        "failed in code cell 4: ZeroDivisionError" in text and "so far so good" in text
    )
    assert statuses(tmp_path / "r") == {SOME[0]: "failed", SOME[1]: "done"}
    assert (tmp_path / "r" / "notebooks" / "landscape.ipynb").is_file()
    assert (tmp_path / "r" / "results" / "identification-results-full.csv").is_file()


def manifest(**changes):
    """A manifest with every field, of a table that does not exist."""
    table = dict.fromkeys(("name", "path", "sha256", "card_sha256"), "o")
    rest = {"options": {}, "software": {}, "recommendation": {}, "pages": []}
    return {
        "format": "cobandit report, 2",
        "command": "",
        "table": table,
        **rest,
        **changes,
    }


@pytest.mark.slow
def test_bad_input_changes_nothing(tmp_path, monkeypatch, refused_by_book):
    table = write_table(tmp_path)
    other_table = write_table(tmp_path, "other", seed=1)
    for name in ("full", "later", "ofother", "short", "odd"):
        (tmp_path / name).mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "bad.json").write_text("{")
    put(tmp_path / "later", manifest(format="cobandit report, 3"))
    put(tmp_path / "ofother", manifest())
    put(tmp_path / "short", {"table": {"name": "o"}})
    put(tmp_path / "odd", manifest(options={"pages": ["errata"]}))
    monkeypatch.chdir(tmp_path)
    # code, place, words of the message, and the command
    cases = [
        ("no-file", "none.parquet", "", ["rerun", "none.parquet"]),
        ("unknown-table", "", "'synthetic-25'", ["rerun", "synthetic-25"]),
        ("missing-table", "table", "--from", ["rerun"]),
        ("other-report", "output", "mine", ["rerun", table, "-o", "full"]),
        ("other-report", "output", "mine", ["rerun", table, "-o", "file"]),
        ("other-report", "output", "on o ", ["rerun", other_table, "-o", "ofother"]),
        ("other-report", "output", "command", ["rerun", table, "-o", "short"]),
        ("other-report", "output", "report, 2", ["rerun", table, "-o", "later"]),
        (
            "unknown-choice",
            "page of the report",
            "'landscape'?",
            ["rerun", table, "--page", "landscpe"],
        ),
        ("unknown-choice", "page", "'landscape'?", ["page", "landscpe"]),
        (
            "unknown-choice",
            "parameter of landscape",
            "'replications'?",
            ["page", "landscape", "-p", "replicatoins=3"],
        ),
        ("option-form", "--parameter", "seed", ["page", "landscape", "-p", "seed"]),
        ("output-file", "--output", ".ipynb", ["page", "landscape", "-o", "out.html"]),
        (
            "missing-output",
            "--output",
            "--parameter",
            ["page", "landscape", "-p", "seed=1"],
        ),
        (
            "no-file",
            "none.parquet",
            "",
            ["page", "landscape", "-p", "dataset=none.parquet", "-o", "a.ipynb"],
        ),
        (
            "unknown-table",
            "",
            "'nome'",
            ["page", "experiments", "-p", "dataset=[gsm8k, nome]", "-o", "a.ipynb"],
        ),
        ("bad-record", "bad.json", "JSON", ["rerun", "--from", "bad.json"]),
        ("bad-record", "later", "report, 2", ["rerun", "--from", "later"]),
        ("bad-record", "short", "command", ["rerun", "--from", "short/manifest.json"]),
        (
            "unknown-choice",
            "page of the report",
            "'errata'",
            ["rerun", "--from", "odd"],
        ),
        (
            "other-options",
            "--from",
            "options",
            ["rerun", "--from", "ofother", "--seed", "1", "--fast"],
        ),
        ("unreadable-file", "none.json", "", ["rerun", "--from", "none.json"]),
        ("out-of-range", "budget", "-1", ["rerun", table, "--budget", "-1", "--fast"]),
        ("out-of-range", "seed", "-1", ["rerun", table, "--seed", "-1"]),
    ]
    before = sorted(tmp_path.rglob("*"))
    for code, place, word, words in cases:
        error = call_book(*words).exception
        assert isinstance(error, CobanditError), (words, error)
        (only,) = error.faults
        assert only.code == code and place in only.file, (words, only)
        assert word in only.problem, (words, only)
    # as a program, the command prints one message and exits with 2
    assert "none.parquet" in refused_by_book("rerun", "none.parquet")
    assert "about" in refused_by_book("rerun", table, "--about", "benchmrk")

    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_every_page_of_the_report_has_its_parameters():
    assert (
        {path.stem for path in pages.SECTIONS.glob("*.md")}
        == set(run.SECTIONS)
        <= pages.paths().keys()
    )
    for planned in plan(cb.load("synthetic-24"), fast=True, seed=0):
        if planned.page in run.SECTIONS:
            pages.refuse_unknown(
                planned.page, {"dataset", "results", *planned.parameters}
            )


@pytest.mark.slow
def test_report_accounts_for_every_page_of_the_book():
    table = cb.load("synthetic-24")
    of_the_book = {path.stem for path in pages.pages_directory().glob("*.md")}
    for fast in (True, False):
        planned = {page.page: page for page in plan(table, fast=fast, seed=3)}
        assert planned.keys() == of_the_book | {*run.SECTIONS}
        assert all(planned[page].reason for page in pages.FIXED)
        for chapter in pages.CHAPTERS:
            assert bool(planned[chapter].reason) is fast
            pages.refuse_unknown(chapter, {"dataset", *planned[chapter].parameters})
    options = {
        page.page: page for page in plan(table, fast=True, seed=3, requested=["once"])
    }
    assert options["once"].reason is None and not {*options} & {*pages.FIXED}


@pytest.mark.slow
def test_page_runs_with_given_parameters(tmp_path, monkeypatch):
    shown = BROKEN.replace("1 / 0", "print(dataset, replications + 1)")
    (tmp_path / "short.md").write_text(shown)
    monkeypatch.setattr(pages, "pages_directory", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    result = call_book(
        "page",
        "short",
        "-p",
        "dataset=mine.parquet",
        "-p",
        "replications=4",
        "-o",
        "out.ipynb",
    )
    assert result.exit_code == 0, result.output
    cells = nbformat.read("out.ipynb", as_version=4).cells
    (injected,) = [
        c for c in cells if "injected-parameters" in c.metadata.get("tags", [])
    ]
    assert "replications = 4" in injected.source
    assert cells[-1].outputs[0]["text"] == "mine.parquet 5\n"


def test_page_shows_its_parameters():
    assert "replications = 2000" in call_book("page", "landscape").stdout


def test_missing_tools_are_named(monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    with bad_argument("missing-package", names=["pip install ipykernel", "papermill"]):
        pages.parameters("landscape")


@pytest.mark.parametrize(
    ("arguments", "code", "place"),
    [
        ({"fastt": True}, "extra_forbidden", "rerun, fastt"),
        ({"seed": "a"}, "int_parsing", "rerun, seed"),
    ],
)
def test_refused_report_writes_nothing(arguments, code, place, tmp_path):
    with fault(code, place):
        rerun("synthetic-24", tmp_path / "report", **arguments)
    assert not (tmp_path / "report").exists()


def test_report_without_its_tools_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    with bad_argument("missing-package", names=["papermill"]):
        rerun("synthetic-24", tmp_path / "report")
    assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_paths_of_two_arms_are_drawn_from_their_first_pull(tmp_path):
    """With two arms, the first steps of the budget buy nothing and have no average."""
    table = cb.read(write_table(tmp_path, n_arms=2, n_objectives=1))
    paths = experiments.play("trajectory", table, replications=2)
    assert paths["moving_average"].isna().any()
    cells = experiment_cells.trajectory_cells(paths).assign(dataset=table.name)
    assert all(ax.lines for ax in pictures.draw_along(cells, {table.name: ""}).axes)


@pytest.mark.slow
@pytest.mark.parametrize("n_objectives", [1, 3])
@pytest.mark.parametrize("n_arms", [2, 40, 3000])
def test_plan_fits_its_table(n_arms, n_objectives, tmp_path):
    table = cb.read(
        write_table(tmp_path, n_arms=n_arms, n_objectives=n_objectives, n_instances=4)
    )
    for fast in (True, False):
        planned = {entry.page: entry for entry in plan(table, fast=fast, seed=3)}
        assert set(planned) >= set(KEPT)
        assert planned["landscape"].reason is planned["online-results"].reason is None
        assert (planned["identification-results"].reason is not None) == (
            n_arms == 3000
        )
        minimum = cb.theory.allocation_constant(
            n_arms, table.costs.min() / table.costs.max()
        )
        for entry in planned.values():
            assert bool(entry.parameters) == (entry.reason is None)
            if "rho" in entry.parameters and "identif" in entry.page:
                assert (
                    min(entry.parameters["rho"]) >= minimum
                    and len(entry.parameters["rho"]) >= 3
                )


@pytest.mark.browser
@NEEDS_CHROMIUM
@pytest.mark.slow
def test_report_opens_from_disk(first, visit):
    visited = visit((first / "index.html").resolve().as_uri())
    tab = visited.tab
    assert tab.locator("img, [role=img]").count() > 3
    assert tab.evaluate("[...document.images].filter(i => !i.naturalWidth).length") == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
    head = tab.locator("#recommendation table").first.locator("th", has_text="USD/eval")
    place = head.evaluate("cell => cell.cellIndex")

    def column():
        rows = tab.locator("#recommendation table").first.locator("tbody tr")
        return [float(row.locator("td").nth(place).inner_text()) for row in rows.all()]

    before = column()
    head.locator("button").click()
    assert column() == sorted(before) and head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert column() == sorted(before, reverse=True) and len(set(before)) > 1
    assert tab.evaluate(
        "[...document.querySelectorAll('thead th')].every(th =>"
        " th.querySelector('button'))"
    )
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    assert not visited.complaints and not visited.went_to("file:")


@pytest.mark.browser
@NEEDS_CHROMIUM
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["gpt", "10b", "9b", "7b-it"], ["10b", "7b-it", "9b", "gpt"]),
        (
            ["10 ±3", "–", "9 ±1", "1,080 (1,060–1,100)"],
            ["9 ±1", "10 ±3", "1,080 (1,060–1,100)", "–"],
        ),
        (["1.5e+04", "2e3", "-7", "84 %"], ["-7", "84 %", "2e3", "1.5e+04"]),
    ],
)
@pytest.mark.slow
def test_columns_sort_as_numbers_only_if_all_are(browser, cells, expected):
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells)
    script = SORTABLE.read_text()
    tab = browser.new_page()
    tab.set_content(
        f"<table><thead><tr><th>a</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    tab.evaluate(f"() => {{ {script} }}")
    tab.locator("button").click()
    assert tab.locator("tbody td").all_inner_texts() == expected
    tab.close()


@pytest.mark.slow
def test_narrow_terminal_shows_what_to_evaluate_next_and_whole_prices(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    table = write_table(tmp_path, unit="tokens (characters / 4)", scale=1000, holes=5)
    advice = cb.recommend(cb.read(table), 1e5)
    shown = call("recommend", table, "--budget", "1e5").stdout
    assert max(map(len, shown.splitlines())) <= 80
    text = " ".join(shown.split())
    assert all(
        f"{pair.configuration} on instance {pair.instance}" in text
        for pair in advice.next.pairs[:3].itertuples()
    )
    cells = shown.partition("\nSure")[0]
    assert re.search(r"/eval +score0", cells)
    for cost in advice.front["cost"]:
        assert f" {cost:,.4g} " in cells, cost
    assert re.search(
        r"<th>n</th>\s+<th>tokens \(characters / 4\)/eval", report._arms(advice)
    )
