"""Limits of bounded means: exact tests, enumeration, drawn weights."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cobandit.stats import finite_limits
from cobandit.stats.finite_limits import (
    finite_mean_limits,
    finite_threshold_p_values,
)
from cobandit.stats.limits import mean_limits, threshold_p_values


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.01, 0.99))
@settings(max_examples=40, deadline=None)
def test_binary_scores_have_the_binomial_test(hits, misses, threshold):
    p_value = threshold_p_values([0.0, 1.0], [[misses, hits]], threshold)[0]
    assert p_value == pytest.approx(
        stats.binom.sf(hits - 1, hits + misses, threshold), abs=1e-12
    )
    turned = threshold_p_values(
        [-1.0, 1.0], [[misses, hits]], 2 * threshold - 1, low=-1.0
    )[0]
    assert turned == pytest.approx(p_value, abs=1e-12)


@given(st.integers(1, 12), st.data(), st.floats(0.05, 0.95))
@settings(max_examples=40, deadline=None)
def test_binary_scores_of_a_benchmark_have_the_hypergeometric_test(
    total, data, threshold
):
    """Return the largest chance of so many hits on benchmarks below the threshold."""
    n_seen = data.draw(st.integers(1, total))
    hits = data.draw(st.integers(0, n_seen))
    scores = np.arange(n_seen)[None] < hits
    p_value = finite_threshold_p_values(
        scores, np.ones_like(scores), threshold, total, 0.05
    )[0]
    below = [
        n_hits
        for n_hits in range(total + 1)
        if n_hits < total * threshold and n_hits <= total
    ]
    chances = [stats.hypergeom.sf(hits - 1, total, n_hits, n_seen) for n_hits in below]
    assert p_value == pytest.approx(max(chances), abs=1e-9)


@pytest.mark.parametrize("shares", [[0.0, 1.0], [0.2, 0.5, 0.3], [0.9, 0.07, 0.03]])
def test_average_is_the_same_from_counts_or_values(shares):
    rng = np.random.default_rng(1)
    values = np.linspace(0, 1, len(shares))
    drawn = rng.choice(values, (5, 40), p=shares)
    counts = (drawn[:, :, None] == values).sum(axis=1)
    for threshold in (0.1, 0.5, 0.9):
        apart = threshold_p_values(drawn, np.ones(drawn.shape), threshold)
        np.testing.assert_allclose(
            threshold_p_values(values, counts, threshold), apart, rtol=1e-6
        )


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 6, 30, 200])
def test_probability_matches_drawn_weights(n):
    """A relative error of up to six percent, and hardly ever too small."""
    rng = np.random.default_rng(n)
    for scores in (
        rng.beta(8, 1, n),
        rng.choice([0.0, 0.5, 1.0], n),
        rng.beta(0.3, 0.3, n),
    ):
        weights = rng.standard_exponential((100_000, n + 1))
        means = weights[:, :-1] @ scores / weights.sum(axis=1)
        for level in (0.3, 0.05, 0.01):
            p_value = threshold_p_values(
                scores[None], np.ones((1, n)), np.quantile(means, level)
            )[0]
            error = 3 / np.sqrt(level * 100_000)  # of the quantile
            assert level * (1 - error) <= p_value <= level * (1.06 + error)


def chance_of_small(values, shares, n, level, p_values=threshold_p_values):
    """The exact probability that a p-value of the true mean is at most ``level``."""
    values = np.array(values)
    counts = np.array(
        [
            entry
            for entry in product(range(n + 1), repeat=len(values))
            if sum(entry) == n
        ]
    )
    chances = stats.multinomial.pmf(counts, n, shares)
    small = p_values(values, counts, float(values @ shares)) <= level
    return chances[small].sum()


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 4, 15])
@pytest.mark.parametrize("middle", [0.1, 0.5, 0.9])
def test_p_values_are_valid_by_enumeration(n, middle):
    values = (0.0, middle, 1.0)
    grid = [
        (a, b)
        for a in (0, 0.01, 0.1, 0.3, 0.6)
        for b in (0.02, 0.3, 0.7, 0.95)
        if a + b <= 1
    ]
    for a, b in grid:
        for level in (0.005, 0.05, 0.2):
            assert chance_of_small(values, (a, 1 - a - b, b), n, level) <= level * (
                1 + 1e-3
            )


def test_students_limits_would_be_refuted():
    def student(values, counts, threshold):
        n = counts.sum(axis=1)
        means = counts @ values / n
        errors = np.sqrt((counts @ values**2 / n - means**2).clip(1e-12) / (n - 1))
        return stats.t.sf((means - threshold) / errors, n - 1)

    assert chance_of_small((0.0, 0.5, 1.0), (0.02, 0.05, 0.93), 15, 0.05, student) > 0.2


@pytest.mark.parametrize(
    "benchmark",
    [
        (0.5, 1.0, 1.0, 0.75, 0.25),
        (1.0, 0.0, 1.0, 0.5, 1.0),
        (0.9, 0.9, 0.95, 1.0, 0.2, 0.9),
    ],
)
def test_bets_on_a_benchmark_are_valid_by_enumeration(benchmark):
    """The claim that the mean is at most its value, over all orders of all subsets."""
    orders = np.array(list(permutations(benchmark)))
    assert len(orders) == factorial(len(benchmark))
    total, mean = len(benchmark), float(np.mean(benchmark))
    for n_seen in range(1, total):
        drawn = orders[:, :n_seen]
        for level in (0.05, 0.2, 0.5):
            doubt = finite_threshold_p_values(
                drawn, np.ones(drawn.shape), mean, total, level
            )
            for alpha in (0.05, 0.2, 0.5):
                assert (doubt <= alpha).mean() <= alpha + 1e-9


def test_complete_benchmark_is_exact():
    scores = np.array([[0.5, 0.75, 1.0], [0.25, 0.25, 0.5]])
    p_value = finite_threshold_p_values(scores, np.ones((2, 3)), [0.75, 0.34], 3, 0.05)
    assert p_value.tolist() == [0.0, 1.0]
    # two of the last three would have to be negative
    first = [[1.0, 1.0, 0.9, 0.5, 0.5, 0.5]]
    assert (
        finite_threshold_p_values(first, [[1, 1, 1, 0, 0, 0]], 0.4, 6, 0.05)[0] == 0.0
    )


@pytest.mark.parametrize(("n", "level"), [(1, 0.5), (2, 0.95), (25, 0.95), (25, 0.99)])
def test_intervals_of_binary_scores_are_mid_p(n, level):
    hits = np.arange(n + 1)
    low, high = mean_limits([0.0, 1.0], np.column_stack([n - hits, hits]), level)

    def middle(mean):
        return (stats.binom.sf(hits - 1, n, mean) + stats.binom.sf(hits, n, mean)) / 2

    np.testing.assert_allclose(middle(low)[1:], (1 - level) / 2, rtol=1e-3)
    np.testing.assert_allclose(middle(high)[:-1], (1 + level) / 2, rtol=1e-3)
    assert (low[0], high[-1]) == (0, 1)


def test_intervals_contain_the_mean_and_are_symmetric():
    rng = np.random.default_rng(0)
    scores = rng.beta(9, 1, (6, 12))
    counts = rng.integers(0, 2, scores.shape)
    low, high = mean_limits(scores, counts)
    mean = (scores * counts).sum(axis=1) / counts.sum(axis=1)
    assert ((low < mean) & (mean < high)).all() and (mean - low > high - mean).all()
    turned = mean_limits(-scores, counts, low=-1.0, high=0.0)
    np.testing.assert_allclose(turned, (-high, -low), atol=1e-5)
    assert np.isnan(mean_limits(scores[:1], np.zeros((1, 12)))).all()
    wider = mean_limits(scores, counts, 0.99)
    assert (wider[0] < low).all() and (wider[1] > high).all()


def test_equal_scores_have_an_interval():
    """Ten differences of zero say little about differences in [-1, 1]."""
    (low,), (high,) = mean_limits([0.0], [[10]], low=-1.0)
    assert low == pytest.approx(-high, abs=1e-5) and 0.15 < high < 0.35
    assert mean_limits([0.7], [[10]])[0][0] < 0.65


# Intervals about a benchmark.


@pytest.mark.parametrize(("total", "seen"), [(7, 3), (20, 19), (60, 40)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_limits_of_binary_scores_on_a_benchmark_are_exact(total, seen, level):
    """Ends are the last counts not refuted, and every count has its coverage."""
    hits = np.arange(seen + 1)
    tail = (1 - level) / 2
    low, high = finite_mean_limits(
        [0.0, 1.0], np.column_stack([seen - hits, hits]), total, level
    )
    right = np.arange(total + 1)
    for place in hits:
        possible = (right >= place) & (right <= total - seen + place)
        enough = stats.hypergeom.sf(place - 1, total, right, seen) > tail
        few = stats.hypergeom.cdf(place, total, right, seen) > tail
        assert low[place] * total == pytest.approx(right[possible & enough].min())
        assert high[place] * total == pytest.approx(right[possible & few].max())
    for count in right:
        is_held = (low * total <= count + 1e-9) & (count - 1e-9 <= high * total)
        assert (
            stats.hypergeom.pmf(hits, total, count, seen)[is_held].sum() >= level - 1e-9
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "benchmark",
    [
        [0.0, *[0.9] * 8],
        [1.0, *[0.01] * 8],
        [0.0, 0.5, 0.5, *[1.0] * 6],
        [0.1, 0.2, 0.4, 0.5, 0.55, 0.7, 0.8, 0.9, 0.95],
        [0.0, 0.0, 0.3, 0.3, 0.3, 0.3, 0.3, 1.0, 1.0],
    ],
)
def test_limits_contain_the_mean_of_every_small_benchmark(benchmark):
    """Over all choices of instances, each end misses with its chance at most."""
    values = np.array(benchmark)
    for n_seen in range(1, len(values)):
        drawn = values[np.array(list(combinations(range(len(values)), n_seen)))]
        low, high = finite_mean_limits(drawn, np.ones(drawn.shape), len(values), 0.8)
        assert (low > values.mean() + 1e-9).mean() <= 0.1 + 1e-9, n_seen
        assert (high < values.mean() - 1e-9).mean() <= 0.1 + 1e-9, n_seen


def test_limits_of_a_complete_benchmark_equal_its_mean():
    scores = np.array([[0.5, 0.75, 1.0], [0.0, 1.0, 1.0]])
    low, high = finite_mean_limits(scores, np.ones((2, 3)), 3)
    assert low.tolist() == high.tolist() == [0.75, pytest.approx(2 / 3)]
    assert np.isnan(finite_mean_limits(scores, np.zeros((2, 3)), 3)).all()


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_limits_on_a_benchmark_narrow_and_are_symmetric(low):
    scores = low + (1 - low) * np.random.default_rng(0).beta(9, 1, (1, 40))
    counts = np.ones(scores.shape)
    before = None
    for total in (40, 41, 60, 139, 150, 1000, 10**9):
        ends = np.array(finite_mean_limits(scores, counts, total, low=low))
        turned = finite_mean_limits(-scores, counts, total, low=-1.0, high=-low)
        np.testing.assert_allclose(turned, -ends[::-1], atol=2e-3)
        minimum = (scores.sum() + (total - 40) * low) / total
        maximum = (scores.sum() + (total - 40)) / total
        assert minimum - 1e-9 <= ends[0] <= scores.mean() + 1e-9
        assert scores.mean() - 1e-9 <= ends[1] <= maximum + 1e-9
        if before is not None:
            assert ends[0] < before[0] and before[1] < ends[1]
        before = ends
    # of a benchmark without end the lower one is where one score more, the worst,
    # leaves this doubt
    assert threshold_p_values(scores, counts, ends[0], low=low) == pytest.approx(
        0.025, rel=1e-3
    )


def test_draws_from_the_urn_agree_with_their_approximation(monkeypatch):
    scores = np.random.default_rng(1).random((3, 90))
    drawn = finite_mean_limits(scores, np.ones(scores.shape), 180)
    monkeypatch.setattr(finite_limits, "MOST_DRAWN", 0)
    approximated = finite_mean_limits(scores, np.ones(scores.shape), 180)
    half_a_score = 0.5 / 180
    assert approximated[0] + half_a_score == pytest.approx(drawn[0], abs=3e-3)
    assert approximated[1] - half_a_score == pytest.approx(drawn[1], abs=3e-3)


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("seen", "total"), [(20, 40), (97, 100), (30, 300), (1800, 2000)]
)
@pytest.mark.parametrize(
    ("low", "shares"),
    [
        (0.0, {0.0: 0.03, 0.5: 0.02, 1.0: 0.95}),
        (0.0, {1.0: 0.02, 0.01: 0.98}),
        (0.0, {0.0: 0.05, 0.6: 0.95}),
        (0.0, {0.0: 0.3, 0.5: 0.2, 1.0: 0.5}),
        (-1.0, {-1.0: 0.02, 0.0: 0.98}),
        (-1.0, {-1.0: 0.3, 0.0: 0.3, 1.0: 0.4}),
    ],
)
def test_limits_contain_the_mean_of_adversarial_benchmarks(seen, total, low, shares):
    """In 600 draws: at most 5 %, and three standard errors."""
    rng = np.random.default_rng(0)
    places = (np.arange(total) + 0.5) / total
    benchmark = np.array(list(shares))[
        np.searchsorted(np.cumsum(list(shares.values())), places)
    ]
    drawn = rng.permuted(np.tile(benchmark, (600, 1)), axis=1)[:, :seen]
    ends = finite_mean_limits(drawn, np.ones(drawn.shape), total, low=low)
    missed = (ends[0] > benchmark.mean() + 1e-9) | (ends[1] < benchmark.mean() - 1e-9)
    assert missed.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


def instances_needed(threshold, mean, level, small):
    """Return the instances for a power of .8 of a binary test, smoothed over steps."""
    sizes = np.unique(np.geomspace(80, 700, 120).astype(int))
    power = []
    for n in sizes:
        hits = np.arange(n + 1)
        power.append(
            stats.binom.pmf(hits, n, mean) @ (small(hits, n, threshold) <= level)
        )
    smooth = np.convolve(power, np.ones(15) / 15, "same")[7:-7]
    return np.interp(0.8, smooth, sizes[7:-7])


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", [2, 10])
@pytest.mark.parametrize(("threshold", "mean"), [(0.3, 0.4), (0.5, 0.6), (0.6, 0.7)])
def test_limits_need_at_most_a_tenth_more_than_students(threshold, mean, n_arms):
    def exact(hits, n, threshold):
        return threshold_p_values(
            [0.0, 1.0], np.column_stack([n - hits, hits]), threshold
        )

    def student(hits, n, threshold):
        means = hits / n
        # one instance more that varies like the pooled ones
        errors = np.sqrt(means * (1 - means) / (n - 1) + mean * (1 - mean) / n**2)
        return stats.t.sf((means - threshold) / errors, n - 1)

    level = 0.05 / n_arms
    ours, theirs = (
        instances_needed(threshold, mean, level, small) for small in (exact, student)
    )
    print(
        f"K = {n_arms}, {mean} against {threshold}: {ours:.0f} instances in the place"
        f" of {theirs:.0f}"
    )
    assert 100 < theirs < 400 and ours <= 1.1 * theirs
