"""Regrets, and scores of returned Pareto sets (paper, Section 3 and Appendix A)."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.dominance import margins
from cobandit.errors import CobanditError
from cobandit.policies.cost_comparison import find_affordable
from cobandit.problem import Problem


def efficiency_regret(problem: Problem, pulls: ArrayLike) -> NDArray[np.float64]:
    r"""Return the efficiency regret of runs: the sum of efficiency gaps of all pulls.

    .. math:: R_B^{HV} = \sum_i \Delta_i n_i \qquad \text{(Section 3.1)}

    Parameters
    ----------
    problem : Problem
    pulls : array_like of int, shape (..., K)
        Pulls of each arm.

    Returns
    -------
    ndarray, shape (...)
        Regret, in hypervolume per unit of the costs of the problem.

    Examples
    --------
    >>> efficiency_regret(Problem([[0.5], [0.25]], [1.0, 1.0]), [3, 4])
    np.float64(1.0)
    """
    return np.asarray(pulls) @ problem.efficiency_gaps


def standard_regret(
    problem: Problem, pulls: ArrayLike, budget: float
) -> NDArray[np.float64]:
    r"""Return the standard regret :math:`\nu_{i^\star} B - \sum_i H_i n_i` of runs.

    The optimum :math:`R_B^\star` of Section 3.1 is replaced by the fluid benchmark
    :math:`\nu_{i^\star} B`.

    Parameters
    ----------
    problem : Problem
    pulls : array_like of int, shape (..., K)
        Pulls of each arm.
    budget : float
        B, in the unit of the costs of the problem.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> standard_regret(Problem([[0.5], [0.25]], [1.0, 1.0]), [3, 4], budget=7)
    np.float64(1.0)
    """
    optimum = problem.efficiency.max() * _validation.positive(budget, "budget")
    regrets: NDArray[np.float64] = optimum - np.asarray(pulls) @ problem.hypervolume
    return regrets


def moving_average(gaps: ArrayLike, window: int = 50) -> NDArray[np.float64]:
    """Return, at each entry, the mean of the last ``window`` entries.

    The paper's figures use a window of 50 (Appendix A).

    Parameters
    ----------
    gaps : array_like, shape (T,)
        Efficiency gap of each pull.
    window : int
        w >= 1.

    Returns
    -------
    ndarray, shape (T,)

    Examples
    --------
    >>> moving_average([1.0, 2.0, 6.0], window=2)
    array([1. , 1.5, 4. ])
    """
    series = pd.Series(_validation.numbers(gaps, "gaps", 1))
    window = _validation.count(window, "window", 1)
    return series.rolling(window, min_periods=1).mean().to_numpy()


def f1_score(returned: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    r"""Return the F1 score of returned sets.

    .. math:: \frac{2\, |\hat P \cap P^\star|}{|\hat P| + |P^\star|}
              \qquad \text{(Appendix A)}

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    truth : array_like of bool, shape (K,)

    Returns
    -------
    ndarray, shape (...)
        Scores, 1 exactly if the sets are equal.

    Examples
    --------
    >>> f1_score([True, True, False], [True, False, False]).round(3)
    np.float64(0.667)
    """
    returned = np.asarray(returned, dtype=bool)
    truth = np.asarray(truth, dtype=bool)
    if returned.shape[-1:] != truth.shape:
        raise CobanditError(
            f"returned has shape {returned.shape} and truth has shape {truth.shape}:"
            " the last axis of both must be the number of arms",
            argument="returned",
            code="wrong-shape",
        )
    n_both = (returned & truth).sum(axis=-1)
    scores: NDArray[np.float64] = 2 * n_both / (returned.sum(axis=-1) + truth.sum())
    return scores


def cover(
    returned: ArrayLike, means: ArrayLike, affordable: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Return the smallest tolerance within which returned arms cover every arm.

    An arm j covers i within a tolerance if i is in no objective better than j by more
    than the tolerance.

    .. math:: \max_i \min_{j \in \hat P} M(i, j)^+

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    means : array_like, shape (K, D)
    affordable : array_like of bool, shape (K, K), optional
        Entry [i, j] is True if j can cover i by its cost. By default, costs do not
        matter.

    Returns
    -------
    ndarray, shape (...)
        Tolerance. It is 0 if, for every arm, there is a returned arm that is nowhere
        worse. It is infinite if, by costs, some arm cannot be covered by any returned
        arm.

    Examples
    --------
    >>> cover([[True, False], [False, True]], [[0.5, 0.5], [0.25, 0.75]])
    array([0.25, 0.25])
    """
    distances = margins(means)[1]
    if affordable is not None:
        distances = np.where(affordable, distances, np.inf)

    worst = [
        distances[:, mask].min(axis=1, initial=np.inf).max()
        for mask in np.atleast_2d(returned)
    ]
    return np.maximum(worst, 0.0).reshape(np.shape(returned)[:-1])


