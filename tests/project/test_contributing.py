"""The worked examples of CONTRIBUTING.md, run in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from cobandit.replay.kernels import _cache

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(
        r"^## (An algorithm|A dataset|An importer|A figure)\n(.*?)(?=^## )",
        TEXT,
        re.S | re.M,
    )
)
STEP = re.compile(
    r"`(?P<name>(?:cobandit|data)/[\w/.-]+)`:\n\n```\w+\n(?P<text>.*?)```"
    r"|```csv\n(?P<records>.*?)```"
    r"|```python\n(?P<use>import cobandit as cb\n.*?)```",
    re.S,
)
FILES = {"An algorithm": 3, "A dataset": 1, "An importer": 1, "A figure": 1}
SHOWN = {
    "An algorithm": "Greedy",
    "A dataset": "mirror\n",
    "An importer": (
        "the cost excludes prompts, which would add 90 tokens per evaluation"
    ),
    "A figure": "",
}
PICTURES = {"An algorithm": "greedy.png", "A figure": "spending.png"}


def run(*command, folder, environment):
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command[1:4]}\n{done.stdout}{done.stderr}"
    return done.stdout


def reuse_compiled(project):
    """Copy compiled functions to the folder in which the copied project looks.

    The name of this folder depends on the added files.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cache, "PACKAGE", project / "cobandit")
        folder = _cache.make_folder()

    here, there = (
        UserProvidedCacheLocator.get_suitable_cache_subpath(
            root / "cobandit" / "replay" / "kernels" / "_cache.py"
        )
        for root in (ROOT, project)
    )
    if (_cache.FOLDER / here).is_dir():
        shutil.copytree(_cache.FOLDER / here, folder / there, dirs_exist_ok=True)


@pytest.mark.acceptance
@pytest.mark.parametrize("title", FILES)
def test_worked_example_is_new_files_and_runs(title, tmp_path):
    """Follow the steps of the section: add a file, or use an existing one."""
    project = tmp_path / "project"
    mirror = tmp_path / "mirror"
    project.mkdir()
    ignored = shutil.ignore_patterns("results", "logs", "__pycache__")
    for folder in ("cobandit", "data"):
        shutil.copytree(ROOT / folder, project / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", project)
    (mirror / "two-models").mkdir(parents=True)
    variables = {
        "PYTHONPATH": str(project),
        "MPLBACKEND": "Agg",
        "COBANDIT_MIRROR": str(mirror),
    }
    environment = os.environ | variables
    options = {"folder": project, "environment": environment}
    python = (sys.executable, "-W", "error")
    added = []

    used = 0
    shown = ""
    for step in STEP.finditer(SECTIONS[title]):
        if step["name"]:
            name = step["name"]
            text = step["text"]
            assert not (project / name).exists(), "the example is to be a new file"
            (project / name).write_text(text, encoding="utf-8")
            added.append(name)
            if name.endswith(".py"):
                run(*python, "-m", "ruff", "check", "--no-cache", name, **options)
                run(
                    *python,
                    "-m",
                    "ruff",
                    "format",
                    "--check",
                    "--no-cache",
                    name,
                    **options,
                )
            if ">>>" in text:
                run(
                    *python[:1],
                    "-m",
                    "pytest",
                    "-q",
                    "-n0",
                    "-p",
                    "no:cacheprovider",
                    name,
                    **options,
                )
        elif step["records"]:  # in place of the address that the card names
            (mirror / "two-models" / "answers.csv").write_bytes(
                step["records"].encode()
            )
        else:
            reuse_compiled(project)
            shown += run(*python, "-c", step["use"], **options)
            used += 1

    assert len(added) == used == FILES[title]
    assert SHOWN[title] in shown
    if title in PICTURES:
        assert (project / PICTURES[title]).stat().st_size > 10_000
