"""Replay of a policy that has no kernel: its readable class, run after run."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.errors import GuaranteeWarning
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.replay.kernels import Table
from cobandit.replay.reference import Run, run_on

#: Filters of warnings belong to the process, and threads would undo each other's.
ONE_AT_A_TIME = threading.Lock()


class Readable(NamedTuple):
    """Stands where a kernel would stand, and is called as one."""

    policy: type[AskTell]
    run: Callable[..., Any]

    def read(self, policy: AskTell) -> AskTell:
        """Return the policy: its class is what runs."""
        return policy


def readable(policy: type[AskTell]) -> Readable:
    """Make what replays a class that has no kernel."""
    return Readable(policy, _identify if issubclass(policy, IdentificationPolicy) else _select)


def _fresh(policy: AskTell, table: Table, seed: int, replication: int, declared: bool) -> tuple[Any, Run]:
    """Play one replication with a new policy of the same options."""
    new = type(policy)(**policy.options)
    rows = np.delete(table.rows, 1, axis=1)  # without the cost over the largest
    with ONE_AT_A_TIME, warnings.catch_warnings():
        # a replay draws costs beyond what was declared, and no kernel warns of them
        warnings.simplefilter("ignore", GuaranteeWarning)
        return new, run_on(new, rows, table.offsets, seed, replication, declared)


def _select(
    policy: AskTell,
    limit: float,
    expected: NDArray[np.float64],
    dearest: NDArray[np.int64],
    n_init: int,
    table: Table,
    seed: int,
    replications: NDArray[np.int64],
    arms: NDArray[np.int64],
    costs: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """As `cobandit.replay.kernels.select_online`; the policy itself knows the limit and the costs."""
    pulls, spent = np.zeros((len(replications), policy.n_arms), dtype=np.int64), np.empty(len(replications))
    for r, replication in enumerate(replications):
        new, run = _fresh(policy, table, seed, replication, False)
        pulls[r], spent[r] = new.pulls, new.spent
        taken = min(len(run.arms), arms.shape[1])
        arms[r, :taken], costs[r, :taken] = run.arms[:taken], run.costs[:taken]
    return pulls, spent


def _identify(
    policy: IdentificationPolicy,
    limit: float,
    costs: NDArray[np.float64],
    realised: bool,
    table: Table,
    seed: int,
    replications: NDArray[np.int64],
    arms: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """As the kernels of identification."""
    pulls, spent = np.zeros((len(replications), policy.n_arms), dtype=np.int64), np.empty(len(replications))
    returned = np.zeros(pulls.shape, dtype=np.bool_)
    for r, replication in enumerate(replications):
        new, _ = _fresh(policy, table, seed, replication, not realised)
        pulls[r], spent[r] = new.pulls, new.spent
        returned[r, new.recommend()] = True
    return pulls, spent, returned
