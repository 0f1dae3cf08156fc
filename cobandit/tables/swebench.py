"""Reads the SWE-bench leaderboard, board ``bash-only``, into a tidy frame.

All its entries run the same small agent with only a shell, so an entry is a model and its settings: a
configuration. An entry is used if it has per-instance rows and these agree with the rate that the entry
itself publishes to within ``TOLERANCE`` points; the others are dropped by this rule and named in a note.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.faults import stop

BOARD = "bash-only"

TOLERANCE = 1.0
"""Largest accepted difference, in percentage points, between published and recomputed resolved rate."""

REMEDY = "use the file at the commit that the dataset card names"

COLUMNS = {"resolved": "resolved", "cost_usd": "cost", "api_calls": "api_calls"}
"""Our column: its key in an instance's record."""


def parse(path: str | Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read ``leaderboards.json``.

    Parameters
    ----------
    path : str or Path
        The file as published.

    Returns
    -------
    frame : DataFrame
        One row per (entry, instance): config (the entry's name), instance, resolved, cost_usd (USD),
        api_calls (model round trips), and model, organisation, open_weights, agent_version, date.
    notes : tuple of str
        Which entries were dropped and why.

    Raises
    ------
    TableError
        If the file is not JSON or not laid out as expected.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        stop(path, f"the file is not JSON: {error}", REMEDY)
    try:
        (board,) = (board for board in content["leaderboards"] if board["name"] == BOARD)
        entries = [(entry["name"], entry) for entry in board["results"]]
    except (KeyError, TypeError, ValueError):
        stop(path, f"there is no single board {BOARD!r} with named results", REMEDY)
    parts = []
    without_rows = []
    notes = []
    for name, entry in entries:
        details = entry.get("per_instance_details")
        if not details:
            without_rows.append(name)
            continue
        part = _rows(path, name, entry, details)
        rate = 100 * float(part["resolved"].mean())
        if abs(rate - entry["resolved"]) > TOLERANCE:
            published = f"the entry itself says {entry['resolved']:.1f} %"
            notes.append(f"dropped {name!r}: its rows resolve {rate:.1f} %, {published}")
            continue
        parts.append(part)
    if not parts:
        stop(path, f"no entry of board {BOARD!r} has usable per-instance rows", REMEDY)
    if without_rows:
        names = ", ".join(without_rows)
        notes.append(f"dropped {len(without_rows)} entries without per-instance rows: {names}")
    return pd.concat(parts, ignore_index=True), tuple(notes)


def _rows(path: Path, name: str, entry: dict[str, Any], details: Any) -> pd.DataFrame:
    """Rows of one entry; a record that lacks a value is refused rather than filled."""
    try:
        rate = entry["resolved"]
        rows = {column: [record[key] for record in details.values()] for column, key in COLUMNS.items()}
        tags = dict(tag.split(": ", 1) for tag in entry["tags"])
        about = {
            "model": tags["Model"],
            "organisation": tags["Org"],
            "open_weights": bool(entry["os_model"]),
            "agent_version": entry["mini-swe-agent_version"],
            "date": entry["date"],
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"entry {name!r} is not laid out as expected ({type(error).__name__}: {error})"
        stop(path, problem, REMEDY)
    strange = [value for value in rows["resolved"] if not isinstance(value, bool)]
    if strange or not isinstance(rate, (int, float)):
        stop(path, f"entry {name!r}: 'resolved' is not true or false ({strange[:1] or rate})", REMEDY)
    return pd.DataFrame({"config": name, "instance": list(details), **rows, **about})
