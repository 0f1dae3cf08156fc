"""The algorithms again, compiled: the same pulls as the readable classes, some hundred times faster.

All compiled code is in this one module, because Numba's cache does not notice a change in a helper that
lives elsewhere.  A kernel plays many replications of one method at one budget; feedback comes from a
table by arm-wise bootstrap on common random numbers: the s-th evaluation of arm i in replication r is the
same instance for every method and budget.

Each method has a named tuple of what it reads from its readable class.  The type of that tuple selects,
when a run is compiled, the method's index (online) or target (elimination): a new method needs nothing
here but its tuple and its formula.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, sqrt
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import njit
from numba.extending import overload

from cobandit import policies
from cobandit._check import SLACK
from cobandit.policies.asktell import AskTell
from cobandit.policies.elimination import GAP_ATOL, GAP_RTOL


def _probe() -> None:
    """Stand for any compiled function."""


try:
    njit(cache=True)(_probe)
except RuntimeError:  # neither this folder nor the user's cache can be written to, as in a container
    numba.config.CACHE_DIR = mkdtemp(prefix="cobandit-numba-")  # type: ignore[attr-defined]

# ----------------------------------------------------------------------------- random numbers
# SplitMix64 (Steele, Lea and Flood, 2014): a 64-bit mix of a counter.  Every operand is cast to uint64,
# since Numba turns a mix of signed and unsigned integers into floating point.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@njit(cache=True)
def _mix(z):
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@njit(cache=True)
def _key(seed, replication, arm):
    """Where the stream of an arm in a replication starts."""
    z = _mix(np.uint64(seed) + GOLDEN)
    z = _mix(z + np.uint64(replication) * GOLDEN)
    return _mix(z + np.uint64(arm) * GOLDEN)


@njit(cache=True)
def _draw(key, s, n):
    """Instance, 0 <= . < n, of the s-th evaluation: the upper half of the mix, scaled to n."""
    high = _mix(key + (np.uint64(s) + np.uint64(1)) * GOLDEN) >> S32
    return np.int64((high * np.uint64(n)) >> S32)


@njit(cache=True)
def instance(seed, replication, arm, s, n):
    """Return the number, 0 <= . < n, of the instance of the s-th evaluation (from 0) of an arm."""
    return _draw(_key(seed, replication, arm), s, n)


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


class Table(NamedTuple):
    """What kernels read: evaluation rows arm after arm, ``offsets[i]`` to ``offsets[i + 1]`` those of arm i.

    A row of ``rows`` (N, D + 2) holds the cost, the cost divided by the largest, and the D objectives.
    """

    rows: np.ndarray
    offsets: np.ndarray


# ----------------------------------------------------------------------------- registry


class Kernel(NamedTuple):
    """A compiled method: the readable class, the compiled run, and the tuple of what the run reads."""

    policy: type[AskTell]
    run: Callable[..., Any]
    parameters: Any

    def read(self, policy: AskTell) -> Any:
        """Read the parameters off an instance of the readable class, which also has checked the options."""
        return self.parameters(*(getattr(policy, name) for name in self.parameters._fields))


ONLINE: dict[str, Kernel] = {}
IDENTIFICATION: dict[str, Kernel] = {}
FORMULAS: dict[Any, Callable[..., Any]] = {}  # index or target, by the type of the parameters


def online_index(policy: type[AskTell], parameters: Any) -> Callable[[Any], Any]:
    """Register ``index(n, sums, squares, p)`` of an arm: its pulls and its sums.

    ``sums`` (D + 1,) adds up the cost over the largest, then the rewards; ``squares`` their squares if the
    class of p says ``reads_squares = True``, otherwise it is empty.
    """

    def register(index: Callable[..., Any]) -> Callable[..., Any]:
        FORMULAS[parameters] = index
        ONLINE[policy.__name__] = Kernel(policy, select_online, parameters)
        return index

    return register


def elimination_target(policy: type[AskTell], parameters: Any) -> Callable[[Any], Any]:
    """Register ``target(at, p)`` of a gap elimination; ``at`` is its `PhaseState`."""

    def register(target: Callable[..., Any]) -> Callable[..., Any]:
        FORMULAS[parameters] = target
        IDENTIFICATION[policy.__name__] = Kernel(policy, eliminate, parameters)
        return target

    return register


def _index(n, sums, squares, p):
    """Index of an arm, by the type of p; replaced at compile time."""


def _reads_squares(p):
    """Whether the index reads sums of squares, by the type of p; replaced at compile time."""


def _target(at, p):
    """Target of a phase, by the type of p; replaced at compile time."""


@overload(_index)
def _compile_index(n, sums, squares, p):
    return FORMULAS[p.instance_class]


@overload(_reads_squares)
def _compile_reads_squares(p):
    if getattr(p.instance_class, "reads_squares", False):
        return lambda p: True
    return lambda p: False


@overload(_target)
def _compile_target(at, p):
    return FORMULAS[p.instance_class]


# ----------------------------------------------------------------------------- online selection
# The radius depends on T_B and not on t, so a pull changes only the index of the arm that was pulled.  A
# tournament tree keeps the winner: leaf i is arm i, an inner node names the better of its two children,
# the left one (the lower arm) on ties.  Expected costs are fixed and what is left only shrinks, so an arm
# that cannot be afforded stays out: the dearest that is still in is the next to leave.


@njit(cache=True)
def _replay_match(winner, value, node):
    left, right = winner[2 * node], winner[2 * node + 1]
    winner[node] = left if value[left] >= value[right] else right


@njit(cache=True)
def _replay_path(winner, value, leaf):
    node = leaf >> 1
    while node >= 1:
        _replay_match(winner, value, node)
        node >>= 1


@njit(cache=True)
def _select(p, limit, expected, dearest, n_init, table, seed, replication, pulls, arms, costs):
    """One replication: fills ``pulls`` (K,) and, as far as they reach, ``arms`` and ``costs``; the spend."""
    rows, offsets = table
    n_arms = len(pulls)
    size = 1
    while size < n_arms:
        size *= 2
    value = np.full(size, -np.inf)
    winner = np.empty(2 * size, dtype=np.int64)
    sums = np.zeros((n_arms, rows.shape[1] - 1))
    squares = np.zeros((n_arms, sums.shape[1] if _reads_squares(p) else 0))
    keys = np.empty(n_arms, dtype=np.uint64)
    for arm in range(n_arms):
        keys[arm] = _key(seed, replication, arm)
    affordable = np.ones(n_arms, dtype=np.bool_)
    turns = n_init * n_arms  # of the round-robin, before the index decides

    spent, t, gone, turn, planted = 0.0, 0, 0, 0, False
    while True:
        while gone < n_arms and spent + expected[dearest[gone]] > limit:
            arm = dearest[gone]
            affordable[arm] = False
            if planted:
                value[arm] = -np.inf
                _replay_path(winner, value, size + arm)
            gone += 1
        if gone == n_arms:
            return spent

        if turn < turns:
            arm = turn % n_arms
            turn += 1
            if not affordable[arm]:
                continue
        else:
            if not planted:
                for i in range(size):
                    winner[size + i] = i
                    if i < n_arms and affordable[i]:
                        value[i] = _index(pulls[i], sums[i], squares[i], p)
                for node in range(size - 1, 0, -1):
                    _replay_match(winner, value, node)
                planted = True
            arm = winner[1]

        row = offsets[arm] + _draw(keys[arm], pulls[arm], offsets[arm + 1] - offsets[arm])
        cost = rows[row, 0]
        if spent + cost > limit:
            return spent  # the pull that crosses the budget is not counted: T(B)
        spent += cost
        pulls[arm] += 1
        for d in range(sums.shape[1]):
            sums[arm, d] += rows[row, d + 1]
        for d in range(squares.shape[1]):
            squares[arm, d] += rows[row, d + 1] * rows[row, d + 1]
        if t < len(arms):
            arms[t] = arm
            costs[t] = cost
        t += 1
        if planted:
            value[arm] = _index(pulls[arm], sums[arm], squares[arm], p)
            _replay_path(winner, value, size + arm)


@njit(cache=True, nogil=True)
def select_online(p, limit, expected, dearest, n_init, table, seed, replications, arms, costs):
    """Play replications of an online policy: ``pulls`` (R, K) and ``spent`` (R,).

    ``arms`` and ``costs`` (R, L) take down the first L pulls of each; L = 0 takes down none.
    """
    pulls = np.zeros((len(replications), len(expected)), dtype=np.int64)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        spent[r] = _select(
            p, limit, expected, dearest, n_init, table, seed, replications[r], pulls[r], arms[r], costs[r]
        )
    return pulls, spent


class CoHVUCBParameters(NamedTuple):
    """What the index of CoHV-UCB reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float


