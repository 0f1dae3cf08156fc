"""Which pages can run here: a page names the catalogue tables it needs in its front matter.

    ---
    cobandit: {needs: swebench-bash-only}     # one name, or a list of names
    ---

The Sphinx extension and the notebook runner ask here, so that they agree. Each table is tried once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
FRONT_MATTER = re.compile(r"\A---\s*\n(?P<yaml>.*?)\n---\s*\n", re.DOTALL)


def needs(text: str) -> list[str]:
    """Names of the tables that the page with this source needs."""
    found = FRONT_MATTER.match(text)
    header = yaml.safe_load(found["yaml"]) if found else None
    wanted = ((header or {}).get("cobandit") or {}).get("needs", [])
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


def missing(text: str) -> dict[str, str]:
    """The tables that the page needs and cannot have, each with the reason."""
    return {name: reason for name in needs(text) if (reason := why_not(name))}


def pages(root: Path = ROOT) -> list[Path]:
    """Every notebook of the book, in its MyST form."""
    return sorted(root.glob("notebooks/*.md"))


def all_needs(paths: Iterable[Path]) -> list[str]:
    """Every table that some page needs, sorted."""
    return sorted({name for path in paths for name in needs(path.read_text(encoding="utf-8"))})
