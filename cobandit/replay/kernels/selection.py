"""Compiled version of `OnlinePolicy`: round-robin, then the arm of the largest index.

The radius depends on T_B and not on the round t, so a pull changes only the index of
the pulled arm. A tournament tree keeps the arm of the largest index among affordable
arms. Expected costs are fixed, and the remaining budget only decreases. An unaffordable
arm therefore remains unaffordable, and the most expensive arms become so first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from cobandit.policies.asktell import AskTell
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiled_runs import compile_run
from cobandit.replay.kernels.formulas import register_formula
from cobandit.replay.kernels.streams import draw


@inner
def _tournament(n_arms):
    """Return ``values`` and ``winners`` of an empty tournament tree, shape (2 size,).

    The size is a power of two. Arm i is the leaf at node size + i. An inner node has
    the value and the arm of its better child; ties go to the left child, whose
    arm has the lower number. Node 1 has the best arm. Arms that do not take part have
    the value -inf.
    """
    size = 1
    while size < n_arms:
        size *= 2
    return np.full(2 * size, -np.inf), np.arange(2 * size) - size


@inner
def _play_all(values, winners):
    for node in range(len(values) // 2 - 1, 0, -1):
        left = 2 * node
        better = left if values[left] >= values[left + 1] else left + 1
        values[node] = values[better]
        winners[node] = winners[better]


@inner
def _play_again(values, winners, arm, value):
    """Change the value of an arm, update the nodes above, and return the best arm."""
    node = (len(values) >> 1) + arm
    values[node] = value
    # node ^ 1 is the sibling of a node, and node >> 1 its parent
    while node > 1:
        other = node ^ 1
        rival = values[other]
        if rival > value or (rival == value and other < node):
            value = rival
            arm = winners[other]
        node >>= 1
        values[node] = value
        winners[node] = arm
    return arm


@inner
def _select(p, terms, draws, seen, returned):
    """Run one replication, and fill the pulls and the record.

    Returns the cost spent, and False. (Only a run of `ParetoRace` can return True.)
    """
    rows, offsets, starts, _ = draws
    limit = terms.limit
    expected = terms.costs
    by_cost = terms.by_cost
    pulls, _, arms, charges = seen
    n_arms = len(pulls)
    sums = np.zeros((n_arms, rows.shape[1] - 1))
    squares = np.zeros((n_arms, sums.shape[1] if p.squares else 0))
    values, winners = _tournament(n_arms)
    leaves = values[len(values) // 2 :]
    affordable = np.ones(n_arms, dtype=np.bool_)

    # the row of the next pull of each arm, drawn long before it is read from memory
    next_rows = np.empty(n_arms, dtype=np.int64)
    for i in range(n_arms):
        next_rows[i] = offsets[i] + draw(starts[i], 0, offsets[i + 1] - offsets[i])

    n_turns = terms.n_init * n_arms
    turn = 0
    has_begun = False
    best = 0
    n_gone = 0
    t = 0
    spent = 0.0
    while True:
        while n_gone < n_arms and spent + expected[by_cost[n_gone]] > limit:
            arm = by_cost[n_gone]
            affordable[arm] = False
            if has_begun:
                best = _play_again(values, winners, arm, -np.inf)
            n_gone += 1
        if n_gone == n_arms:
            if t < len(arms):
                arms[t] = -1
            return spent, False

        # round-robin first, then the index decides
        if turn < n_turns:
            arm = turn % n_arms
            turn += 1
            if not affordable[arm]:
                continue
        else:
            if not has_begun:
                for i in range(n_arms):
                    if affordable[i]:
                        leaves[i] = p.call(pulls[i], i, sums, squares, p.numbers)
                _play_all(values, winners)
                best = winners[1]
                has_begun = True
            arm = best

        row = next_rows[arm]
        cost = rows[row, 0]
        if t < len(arms):
            arms[t] = arm
            charges[t] = cost
        # by the definition of T(B), the pull that crosses the budget does not count
        if spent + cost > limit:
            return spent, False

        spent += cost
        pulls[arm] += 1
        for d in range(sums.shape[1]):
            sums[arm, d] += rows[row, d + 1]
        for d in range(squares.shape[1]):
            squares[arm, d] += rows[row, d + 1] * rows[row, d + 1]
        next_rows[arm] = offsets[arm] + draw(
            starts[arm], pulls[arm], offsets[arm + 1] - offsets[arm]
        )
        t += 1
        if has_begun:
            index = p.call(pulls[arm], arm, sums, squares, p.numbers)
            best = _play_again(values, winners, arm, index)


_run_selection = compile_run(_select)
#: Types of four arguments: the number of pulls of an arm, the arm, and the sums and the
#: squares of all arms. Only this arm's rows are needed. Passing only them would create
#: arrays in every pull, whose reference counts would take a fifth of the time.
ARGUMENTS = types.int64, types.int64, types.float64[:, ::1], types.float64[:, ::1]


def _pass_numbers(formula, n_numbers):
    def index(n, arm, sums, squares, numbers):
        return formula(n, sums[arm], squares[arm], *numbers[:n_numbers])

    return index


def online_index(policy: type[AskTell], squares: bool = False) -> Callable[[Any], Any]:
    """Return a decorator that registers ``index(n, sums, squares, ...)`` for a policy.

    n is the number of pulls of an arm. ``sums`` (D + 1,) has the sum of its costs over
    the largest cost, then the sums of its rewards. ``squares`` has the sums of squares,
    and is empty unless ``squares=True``. Further arguments have the names of attributes
    of the policy, and get the values of these attributes.
    """
    return register_formula(
        policy, _run_selection, _pass_numbers, ARGUMENTS, 3, squares
    )