@online_index(policies.CoHVUCB, CoHVUCBParameters)
def _cohv_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * radius)
    return hypervolume / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * radius)


class CoHVUCBVParameters(NamedTuple):
    """What the index of CoHV-UCB-V reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float

    reads_squares = True  # type: ignore[misc]  # of the class, not a field


@njit(cache=True)
def _narrowed(radius, n, total, squares):
    """Radius of a mean, given the sum and the sum of squares behind it."""
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return min(radius, 2.0 * sqrt(variance) * radius + 6.0 * (radius * radius))


@online_index(policies.CoHVUCBV, CoHVUCBVParameters)
def _cohv_ucb_v_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * _narrowed(radius, n, sums[d], squares[d]))
    cost_radius = _narrowed(radius, n, sums[0], squares[0])
    return hypervolume / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * cost_radius)


class HVUCBParameters(NamedTuple):
    """What the index of HV-UCB reads."""

    log_term: float
    reward_scale: float


@online_index(policies.HVUCB, HVUCBParameters)
def _hv_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * radius)
    return hypervolume


class AccuracyCostUCBParameters(NamedTuple):
    """What the index of Accuracy-Cost-UCB reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float
    objective: int


@online_index(policies.AccuracyCostUCB, AccuracyCostUCBParameters)
def _accuracy_cost_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    reward = min(1.0, sums[1 + p.objective] / n + p.reward_scale * radius)
    return reward / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * radius)


