"""The memberships of a front that are not settled, and the evaluations that would settle each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.stats.evaluations import Floats, Ints
from cobandit.stats.pairwise import Paired
from cobandit.stats.simultaneous import Levels, critical_values, find_clearest_evidence, smallest_ratios


def find_questions(compared: Paired, levels: Levels) -> pd.DataFrame:
    r"""Find the memberships that are not settled, and how many evaluations more would settle each.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d t_{ij}^{(d)}` above the critical
    value at level ``off``; it is on the front if of every other arm the smallest t is below minus that at
    level ``on``.

    A standard error falls with the root of the number of instances, so the instances of both arms have to be
    ``(factor / ratio)^2`` times what they are; about the benchmark itself 1 / n falls towards 1 / N.

    Parameters
    ----------
    compared : Paired
    levels : Levels

    Returns
    -------
    DataFrame
        ``arm``, ``against``, ``ratio``, ``factor``, ``evaluations``, ``new_instances`` and ``price``, as
        `cobandit.advice.Recommendation` has them, the cheapest first.
    """
    clearest, asked = find_clearest_evidence(compared), []
    for gaps in compared.dominance():
        off, on = (critical_values(gaps.shared, level) for level in levels)
        for k, (arm, ratio) in enumerate(zip(gaps.arms, smallest_ratios(gaps), strict=True)):
            rivals, factor = np.arange(len(ratio)), on[k]
            if clearest.ratios[arm] > 0:  # dominated, by the means
                rivals, factor = np.flatnonzero(ratio == clearest.ratios[arm])[:1], off[k]
            is_open = (np.abs(ratio) <= factor) | compared.in_cycle[arm]
            rivals = rivals[np.isfinite(ratio[rivals]) & is_open[rivals]]
            if not len(rivals):
                continue
            with np.errstate(divide="ignore"):
                times = (factor / ratio)[rivals] ** 2
            hardest = int(times.argmax())
            against = rivals[hardest]
            arms, times = np.append(rivals, arm), np.append(times, times[hardest])
            extra = _count_more(compared, arms, times)
            new, price = np.maximum(extra - compared.missing[arms], 0).max(), extra @ compared.costs[arms]
            asked.append((arm, against, abs(ratio[against]), factor[against], extra.sum(), new, price))
    columns = ["arm", "against", "ratio", "factor", "evaluations", "new_instances", "price"]
    found = pd.DataFrame(asked, columns=columns, dtype=float).astype({"arm": int, "against": int})
    return found.sort_values("price", kind="stable", ignore_index=True)


def _count_more(compared: Paired, arms: Ints, times: Floats) -> Floats:
    """Count the evaluations more that make each arm's instances so many times what they are."""
    n, total = compared.counts[arms], compared.n_instances
    if not compared.finite:
        return np.maximum(np.ceil((times - 1) * n), 1.0)
    extra = np.ceil(1 / (1 / total + (1 / n - 1 / total) / times) - n - 1e-9)
    return np.clip(extra, np.minimum(1, total - n), total - n)
