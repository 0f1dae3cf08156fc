"""Any files and options give a valid table or one message, and no partial file.

`COBANDIT_FUZZ` is the number of inputs, 2,000 by default, shared by all targets; with
another number they are drawn anew in each run. Most inputs are only read; one in
thirty-two becomes a table on disk.
"""

import gzip
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support import logs, toy

from cobandit.errors import CobanditError
from cobandit.tables.card import Card, read_card
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.importers import IMPORTERS, import_logs
from cobandit.tables.importers.import_notes import Notes

pytestmark = pytest.mark.slow
ANEW = "COBANDIT_FUZZ" in os.environ
INPUTS = int(os.environ.get("COBANDIT_FUZZ", 2_000))

MEASURES = {
    "instance": "question",
    "cost": "tokens",
    "unit": "tokens",
    "objective": ["accuracy=correct"],
}
TIDY = MEASURES | {"config": ["model"], "arm": ["temperature"]}
#: Importer, what it reads, options, and the file that is damaged.
FILES = {
    "lm-eval": ("lm-eval", "lm", {"filter": "strict-match"}, "samples_*"),
    "lm-eval results": ("lm-eval", "lm", {"filter": "strict-match"}, "results_*"),
    "inspect json": ("inspect", "json", {"unfinished": True}, "json/*.json"),
    "inspect eval": ("inspect", "eval", {}, "*.eval"),
    "helm": ("helm", "helm", {"metric": "exact_match"}, "per_instance_stats.json"),
    "helm spec": ("helm", "helm", {"metric": "exact_match"}, "run_spec.json"),
    "csv": ("csv", "tidy.csv", TIDY, "tidy.csv"),
    "csv wide": (
        "csv",
        "wide.csv",
        MEASURES | {"wide": "{config}_{field}"},
        "wide.csv",
    ),
    "csv scores": (
        "csv",
        "wide.csv",
        {"instance": "question", "wide": "{config}", "scale": 99},
        "wide.csv",
    ),
    "csv gzip": ("csv", "t.csv.gz", TIDY, "t.csv.gz"),
    "csv lines": ("csv", "t.jsonl", TIDY, "t.jsonl"),
    "csv parquet": ("csv", "t.parquet", TIDY, "t.parquet"),
    "csv mapping": ("csv", "tidy.csv", {"mapping": "map.yml"}, "map.yml"),
}
VALUES = [
    "lm-eval",
    "lm-eval results",
    "inspect json",
    "helm",
    "helm spec",
    "csv lines",
]
#: `make acceptance` damages the other files.
QUICK = {"lm-eval", "inspect eval", "csv"}
#: Bytes in each of these, options of a CSV file, cells of one, cards in two ways;
#: values, which mostly stay valid and take longer, count half.
SHARES = len(FILES) + 4 + len(VALUES) / 2


def with_marks(names):
    """Return names as parameters of a test, those that are not quick with a mark."""
    return [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.acceptance)
        for name in names
    ]