class UniformParameters(NamedTuple):
    """Uniform allocation reads nothing."""


@online_index(policies.UniformAllocation, UniformParameters)
def _uniform_index(n, sums, squares, p):
    return -float(n)


# ----------------------------------------------------------------------------- identification
# Running sums stand for the samples.  An arm that is dominated is dominated by one of the front, with a
# margin at least as large, and every dominator comes earlier in the order of falling first coordinate; so
# one pass over that order finds the front and the gaps of the dominated arms in O(k p D), p being the size
# of the front, and a second one the gaps of the front.


@njit(cache=True)
def _fronts(order, k, means, gaps, front):
    """Fill ``gaps`` (Delta^- of dominated arms, 0 for the front) and ``front``; the size of the front."""
    p = 0
    for position in range(k):
        arm = order[position]
        strongest = 0.0
        for f in range(p):
            margin = np.inf
            for d in range(means.shape[1]):
                margin = min(margin, means[front[f], d] - means[arm, d])
            strongest = max(strongest, margin)
        gaps[arm] = strongest
        if strongest <= 0.0:
            front[p] = arm
            p += 1
    return p


@njit(cache=True)
def _front_gap(i, order, k, means, gaps):
    """Delta^+ of an arm of the front, given Delta^- (positive part) of every arm in ``gaps``."""
    smallest = np.inf
    for position in range(k):
        j = order[position]
        if j == i:
            continue
        beats, beaten = -np.inf, 0.0
        for d in range(means.shape[1]):
            beats = max(beats, means[i, d] - means[j, d])
            beaten = max(beaten, means[j, d] - means[i, d])
        smallest = min(smallest, min(beats, beaten + gaps[j]))
    return smallest


