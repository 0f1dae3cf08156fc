"""Every page on any table: it runs and has no sentences for other tables."""

from __future__ import annotations

import re

import nbformat
import pytest
import warm
import yaml
from jupyter_client.provisioning import KernelProvisionerFactory
from support.reading import OF_THE_BOOK
from support.table_shapes import SHAPES, save_shape

import cobandit as cb
from cobandit.errors import CobanditError
from cobandit.tables.storage import file_sha256
from companion.report import pages, run_page

#: Parameters with which a page takes seconds.
SMALL = {
    "claims": {"replications": 2},
    "exhibits": {"replications": 2},
    "cohv-ucb": {
        "rho": 5,
        "replications": 2,
        "runs": 1,
        "table_budget": 100.0,
        "largest_budget": 2000.0,
    },
    "standard-regret": {
        "short_runs": 50,
        "table_budget": 30.0,
        "slope_budgets": [1e2, 1e3],
        "slope_runs": [2, 2],
        "region_runs": 20,
        "rho": [4],
        "table_runs": 2,
    },
    "copsi": {"rho": 40, "replications": 20, "problems": 2},
    "once": {"shares": [0.2, 1.0], "replications": 2, "replays": 20, "budgets": [50]},
    "experiments": {"replications": 2, "redraws": 1, "choices": 2, "wide_runs": 3},
    "errata": {"replications": 20},
    "your-data": {"replications": 2, "online_rho": [2], "identification_rho": [20]},
}
#: Two configurations and 150; one, two and four objectives; costs that are a
#: millionfold apart or free; holes; exact ties; other scripts.
TABLES = (
    "two",
    "four-objectives",
    "holes",
    "free",
    "ties",
    "millionfold",
    "other-scripts",
    "widest",
)
#: All or one on the front; equal costs; long names; no instance in common: for pages
#: that show most of one.
MORE_TABLES = ("all-front", "one-front", "equal-costs", "long-names", "nothing-shared")
SHOWING_MOST = ("your-data", "once")
EVERY = [
    *((page, table) for page in SMALL for table in TABLES),
    *((page, table) for page in SHOWING_MOST for table in MORE_TABLES),
]
#: In every run of the tests; `make pages` has the others.
SAMPLE = [
    ("your-data", "holes"),
    ("once", "four-objectives"),
]

#: Pages that show a table next to the paper's own numbers, whose reconstructions have
#: names.
ABOUT_THE_PAPER = {"claims", "exhibits", "errata"}
NAMES_OF_BUNDLED = re.compile(r"`?\b(word-sums|piqa-small|gsm8k|synthetic-24)\b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for tables and notebooks, with kernels that start quickly."""
    factory = KernelProvisionerFactory.instance()
    usual = factory.default_provisioner_name
    warm.use()
    yield tmp_path_factory.mktemp("pages")
    factory.default_provisioner_name = usual


def run(page, shape, folder, **arguments):
    """Run a page on a table as the command does; the notebook."""
    table = folder / f"{shape}.parquet"
    output = folder / f"{page}-{shape}.ipynb"
    if not table.exists():
        save_shape(shape, folder)
    pages.execute(page, {"dataset": str(table), **SMALL[page], **arguments}, output)
    return nbformat.read(output, as_version=4)


def shown(notebook):
    """Return prose and computed sentences of a notebook, without its parameters."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in notebook.cells:
        if not cell.source.startswith("how_to_run("):
            texts += [
                output.get("data", {}).get("text/markdown", "")
                for output in cell.get("outputs", [])
            ]
    return texts


def drawn(notebook):
    """Return pictures, tables and printed text of a notebook, and its warnings."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output.get("data", {}).get("text/html", "") for output in outputs]
    streams = [output for output in outputs if output.output_type == "stream"]
    printed = [output.text for output in streams if output.name == "stdout"]
    return pictures + printed, [
        output.text for output in streams if output.name == "stderr"
    ]


def check(page, shape, folder):
    """Run it, and look at what a reader sees."""
    notebook = run(page, shape, folder)
    texts = shown(notebook)
    pictures, warned = drawn(notebook)
    assert not warned
    if page not in ABOUT_THE_PAPER:
        assert not [
            matched[0]
            for picture in pictures
            if (matched := NAMES_OF_BUNDLED.search(picture))
        ]

    raw = [matched[0] for text in texts if (matched := OF_THE_BOOK.search(text))]
    others = [
        matched[0] for text in texts if (matched := NAMES_OF_BUNDLED.search(text))
    ]
    assert not raw
    assert not others
    assert not [text for text in texts if re.search(r"\bnan\b|\{glue:", text)]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "shape"), SAMPLE)
def test_page_runs_on_a_table(page, shape, folder):
    check(page, shape, folder)


@pytest.mark.pages
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "shape"), [pair for pair in EVERY if pair not in SAMPLE]
)
def test_every_page_runs_on_every_table(page, shape, folder):
    check(page, shape, folder)


@pytest.mark.pages
@pytest.mark.slow
def test_page_reports_reductions_at_extreme_costs(folder):
    texts = shown(run("your-data", "millionfold", folder, online_rho=[2, 32]))
    assert re.search(
        "budgets up to 2 instead of 32 evaluations", " ".join(texts), re.IGNORECASE
    )


@pytest.mark.pages
@pytest.mark.slow
def test_identity_of_regret_holds_where_costs_do_not_vary(folder):
    """Its two sides then differ by rounding alone, which no z statistic may judge."""
    run("standard-regret", "ties", folder, table_budget=300.0)


@pytest.mark.slow
def test_every_page_with_a_table_is_tested():
    of_the_book = {path.stem for path in pages.pages_directory().glob("*.md")}
    with_a_table = {page for page in of_the_book if "dataset" in pages.parameters(page)}
    assert {*SMALL} == with_a_table
    assert {*TABLES, *MORE_TABLES} <= {*SHAPES}
    assert {*SAMPLE} <= {*EVERY}


@pytest.mark.slow
def test_table_in_memory_and_csv_with_card_are_accepted(folder, tmp_path):
    table = SHAPES["two"]()
    written = run_page("your-data", table, tmp_path / "out.ipynb", **SMALL["your-data"])
    assert (
        written.is_file() and cb.read(tmp_path / "out.parquet").configs == table.configs
    )

    records = tmp_path / "mine.csv"
    table.evaluations.to_csv(records, index=False)
    card = yaml.safe_load((tmp_path / "out.yml").read_text(encoding="utf-8"))
    card |= {"records": records.name, "sha256": file_sha256(records)}
    records.with_suffix(".yml").write_text(yaml.safe_dump(card), encoding="utf-8")
    pages.execute(
        "your-data",
        {"dataset": str(records), **SMALL["your-data"]},
        tmp_path / "csv.ipynb",
    )
    ends = [
        nbformat.read(tmp_path / name, as_version=4).cells[-2:]
        for name in ("out.ipynb", "csv.ipynb")
    ]
    assert [cell.outputs for cell in ends[0]] == [cell.outputs for cell in ends[1]]


@pytest.mark.parametrize(
    ("output", "arguments"),
    [("out.html", {}), ("out.ipynb", {"dataset": "a"}), ("out.ipynb", {"rhoo": 1})],
)
def test_page_refuses_unknown_parameters(output, arguments, tmp_path):
    with pytest.raises(CobanditError):
        run_page("your-data", SHAPES["two"](), tmp_path / output, **arguments)
    assert not list(tmp_path.iterdir())
