"""Limits of the book: pages, words, folds, first pictures, readable code."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from book_size import LIMITS, LOOKED_UP, WIDEST, code_of, contents

RULES = "E,F,W,UP,B,C4"
#: An import stands in the cell that needs it, and the last line of a cell is what it
#: shows.
NOT_ON_PAGES = "E402,B018"
READ = [name for name in contents() if name not in LOOKED_UP]


@cache
def complaints(folder: Path) -> str:
    """What ruff says of the code of all pages, each as one module."""
    for name in READ:
        code = "\n\n".join("\n".join(cell) for cell in code_of(name))
        (folder / f"{name.replace('/', '-')}.py").write_text(
            code + "\n", encoding="utf-8"
        )
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--target-version",
        "py311",
    ]
    command += [
        "--line-length",
        str(WIDEST),
        "--select",
        RULES,
        "--ignore",
        NOT_ON_PAGES,
    ]
    command += ["--output-format", "concise", "."]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    ).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_code_on_a_page_is_linted(name, folder):
    own_lines = [
        line
        for line in complaints(folder).splitlines()
        if line.startswith(name.replace("/", "-") + ".py")
    ]
    assert not own_lines, "\n".join(own_lines)


def test_book_has_few_pages_with_little_code():
    assert len(READ) <= LIMITS["pages"]
    lines = sum(len(cell) for name in READ for cell in code_of(name))
    assert lines <= LIMITS["code"]


def test_code_of_a_page_is_extracted():
    cells = code_of("notebooks/experiments")
    assert cells[0][0].startswith("dataset = ") and sum(map(len, cells)) > 100
    assert not [line for cell in cells for line in cell if "mystnb:" in line]
