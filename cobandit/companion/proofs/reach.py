"""Which active sets can be reached: exactly, by search, and on problems that are hard for every method."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance, theory
from cobandit.companion.proofs.disjunctions import Disjunctions
from cobandit.companion.proofs.identification_error import swapped_costs
from cobandit.companion.proofs.misclassification import SHARP_SHARE
from cobandit.problem import Problem


# ----------------------------------------------------------------------------- exactly
def exactly_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Arms whose empirical gap is the largest for some errors of the means within ``slack`` / 2.

    One mixed-integer linear program for each arm that `cobandit.theory.may_leave` names, and for each of the
    two cases in which its gap is the larger of :math:`\Delta^-` and :math:`\Delta^+`.

    Parameters
    ----------
    means : array_like, shape (k, D)
    slack : float
        Twice what a mean may err by, as in `cobandit.theory.may_leave`.

    Returns
    -------
    ndarray of bool, shape (k,)
        True also where its gap can be no more than level with the largest.

    Examples
    --------
    >>> exactly_leave([[0.9], [0.8], [0.2]], 0.05)
    array([False, False,  True])
    """
    means = _check.means(means)
    named = theory.may_leave(means, slack)
    for arm in np.flatnonzero(named).tolist():
        named[arm] = _has_largest_gap(means, arm, slack / 2, True) or _has_largest_gap(
            means, arm, slack / 2, False
        )
    return named


def _has_largest_gap(means: NDArray[np.float64], arm: int, reach: float, dominated: bool) -> bool:
    """Whether means within ``reach`` give this arm a largest gap: Delta^- if ``dominated``, else Delta^+."""
    n_arms, n_objectives = means.shape
    program, objectives = Disjunctions(), range(n_objectives)
    x = [[program.variable(mean - reach, mean + reach) for mean in row] for row in means]
    level = program.variable(0, 2)  # no other gap is above it, this one not below
    others = [[j for j in range(n_arms) if j != i] for i in range(n_arms)]

    below = [program.variable(0, 2) for _ in x]  # at least (Delta_i^-)^+
    for i in range(n_arms):
        for j in others[i]:
            program.one_of([{x[j][d]: 1, x[i][d]: -1, below[i]: -1}] for d in objectives)
    for j in others[arm]:
        program.all_of([{below[j]: 1, level: -1}])
        program.one_of(
            alternative
            for i in others[j]
            for alternative in (
                [{x[j][d]: 1, x[i][d]: -1, level: -1} for d in objectives],
                [{below[i]: 1, level: -1}]
                + [{x[i][d]: 1, x[j][d]: -1, below[i]: 1, level: -1} for d in objectives],
            )
        )
    if dominated:
        program.one_of([{x[arm][d]: 1, x[j][d]: -1, level: 1} for d in objectives] for j in others[arm])
        return program.feasible()
    for j in others[arm]:
        program.one_of([{x[j][d]: 1, x[arm][d]: -1, level: 1}] for d in objectives)
        ahead, dominates = program.variable(0, 2), program.variable(0, 2)  # at most the two terms
        program.all_of([{level: 1, ahead: -1, dominates: -1}])
        program.one_of([[{ahead: 1}], *([{ahead: 1, x[arm][d]: 1, x[j][d]: -1}] for d in objectives)])
        program.one_of(
            [
                [{dominates: 1}],
                *([{dominates: 1, x[j][d]: 1, x[i][d]: -1} for d in objectives] for i in others[j]),
            ]
        )
    return program.feasible()


# ----------------------------------------------------------------------------- by search
def visited_sets(
    means: ArrayLike, runs: int, seed: int, share: float = SHARP_SHARE
) -> list[NDArray[np.bool_]]:
    r"""Active sets that gap elimination comes to in runs whose means err by less than a share of the gap.

    Parameters
    ----------
    means : array_like, shape (K, D)
    runs, seed : int
        In two of three runs the errors are as large as they may be.
    share : float
        What a mean may err by, over :math:`\gamma_{(k)}`; at 1/8 and below every set is reachable.

    Returns
    -------
    list of ndarray of bool, shape (number of sets, K)
        The sets of K, K - 1, ..., 2 arms, as from `cobandit.theory.reachable_sets`.

    Examples
    --------
    >>> [len(sets) for sets in visited_sets([[0.9], [0.8], [0.5], [0.45], [0.2]], 100, seed=0)]
    [1, 1, 2, 1]
    """
    means = _check.means(means)
    n_arms, rng = len(means), np.random.default_rng(seed)
    gaps = np.sort(dominance.classification_gaps(means))
    within = _check.positive(share, "share") * (1 - 1e-9)
    found: list[set[tuple[bool, ...]]] = [set() for _ in range(n_arms - 1)]
    for run in range(_check.count(runs, "runs", 1)):
        active = np.ones(n_arms, dtype=bool)
        for phase, seen in enumerate(found):
            seen.add(tuple(active.tolist()))
            error = rng.uniform(-1, 1, (n_arms - phase, means.shape[1]))
            if run % 3:
                error = np.sign(error)
            empirical = means[active] + within * gaps[n_arms - phase - 1] * error
            own, front = dominance.classification_gaps(empirical), dominance.pareto_mask(empirical)
            first = own == own.max()
            first = first & ~front if (first & ~front).any() else first
            active[np.flatnonzero(active)[first.argmax()]] = False
    return [np.array(sorted(seen)) for seen in found]


