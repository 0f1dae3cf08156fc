"""The examples of README.md run as written, and draw its picture."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images
from support.commands import call, call_book

from cobandit import read

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE, FROM_A_FRAME = re.findall(r"```python\n(.*?)```", README, re.S)
COMMANDS = re.findall(r"^\$ (cobandit(?:-book)? .*)$", README, re.M)


def run(example, folder):
    command = [sys.executable, "-W", "error", "-c", example]
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_example_runs(tmp_path):
    run(EXAMPLE, tmp_path)
    drawn = tmp_path / "front.png"
    shown = ROOT / "book" / "_static" / "readme.png"
    assert compare_images(str(shown), str(drawn), tol=2) is None, "run make notebooks"


def test_data_frame_becomes_a_table(tmp_path):
    shown = run(FROM_A_FRAME, tmp_path)
    assert "CoPSIOnce" in shown
    assert (tmp_path / "mine.png").is_file()
    restored = read(tmp_path / "mine.parquet")
    assert restored.configs == ("large", "small") and restored.card.cost.unit == "USD"
    assert restored.objectives == ("accuracy", "speed")


def test_commands_run_as_written(tmp_path, monkeypatch):
    """Run the commands in order, in a folder with the logs."""
    assert [command.split()[1] for command in COMMANDS] == [
        "import",
        "doctor",
        "recommend",
        "rerun",
        "page",
    ]

    shutil.copytree(ROOT / "data" / "logs", tmp_path / "data" / "logs")
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        program, *words = shlex.split(command)
        done = {"cobandit": call, "cobandit-book": call_book}[program](*words)
        assert done.exit_code == 0, f"{command}\n{done.output}{done.exception}"
        if " recommend " in command:
            assert "worth their cost" in " ".join(done.stdout.split())

    assert (tmp_path / "report" / "index.html").is_file() and (
        tmp_path / "out.ipynb"
    ).is_file()
