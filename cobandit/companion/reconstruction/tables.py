"""The tables of the posterior, with their cards."""

from __future__ import annotations

from pathlib import Path

from cobandit import _check
from cobandit.companion.reconstruction.hierarchy import State
from cobandit.companion.reconstruction.posterior import rows_of, tables_of
from cobandit.companion.reconstruction.settings import N_PROFILING, SETTINGS, SPLIT_SEED, Setting
from cobandit.errors import CobanditError
from cobandit.tables.card import Card
from cobandit.tables.storage import write_table
from cobandit.tables.table import EvaluationTable

TITLES = {"gsm8k": "GSM8K", "piqa": "PIQA"}


def setting(name: str) -> Setting:
    """Give the published numbers behind a reconstruction.

    Raises
    ------
    CobanditError
        If there is no reconstruction of that name.

    Examples
    --------
    >>> setting("gsm8k").n_arms, setting("piqa").n_arms
    (108, 132)
    """
    return SETTINGS[_check.choice(name, "reconstruction", SETTINGS)]


def card(name: str) -> Card:
    """Give the card of a reconstruction, still without the checksum of its records.

    Examples
    --------
    >>> card("piqa").title
    'Reconstruction of the PIQA table: 132 configurations of 11 language models'
    """
    numbers = setting(name)
    title = f"Reconstruction of the {TITLES[name]} table: {numbers.n_arms} configurations"
    return Card.model_validate(
        {
            "name": name,
            "title": f"{title} of {len(numbers.models)} language models",
            "source": "cobandit.companion.reconstruction, given a part of the numbers of arXiv:2608.04333v1",
            "license": "CC0-1.0",
            "kind": "reconstruction",
            "records": f"{name}.parquet",
            "cost": {"column": "tokens", "unit": "tokens"},
            "objectives": [
                {"name": "accuracy", "column": "correct"},
                {"name": "efficiency", "column": "latency_s", "transform": "inverse-percentile"},
            ],
            "split": {"profiling": N_PROFILING, "seed": SPLIT_SEED},
            "arms": ["model", "temperature", "max_tokens", "prompt"],
        }
    )


def table(name: str, number: int = 0) -> EvaluationTable:
    """Draw a table of the posterior; number 0 is the bundled one.

    Raises
    ------
    CobanditError
        If there is no reconstruction of that name, or its posterior has no such table.

    Examples
    --------
    >>> table("gsm8k")
    gsm8k (reconstruction): 108 configurations x 1000 instances
    objectives: accuracy, efficiency; cost in tokens
    """
    stored = tables_of(name)
    if _check.count(number, "number", 0) >= len(stored):
        raise CobanditError(f"{name} has tables 0 to {len(stored) - 1}, not {number}")
    note = (f"table {number} of the posterior",) if number else ()
    rows = rows_of(name, stored[number].state)
    return EvaluationTable.from_records(rows, card(name), f"{name}, table {number}", note)


def write(name: str, directory: str | Path, state: State | None = None) -> Path:
    """Write a table and its card, NAME.parquet and NAME.yml.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    directory : str or Path
        An existing directory, ``data`` in a checkout.
    state : State, optional
        Default: that of the bundled table.

    Returns
    -------
    Path
        Of the records.
    """
    described = card(name)
    records = Path(directory) / described.records
    rows = rows_of(name, state or tables_of(name)[0].state)
    write_table(rows, described.model_dump(mode="json", exclude_unset=True), records)
    return records
