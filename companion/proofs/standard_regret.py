"""Checks of Lemma 1 and Corollary 1, with the exact utility of the best policy."""

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation, theory
from cobandit.errors import CobanditError
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.worst_paths import adversarial_pulls, worst_problems


def optimal_utility(
    utilities: ArrayLike,
    costs: ArrayLike,
    probabilities: ArrayLike,
    budget: int,
    *,
    boundary: bool = False,
) -> Floats:
    r"""Return the largest expected utility of any policy, for every budget up to B.

    The utility :math:`R_b^\star` solves Bellman's equation over the remaining budget b.
    A pull of arm i costs :math:`c_{is}` with probability :math:`p_{is}`, and earns
    :math:`u_{is}` if this cost fits into the budget:

    .. math::

        V(b) = \max_i \sum_s p_{is}\, \mathbb 1\{c_{is} \le b\}
            \bigl(u_{is} + V(b - c_{is})\bigr).

    With ``boundary``, the pull that crosses the budget and ends the run also earns its
    utility. For a single arm, the result is the value of pulling it until the end. If
    the utility of a pull is its cost, the result is the largest expected spending.

    Parameters
    ----------
    utilities : array_like, shape (K,) or (K, S)
        Utility of a pull: :math:`H_i`, or one value per possible cost.
    costs : array_like of int, shape (K, S)
        Possible costs of each arm in steps of the grid, >= 1.
    probabilities : array_like, shape (K, S)
        Probabilities of these costs. Each row sums to one. Rows of arms with fewer
        costs are padded with zeros.
    budget : int
        B in steps of the grid.
    boundary : bool

    Returns
    -------
    ndarray, shape (B + 1,)
        V(0), ..., V(B). Time O(B K S).

    Raises
    ------
    CobanditError
        If a cost is not a positive integer, or a row is not a distribution over the
        costs.

    Examples
    --------
    The first arm has more utility per cost, but two pulls of it leave 1 of B = 5
    unspent. One pull of each arm spends the whole budget, and earns 7.

    >>> optimal_utility([3.0, 4.0], [[2], [3]], [[1.0], [1.0]], budget=5)
    array([0., 0., 3., 4., 6., 7.])
    """
    cost_values = _validation.numbers(costs, "costs", 2)
    chances = np.asarray(probabilities, dtype=np.float64)
    steps = cost_values.astype(np.int64)
    gains = np.asarray(utilities, dtype=np.float64).reshape(len(cost_values), -1)
    if (steps < 1).any() or (steps != cost_values).any():
        raise CobanditError(
            "costs must be positive integers",
            argument="costs",
            code="not-grid-steps",
        )
    if (
        chances.shape != steps.shape
        or (chances < 0).any()
        or not np.allclose(chances.sum(axis=1), 1)
    ):
        raise CobanditError(
            "probabilities must have the shape of costs, be non-negative, and sum to"
            " one in each row",
            argument="probabilities",
            code="not-a-distribution",
        )

    value = np.zeros(budget + 1)
    for b in range(budget + 1):
        fits = steps <= b
        after = np.where(fits, value[np.where(fits, b - steps, 0)], 0.0)
        utility = np.where(fits | boundary, gains, 0.0)
        value[b] = (chances * (utility + after)).sum(axis=1).max()

    return value


def completed_pulls(costs: ArrayLike, budget: float) -> tuple[int, int]:
    r"""Count the pulls of a run by the definition of T(B), and by Algorithm 1's loop.

    The definition is :math:`T(B) = \max\{t : C_t \le B\}`, where :math:`C_t` is the
    total cost of the first t pulls. The loop continues while the total cost is at most
    B, so it also counts the pull that crosses B.

    Parameters
    ----------
    costs : array_like, shape (T,)
        Costs of the pulls in order, with a sum above ``budget``.
    budget : float

    Returns
    -------
    by_definition, by_loop : int

    Examples
    --------
    >>> completed_pulls([0.5, 0.5, 0.5], budget=1.0)
    (2, 3)
    """
    total = np.cumsum(_validation.numbers(costs, "costs", 1))
    by_definition = int((total <= budget).sum())
    by_loop = 0
    spent = 0.0
    while spent <= budget:
        spent = float(total[by_loop])
        by_loop += 1
    return by_definition, by_loop


def expected_stopping(
    units: ArrayLike, chances: ArrayLike, budget: int
) -> dict[str, float]:
    r"""Return the expected pulls and the expected total cost of a run with one arm.

    Costs are random integers. By Wald's identity, at a stopping time, the expected
    total cost equals the mean cost times the expected number of pulls. The number of
    the pull that crosses the budget is a stopping time. T(B), the number of completed
    pulls, is not a stopping time, because it is known only after the next pull.

    Parameters
    ----------
    units : array_like of int, shape (n,)
        Values of the cost, >= 1.
    chances : array_like, shape (n,)
        Probabilities of the values.
    budget : int
        B, in the same units.

    Returns
    -------
    dict
        ``mean_cost``; ``pulls`` and ``spend``, the expected values up to T(B);
        ``crossing_pulls`` and ``crossing_spend``, the expected values including the
        pull that crosses the budget.

    Examples
    --------
    With equally likely costs of 1 and 2 and B = 2, there are two pulls if both cost 1.

    >>> expected_stopping([1, 2], [0.5, 0.5], budget=2)["pulls"]
    1.25
    """
    units = np.asarray(units)
    chances = np.asarray(chances)
    arm = ([units], [chances], budget)
    expected = {"mean_cost": float(units @ chances)}
    for name, boundary in (("", False), ("crossing_", True)):
        expected[f"{name}pulls"] = float(
            optimal_utility([1.0], *arm, boundary=boundary)[-1]
        )
        expected[f"{name}spend"] = float(
            optimal_utility([units], *arm, boundary=boundary)[-1]
        )
    return expected


