"""Rivals of a configuration: those that beat it, or come closest to beating it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from cobandit import _validation
from cobandit.stats.evaluations import Bools
from cobandit.stats.intervals import step_interval
from cobandit.stats.pairwise import Paired

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Number of rivals that are returned for an unbeaten configuration.
CLOSEST = 3


class Rivals(NamedTuple):
    """Configurations that beat a given one, or come closest to beating it.

    Attributes
    ----------
    configuration : str
    beaten : bool
        Whether a rival dominates it by the means over shared instances.
    rivals : DataFrame
        Rivals that beat the configuration, clearest first; if there are none, the three
        that come closest. ``times`` is the rival's cost over the configuration's cost,
        NaN if one is made up. ``more_OBJECTIVE`` is the rival's gain, with ``_low`` and
        ``_high``, the ends of its paired interval (not joint).
    level : float
        Level of the intervals.
    """

    configuration: str
    beaten: bool
    rivals: pd.DataFrame
    level: float


def find_rivals(
    table: EvaluationTable,
    configuration: str,
    *,
    dominance: str = "standard",
    level: float = 0.95,
) -> Rivals:
    """Find the configurations that beat a given one, or come closest to beating it.

    Parameters
    ----------
    table : EvaluationTable
    configuration : str
    dominance : {"standard", "strict"}
        As in `cobandit.recommend`.
    level : float
        Level of the intervals.

    Returns
    -------
    Rivals

    Raises
    ------
    CobanditError
        If the table has no such configuration.

    Examples
    --------
    >>> import cobandit as cb
    >>> against = find_rivals(cb.load("synthetic-24"), "small-cot-t1.0")
    >>> against.beaten, against.rivals.index[0]
    (True, 'large-direct-t0.0')
    """
    _validation.table(table)
    _validation.choice(configuration, "configuration", table.configs)
    strict = (
        _validation.choice(dominance, "dominance", ("standard", "strict")) == "strict"
    )
    level = _validation.positive(level, "level", 0.9999)
    compared = Paired(table, strict=strict)
    arm = table.configs.index(configuration)

    (gaps,) = compared.dominance(np.array([arm]))
    differences = gaps.gaps[:, 0]
    ahead = differences > 0
    level_or_ahead = ahead if strict else differences >= 0
    beats: Bools = np.all(level_or_ahead, axis=0) & np.any(ahead, axis=0)
    beats[arm] = False

    # the clearest rival has the largest smallest t-statistic
    clarity = gaps.ratios[:, 0].min(axis=0)
    clarity[arm] = -np.inf
    order = np.argsort(-clarity, kind="stable")
    order = order[beats[order]] if beats.any() else order[:CLOSEST]

    rows = [
        _compare(compared, arm, int(rival), level) for rival in order if rival != arm
    ]
    names = pd.Index(
        [table.configs[rival] for rival in order if rival != arm], name="config"
    )
    return Rivals(
        configuration, bool(beats.any()), pd.DataFrame(rows, index=names), level
    )


def _compare(compared: Paired, arm: int, rival: int, level: float) -> dict[str, float]:
    """Compare a rival with a configuration on their shared instances."""
    gains, times = compared.step(arm, rival)
    low, high = step_interval(compared, arm, rival, level)
    made_up = compared.table.has_made_up_cost
    row = {"times": np.nan if made_up[arm] or made_up[rival] else times}
    for d, name in enumerate(compared.table.objectives):
        row |= {
            f"more_{name}": gains[d],
            f"more_{name}_low": low[d],
            f"more_{name}_high": high[d],
        }
    return row
