"""Replications of a policy: by its kernel or, where it has none, by its class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.replay import kernels
from cobandit.replay.reference import run_class


def terms_of(
    policy: Any, realised: bool, orders: NDArray[np.int64]
) -> kernels.OnlineTerms | kernels.IdentificationTerms:
    """Read off a policy on which terms its kernel plays."""
    limit = _check.add_slack(policy.budget)
    if isinstance(policy, IdentificationPolicy):
        costs = np.array(policy.costs)
        return kernels.IdentificationTerms(limit, costs, realised, np.sort(costs), orders)
    expected = np.array(policy.expected_costs)
    if policy.selection == "all":  # no arm is left out because of what it is expected to cost
        expected[:] = 0.0
    return kernels.OnlineTerms(limit, expected, np.argsort(-expected, kind="stable"), policy.n_init)


def as_compiled_for(feedback: kernels.FeedbackRows) -> kernels.FeedbackRows:
    """Make arrays of one type, whether they were made here, sent, or mapped: read only.

    Numba would compile again, for half a minute, for each other type.
    """
    rows, offsets = np.asarray(feedback.rows).view(), np.asarray(feedback.offsets).view()
    for view in (rows, offsets):
        view.setflags(write=False)
    return kernels.FeedbackRows(rows, offsets, feedback.once)


def run_kernel(
    policy: AskTell,
    feedback: kernels.FeedbackRows,
    seed: int,
    replications: NDArray[np.int64],
    record: kernels.Record | None = None,
    *,
    realised: bool = True,
) -> tuple[NDArray[Any], ...]:
    """Play replications of a policy on rows of feedback.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        It is only read.  An online policy has to know its ``expected_costs``.
    feedback : FeedbackRows
    seed : int
    replications : ndarray of int, shape (R,)
        They name the streams.
    record : Record, optional
        Takes down the first pulls of each replication.
    realised : bool
        Whether identification is charged the cost of the instance drawn, rather than the declared cost.

    Returns
    -------
    pulls : ndarray of int, shape (R, K)
    spent : ndarray, shape (R,)
    returned : ndarray of bool, shape (R, K)
        Identification only.
    """
    record = kernels.record(len(replications)) if record is None else record
    kernel = kernels.kernel_of(type(policy))
    if kernel is None:
        return run_class(policy, feedback, seed, replications, record, realised)
    n_instances = int(feedback.offsets[1]) if feedback.once else 0
    orders = np.empty((len(replications), n_instances), dtype=np.int64)
    if feedback.once:  # otherwise nothing is ordered, and an empty order takes longer than many a run
        for order, replication in zip(orders, replications, strict=True):
            order[:] = kernels.shared_order(seed, replication, n_instances)
    terms, rows = terms_of(policy, realised, orders), as_compiled_for(feedback)
    return kernel.run(kernel.read(policy), terms, rows, np.uint64(seed), replications, record)
