"""CoPSI with random costs: bounds, next to exact probabilities."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from companion import bounds
from companion.proofs import overspending


@pytest.mark.slow
@given(st.floats(0.02, 0.9), st.floats(0.01, 0.3), st.integers(20, 300))
def test_plans_of_two_costs_overspend_within_the_bound(lam, delta, budget):
    bound = bounds.overspend_bound(budget, delta, cost_ratio=lam)
    assert overspending.worst_overspend(budget, delta, cost_ratio=lam) <= bound
    costs = np.array([lam**0.25, lam**0.75])
    pulls = np.floor((1 - delta) * budget * np.array([0.3, 0.7]) / costs).astype(int)
    assert overspending.exact_overspend(pulls, costs, budget, cost_ratio=lam) <= bound


@pytest.mark.parametrize("pulls", [(1, 2), (3, 0), (2, 2)])
def test_convolution_matches_enumeration(pulls):
    lam = 0.25
    costs = np.array([0.5, 0.8])
    budget = 2.0
    chances = np.repeat((costs - lam) / (1 - lam), pulls)
    total = sum(
        np.prod(np.where(outcome, chances, 1 - chances))
        for outcome in product((0, 1), repeat=sum(pulls))
        if np.where(outcome, 1.0, lam).sum() > budget + 1e-9
    )
    exact = overspending.exact_overspend(pulls, costs, budget, cost_ratio=lam)
    assert exact == pytest.approx(total)


@given(st.floats(0.01, 0.99), st.floats(1.0, 4.0), st.floats(0.01, 1e5))
@example(0.01, 1.0, 0.06)  # the coefficient of the square is zero, but for rounding
def test_at_the_planning_margin_both_exponents_are_equal(lam, allocation, complexity):
    how = {"allocation": allocation, "complexity": complexity}
    margin = bounds.planning_margin(cost_ratio=lam, **how)
    budget = 10.0 * allocation * complexity
    planned = bounds.difference_error_rate(**how) * (1 - margin) * budget
    assert -np.log(
        bounds.overspend_bound(budget, margin, cost_ratio=lam)
    ) == pytest.approx(planned)
    assert 0 < margin < 1
    assert (
        complexity < 3
        or margin < 1.1 * (1 - lam**0.5) / np.sqrt(8 * allocation * complexity) + 0.01
    )


def test_certain_costs_need_no_margin():
    assert bounds.overspend_bound(10.0, 0.1, cost_ratio=1.0) == 0
    assert bounds.planning_margin(allocation=1.0, complexity=10.0, cost_ratio=1.0) == 0
    assert bounds.pilot_failure_bound(5, 0.1, n_arms=2, cost_ratio=1.0) == 0


@given(
    st.floats(0.05, 0.9), st.floats(0.0, 1.0), st.floats(0.05, 0.5), st.integers(1, 200)
)
def test_pilots_of_two_costs_fail_within_the_bound(lam, place, eta, pulls):
    from scipy import stats

    cost = lam + place * (1 - lam)
    means = lam + (1 - lam) * np.arange(pulls + 1) / pulls
    chances = stats.binom.pmf(np.arange(pulls + 1), pulls, (cost - lam) / (1 - lam))
    failing = chances[abs(means - cost) >= eta * cost * (1 + 1e-9)].sum()
    assert (
        2 * failing
        <= bounds.pilot_failure_bound(pulls, eta, n_arms=2, cost_ratio=lam) + 1e-12
    )
