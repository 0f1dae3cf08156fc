"""Spending of CoPSI with the paper's, the exact and the adaptive allocation constant.

An allocation constant divides the budget, so that no order of elimination overspends.
"""

from collections.abc import Sequence
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation, theory
from cobandit.dominance import classification_gaps
from cobandit.policies.registry import read_methods
from companion.proofs.checks import SLACK, CheckResult, Floats, check
from companion.proofs.known_arms import LEVELS, designed_arms, feedback_source, play_on

#: Orders of elimination in `spending_trials`; the first is the worst case.
ORDERS = ("most expensive first", "cheapest first", "random")


def spending(costs: ArrayLike, budget: ArrayLike, constant: ArrayLike) -> Floats:
    r"""Return the total cost of CoPSI if it removes the arms in a given order.

    .. math::

        \sum_{r=1}^{K-1} C_r (n_r - n_{r-1}), \qquad
        n_r = \Bigl\lfloor \frac{B}{L\, C_r} \Bigr\rfloor

    Parameters
    ----------
    costs : array_like, shape (..., K)
        Costs in the order of elimination; the last two arms remain to the end.
    budget, constant : array_like, shape (...)
        B and L.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    In the example of `companion.paper.examples`, the targets are 2 and 8 pulls.

    >>> spending([4.0, 1.0, 1.0], budget=40, constant=37 / 15)
    np.float64(24.0)
    """
    targets = constant_targets(costs, budget, constant)
    return (_remaining(costs) * np.diff(targets, prepend=0, axis=-1)).sum(axis=-1)


def _remaining(costs: ArrayLike) -> Floats:
    """Return C_r, the cost of one pull of each active arm, in phases 1 to K - 1."""
    # cumulative sums from the last arm backwards; the last arm alone has no phase
    return np.cumsum(np.asarray(costs, dtype=float)[..., ::-1], axis=-1)[..., :0:-1]


def random_costs(rng: np.random.Generator, trials: int, n_arms: int) -> Floats:
    """Draw cost vectors (trials, K) with largest cost 1 and smallest at least 1/1000.

    Every second vector has at most two different costs.
    """
    cost_ratio = 10 ** rng.uniform(-3, 0, (trials, 1))
    share = rng.random((trials, n_arms))
    share[::2] = np.round(share[::2])
    costs = cost_ratio ** (1 - share)
    return np.asarray(costs / costs.max(axis=1, keepdims=True))


