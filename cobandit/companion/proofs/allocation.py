"""Step 2 of Theorem 2: the budget always suffices; what our adaptive normaliser makes of the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.companion.known_arms import designed_arms, feedback_source
from cobandit.companion.proofs.checks import SLACK, Finding, check
from cobandit.companion.proofs.identification_error import LEVELS
from cobandit.dominance import classification_gaps
from cobandit.policies.registry import read_methods
from cobandit.replay.grid import GridCell, make_policy
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics

# ----------------------------------------------------------------------------- forced orders of elimination
#: Orders of elimination that `spending_trials` forces: the first is the worst there is.
ORDERS = ("most expensive first", "cheapest first", "random")


def spending(costs: ArrayLike, budget: ArrayLike, constant: ArrayLike) -> NDArray[np.float64]:
    r"""Spend of a gap elimination in which arm 0 leaves first, then arm 1, and so on.

    .. math:: \sum_{r=1}^{K-1} C_r (n_r - n_{r-1}), \qquad n_r = \Bigl\lfloor \frac{B}{L\, C_r} \Bigr\rfloor

    Parameters
    ----------
    costs : array_like, shape (..., K)
        In the order of elimination; the last two stay to the end.
    budget, constant : array_like, shape (...)
        B, and the L that divides it.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    The example by hand of `cobandit.companion.paper.examples`: targets of 2, then of 8 pulls.

    >>> spending([4.0, 1.0, 1.0], budget=40, constant=37 / 15)
    np.float64(24.0)
    """
    targets = constant_targets(costs, budget, constant)
    return (_remaining(costs) * np.diff(targets, prepend=0, axis=-1)).sum(axis=-1)


def _remaining(costs: ArrayLike) -> NDArray[np.float64]:
    """Costs of all arms that are left, C_r, in phases 1 to K - 1."""
    return np.cumsum(np.asarray(costs, dtype=float)[..., ::-1], axis=-1)[..., :0:-1]


def random_costs(rng: np.random.Generator, trials: int, n_arms: int) -> NDArray[np.float64]:
    """Costs (trials, K), the largest 1, for random lambdas >= 1/1000: spread out, or high and low only."""
    least = 10 ** rng.uniform(-3, 0, (trials, 1))
    share = rng.random((trials, n_arms))
    share[::2] = np.round(share[::2])
    costs = least ** (1 - share)
    return np.asarray(costs / costs.max(axis=1, keepdims=True))


def forced_trials(
    trials: int, seed: int, decades: float, constant: str, max_arms: int, measure: Callable[..., Any]
) -> pd.DataFrame:
    """Draw `random_costs` for every number of arms from 2 on, and measure all `ORDERS` of elimination.

    Budgets go from what the named constant asks for to so many powers of ten more; ``measure`` takes the
    costs in order, the budget, the exact and the paper's constant, and gives columns.
    """
    rng, frames = np.random.default_rng(seed), []
    sizes = range(2, _check.count(max_arms, "max_arms", 2) + 1)
    each = -(-_check.count(trials, "trials", 1) // len(sizes))
    for n_arms in sizes:
        costs = random_costs(rng, each, n_arms)
        known = {
            "exact": np.array([theory.exact_allocation_constant(row) for row in costs]),
            "published": np.array([theory.allocation_constant(n_arms, row.min()) for row in costs]),
        }
        budget = 10 ** rng.uniform(0, decades, each) * known[constant] * costs.sum(axis=1)
        ascending = np.sort(costs, axis=1)
        for order, sequence in zip(ORDERS, (ascending[:, ::-1], ascending, costs), strict=True):
            columns = measure(sequence, budget, **known)
            frames.append(pd.DataFrame({"n_arms": n_arms, "order": order, **columns}))
    return pd.concat(frames, ignore_index=True)


def spending_trials(trials: int, seed: int, max_arms: int = 30) -> pd.DataFrame:
    """Spend of CoPSI on random costs in forced orders of elimination.

    Parameters
    ----------
    trials : int
        Cost vectors for each of `ORDERS`, over all numbers of arms together; rounded up.
    seed : int
    max_arms : int
        Numbers of arms go from 2 to this.

    Returns
    -------
    DataFrame, one row per cost vector and order
        ``n_arms``, ``order``, ``spent`` (share of the budget), ``spent_exact`` (the same with the exact
        constant in place of L) and ``ceiling``, the share that no order can pass, L* / L.  Budgets go from
        the least that works to 10^6 times it.

    Examples
    --------
    >>> bool((spending_trials(30, seed=0)["spent"] <= 1).all())
    True
    """

    def measure(sequence: Any, budget: Any, exact: Any, published: Any) -> dict[str, Any]:
        return {
            "spent": spending(sequence, budget, published) / budget,
            "spent_exact": spending(sequence, budget, exact) / budget,
            "ceiling": exact / published,
        }

    return forced_trials(trials, seed, 6, "published", max_arms, measure)


def constants(costs: ArrayLike) -> dict[str, float]:
    """Every constant that the budget can be divided by, for one vector of costs.

    Parameters
    ----------
    costs : array_like, shape (K,)
        In any unit.

    Returns
    -------
    dict
        ``K``, ``lambda`` and the constants: ``published`` (L of the paper), ``needed`` (what its proof uses),
        ``logarithmic`` (1 + log of all costs over the two smallest) and ``exact`` (L*).

    Examples
    --------
    >>> {name: round(value, 3) for name, value in constants([1.0, 4.0, 1.0]).items()}
    {'K': 3, 'lambda': 0.25, 'published': 2.467, 'needed': 1.667, 'logarithmic': 2.099, 'exact': 1.667}
    """
    costs = np.sort(_check.costs(costs))
    n_arms, least = len(costs), float(costs[0] / costs[-1])
    return {
        "K": n_arms,
        "lambda": least,
        "published": theory.allocation_constant(n_arms, least),
        "needed": theory.needed_allocation_constant(n_arms, least),
        "logarithmic": float(1 + np.log(costs.sum() / costs[:2].sum())),
        "exact": theory.exact_allocation_constant(costs),
    }


# ----------------------------------------------------------------------------- the adaptive normaliser
def recursion_slack(costs: ArrayLike) -> NDArray[np.float64]:
    r"""What the recursion of the constant gives away, arm by arm.

    .. math:: L^\star(A) - \frac{c_e}{C(A)} - L^\star(A \setminus \{e\}) \ge 0, \qquad |A| \ge 3

    Parameters
    ----------
    costs : array_like, shape (K,)
        K >= 3.

    Returns
    -------
    ndarray, shape (K,)
        Zero for the most expensive arm.  Time O(K^2 log K).

    Examples
    --------
    >>> recursion_slack([1.0, 2.0, 1.0])
    array([0.25, 0.  , 0.25])
    """
    costs = _check.costs(costs)
    rest = [theory.exact_allocation_constant(np.delete(costs, e)) for e in range(len(costs))]
    return theory.exact_allocation_constant(costs) - costs / costs.sum() - np.array(rest)


def constant_targets(costs: ArrayLike, budget: ArrayLike, constant: ArrayLike) -> NDArray[np.int64]:
    r"""Targets :math:`\lfloor B / (L\, C_r) \rfloor` where arm 0 leaves first, then arm 1, and so on.

    Parameters
    ----------
    costs : array_like, shape (..., K)
        In the order of elimination; the last two stay to the end.
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
    return np.floor(rounds[..., None] * (1 + _check.SLACK) / _remaining(costs)).astype(np.int64)


