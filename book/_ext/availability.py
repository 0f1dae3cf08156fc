"""Which tables of the catalogue the pages use where they can be had: a page names them in its front matter.

    ---
    cobandit: {uses: swebench-bash-only}     # one name, or a list of names
    ---

A page asks `cobandit.tables.available` and does without what is not there.  The Sphinx extension and the
notebook runner try each table once before any page runs, so that what the network gives is there by then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
FRONT_MATTER = re.compile(r"\A---\s*\n(?P<yaml>.*?)\n---\s*\n", re.DOTALL)


def uses(text: str) -> list[str]:
    """Names of the tables that the page with this source uses."""
    found = FRONT_MATTER.match(text)
    header = yaml.safe_load(found["yaml"]) if found else None
    wanted = ((header or {}).get("cobandit") or {}).get("uses", [])
    return [wanted] if isinstance(wanted, str) else list(wanted)


@cache
def why_not(name: str) -> str:
    """Why the table cannot be had, as the library's own error says it; empty if it can.

    Trying means loading: what the network gives is cached, and the pages find it there.
    """
    from cobandit.errors import DatasetUnavailable
    from cobandit.tables import load

    try:
        load(name)
    except DatasetUnavailable as error:
        return str(error) or type(error).__name__
    return ""


def pages(root: Path = ROOT) -> list[Path]:
    """Every notebook of the book, in its MyST form."""
    return sorted(root.glob("notebooks/*.md"))


def missing(paths: Iterable[Path]) -> list[str]:
    """The tables that some page uses and that cannot be had, sorted."""
    used = sorted({name for path in paths for name in uses(path.read_text(encoding="utf-8"))})
    return [name for name in used if why_not(name)]
