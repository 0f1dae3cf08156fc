"""Adding an import to the table of an earlier one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit.errors import Place, raise_fault
from cobandit.tables.card import Card
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.importer_registry import ImportResult
from cobandit.tables.storage import read, read_memory

AGAIN = "import all the logs together, with --force in place of --update"


class Earlier(NamedTuple):
    """A table that an import made: its card, its rows, and what it remembers of how they were made."""

    path: Path
    card: Card
    frame: pd.DataFrame
    made: Mapping[str, Any]


def read_earlier(output: Path, source: str) -> Earlier:
    """Read the table that is to be added to.

    Raises
    ------
    TableError
        If it is not valid, or no import of the same kind made it.
    """
    card = read(output).card  # one error for whatever is wrong with the table
    frame, made = pd.read_parquet(output), read_memory(output)
    if made.get("importer") != source:
        raise_fault(
            output, f"it was not made by cobandit import {source}, so nothing can be added to it", AGAIN
        )
    return Earlier(output, card, frame, made)


def add_to(old: Earlier, found: ImportResult, described: bool, notes: Notes) -> ImportResult:
    """Put what was found on top of an earlier table, by configuration and instance.

    Parameters
    ----------
    old : Earlier
    found : ImportResult
    described : bool
        Whether the user said what makes a configuration, so that other settings may differ.
    notes : Notes
        Takes how many evaluations were added, replaced, unchanged and kept.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If the two do not hold the same thing: other measures, other columns, or other settings under the
        same name of a configuration.
    """
    before, now = _measures(old.card, old.made["measured"]), _measures(found, found.measured)
    for what in sorted({*before, *now}):
        if before.get(what) != now.get(what):
            problem = f"{what}: {before.get(what)}, and in this import: {now.get(what)}"
            raise_fault(old.path, problem, f"use the same options, or {AGAIN}")
    new = _named_as_before(old, found) if found.settings else found
    for config, each in ({} if described else new.settings).items():
        known = old.made["settings"].get(config, each)
        if different := sorted(name for name in {*known, *each} if known.get(name) != each.get(name)):
            problem = f"{config!r} was made with other settings: {', '.join(different)}"
            raise_fault(old.path, problem, f"{AGAIN}, or say with --by that they do not matter")
    return _on_top(old, new, notes)


def _measures(card: Card | ImportResult, measured: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be the same for two imports to be of one table, by what messages call it."""
    return json.loads(json.dumps(measured)) | {
        "the cost": f"{card.cost.column} in {card.cost.unit}",
        "objectives": ", ".join(f"{each.name} from {each.column}" for each in card.objectives),
        "configurations are described by": ", ".join(card.arms) or "nothing",
    }


def _named_as_before(old: Earlier, found: ImportResult) -> ImportResult:
    """Call a configuration as the table does: 0 and 0.0 are the same setting, but not the same name."""
    arms = list(found.arms)
    before, now = (
        frame.drop_duplicates("config").set_index("config")[arms].map(_plain).reset_index()
        for frame in (old.frame, found.frame)
    )
    both = before.merge(now, on=arms, suffixes=("", "_now"))
    names = dict(zip(both["config_now"], both["config"], strict=True))
    return found._replace(
        frame=found.frame.assign(config=found.frame["config"].replace(names)),
        settings={names.get(name, name): each for name, each in found.settings.items()},
    )


def _plain(value: Any) -> str:
    """Spell a value alike in a column of numbers and, where a configuration lacks it, in one of text."""
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def _on_top(old: Earlier, new: ImportResult, notes: Notes) -> ImportResult:
    columns = [name for name in new.frame if name in old.frame]
    is_number = pd.api.types.is_numeric_dtype
    # numbers and text, as where a setting is missing, do not go into one column
    text = [name for name in columns if not (is_number(new.frame[name]) and is_number(old.frame[name]))]
    before, now = (frame[columns].astype(dict.fromkeys(text, str)) for frame in (old.frame, new.frame))
    measured = [new.cost.column, *(objective.column for objective in new.objectives)]
    earlier, newer = (frame.set_index(["config", "instance"])[measured] for frame in (before, now))
    again = newer.index.isin(earlier.index)
    same = (earlier.reindex(newer.index).to_numpy(float) == newer.to_numpy(float)).all(axis=1)
    kept = before[~earlier.index.isin(newer.index)]
    notes.remarks.append(
        f"update: {(~again).sum():,} evaluations added, {(again & ~same).sum():,} replaced, "
        f"{same.sum():,} unchanged, {len(kept):,} that are not in this import kept"
    )

    def place(row: int, column: str | None) -> Place:
        if row <= len(kept):
            return Place(str(old.path), int(kept.index[row - 1]) + 1, column)
        return new.place(row - len(kept), column)

    source = old.card.source
    return new._replace(
        frame=pd.concat([kept, now], ignore_index=True),
        objectives=old.card.objectives,
        source=source if new.source in source else f"{source}; {new.source}",
        place=place,
        settings={**old.made["settings"], **new.settings},
    )
