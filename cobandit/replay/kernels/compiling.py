"""What a kernel is: what its run takes, and how a formula becomes one.

A formula, an index of online selection or a target of an elimination, reads numbers off
its readable class. It is called by its address, so that all formulas of a kind share
one compiled run: at every pull that costs less than can be measured.

Pulls are named by random numbers, the same for every method and budget: SplitMix64
(Steele, Lea and Flood, 2014), a 64-bit mix of a counter.  Every operand is cast to
uint64, since Numba turns a mix of signed and unsigned integers into floating point.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, types

from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import KERNELS, check_class, is_builtin
from cobandit.replay.kernels._cache import FOLDER, compiled, inner, kept

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
#: In the place of an arm's number where none is meant: no arm has that number.
NOBODY = np.uint64(2**64 - 1)


@inner
def _mix(z):
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@inner
def key(seed, replication, arm):
    """Where the stream of an arm in a replication starts."""
    z = _mix(np.uint64(seed) + GOLDEN)
    z = _mix(z + np.uint64(replication) * GOLDEN)
    return _mix(z + np.uint64(arm) * GOLDEN)


@inner
def keys(seed, replication, n_arms):
    """Where the streams of all arms start, shape (K,)."""
    starts = np.empty(n_arms, dtype=np.uint64)
    for arm in range(n_arms):
        starts[arm] = key(seed, replication, arm)
    return starts


@inner
def draw(start, s, n):
    """Instance, 0 <= . < n, of the s-th evaluation: the upper half of the mix, scaled to n."""
    high = _mix(start + (np.uint64(s) + np.uint64(1)) * GOLDEN) >> S32
    return np.int64((high * np.uint64(n)) >> S32)


@compiled
def shared_order(seed, replication, n):
    """Random order of n instances that all arms, methods and budgets share, where each is evaluated once."""
    start, names = key(seed, replication, NOBODY), np.empty(n, dtype=np.uint64)
    for s in range(n):
        names[s] = _mix(start + (np.uint64(s) + np.uint64(1)) * GOLDEN)
    return np.argsort(names)  # no two are the same


@compiled
def instance(seed, replication, arm, s, n):
    """Return the number, 0 <= . < n, of the instance of the s-th evaluation (from 0) of an arm."""
    return draw(key(seed, replication, arm), s, n)


class Draws(NamedTuple):
    """Where the pulls of one replication come from: rows of feedback, and the start of each arm's stream.

    ``order`` (N,) are the instances in the order in which they are evaluated once,
    empty for a bootstrap.
    """

    rows: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class Tally(NamedTuple):
    """What one replication has seen: pulls (K,), sums of rewards (K, D), and its first L pulls in order."""

    pulls: np.ndarray
    sums: np.ndarray
    arms: np.ndarray
    charges: np.ndarray


#: Rows that are named before they are added up; and up to which share of its limit a
#: budget is not looked at before every pull, which is more than rounding adds to any
#: sum of charges.
BLOCK, CERTAIN = 128, 1.0 - 1e-9


@inner
def sample_affordable(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls that the budget allows for certain; the spend.

    A block of rows is named and then added, two objectives at a time: the first loop is
    vectorised, and in the second the sums do not wait for each other.
    """
    rows, offsets, starts, order = draws

    pulls, sums, declared = seen.pulls, seen.sums, terms.costs
    last, named = sums.shape[1] - 1, np.empty(BLOCK, dtype=np.int64)
    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal:
            m = min(BLOCK, goal - n)
            for q in range(m):
                named[q] = first + (
                    order[n + q] if len(order) else draw(start, n + q, size)
                )
            for d in range(0, last + 1, 2):
                e, charge = min(d + 1, last), expected if d == 0 else 0.0
                one, other = sums[arm, d], sums[arm, e]
                for q in range(m):
                    one += rows[named[q], d + 2]
                    other += rows[named[q], e + 2]
                    spent += charge
                sums[arm, d], sums[arm, e] = one, other
            n += m
        pulls[arm] = n

    return spent