def elimination_targets(costs: ArrayLike, budget: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    r"""Targets of the adaptive normaliser where arm 0 leaves first, then arm 1, and so on.

    .. math:: X_r = \frac{B - \sum_{s < r} c_{e_s} n_s}{L^\star(A_r)}, \qquad n_r = \lfloor X_r / C_r \rfloor

    Parameters
    ----------
    costs : array_like, shape (..., K)
        In the order of elimination; the last two stay to the end.
    budget : array_like, shape (...)

    Returns
    -------
    targets : ndarray of int, shape (..., K - 1)
    shares : ndarray, shape (..., K - 1)
        X_r, what each phase may bring all its arms to if it is the most expensive that always leaves.

    Examples
    --------
    The example by hand of `cobandit.companion.paper.examples`.

    >>> targets, shares = elimination_targets([4.0, 1.0, 1.0], budget=40.0)
    >>> targets.tolist(), shares.round(9).tolist()
    ([4, 12], [24.0, 24.0])
    """
    costs = np.asarray(costs, dtype=float)
    left = np.array(np.broadcast_to(budget, costs.shape[:-1]), dtype=float)
    targets = np.empty((*costs.shape[:-1], costs.shape[-1] - 1), dtype=np.int64)
    shares = np.empty(targets.shape)
    for r in range(costs.shape[-1] - 1):
        cheapest = np.sort(costs[..., r:], axis=-1)
        sums = np.cumsum(cheapest, axis=-1)
        shares[..., r] = left / (1 + (cheapest / sums)[..., 2:].sum(axis=-1))
        targets[..., r] = np.floor(shares[..., r] / sums[..., -1] * (1 + _check.SLACK))
        left -= costs[..., r] * targets[..., r]
    return targets, shares


def proof_trials(trials: int, seed: int, max_arms: int = 30) -> pd.DataFrame:
    """Each step of the proof on random costs in forced orders of elimination.

    Parameters
    ----------
    trials : int
        Cost vectors for each of `allocation.ORDERS`, over all numbers of arms together; rounded up.
    seed : int
    max_arms : int
        Numbers of arms go from 2 to this.

    Returns
    -------
    DataFrame, one row per cost vector and order
        ``n_arms``, ``order``; ``growth``, the least X_{r+1} over X_r; ``monotone``, if targets never fall;
        ``spent`` (share of the budget); ``unspent``, in units of one pull of the last two arms; ``ahead``,
        whether no target is below that of L*([K]), nor that below the paper's.  Budgets go from the least
        that works to 10^4 times it.

    Examples
    --------
    >>> tried = proof_trials(30, seed=0)
    >>> bool(tried["monotone"].all() and tried["ahead"].all() and (tried["unspent"] < 1).all())
    True
    """

    def measure(sequence: Any, budget: Any, exact: Any, published: Any) -> dict[str, Any]:
        budget = budget * (1 + _check.SLACK)
        targets, shares = elimination_targets(sequence, budget)
        left = _remaining(sequence)
        constant, paper = (constant_targets(sequence, budget, by) for by in (exact, published))
        spent = (left * np.diff(targets, prepend=0, axis=1)).sum(axis=1) / budget
        return {
            "growth": (shares[:, 1:] / shares[:, :-1]).min(axis=1, initial=np.inf),
            "monotone": (np.diff(targets, prepend=0, axis=1) >= 0).all(axis=1),
            "spent": spent,
            "unspent": (1 - spent) * budget / left[:, -1],
            "ahead": ((targets >= constant) & (constant >= paper)).all(axis=1),
        }

    return forced_trials(trials, seed, 4, "exact", max_arms, measure)


def errors_by_ratio(
    methods: list[Any],
    ratios: Sequence[float],
    rho: float,
    count: int,
    replications: int,
    seed: int,
) -> pd.DataFrame:
    """Play methods on random problems whose costs span given ratios; the means are the same for each.

    Parameters
    ----------
    methods : list of str or Spec
    ratios : sequence of float
        Largest over smallest cost, >= 1; costs are evenly spread in the logarithm and dealt at random.
    rho : float
    count : int
        Problems a ratio, of eight Bernoulli arms, two objectives and gaps of at least 1/10.
    replications, seed : int
        Independent runs of each; charges are the declared costs.

    Returns
    -------
    DataFrame, one row per method, ratio and problem
        ``method``, ``options``, ``ratio``, ``problem``, ``error`` (share of wrong sets), ``f1`` and ``used``
        (share of the budget spent), means over replications.

    Raises
    ------
    BudgetError
        If rho is too small for a method.

    Examples
    --------
    >>> errors = errors_by_ratio(["CoPSI"], [1, 10], rho=50, count=2, replications=5, seed=0)
    >>> errors[["ratio", "problem"]].to_numpy().tolist()
    [[1, 0], [1, 1], [10, 0], [10, 1]]
    """
    rng = np.random.default_rng(seed)
    dealt: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    while len(dealt) < _check.count(count, "count", 1):
        means = rng.integers(1, LEVELS, (8, 2)) / LEVELS
        if classification_gaps(means).min() >= 0.1 - 1e-9:
            dealt.append((means, rng.permutation(8)))
    rows, streams = [], np.arange(_check.count(replications, "replications", 1))
    for ratio, (number, (means, deal)) in product(ratios, enumerate(dealt)):
        source = feedback_source(designed_arms(means, np.geomspace(1 / ratio, 1.0, 8)[deal], grain=LEVELS))
        budget, truth = rho * float(source.costs.sum()), source.problem.pareto_mask
        for method in read_methods(methods, "identification"):
            policy = make_policy(source, GridCell(method, rho, budget, streams, seed))
            _, spent, returned = run_kernel(policy, source.feedback, seed, streams, realised=False)
            wrong = (returned != truth).any(axis=1)
            means_of = (wrong.mean(), metrics.f1_score(returned, truth).mean(), spent.mean() / budget)
            rows.append((method.name, method.options, ratio, number, *map(float, means_of)))
    return pd.DataFrame(rows, columns=["method", "options", "ratio", "problem", "error", "f1", "used"])


# ----------------------------------------------------------------------------- checks
@check("Theorem 2, Step 2: CoPSI stays within its budget", "copsi")
def check_feasibility(seed: int) -> Finding:
    """Spend of CoPSI in forced orders of elimination."""
    forced, arms, large = spending_trials(3000, seed), (30, 300, 3000), 1e9

    def worst(by: float = 1.0) -> float:
        constants = [(K, theory.allocation_constant(K, 1.0) / by) for K in arms]
        return max(float(spending(np.ones(K), large, L)) / large for K, L in constants)

    spent = max(float(forced["spent"].max()), worst())
    return Finding(
        f"{len(forced):,} runs to {forced['n_arms'].max()} arms; equal costs to {max(arms):,} arms",
        f"at most {spent:.3g} of the budget",
        {"L ÷": lambda by: worst(by) <= 1 + SLACK},
        holds=spent <= 1 + SLACK,
    )


@check("The exact constant", "copsi", ours=True)
def check_exact_constant(seed: int) -> Finding:
    """Spend with the exact constant, the most expensive arm leaving first."""
    rng, large = np.random.default_rng(seed), 1e9
    orders = [np.sort(random_costs(rng, 1, K)[0])[::-1] for K in range(2, 31)]

    def worst(by: float = 1.0) -> float:
        constants = [(costs, theory.exact_allocation_constant(costs) / by) for costs in orders]
        return max(float(spending(costs, large, L)) / large for costs, L in constants)

    return Finding(
        f"{len(orders)} vectors of costs to {len(orders[-1])} arms",
        f"{worst():.6f} of the budget",
        {"L* ÷": lambda by: worst(by) <= 1 + SLACK},
    )


@check("The adaptive constant spends all but a round", "once", ours=True)
def check_whole_budget(seed: int) -> Finding:
    """Spend with the adaptive constant in forced orders."""
    tried = proof_trials(3000, seed)
    left = float(tried["unspent"].max())
    return Finding(
        f"{len(tried):,} runs to {tried['n_arms'].max()} arms",
        f"all but {left:.4f} of a round of the last two arms",
        {"one round ÷": lambda by: left < 1 / by + SLACK},
        holds=bool((tried["monotone"] & tried["ahead"] & (tried["spent"] <= 1 + SLACK)).all()),
    )
