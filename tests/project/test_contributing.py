"""The worked examples of CONTRIBUTING.md: each is one new file, run in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (An algorithm|A dataset|A figure)\n(.*?)(?=^## )", TEXT, re.S | re.M))
NEW_FILE = re.compile(r"`((?:cobandit|data)/[\w/.-]+)`:\n\n```\w+\n(.*?)```", re.S)
RECORDS = re.compile(r"```csv\n(.*?)```", re.S)
USE = re.compile(r"```python\n(import cobandit as cb\n.*?)```", re.S)


@pytest.mark.slow
@pytest.mark.parametrize("title", ["An algorithm", "A dataset", "A figure"])
def test_worked_example_is_one_new_file_and_runs(title, tmp_path):
    section = SECTIONS[title]
    ((name, text),) = NEW_FILE.findall(section)
    (use,) = USE.findall(section)

    project, mirror = tmp_path / "project", tmp_path / "mirror"
    project.mkdir()
    shutil.copytree(ROOT / "cobandit", project / "cobandit")  # with what Numba has compiled
    shutil.copytree(ROOT / "data", project / "data", ignore=shutil.ignore_patterns("results", "logs"))
    shutil.copy(ROOT / "pyproject.toml", project)
    assert not (project / name).exists(), "the example is to be a new file"
    (project / name).write_text(text, encoding="utf-8")
    for records in RECORDS.findall(section):  # in place of the address that the card names
        (mirror / "two-models").mkdir(parents=True)
        (mirror / "two-models" / "answers.csv").write_bytes(records.encode())

    environment = {
        **os.environ,
        "PYTHONPATH": str(project),
        "MPLBACKEND": "Agg",
        "COBANDIT_MIRROR": str(mirror),
    }
    commands = [[sys.executable, "-W", "error", "-c", use]]
    if name.endswith(".py"):
        commands.append([sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", name])
        commands.append([sys.executable, "-m", "ruff", "check", "--no-cache", name])
        commands.append([sys.executable, "-m", "ruff", "format", "--check", "--no-cache", name])
    for command in commands:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command[1:4]}\n{done.stdout}{done.stderr}"
        if command is commands[0]:
            shown = {"An algorithm": "Greedy", "A dataset": "mirror\n", "A figure": ""}
            assert shown[title] in done.stdout
    pictures = {"An algorithm": "greedy.png", "A figure": "spending.png"}
    if title in pictures:
        assert (project / pictures[title]).stat().st_size > 10_000
