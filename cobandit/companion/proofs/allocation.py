"""Step 2 of the proof of Theorem 2: the budget always suffices, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.errors import CobanditError

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
    costs = np.asarray(costs, dtype=float)
    left = np.cumsum(costs[..., ::-1], axis=-1)[..., ::-1][..., :-1]
    rounds = np.asarray(budget) / np.asarray(constant)
    targets = np.floor(rounds[..., None] * (1 + _check.SLACK) / left)
    return (left * np.diff(targets, prepend=0.0, axis=-1)).sum(axis=-1)


def brute_force_constant(costs: ArrayLike) -> float:
    """Maximum over all K! orders of what `theory.exact_allocation_constant` computes by sorting.

    Parameters
    ----------
    costs : array_like, shape (K,)
        K <= 8: the time is K! K.

    Returns
    -------
    float

    Examples
    --------
    >>> brute_force_constant([1.0, 2.0, 1.0])
    1.5
    """
    costs = _check.costs(costs)
    if len(costs) > 8:
        raise CobanditError(f"costs: {len(costs)} arms have too many orders to try, 8 at most")
    orders = costs[np.array(list(permutations(range(len(costs)))))]
    left = np.cumsum(orders[:, ::-1], axis=1)[:, ::-1]
    return float(1 + (orders / left)[:, :-2].sum(axis=1).max())


def random_costs(rng: np.random.Generator, trials: int, n_arms: int) -> NDArray[np.float64]:
    """Costs (trials, K), the largest 1, for random lambdas >= 1/1000: spread out, or high and low only."""
    least = 10 ** rng.uniform(-3, 0, (trials, 1))
    share = rng.random((trials, n_arms))
    share[::2] = np.round(share[::2])
    costs = least ** (1 - share)
    return np.asarray(costs / costs.max(axis=1, keepdims=True))


class ForcedOrders(NamedTuple):
    """Vectors of costs of one length, the constants of each, and each in all of the `ORDERS`."""

    costs: NDArray[np.float64]
    published: NDArray[np.float64]
    exact: NDArray[np.float64]
    sequences: dict[str, NDArray[np.float64]]


def forced_orders(rng: np.random.Generator, trials: int, max_arms: int) -> Iterator[ForcedOrders]:
    """Draw `random_costs` for every number of arms from 2 on, ``trials`` together, rounded up."""
    sizes = range(2, _check.count(max_arms, "max_arms", 2) + 1)
    each = -(-_check.count(trials, "trials", 1) // len(sizes))
    for n_arms in sizes:
        costs = random_costs(rng, each, n_arms)
        published = [theory.allocation_constant(n_arms, lam) for lam in costs.min(axis=1)]
        exact = [theory.exact_allocation_constant(row) for row in costs]
        ascending = np.sort(costs, axis=1)
        sequences = dict(zip(ORDERS, (ascending[:, ::-1], ascending, costs), strict=True))
        yield ForcedOrders(costs, np.array(published), np.array(exact), sequences)


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
        ``n_arms``, ``cost_ratio`` (smallest over largest), ``order``, ``spent`` (share of the budget),
        ``spent_exact`` (the same with the exact constant in place of L) and ``ceiling``, the share that no
        order can pass, L* / L.  Budgets go from the least that works to 10^6 times it.

    Examples
    --------
    >>> bool((spending_trials(30, seed=0)["spent"] <= 1).all())
    True
    """
    rng = np.random.default_rng(seed)
    frames = []
    for drawn in forced_orders(rng, trials, max_arms):
        budget = 10 ** rng.uniform(0, 6, len(drawn.costs)) * drawn.published * drawn.costs.sum(axis=1)
        for order, sequence in drawn.sequences.items():
            columns = {
                "n_arms": drawn.costs.shape[1],
                "cost_ratio": drawn.costs.min(axis=1),
                "order": order,
                "spent": spending(sequence, budget, drawn.published) / budget,
                "spent_exact": spending(sequence, budget, drawn.exact) / budget,
                "ceiling": drawn.exact / drawn.published,
            }
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


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
