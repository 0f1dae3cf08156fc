"""How to spend a budget: on evaluations that the benchmark still has, and beyond them on new instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.advice.paired import Evaluations
from cobandit.advice.questions import Question

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def allocate(
    questions: list[Question], costs: NDArray[np.float64], budget: float, missing: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Spend a budget on whole evaluations, the cheapest open question first.

    What the benchmark still has comes first, for every question; new instances are for what is left then.  A
    question is funded whole as long as the budget lasts; the first that it does not cover gets what is left,
    in proportion to its needs.  Evaluations that two questions need are bought once.  No number of new
    instances settles a tie, but missing evaluations may end it.

    Parameters
    ----------
    questions : list of Question
    costs : ndarray, shape (K,)
        Mean cost of one evaluation of each arm.
    budget : float
        In the same unit.
    missing : ndarray of int, shape (K,)
        Instances of the benchmark on which each arm is not evaluated.

    Returns
    -------
    ndarray of int, shape (K,)
        With ``costs @ result <= budget``; what exceeds ``missing`` needs new instances.

    Examples
    --------
    >>> needs = Question("front", 0, 1, 1.0, 2.0, np.array([0, 1]), np.array([6.0, 6.0]), 18.0)
    >>> allocate([needs], np.array([1.0, 2.0]), budget=10.0, missing=np.array([0, 9]))
    array([0, 5])
    >>> allocate([needs], np.array([1.0, 2.0]), budget=10.0, missing=np.array([0, 0]))
    array([4, 3])
    """
    granted = np.zeros(len(costs))
    left = float(budget)
    ordered = sorted(questions, key=lambda question: question.price)
    needs = [(question.arms, np.minimum(question.extra, missing[question.arms])) for question in ordered]
    needs += [(question.arms, question.extra) for question in ordered if np.isfinite(question.price)]
    for arms, extra in needs:
        more = np.maximum(extra - granted[arms], 0.0)
        price = float(more @ costs[arms])
        if price <= left:
            granted[arms] += more
            left -= price
            continue
        share = more * (left / price)
        whole = np.floor(share)
        left -= float(whole @ costs[arms])
        for place in np.argsort(whole - share, kind="stable"):
            if share[place] > whole[place] and costs[arms[place]] <= left:
                whole[place] += 1
                left -= costs[arms[place]]
        granted[arms] += whole
        break
    return granted.astype(np.int64)


def missing_pairs(table: EvaluationTable, numbers: NDArray[np.int64], seed: int = 0) -> pd.DataFrame:
    """Name evaluations that the benchmark still has, in the order in which they should be made.

    All configurations follow one order of the instances: those on which most configurations are evaluated
    come first, because there a new evaluation is compared in pairs with most others; equal ones at random, so
    that a benchmark sorted by subject or difficulty is not evaluated from one end.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.
    numbers : ndarray of int, shape (K,)
        How many of each configuration, at most what it misses.
    seed : int
        Of the order of equal instances.

    Returns
    -------
    DataFrame
        ``configuration``, ``instance``: pairs that are not in the table, each once.

    Examples
    --------
    >>> import cobandit as cb
    >>> len(missing_pairs(cb.load("synthetic-24"), np.zeros(24, int)))
    0
    """
    instances, evaluations = table.rows["instance"].cat, Evaluations(table)
    order = np.random.default_rng(seed).permutation(evaluations.n_instances)
    evaluated = np.bincount(evaluations.instance)
    order = order[np.argsort(-evaluated[order], kind="stable")]
    chosen = []
    for arm in np.flatnonzero(numbers).tolist():
        _, (present,) = evaluations.block([arm])
        chosen += [(place, arm) for place in np.flatnonzero(~present[order])[: numbers[arm]].tolist()]
    pairs = [(table.configs[arm], instances.categories[order[place]]) for place, arm in sorted(chosen)]
    return pd.DataFrame(pairs, columns=["configuration", "instance"], dtype=str)
