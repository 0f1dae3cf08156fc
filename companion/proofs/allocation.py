"""Step 2 of Theorem 2: the budget always suffices; what our adaptive normaliser makes of the rest."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation, theory
from cobandit.dominance import classification_gaps
from cobandit.policies.registry import read_methods
from companion.proofs.checks import SLACK, CheckResult, Floats, check
from companion.proofs.known_arms import LEVELS, designed_arms, feedback_source, play_on

# ----------------------------------------------------------------------------- forced orders of elimination
#: Orders of elimination that `spending_trials` forces: the first is the worst there is.
ORDERS = ("most expensive first", "cheapest first", "random")


def spending(costs: ArrayLike, budget: ArrayLike, constant: ArrayLike) -> Floats:
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
    The example by hand of `companion.paper.examples`: targets of 2, then of 8 pulls.

    >>> spending([4.0, 1.0, 1.0], budget=40, constant=37 / 15)
    np.float64(24.0)
    """
    targets = constant_targets(costs, budget, constant)
    return (_remaining(costs) * np.diff(targets, prepend=0, axis=-1)).sum(axis=-1)


def _remaining(costs: ArrayLike) -> Floats:
    """Costs of all arms that are left, C_r, in phases 1 to K - 1."""
    return np.cumsum(np.asarray(costs, dtype=float)[..., ::-1], axis=-1)[..., :0:-1]


def random_costs(rng: np.random.Generator, trials: int, n_arms: int) -> Floats:
    """Costs (trials, K), the largest 1, for random lambdas >= 1/1000: spread out, or high and low only."""
    least = 10 ** rng.uniform(-3, 0, (trials, 1))
    share = rng.random((trials, n_arms))
    share[::2] = np.round(share[::2])
    costs = least ** (1 - share)
    return np.asarray(costs / costs.max(axis=1, keepdims=True))