@njit(cache=True)
def _sample(arm, target, table, keys, pulls, sums, declared, realised, spent, limit, arms, t):
    """Bring an arm up to ``target`` pulls, or as far as the budget goes; the spend."""
    rows, offsets = table
    key, first, size, expected = keys[arm], offsets[arm], offsets[arm + 1] - offsets[arm], declared[arm]
    n = pulls[arm]
    while n < target and spent + expected <= limit:
        row = first + _draw(key, n, size)
        cost = rows[row, 0] if realised else expected
        if spent + cost > limit:
            break
        spent += cost
        if t < len(arms):
            arms[t] = arm
        t += 1
        n += 1
        for d in range(sums.shape[1]):
            sums[arm, d] += rows[row, d + 2]
    pulls[arm] = n
    return spent


@njit(cache=True)
def _sorted_by_mean(active, k, sums, pulls, means):
    """Fill the means of the first k active arms; these arms in the order of falling first coordinate."""
    first = np.empty(k)
    for position in range(k):
        arm = active[position]
        for d in range(means.shape[1]):
            means[arm, d] = sums[arm, d] / pulls[arm]
        first[position] = -means[arm, 0]
    return active[:k][np.argsort(first)]


@njit(cache=True)
def _drop(value, values, k):
    """Take a value out of the first k of ``values``, keeping their order."""
    position = 0
    while values[position] != value:
        position += 1
    for later in range(position, k - 1):
        values[later] = values[later + 1]


@njit(cache=True)
def _eliminate(p, limit, declared, realised, table, seed, replication, pulls, returned, arms):
    """Gap elimination, one replication: fills ``pulls`` and ``returned`` (K,); the spend."""
    n_arms, n_objectives = len(pulls), table.rows.shape[1] - 2
    keys = np.empty(n_arms, dtype=np.uint64)
    for arm in range(n_arms):
        keys[arm] = _key(seed, replication, arm)
    sums, means = np.zeros((n_arms, n_objectives)), np.zeros((n_arms, n_objectives))
    gaps, plus = np.zeros(n_arms), np.zeros(n_arms)
    front = np.empty(n_arms, dtype=np.int64)
    active = np.arange(n_arms)
    order, costs = active, np.sort(declared)
    k, spent, t, reached = n_arms, 0.0, 0, 0

    for phase in range(1, n_arms):
        round_cost = 0.0
        for position in range(k):
            round_cost += declared[active[position]]
        target = _target(PhaseState(phase, costs[:k], round_cost, reached, spent), p)
        if target > reached:  # otherwise the means, and so their order, are as they were
            cut_short = False
            for position in range(k):
                arm = active[position]
                before = pulls[arm]
                spent = _sample(
                    arm, target, table, keys, pulls, sums, declared, realised, spent, limit, arms, t
                )
                t += pulls[arm] - before
                if pulls[arm] < target:
                    cut_short = True
                    break
            if cut_short:  # the empirical Pareto set of the active arms that were ever evaluated
                evaluated = active[:k][pulls[active[:k]] > 0]
                k = len(evaluated)
                order = _sorted_by_mean(evaluated, k, sums, pulls, means)
                for f in range(_fronts(order, k, means, gaps, front)):
                    returned[front[f]] = True
                return spent
            reached = target
            order = _sorted_by_mean(active, k, sums, pulls, means)

        size = _fronts(order, k, means, gaps, front)
        largest = 0.0
        for position in range(k):
            largest = max(largest, gaps[active[position]])
        for f in range(size):
            plus[front[f]] = _front_gap(front[f], order, k, means, gaps)
            largest = max(largest, plus[front[f]])

        # e_r: within the tolerance of the largest gap, a dominated arm first, then the lowest number
        least = largest - (GAP_ATOL + GAP_RTOL * largest)
        removed, accepted = -1, False
        for position in range(k):
            arm = active[position]
            if gaps[arm] > 0.0 and gaps[arm] >= least:
                removed, accepted = arm, False
                break
            if removed < 0 and gaps[arm] <= 0.0 and plus[arm] >= least:
                removed, accepted = arm, True
        if accepted:
            returned[removed] = True
        _drop(removed, active, k)
        _drop(removed, order, k)
        _drop(declared[removed], costs, k)
        k -= 1
    returned[active[0]] = True
    return spent


