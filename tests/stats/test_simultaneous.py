"""Critical values: the step-down procedure, its limits and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.drawn import COSTS, MEANS, drawn
from support.settled import bonferroni
from support.strategies import examples

from cobandit.stats import simultaneous
from cobandit.stats.pairwise import Paired
from cobandit.stats.simultaneous import DrawnErrors, find_levels
from cobandit.testing.small_tables import ragged_table


def by_hand(compared, alpha, seed=0):
    """Levels of membership, one pair at a time."""
    K, D = len(compared.costs), compared.n_compared
    t = np.empty((D, K, K))
    error = np.empty((D, K, K))
    shared = np.empty((K, K))
    for gaps in compared.dominance():
        t[:, gaps.arms], error[:, gaps.arms] = gaps.ratios, gaps.errors
        shared[gaps.arms] = gaps.shared
    draws = DrawnErrors(compared, simultaneous.DRAWS, seed)
    clearest = [max(t[:, i, j].min() for j in range(K) if j != i) for i in range(K)]
    largest = {}
    for i in range(K):
        entry = [np.full(draws.replications, -np.inf)]
        for j in range(K):
            minimum = t[:, i, j].min()
            if j == i or minimum < -3 or shared[i, j] < 2:
                continue
            drawn = draws.of_gaps(i, np.array([j]))[:, 0]
            entry += [
                drawn[d] / error[d, i, j]
                for d in range(D)
                if t[d, i, j] <= 3 or t[d, i, j] <= minimum
            ]
        largest[i] = np.max(entry, axis=0)
    alpha_off, alpha_on, open_ = (
        alpha / (2 * K * (K - 1)),
        alpha / (2 * K * D),
        set(range(K)),
    )

    def settled(i):
        others = [(t[:, i, j].min(), shared[i, j]) for j in range(K) if j != i]
        if any(
            minimum > stats.t.isf(alpha_off, n - 1) for minimum, n in others if n > 1
        ):
            return True
        return all(
            n > 1 and -minimum > stats.t.isf(alpha_on, n - 1) for minimum, n in others
        )

    open_ = {i for i in open_ if not settled(i)}
    while open_:
        wrongly_off = [i for i in open_ if clearest[i] >= -3]
        wrongly_on = [i for i in open_ if clearest[i] <= 3]
        parts = len(wrongly_off) + len(wrongly_on)
        if wrongly_off:
            share = alpha * len(wrongly_off) / parts
            maximum = np.max([largest[i] for i in wrongly_off], axis=0)
            value = np.sort(maximum)[int(np.ceil((1 - share) * (len(maximum) - 1)))]
            alpha_off = max(
                alpha_off, stats.norm.sf(value), share / (len(wrongly_off) * (K - 1))
            )
        alpha_on = max(alpha_on, alpha / (parts * D))
        leftovers = {i for i in open_ if not settled(i)}
        if leftovers == open_:
            break
        open_ = leftovers
    return alpha_off, alpha_on


@pytest.mark.slow
@examples(15)
@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.2]))
def test_levels_match_the_procedure_by_hand(seed, alpha):
    compared = Paired(ragged_table(np.random.default_rng(seed), 6, 2))
    levels = find_levels(compared, alpha)
    assert (levels.off_front, levels.on_front) == pytest.approx(
        by_hand(compared, alpha), rel=1e-3
    )


def test_levels_of_one_table_match_a_hand_calculation():
    compared = Paired(ragged_table(np.random.default_rng(5), 6, 2))
    levels = find_levels(compared, 0.2)
    assert (levels.off_front, levels.on_front) == pytest.approx(
        by_hand(compared, 0.2), rel=1e-3
    )


def test_blocks_change_nothing(monkeypatch):
    compared = Paired(drawn(np.random.default_rng(1), MEANS, COSTS, 60))
    levels = find_levels(compared, 0.05)
    # weights whole, arms in turn
    monkeypatch.setattr("cobandit.stats.evaluations.BLOCK_SIZE", 60 * 2000)
    cut = find_levels(compared, 0.05)
    assert tuple(cut) == pytest.approx(tuple(levels), rel=1e-3)


@pytest.mark.slow
def test_errors_correlate_like_means():
    compared = Paired(drawn(np.random.default_rng(2), MEANS, COSTS, 80))
    errors = DrawnErrors(compared, 20_000, seed=3)
    (gaps,) = compared.dominance()
    spread = np.stack(
        [errors.of_gaps(arm, np.arange(6)).std(axis=-1) for arm in range(6)], axis=1
    )
    away = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(spread[:, away], gaps.errors[:, away], rtol=0.05)


def test_configurations_with_equal_errors_count_as_few():
    """Arms with nearly equal scores are fewer comparisons than different arms."""
    means, levels = np.linspace(0.46, 0.54, 11)[:, None], []
    for shared in (0.95, 0.0):
        table = drawn(np.random.default_rng(2), means, np.ones(11), 300, shared=shared)
        levels.append(find_levels(Paired(table, strict=True), 0.2).off_front)
    assert levels[0] > 3 * levels[1]


@pytest.mark.slow
def test_levels_are_at_least_bonferroni_at_half_the_error():
    for seed in range(5):
        compared = Paired(drawn(np.random.default_rng(seed), MEANS, COSTS, 50))
        for alpha in (0.2, 0.05, 1e-4):  # the last with too few draws to tell
            levels, minimum = find_levels(compared, alpha), bonferroni(compared, alpha)
            assert (
                levels.off_front >= minimum.off_front / 2
                and levels.on_front >= minimum.on_front / 2
            )
