"""Checks that a policy and its compiled version (kernel) agree in every pull."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit.errors import CobanditError
from cobandit.policies.registry import KERNELS, Spec
from cobandit.replay.grid import pack_table
from cobandit.replay.kernels import record
from cobandit.replay.running import play, run_kernel
from cobandit.tables import EvaluationTable
from cobandit.testing.policy_runs import (
    Method,
    as_spec,
    guarantees_aside,
    policy_on,
    require,
    result_of,
    smallest_budget,
)
from cobandit.testing.small_tables import ragged_table


def check_kernel_on(
    method: Method,
    table: EvaluationTable,
    budget: float,
    charge: str = "realised",
    seed: int = 5,
    replication: int = 0,
) -> int:
    """Check that a policy and its compiled version (kernel) agree in one run.

    Parameters
    ----------
    method : str, class or Spec
    table : EvaluationTable
    budget : float
        Budget in the table's unit.
    charge : {"realised", "declared"}
        Cost that is charged for a pull; ``"declared"`` is for identification only.
    seed, replication : int
        Numbers that determine the random feedback.

    Returns
    -------
    int
        Number of pulls of the run.

    Raises
    ------
    AssertionError
        If kernel and class differ.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> table = ragged_table(np.random.default_rng(0), n_arms=3, n_objectives=2)
    >>> check_kernel_on("CoPSI", table, budget=30)
    21
    """
    chosen = as_spec(method)
    if chosen.policy not in KERNELS:
        raise CobanditError(
            f"{chosen.name} has no kernel to check: register one first",
            argument="method",
            code="no-kernel",
        )

    # run the kernel without and with recording of its pulls, and the class
    policy = policy_on(chosen, table, budget)
    feedback = pack_table(table).feedback
    replications = np.array([replication])
    realised = charge == "realised"
    unrecorded = run_kernel(policy, feedback, seed, replications, realised=realised)
    recorded = record(1, int(unrecorded.pulls.sum()))
    kernel = run_kernel(
        policy, feedback, seed, replications, recorded, realised=realised
    )
    with guarantees_aside():
        run = play(policy, table, seed=seed, replication=replication, charge=charge)

    where = (
        f"{chosen.options or 'no options'}, charge {charge}, seed {seed}, replication"
        f" {replication}"
    )
    is_same = all(
        np.array_equal(one, other)
        for one, other in zip(unrecorded, kernel, strict=True)
    )
    require(
        is_same,
        policy,
        f"the result of the kernel changes when its pulls are recorded ({where})",
    )

    class_arms = run.arms.tolist()
    kernel_arms = recorded.arms[0].tolist()
    differ = next(
        (
            t
            for t, (one, other) in enumerate(zip(class_arms, kernel_arms, strict=False))
            if one != other
        ),
        None,
    )
    message = f"kernel and class differ at pull {differ} ({where})"
    require(differ is None, policy, message)

    returned = None
    if chosen.kind != "online":
        returned = np.flatnonzero(kernel.returned[0]).tolist()
    result = kernel.pulls[0].tolist(), float(kernel.spent[0]), returned
    message = f"the kernel has the result {result} ({where})"
    require(result == result_of(policy), policy, message)

    is_same = recorded.charges[0].tolist() == run.costs.tolist()
    require(is_same, policy, f"kernel and class are charged differently ({where})")
    return len(class_arms)


def check_kernel(method: Method, seeds: Iterable[int] = range(10)) -> None:
    """Check that a policy and its compiled version (kernel) agree in random runs.

    Tables and budgets are random. Common options of online policies (alpha, scales,
    initialisation, selection) are random unless the spec gives them. Give other options
    of a method by `cobandit.spec`.

    Parameters
    ----------
    method : str, class or Spec
    seeds : iterable of int
        Seeds, one table per seed, with three budgets.

    Raises
    ------
    AssertionError
        If kernel and class differ in a pull, the cost or the result.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> check_kernel("CoHVUCB", seeds=range(2))
    """
    chosen = as_spec(method)
    for seed in seeds:
        rng = np.random.default_rng([2, seed])
        table = ragged_table(rng, int(rng.integers(2, 31)), int(rng.integers(1, 5)))
        for factor in rng.choice([1, 1.01, 1.5, 3, 10, 40], 3):
            drawn = _draw_options(chosen, rng)
            budget = factor * smallest_budget(drawn, table)
            is_online = drawn.kind == "online"
            for charge in ["realised"] if is_online else ["declared", "realised"]:
                check_kernel_on(drawn, table, budget, charge, replication=seed)


def _draw_options(chosen: Spec, rng: np.random.Generator) -> Spec:
    """Return a spec with random values for the common options that are not given."""
    drawn: dict[str, Any] = {
        # small radii test the variance, large ones test the clipping
        "alpha": 10 ** rng.uniform(-4, 0.5),
        "reward_scale": rng.choice([0, 0.01, 0.3, 1.0]),
        "cost_scale": rng.choice([0, 0.01, 1.0]),
        "n_init": int(rng.integers(1, 5)),
        "selection": str(rng.choice(["feasible", "all"])),
    }
    parameters = inspect.signature(chosen.policy).parameters
    options = {name: value for name, value in drawn.items() if name in parameters}
    options |= chosen.given
    if "eta" in options:
        del options["n_init"]
    return replace(chosen, given=options)