def outside(visited: list[NDArray[np.bool_]], reachable: list[NDArray[np.bool_]]) -> int:
    """How many of the visited sets are not reachable.

    Examples
    --------
    >>> two, one = [np.array([[True, False], [False, True]])], [np.array([[True, False]])]
    >>> outside(two, one), outside(one, two)
    (1, 0)
    """
    return sum(
        len({tuple(row) for row in some.tolist()} - {tuple(row) for row in all_.tolist()})
        for some, all_ in zip(visited, reachable, strict=True)
    )


def complexities(trials: int, seed: int, n_arms: int, n_objectives: int = 2) -> pd.DataFrame:
    """Complexities of random problems, with the most expensive arms hardest to classify, then easiest.

    Parameters
    ----------
    trials, seed : int
    n_arms, n_objectives : int

    Returns
    -------
    DataFrame, two rows per trial
        ``costly`` ("hardest" or "easiest"), the paper's ``H``, ``named`` by `cobandit.theory.may_leave`,
        ``exact`` by `exactly_leave` and ``visited`` in 300 runs.  Each is at most the one before.

    Examples
    --------
    >>> complexities(1, seed=0, n_arms=3).round(1)[["H", "named", "exact", "visited"]].values.tolist()
    [[30.3, 30.3, 30.3, 30.3], [30.3, 24.3, 24.3, 24.3]]
    """
    rng, rows = np.random.default_rng(seed), []
    for trial in range(_check.count(trials, "trials", 1)):
        drawn = Problem(rng.random((n_arms, n_objectives)), 10 ** rng.uniform(-1, 0, n_arms))
        gaps = np.sort(drawn.classification_gaps)
        exact = theory.reachable_sets(drawn.means, exactly_leave)
        visited = visited_sets(drawn.means, 300, trial)
        for costly, problem in zip(("hardest", "easiest"), swapped_costs(drawn), strict=True):

            def largest(sets: list[NDArray[np.bool_]], costs: NDArray[np.float64] = problem.costs) -> float:
                return max(
                    float((each @ costs).max() / gap**2)
                    for each, gap in zip(sets, gaps[:0:-1], strict=True)  # noqa: B023
                )

            named = theory.reachable_complexity(problem.means, problem.costs)
            rows.append((costly, problem.complexity, named, largest(exact), largest(visited)))
    return pd.DataFrame(rows, columns=["costly", "H", "named", "exact", "visited"])


# ----------------------------------------------------------------------------- hard for every method
def hard_family(costs: ArrayLike) -> list[Problem]:
    r"""Problems that no method can all solve quickly: one, and K - 1 that differ from it in one arm each.

    With costs ascending and :math:`\gamma_i = (c_1 + \dots + c_i) / (4 C([K]))`, the first problem has the
    means 1/2 and :math:`\tfrac12 - \gamma_i`, and in each of the others one arm has
    :math:`\tfrac12 + \gamma_i`.

    Parameters
    ----------
    costs : array_like, shape (K,)

    Returns
    -------
    list of Problem
        K of them, with one objective and the costs ascending.

    Examples
    --------
    >>> [problem.means.ravel().tolist() for problem in hard_family([1.0, 1.0])]
    [[0.5, 0.25], [0.5, 0.75]]
    """
    costs = np.sort(_check.costs(costs))
    gaps = np.cumsum(costs) / (4 * costs.sum())
    base = 0.5 - gaps
    base[0] = 0.5
    problems = [Problem(base[:, None], costs)]
    for arm in range(1, len(costs)):
        flipped = base.copy()
        flipped[arm] = 0.5 + gaps[arm]
        problems.append(Problem(flipped[:, None], costs))
    return problems


def best_test_error(pulls: int) -> float:
    """Least error on the second problem of two equal costs, if that on the first may be one half.

    The arms differ between the problems in one coin, of mean 1/4 or 3/4, so that whoever spends it all on
    that coin does best, and by Neyman and Pearson calls it 3/4 if it succeeds often.

    Parameters
    ----------
    pulls : int
        Of that coin, the budget over its cost.

    Returns
    -------
    float

    Examples
    --------
    Heads are called 3/4, and so is a third of the tails.

    >>> round(best_test_error(1), 6)
    0.166667
    """
    from scipy import stats

    pulls = _check.count(pulls, "pulls", 1)
    median = int(stats.binom.isf(0.5, pulls, 0.25))
    above, here = stats.binom.sf(median, pulls, 0.25), stats.binom.pmf(median, pulls, 0.25)
    called = (0.5 - above) / here  # of the runs at the median, those that are called 3/4
    return float(
        stats.binom.cdf(median - 1, pulls, 0.75) + (1 - called) * stats.binom.pmf(median, pulls, 0.75)
    )
