"""Growing logs: a second import adds and reports new evaluations."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from support import logs
from support.commands import call
from support.faults import fault
from support.logs import HEADS

import cobandit as cb
from cobandit.tables.card import Cost
from cobandit.tables.importers import import_logs
from cobandit.tables.importers.earlier_table import Earlier, _named_as_before
from cobandit.tables.importers.importer_registry import ImportResult

BY = {"config": ["model", "temperature"], "arm": ["model", "temperature"]}
CSV = BY | {
    "instance": "question",
    "cost": "tokens",
    "unit": "tokens",
    "objective": ["accuracy=correct"],
}


def said(imported):
    (line,) = [line for line in imported.report if line.startswith("update: ")]
    return line


@pytest.mark.slow
def test_update_of_everything_equals_an_import(workspace):
    import_logs("csv", ["tidy.csv"], "my.parquet", **CSV)
    import_logs("csv", ["tidy.csv"], "my.parquet", update=True, **CSV)
    import_logs("csv", ["tidy.csv"], "other.parquet", **CSV)
    assert Path("my.parquet").read_bytes() == Path("other.parquet").read_bytes()


@pytest.mark.slow
def test_first_update_creates_the_table(workspace):
    words = ["import", "inspect", "json", "-o", "my.parquet", "--update"]
    for _ in range(2):
        result = call(*words)
        assert result.exit_code == 0, result.output
    assert "24 unchanged" in result.output and cb.read("my.parquet").n_arms == 2


@pytest.mark.slow
def test_update_names_new_configurations_by_known_settings(workspace):
    """Also alone, without differing settings, and with a number in another notation."""
    import_logs("inspect", ["json"], "my.parquet")
    logs.put("new", logs.THIRD)
    imported = import_logs("inspect", ["new"], "my.parquet", update=True)
    assert imported.table.configs == (
        "example/heron-large temperature=0.7",
        "example/sparrow-mini temperature=0.0",
        "example/sparrow-mini temperature=0.7",
    )
    logs.change(
        logs.put("again"),
        lambda log: log["eval"]["model_generate_config"].update(temperature=0),
    )
    imported = import_logs("inspect", ["again"], "my.parquet", update=True)
    assert imported.table.n_arms == 3 and "12 unchanged" in said(imported)


def test_equal_descriptions_keep_names(workspace):
    frame = pd.read_csv("tidy.csv", dtype={"question": str})
    frame.assign(kind="small").to_csv("my.csv", index=False)
    options = CSV | {"config": ["model"], "arm": ["kind"]}
    for update in (False, True):
        table = import_logs(
            "csv", ["my.csv"], "my.parquet", update=update, **options
        ).table
    assert table.configs == ("example/heron-large", "example/sparrow-mini")
    assert list(table.n_instances) == [12, 12]


@pytest.mark.slow
def test_other_settings_under_the_same_name_are_refused(workspace):
    import_logs("inspect", ["json"], "my.parquet")
    before = Path("my.parquet").read_bytes()
    logs.change(HEADS, lambda log: log["eval"]["task_args"].update(prompt="Think."))
    with fault("other-settings", "my.parquet", ["temperature=0.0'", "prompt"]):
        import_logs("inspect", [HEADS], "my.parquet", update=True)
    assert Path("my.parquet").read_bytes() == before
    imported = import_logs(
        "inspect", [HEADS], "my.parquet", update=True, by=["model", "temperature"]
    )
    assert "12 unchanged" in said(imported)


@pytest.mark.slow
def test_update_keeps_the_card(workspace):
    import_logs("csv", ["tidy.csv"], "my.parquet", seed=7, license="MIT", **CSV)
    card = yaml.safe_load(Path("my.yml").read_text()) | {
        "attribution": "somebody",
        "title": "By hand",
    }
    Path("my.yml").write_text(yaml.safe_dump(card))
    frame = pd.read_csv("tidy.csv", dtype={"question": str})
    extra = frame.assign(question="1" + frame["question"])
    extra.to_csv("more.csv", index=False)
    table = import_logs("csv", ["more.csv"], "my.parquet", update=True, **CSV).table
    assert (
        table.card.attribution == "somebody"
        and table.card.title == "By hand"
        and table.card.license == "MIT"
    )
    assert table.card.split.seed == 7 and table.card.split.profiling == round(0.2 * 24)
    how = "with a mapping of columns"
    assert table.card.source == f"tidy.csv, {how}; more.csv, {how}" and list(
        table.n_instances
    ) == [24, 24]
    table = import_logs(
        "csv", ["more.csv"], "my.parquet", update=True, profiling=9, title="Mine", **CSV
    ).table
    assert table.card.title == "Mine" and table.card.split.profiling == 9
    imported_again = import_logs(
        "csv", ["more.csv"], "my.parquet", update=True, **CSV
    ).table
    assert imported_again.card.split.profiling == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (
            {"metric": "other"},
            ["metrics", "{'sums': ['match']}", "{'sums': ['other']}"],
        ),
        ({"count": "all"}, ["cost", "generated", "all"]),
        ({"latency": "none"}, ["latency", "working_time", "none"]),
        ({"by": ["max_tokens"]}, ["model, temperature", "model, max_tokens"]),
    ],
)
def test_different_measurements_are_not_mixed(workspace, options, names):
    logs.change_samples(lambda i, sample: sample["scores"].update(other={"value": 1}))
    import_logs("inspect", ["json"], "my.parquet", metric="match")
    before = {path: path.read_bytes() for path in (Path("my.parquet"), Path("my.yml"))}
    with fault("other-options", "my.parquet", names):
        import_logs(
            "inspect",
            ["json"],
            "my.parquet",
            update=True,
            **({"metric": "match"} | options),
        )
    assert {path: path.read_bytes() for path in before} == before


def test_reading_an_imported_file_names_its_table(workspace):
    import_logs("csv", ["tidy.csv"], "tidy.parquet", **CSV)
    with fault("other-card", "tidy.csv", ["tidy.parquet"], "tidy.parquet"):
        cb.read("tidy.csv")


def test_update_refuses_table_from_other_tool(workspace):
    import_logs("csv", ["tidy.csv"], "my.parquet", **CSV)
    with fault("other-source", "my.parquet", ["import inspect"], "--force"):
        import_logs("inspect", ["json"], "my.parquet", update=True)
    pd.read_parquet("my.parquet").to_parquet("my.parquet")
    with fault("other-checksum", "my.parquet", names=["sha256"]):
        import_logs("csv", ["tidy.csv"], "my.parquet", update=True, **CSV)
    card = yaml.safe_load(Path("my.yml").read_text())
    del card["sha256"]
    Path("my.yml").write_text(yaml.safe_dump(card))
    with fault("other-source", "my.parquet", names=["cobandit import csv"]):
        import_logs("csv", ["tidy.csv"], "my.parquet", update=True, **CSV)


def test_faults_after_an_update_name_rows_of_the_file(workspace):
    import_logs("csv", ["tidy.csv"], "my.parquet", **CSV)
    lines = Path("tidy.csv").read_text().splitlines()
    Path("more.csv").write_text(
        "\n".join([lines[0], lines[1].replace(",000,", ",100,"), "m,0.5,7,2,9,1"])
    )
    with fault("out-of-range", "more.csv", column="correct", row=2):
        import_logs("csv", ["more.csv"], "my.parquet", update=True, **CSV)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_order_of_parts_does_not_change_the_table(workspace, seed):
    """Twin: the last part that has a pair wins, as in a dictionary."""
    dice = np.random.default_rng(seed)
    frame = pd.read_csv("tidy.csv", dtype={"question": str})
    expected = {}
    for number in range(4):
        part = frame[dice.random(len(frame)) < 0.7] if number else frame
        part = part.assign(tokens=dice.integers(0, 50, len(part)))
        part.to_csv(f"p{number}.csv", index=False)
        imported = import_logs(
            "csv",
            [f"p{number}.csv"],
            "my.parquet",
            update=number > 0,
            smallest_cost=0.5,
            **CSV,
        )
        counts = {"added": 0, "replaced": 0, "unchanged": 0, "kept": len(expected)}
        for row in part.itertuples():
            key, value = (
                (f"{row.model} {row.temperature}", row.question),
                (max(row.tokens, 0.5), row.correct),
            )
            state = (
                "added"
                if key not in expected
                else "unchanged"
                if expected[key] == value
                else "replaced"
            )
            counts[state] += 1
            counts["kept"] -= key in expected
            expected[key] = value
        if number:
            assert [int(n) for n in re.findall(r"\d+", said(imported))] == list(
                counts.values()
            )
            assert said(imported) in Path("my.yml").read_text()
    matches = {
        (r.config, r.instance): (r.cost, r.accuracy)
        for r in imported.table.rows.itertuples()
    }
    assert matches == expected


@pytest.mark.parametrize("then", ["0", "0.0"])
def test_setting_is_the_same_in_a_text_column(then):
    """A second import adds no configuration under another name."""
    old = pd.DataFrame({"config": [f"m t={then}", "m"], "t": [then, "not set"]})
    new = pd.DataFrame({"config": ["m t=0.0"], "t": [0.0]})
    result = ImportResult(
        new,
        Cost(column="c", unit="u"),
        (),
        ("t",),
        "logs",
        {},
        settings={"m t=0.0": {}},
    )
    named = _named_as_before(Earlier(Path("a.parquet"), None, old, {}), result)
    assert named.frame["config"].tolist() == [*named.settings] == [f"m t={then}"]
