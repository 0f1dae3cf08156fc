"""Constants and bounds: by hand and against formulas written again."""

from math import ceil, exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit import theory
from cobandit.errors import CobanditError
from companion import bounds

budgets = st.floats(1, 1e8)
lambdas = st.floats(1e-4, 1)
alphas = st.floats(0.6, 4)
sizes = st.integers(2, 50)
objectives = st.integers(1, 6)
positive_gaps = st.floats(1e-3, 10)


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        (theory.horizon(10.1, 0.5), 22),
        # lambda = 1/2: (2 + 4 + 2) / (1/2 * 2) = 8
        (bounds.ratio_leading_constant(2, cost_ratio=0.5), 64),
        # every pull costs 1/2, and 2 nu = 3
        (
            theory.standard_regret_bound(
                [0.5, 0], [0.5, 1], 1.5, n_objectives=1, cost_ratio=0.5, budget=49.5
            ),
            # T = 100, C = 8 + 16 = 24: 3 + 0.25 * (1 + ceil(8 * 576 * 4.60517 / 0.25 =
            # 84882.50) + 8 / 100^2)
            3 + 0.25 * (84884 + 0.0008),
        ),
        (theory.allocation_constant(3, 0.25), 37 / 15),
        # L = 3/2: 2 * 4 * 1 * exp(-768 / (256 * 1.5 * 2))
        (
            theory.identification_error_bound(
                768, n_arms=2, n_objectives=1, cost_ratio=1, complexity=2
            ),
            8 / np.e,
        ),
        # L = 3/2: 3 * 2^2 * 2 * exp(1/16 - 48 / (16 * 1.5 * 2))
        (
            bounds.difference_error_bound(
                48, n_arms=3, n_objectives=2, allocation=1.5, complexity=2
            ),
            24 * exp(1 / 16 - 1),
        ),
    ],
    ids=lambda value: f"{value:g}",
)
def test_values_match_a_hand_calculation(value, by_hand):
    assert value == pytest.approx(by_hand, rel=1e-12)


def pulls(gap, K, D, lam, B, alpha):
    T = ceil(B / lam) + 1
    C = 4 * D / lam + 4 / lam**2
    return (
        1
        + ceil(4 * alpha * C * C * log(T) / (gap * gap))
        + 2 * K * (D + 1) * T ** (2 - 2 * alpha)
    )


@given(positive_gaps, sizes, objectives, lambdas, budgets, alphas)
def test_theorem_1_matches_its_formula(gap, K, D, lam, B, alpha):
    bound = theory.pull_bound(
        gap, n_arms=K, n_objectives=D, cost_ratio=lam, budget=B, alpha=alpha
    )
    # one: the ceiling
    assert bound == pytest.approx(pulls(gap, K, D, lam, B, alpha), rel=1e-12, abs=1)
    T = theory.horizon(B, lam)
    leading = theory.leading_constant(
        gap, n_objectives=D, cost_ratio=lam, alpha=alpha
    ) * log(T)
    failure = theory.failure_probability(
        n_arms=K, n_objectives=D, cost_ratio=lam, budget=B, alpha=alpha
    )
    assert bound - T * failure == pytest.approx(1 + leading, rel=1e-9, abs=1 + 1e-6)
    assert failure * T ** (2 * alpha) == pytest.approx(2 * K * (D + 1) * T, rel=1e-9)


@pytest.mark.slow
@given(
    st.lists(st.tuples(positive_gaps, st.floats(0.1, 1)), min_size=1, max_size=9),
    objectives,
    st.floats(0.01, 0.1),
    budgets,
    alphas,
    st.floats(0, 5),
)
def test_regret_bounds_sum_over_suboptimal_arms(arms, D, lam, B, alpha, best):
    gaps, costs = np.array([(0.0, 1.0), *arms]).T
    how = {"n_objectives": D, "cost_ratio": lam, "budget": B, "alpha": alpha}
    entry = [theory.pull_bound(gap, n_arms=len(gaps), **how) for gap in gaps[1:]]
    efficiency = theory.efficiency_regret_bound(gaps, **how)
    assert efficiency == pytest.approx(sum(gaps[1:] * entry), rel=1e-12)
    standard = theory.standard_regret_bound(gaps, costs, best, **how)
    assert standard == pytest.approx(
        2 * best + sum(costs[1:] * gaps[1:] * entry), rel=1e-12
    )
    # with unit costs, Corollary 1 adds the two boundary terms to Theorem 1 and nothing
    # else
    unit = theory.standard_regret_bound(gaps, np.ones(len(gaps)), best, **how)
    assert unit == pytest.approx(efficiency + 2 * best, rel=1e-12)


@given(sizes, objectives, lambdas, budgets, st.floats(1e-2, 1e8))
def test_theorem_2_matches_its_formula(K, D, lam, B, complexity):
    L = 1 + sum(1 / (1 + (ell - 1) * lam) for ell in range(2, K + 1))
    assert theory.allocation_constant(K, lam) == pytest.approx(L, rel=1e-12)
    assert sum(1 / k for k in range(1, K + 1)) <= L * (1 + 1e-12) and L <= K
    bound = theory.identification_error_bound(
        B, n_arms=K, n_objectives=D, cost_ratio=lam, complexity=complexity
    )
    assert bound == pytest.approx(
        2 * K * K * D * exp(-B / (256 * L * complexity)), rel=1e-9
    )


