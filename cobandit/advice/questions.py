"""The memberships of a front that are not settled, and the evaluations that would settle each."""

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
    r"""Find the memberships that are not settled, and how many evaluations more would settle each.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d
    t_{ij}^{(d)}` above the critical value at level ``off``; it is on the front if of
    every other arm the smallest t is below minus that at level ``on``.

    A standard error falls with the root of the number of instances, so the instances of
    both arms have to be ``(factor / ratio)^2`` times what they are; about the benchmark
    itself 1 / n falls towards 1 / N.

    Parameters
    ----------
    compared : Paired
    levels : Levels

    Returns
    -------
    DataFrame
        ``arm``, ``against``, ``ratio``, ``factor``, ``evaluations``, ``new_instances``
        and ``price``, as `cobandit.advice.Recommendation` has them, the cheapest first.
    """
    clearest = find_clearest_evidence(compared)
    rows = []
    for gaps in compared.dominance():
        critical_off = critical_values(gaps.shared, levels.off_front)
        critical_on = critical_values(gaps.shared, levels.on_front)
        for k, (arm, ratios) in enumerate(
            zip(gaps.arms, smallest_ratios(gaps), strict=True)
        ):
            # on the front by the means: no rival may beat it; otherwise its clearest
            # rival has to
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
    """A membership that is not settled, as a row of `find_questions`."""

    arm: int
    against: int
    ratio: float
    factor: float
    evaluations: float
    new_instances: float
    price: float


def _ask(
    compared: Paired, arm: int, rivals: Ints, ratios: Floats, factor: Floats
) -> Question:
    """Return the question of an arm against the rivals that leave it open."""
    with np.errstate(divide="ignore"):
        times = (factor / ratios)[rivals] ** 2
    hardest = int(times.argmax())
    against = rivals[hardest]

    # the arm itself needs as many as its hardest rival
    arms = np.append(rivals, arm)
    more = _count_more(compared, arms, np.append(times, times[hardest]))
    return Question(
        arm=arm,
        against=against,
        ratio=abs(ratios[against]),
        factor=factor[against],
        evaluations=more.sum(),
        new_instances=np.maximum(more - compared.missing[arms], 0).max(),
        price=more @ compared.costs[arms],
    )


def _count_more(compared: Paired, arms: Ints, times: Floats) -> Floats:
    """Count the additional evaluations that multiply the instances of each arm by so much."""
    n = compared.counts[arms]
    total = compared.n_instances
    if not compared.finite:
        return np.maximum(np.ceil((times - 1) * n), 1.0)
    # 1 / n falls towards 1 / N, where nothing is open
    more = np.ceil(1 / (1 / total + (1 / n - 1 / total) / times) - n - 1e-9)
    return np.clip(more, np.minimum(1, total - n), total - n)
