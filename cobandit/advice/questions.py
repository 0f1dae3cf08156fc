"""Unsettled memberships of a front, and the evaluations that would settle them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit.stats.evaluations import Floats, Ints
from cobandit.stats.pairwise import Paired
from cobandit.stats.simultaneous import (
    Levels,
    critical_values,
    find_clearest_evidence,
    smallest_ratios,
)


def find_questions(compared: Paired, levels: Levels) -> pd.DataFrame:
    r"""Find unsettled memberships of the front, and the evaluations to settle each.

    Let :math:`t_{ij}^{(d)}` be the paired t-statistic of arm j over arm i in objective
    d. Arm i is off the front if :math:`\min_d t_{ij}^{(d)}` is above the critical value
    at level ``off_front`` for some arm j. It is on the front if this minimum is below
    minus the critical value at level ``on_front`` for every other arm j.

    The standard error for n instances is proportional to :math:`1 / \sqrt n`. To settle
    a comparison, both arms therefore need :math:`(c / t)^2` times their present number
    of instances, where c is the critical value and t the smallest t-statistic. If the
    front is that of a finite benchmark of N instances, 1 / n - 1 / N replaces 1 / n.

    Parameters
    ----------
    compared : Paired
    levels : Levels

    Returns
    -------
    DataFrame
        The fields of `Question`, cheapest first.
    """
    clearest = find_clearest_evidence(compared)
    rows = []
    for gaps in compared.dominance():
        critical_off = critical_values(gaps.shared, levels.off_front)
        critical_on = critical_values(gaps.shared, levels.on_front)
        for k, (arm, ratios) in enumerate(
            zip(gaps.arms, smallest_ratios(gaps), strict=True)
        ):
            # a member of the front by the means may be beaten by any open rival; an
            # arm off the front is compared only with its clearest rival
            rivals = np.arange(len(ratios))
            factor = critical_on[k]
            if clearest.ratios[arm] > 0:
                rivals = np.flatnonzero(ratios == clearest.ratios[arm])[:1]
                factor = critical_off[k]

            is_open = (np.abs(ratios) <= factor) | compared.in_cycle[arm]
            rivals = rivals[np.isfinite(ratios[rivals]) & is_open[rivals]]
            if len(rivals):
                rows.append(_ask(compared, arm, rivals, ratios, factor))
    questions = pd.DataFrame(rows, columns=[*Question._fields], dtype=float)
    questions = questions.astype({"arm": int, "against": int})
    return questions.sort_values("price", kind="stable", ignore_index=True)


class Question(NamedTuple):
    """A membership of the front that is not settled; a row of `find_questions`."""

    arm: int  #: number of the configuration
    against: int  #: number of the rival that needs the most evaluations
    ratio: float  #: absolute gap to this rival, in standard errors
    factor: float  #: critical value of the ratio
    evaluations: float  #: additional evaluations until the ratio is critical
    new_instances: float  #: number of instances needed beyond the benchmark
    price: float  #: cost of these evaluations


def _ask(
    compared: Paired, arm: int, rivals: Ints, ratios: Floats, factor: Floats
) -> Question:
    """Return the evaluations that would settle whether some rivals dominate an arm."""
    with np.errstate(divide="ignore"):
        times = (factor / ratios)[rivals] ** 2
    hardest = int(times.argmax())
    against = rivals[hardest]

    # the arm itself needs as many evaluations as against its hardest rival
    arms = np.append(rivals, arm)
    additional = _count_additional(compared, arms, np.append(times, times[hardest]))
    beyond_benchmark = np.maximum(additional - compared.missing[arms], 0)
    return Question(
        arm=arm,
        against=against,
        ratio=abs(ratios[against]),
        factor=factor[against],
        evaluations=additional.sum(),
        new_instances=beyond_benchmark.max(),
        price=additional @ compared.costs[arms],
    )


def _count_additional(compared: Paired, arms: Ints, times: Floats) -> Floats:
    """Count the evaluations that raise each arm's number of instances by a factor."""
    n = compared.counts[arms]
    total = compared.n_instances
    additional: Floats
    if not compared.finite:
        additional = np.ceil((times - 1) * n)
        return np.maximum(additional, 1.0)

    # the variance is proportional to 1 / n - 1 / N
    needed = 1 / (1 / total + (1 / n - 1 / total) / times)
    additional = np.ceil(needed - n - 1e-9)
    additional = np.clip(additional, np.minimum(1, total - n), total - n)
    return additional
