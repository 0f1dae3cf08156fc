"""A kernel and its class make the same pulls."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.replay import online
from cobandit.replay.grid import Cell, source_of
from cobandit.replay.kernels import Kernel
from cobandit.replay.methods import Spec
from cobandit.replay.reference import play
from cobandit.tables import EvaluationTable
from cobandit.testing.protocol import guarantees_aside, require, result_of
from cobandit.testing.tables import Method, chosen_spec, policy_on, ragged_table, smallest_budget


def _play_kernel(
    chosen: Spec, policy: Any, table: EvaluationTable, charge: str, seed: int, replication: int
) -> tuple[list[int], tuple[Any, ...]]:
    """Arms in their order, and the result as of the policy, of one run of the kernel."""
    source, replications = source_of(table), np.array([replication])
    cell = Cell(chosen, 1.0, policy.budget, replications, seed)

    def run(length: int) -> tuple[Any, ...]:
        arms, costs = np.empty((1, length), dtype=np.int64), np.empty((1, length))
        if chosen.kind == "online":
            return arms[0], *online.play(source, cell, policy, replications, arms, costs), None
        kernel, limit = chosen.kernel, _check.with_slack(policy.budget)
        how = (source.costs, charge == "realised", source.table, np.uint64(seed), replications)
        return arms[0], *kernel.run(kernel.read(policy), limit, *how, arms)

    pulls = run(0)[1]  # whether a run is written down does not change it
    arms, again, spent, returned = run(int(pulls.sum()))
    require((pulls == again).all(), policy, "the kernel makes other pulls when it writes them down")
    found = None if returned is None else np.flatnonzero(returned[0]).tolist()
    return arms.tolist(), (pulls[0].tolist(), float(spent[0]), found)


def check_kernel_on(
    method: Method,
    table: EvaluationTable,
    budget: float,
    charge: str = "realised",
    seed: int = 5,
    replication: int = 0,
) -> int:
    """Check kernel and class against each other in one run: every pull, and the result to the last bit.

    Parameters
    ----------
    method : str, class or Spec
    table : EvaluationTable
    budget : float
        In the table's unit.
    charge : {"realised", "declared"}
        What a pull is charged; ``"declared"`` is for identification.
    seed, replication : int
        They name the stream.

    Returns
    -------
    int
        Pulls of the run.

    Raises
    ------
    AssertionError
        If they differ.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> check_kernel_on("CoPSI", ragged_table(np.random.default_rng(0), 3, 2), budget=30)
    21
    """
    chosen = chosen_spec(method)
    if not isinstance(chosen.kernel, Kernel):
        raise CobanditError(f"{chosen.name} has no kernel to check")
    policy = policy_on(chosen, table, budget)
    compiled, result = _play_kernel(chosen, policy, table, charge, seed, replication)
    with guarantees_aside():
        arms = play(policy, table, seed=seed, replication=replication, costs=charge).arms.tolist()
    where = f"{chosen.options or 'no options'}, costs {charge}, seed {seed}, replication {replication}"
    differ = next((t for t, (a, b) in enumerate(zip(arms, compiled, strict=False)) if a != b), None)
    require(differ is None, policy, f"kernel and class part at pull {differ} ({where})")
    require(result == result_of(policy), policy, f"the kernel ends with {result}, {where}")
    return len(arms)


def check_kernel(method: Method, seeds: Iterable[int] = range(10)) -> None:
    """Check a kernel against its class on random tables, budgets and options.

    Drawn are those options of every online policy (alpha, scales, initialisation, selection) that the spec
    leaves open; options of a method's own are given with `cobandit.spec`.

    Parameters
    ----------
    method : str, class or Spec
    seeds : iterable of int
        One table each, with three budgets.

    Raises
    ------
    AssertionError
        If they differ in a pull, the spend or the result.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> check_kernel("CoHVUCB", seeds=range(2))
    """
    chosen = chosen_spec(method)
    for seed in seeds:
        rng = np.random.default_rng([2, seed])
        table = ragged_table(rng, int(rng.integers(2, 31)), int(rng.integers(1, 5)))
        for factor in rng.choice([1, 1.01, 1.5, 3, 10, 40], 3):
            drawn = {
                "alpha": 10 ** rng.uniform(-4, 0.5),  # small radii show the variance, large ones the clipping
                "reward_scale": rng.choice([0, 0.01, 0.3, 1.0]),
                "cost_scale": rng.choice([0, 0.01, 1.0]),
                "n_init": int(rng.integers(1, 5)),
                "selection": str(rng.choice(["feasible", "all"])),
            }
            taken = inspect.signature(chosen.kernel.policy).parameters
            given = {name: value for name, value in drawn.items() if name in taken} | chosen.given
            if "eta" in given:
                del given["n_init"]
            twin = replace(chosen, given=given)
            budget = factor * smallest_budget(twin, table)
            for charge in ("realised",) if twin.kind == "online" else ("declared", "realised"):
                pulls = check_kernel_on(twin, table, budget, charge, replication=seed)
                if not pulls and charge == "declared":
                    raise AssertionError(f"{twin}: a budget that works bought nothing")
