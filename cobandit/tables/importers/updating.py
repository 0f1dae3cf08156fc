"""An import into a table that is there already: what is new is added, what was imported again replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobandit.faults import Place, stop
from cobandit.tables.card import Card, read_card
from cobandit.tables.importers.core import ImportResult
from cobandit.tables.importers.notes import Notes
from cobandit.tables.readers import read
from cobandit.tables.saving import remembered

AGAIN = "import all the logs together, with --force in place of --update"


@dataclass(frozen=True)
class Earlier:
    """A table that an import made: its card, its rows, and what it remembers of how they were made."""

    path: Path
    card: Card
    frame: pd.DataFrame
    made: Mapping[str, Any]

    @property
    def by(self) -> list[str]:
        """The settings that describe its configurations, as ``--by`` takes them."""
        return [column.removesuffix("_setting") for column in self.card.arms]


def to_remember(source: str, found: ImportResult) -> dict[str, Any]:
    """What a table remembers of its import."""
    return {
        "importer": source,
        "measured": found.source,
        "files": list(found.files),
        "settings": found.settings,
    }


def earlier(output: Path, source: str) -> Earlier:
    """Read the table that is to be added to.

    Raises
    ------
    TableError
        If it is not valid, or no import of the same kind made it.
    """
    card = read_card(output.with_suffix(".yml"))
    read(output)  # one error for whatever is wrong with it
    frame, made = pd.read_parquet(output), remembered(output)
    if made.get("importer") != source:
        stop(output, f"it was not made by cobandit import {source}, so nothing can be added to it", AGAIN)
    return Earlier(output, card, frame, made)


def added(old: Earlier, found: ImportResult, described: bool, notes: Notes) -> ImportResult:
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
    _refuse_others(old, found)
    new = _named_as_before(old, found)
    settings = {**old.made["settings"], **new.settings}
    for config, each in ({} if described else new.settings).items():
        known = old.made["settings"].get(config, each)
        if known != each:
            different = sorted(name for name in {*known, *each} if known.get(name) != each.get(name))
            problem = f"{config!r} was made with other settings: {', '.join(different)}"
            stop(old.path, problem, f"{AGAIN}, or say with --by that they do not matter")

    columns = list(new.frame)
    before, now = old.frame[columns].copy(), new.frame.copy()
    for column in columns:  # numbers and text, as where a setting is missing, do not go into one column
        if not pd.api.types.is_numeric_dtype(now[column]) or not pd.api.types.is_numeric_dtype(
            before[column]
        ):
            before[column], now[column] = before[column].astype(str), now[column].astype(str)
    pairs = [pd.MultiIndex.from_frame(each[["config", "instance"]]) for each in (before, now)]
    kept = np.flatnonzero(~pairs[0].isin(pairs[1]))
    again = pairs[1].isin(pairs[0])
    measured = [new.cost.column, *(objective.column for objective in new.objectives)]
    earlier_values = before.set_index(pairs[0])[measured].reindex(pairs[1]).to_numpy(float)
    same = (earlier_values == now[measured].to_numpy(float)).all(axis=1)
    notes.remarks.append(
        f"update: {(~again).sum():,} evaluations added, {(again & ~same).sum():,} replaced, "
        f"{(again & same).sum():,} unchanged, {len(kept):,} that are not in this import kept"
    )

    def place(row: int, column: str | None) -> Place:
        if row <= len(kept):
            return Place(str(old.path), int(kept[row - 1]) + 1, column)
        if new.place is None:
            return Place("the logs", None, column)
        return new.place(row - len(kept), column)

    return new._replace(
        frame=pd.concat([before.iloc[kept], now], ignore_index=True),
        objectives=old.card.objectives,
        files=tuple(sorted({*old.made["files"], *new.files})),
        place=place,
        settings=settings,
    )


def _refuse_others(old: Earlier, found: ImportResult) -> None:
    """Refuse to mix what was measured in different ways."""
    cards = (old.card, found)
    for what, before, now in (
        ("measures", old.made["measured"], found.source),
        ("cost", *(f"{card.cost.column} in {card.cost.unit}" for card in cards)),
        ("objectives", *(", ".join(f"{o.name} from {o.column}" for o in card.objectives) for card in cards)),
        ("configurations are described by", *(", ".join(card.arms) or "nothing" for card in cards)),
    ):
        if before != now:
            stop(
                old.path, f"{what}: {before}, and in this import: {now}", f"use the same options, or {AGAIN}"
            )


def _named_as_before(old: Earlier, found: ImportResult) -> ImportResult:
    """Call a configuration as the table does: 0 and 0.0 are the same setting, but not the same name."""
    if not found.arms:
        return found
    names = {}
    for name, values in _described(old.frame, found.arms).items():
        names[values] = name
    known = {name: names.get(values, name) for name, values in _described(found.frame, found.arms).items()}
    frame = found.frame.assign(config=found.frame["config"].map(known))
    return found._replace(
        frame=frame, settings={known.get(name, name): each for name, each in found.settings.items()}
    )


def _described(frame: pd.DataFrame, arms: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    each = frame.drop_duplicates("config").set_index("config")[list(arms)]
    return {str(name): tuple(map(_plain, row)) for name, *row in each.itertuples(name=None)}


def _plain(value: Any) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)