@inner
def sample(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls, one after the other; the spend, and whether the budget held."""
    rows, offsets, starts, order = draws
    limit, declared, realised = terms.limit, terms.costs, terms.realised
    pulls, sums, arms, charges = seen
    t, needed = 0, spent
    for n in pulls:
        t += n
    for arm in chosen:
        needed += max(0, goal - pulls[arm]) * declared[arm]
    if not realised and t >= len(arms) and needed < limit * CERTAIN:
        return sample_affordable(chosen, goal, draws, terms, seen, spent), True

    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal and spent + expected <= limit:
            row = first + (order[n] if len(order) else draw(start, n, size))
            cost = rows[row, 0] if realised else expected
            if spent + cost > limit:
                break
            spent += cost
            if t < len(arms):
                arms[t] = arm
                charges[t] = cost
            t += 1
            n += 1
            for d in range(sums.shape[1]):
                sums[arm, d] += rows[row, d + 2]
        pulls[arm] = n
        if n < goal:
            return spent, False

    return spent, True


# ----------------------------------------------------------------------------- what runs take and give


class FeedbackRows(NamedTuple):
    """What pulls are drawn from: evaluation rows arm after arm, ``offsets[i]`` to ``offsets[i + 1]`` arm i's.

    A row of ``rows`` (N, D + 2) holds the cost, the cost divided by the largest, and
    the D objectives.  With ``once`` row n of each arm is on the same instance, and each
    is drawn at most once, in an order that the arms share; otherwise by bootstrap.
    """

    rows: np.ndarray
    offsets: np.ndarray
    once: bool = False


class Terms(NamedTuple):
    """Terms of a run: the budget with its slack, what pulls cost (K,), and what is charged.

    ``costs`` are those expected online, and those declared in identification, which is
    charged them or, if ``realised``, what the row says.  ``by_cost`` (K,) are the arms,
    the most expensive first.  ``n_init`` pulls of each arm come before an index
    decides.
    """

    limit: float
    costs: np.ndarray
    by_cost: np.ndarray
    realised: bool
    n_init: int


class Record(NamedTuple):
    """Takes down the first L pulls of R replications: ``arms`` and what each was charged, (R, L) each.

    Behind the last pull of an online run stands the one that crosses the budget, which
    is not charged, or -1.
    """

    arms: np.ndarray
    charges: np.ndarray


def record(replications: int, pulls: int = 0) -> Record:
    """Make a record of so many pulls each; by default nothing is taken down."""
    shape = replications, pulls
    return Record(np.empty(shape, dtype=np.int64), np.empty(shape))


class PhaseState(NamedTuple):
    """Where a gap elimination stands when it sets a target: phases count from 1.

    ``costs`` (k,) are the declared costs of the active arms, ascending, and
    ``round_cost`` is their sum; ``reached`` pulls each arm has, and ``spent`` is what
    all arms were charged.
    """

    phase: int
    costs: np.ndarray
    round_cost: float
    reached: int
    spent: float


# ----------------------------------------------------------------------------- registry


class Kernel(NamedTuple):
    """A compiled method: its run, and what reads p, the tuple that the run takes, off the readable class.

    ``run(p, terms, feedback, seed, replications, record)`` returns the pulls (R, K) and
    the spend (R,) of the replications, the returned sets (R, K), and whether a race
    settled all (R,).
    """

    run: Callable[..., Any]
    read: Callable[[Any], Any]


def register(policy: type[AskTell], run: Any, read: Callable[[Any], Any]) -> None:
    """Enter the kernel of a class.

    Raises
    ------
    CobanditError
        If the name is that of another method of this project's.
    """
    check_class(policy)
    KERNELS[policy] = Kernel(run, read)


# ----------------------------------------------------------------------------- formulas


class Formula(NamedTuple):
    """A formula by its address, the numbers that it reads off the class, and whether it reads squares."""

    call: Any
    numbers: tuple[float, ...]
    squares: bool


#: Room for the numbers that a formula reads: a tuple of one size, which is passed in
#: registers.
NUMBERS = types.UniTuple(types.float64, 8)


@cache
def _by_address(
    formula: Callable[..., Any], take: Callable[..., Any], known: Any, size: int
) -> Any:
    """Compile ``take(formula, size)``, which hands the first numbers of a tuple on to a formula."""
    with kept():
        signature = types.float64(*known, NUMBERS)
        made = take(formula, size)
        # under this name it is kept: one for all formulas would let processes mistake
        # one for another
        made.__qualname__ = f"{formula.__module__}.{formula.__qualname__}"
        return cfunc(
            signature,
            cache=is_builtin(formula) and FOLDER is not None,
            error_model="numpy",
        )(made)


def register_formula(
    policy: type[AskTell],
    run: Any,
    take: Callable[..., Any],
    known: tuple[Any, ...],
    squares: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a formula: behind what the run knows, its arguments have the names of attributes of the class.

    All formulas of a kind share one compiled run, which calls them by their address.
    """

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        reads = list(inspect.signature(formula).parameters.values())[len(known) :]
        if len(reads) > len(NUMBERS):
            raise CobanditError(
                f"{formula.__name__} reads {len(reads)} numbers; {len(NUMBERS)} is the"
                " most"
            )

        def read(of: AskTell) -> Formula:
            numbers = [_read_number(formula, of, each) for each in reads]
            room = [0.0] * (len(NUMBERS) - len(reads))
            return Formula(
                _by_address(formula, take, known, len(reads)),
                (*numbers, *room),
                squares,
            )

        inner(formula)
        register(policy, run, read)
        return formula

    return decorate


def _read_number(
    formula: Callable[..., Any], of: AskTell, argument: inspect.Parameter
) -> float:
    value = getattr(of, argument.name, argument.default)
    if not isinstance(value, (int, float, np.number)):
        said = "no such attribute" if value is argument.empty else repr(value)
        what = f"{formula.__name__} reads {argument.name} off {type(of).__name__}"
        raise CobanditError(f"{what}: a number is needed, got {said}")
    return float(value)


# ----------------------------------------------------------------------------- runs


def compile_run(replication: Callable[..., Any]) -> Any:
    """Compile the run of ``replication(p, terms, draws, seen, returned)``.

    One replication fills ``seen`` and ``returned`` (K,); it gives the spend, and
    whether a race is settled.
    """

    def run(p, terms, feedback, seed, replications, record):
        n_arms, n_objectives = len(terms.costs), feedback.rows.shape[1] - 2
        pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
        returned = np.zeros((len(replications), n_arms), dtype=np.bool_)

        settled = np.zeros(len(replications), dtype=np.bool_)
        spent, order = np.empty(len(replications)), np.empty(0, dtype=np.int64)
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

    # the name that it is kept under
    run.__qualname__ = f"{replication.__module__}.{replication.__qualname__}"
    return compiled(run)
