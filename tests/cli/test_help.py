"""The help is quick, imports nothing that computes, and prints names verbatim."""

import subprocess
import sys

import numpy as np
import pytest
from support.commands import call

import cobandit as cb
import companion.cli.app
from cobandit.cli.app import app

COMMANDS = [
    [],
    *([name] for name in ("datasets", "validate", "doctor", "replay", "recommend")),
]
COMMANDS += [["run"], ["show"], ["rescore"]]
BOOK = [[], ["page"], ["rerun"], ["verify"], ["reconstruct"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "commands"), [("cobandit", COMMANDS), ("companion", BOOK)]
)
def test_help_imports_nothing_heavy(package, commands):
    """All commands share one process, where any heavy import would be noticed."""
    code = (
        f"import sys; from typer.testing import CliRunner; from {package}.cli.app"
        " import app\nheavy = {'numpy', 'pandas', 'numba', 'matplotlib', 'scipy',"
        f" 'pyarrow', 'yaml', 'joblib'}}\nfor words in {commands}:\n    done ="
        " CliRunner().invoke(app, [*words, '--help'])\n    assert done.exit_code == 0"
        " and 'Usage:' in done.output, done.output\n    assert not heavy &"
        " set(sys.modules), (words, heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_every_command_is_tested():
    shown = [info for info in app.registered_commands if not info.hidden]
    listed = {info.name or info.callback.__name__ for info in shown}
    assert listed == {words[0] for words in COMMANDS if words}
    listed = {
        info.callback.__name__ for info in companion.cli.app.app.registered_commands
    }
    assert listed == {words[0] for words in BOOK if words}


@pytest.mark.parametrize("name", ["page", "rerun", "verify", "reconstruct"])
def test_moved_commands_name_their_new_place(refused, name):
    assert f"cobandit-book {name}" in refused(name, "anything", "--fast")


@pytest.mark.slow
def test_small_amounts_are_complete_on_narrow_terminals(tmp_path, monkeypatch):
    """1.5e-0 and a 7 in the next line would read as 1.5."""
    monkeypatch.chdir(tmp_path)
    names = ["accuracy", "brevity", "politeness"]
    k, q, d = np.ogrid[:2, :30, :3]
    scores, costs = (
        1.0 * (q % (k + d + 2) == 0),
        (5 - 4 * k + q % 3)[..., 0] * 1.234567e-7,
    )
    configs, card_fields = (
        [f"a model of a long name {k}" for k in (0, 1)],
        {"unit": "USD", "name": "my"},
    )
    table = cb.EvaluationTable.from_arrays(
        scores, costs, configs=configs, objectives=names, **card_fields
    )
    cb.save(table, "my.parquet")
    words = ["recommend", "my.parquet", "--budget", "1e-5", "--replications", "20"]
    done = call(*words, columns=80)
    assert done.exit_code == 0, done.output
    table = done.output.partition("Sure")[0]
    assert "7.407e-07" in table and "2.469e-07" in table
