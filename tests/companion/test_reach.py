"""The sets of arms that can be reached, and the complexity over them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from companion import bounds


def problems(max_arms=6):
    """Means without ties, and costs."""
    return st.builds(
        lambda K, D, seed: (
            np.random.default_rng(seed).random((K, D)),
            10 ** np.random.default_rng(seed + 1).uniform(-2, 0, K),
        ),
        st.integers(2, max_arms),
        st.integers(1, 3),
        st.integers(0, 2**32),
    )


@given(problems())
@examples(60)
def test_reachable_complexity_is_between_its_bounds(problem):
    means, costs = problem
    p = cb.Problem(means, costs)
    gaps = np.sort(p.classification_gaps)
    # without any error one set of each size is reached: at least its cost counts
    minimum = max(
        np.sort(costs)[:k].sum() / gaps[k - 1] ** 2 for k in range(2, len(costs) + 1)
    )
    reached = bounds.reachable_complexity(means, costs)
    assert (
        minimum * (1 - 1e-9)
        <= max(reached, costs.sum() / gaps[-1] ** 2)
        <= p.complexity * (1 + 1e-9)
    )


@pytest.mark.slow
@given(problems(), st.floats(0.01, 0.2))
def test_no_removable_arm_is_missed(problem, slack):
    means, _ = problem
    rng = np.random.default_rng(0)
    named = bounds.may_leave(means, slack)
    for _ in range(50):
        errors = np.sign(rng.uniform(-1, 1, means.shape)) * slack / 2 * (1 - 1e-9)
        gaps = cb.classification_gaps(means + errors)
        assert named[gaps == gaps.max()].all()


def test_all_arms_may_leave_at_large_errors():
    assert bounds.may_leave([[0.9], [0.8], [0.2]], 10.0).all()


@given(problems(5), st.integers(0, 2**16))
@examples(40)
def test_order_of_the_arms_does_not_matter(problem, seed):
    means, costs = problem
    order = np.random.default_rng(seed).permutation(len(means))
    one = bounds.reachable_complexity(means, costs)
    two = bounds.reachable_complexity(means[order], costs[order])
    assert one == pytest.approx(two)


def test_two_arms_have_the_papers_complexity():
    p = cb.Problem([[0.75, 0.5], [0.5, 0.75]], [1.0, 0.25])
    assert bounds.reachable_complexity(p.means, p.costs) == pytest.approx(p.complexity)


def test_ties_have_infinite_complexity():
    tied = [[0.5, 0.5], [0.5, 0.8], [0.1, 0.1]]
    assert bounds.reachable_complexity(tied, [1, 1, 1]) == np.inf
    with bad_argument("zero-gap", "means"):
        bounds.reachable_sets(tied)


@pytest.mark.slow
def test_too_many_sets_are_refused():
    means = np.random.default_rng(0).random((40, 2)) * 0.5
    means[0] = [0.95, 0.95]  # one arm dominates all others, whose gaps are alike
    with bad_argument("too-many-sets", "means", ["7,499"]):
        bounds.reachable_sets(means)


def test_lower_bound_is_below_upper_bound_and_falls_with_budget():
    how = {"allocation": 1.5, "complexity": 30.0}
    upper = [
        bounds.difference_error_bound(b, n_arms=3, n_objectives=1, **how)
        for b in (1, 100, 1000)
    ]
    lower = [bounds.least_error(b, **how) for b in (1, 100, 1000)]
    assert (
        all(low < high for low, high in zip(lower, upper, strict=True))
        and lower == sorted(lower)[::-1]
    )
    with bad_argument("out-of-range", "allocation"):
        bounds.least_error(1.0, allocation=0.9, complexity=1.0)
