"""Names of configurations are printed verbatim and never control the terminal."""

import json

import pandas as pd
import pytest
from support.commands import call
from support.names import NAMES, write_records
from support.sampling import sample

import cobandit as cb
from cobandit.cli import plain


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Records with these names: the k-th of them costs k more."""
    monkeypatch.chdir(tmp_path)
    write_records(8)


IMPORT = [
    "import",
    "csv",
    "records.parquet",
    "-o",
    "my.parquet",
    "--config",
    "model",
    "--instance",
    "question",
    "--objective",
    "ok",
]
PAID = ["--cost", "usd", "--unit", "[k] USD"]


def run(*words):
    done = call(*words, columns=4000)
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output and "\x07" not in done.output
    return done.output


@pytest.mark.slow
def test_commands_print_complete_names(table):
    imported = run(*IMPORT, *PAID)
    front = [
        name
        for name in NAMES
        if plain(name) in imported.split("whatever the cost: ")[1]
    ]
    assert front and "[k] USD" in imported
    advice = run("recommend", "my.parquet", "--replications", "20")
    shown = advice.partition("\nSure")[0]
    for name in cb.recommend(cb.read("my.parquet"), replications=20).front.index:
        assert plain(name) in shown, name
    full_output = run("recommend", "my.parquet", "--replications", "20", "--json")
    assert {arm["config"] for arm in json.loads(full_output)["arms"]} == set(NAMES)
    assert "[k]" in shown and max(map(len, advice.splitlines())) <= 4000
    words = [
        "replay",
        "my.parquet",
        "-o",
        "runs.parquet",
        "-m",
        "CoPSI",
        "-b",
        "50",
        "--replications",
        "2",
    ]
    assert "my: mean and" in run(*words)


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(NAMES[::-1], first=4), ids=range(len(NAMES)))
def test_messages_print_complete_or_shortened_names(table, name, refused):
    """The name is in the file, its columns and an option; the error stays short."""
    frame = pd.read_parquet("records.parquet")
    frame.loc[frame["model"] == name, "usd"] = -1.0
    frame.assign(**{name: frame["model"]}).to_parquet("records.parquet")
    for words in (
        [*IMPORT, *PAID],
        [*IMPORT, "--arm", name + "?"],
        [*IMPORT, "--cost", f"{name}=1", "--unit", "USD"],
        [*IMPORT, "--where", f"model == {name!r}[0]"],
        [*IMPORT, "--title", name, "--kind", name],
        ["validate", name.replace("\n", "") + ".csv"],
        ["recommend", name + "?"],
    ):
        error = refused(*words)
        assert (
            error.startswith("error: ")
            and len(error) < 2500
            and "\x1b" not in error
            and "\x07" not in error
        )
