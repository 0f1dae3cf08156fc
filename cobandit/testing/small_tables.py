"""Small tables for tests of policies, made from given or random rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cobandit.tables import EvaluationTable
from cobandit.tables.profiling import profiling_mask


def table_of(
    arms: Sequence[Sequence[Sequence[float]]],
    *,
    profiling_costs: Sequence[Sequence[float]] | None = None,
    kind: str = "synthetic",
    name: str = "made-up",
) -> EvaluationTable:
    """Return a table, given the rows of each arm in the evaluation split.

    Parameters
    ----------
    arms : sequence
        ``arms[i]`` are the evaluation rows of arm i, as ``(cost, reward_1, ...,
        reward_D)``.
    profiling_costs : sequence, optional
        Costs of the rows of each arm in the profiling split, at least two. By default,
        the costs of the arm's first and last row in the evaluation split.
    kind, name : str
        Kind and name of the table.

    Returns
    -------
    EvaluationTable

    Examples
    --------
    >>> table = table_of([[(1.0, 0.5), (3.0, 0.7)], [(2.0, 1.0), (2.0, 0.0)]])
    >>> table.costs, table.problem.means
    (array([2., 2.]), array([[0.6],
           [0.5]]))
    """
    profiling_costs = profiling_costs or [[rows[0][0], rows[-1][0]] for rows in arms]
    n_profiling = max(map(len, profiling_costs))
    n_evaluation = max(map(len, arms))

    # instances in the order of the split, profiling instances first
    is_profiling = profiling_mask(n_profiling + n_evaluation, n_profiling, seed=0)
    instances = np.argsort(~is_profiling, kind="stable")
    values = np.full((len(arms), len(instances), len(arms[0][0])), np.nan)
    for arm_values, rows, costs in zip(values, arms, profiling_costs, strict=True):
        first = instances[: len(costs)]
        arm_values[first] = 0.5
        arm_values[first, 0] = costs
        arm_values[instances[n_profiling : n_profiling + len(rows)]] = rows

    return EvaluationTable.from_arrays(
        values[:, :, 1:],
        values[:, :, 0],
        profiling=n_profiling,
        name=name,
        title=f"Made up ({kind})",
        kind=kind,
    )


def ragged_table(
    rng: np.random.Generator,
    n_arms: int,
    n_objectives: int,
    noise: float = 0.5,
) -> EvaluationTable:
    """Return a random table whose arms have different numbers of instances.

    Parameters
    ----------
    rng : Generator
    n_arms, n_objectives : int
    noise : float
        Costs are between ``1 - noise`` and ``1 + noise`` times a random mean. Rewards
        have one decimal, so that ties are frequent.

    Returns
    -------
    EvaluationTable

    Examples
    --------
    >>> table = ragged_table(np.random.default_rng(0), n_arms=3, n_objectives=2)
    >>> table.n_arms, table.n_objectives
    (3, 2)
    """
    arms = []
    profiling_costs = []
    for _ in range(n_arms):
        mean_cost = rng.uniform(0.1, 1.0)
        mean = rng.uniform(size=n_objectives)
        n = int(rng.integers(2, 12, endpoint=True))
        costs = mean_cost * rng.uniform(1 - noise, 1 + noise, n)
        rewards = mean + rng.normal(0, 0.3, (n, n_objectives))
        rewards = np.clip(np.round(rewards, 1), 0, 1)
        arms.append(np.column_stack([costs, rewards]).tolist())

        n_profiling = int(rng.integers(2, 5))
        profiling = mean_cost * rng.uniform(1 - noise, 1 + noise, n_profiling)
        profiling_costs.append(profiling.tolist())
    return table_of(arms, profiling_costs=profiling_costs)