def spending_trials(
    trials: int, seed: int, base: str = "published", decades: float = 6.0
) -> pd.DataFrame:
    """Compute the spending of CoPSI for random costs, in three orders of elimination.

    The three orders are `ORDERS`. CoPSI is run with the paper's, the exact and the
    adaptive allocation constant.

    Parameters
    ----------
    trials : int
        Number of cost vectors per order, rounded up to a multiple of 29. The vectors
        are divided evenly among problems of 2, ..., 30 arms.
    seed : int
    base : {"published", "exact"}
        The smallest budget is L C([K]), with the paper's or the exact constant as L.
    decades : float
        Powers of ten between the smallest and the largest budgets.

    Returns
    -------
    DataFrame, one row per cost vector and order
        ``n_arms``; ``order``; ``spent``, the spent share of the budget with the paper's
        constant L; ``spent_exact``, the share with the exact constant L*; ``ceiling``,
        L* / L, the largest possible value of ``spent`` over all orders. Further columns
        are about the adaptive constant: ``growth``, the smallest ratio X_{r+1} / X_r of
        `elimination_targets`; ``monotone``, whether targets never decrease;
        ``spent_adaptive``, the spent share; ``unspent``, the unspent budget divided by
        the total cost of one pull of each of the last two arms; ``ahead``, whether no
        adaptive target is below the target with L*, and no target with L* is below the
        target with L.

    Examples
    --------
    >>> trials = spending_trials(30, seed=0)
    >>> bool((trials["spent"] <= 1).all() and trials["ahead"].all())
    True
    """
    rng = np.random.default_rng(seed)
    frames = []
    sizes = range(2, 31)
    n_vectors = ceil(trials / len(sizes))
    for n_arms in sizes:
        costs = random_costs(rng, n_vectors, n_arms)
        exact = np.array([theory.exact_allocation_constant(row) for row in costs])
        paper = np.array(
            [theory.allocation_constant(n_arms, row.min()) for row in costs]
        )
        smallest = exact if base == "exact" else paper
        budget = 10 ** rng.uniform(0, decades, n_vectors) * smallest * costs.sum(axis=1)
        ascending = np.sort(costs, axis=1)
        stretched = budget * (1 + _budget.SLACK)
        for order, sequence in zip(
            ORDERS, (ascending[:, ::-1], ascending, costs), strict=True
        ):
            targets, shares = elimination_targets(sequence, stretched)
            constant, published = (
                constant_targets(sequence, stretched, normaliser)
                for normaliser in (exact, paper)
            )
            steps = np.diff(targets, prepend=0, axis=1)
            remaining = _remaining(sequence)
            adaptive = (remaining * steps).sum(axis=1) / stretched
            columns = {
                "n_arms": n_arms,
                "order": order,
                "spent": spending(sequence, budget, paper) / budget,
                "spent_exact": spending(sequence, budget, exact) / budget,
                "ceiling": exact / paper,
                "growth": (shares[:, 1:] / shares[:, :-1]).min(axis=1, initial=np.inf),
                "monotone": (steps >= 0).all(axis=1),
                "spent_adaptive": adaptive,
                "unspent": (1 - adaptive) * stretched / remaining[:, -1],
                "ahead": ((targets >= constant) & (constant >= published)).all(axis=1),
            }
            frames.append(pd.DataFrame(columns))

    return pd.concat(frames, ignore_index=True)


def constants(costs: ArrayLike) -> dict[str, float]:
    """Return the allocation constants of a cost vector: the paper's and the exact one.

    CoPSI divides its budget by an allocation constant.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Costs in any unit.

    Returns
    -------
    dict
        ``lambda``, the smallest cost over the largest, and the constants ``published``
        (L of the paper) and ``exact`` (L*).

    Examples
    --------
    >>> {name: round(value, 3) for name, value in constants([1.0, 4.0, 1.0]).items()}
    {'lambda': 0.25, 'published': 2.467, 'exact': 1.667}
    """
    cost_ratio = float(np.min(costs) / np.max(costs))
    published = theory.allocation_constant(len(np.asarray(costs)), cost_ratio)
    return {
        "lambda": cost_ratio,
        "published": published,
        "exact": theory.exact_allocation_constant(costs),
    }


def recursion_slack(costs: ArrayLike) -> Floats:
    r"""Return the slack of a recursive inequality for the exact constant, per arm.

    The inequality compares the constant of all arms with the constant after the removal
    of arm e:

    .. math::

        L^\star(A) - \frac{c_e}{C(A)} - L^\star(A \setminus \{e\}) \ge 0,
        \qquad |A| \ge 3

    Parameters
    ----------
    costs : array_like, shape (K,)
        K >= 3.

    Returns
    -------
    ndarray, shape (K,)
        The left-hand side for each e, zero for the most expensive arm. Time O(K^2 log
        K).

    Examples
    --------
    >>> recursion_slack([1.0, 2.0, 1.0])
    array([0.25, 0.  , 0.25])
    """
    costs = _validation.costs(costs)
    without = [
        theory.exact_allocation_constant(np.delete(costs, e)) for e in range(len(costs))
    ]
    constant = theory.exact_allocation_constant(costs)
    return constant - costs / costs.sum() - np.array(without)


