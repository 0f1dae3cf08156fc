"""What an evaluation costs that cost nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.tables.importers.notes import Notes


def with_smallest(costs: pd.Series, unit: str, smallest: float | None, notes: Notes) -> pd.Series:
    """Give each evaluation that cost nothing a smallest cost; theory and budgets need one above zero.

    An empty answer has no tokens and is an answer all the same: leaving it out would bias the means.

    Parameters
    ----------
    costs : Series of float
        Finite, not negative.
    unit : str
        The unit of the costs, for the report.
    smallest : float or None
        What the user asked for. By default 1 where all costs are whole numbers, as tokens are, else a
        thousandth of the median of those above zero.
    notes : Notes
        Takes how many there are and what each counts as.

    Raises
    ------
    TableError
        If all are free and nothing says what that counts as.

    Examples
    --------
    >>> with_smallest(pd.Series([0.0, 12.0, 31.0]), "tokens", None, notes := Notes()).tolist()
    [1.0, 12.0, 31.0]
    >>> notes.remarks
    ['note: 1 of 3 evaluations cost nothing; each counts as 1 tokens (--smallest-cost)']
    """
    free = costs == 0
    if not free.any():
        return costs
    if smallest is None:
        paid = costs[~free]
        if paid.empty:
            problem = f"every evaluation costs 0 {unit}"
            notes.stop("the costs", problem, "take another cost, or give them one with --smallest-cost")
        whole = bool((paid == np.floor(paid)).all())
        smallest = 1.0 if whole else float(paid.median()) / 1000
    notes.smallest = smallest
    notes.remarks.append(
        f"note: {int(free.sum()):,} of {len(costs):,} evaluations cost nothing; each counts as {smallest:g} "
        f"{unit} (--smallest-cost)"
    )
    return costs.mask(free, smallest)
