"""Help is quick: it imports nothing that computes; and names are printed as they are."""

import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from cobandit.cli.app import app

COMMANDS = [
    [],
    *([name] for name in ("datasets", "validate", "doctor", "replay", "reconstruct", "recommend")),
]
COMMANDS += [["run"], ["show"], ["rescore"], ["rerun"], ["page"], ["verify"]]


@pytest.mark.slow
def test_help_imports_nothing_heavy():
    """One process asks for the help of each command in turn: what one imports, the next would show, too."""
    code = (
        "import sys; from typer.testing import CliRunner; from cobandit.cli.app import app\n"
        "heavy = {'numpy', 'pandas', 'numba', 'matplotlib', 'scipy', 'pyarrow', 'yaml', 'joblib'}\n"
        f"for words in {COMMANDS}:\n"
        "    done = CliRunner().invoke(app, [*words, '--help'])\n"
        "    assert done.exit_code == 0 and 'Usage:' in done.output, done.output\n"
        "    assert not heavy & set(sys.modules), (words, heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_command_is_among_them():
    listed = {info.name or info.callback.__name__ for info in app.registered_commands}
    assert listed == {words[0] for words in COMMANDS if words}


@pytest.mark.slow
def test_small_amounts_are_not_cut_where_the_terminal_is_narrow(tmp_path, monkeypatch):
    """1.5e-0 and a 7 in the next line would read as 1.5."""
    monkeypatch.chdir(tmp_path)
    names = ["accuracy", "brevity", "politeness"]
    rows = [
        (
            f"a model of a long name {k}",
            q,
            (5 - 4 * k + q % 3) * 1.234567e-7,
            *(float(q % (k + d + 2) == 0) for d in range(3)),
        )
        for k in (0, 1)
        for q in range(30)
    ]
    pd.DataFrame(rows, columns=["config", "instance", "usd", *names]).to_csv("my.csv", index=False)
    objectives = ", ".join(f"{{name: {name}, column: {name}}}" for name in names)
    (tmp_path / "my.yml").write_text(
        "{name: my, title: Mine, source: me, license: CC0-1.0, kind: synthetic, records: my.csv, "
        f"cost: {{column: usd, unit: USD}}, objectives: [{objectives}], split: {{profiling: 10}}}}"
    )
    words = ["recommend", "my.csv", "--budget", "1e-5", "--replications", "20"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    table = done.output.split("Configurations of my")[1]
    assert "resampled from these" in " ".join(table.split())
    assert "7.407e-07" in table and "2.469e-07" in table