def constant_targets(
    costs: ArrayLike, budget: ArrayLike, constant: ArrayLike
) -> NDArray[np.int64]:
    r"""Return the sampling target of each phase of CoPSI with a fixed constant.

    The target of phase r, :math:`\lfloor B / (L\, C_r) \rfloor`, is the number of pulls
    of each active arm by the end of the phase.

    Parameters
    ----------
    costs : array_like, shape (..., K)
        Costs in the order of elimination; the last two arms remain to the end.
    budget, constant : array_like, shape (...)
        B and L.

    Returns
    -------
    ndarray of int, shape (..., K - 1)

    Examples
    --------
    >>> constant_targets([4.0, 1.0, 1.0], budget=40.0, constant=37 / 15).tolist()
    [2, 8]
    """
    rounds = np.asarray(budget, dtype=float) / np.asarray(constant)
    return np.floor(rounds[..., None] * (1 + _budget.SLACK) / _remaining(costs)).astype(
        np.int64
    )


def elimination_targets(
    costs: ArrayLike, budget: ArrayLike
) -> tuple[NDArray[np.int64], Floats]:
    r"""Return the sampling target of each phase of CoPSI with the adaptive constant.

    Before each phase, the smallest safe constant L* is computed for the active arms.

    .. math::

        X_r = \frac{B - \sum_{s < r} c_{e_s} n_s}{L^\star(A_r)}, \qquad
        n_r = \lfloor X_r / C_r \rfloor

    Parameters
    ----------
    costs : array_like, shape (..., K)
        Costs in the order of elimination; the last two arms remain to the end.
    budget : array_like, shape (...)

    Returns
    -------
    targets : ndarray of int, shape (..., K - 1)
    shares : ndarray, shape (..., K - 1)
        X_r: the budget that remains before phase r, divided by L* of the active arms.

    Examples
    --------
    The example of `companion.paper.examples`:

    >>> targets, shares = elimination_targets([4.0, 1.0, 1.0], budget=40.0)
    >>> targets.tolist(), shares.round(9).tolist()
    ([4, 12], [24.0, 24.0])
    """
    costs = np.asarray(costs, dtype=float)
    unspent = np.array(np.broadcast_to(budget, costs.shape[:-1]), dtype=float)
    targets = np.empty((*costs.shape[:-1], costs.shape[-1] - 1), dtype=np.int64)
    shares = np.empty(targets.shape)
    for r in range(costs.shape[-1] - 1):
        # L* - 1 is a sum over k >= 3: the k-th smallest cost, divided by the total of
        # the k smallest costs
        cheapest = np.sort(costs[..., r:], axis=-1)
        sums = np.cumsum(cheapest, axis=-1)
        shares[..., r] = unspent / (1 + (cheapest / sums)[..., 2:].sum(axis=-1))
        targets[..., r] = np.floor(shares[..., r] / sums[..., -1] * (1 + _budget.SLACK))
        unspent -= costs[..., r] * targets[..., r]
    return targets, shares


