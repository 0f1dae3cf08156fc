"""Compiled runs of many replications, and the registry of kernels."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import KERNELS, check_class
from cobandit.replay.kernels._cache import compiled
from cobandit.replay.kernels.run_data import Draws, Tally
from cobandit.replay.kernels.streams import keys, shared_order


class Kernel(NamedTuple):
    """A compiled method: its run, and the parameters that the run reads."""

    #: ``run(p, terms, feedback, seed, replications, record)``. It returns, for R
    #: replications, the pulls (R, K), the spent cost (R,), the returned sets (R, K),
    #: and whether a race has decided all arms (R,).
    run: Callable[..., Any]
    #: Function of a policy that returns p, the parameters of the run.
    read: Callable[[Any], Any]


def register(policy: type[AskTell], run: Any, read: Callable[[Any], Any]) -> None:
    """Register the kernel of a class.

    Raises
    ------
    CobanditError
        If the class has the name of a built-in method.
    """
    check_class(policy)
    KERNELS[policy] = Kernel(run, read)


def compile_run(replication: Callable[..., Any]) -> Any:
    """Return a compiled function that runs many replications of a method.

    ``replication(p, terms, draws, seen, returned)`` runs one replication. It fills
    ``seen`` and ``returned`` (K,). It returns the spent cost, and whether all arms are
    decided, which only a `ParetoRace` reports.
    """

    def run(p, terms, feedback, seed, replications, record):
        n_arms = len(terms.costs)
        n_objectives = feedback.rows.shape[1] - 2
        pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
        returned = np.zeros((len(replications), n_arms), dtype=np.bool_)
        settled = np.zeros(len(replications), dtype=np.bool_)
        spent = np.empty(len(replications))
        order = np.empty(0, dtype=np.int64)
        for r in range(len(replications)):
            starts = keys(seed, replications[r], n_arms)
            if feedback.once:
                order = shared_order(seed, replications[r], feedback.offsets[1])
            draws = Draws(feedback.rows, feedback.offsets, starts, order)
            seen = Tally(
                pulls[r],
                np.zeros((n_arms, n_objectives)),
                record.arms[r],
                record.charges[r],
            )
            spent[r], settled[r] = replication(p, terms, draws, seen, returned[r])

        return pulls, spent, returned, settled

    # the cache stores compiled code under this name, which must differ between kernels
    run.__qualname__ = f"{replication.__module__}.{replication.__qualname__}"
    return compiled(run)