@check("Lemma 1: no policy earns more than ν*(B + 1)", "standard-regret")
def check_benchmark(seed: int) -> CheckResult:
    """Utility of the best policy, by dynamic programming."""
    rng = np.random.default_rng(seed)
    problems = 30
    reach = 60
    grid = 20
    gains = []
    budgets = np.arange(1, reach + 1) / grid
    for number in range(problems):
        K = int(rng.integers(1, 4))
        costs = rng.integers(2, grid + 1, (K, 2))
        p = rng.random(K)
        utilities = rng.random(K)
        if number == 0:
            costs[:] = grid  # a fixed cost of one
        chances = np.column_stack([p, 1 - p])
        best = float((utilities / (costs / grid * chances).sum(axis=1)).max())
        problem = utilities, costs, chances, reach
        earned = [
            optimal_utility(*problem, boundary=last)[1:] / best
            for last in (False, True)
        ]
        gains.append(
            [*earned, [theory.optimal_utility_bound(best, b) / best for b in budgets]]
        )

    completed, crossing, bound = np.array(gains).swapaxes(0, 1)
    alone, above = (float((earned - budgets).max()) for earned in (completed, crossing))
    return CheckResult(
        f"{problems} problems, {reach} budgets each",
        f"earns up to ν*(B + {above:.3f}); completed pulls alone up to ν*(B +"
        f" {alone:.3f})",
        {
            "1 in B + 1 ÷": below(
                np.maximum(completed, crossing),
                lambda factor: bound - (1 - 1 / factor) + SLACK,
            )
        },
    )


@check("Proof of Corollary 1: optional sampling at T(B)", "standard-regret")
def check_identity(seed: int) -> CheckResult:
    """Exact mean cost times expected pulls, minus expected total cost."""
    # costs in tenths of the largest cost
    expected = expected_stopping([1, 10], [0.5, 0.5], 100)
    difference = (expected["mean_cost"] * expected["pulls"] - expected["spend"]) / 10
    difference_later = (
        expected["mean_cost"] * expected["crossing_pulls"] - expected["crossing_spend"]
    ) / 10
    finding = (
        f"they differ by {abs(difference):.3f} at T(B), by"
        f" {abs(difference_later):.3f} one pull later"
    )
    return CheckResult(
        "one arm, costs 0.1 or 1, B = 10", finding, {}, holds=abs(difference) <= SLACK
    )


@check("Corollary 1: standard regret", "standard-regret")
def check_standard_regret(seed: int) -> CheckResult:
    """Loss of pulling only the best arm; standard regret on the worst path."""
    grid = 100
    rounds = 3

    # the budget is one step short of another pull of the best arm, which costs one
    b = rounds * grid - 1
    steps = [[grid], [1]]
    gains = [1.0, 0.9999 / grid]
    best_value = optimal_utility(gains, steps, [[1.0], [1.0]], b, boundary=True)[-1]

    # in units of nu*, which is one
    end = float(best_value - optimal_utility(gains[:1], steps[:1], [[1.0]], b)[-1])
    (problem, lam) = worst_problems()[-4]
    budget = 1e10
    gaps = problem.efficiency_gaps
    best = float(problem.efficiency.max())
    worst_arm = int(gaps.argmax())
    pulls = adversarial_pulls(problem, worst_arm, cost_ratio=lam, budget=budget)
    waste = problem.costs[worst_arm] * gaps[worst_arm] * pulls - best
    bound = theory.standard_regret_bound(
        gaps, problem.costs, best, n_objectives=1, cost_ratio=lam, budget=budget
    )
    no_waste = theory.standard_regret_bound(
        [0, 0], [1, 1], 1.0, n_objectives=1, cost_ratio=1.0, budget=3.0
    )
    return CheckResult(
        f"B = {b / grid:g}; two arms, B = {budget:.0e}",
        f"end of the run up to {end:.3f} ν*; waste {waste:,.3g} of the {bound:,.3g}"
        " allowed",
        {
            "2ν* ÷": below(end, no_waste),
            "4αC² ÷": below(waste - 2 * best, bound - 2 * best),
        },
        informative=bound < best * budget,
    )


@check(
    "Completed pulls cost B − 1 to B + 1 − λ, and earn ν* times that",
    "standard-regret",
    ours=True,
)
def check_completed(seed: int) -> CheckResult:
    """Exact expected cost and utility of the completed pulls of one arm."""
    tiny = 10_000
    chance = 0.03
    reach = 2000
    earned = optimal_utility([1.0], [[1, tiny]], [[1 - chance, chance]], reach)[1:]
    budgets = np.arange(1, reach + 1) / tiny
    mean = (1 - chance) / tiny + chance
    all_bounds = np.array(
        [bounds.completed_utility_bound(1.0, b, 1 / tiny) for b in budgets]
    )

    above = earned * mean - budgets
    fixed = 3 - 1 / tiny  # enough for two pulls at cost one
    low = bounds.counted_cost_bounds(fixed, 1 / tiny)[0]
    return CheckResult(
        f"λ = {1 / tiny:g}, {reach:,} budgets; a fixed cost of one",
        f"from B − {fixed - 2:.4f} to B + {above.max():.3f}",
        {
            "1 in B − 1 ÷": lambda factor: fixed - (fixed - low) / factor <= 2,
            "1 − λ ÷": below(above - SLACK, all_bounds - budgets),
        },
    )