@njit(cache=True, nogil=True)
def eliminate(p, limit, declared, realised, table, seed, replications, arms):
    """Play replications of a gap elimination: ``pulls`` (R, K), ``spent`` (R,) and ``returned`` (R, K).

    ``arms`` (R, L) takes down the first L pulls of each; L = 0 takes down none.
    """
    n_arms = len(declared)
    pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
    returned = np.zeros((len(replications), n_arms), dtype=np.bool_)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        spent[r] = _eliminate(
            p, limit, declared, realised, table, seed, replications[r], pulls[r], returned[r], arms[r]
        )
    return pulls, spent, returned


class CoPSIParameters(NamedTuple):
    """What the target of CoPSI reads."""

    budget: float
    allocation_constant: float


class CoPSIExactParameters(NamedTuple):
    """What the target of CoPSI with the exact constant reads: the same formula, another constant."""

    budget: float
    allocation_constant: float


@elimination_target(policies.CoPSIExact, CoPSIExactParameters)
@elimination_target(policies.CoPSI, CoPSIParameters)
def _copsi_target(at, p):
    return floor(p.budget / (p.allocation_constant * at.round_cost) * (1.0 + SLACK))


class CoPSIAdaptiveParameters(NamedTuple):
    """What the target of CoPSI with the adaptive constant reads."""

    budget: float


@elimination_target(policies.CoPSIAdaptive, CoPSIAdaptiveParameters)
def _copsi_adaptive_target(at, p):
    budget = p.budget - (at.spent - at.reached * at.round_cost)  # less what the arms that left were charged
    constant = 1.0  # L* of those that are left, from the cheapest upwards
    left = at.costs[0] + at.costs[1]
    for cost in at.costs[2:]:
        left += cost
        constant += cost / left
    return floor(budget / (constant * at.round_cost) * (1.0 + SLACK))


class PSISRParameters(NamedTuple):
    """What the target of PSI-SR reads."""

    targets: np.ndarray


@elimination_target(policies.PSISR, PSISRParameters)
def _psi_sr_target(at, p):
    return p.targets[at.phase - 1]


@njit(cache=True)
def _round_robin(limit, declared, realised, table, seed, replication, pulls, returned, arms):
    """Uniform identification, one replication: complete rounds, then their empirical Pareto set."""
    n_arms, n_objectives = len(pulls), table.rows.shape[1] - 2
    keys = np.empty(n_arms, dtype=np.uint64)
    round_cost = 0.0
    for arm in range(n_arms):
        keys[arm] = _key(seed, replication, arm)
        round_cost += declared[arm]
    sums, latest = np.zeros((n_arms, n_objectives)), np.zeros((n_arms, n_objectives))
    spent, t, n_rounds, whole = 0.0, 0, 0, True
    while whole and spent + round_cost <= limit:
        latest[:] = sums
        for arm in range(n_arms):
            spent = _sample(
                arm, n_rounds + 1, table, keys, pulls, latest, declared, realised, spent, limit, arms, t
            )
            if pulls[arm] == n_rounds:
                whole = False
                break
            t += 1
        if whole:
            n_rounds += 1
            sums[:] = latest
    if n_rounds > 0:
        means, front = np.empty((n_arms, n_objectives)), np.empty(n_arms, dtype=np.int64)
        order = _sorted_by_mean(np.arange(n_arms), n_arms, sums, np.full(n_arms, n_rounds), means)
        for f in range(_fronts(order, n_arms, means, np.empty(n_arms), front)):
            returned[front[f]] = True
    return spent


@njit(cache=True, nogil=True)
def round_robin(p, limit, declared, realised, table, seed, replications, arms):
    """Play replications of uniform identification; arguments and results as in `eliminate`."""
    pulls = np.zeros((len(replications), len(declared)), dtype=np.int64)
    returned = np.zeros((len(replications), len(declared)), dtype=np.bool_)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        spent[r] = _round_robin(
            limit, declared, realised, table, seed, replications[r], pulls[r], returned[r], arms[r]
        )
    return pulls, spent, returned


IDENTIFICATION["UniformIdentification"] = Kernel(
    policies.UniformIdentification, round_robin, UniformParameters
)
