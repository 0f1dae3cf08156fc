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
    """A compiled method."""

    #: ``run(p, terms, feedback, seed, replications, record)`` returns the pulls (R, K)
    #: and the spend (R,) of the replications, the returned sets (R, K), and whether a
    #: race settled all arms (R,).
    run: Callable[..., Any]
    #: Returns p, the tuple of parameters that the run takes, of a readable policy.
    read: Callable[[Any], Any]


def register(policy: type[AskTell], run: Any, read: Callable[[Any], Any]) -> None:
    """Register the kernel of a class.

    Raises
    ------
    CobanditError
        If the class has the name of another method of this project.
    """
    check_class(policy)
    KERNELS[policy] = Kernel(run, read)


def compile_run(replication: Callable[..., Any]) -> Any:
    """Compile the run of ``replication(p, terms, draws, seen, returned)``.

    One replication fills ``seen`` and ``returned`` (K,); it returns the spend, and
    whether a race settled all arms.
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

    # Compiled code is kept on disk under this name.
    run.__qualname__ = f"{replication.__module__}.{replication.__qualname__}"
    return compiled(run)
