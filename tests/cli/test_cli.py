"""The `cobandit` command: files, output, and no traceback for bad input."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.commands import call

import cobandit as cb
from cobandit.stats import summaries
from cobandit.tables.catalogue import data_directory
from companion.paper import experiments

COMMAND = Path(sys.executable).with_name("cobandit")
BUNDLED = data_directory() / "synthetic-24.parquet"


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """A folder of its own, no mirror."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_MIRROR", raising=False)


def shell(*words):
    """The installed script."""
    return subprocess.run(
        [COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120
    )


@pytest.mark.slow
def test_version_is_printed():
    assert call("--version").stdout == f"cobandit {cb.__version__}\n"
    done = shell("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"cobandit {cb.__version__}\n",
        "",
    )
    module = subprocess.run(
        [sys.executable, "-m", "cobandit", "--version"], capture_output=True, text=True
    )
    assert module.stdout == done.stdout


@pytest.mark.slow
def test_help_names_the_commands_and_the_methods():
    assert all(
        word in call("--help").stdout for word in ("datasets", "validate", "replay")
    )
    text = call("replay", "--help").stdout
    assert all(word in text for word in ("CoHVUCB", "PSISR", "--rho", "synthetic-24"))


@pytest.mark.slow
def test_datasets_are_listed():
    text = call("datasets").stdout
    for row in cb.datasets().itertuples():
        assert row.name in text and row.license in text


@pytest.mark.slow
def test_validate_summarises_a_table():
    result = call("validate", BUNDLED)
    assert result.exit_code == 0
    assert (
        "24 configurations x 400 instances" in result.stdout
        and result.stdout.endswith("valid\n")
    )
    front = re.search(
        "best in the objectives, whatever the cost: (.*) valid",
        " ".join(result.stdout.split()),
    ).group(1)
    assert front.split(", ") == list(
        cb.load("synthetic-24").summary().query("on_front").index
    )


def test_validate_lists_faults(tmp_path, refused):
    (tmp_path / "bad.csv").write_text("config,instance,usd,ok\na,1,0,1\na,2,1,7\n")
    (tmp_path / "bad.yml").write_text(
        "{name: bad, title: Bad, source: me, license: CC0-1.0, kind: synthetic,"
        " records: bad.csv, cost: {column: usd, unit: USD}, objectives: [{name: ok,"
        " column: ok}], split: {profiling: 2}}"
    )
    err = refused("validate", "bad.csv")
    assert "usd" in err and "ok" in err


REPLAY = ["replay", "synthetic-24", "--output", "runs.csv", "--replications", "2"]
ONLINE = ["-m", "CoHVUCB:reward_scale=0.01,eta=0.05", "-m", "UniformAllocation"]
FOUND = ["-m", "CoPSI", "-m", "PSISR:rounds=mean"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_online_replay_prints_and_writes_results(suffix):
    words = [
        "replay",
        "synthetic-24",
        "-o",
        f"runs.{suffix}",
        *ONLINE,
        "-b",
        0.5,
        "-b",
        4,
    ]
    result = call(*words, "--replications", 3, "--seed", 5)
    assert result.exit_code == 0 and "12 runs written" in result.stdout
    assert "infeasible" in result.stdout  # rho = 1/2
    runs = (
        pd.read_csv("runs.csv") if suffix == "csv" else pd.read_parquet("runs.parquet")
    )
    methods = [cb.spec("CoHVUCB", reward_scale=0.01, eta=0.05), "UniformAllocation"]
    expected = cb.replay_online(
        cb.load("synthetic-24"), methods, [0.5, 4], replications=3, seed=5
    )
    (cell,) = (
        summaries.summarise(expected, "efficiency_regret")
        .query("rho == 4 and options == ''")
        .itertuples()
    )
    assert all(
        f"{value:.4g}" in result.stdout for value in (cell.mean, cell.low, cell.high)
    )
    assert (
        " CoHVUCB " in result.stdout
        and " eta=0.05, reward_scale=0.01 " in result.stdout
    )
    runs["options"] = runs["options"].fillna("")  # a CSV has no empty text
    pd.testing.assert_frame_equal(runs, expected, check_dtype=False)
    assert [path.name for path in Path().iterdir()] == [f"runs.{suffix}"]


ONCE = [
    "-m",
    "CoPSIOnce",
    "-m",
    "UniformIdentification",
    "--feedback",
    "once",
    "--share",
    0.4,
    "--share",
    1,
]
REPLAYS = [
    (
        [*FOUND, "-b", 40],
        {"methods": ["CoPSI", cb.spec("PSISR", rounds="mean")], "rho": 40},
    ),
    (
        ONCE,
        {
            "methods": ["CoPSIOnce", "UniformOnce"],
            "share": [0.4, 1],
            "feedback": "once",
        },
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "how"), REPLAYS, ids=["bootstrap", "once"])
def test_identification_replay_prints_and_writes_results(words, how):
    result = call(*REPLAY, *words)
    assert result.exit_code == 0 and ("rho" in how) == ("rho" in result.output)
    expected = cb.replay_identification(cb.load("synthetic-24"), **how, replications=2)
    runs = pd.read_csv("runs.csv", keep_default_na=False)
    assert runs["method"].tolist() == expected["method"].tolist()
    assert runs["returned"].tolist() == [
        "; ".join(names) for names in expected["returned"]
    ]
    assert runs["correct"].tolist() == expected["correct"].tolist()
    assert runs["spent"].tolist() == pytest.approx(expected["spent"].tolist())


@pytest.mark.slow
def test_script_replays_a_file():
    words = ["-b", 2, "--replications", 2, "--workers", 2, "--backend", "threading"]
    done = shell("replay", BUNDLED, "-o", "runs.parquet", *words)
    assert done.returncode == 0, done.stderr
    runs = pd.read_parquet("runs.parquet")
    assert runs["method"].unique().tolist() == [
        method.name for method in experiments.online_methods()
    ]
    # progress is no result: it goes to the standard error
    assert "replaying" not in done.stdout


BAD = {
    "unknown command": (["replya"], "No such command"),
    "file without a format": (
        ["import", "mine.csv"],
        "cobandit import csv mine.csv -o table.parquet",
    ),
    "unknown format": (["import", "csvv"], "No such command"),
    "no output": (["replay", "synthetic-24"], "output"),
    "share": (
        ["replay", "synthetic-24", "-o", "r.csv", "-m", "HVUCB", "--share", 0.5],
        "identification",
    ),
    "once, not said": (
        ["replay", "synthetic-24", "-o", "r.csv", "-m", "CoPSIOnce", "-b", 9],
        "'once'",
    ),
    "unknown table": (
        ["replay", "synthetc-24", "-o", "runs.csv"],
        "did you mean 'synthetic-24'",
    ),
    "missing file": (["replay", "none.csv", "-o", "runs.csv"], "no such file"),
    "missing records": (["validate", "none.csv"], "no such file"),
    "a folder as records": (["validate", "."], "no such file"),
    "unknown card": (["validate", BUNDLED, "--card", "none.yml"], "none.yml"),
    "unknown method": ([*REPLAY, "-m", "CoHVUBC"], "Did you mean 'CoHVUCB'"),
    "methods of two kinds": (
        [*REPLAY, "-m", "CoPSI", "-m", "HVUCB"],
        "not a method for identification",
    ),
    "unknown option": (
        [*REPLAY, "-m", "CoHVUCB:reward_scales=1"],
        "Did you mean 'reward_scale'",
    ),
    "option without value": ([*REPLAY, "-m", "CoHVUCB:alpha"], "NAME:option=value"),
    "option of the wrong kind": (
        [*REPLAY, "-m", "CoHVUCB:alpha=high", "-b", "4"],
        "alpha",
    ),
    "option that is no YAML": ([*REPLAY, "-m", "CoHVUCB:alpha=[1"], "alpha"),
    "option that is a list": ([*REPLAY, "-m", "CoHVUCB:alpha=[1]"], "single value"),
    "budget as text": ([*REPLAY, "-b", "much"], "--rho"),
    "unknown back end": ([*REPLAY, "--backend", "threads"], "Did you mean 'threading'"),
    "unknown feedback": (
        [*REPLAY, "-m", "CoPSI", "--feedback", "one"],
        "'bootstrap', 'once'",
    ),
    "output of another kind": (
        ["replay", "synthetic-24", "-o", "runs.xlsx"],
        ".parquet or .csv",
    ),
    "output nowhere": (
        ["replay", "synthetic-24", "-o", "none/runs.csv"],
        "in an existing folder",
    ),
    "output is a folder": (
        ["replay", "synthetic-24", "-o", "folder.csv", "-b", "2"],
        "in an existing folder",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_bad_input_gives_one_message_and_exit_code_2(words, message, refused):
    """Bad input gives one message and an exit code, and leaves no file."""
    Path("folder.csv").mkdir()
    before = sorted(Path().iterdir())
    err = refused(*words)
    assert message in " ".join(re.sub("[│╭╮╰╯─]", " ", err).split())
    assert len(re.findall("^error|─ Error", err, re.MULTILINE)) == 1
    assert sorted(Path().iterdir()) == before


@pytest.mark.slow
def test_script_reports_bad_input():
    words, message = BAD["unknown table"]
    done = shell(*words)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert message in " ".join(done.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("before", [None, "of an earlier run"])
def test_failed_write_keeps_the_existing_file(before, monkeypatch, refused):
    if before:
        Path("runs.csv").write_text(before)

    def broken(self, path, **how):
        Path(path).write_text("half a")
        raise OSError("no space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", broken)
    refused(*REPLAY, "-b", 2)
    assert [path.read_text() for path in Path().glob("*.csv")] == (
        [before] if before else []
    )
