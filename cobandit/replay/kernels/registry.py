"""What a kernel is: what its run takes, and how a formula becomes one.

Each method has a named tuple of what its formula reads off its readable class.  An index is called at every
pull: the type of the tuple selects it when a run is compiled, so that it becomes part of the run.  A target
is called once a phase: by its address, so that all eliminations share one compiled run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.replay.kernels._cache import BY_NAME, INNER

# ----------------------------------------------------------------------------- what runs take and give


class FeedbackRows(NamedTuple):
    """What pulls are drawn from: evaluation rows arm after arm, ``offsets[i]`` to ``offsets[i + 1]`` arm i's.

    A row of ``rows`` (N, D + 2) holds the cost, the cost divided by the largest, and the D objectives.  With
    ``once`` row n of each arm is on the same instance, and each is drawn at most once, in an order that the
    arms share; otherwise by bootstrap.
    """

    rows: np.ndarray
    offsets: np.ndarray
    once: bool = False


class OnlineTerms(NamedTuple):
    """Terms of an online run: the budget with its slack, expected costs (K,), and pulls before the index.

    ``by_cost`` (K,) are the arms, the most expensive first: the order in which they cease to be affordable.
    """

    limit: float
    expected: np.ndarray
    by_cost: np.ndarray
    n_init: int


class IdentificationTerms(NamedTuple):
    """Terms of an identification run: the budget with its slack, declared costs (K,), and what is charged.

    ``ascending`` (K,) are the declared costs in order.  ``orders`` (R, N) are the instances in the order in
    which each replication evaluates them once, (R, 0) for a bootstrap.
    """

    limit: float
    declared: np.ndarray
    realised: bool
    ascending: np.ndarray
    orders: np.ndarray


class Record(NamedTuple):
    """Takes down the first L pulls of R replications: ``arms`` and what each was charged, (R, L) each.

    Behind the last pull of an online run stands the one that crosses the budget, which is not charged, or -1.
    """

    arms: np.ndarray
    charges: np.ndarray


def record(replications: int, pulls: int = 0) -> Record:
    """Make a record of so many pulls each; by default nothing is taken down."""
    shape = replications, pulls
    return Record(np.empty(shape, dtype=np.int64), np.empty(shape))


class PhaseState(NamedTuple):
    """Where a gap elimination stands when it sets a target: phases count from 1.

    ``costs`` (k,) are the declared costs of the active arms, ascending, and ``round_cost`` is their sum;
    ``reached`` pulls each arm has, and ``spent`` is what all arms were charged.
    """

    phase: int
    costs: np.ndarray
    round_cost: float
    reached: int
    spent: float


# ----------------------------------------------------------------------------- registry


class Kernel(NamedTuple):
    """A compiled method: the readable class, the compiled run, and the tuple of what its formula reads.

    ``run(p, terms, feedback, seed, replications, record)`` returns the pulls (R, K) and the spend (R,) of
    the replications, for identification also the returned sets (R, K).  ``read`` makes p of an instance of
    the readable class, which also has checked the options.
    """

    policy: type[AskTell]
    run: Callable[..., Any]
    parameters: Any
    read: Callable[[AskTell], Any]


def attributes(parameters: Any, policy: AskTell) -> Any:
    """Fill a tuple with the attributes of a policy that have the names of its fields."""
    return parameters(*(getattr(policy, name) for name in parameters._fields))


ONLINE: dict[str, Kernel] = {}
IDENTIFICATION: dict[str, Kernel] = {}
ONCE: dict[str, Kernel] = {}  # identification that evaluates every instance at most once
INDICES: dict[Any, Callable[..., Any]] = {}  # by the type of the parameters


def is_ours(parameters: Any) -> bool:
    """Whether a kernel is the project's: the cache on disk knows when our files change, not a user's."""
    return parameters.__module__.startswith(f"{__package__}.")


def register(
    registry: dict[str, Kernel],
    policy: type[AskTell],
    run: Any,
    parameters: Any,
    read: Callable[[Any], Any] | None = None,
) -> None:
    """Make a kernel of a class known by the name of the class; p are its attributes, or what ``read`` gives.

    Raises
    ------
    CobanditError
        If the name is that of another method.  Where a notebook defines its class again, the new one counts.
    """
    name, known = policy.__name__, (ONLINE | IDENTIFICATION | ONCE).get(policy.__name__)
    if known and (known.policy.__module__, known.policy.__qualname__) != (
        policy.__module__,
        policy.__qualname__,
    ):
        raise CobanditError(f"there is a method {name} already: give the class another name")
    registry[name] = Kernel(policy, run, parameters, read or partial(attributes, parameters))


def register_index(policy: type[AskTell], run: Any, parameters: Any, formula: Any) -> None:
    """Make the run that uses an index known; one that comes from outside is not kept on disk.

    Raises
    ------
    CobanditError
        If the name is that of another method, or the parameters are those of another index.
    """
    if parameters in INDICES:
        raise CobanditError(
            f"{parameters.__name__} has a formula already, which may be compiled: define the tuple again, too"
        )
    run = run if is_ours(parameters) else njit(run.py_func, nogil=True, **BY_NAME)
    register(ONLINE, policy, run, parameters)
    INDICES[parameters] = formula


def kernel_of(policy: type[AskTell]) -> Kernel | None:
    """Return the kernel of a class, None if it has none."""
    known = (ONLINE | IDENTIFICATION | ONCE).get(policy.__name__)
    return known if known and known.policy is policy else None


# ----------------------------------------------------------------------------- indices, by type


def index(n, sums, squares, p):
    """Index of an arm, by the type of p; replaced at compile time."""


def reads_squares(p):
    """Whether the index reads sums of squares, by the type of p; replaced at compile time."""


@overload(index, jit_options=INNER)
def _compile_index(n, sums, squares, p):
    return INDICES[p.instance_class]


@overload(reads_squares, jit_options=INNER)
def _compile_reads_squares(p):
    if getattr(p.instance_class, "reads_squares", False):
        return lambda p: True
    return lambda p: False
