"""What a compiled run reads and writes: feedback, terms, draws, tallies and records."""

from typing import NamedTuple

import numpy as np


class FeedbackRows(NamedTuple):
    """Evaluations that pulls are drawn from, arm after arm."""

    #: Shape (N, D + 2): the cost, the cost over the largest, and the D objectives.
    rows: np.ndarray
    #: Shape (K + 1,): the rows of arm i are ``offsets[i]`` to ``offsets[i + 1]``.
    offsets: np.ndarray
    #: Whether row n of each arm is on the same instance and is drawn at most once, in
    #: an order that the arms share; else pulls are a bootstrap.
    once: bool = False


class Terms(NamedTuple):
    """Terms of a run: its budget, and what pulls are expected to cost."""

    #: The budget with its slack.
    limit: float
    #: Shape (K,): expected costs online, declared costs in identification.
    costs: np.ndarray
    #: Shape (K,): the arms, most expensive first.
    by_cost: np.ndarray
    #: Whether identification is charged the cost of the row instead of the declared one.
    realised: bool
    #: Pulls of each arm before an index decides.
    n_init: int


class Draws(NamedTuple):
    """Sources of the pulls of one replication."""

    #: Shape (N, D + 2), as in `FeedbackRows`.
    rows: np.ndarray
    #: Shape (K + 1,), as in `FeedbackRows`.
    offsets: np.ndarray
    #: Shape (K,): the start of each arm's random stream.
    starts: np.ndarray
    #: Shape (N,): instances in the order of evaluation; empty for a bootstrap.
    order: np.ndarray


class Tally(NamedTuple):
    """Pulls and rewards of one replication so far."""

    #: Shape (K,).
    pulls: np.ndarray
    #: Shape (K, D): sums of rewards.
    sums: np.ndarray
    #: Shape (L,): the arms of the first L pulls.
    arms: np.ndarray
    #: Shape (L,): the charges of the first L pulls.
    charges: np.ndarray


class Record(NamedTuple):
    """First L pulls of R replications.

    After the last pull of an online run comes the one that crosses the budget, which is
    not charged, or -1.
    """

    #: Shape (R, L).
    arms: np.ndarray
    #: Shape (R, L).
    charges: np.ndarray


def record(replications: int, pulls: int = 0) -> Record:
    """Return an empty record of the first pulls of each replication."""
    shape = replications, pulls
    return Record(np.empty(shape, dtype=np.int64), np.empty(shape))
