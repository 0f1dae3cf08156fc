# mypy: allow-untyped-defs
"""Lemma 2: gap elimination makes no mistake while every mean errs by little, and how much is too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance

#: What the paper's proof allows each mean to err by, in units of the gap of the phase.
PAPER_SHARE = 1 / 16
#: What the same proof allows with each of its inequalities at its best: any share below this one.
SHARP_SHARE = 1 / 8

FAMILIES = ("uniform", "close to a front", "dominated copies", "one decimal")
ADVERSARIES = ("uniform errors", "corners", "aimed at a pair")


def eliminate(
    means: ArrayLike,
    errors: Sequence[NDArray[np.float64]] = (),
    gaps_of: Callable[[ArrayLike], NDArray[np.float64]] = dominance.classification_gaps,
) -> tuple[NDArray[np.bool_], list[int]]:
    """Gap elimination on means that err by what is given, phase by phase.

    Parameters
    ----------
    means : array_like, shape (K, D)
        True means.
    errors : sequence of ndarray, shape (K, D)
        Errors of the empirical means in the first phases; none in the phases after.
    gaps_of : callable
        Gaps of the arms that are active, (k, D) -> (k,).

    Returns
    -------
    returned : ndarray of bool, shape (K,)
        The accepted arms and the one that is left.
    order : list of int
        The arms in the order in which they left.

    Examples
    --------
    >>> returned, order = eliminate([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]])
    >>> returned, order
    (array([ True,  True, False]), [1, 2])
    """
    means = _check.means(means)
    active = list(range(len(means)))
    returned, order = np.zeros(len(means), dtype=bool), []
    for phase in range(len(means) - 1):
        seen = (means + errors[phase] if phase < len(errors) else means)[active]
        gaps, front = gaps_of(seen), dominance.pareto_mask(seen)
        largest = gaps == gaps.max()
        position = int((largest & ~front if (largest & ~front).any() else largest).argmax())
        leaves = active.pop(position)
        returned[leaves] = front[position]
        order.append(leaves)
    returned[active[0]] = True
    return returned, order


@njit(cache=True)
def _problem(rng, family, n_arms, n_objectives):
    """Random means of one of `FAMILIES`."""
    means = np.empty((n_arms, n_objectives))
    for i in range(n_arms):
        for d in range(n_objectives):
            means[i, d] = rng.random()
        if family == 1:  # onto the plane where the coordinates sum to half their number, give or take
            excess = means[i].sum() / n_objectives - 0.5 + 0.1 * (rng.random() - 0.5)
            means[i] -= excess
        elif family == 2 and i > 0 and rng.random() < 0.6:
            original = int(rng.random() * i)
            for d in range(n_objectives):
                means[i, d] = means[original, d] - 0.2 * rng.random() ** 2
        elif family == 3:
            for d in range(n_objectives):
                means[i, d] = np.floor(10 * means[i, d]) / 10
    return means


@njit(cache=True)
def _gaps(means, active, gaps, front):
    """Fill the gaps and the front of the active arms, straight from their definition."""
    n_arms, n_objectives = means.shape
    minus = np.full(n_arms, -np.inf)
    for i in range(n_arms):
        for j in range(n_arms):
            if active[i] and active[j] and i != j:
                margin = np.inf
                for d in range(n_objectives):
                    margin = min(margin, means[j, d] - means[i, d])
                minus[i] = max(minus[i], margin)
    for i in range(n_arms):
        front[i] = minus[i] <= 0
        gaps[i] = minus[i] if minus[i] > 0 else np.inf
        for j in range(n_arms):
            if front[i] and active[i] and active[j] and i != j:
                beats, beaten = -np.inf, 0.0
                for d in range(n_objectives):
                    beats = max(beats, means[i, d] - means[j, d])
                    beaten = max(beaten, means[j, d] - means[i, d])
                gaps[i] = min(gaps[i], min(beats, beaten + max(minus[j], 0.0)))


@njit(cache=True)
def _perturb(rng, adversary, means, size, seen):
    """Fill the empirical means: within ``size`` of the true ones, chosen as one of `ADVERSARIES` does."""
    n_arms, n_objectives = means.shape
    first, second = int(rng.random() * n_arms), int(rng.random() * n_arms)
    for i in range(n_arms):
        for d in range(n_objectives):
            error = 2 * rng.random() - 1
            if adversary > 0:
                error = 1.0 if error > 0 else -1.0
            if adversary == 2 and i == first:
                error = 1.0
            elif adversary == 2 and i == second:
                error = -1.0
            seen[i, d] = means[i, d] + size * error


@njit(cache=True)
def _misclassifies(rng, adversary, means, truth, sorted_gaps, share):
    """Run one elimination whose means err by up to ``share`` of the gap of the phase; is its result wrong."""
    n_arms = len(means)
    active, returned = np.ones(n_arms, dtype=np.bool_), np.zeros(n_arms, dtype=np.bool_)
    gaps, front, seen = np.empty(n_arms), np.empty(n_arms, dtype=np.bool_), np.empty_like(means)
    for k in range(n_arms, 1, -1):
        _perturb(rng, adversary, means, share * sorted_gaps[k - 1], seen)
        _gaps(seen, active, gaps, front)
        leaves = -1
        for i in range(n_arms):
            if active[i] and (
                leaves < 0
                or gaps[i] > gaps[leaves]
                or (gaps[i] == gaps[leaves] and front[leaves] and not front[i])
            ):
                leaves = i
        active[leaves] = False
        returned[leaves] = front[leaves]
    return not np.array_equal(returned | active, truth)


@njit(cache=True, nogil=True)
def _trials(rng, trials, draws, shares, max_arms, max_objectives, rows):
    """Fill ``rows`` (trials, 4 + S): family, adversary, K, D, and wrong draws for each share."""
    for trial in range(trials):
        family, adversary = trial % 4, (trial // 4) % 3
        while True:
            n_arms = 2 + int(rng.random() * (max_arms - 1))
            means = _problem(rng, family, n_arms, 1 + int(rng.random() * max_objectives))
            gaps, truth = np.empty(n_arms), np.empty(n_arms, dtype=np.bool_)
            _gaps(means, np.ones(n_arms, dtype=np.bool_), gaps, truth)
            sorted_gaps = gaps[np.argsort(gaps)]  # compiled code sorts in one way, as a test says
            if sorted_gaps[0] > 1e-6:  # the paper assumes positive gaps
                break
        rows[trial, :4] = family, adversary, n_arms, means.shape[1]
        for s in range(len(shares)):
            wrong = 0
            for _ in range(draws):
                wrong += _misclassifies(rng, adversary, means, truth, sorted_gaps, shares[s])
            rows[trial, 4 + s] = wrong


def lemma_trials(
    trials: int,
    seed: int,
    shares: Sequence[float] = (PAPER_SHARE,),
    draws: int = 1,
    max_arms: int = 8,
    max_objectives: int = 4,
) -> pd.DataFrame:
    r"""Gap elimination on random problems whose means err by a share of :math:`\gamma_{(k_r)}` in phase r.

    Parameters
    ----------
    trials : int
        Problems, which rotate through `FAMILIES` and `ADVERSARIES`.
    seed : int
    shares : sequence of float
        Largest error of a mean over the gap of the phase; the paper's proof takes 1/16.
    draws : int
        Perturbed runs for each problem and share.
    max_arms, max_objectives : int
        Sizes are drawn from 2 and 1 up to these.

    Returns
    -------
    DataFrame, one row per problem and share
        ``family``, ``adversary``, ``K``, ``D``, ``share``, ``draws`` and ``wrong``, the draws that returned
        another set than the Pareto set.

    Notes
    -----
    Compiled; a run takes time O(K^3 D).

    Examples
    --------
    >>> int(lemma_trials(60, seed=0)["wrong"].sum())
    0
    """
    trials, draws = _check.count(trials, "trials", 1), _check.count(draws, "draws", 1)
    rows = np.empty((trials, 4 + len(shares)), dtype=np.int64)
    rng = np.random.default_rng(seed)
    _trials(rng, trials, draws, np.array(shares, dtype=float), max_arms, max_objectives, rows)
    wide = pd.DataFrame(rows, columns=["family", "adversary", "K", "D", *shares])
    wide["family"] = np.array(FAMILIES)[wide["family"]]
    wide["adversary"] = np.array(ADVERSARIES)[wide["adversary"]]
    fixed = ["family", "adversary", "K", "D"]
    return wide.melt(id_vars=fixed, var_name="share", value_name="wrong").assign(draws=draws)


def sharp_example(share: float, margin: float = 1e-3) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Six arms, and errors of their means within ``share`` of the largest gap, that break gap elimination.

    In units of 1/64, the first arm is dominated by the second alone, by the tiny ``margin``, and the largest
    gap is 8, that of the last arm.  Errors of x make the second arm's gap 4x - 2 margin and the last arm's
    8 - 4x; so the second arm leaves first as soon as x > 1 + margin / 4, and nothing is left that dominates
    the first.

    Parameters
    ----------
    share : float
        The errors are ``share`` times the largest gap, in the first phase only.
    margin : float
        The smaller, the closer to 1/8 the share that is enough.

    Returns
    -------
    means, errors : ndarray, shape (6, 2)

    Examples
    --------
    >>> for share in (0.124, 0.126):
    ...     means, errors = sharp_example(share)
    ...     print(eliminate(means, [errors])[0].tolist() == dominance.pareto_mask(means).tolist())
    True
    False
    """
    upper, right = np.array([0.0, 40.0]), np.array([30.0, 0.0])  # two groups that do not interfere
    means = np.array(
        [
            upper,
            upper + np.array([margin, 12.0]),
            upper + np.array([12.0, -margin]),
            right,
            right + np.array([12.0, 5.9]),
            right + np.array([-2.1, 20.0]),
        ]
    )
    signs = np.array([[1, -1], [-1, 1], [1, 1], [-1, 1], [1, -1], [1, -1]], dtype=float)
    largest = dominance.classification_gaps(means).max()
    return (means + 1) / 64, _check.positive(share, "share") * largest * signs / 64
