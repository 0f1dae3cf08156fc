"""What the book asks of its readers: pages, words, folds, pictures within reach, code that can be read."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from book_size import CHAPTERS, HIGHEST, LIMITS, LOOKED_UP, WIDEST, code_of, contents, measure
from support.browsing import HTML, NEEDS_BOOK, NEEDS_CHROMIUM

RULES = "E,F,W,UP,B,C4"
#: An import stands in the cell that needs it, and the last line of a cell is what it shows.
NOT_ON_PAGES = "E402,B018"
READ = [name for name in contents() if name not in LOOKED_UP]

built = [pytest.mark.book, pytest.mark.browser, pytest.mark.slow, NEEDS_BOOK, NEEDS_CHROMIUM]


@pytest.fixture(scope="module")
def measured():
    return measure(HTML)


@cache
def complaints(folder: Path) -> str:
    """What ruff says of the code of all pages, each as one module."""
    for name in READ:
        code = "\n\n".join("\n".join(cell) for cell in code_of(name))
        (folder / f"{name.replace('/', '-')}.py").write_text(code + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--target-version", "py311"]
    command += ["--line-length", str(WIDEST), "--select", RULES, "--ignore", NOT_ON_PAGES]
    command += ["--output-format", "concise", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_code_on_a_page_is_linted(name, folder):
    own = [
        line for line in complaints(folder).splitlines() if line.startswith(name.replace("/", "-") + ".py")
    ]
    assert not own, "\n".join(own)


def test_the_book_has_few_pages_with_little_code():
    assert len(contents()) <= LIMITS["pages"]
    lines = sum(len(cell) for name in READ for cell in code_of(name))
    assert lines <= LIMITS["code"]


def test_the_code_of_a_page_is_found():
    cells = code_of("notebooks/experiments")
    assert cells[0][0].startswith("dataset = ") and sum(map(len, cells)) > 100
    assert not [line for cell in cells for line in cell if "mystnb:" in line]


class TestBuiltBook:
    pytestmark = built

    def test_words_and_folds(self, measured):
        totals = measured.drop(index=LOOKED_UP)[["words", "folds"]].sum()
        assert totals["words"] <= LIMITS["words"] and totals["folds"] <= LIMITS["folds"], measured.to_string()

    def test_every_fold_has_a_name(self, measured):
        assert not measured["nameless"].any(), measured["nameless"].to_string()

    @pytest.mark.parametrize("chapter", CHAPTERS)
    def test_the_first_picture_of_a_chapter_is_near_its_top(self, measured, chapter):
        assert measured.loc[f"notebooks/{chapter}", "picture"] <= HIGHEST