def fuzz(share=1.0):
    """Settings for a share of all inputs."""
    return settings(
        max_examples=max(1, round(INPUTS * share / SHARES)),
        derandomize=not ANEW,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small logs of two configurations in every format; a test restores its changes."""
    place = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        shutil.copytree(logs.STORED, place, dirs_exist_ok=True)
        logs.write_lm_eval(place / "lm", function=lambda lines: lines[:4])
        for path in map(Path, (logs.HEADS, logs.TAILS)):
            logs.change(path, lambda log: log.update(samples=log["samples"][:4]))
            logs.pack(
                Path("eval", path.name).with_suffix(".eval"), r"samples/([5-9]|1.)_"
            )
        for path in place.rglob("per_instance_stats.json"):
            logs.change(path, lambda entries: entries.__delitem__(slice(9, None)))
        Path("wide.csv").write_text(
            "".join(Path("wide.csv").read_text().splitlines(keepends=True)[:5])
        )
        frame = (
            pd.read_csv("tidy.csv", dtype={"question": str}).groupby("model").head(4)
        )
        frame.to_csv("tidy.csv", index=False)
        frame.to_json("t.jsonl", orient="records", lines=True)
        frame.to_parquet("t.parquet")
        Path("t.csv.gz").write_bytes(gzip.compress(Path("tidy.csv").read_bytes()))
        Path("map.yml").write_text(yaml.safe_dump(TIDY))
        import_logs("csv", ["tidy.csv"], "old.parquet", **TIDY)
        yield place


def one(pattern):
    return sorted(Path().rglob(pattern))[0]


def reads_or_gives_one_error(source, path, options):
    """Only what an importer itself does, without the table and its files."""
    chosen = IMPORTERS[source]
    try:
        result = chosen.read_logs(
            [Path(path)], chosen.options.model_validate(options), Notes()
        )
    except CobanditError as error:
        assert " -> " in str(error) and len(str(error)) < 30_000
    else:
        assert {"config", "instance", result.cost.column} <= set(result.frame) and len(
            result.frame
        )


def gives_a_table_or_one_error(source, path, options):
    """Import, and return whether there is a table; only a message may replace it."""
    try:
        imported = import_logs(source, [path], "my.parquet", **options)
    except CobanditError as error:
        assert " -> " in str(error) and len(str(error)) < 30_000
        leftovers = {
            path.name
            for path in Path().iterdir()
            if path.name.startswith(("my.", ".cobandit"))
        }
        assert not leftovers
        return False
    try:
        assert imported.table.n_arms >= 2 and Path("my.yml").is_file()
    finally:
        Path("my.parquet").unlink()
        Path("my.yml").unlink()
    return True


def with_changed(path, content, name, on_disk):
    source, source_file, options, _ = FILES[name]
    whole = path.read_bytes()
    try:
        path.write_bytes(content)
        (gives_a_table_or_one_error if on_disk else reads_or_gives_one_error)(
            source, source_file, options
        )
    finally:
        path.write_bytes(whole)


ON_DISK = st.integers(0, 31).map(lambda number: number == 7)


@pytest.mark.parametrize("name", FILES)
def test_fuzzing_starts_from_valid_files(folder, name):
    source, path, options, _ = FILES[name]
    assert gives_a_table_or_one_error(source, path, options)


# Bytes and values.


@st.composite
def damage(draw):
    """Draw a function that replaces, truncates, overwrites or inserts bytes."""
    kind = draw(st.sampled_from(["replace", "cut", "overwrite", "insert", "repeat"]))
    junk = draw(
        st.binary(max_size=40)
        | st.sampled_from([b"0", b'"', b",", b"\n", b"\x00", b"-", b"e9", b"\xff"])
    )
    where = draw(st.floats(0, 1))

    def apply(content):
        at = int(where * len(content))
        end = at + len(junk) if kind == "overwrite" else at
        whole = {"replace": junk, "cut": content[:at], "repeat": content + content[at:]}
        return whole.get(kind, content[:at] + junk + content[end:])

    return apply


@pytest.mark.parametrize("name", with_marks(FILES))
@fuzz()
@given(change=damage(), on_disk=ON_DISK)
def test_any_bytes_give_a_table_or_a_fault(folder, name, change, on_disk):
    file = one(FILES[name][3])
    with_changed(file, change(file.read_bytes()), name, on_disk)


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(
        [
            0,
            -1,
            1,
            2**63,
            "",
            " ",
            "C",
            "\x00",
            "\x85\u2028",
            "0.5",
            1e308,
            5e-324,
            "example/sparrow-mini",
        ]
    )
    | st.sampled_from(
        [
            "[0-shot] x",
            "<b>",
            "a\nb",
            "x" * 3000,
            "2026-01-15T10:20:30+00:00",
            "error",
            "success",
        ]
    )
)
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def replacement(draw):
    """A function that puts another value, or nothing, at some place of a JSON value."""
    steps = draw(st.lists(st.integers(0, 40), max_size=7))
    value, remove = draw(NESTED), draw(st.booleans())

    def apply(tree):
        node, last, holder = tree, None, None
        for step in steps:
            keys = (
                list(node)
                if isinstance(node, dict)
                else range(len(node))
                if isinstance(node, list)
                else []
            )
            if not len(keys):
                break
            holder, last = node, keys[step % len(keys)]
            node = node[last]
        if holder is None:
            return value
        if remove:
            del holder[last]
        else:
            holder[last] = value
        return tree

    return apply


@pytest.mark.parametrize("name", with_marks(VALUES))
@fuzz(1 / 2)
@given(change=replacement(), on_disk=ON_DISK)
def test_any_values_give_a_table_or_a_fault(folder, name, change, on_disk):
    file = one(FILES[name][3])
    if file.suffix == ".jsonl":
        lines = file.read_text().splitlines()
        lines[0] = json.dumps(change(json.loads(lines[0])))
        changed = "\n".join(lines)
    else:
        changed = json.dumps(change(json.loads(file.read_text())))
    with_changed(file, changed.encode(), name, on_disk)


# Options and cells.

COLUMNS = st.sampled_from(
    ["model", "temperature", "question", "correct", "tokens", "seconds", "config", "x"]
)
SPELLED = st.builds(
    "{}={}{}".format,
    st.sampled_from(["a", "b", "cost"]),
    COLUMNS,
    st.sampled_from(["", ":inverse-percentile", ":negate-minmax"]),
)
CONDITIONS = [
    "tokens > 20",
    "model == 'x'",
    "tokens",
    "1",
    "(",
    "model.str.len() > 3",
    "@x",
    "q.q",
]
CONDITIONS += ["__import__('os')"]
COSTS = [
    "0.5",
    "0",
    "nan",
    "-1",
    "1e999",
    "example/heron-large=3",
    "example/sparrow-mini=0",
]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "config": st.lists(COLUMNS, max_size=2),
        "instance": COLUMNS,
        "cost": st.lists(COLUMNS | st.sampled_from(COSTS), max_size=2),
        "unit": st.text(max_size=4) | st.just("USD"),
        "text": st.lists(COLUMNS, max_size=2),
        "objective": st.lists(SPELLED | COLUMNS, max_size=3),
        "arm": st.lists(COLUMNS, max_size=2),
        "wide": st.sampled_from(
            ["{config}", "{config}_{field}", "{field}{config}", "", "{field}"]
        ),
        "where": st.sampled_from(CONDITIONS) | st.text(max_size=8),
        "scale": st.floats() | st.integers(-1, 3),
        "smallest_cost": st.floats() | st.none(),
        "repeats": st.sampled_from(["mean", "separate", "x"]),
        "profiling": st.integers(-1, 5),
        "seed": st.integers(-1, 2**70),
        "update": st.booleans(),
        "force": st.booleans(),
        "name": st.text(max_size=3),
        "kind": st.sampled_from(["measured", "synthetic", "reconstruction", "y"]),
        "title": st.text(max_size=3),
        "flavour": st.none(),
    },
)


@fuzz()
@given(options=OPTIONS, wide=st.booleans(), bare=st.booleans())
def test_any_table_options_give_a_table_or_a_fault(folder, options, wide, bare):
    base = {} if bare else FILES["csv wide" if wide else "csv"][2]
    gives_a_table_or_one_error(
        "csv", "wide.csv" if wide else "tidy.csv", base | options
    )


CELLS = [
    "",
    "0",
    "1",
    "0.5",
    "-1",
    "1e400",
    "nan",
    "NaN",
    "inf",
    "true",
    "a",
    "b",
    " ",
    "2026-01-01",
]
CELL = st.sampled_from([*CELLS, '"x\ny"', "é", "1e-320"])


@fuzz()
@given(
    rows=st.lists(st.lists(CELL, min_size=5, max_size=5), min_size=1, max_size=9),
    how=st.integers(0, 15),
    transform=st.sampled_from(["", ":inverse-percentile", ":negate-minmax"]),
    cost=st.sampled_from([["tokens"], [], ["2"]]),
)
def test_any_cells_give_a_table_or_a_fault(folder, rows, how, transform, cost):
    head = "model,temperature,question,correct,tokens"
    all_lines = [f"{model},0,{i},{i % 2},{i + 1}" for model in "ab" for i in range(3)]
    Path("cells.csv").write_text("\n".join([head, *all_lines, *map(",".join, rows)]))
    options = TIDY | {"objective": [f"accuracy=correct{transform}"], "cost": cost}
    old = {path: path.read_bytes() for path in map(Path, ("old.parquet", "old.yml"))}
    if how > 1:
        reads_or_gives_one_error("csv", "cells.csv", options)
        return
    if how:
        gives_a_table_or_one_error("csv", "cells.csv", options | {"profiling": 2})
        return
    try:
        import_logs("csv", ["cells.csv"], "old.parquet", update=True, **options)
    except CobanditError as error:
        assert " -> " in str(error) and {path: path.read_bytes() for path in old} == old
    for path, content in old.items():
        path.write_bytes(content)


# Cards.

FITTED = {
    "name": "accuracy",
    "column": "ok",
    "transform": "inverse-percentile",
    "low": 5,
    "high": 95,
}
ORIGIN = {"url": "https://example.org/a", "parser": "tidy"}
CARD = toy.CARD | {"objectives": [FITTED], "sha256": "0" * 64, "origin": ORIGIN}


@fuzz()
@given(change=replacement())
def test_any_card_values_give_a_table_or_a_fault(change):
    content = change(json.loads(json.dumps(CARD)))
    if not isinstance(content, dict):
        return
    try:
        card = check_fields(Card, content, "my.yml")
    except CobanditError as error:
        assert " -> " in str(error)
    else:
        assert check_fields(Card, card.model_dump(), "again") == card


@fuzz()
@given(change=damage(), text=st.text(max_size=30) | st.none())
def test_any_card_bytes_give_a_table_or_a_fault(folder, change, text):
    content = (
        yaml.safe_dump(CARD).encode()
        if text is None
        else text.encode("utf-8", "surrogatepass")
    )
    Path("card.yml").write_bytes(change(content))
    try:
        assert read_card("card.yml").columns[:2] == ("config", "instance")
    except CobanditError as error:
        assert " -> " in str(error)
