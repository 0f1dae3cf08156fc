"""Build the book twice without caches, and compare the HTML files.

    python benchmarks/determinism.py        (make determinism)

Each build uses a copy of the checkout, so that no cache is shared. Outputs of pages
that measure the machine (`MEASURED`) are ignored, in the page and in the search index.
"""

from __future__ import annotations

import filecmp
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Pages that measure times and memory. Their outputs differ between builds, but not
#: their text.
MEASURED = ("book/reproduce",)
OUTPUT = re.compile(
    r'<div class="cell_output.*?(?=<div class="cell |<section|</section>)', re.S
)
LEFT_OUT = {"searchindex.js", ".buildinfo"}


def pages_of(folder: Path) -> set[str]:
    """Return the relative paths of the files to compare in a built book."""
    files = (
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    )
    return {name for name in files if name.rpartition("/")[2] not in LEFT_OUT}


def same(first: Path, second: Path, name: str) -> bool:
    """Return whether a file is equal in both books, except for measured outputs."""
    if filecmp.cmp(first / name, second / name, shallow=False):
        return True
    if not name.startswith(tuple(f"{page}.html" for page in MEASURED)):
        return False
    texts = [
        OUTPUT.sub("", (folder / name).read_text(encoding="utf-8"))
        for folder in (first, second)
    ]
    return texts[0] == texts[1]


def search_index(folder: Path) -> dict[str, object]:
    """Return the titles and names of the search index, but not the indexed words."""
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    return {key: index[key] for key in ("docnames", "titles", "objects")}


def differences(first: Path, second: Path) -> list[str]:
    """Return a text for each file that differs between two built books.

    A file that is only in one of the books differs as well.
    """
    ours = pages_of(first)
    theirs = pages_of(second)
    unmatched = [f"{name}: only in one build" for name in sorted(ours ^ theirs)]
    changed = [
        f"{name}: differs"
        for name in sorted(ours & theirs)
        if not same(first, second, name)
    ]
    if search_index(first) != search_index(second):
        changed.append("searchindex.js: differs")
    return unmatched + changed


def build(folder: Path) -> Path:
    """Copy the files under version control into a folder, and build the book there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)

    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    subprocess.run(
        [jupyter_book, "build", "-q", "-W", "-n", "--keep-going", "."],
        cwd=folder,
        check=True,
    )
    return folder / "_build" / "html"


def main() -> None:
    """Build twice and exit 1 on any difference."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        differing = differences(build(Path(one)), build(Path(two)))
    print(
        "\n".join(differing) or "the two builds are equal, except for measured outputs"
    )
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
