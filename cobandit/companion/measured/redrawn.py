"""Another draw of the same instances: what a table of so few could as well have been."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.tables.card import Cost, Objective

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def redrawn(table: EvaluationTable, seed: int = 0) -> EvaluationTable:
    """Draw the instances of each split with replacement, the same ones for every configuration.

    Replays on one table say what a method does on its instances; replays on many such tables say how far
    that hangs on which instances they were (the bootstrap of Efron, Annals of Statistics 7, 1979).  Scores
    stay as the table's own profiling split scaled them.

    Parameters
    ----------
    table : EvaluationTable
        Whose configurations were all evaluated on the same instances.
    seed : int

    Returns
    -------
    EvaluationTable
        Of the same name, configurations, instance names and split.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> another = redrawn(table, seed=1)
    >>> another.rows["split"].equals(table.rows["split"]), (another.means == table.means).all()
    (True, np.False_)
    """
    rng, rows = np.random.default_rng(_check.seed(seed)), table.rows.astype({"instance": str})
    parts = []
    for _, part in rows.groupby("split", observed=True):
        names = np.sort(part["instance"].unique())
        drawn = pd.DataFrame({"drawn": rng.choice(names, len(names)), "instead_of": names})
        parts.append(drawn.merge(part, left_on="drawn", right_on="instance"))
    frame = pd.concat(parts).drop(columns=["drawn", "instance", "split"])
    frame = frame.rename(columns={"instead_of": "instance"}).join(table.arms, on="config")
    card = table.card.model_copy(
        update={
            "cost": Cost(column="cost", unit=table.card.cost.unit),
            "objectives": [Objective(name=name, column=name) for name in table.objectives],
        }
    )
    return type(table).from_records(frame, card, "the redrawn table")
