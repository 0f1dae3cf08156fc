"""Short checks of the paper's remarks about its definitions and bounds."""

from math import inf, log
from typing import Any

import numpy as np

import cobandit as cb
from cobandit import theory
from companion.proofs.checks import SLACK, CheckResult, below, check

#: A case of Theorem 1 in which the logarithmic term dominates the bound.
CASE: dict[str, Any] = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 0.5}


@check("Section 4.1: T_B bounds the number of pulls", "cohv-ucb")
def check_horizon(seed: int) -> CheckResult:
    """Number of completed pulls at random costs, and at the smallest cost."""
    rng = np.random.default_rng(seed)
    pulls = []
    all_bounds = []
    for _ in range(500):
        cost_ratio = rng.uniform(0.05, 1)
        budget = rng.uniform(1, 30)
        for sequence in (rng.uniform(cost_ratio, 1, 700), np.full(700, cost_ratio)):
            pulls.append(int((np.cumsum(sequence) <= budget).sum()))
            all_bounds.append(theory.horizon(budget, cost_ratio))

    # Algorithm 1 also makes the pull that crosses the budget
    crossing = np.array(pulls) + 1
    return CheckResult(
        f"{len(pulls):,} sequences of costs",
        f"at most {np.max(crossing / np.array(all_bounds)):.3f} of T_B, the crossing"
        " pull included",
        {"T_B ÷": below(crossing, np.array(all_bounds))},
    )


@check("Section 4.1: the dependence on budget and gap", "cohv-ucb")
def check_dependence(seed: int) -> CheckResult:
    """Bound on the pulls at a hundredth of the gap, and at the squared budget."""
    bound = theory.pull_bound
    budget = 1e4
    by_gap = bound(1e-5, budget=budget, **CASE) / bound(1e-3, budget=budget, **CASE)

    horizons = [
        log(theory.horizon(value, CASE["cost_ratio"])) for value in (budget, budget**2)
    ]
    by_budget = bound(1e-3, budget=budget**2, **CASE) / bound(
        1e-3, budget=budget, **CASE
    )
    expected = horizons[1] / horizons[0]
    grown = f"{by_budget:.3f} times at {expected:.3f} times log T_B"
    return CheckResult(
        "two gaps, two budgets",
        f"{by_gap:,.0f} times at a hundredth of the gap; {grown}",
        {},
        holds=bool(
            np.isclose(by_gap, 1e4, rtol=1e-3)
            and np.isclose(by_budget, expected, rtol=1e-3)
        ),
    )


@check("Section 3.2: a gap of zero is not well posed", "copsi")
def check_zero_gap(seed: int) -> CheckResult:
    """Share of runs that find both of two equal arms on the front."""
    rng = np.random.default_rng(seed)
    right = []
    means = np.full((2, 1), 0.5)
    for n in (10, 100, 1_000, 10_000):
        drawn = rng.binomial(n, 0.5, size=(2_000, 2, 1)) / n
        right.append(
            float(np.mean([cb.pareto_mask(estimates).all() for estimates in drawn]))
        )

    complexity = theory.cost_complexity(cb.classification_gaps(means), [1.0, 1.0])
    return CheckResult(
        "two equal arms, 2,000 runs at each of four sizes",
        f"both are found in {right[0]:.3f} of the runs with 10 evaluations, in"
        f" {right[-1]:.3f} with 10,000",
        {},
        holds=bool(
            complexity == inf
            and right == sorted(right, reverse=True)
            and right[-1] < 0.02
        ),
    )


def reached_targets(finder: cb.CoPSI) -> list[int]:
    """Return the sampling target of each phase of a finished run of CoPSI."""
    return [phase.target for phase in finder.phases]


@check("Theorem 2, Step 2: targets never decrease", "copsi")
def check_targets(seed: int) -> CheckResult:
    """Targets of CoPSI's phases, on random arms and costs."""
    rng = np.random.default_rng(seed)
    smallest = inf
    for _ in range(60):
        n_arms = int(rng.integers(2, 8))
        finder = cb.CoPSI(rng.uniform(0.1, 1, n_arms), float(rng.uniform(30, 90)), 2)
        while (arm := finder.ask()) is not None:
            finder.tell(arm, rng.integers(0, 2, 2))
        smallest = min([smallest, *np.diff(reached_targets(finder))])

    return CheckResult(
        "60 runs to 7 arms",
        f"the smallest step is {smallest:g}",
        {},
        holds=bool(smallest >= 0),
    )


def _standard(n_arms: int) -> float:
    """Return the constant of successive rejects, for equal costs."""
    return 0.5 + sum(1 / k for k in range(2, n_arms + 1))


@check("After Theorem 2: unit costs recover the standard rate", "copsi")
def check_unit_costs(seed: int) -> CheckResult:
    """CoPSI's constant at unit costs, minus the constant of successive rejects."""
    arms = np.arange(2, 200)
    differences = np.array(
        [theory.allocation_constant(int(k), 1.0) - _standard(int(k)) for k in arms]
    )
    return CheckResult(
        f"{len(arms)} numbers of arms",
        f"it is larger by {differences.max():.3f} throughout, so that the rates agree"
        " up to constants",
        {},
        holds=bool((abs(differences - 0.5) <= SLACK).all()),
    )


@check("Abstract, Section 6: identical costs recover the standard rate", "errata")
def check_identical_costs(seed: int) -> CheckResult:
    """CoPSI's constant for 14 arms of equal cost, at three costs."""
    by_cost = {cost: theory.allocation_constant(14, cost) for cost in (1.0, 0.5, 0.1)}
    constants = ", ".join(
        f"{constant:.2f} at costs of {cost:g}" for cost, constant in by_cost.items()
    )
    return CheckResult(
        "14 arms at three common costs",
        f"L is {constants}, although the problem is the same: costs have to be divided"
        " by the largest first",
        {},
        holds=bool(max(by_cost.values()) - min(by_cost.values()) <= SLACK),
    )
