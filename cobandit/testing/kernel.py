"""A kernel and its class make the same pulls."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit.errors import CobanditError
from cobandit.policies.registry import KERNELS
from cobandit.replay.grid import pack_table
from cobandit.replay.kernels import record
from cobandit.replay.running import play, run_kernel
from cobandit.tables import EvaluationTable
from cobandit.testing.playing import guarantees_aside, require, result_of
from cobandit.testing.tables import Method, chosen_spec, policy_on, ragged_table, smallest_budget


def _play_kernel(
    policy: Any, table: EvaluationTable, realised: bool, seed: int, replication: int
) -> tuple[list[int], list[float], tuple[Any, ...]]:
    """Arms and charges in their order, and the result as of the policy, of one run of the kernel."""
    feedback, replications = pack_table(table).feedback, np.array([replication])
    without = run_kernel(policy, feedback, seed, replications, realised=realised)
    taken = record(1, int(without[0].sum()))
    run = run_kernel(policy, feedback, seed, replications, taken, realised=realised)
    same = all(np.array_equal(a, b) for a, b in zip(without, run, strict=True))
    require(same, policy, "the kernel ends otherwise when it takes its pulls down")
    pulls, spent, *returned = run
    found = np.flatnonzero(returned[0][0]).tolist() if returned else None
    return taken.arms[0].tolist(), taken.charges[0].tolist(), (pulls[0].tolist(), float(spent[0]), found)


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
    if chosen.policy not in KERNELS:
        raise CobanditError(f"{chosen.name} has no kernel to check")
    policy = policy_on(chosen, table, budget)
    compiled, charges, result = _play_kernel(policy, table, charge == "realised", seed, replication)
    with guarantees_aside():
        run = play(policy, table, seed=seed, replication=replication, charge=charge)
    arms = run.arms.tolist()
    where = f"{chosen.options or 'no options'}, charge {charge}, seed {seed}, replication {replication}"
    differ = next((t for t, (a, b) in enumerate(zip(arms, compiled, strict=False)) if a != b), None)
    require(differ is None, policy, f"kernel and class part at pull {differ} ({where})")
    require(result == result_of(policy), policy, f"the kernel ends with {result}, {where}")
    require(charges == run.costs.tolist(), policy, f"kernel and class are charged differently ({where})")
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
            taken = inspect.signature(chosen.policy).parameters
            given = {name: value for name, value in drawn.items() if name in taken} | chosen.given
            if "eta" in given:
                del given["n_init"]
            twin = replace(chosen, given=given)
            budget = factor * smallest_budget(twin, table)
            for charge in ("realised",) if twin.kind == "online" else ("declared", "realised"):
                pulls = check_kernel_on(twin, table, budget, charge, replication=seed)
                if not pulls and charge == "declared":
                    raise AssertionError(f"{twin}: a budget that works bought nothing")
