"""Reading the SWE-bench leaderboard, board ``bash-only``.

All entries use the same small agent with only a shell, so an entry is a configuration:
a model and its settings. An entry is used if it has rows per instance that agree with
its published rate to within ``TOLERANCE`` points. Other entries are left out, and a
note lists them.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.errors import raise_fault

BOARD = "bash-only"

#: Largest accepted difference, in percentage points, between the published rate of
#: resolved instances and the recomputed one.
TOLERANCE = 1.0

#: Columns of the frame, with their keys in the record of an instance.
COLUMNS = {"resolved": "resolved", "cost_usd": "cost", "api_calls": "api_calls"}


def read_submissions(path: str | Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read ``leaderboards.json`` as a tidy frame, with notes on entries left out.

    Parameters
    ----------
    path : str or Path
        The file as published.

    Returns
    -------
    frame : DataFrame
        One row per entry and instance, with columns config (the entry's name),
        instance, resolved, cost_usd, api_calls (number of model calls), model,
        organisation, open_weights, agent_version and date.
    notes : tuple of str
        Entries that are left out, with reasons.

    Raises
    ------
    TableError
        If the file is not JSON, or has another structure.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        (board,) = (
            board for board in content["leaderboards"] if board["name"] == BOARD
        )
        entries = {entry["name"]: entry for entry in board["results"]}
        parts = {
            name: _rows(name, entry)
            for name, entry in entries.items()
            if entry.get("per_instance_details")
        }
        rates = {
            name: 100 * float(part["resolved"].mean()) for name, part in parts.items()
        }
        inconsistent = [
            name
            for name, rate in rates.items()
            if abs(rate - entries[name]["resolved"]) > TOLERANCE
        ]
        frame = pd.concat(
            [part for name, part in parts.items() if name not in inconsistent],
            ignore_index=True,
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        remedy = "use the file at the commit that the dataset card names"
        raise_fault(
            path,
            f"the file has an unexpected structure ({type(error).__name__}: {error})",
            remedy,
            "bad-record",
        )

    notes = [
        f"dropped {name!r}: its rows have a rate of {rates[name]:.1f} %, "
        f"but its published rate is {entries[name]['resolved']:.1f} %"
        for name in inconsistent
    ]
    if without_rows := [name for name in entries if name not in parts]:
        named = ", ".join(without_rows)
        notes.append(
            f"dropped {len(without_rows)} entries without per-instance rows: {named}"
        )

    return frame, tuple(notes)


def _rows(name: str, entry: dict[str, Any]) -> pd.DataFrame:
    """Return the rows of an entry; raise if a record lacks a value."""
    details = entry["per_instance_details"]
    tags = dict(tag.split(": ", 1) for tag in entry["tags"])
    rows = {
        column: [record[key] for record in details.values()]
        for column, key in COLUMNS.items()
    }
    description = {
        "model": tags["Model"],
        "organisation": tags["Org"],
        "open_weights": bool(entry["os_model"]),
        "agent_version": entry["mini-swe-agent_version"],
        "date": entry["date"],
    }
    return pd.DataFrame(
        {"config": name, "instance": list(details), **rows, **description}
    )