def spending_trials(
    trials: int, seed: int, least: str = "published", decades: float = 6.0
) -> pd.DataFrame:
    """Spend of CoPSI, and of its adaptive form, on random costs in forced orders of elimination.

    Parameters
    ----------
    trials : int
        Cost vectors for each of `ORDERS`, of 2 to 30 arms together; rounded up.
    seed : int
    least : {"published", "exact"}
        Constant of the smallest budgets; the largest are so many ``decades`` above.
    decades : float

    Returns
    -------
    DataFrame, one row per cost vector and order
        ``n_arms``, ``order``, ``spent`` (share of the budget), ``spent_exact`` (the
        same with the exact constant in place of L) and ``ceiling``, the share that no
        order can pass, L* / L.  Of the adaptive normaliser ``growth``, the least
        X_{r+1} over X_r; ``monotone``, if targets never fall; ``spent_adaptive``;
        ``unspent``, in units of one pull of the last two arms; ``ahead``, whether no
        target is below that of L*([K]), nor that below the paper's.

    Examples
    --------
    >>> tried = spending_trials(30, seed=0)
    >>> bool((tried["spent"] <= 1).all() and tried["ahead"].all() and (tried["unspent"] < 1).all())
    True
    """
    rng = np.random.default_rng(seed)
    frames = []
    sizes = range(2, 31)
    each = -(-trials // len(sizes))
    for n_arms in sizes:
        costs = random_costs(rng, each, n_arms)
        exact = np.array([theory.exact_allocation_constant(row) for row in costs])
        paper = np.array(
            [theory.allocation_constant(n_arms, row.min()) for row in costs]
        )
        smallest = exact if least == "exact" else paper
        budget = 10 ** rng.uniform(0, decades, each) * smallest * costs.sum(axis=1)
        ascending = np.sort(costs, axis=1)
        stretched = budget * (1 + _budget.SLACK)
        for order, sequence in zip(
            ORDERS, (ascending[:, ::-1], ascending, costs), strict=True
        ):
            targets, shares = elimination_targets(sequence, stretched)
            constant, published = (
                constant_targets(sequence, stretched, by) for by in (exact, paper)
            )
            steps = np.diff(targets, prepend=0, axis=1)
            left = _remaining(sequence)
            adaptive = (left * steps).sum(axis=1) / stretched
            columns = {
                "n_arms": n_arms,
                "order": order,
                "spent": spending(sequence, budget, paper) / budget,
                "spent_exact": spending(sequence, budget, exact) / budget,
                "ceiling": exact / paper,
                "growth": (shares[:, 1:] / shares[:, :-1]).min(axis=1, initial=np.inf),
                "monotone": (steps >= 0).all(axis=1),
                "spent_adaptive": adaptive,
                "unspent": (1 - adaptive) * stretched / left[:, -1],
                "ahead": ((targets >= constant) & (constant >= published)).all(axis=1),
            }
            frames.append(pd.DataFrame(columns))

    return pd.concat(frames, ignore_index=True)


def constants(costs: ArrayLike) -> dict[str, float]:
    """Constants that the budget can be divided by, for one vector of costs.

    Parameters
    ----------
    costs : array_like, shape (K,)
        In any unit.

    Returns
    -------
    dict
        ``lambda``, and the constants: ``published`` (L of the paper) and ``exact``
        (L*).

    Examples
    --------
    >>> {name: round(value, 3) for name, value in constants([1.0, 4.0, 1.0]).items()}
    {'lambda': 0.25, 'published': 2.467, 'exact': 1.667}
    """
    least = float(np.min(costs) / np.max(costs))
    published = theory.allocation_constant(len(np.asarray(costs)), least)
    return {
        "lambda": least,
        "published": published,
        "exact": theory.exact_allocation_constant(costs),
    }


# ----------------------------------------------------------------------------- the adaptive normaliser
def recursion_slack(costs: ArrayLike) -> Floats:
    r"""Return what the recursion of the constant gives away, arm by arm.

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
    costs = _validation.costs(costs)
    rest = [
        theory.exact_allocation_constant(np.delete(costs, e)) for e in range(len(costs))
    ]
    return (
        theory.exact_allocation_constant(costs) - costs / costs.sum() - np.array(rest)
    )


def constant_targets(
    costs: ArrayLike, budget: ArrayLike, constant: ArrayLike
) -> NDArray[np.int64]:
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
    return np.floor(rounds[..., None] * (1 + _budget.SLACK) / _remaining(costs)).astype(
        np.int64
    )


def elimination_targets(
    costs: ArrayLike, budget: ArrayLike
) -> tuple[NDArray[np.int64], Floats]:
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
        X_r, what each phase may bring all its arms to if it is the most expensive that
        always leaves.

    Examples
    --------
    The example by hand of `companion.paper.examples`.

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
        targets[..., r] = np.floor(shares[..., r] / sums[..., -1] * (1 + _budget.SLACK))
        left -= costs[..., r] * targets[..., r]
    return targets, shares


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
        Largest over smallest cost, >= 1; costs are evenly spread in the logarithm and
        dealt at random.
    rho : float
    count : int
        Problems a ratio, of eight Bernoulli arms, two objectives and gaps of at least
        1/10.
    replications, seed : int
        Independent runs of each; charges are the declared costs.

    Returns
    -------
    DataFrame, one row per method, ratio and problem
        ``method``, ``ratio``, ``problem``, ``error`` (share of wrong sets) and ``used``
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
    dealt: list[tuple[Floats, NDArray[np.int64]]] = []
    while len(dealt) < count:
        means = rng.integers(1, LEVELS, (8, 2)) / LEVELS
        if classification_gaps(means).min() >= 0.1 - 1e-9:
            dealt.append((means, rng.permutation(8)))

    rows = []
    streams = np.arange(replications)
    for ratio, (number, (means, deal)) in product(ratios, enumerate(dealt)):
        source = feedback_source(
            designed_arms(means, np.geomspace(1 / ratio, 1.0, 8)[deal], grain=LEVELS)
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


# ----------------------------------------------------------------------------- checks
def largest_share(cases: list[tuple[Floats, float]], by: float = 1.0) -> float:
    """Largest share of a budget, without floors, that is spent with costs in order and constants cut."""
    large = 1e9
    return max(float(spending(costs, large, L / by)) / large for costs, L in cases)


@check("Theorem 2, Step 2: CoPSI stays within its budget", "copsi")
def check_feasibility(seed: int) -> CheckResult:
    """Spend of CoPSI in forced orders of elimination."""
    forced = spending_trials(3000, seed)
    arms = (30, 300, 3000)
    cases = [(np.ones(K), theory.allocation_constant(K, 1.0)) for K in arms]
    spent = max(float(forced["spent"].max()), largest_share(cases))
    return CheckResult(
        f"{len(forced):,} runs to {forced['n_arms'].max()} arms; equal costs to"
        f" {max(arms):,} arms",
        f"at most {spent:.3g} of the budget",
        {"L ÷": lambda by: largest_share(cases, by) <= 1 + SLACK},
        holds=spent <= 1 + SLACK,
    )


@check("The exact constant", "copsi", ours=True)
def check_exact_constant(seed: int) -> CheckResult:
    """Spend with the exact constant, the most expensive arm leaving first."""
    rng = np.random.default_rng(seed)
    orders = [np.sort(random_costs(rng, 1, K)[0])[::-1] for K in range(2, 31)]
    cases = [(costs, theory.exact_allocation_constant(costs)) for costs in orders]
    return CheckResult(
        f"{len(orders)} vectors of costs to {len(orders[-1])} arms",
        f"{largest_share(cases):.6f} of the budget",
        {"L* ÷": lambda by: largest_share(cases, by) <= 1 + SLACK},
    )


@check("The adaptive constant spends all but a round", "once", ours=True)
def check_whole_budget(seed: int) -> CheckResult:
    """Spend with the adaptive constant in forced orders."""
    tried = spending_trials(3000, seed, "exact", 4.0)
    left = float(tried["unspent"].max())
    return CheckResult(
        f"{len(tried):,} runs to {tried['n_arms'].max()} arms",
        f"all but {left:.4f} of a round of the last two arms",
        {"one round ÷": lambda by: left < 1 / by + SLACK},
        holds=bool(
            (
                tried["monotone"]
                & tried["ahead"]
                & (tried["spent_adaptive"] <= 1 + SLACK)
            ).all()
        ),
    )
