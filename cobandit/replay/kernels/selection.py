"""Online selection: round-robin first, then the largest index among the affordable arms.

The radius depends on T_B and not on t, so a pull changes only the index of the arm that was pulled.  A
tournament tree keeps the winner.  Expected costs are fixed and what is left only shrinks, so an arm that
cannot be afforded stays out: the most expensive that is still in is the next to leave.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, log1p, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from cobandit import policies
from cobandit.policies.asktell import AskTell
from cobandit.policies.cohv_ucb import LEAST, MOST_STEPS, START, STEP
from cobandit.replay.kernels._cache import compiled, inner
from cobandit.replay.kernels.compiling import draw, keys, register_formula


class Tournament(NamedTuple):
    """Leaf i is arm i; an inner node is the better of its two children, the left (lower) arm on ties.

    ``value`` (2 size,) are the indices at the nodes, -inf outside; ``winner`` (2 size,) names the arms, the
    best of all at node 1; ``size`` is a power of two, and leaf i stands at node size + i.
    """

    value: np.ndarray
    winner: np.ndarray


@inner
def _tournament(n_arms):
    """Return a tournament in which nobody has played."""
    size = 1
    while size < n_arms:
        size *= 2
    value, winner = np.empty(2 * size), np.zeros(2 * size, dtype=np.int64)
    for node in range(2 * size):
        value[node], winner[node] = -np.inf, node - size
    return Tournament(value, winner)


@inner
def _play_all(tree):
    value, winner = tree
    for node in range(len(value) // 2 - 1, 0, -1):
        better = 2 * node if value[2 * node] >= value[2 * node + 1] else 2 * node + 1
        value[node], winner[node] = value[better], winner[better]


@inner
def _play_again(tree, arm, value):
    """Give an arm its new value and play its matches again; the best of all.

    The winner goes up from match to match, and is not looked up again.
    """
    values, winner = tree
    node = (len(values) >> 1) + arm
    values[node] = value
    while node > 1:
        other = node ^ 1
        rival = values[other]
        if rival > value or (rival == value and other < node):
            value, arm = rival, winner[other]
        node >>= 1
        values[node], winner[node] = value, arm
    return arm


class Tally(NamedTuple):
    """What one replication has seen of each arm: pulls (K,), sums (K, D + 1) of cost over the largest and
    of the objectives, and sums of their squares, without columns if the index reads none.
    """  # noqa: D205

    pulls: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


@inner
def _look_up(arm, seen, p):
    return p.call(seen.pulls[arm], seen.sums[arm], seen.squares[arm], p.numbers)


@inner
def _select(p, terms, feedback, starts, pulls, arms, charges):
    """One replication: fills ``pulls`` (K,) and, as long as they are, ``arms`` and ``charges``; the spend."""
    rows, offsets, _ = feedback
    limit, expected, by_cost, n_init = terms
    n_arms = len(pulls)
    sums = np.zeros((n_arms, rows.shape[1] - 1))
    squares = np.zeros((n_arms, sums.shape[1] if p.squares else 0))
    seen = Tally(pulls, sums, squares)
    tree = _tournament(n_arms)
    leaves = tree.value[len(tree.value) // 2 :]
    affordable = np.ones(n_arms, dtype=np.bool_)
    ahead = np.empty(n_arms, dtype=np.int64)  # the row of each arm's next pull, known before it is chosen
    for i in range(n_arms):
        ahead[i] = offsets[i] + draw(starts[i], 0, offsets[i + 1] - offsets[i])
    turns = n_init * n_arms  # of the round-robin, before the index decides

    spent, t, gone, turn, begun, best = 0.0, 0, 0, 0, False, 0
    while True:
        while gone < n_arms and spent + expected[by_cost[gone]] > limit:
            arm = by_cost[gone]
            affordable[arm] = False
            if begun:
                best = _play_again(tree, arm, -np.inf)
            gone += 1
        if gone == n_arms:
            if t < len(arms):
                arms[t] = -1
            return spent

        if turn < turns:
            arm = turn % n_arms
            turn += 1
            if not affordable[arm]:
                continue
        else:
            if not begun:
                for i in range(n_arms):
                    if affordable[i]:
                        leaves[i] = _look_up(i, seen, p)
                _play_all(tree)
                best = tree.winner[1]
                begun = True
            arm = best

        row = ahead[arm]
        cost = rows[row, 0]
        if t < len(arms):
            arms[t] = arm
            charges[t] = cost
        if spent + cost > limit:
            return spent  # the pull that crosses the budget is not counted: T(B)
        spent += cost
        pulls[arm] += 1
        for d in range(sums.shape[1]):
            sums[arm, d] += rows[row, d + 1]
        for d in range(squares.shape[1]):
            squares[arm, d] += rows[row, d + 1] * rows[row, d + 1]
        ahead[arm] = offsets[arm] + draw(starts[arm], pulls[arm], offsets[arm + 1] - offsets[arm])
        t += 1
        if begun:
            best = _play_again(tree, arm, _look_up(arm, seen, p))


@compiled
def select_online(p, terms, feedback, seed, replications, record):
    """Play replications of an online policy, which returns no set."""
    n_arms = len(terms.expected)
    pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        starts = keys(seed, replications[r], n_arms)
        spent[r] = _select(p, terms, feedback, starts, pulls[r], record.arms[r], record.charges[r])
    return pulls, spent, np.zeros(pulls.shape, dtype=np.bool_), np.zeros(len(pulls), dtype=np.bool_)


KNOWN = types.int64, types.float64[::1], types.float64[::1]


def _take(formula, size):
    def index(n, sums, squares, numbers):
        return formula(n, sums, squares, *numbers[:size])

    return index


def online_index(policy: type[AskTell], squares: bool = False) -> Callable[[Any], Any]:
    """Register ``index(n, sums, squares, ...)`` of an arm: its pulls, its sums, and attributes of the class.

    ``sums`` (D + 1,) adds up the cost over the largest, then the rewards; ``squares`` their squares, or is
    empty if the formula does not ask for them.
    """
    return register_formula(policy, select_online, _take, KNOWN, squares)


# ----------------------------------------------------------------------------- indices


@online_index(policies.HVUCB)
def _hv_ucb_index(n, sums, squares, log_term, reward_scale):
    radius, hypervolume = sqrt(log_term / n), 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + reward_scale * radius)
    return hypervolume


@online_index(policies.CoHVUCB)
def _cohv_ucb_index(n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio):
    cost = max(cost_ratio / 2, sums[0] / n - cost_scale * sqrt(log_term / n))
    return _hv_ucb_index(n, sums, squares, log_term, reward_scale) / cost


@online_index(policies.AccuracyCostUCB)
def _accuracy_cost_ucb_index(n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio, objective):
    radius = sqrt(log_term / n)
    reward = min(1.0, sums[1 + int(objective)] / n + reward_scale * radius)
    return reward / max(cost_ratio / 2, sums[0] / n - cost_scale * radius)


@online_index(policies.UniformAllocation)
def _uniform_allocation_index(n, sums, squares):
    return -float(n)


@inner
def _narrowed(radius, n, total, squares):
    """Radius of a mean, given the sum and the sum of squares behind it."""
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return min(radius, 2.0 * sqrt(variance) * radius + 6.0 * (radius * radius))


@online_index(policies.CoHVUCBV, squares=True)
def _cohv_ucb_v_index(n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio):
    radius = sqrt(log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + reward_scale * _narrowed(radius, n, sums[d], squares[d]))
    cost_radius = _narrowed(radius, n, sums[0], squares[0])
    return hypervolume / max(cost_ratio / 2, sums[0] / n - cost_scale * cost_radius)


@inner
def _cheapest(q, eta, lam):
    """Share z of the way from lambda to 1 that the optimistic cost is at."""
    square, linear = (1 - lam) * (eta - 1), (1 - lam) * (1 - eta * q) + eta * lam
    constant = eta * q * lam
    root = sqrt(max(0.0, linear * linear + 4 * square * constant))
    if linear < 0:
        return min(q, (root - linear) / (2 * square))
    return min(q, 2 * constant / (linear + root)) if constant > 0 else 0.0


@online_index(policies.CoHVKLUCB)
def _cohv_kl_ucb_index(n, sums, squares, log_term, cost_ratio):
    lam, coordinates = cost_ratio, len(sums)
    span = 1 - lam
    allowed = (log_term + coordinates / 2 * log(pi * (n + 0.5))) / n
    q = min(1.0, max(0.0, (sums[0] / n - lam) / span)) if span > 0 else 0.0
    eta = (coordinates - 1 + span / lam) / allowed
    spread = q * (1 - q) * (span / (lam + span * q)) ** 2
    for d in range(1, coordinates):
        spread += (n - sums[d]) / sums[d] if sums[d] > 0 else -inf
    if spread > 0 and sqrt(spread / (2 * allowed)) > START:
        eta = sqrt(spread / (2 * allowed))
    at, low, high = log(eta), LEAST, inf
    for _ in range(MOST_STEPS):
        eta = exp(at)
        value, slope = 0.0, 0.0
        for d in range(1, coordinates):
            r = sums[d] / n
            value += (1 - r) * log1p(1 / eta)
            if r > 0:
                value -= r * log1p((1 - r) / (r * (1 + eta)))
            slope -= (1 - r) / ((1 + eta * r) * (1 + eta))
        z = _cheapest(q, eta, lam)
        if q > z:
            value += q * log(q / z)
            if q < 1:
                value += (1 - q) * log((1 - q) / (1 - z))
            slope -= span * (q - z) / (span * (1 - 2 * z) + eta * (lam + span * z) - eta * (q - z) * span)
        if value > allowed:
            low = at
        else:
            high = at
        after = low
        if value > 0 and slope < 0:
            after = at - value * log(value / allowed) / slope
        if not low < after < high:
            after = (low + high) / 2 if high < inf else at + 1
        step = after - at
        at = after
        if abs(step) < STEP:
            break
    eta = exp(at)
    hypervolume = 1.0
    for d in range(1, coordinates):
        hypervolume *= (1 + eta * sums[d] / n) / (1 + eta)
    return hypervolume / (lam + span * _cheapest(q, eta, lam))
