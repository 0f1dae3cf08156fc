"""Replications of an identification, one after the other; what one of them does goes by its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from cobandit.replay.kernels._cache import INNER, compiled
from cobandit.replay.kernels.fronts import Draws, Tally
from cobandit.replay.kernels.stream import keys

REPLICATIONS: dict[Any, Any] = {}  # by the type of the parameters


def replication(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend.  Replaced at compile time."""


@overload(replication, jit_options=INNER)
def _compile_replication(p, terms, draws, seen, returned):
    return REPLICATIONS[p.instance_class]


@compiled
def identify(p, terms, feedback, seed, replications, record):
    """Play replications: pulls (R, K), spend (R,) and returned sets (R, K)."""
    n_arms, n_objectives = len(terms.declared), feedback.rows.shape[1] - 2
    pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
    returned = np.zeros((len(replications), n_arms), dtype=np.bool_)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        starts = keys(seed, replications[r], n_arms)
        draws = Draws(feedback.rows, feedback.offsets, starts, terms.orders[r])
        seen = Tally(pulls[r], np.zeros((n_arms, n_objectives)), record.arms[r], record.charges[r])
        spent[r] = replication(p, terms, draws, seen, returned[r])
    return pulls, spent, returned
