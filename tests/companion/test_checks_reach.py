"""Reachable sets exactly and by search, and problems hard for every method."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit import theory
from companion import bounds
from companion.proofs import hard_problems, reachable


@pytest.mark.slow
@given(
    st.integers(2, 4), st.integers(1, 2), st.integers(0, 2**32), st.floats(0.02, 0.3)
)
@examples(25)
def test_arms_excluded_by_programs_win_at_no_corner(K, D, seed, slack):
    means = np.random.default_rng(seed).random((K, D))
    exact = reachable.exactly_leave(means, slack)
    assert (exact <= bounds.may_leave(means, slack)).all()
    for corner in product((-1, 1), repeat=K * D):
        gaps = cb.classification_gaps(
            means + np.reshape(corner, (K, D)) * slack / 2 * (1 - 1e-6)
        )
        assert exact[gaps == gaps.max()].all()


@pytest.mark.slow
def test_programs_exclude_more_arms_than_intervals():
    """Six arms where margins cannot all move at once as the intervals allow."""
    fewer = 0
    for seed in range(12):
        means = np.random.default_rng(seed).random((6, 2))
        slack = np.sort(cb.classification_gaps(means))[-1] / 2
        fewer += (
            bounds.may_leave(means, slack) & ~reachable.exactly_leave(means, slack)
        ).sum()
    assert fewer > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_only_runs_within_an_eighth_stay_in_reachable_sets(seed):
    means = np.random.default_rng(seed).random((5, 2))
    assert reachable.unlisted_sets(means, 300, seed) == 0
    assert reachable.unlisted_sets(means, 300, seed, share=0.5) > 0


@pytest.mark.slow
def test_reachable_complexity_distinguishes_swapped_costs():
    means = [[0.2, 0.85], [0.55, 0.6], [0.8, 0.3], [0.45, 0.5], [0.6, 0.25]]
    hard = bounds.reachable_complexity(
        means, [0.1, 0.3, 1.0, 0.2, 0.6], reachable.exactly_leave
    )
    easy = bounds.reachable_complexity(
        means, [1.0, 0.3, 0.1, 0.6, 0.2], reachable.exactly_leave
    )
    assert hard == pytest.approx(640) and easy == pytest.approx(120)


@pytest.mark.slow
@given(st.integers(2, 7), st.integers(1, 6), st.integers(0, 2**32))
@examples(40)
def test_steps_of_the_lower_bound_hold(K, size, seed):
    size = min(size, K - 1)
    costs = np.sort(10 ** np.random.default_rng(seed).uniform(-2, 0, K))
    contested = costs[: K - size + 1]
    total = np.cumsum(contested)
    always = list(range(len(contested), K))
    first, *others = hard_problems.hard_family(costs, size)

    assert len(others) == len(contested) - 1
    assert first.pareto_mask.nonzero()[0].tolist() == [0, *always]
    for arm, problem in enumerate(others, start=1):
        changed = (problem.means - first.means) / 2
        assert np.flatnonzero(changed.any(axis=1)).tolist() == [arm]
        assert problem.pareto_mask.nonzero()[0].tolist() == [arm, *always]
        # gamma_i = s C_i, and a complexity of at most 1 / (s^2 C_i)
        gap = changed[arm].max()
        assert problem.classification_gaps[arm] == pytest.approx(gap)
        complexity = bounds.reachable_complexity(problem.means, costs)
        assert complexity <= total[arm] / gap**2 * (1 + 1e-9)
        if size == 1:
            within = (
                16 / 9 * bounds.summed_complexity(problem.classification_gaps, costs)
            )
            assert complexity <= within * (1 + 1e-9)

    assert (contested[1:] / total[1:]).sum() >= theory.exact_allocation_constant(
        contested
    ) - 0.5 - 1e-12

    # the whole of a reward is in [0, 1]: its place, and a share that one coin is worth
    places = first.means - (hard_problems.SHARE if size > 1 else 1) / 2
    assert size == 1 or (places.max() <= 0.05 + 1e-12 and places.min() > -0.01)


def test_hard_family_needs_two_contested_arms():
    with bad_argument("out-of-range", "front_size", ["3 arms"]):
        hard_problems.hard_family([1.0, 1.0, 1.0], 3)


@pytest.mark.slow
@given(st.integers(2, 7), st.integers(0, 2**32), st.booleans())
@examples(60)
def test_gaps_of_reachable_sets_are_at_most_twice_the_gap_of_their_size(K, seed, alike):
    """With all gaps alike the intervals let even the best arm leave."""
    means = np.random.default_rng(seed).uniform(0, 0.4, (K, 1))
    means[0] = 0.8 if alike else 0.4
    gaps = cb.classification_gaps(means)
    for sets in bounds.reachable_sets(means):
        for active in sets:
            assert gaps[active].max() <= 2 * np.sort(gaps)[active.sum() - 1] + 1e-9


@pytest.mark.parametrize("pulls", [1, 2, 3, 8, 30])
def test_no_rule_beats_the_best_test(pulls):
    """Every threshold with every chance at it, by brute force on a grid."""
    from scipy import stats

    grid = np.linspace(0, 1, 201)
    minimum = 1.0
    for threshold in range(pulls + 1):
        on_first = stats.binom.sf(threshold, pulls, 0.25) + grid * stats.binom.pmf(
            threshold, pulls, 0.25
        )
        on_second = stats.binom.cdf(threshold - 1, pulls, 0.75) + (
            1 - grid
        ) * stats.binom.pmf(threshold, pulls, 0.75)
        allowed = on_first <= 0.5
        minimum = min(minimum, on_second[allowed].min(initial=1.0))
    best = hard_problems.best_test_error(pulls)
    assert best <= minimum + 1e-12 and best == pytest.approx(minimum, abs=0.02)
    assert best >= bounds.least_error(float(pulls), allocation=1.0, complexity=32.0)