def errors_by_ratio(
    methods: list[Any],
    ratios: Sequence[float],
    rho: float,
    count: int,
    replications: int,
    seed: int,
) -> pd.DataFrame:
    """Measure errors of methods on random problems, for several ratios of costs.

    The problems have the same means and the same order of costs at every ratio.

    Parameters
    ----------
    methods : list of str or Spec
    ratios : sequence of float
        Ratios of largest to smallest cost, >= 1. Costs are evenly spread in the
        logarithm and assigned at random.
    rho : float
        Budget in evaluations per arm.
    count : int
        Number of problems per ratio. Each has eight Bernoulli arms, two objectives and
        classification gaps of at least 1/10.
    replications, seed : int
        Number of independent runs per problem, and their seed. Every pull is charged
        its declared cost.

    Returns
    -------
    DataFrame, one row per method, ratio and problem
        ``method``; ``ratio``; ``problem``; ``error``, the share of replications with a
        wrong set; ``used``, the mean share of the budget that was spent.

    Raises
    ------
    BudgetError
        If rho is too small for a method.

    Examples
    --------
    >>> size = {"rho": 50, "count": 2, "replications": 5}
    >>> errors = errors_by_ratio(["CoPSI"], [1, 10], **size, seed=0)
    >>> errors[["ratio", "problem"]].to_numpy().tolist()
    [[1, 0], [1, 1], [10, 0], [10, 1]]
    """
    rng = np.random.default_rng(seed)
    problems: list[tuple[Floats, NDArray[np.int64]]] = []
    while len(problems) < count:
        means = rng.integers(1, LEVELS, (8, 2)) / LEVELS
        if classification_gaps(means).min() >= 0.1 - 1e-9:
            problems.append((means, rng.permutation(8)))

    rows = []
    streams = np.arange(replications)
    for ratio, (number, (means, assignment)) in product(ratios, enumerate(problems)):
        source = feedback_source(
            designed_arms(
                means, np.geomspace(1 / ratio, 1.0, 8)[assignment], grain=LEVELS
            )
        )
        budget = rho * float(source.costs.sum())
        truth = source.problem.pareto_mask
        for method in read_methods(methods, "identification"):
            _, spent, returned, _ = play_on(
                source, method, budget, streams, seed, realised=False
            )
            wrong = (returned != truth).any(axis=1)
            rows.append(
                (
                    method.name,
                    ratio,
                    number,
                    float(wrong.mean()),
                    float(spent.mean() / budget),
                )
            )

    return pd.DataFrame(rows, columns=["method", "ratio", "problem", "error", "used"])


def largest_share(cases: list[tuple[Floats, float]], factor: float = 1.0) -> float:
    """Return the largest share of a very large budget that CoPSI spends in any case.

    A case has costs in the order of elimination, and an allocation constant, which is
    divided by ``factor``. At this budget, rounding of the targets does not matter.
    """
    large = 1e9
    return max(float(spending(costs, large, L / factor)) / large for costs, L in cases)


@check("Theorem 2, Step 2: CoPSI stays within its budget", "copsi")
def check_feasibility(seed: int) -> CheckResult:
    """Total cost of CoPSI in given orders of elimination."""
    forced = spending_trials(3000, seed)
    arms = (30, 300, 3000)
    cases = [(np.ones(K), theory.allocation_constant(K, 1.0)) for K in arms]
    spent = max(float(forced["spent"].max()), largest_share(cases))
    return CheckResult(
        f"{len(forced):,} runs to {forced['n_arms'].max()} arms; equal costs to"
        f" {max(arms):,} arms",
        f"at most {spent:.3g} of the budget",
        {"L ÷": lambda factor: largest_share(cases, factor) <= 1 + SLACK},
        holds=spent <= 1 + SLACK,
    )


@check("The exact constant", "copsi", ours=True)
def check_exact_constant(seed: int) -> CheckResult:
    """Total cost with the exact constant, most expensive arm removed first."""
    rng = np.random.default_rng(seed)
    orders = [np.sort(random_costs(rng, 1, K)[0])[::-1] for K in range(2, 31)]
    cases = [(costs, theory.exact_allocation_constant(costs)) for costs in orders]
    return CheckResult(
        f"{len(orders)} vectors of costs to {len(orders[-1])} arms",
        f"{largest_share(cases):.6f} of the budget",
        {"L* ÷": lambda factor: largest_share(cases, factor) <= 1 + SLACK},
    )


@check("The adaptive constant spends all but a round", "once", ours=True)
def check_whole_budget(seed: int) -> CheckResult:
    """Total cost with the adaptive constant in given orders."""
    trials = spending_trials(3000, seed, "exact", 4.0)
    unspent = float(trials["unspent"].max())
    return CheckResult(
        f"{len(trials):,} runs to {trials['n_arms'].max()} arms",
        f"all but {unspent:.4f} of a round of the last two arms",
        {"one round ÷": lambda factor: unspent < 1 / factor + SLACK},
        holds=bool(
            (
                trials["monotone"]
                & trials["ahead"]
                & (trials["spent_adaptive"] <= 1 + SLACK)
            ).all()
        ),
    )
