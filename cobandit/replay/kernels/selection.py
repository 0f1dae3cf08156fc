"""Online selection: round-robin first, then the largest index among the affordable arms.

The radius depends on T_B and not on t, so a pull changes only the index of the arm that
was pulled.  A tournament tree keeps the winner.  Expected costs are fixed and what is
left only shrinks, so an arm that cannot be afforded stays out: the most expensive that
is still in is the next to leave.
"""

from collections.abc import Callable
from math import log, pi, sqrt
from typing import Any

import numpy as np
from numba import types

from cobandit import policies
from cobandit.policies.asktell import AskTell
from cobandit.policies.cohv_ucb import find_largest_efficiency
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiling import compile_run, draw, register_formula
from cobandit.theory.divergence import cheapest


@inner
def _tournament(n_arms):
    """Return a tournament in which nobody has played: the ``values`` (2 size,) and the ``winners`` (2 size,).

    Leaf i is arm i, and stands at node size + i, a power of two; an inner node is the
    better of its two children, the left (lower) arm on ties, and node 1 the best of
    all.  Values outside are -inf.
    """
    size = 1
    while size < n_arms:
        size *= 2
    return np.full(2 * size, -np.inf), np.arange(2 * size) - size


@inner
def _play_all(value, winner):
    for node in range(len(value) // 2 - 1, 0, -1):
        better = 2 * node if value[2 * node] >= value[2 * node + 1] else 2 * node + 1
        value[node], winner[node] = value[better], winner[better]


@inner
def _play_again(values, winner, arm, value):
    """Give an arm its new value and play its matches again; the best of all.

    The winner goes up from match to match, and is not looked up again.
    """
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


@inner
def _select(p, terms, draws, seen, returned):
    """One replication: fills pulls and record of ``seen``, and returns nobody; the spend, and False."""
    rows, offsets, starts, _ = draws
    limit, expected, by_cost = terms.limit, terms.costs, terms.by_cost
    pulls, _, arms, charges = seen
    n_arms = len(pulls)
    sums = np.zeros((n_arms, rows.shape[1] - 1))
    squares = np.zeros((n_arms, sums.shape[1] if p.squares else 0))
    values, winner = _tournament(n_arms)
    leaves = values[len(values) // 2 :]
    affordable = np.ones(n_arms, dtype=np.bool_)
    # the row of each arm's next pull, known before it is chosen
    ahead = np.empty(n_arms, dtype=np.int64)
    for i in range(n_arms):
        ahead[i] = offsets[i] + draw(starts[i], 0, offsets[i + 1] - offsets[i])
    turns = terms.n_init * n_arms  # of the round-robin, before the index decides

    spent, t, gone, turn, begun, best = 0.0, 0, 0, 0, False, 0
    while True:
        while gone < n_arms and spent + expected[by_cost[gone]] > limit:
            arm = by_cost[gone]
            affordable[arm] = False
            if begun:
                best = _play_again(values, winner, arm, -np.inf)
            gone += 1
        if gone == n_arms:
            if t < len(arms):
                arms[t] = -1
            return spent, False

        if turn < turns:
            arm = turn % n_arms
            turn += 1
            if not affordable[arm]:
                continue
        else:
            if not begun:
                for i in range(n_arms):
                    if affordable[i]:
                        leaves[i] = p.call(pulls[i], sums[i], squares[i], p.numbers)
                _play_all(values, winner)
                best = winner[1]
                begun = True
            arm = best

        row = ahead[arm]
        cost = rows[row, 0]
        if t < len(arms):
            arms[t] = arm
            charges[t] = cost
        if spent + cost > limit:
            return spent, False  # the pull that crosses the budget is not counted: T(B)
        spent += cost
        pulls[arm] += 1
        for d in range(sums.shape[1]):
            sums[arm, d] += rows[row, d + 1]
        for d in range(squares.shape[1]):
            squares[arm, d] += rows[row, d + 1] * rows[row, d + 1]
        ahead[arm] = offsets[arm] + draw(
            starts[arm], pulls[arm], offsets[arm + 1] - offsets[arm]
        )
        t += 1
        if begun:
            best = _play_again(
                values,
                winner,
                arm,
                p.call(pulls[arm], sums[arm], squares[arm], p.numbers),
            )


_run_selection = compile_run(_select)
KNOWN = types.int64, types.float64[::1], types.float64[::1]


def _take(formula, size):
    def index(n, sums, squares, numbers):
        return formula(n, sums, squares, *numbers[:size])

    return index


def online_index(policy: type[AskTell], squares: bool = False) -> Callable[[Any], Any]:
    """Register ``index(n, sums, squares, ...)`` of an arm: its pulls, its sums, and attributes of the class.

    ``sums`` (D + 1,) adds up the cost over the largest, then the rewards; ``squares``
    their squares, or is empty if the formula does not ask for them.
    """
    return register_formula(policy, _run_selection, _take, KNOWN, squares)


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
def _accuracy_cost_ucb_index(
    n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio, objective
):
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
        hypervolume *= min(
            1.0, sums[d] / n + reward_scale * _narrowed(radius, n, sums[d], squares[d])
        )
    cost_radius = _narrowed(radius, n, sums[0], squares[0])
    return hypervolume / max(cost_ratio / 2, sums[0] / n - cost_scale * cost_radius)


inner(cheapest)
inner(find_largest_efficiency)


@online_index(policies.CoHVKLUCB)
def _cohv_kl_ucb_index(n, sums, squares, log_term, cost_ratio):
    span = 1 - cost_ratio
    q = min(1.0, max(0.0, (sums[0] / n - cost_ratio) / span)) if span > 0 else 0.0
    allowed = (log_term + len(sums) / 2 * log(pi * (n + 0.5))) / n
    return find_largest_efficiency(sums[1:] / n, q, allowed, cost_ratio)
