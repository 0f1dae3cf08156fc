"""Theorem 2: checks of its steps, and of error bounds for identification."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from cobandit import theory
from cobandit.problem import Problem
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.concentration import difference_deviation, uniform_deviation
from companion.proofs.exact_errors import first_phase_error, shared_error, two_arm_error
from companion.proofs.simulated_errors import least_target_share, random_problems


@check("Theorem 2, Step 3: what every phase collects", "copsi")
def check_targets(seed: int) -> CheckResult:
    """Smallest ratio of N γ² to B / (2 L H) over all phases."""

    def starts(p: Problem) -> float:
        return 2 * theory.allocation_constant(p.n_arms, p.costs.min()) * p.complexity

    # two arms with H gamma^2 = C, at budgets just short of one more pull of each
    two_arms = Problem([[0.9], [0.05]], [1.0, 1.0])
    problems = random_problems(4, seed)
    cases = [
        (two_arms, b)
        for b in 3.0 * np.arange(2, 7) * (1 - 1e-6)
        if b >= starts(two_arms)
    ]
    size = (
        f"{len(cases)} budgets for a gap of {two_arms.classification_gaps[0]:g};"
        f" {len(problems)} random problems"
    )
    cases += [(p, starts(p)) for p in problems]
    smallest = min(least_target_share(p, budget, seed) for p, budget in cases)
    return CheckResult(
        size, f"at least {smallest:.3g}", {"2 ÷": lambda factor: factor <= smallest}
    )


def compare_deviations(
    deviation: Callable[..., tuple[float, float]], cases: list[tuple[Any, ...]]
) -> CheckResult:
    """Check exact probabilities of deviations against a bound of the form 2 exp(-x).

    The slack is measured for the factor in front of the bound and for the constant in
    its exponent.
    """
    exact, bound = np.array([deviation(*case) for case in cases]).T
    return CheckResult(
        f"{len(cases)} cases",
        f"at most {(exact / bound).max():.2g} of the bound",
        {
            "2 in front ÷": below(exact, bound),
            "exponent ×": below(exact, lambda factor: 2 * (bound / 2) ** factor),
        },
    )


@check("Theorem 2, Step 4: concentration at adaptive targets", "copsi")
def check_concentration(seed: int) -> CheckResult:
    """Exact probability that a running mean deviates after N draws."""
    cases = [
        (0.5, 100, 0.06),
        (0.5, 100, 0.12),
        (0.5, 200, 0.15),
        (0.2, 50, 0.15),
        (0.9, 100, 0.1),
    ]
    return compare_deviations(uniform_deviation, cases)


@check("Concentration of differences", "copsi", ours=True)
def check_differences(seed: int) -> CheckResult:
    """Exact probability that a difference of running means deviates after N draws."""
    cases = [
        (0.5, 0.5, 100, 0.09),
        (0.5, 0.5, 100, 0.2),
        (0.6, 0.4, 100, 0.2),
        (0.9, 0.3, 40, 0.3),
    ]
    return compare_deviations(difference_deviation, cases)


def ties_to_tiny(largest_budget: float, allocation: float = 1.5) -> pd.DataFrame:
    """Return exact errors of CoPSI on three pairs of arms, at several budgets.

    In the first pair, equal empirical means are frequent. The difference of the means
    is large in the second pair, and small in the third.
    """
    cases: list[tuple[float, float, Iterable[float]]] = [
        (0.02, 0.01, [3.0, 6.0]),
        (0.8, 0.2, np.geomspace(3, largest_budget, 20)),
        (0.55, 0.45, np.geomspace(3e3, 6e4, 6)),
    ]
    rows = []
    for better, worse, budgets in cases:
        H = theory.cost_complexity([better - worse] * 2, [1.0, 1.0])
        rows += [
            (b, allocation, H, two_arm_error(better, worse, b, allocation=allocation))
            for b in budgets
        ]
    return pd.DataFrame(rows, columns=["budget", "allocation", "complexity", "error"])


def compare_errors(
    exact: pd.DataFrame,
    bound: Callable[..., float],
    exponent: str,
    front: str,
    **options: Any,
) -> CheckResult:
    """Check exact errors on two arms against a bound of the form a exp(-B / b).

    The slack is measured for both constants, ``front`` (a) and ``exponent`` (b).
    """

    def all_bounds(factor: float = 1.0) -> Floats:
        cases = (
            exact.drop(columns="error")
            .assign(budget=factor * exact["budget"])
            .to_dict("records")
        )
        return np.array(
            [
                bound(n_arms=2, n_objectives=1, **options, **case)  # type: ignore[arg-type]
                for case in cases
            ]
        )

    values = all_bounds()
    error = exact["error"].to_numpy() - SLACK
    ratio = (error / values)[values < 1].max(initial=0)
    return CheckResult(
        f"{len(exact)} budgets to {exact['budget'].max():,.0f}",
        f"at most {ratio:.2g} of a bound below one",
        {f"{exponent} ÷": below(error, all_bounds), f"{front} ÷": below(error, values)},
        informative=bool((values < 1).any()),
    )


@check("Theorem 2: error probability", "copsi")
def check_error(seed: int) -> CheckResult:
    """Exact error of CoPSI on each of three pairs of arms."""
    exact = ties_to_tiny(12_000).drop(columns="allocation")
    return compare_errors(
        exact, theory.identification_error_bound, "256", "2K²D", cost_ratio=1.0
    )


@check("Abstract: error O(exp(−B/H))", "errata")
def check_exponent(seed: int) -> CheckResult:
    """Exact lower bound on the error with L*, if 13 of 14 arms are equal."""
    costs = np.ones(14)
    means = (0.55, 0.45)
    budgets = np.array([7e4, 1.4e5])
    L = theory.exact_allocation_constant(costs)
    H = theory.cost_complexity([means[0] - means[1]] * 14, costs)
    errors = [first_phase_error(*means, 14, budget, allocation=L) for budget in budgets]
    slope = float(-np.diff(np.log(errors))[0] / np.diff(budgets)[0] * H)
    finding = f"log error falls by {slope:.2f} per B/H, where the claim asks for 1"
    return CheckResult(
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}", finding, {}, holds=slope >= 1
    )


@check("Error probability by differences", "copsi", ours=True)
def check_difference_error(seed: int) -> CheckResult:
    """Exact error of CoPSI and of its adaptive form on two arms."""
    # the printed constant, and the exact one, which equals the adaptive one on two arms
    constants = (1.5, 1.0)
    exact = pd.concat(
        [ties_to_tiny(600, constant) for constant in constants], ignore_index=True
    )
    return compare_errors(exact, bounds.difference_error_bound, "16", "K(K−1)²D")


@check("Error probability by variances of pairs, instances shared", "copsi", ours=True)
def check_variance_error(seed: int) -> CheckResult:
    """Exact error on two arms that are evaluated on the same instances."""
    rows = []
    for better, worse in (
        (0.1, 0.0),
        (0.06, 0.02),
        (0.3, 0.2),
        (0.51, 0.49),
        (0.9, 0.05),
    ):
        gap = better - worse
        variance = better + worse - (better - worse) ** 2
        H = bounds.variance_complexity([gap, gap], [1.0, 1.0], variance)
        largest = 40_000 if gap < 0.05 else 4000
        sizes = np.unique(np.geomspace(1, largest, 12).astype(int))
        for n in sizes.tolist():
            rows.append((2.0 * n, 1.0, H, shared_error(better, worse, n)))

    exact = pd.DataFrame(rows, columns=["budget", "allocation", "complexity", "error"])
    return compare_errors(
        exact, bounds.variance_error_bound, "32σ² + 16γ/3", "K(K−1)²D"
    )
