"""Corollary 1: what the best policy earns within a budget, and how many pulls a budget holds, exactly."""

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation, theory
from cobandit.errors import CobanditError
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.optimism import adversarial_pulls, worst_problems


# ----------------------------------------------------------------------------- what a budget earns
def optimal_utility(
    utilities: ArrayLike,
    costs: ArrayLike,
    probabilities: ArrayLike,
    budget: int,
    *,
    boundary: bool = False,
) -> Floats:
    r"""Largest expected total utility :math:`R_b^\star` of any adaptive policy, for every budget b up to B.

    Bellman's equation over what is left: a pull of arm i costs :math:`c_{is}` with
    probability :math:`p_{is}` and, if it fits, earns :math:`u_{is}`,

    .. math::

        V(b) = \max_i \sum_s p_{is}\, \mathbb 1\{c_{is} \le b\} \bigl(u_{is} + V(b - c_{is})\bigr).

    With ``boundary`` the pull that crosses the budget still earns its utility and ends
    the run. A single arm gives the value of "always this arm"; utilities equal to the
    costs give the expected spend.

    Parameters
    ----------
    utilities : array_like, shape (K,) or (K, S)
        What a pull earns: :math:`H_i`, or one value for each of the S possible costs.
    costs : array_like of int, shape (K, S)
        Possible costs of each arm in steps of the grid, >= 1.
    probabilities : array_like, shape (K, S)
        Of these costs; each row sums to one.  Zeros fill up arms with fewer costs.
    budget : int
        B in steps of the grid.
    boundary : bool

    Returns
    -------
    ndarray, shape (B + 1,)
        V(0), ..., V(B).  Time O(B K S).

    Raises
    ------
    CobanditError
        If a cost is not a positive whole number, or a row is not a distribution over
        the costs.

    Examples
    --------
    The dense arm leaves a remainder that only the other can use.

    >>> optimal_utility([3.0, 4.0], [[2], [3]], [[1.0], [1.0]], budget=5)
    array([0., 0., 3., 4., 6., 7.])
    """
    given = _validation.numbers(costs, "costs", 2)
    chances = np.asarray(probabilities, dtype=np.float64)
    steps = given.astype(np.int64)
    gains = np.asarray(utilities, dtype=np.float64).reshape(len(given), -1)
    if (steps < 1).any() or (steps != given).any():
        raise CobanditError(
            "costs: whole numbers of grid steps, at least 1, are needed"
        )
    if (
        chances.shape != steps.shape
        or (chances < 0).any()
        or not np.allclose(chances.sum(axis=1), 1)
    ):
        raise CobanditError(
            "probabilities: a distribution over the costs of each arm is needed"
        )

    value = np.zeros(budget + 1)
    for b in range(budget + 1):
        fits = steps <= b
        after = np.where(fits, value[np.where(fits, b - steps, 0)], 0.0)
        earned = np.where(fits | boundary, gains, 0.0)
        value[b] = (chances * (earned + after)).sum(axis=1).max()

    return value


