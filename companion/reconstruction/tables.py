"""Drawn tables as files: rows of evaluations, and their YAML description (card)."""

from pathlib import Path

import numpy as np
import pandas as pd

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.tables.card import Card
from cobandit.tables.storage import write_table
from companion.reconstruction import hierarchy
from companion.reconstruction.chain import Table, draw
from companion.reconstruction.hierarchy import N_INSTANCES, SETTINGS
from companion.reconstruction.instances import INSTANCES

#: Columns that identify a configuration.
ARM = ["model", "temperature", "max_tokens", "prompt"]


def card(name: str) -> Card:
    """Return the card, which describes a reconstruction, without a checksum.

    Raises
    ------
    CobanditError
        If the paper has no table of that name.

    Examples
    --------
    >>> card("piqa").title
    'Reconstruction of the PIQA table: 132 configurations of 11 language models'
    """
    numbers = SETTINGS[_validation.choice(name, "reconstruction", SETTINGS)]
    title = (
        f"Reconstruction of the {name.upper()} table: {numbers.n_arms} configurations"
    )

    return Card.model_validate(
        {
            "name": name,
            "title": f"{title} of {len(numbers.models)} language models",
            "source": (
                "companion.reconstruction, given a part of the numbers of"
                " arXiv:2608.04333v1"
            ),
            "license": "CC0-1.0",
            "kind": "reconstruction",
            "records": f"{name}.parquet",
            "cost": {"column": "tokens", "unit": "tokens"},
            "objectives": [
                {"name": "accuracy", "column": "correct"},
                {
                    "name": "efficiency",
                    "column": "latency_s",
                    "transform": "inverse-percentile",
                },
            ],
            "split": {"profiling": hierarchy.N_PROFILING, "seed": hierarchy.SPLIT_SEED},
            "arms": ARM,
        }
    )


def write(name: str, directory: str | Path, number: int) -> Path:
    """Draw a reconstruction, and write its rows and its description to two files.

    The files are NAME.parquet and NAME.yml. This takes some seconds.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    directory : str or Path
        An existing directory.
    number : int
        Seed of the table.

    Returns
    -------
    Path
        Path of the Parquet file.

    Raises
    ------
    CobanditError
        If the paper has no table of that name, or the drawn table does not agree with
        the printed facts.
    """
    described = card(name)
    drawn = draw(name, number)
    if not drawn.kept:
        raise CobanditError(
            f"{name}: table {number} contradicts a printed number of the paper, so it"
            " is not written; choose another number",
            argument="number",
            code="misses-fact",
        )

    records = Path(directory) / described.records
    write_table(
        rows_of(name, drawn),
        described.model_dump(mode="json", exclude_unset=True),
        records,
    )
    return records


def rows_of(name: str, drawn: Table) -> pd.DataFrame:
    """Return the rows of a random table, one per configuration and instance.

    Returns
    -------
    DataFrame, 1,000 rows per configuration
        The columns are config, instance, model, prompt (categorical), temperature,
        max_tokens, correct (0 or 1), latency_s (in seconds, rounded to milliseconds)
        and tokens. Rows are in the order of `grid`, then of the instances.

    Examples
    --------
    >>> from companion.reconstruction.chain import draw_prior
    >>> rows_of("gsm8k", draw_prior("gsm8k", 0)).shape
    (108000, 9)
    """
    land = drawn.land
    body = drawn.land.scene.body
    arms = pd.DataFrame(hierarchy.grid(SETTINGS[name]), columns=ARM)
    arms.insert(
        0,
        "config",
        [f"{m}-t{t}-{limit}-{prompt}" for m, t, limit, prompt in arms.to_numpy()],
    )
    rows = arms.loc[np.repeat(np.arange(len(arms)), N_INSTANCES)].reset_index(drop=True)
    rows.insert(
        1, "instance", np.tile([f"q{q:03d}" for q in range(N_INSTANCES)], len(arms))
    )

    labels = dict.fromkeys(("config", "instance", "model", "prompt"), "category")
    correct = body.rank < land.count[:, None]
    order = np.argsort(INSTANCES)
    return rows.astype(labels | {"max_tokens": "int16"}).assign(
        correct=correct[:, order].ravel().astype(np.uint8),
        latency_s=body.seconds[:, order].ravel(),
        tokens=body.tokens[:, order].ravel().astype(np.int16),
    )