@given(st.integers(1, 10**6), budgets, lambdas, alphas)
def test_radius_matches_its_formula(n, B, lam, alpha):
    beta = theory.confidence_radius(n, B, lam, alpha)
    assert beta**2 * n == pytest.approx(alpha * log(theory.horizon(B, lam)), rel=1e-9)


def test_undecidable_problem_has_a_trivial_bound():
    how = {"n_arms": 2, "n_objectives": 3, "complexity": inf}
    assert theory.identification_error_bound(9, cost_ratio=1, **how) == 24
    assert bounds.identification_budget(0.5, cost_ratio=1, **how) == inf
    assert bounds.sharpened_error_bound(9, allocation=2, **how) > 1
    assert bounds.summed_complexity([0.0, 0.5], [1.0, 1.0]) == inf


# Every argument of every function, out of its range.
HOW = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 0.5, "budget": 9.0, "alpha": 2.0}
GOOD = {
    theory.horizon: {key: HOW[key] for key in ("budget", "cost_ratio")},
    theory.confidence_radius: (
        {"pulls": 3} | {key: HOW[key] for key in ("budget", "cost_ratio", "alpha")}
    ),
    theory.index_constant: {key: HOW[key] for key in ("n_objectives", "cost_ratio")},
    theory.failure_probability: HOW,
    theory.pull_bound: {"gap": 0.5} | HOW,
    theory.efficiency_regret_bound: (
        {"gaps": [0, 0.5]} | {k: v for k, v in HOW.items() if k != "n_arms"}
    ),
    theory.optimal_utility_bound: {"best_efficiency": 0.5, "budget": 9.0},
    theory.standard_regret_bound: {
        "gaps": [0, 0.5],
        "mean_costs": [0.5, 1],
        "best_efficiency": 0.5,
    }
    | {k: v for k, v in HOW.items() if k != "n_arms"},
    bounds.counted_cost_bounds: {"budget": 9.0, "cost_ratio": 0.5},
    theory.leading_constant: (
        {"gap": 0.5} | {k: HOW[k] for k in ("n_objectives", "cost_ratio", "alpha")}
    ),
    bounds.ratio_leading_constant: {"gap": 0.5, "cost_ratio": 0.5},
    bounds.difference_error_rate: {"allocation": 1.5, "complexity": 4.0},
    bounds.difference_error_bound: (
        {"allocation": 1.5, "complexity": 4.0}
        | {k: HOW[k] for k in ("budget", "n_arms", "n_objectives")}
    ),
    bounds.difference_error_budget: (
        {"error": 0.5, "allocation": 1.5, "complexity": 4.0}
        | {k: HOW[k] for k in ("n_arms", "n_objectives")}
    ),
    bounds.sharpened_error_bound: (
        {"allocation": 1.5, "complexity": 4.0}
        | {k: HOW[k] for k in ("budget", "n_arms", "n_objectives")}
    ),
    bounds.identification_budget: (
        {"error": 0.5, "complexity": 4.0}
        | {k: HOW[k] for k in ("n_arms", "n_objectives", "cost_ratio")}
    ),
    theory.allocation_constant: {"n_arms": 3, "cost_ratio": 0.5},
    bounds.needed_allocation_constant: {"n_arms": 3, "cost_ratio": 0.5},
    theory.identification_error_bound: (
        {"complexity": 4.0} | {k: v for k, v in HOW.items() if k != "alpha"}
    ),
}
NAN, INF = float("nan"), inf
BAD = {
    "n_arms": [1, 0, -3, 2.0, "3", True, None],
    "n_objectives": [0, -1, 1.5, "2", None],
    "cost_ratio": [0, -0.5, 1.5, NAN, INF, "low", None],
    "budget": [0, -1, NAN, INF, "much", None],
    "alpha": [0, -1, NAN, INF, "two"],
    "pulls": [0, -1, 2.5],
    "error": [0, -1, 1.5, NAN],
    "allocation": [0, -1, NAN, INF],
    "gap": [0, -0.5, NAN, INF, "wide"],
    "gaps": [[0.5, 0.5], [-0.5, 0], [0], [], [0, NAN], 0.5, [[0, 0.5]]],
    "mean_costs": [[1.0], [0.25, 1], [0.5, 2], [0, 1], [NAN, 1]],
    "best_efficiency": [-1, NAN, INF, "best"],
    "complexity": [0, -1, NAN],
}
CASES = [
    pytest.param(function, good | {name: bad}, id=f"{function.__name__}-{name}={bad}")
    for function, good in GOOD.items()
    for name in good
    for bad in BAD[name]
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_invalid_arguments_are_refused(function, arguments):
    function(**GOOD[function])
    with pytest.raises(CobanditError):
        function(**arguments)