# ----------------------------------------------------------------------------- what a budget holds
def completed_pulls(costs: ArrayLike, budget: float) -> tuple[int, int]:
    r"""Count pulls by the definition, :math:`T(B) = \max\{t : C_t \le B\}`, and by the loop of Algorithm 1.

    The loop pulls while the costs so far are at most B, so that it ends with the first
    pull that crosses B.

    Parameters
    ----------
    costs : array_like, shape (T,)
        Costs of the pulls in their order; together more than ``budget``.
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
    r"""Compute one arm's expected pulls and spend, random costs in whole units, by recursion.

    Optional stopping would make the expected spend equal to the mean cost times the
    expected number of pulls. It does for the first pull that crosses the budget, which
    is a stopping time, and not for T(B), which is known only one pull later.

    Parameters
    ----------
    units : array_like of int, shape (n,)
        Values of the cost, >= 1.
    chances : array_like, shape (n,)
        Their probabilities.
    budget : int
        B, in the same units.

    Returns
    -------
    dict
        ``mean_cost``; ``pulls`` and ``spend``, expected up to T(B); ``crossing_pulls``
        and ``crossing_spend``, expected with the pull that crosses.

    Examples
    --------
    Costs of 1 or 2 with even chances and B = 2: one pull if a 2 comes first or second, else two.

    >>> expected_stopping([1, 2], [0.5, 0.5], budget=2)["pulls"]
    1.25
    """
    units = np.asarray(units)
    chances = np.asarray(chances)
    one = ([units], [chances], budget)
    found = {"mean_cost": float(units @ chances)}
    for name, boundary in (("", False), ("crossing_", True)):
        found[f"{name}pulls"] = float(
            optimal_utility([1.0], *one, boundary=boundary)[-1]
        )
        found[f"{name}spend"] = float(
            optimal_utility([units], *one, boundary=boundary)[-1]
        )
    return found


# ----------------------------------------------------------------------------- checks
@check("Lemma 1: no policy earns more than ν*(B + 1)", "standard-regret")
def check_benchmark(seed: int) -> CheckResult:
    """Best adaptive policy by dynamic programming, crossing pull included."""
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

    completed, crossing, most = np.array(gains).swapaxes(0, 1)
    alone, above = (float((earned - budgets).max()) for earned in (completed, crossing))
    return CheckResult(
        f"{problems} problems, {reach} budgets each",
        f"earns up to ν*(B + {above:.3f}); completed pulls alone up to ν*(B +"
        f" {alone:.3f})",
        {
            "1 in B + 1 ÷": below(
                np.maximum(completed, crossing), lambda by: most - (1 - 1 / by) + SLACK
            )
        },
    )


@check("Proof of Corollary 1: optional sampling at T(B)", "standard-regret")
def check_identity(seed: int) -> CheckResult:
    """Mean costs times expected pulls less expected spend, exact."""
    e = expected_stopping([1, 10], [0.5, 0.5], 100)  # in tenths of the largest cost
    at = (e["mean_cost"] * e["pulls"] - e["spend"]) / 10
    later = (e["mean_cost"] * e["crossing_pulls"] - e["crossing_spend"]) / 10
    says = f"they differ by {abs(at):.3f} at T(B), by {abs(later):.3f} one pull later"
    return CheckResult(
        "one arm, costs 0.1 or 1, B = 10", says, {}, holds=abs(at) <= SLACK
    )


@check("Corollary 1: standard regret", "standard-regret")
def check_standard_regret(seed: int) -> CheckResult:
    """Best that the budget can earn less what the best arm alone earns; regret of the worst path."""
    grid = 100
    rounds = 3

    # one step short of another pull of the best arm, which costs one
    b = rounds * grid - 1
    steps = [[grid], [1]]
    gains = [1.0, 0.9999 / grid]
    most = optimal_utility(gains, steps, [[1.0], [1.0]], b, boundary=True)[-1]

    # in units of nu*, which is one
    end = float(most - optimal_utility(gains[:1], steps[:1], [[1.0]], b)[-1])
    (problem, lam) = worst_problems()[-4]
    budget = 1e10
    gaps = problem.efficiency_gaps
    best = float(problem.efficiency.max())
    other = int(gaps.argmax())
    made = adversarial_pulls(problem, other, cost_ratio=lam, budget=budget)
    least = problem.costs[other] * gaps[other] * made - best
    bound = theory.standard_regret_bound(
        gaps, problem.costs, best, n_objectives=1, cost_ratio=lam, budget=budget
    )
    no_waste = theory.standard_regret_bound(
        [0, 0], [1, 1], 1.0, n_objectives=1, cost_ratio=1.0, budget=3.0
    )
    return CheckResult(
        f"B = {b / grid:g}; two arms, B = {budget:.0e}",
        f"end of the run up to {end:.3f} ν*; waste {least:,.3g} of the {bound:,.3g}"
        " allowed",
        {
            "2ν* ÷": below(end, no_waste),
            "4αC² ÷": below(least - 2 * best, bound - 2 * best),
        },
        informative=bound < best * budget,
    )


@check(
    "Completed pulls cost B − 1 to B + 1 − λ, and earn ν* times that",
    "standard-regret",
    ours=True,
)
def check_completed(seed: int) -> CheckResult:
    """Mean costs of one arm's completed pulls, exact; with mean cost as utility also what they earn."""
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
    fixed = 3 - 1 / tiny  # holds two pulls at a cost of one each
    low = bounds.counted_cost_bounds(fixed, 1 / tiny)[0]
    return CheckResult(
        f"λ = {1 / tiny:g}, {reach:,} budgets; a fixed cost of one",
        f"from B − {fixed - 2:.4f} to B + {above.max():.3f}",
        {
            "1 in B − 1 ÷": lambda by: fixed - (fixed - low) / by <= 2,
            "1 − λ ÷": below(above - SLACK, all_bounds - budgets),
        },
    )
