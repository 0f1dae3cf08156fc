"""Adding evaluations to the table of an earlier import."""

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

START_AGAIN = "import all logs together, with --force instead of --update"


class Earlier(NamedTuple):
    """The table of an earlier import."""

    #: File of the table.
    path: Path
    #: Card of the table.
    card: Card
    #: Rows of the table.
    frame: pd.DataFrame
    #: Choices and settings of the earlier import, as `read_memory` returns them.
    provenance: Mapping[str, Any]


def read_earlier(output: Path, source: str) -> Earlier:
    """Read the table of an earlier import, which will be updated.

    Raises
    ------
    TableError
        If the table is not valid, or is not from an import of the same kind.
    """
    card = read(output).card  # raises one error with every fault of the table
    frame = pd.read_parquet(output)
    provenance = read_memory(output)
    if provenance.get("importer") != source:
        raise_fault(
            output,
            f"this table was not made by cobandit import {source}, which therefore"
            " cannot update it",
            START_AGAIN,
            "other-source",
        )
    return Earlier(output, card, frame, provenance)


def add_to(
    earlier: Earlier, result: ImportResult, described: bool, notes: Notes
) -> ImportResult:
    """Add the evaluations of an import to an earlier table.

    Parameters
    ----------
    earlier : Earlier
    result : ImportResult
    described : bool
        Whether the user chose the settings that define a configuration (``--by``).
        Other settings may then differ.
    notes : Notes
        Receives the numbers of added, replaced, unchanged and kept evaluations.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If measurements or columns differ, or two configurations with the same name have
        different settings.
    """
    earlier_measures = _measures(earlier.card, earlier.provenance["measured"])
    measures = _measures(result, result.measured)
    for measure in sorted({*earlier_measures, *measures}):
        if earlier_measures.get(measure) != measures.get(measure):
            problem = (
                f"{measure} was {earlier_measures.get(measure)}, but is"
                f" {measures.get(measure)} in this import"
            )
            raise_fault(
                earlier.path,
                problem,
                f"use the same options, or {START_AGAIN}",
                "other-options",
            )

    renamed = _named_as_before(earlier, result) if result.settings else result
    for config, settings in ({} if described else renamed.settings).items():
        earlier_settings = earlier.provenance["settings"].get(config, settings)
        names = sorted({*earlier_settings, *settings})
        different = [
            name for name in names if earlier_settings.get(name) != settings.get(name)
        ]
        if different:
            problem = (
                f"{config!r} was imported with other settings: {', '.join(different)}"
            )
            raise_fault(
                earlier.path,
                problem,
                f"{START_AGAIN}, or list with --by the settings that matter",
                "other-settings",
            )

    return _on_top(earlier, renamed, notes)


def _measures(card: Card | ImportResult, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that two imports into one table must share, by name."""
    as_stored: dict[str, Any] = json.loads(json.dumps(measured))
    return as_stored | {
        "the cost": f"{card.cost.column} in {card.cost.unit}",
        "objectives": ", ".join(
            f"{objective.name} from {objective.column}" for objective in card.objectives
        ),
        "configurations are described by": ", ".join(card.arms) or "nothing",
    }


def _named_as_before(earlier: Earlier, result: ImportResult) -> ImportResult:
    """Give configurations the names that equal settings have in the earlier table.

    Without this step, names could differ, because 0 and 0.0 are equal settings.
    """
    arms = list(result.arms)
    earlier_arms, arms_now = (
        frame.drop_duplicates("config")
        .set_index("config")[arms]
        .map(_plain)
        .reset_index()
        for frame in (earlier.frame, result.frame)
    )
    shared_arms = earlier_arms.merge(arms_now, on=arms, suffixes=("", "_now"))
    names = dict(zip(shared_arms["config_now"], shared_arms["config"], strict=True))
    return result._replace(
        frame=result.frame.assign(config=result.frame["config"].replace(names)),
        settings={
            names.get(name, name): settings
            for name, settings in result.settings.items()
        },
    )


def _plain(value: Any) -> str:
    """Write a value as text, so that 1.5 and "1.5" give the same text."""
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def _on_top(earlier: Earlier, result: ImportResult, notes: Notes) -> ImportResult:
    columns = [name for name in result.frame if name in earlier.frame]
    is_number = pd.api.types.is_numeric_dtype
    # a column cannot mix numbers and text, which occurs if a setting is missing in some
    # logs
    text_columns = [
        name
        for name in columns
        if not (is_number(result.frame[name]) and is_number(earlier.frame[name]))
    ]
    earlier_frame, frame = (
        table[columns].astype(dict.fromkeys(text_columns, str))
        for table in (earlier.frame, result.frame)
    )
    measured = [
        result.cost.column,
        *(objective.column for objective in result.objectives),
    ]
    keys = ["config", "instance"]
    earlier_values = earlier_frame.set_index(keys)[measured]
    values = frame.set_index(keys)[measured]
    is_repeated = values.index.isin(earlier_values.index)
    replaced = earlier_values.reindex(values.index).to_numpy(float)
    is_unchanged = (replaced == values.to_numpy(float)).all(axis=1)
    other_rows = earlier_frame[~earlier_values.index.isin(values.index)]
    is_replaced = is_repeated & ~is_unchanged
    notes.remarks.append(
        f"update: {(~is_repeated).sum():,} evaluations added, {is_replaced.sum():,}"
        f" replaced, {is_unchanged.sum():,} unchanged, {len(other_rows):,} earlier"
        " ones kept"
    )

    def place(row: int, column: str | None) -> Place:
        if row <= len(other_rows):
            return Place(str(earlier.path), int(other_rows.index[row - 1]) + 1, column)
        return result.place(row - len(other_rows), column)

    source = earlier.card.source
    return result._replace(
        frame=pd.concat([other_rows, frame], ignore_index=True),
        objectives=earlier.card.objectives,
        source=source if result.source in source else f"{source}; {result.source}",
        place=place,
        settings={**earlier.provenance["settings"], **result.settings},
    )