def excess(
    returned: ArrayLike, means: ArrayLike, affordable: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Return the largest margin by which a returned arm is dominated.

    .. math:: \max_{i \in \hat P} \max_j m(i, j)^+

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    means : array_like, shape (K, D)
    affordable : array_like of bool, shape (K, K), optional
        Entry [i, j] is True if j can dominate i by its cost. By default, costs do not
        matter.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> excess([[True, False], [True, True]], [[0.5, 0.5], [0.25, 0.375]])
    array([0.   , 0.125])
    """
    dominated_by = margins(means)[0]
    if affordable is not None:
        dominated_by = np.where(affordable, dominated_by, 0.0)

    largest = np.maximum(dominated_by.max(axis=1), 0.0)
    worst: NDArray[np.float64] = np.where(returned, largest, 0.0).max(axis=-1)
    return worst


def beyond_tolerance(
    returned: ArrayLike,
    means: ArrayLike,
    tolerance: float,
    costs: ArrayLike | None = None,
    cost_tolerance: float | str = 0.0,
) -> NDArray[np.float64]:
    r"""Return by how much returned sets violate the promises of `cobandit.ParetoRace`.

    There are three promises. Every arm is covered within :math:`\tau` by a returned
    arm. No returned arm is dominated by more than :math:`\tau` by another returned arm.
    No returned arm is dominated by more than :math:`2 \tau` by any arm. If costs are
    compared, an arm can be covered only by an arm whose cost is within the tolerance of
    costs, and dominated only by an arm that costs no more.

    Parameters
    ----------
    returned : array_like of bool, shape (R, K)
    means : array_like, shape (K, D)
    tolerance : float
        :math:`\tau`, the same for all objectives.
    costs : array_like, shape (K,), optional
        Mean costs, if they are compared.
    cost_tolerance : float or str
        As in `cobandit.ParetoRace`.

    Returns
    -------
    ndarray, shape (R,)
        Largest violation of a promise; 0 if none is violated. It is infinite if, by
        costs, some arm cannot be covered by any returned arm.

    Examples
    --------
    >>> means = [[0.5, 0.5], [0.53, 0.53]]
    >>> beyond_tolerance([[True, False], [True, True]], means, 0.02).round(3)
    array([0.01, 0.01])
    """
    masks = np.asarray(returned, dtype=np.bool_)
    dominated_by = margins(means)[0]
    near = None
    no_dearer = None
    if costs is not None:
        near = find_affordable(costs, cost_tolerance)
        no_dearer = find_affordable(costs)
        dominated_by = np.where(no_dearer, dominated_by, 0.0)

    among_returned = np.array(
        [dominated_by[np.ix_(mask, mask)].max(initial=0.0) for mask in masks]
    )
    violations = np.stack(
        [
            cover(masks, means, near) - tolerance,
            among_returned - tolerance,
            excess(masks, means, no_dearer) - 2 * tolerance,
        ]
    )
    worst: NDArray[np.float64] = violations.max(axis=0)
    return np.maximum(worst, 0.0)
