"""Inputs and outputs of compiled runs: feedback, costs, pulls and records."""

from typing import NamedTuple

import numpy as np


class FeedbackRows(NamedTuple):
    """Evaluations from which the feedback of pulls is drawn, sorted by arm."""

    #: Shape (N, D + 2): the cost, the cost over the largest cost, and D objectives.
    rows: np.ndarray
    #: Shape (K + 1,): the rows of arm i are ``offsets[i]`` to ``offsets[i + 1]``.
    offsets: np.ndarray
    #: Whether each row is drawn at most once. The n-th row of each arm is then on the
    #: same instance, and arms share the order of instances. If False, rows are drawn
    #: with replacement.
    once: bool = False


class Terms(NamedTuple):
    """Budget of a run, and costs of pulls."""

    #: The budget, with slack for rounding.
    limit: float
    #: Shape (K,): expected costs of an online method, declared costs in identification.
    costs: np.ndarray
    #: Shape (K,): the arms, most expensive first.
    by_cost: np.ndarray
    #: Whether identification is charged the cost of the drawn row, not the declared
    #: cost.
    realised: bool
    #: Number of pulls of each arm before an index decides.
    n_init: int


class Draws(NamedTuple):
    """Sources of the feedback of one replication."""

    #: Shape (N, D + 2), as in `FeedbackRows`.
    rows: np.ndarray
    #: Shape (K + 1,), as in `FeedbackRows`.
    offsets: np.ndarray
    #: Shape (K,): the initial state of each arm's random stream.
    starts: np.ndarray
    #: Shape (N,): instances in the order of evaluation; empty for a bootstrap.
    order: np.ndarray


class Tally(NamedTuple):
    """Pulls and rewards of one replication so far."""

    #: Shape (K,): numbers of pulls.
    pulls: np.ndarray
    #: Shape (K, D): sums of rewards.
    sums: np.ndarray
    #: Shape (L,): the arms of the first L pulls.
    arms: np.ndarray
    #: Shape (L,): the charges of the first L pulls.
    charges: np.ndarray


class Record(NamedTuple):
    """Arms and charges of the first L pulls of R replications.

    In an online run, one more entry follows the last pull. It is the arm whose pull
    would exceed the budget and is not charged, or -1 if no arm is affordable.
    """

    #: Shape (R, L): arms of the pulls.
    arms: np.ndarray
    #: Shape (R, L): charges of the pulls.
    charges: np.ndarray


def record(replications: int, pulls: int = 0) -> Record:
    """Return an empty record of the first pulls of each replication."""
    shape = replications, pulls
    return Record(np.empty(shape, dtype=np.int64), np.empty(shape))
