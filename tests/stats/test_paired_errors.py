"""Tests, power and intervals of counts by enumeration; printed errors as counts."""

from __future__ import annotations

from itertools import product
from math import comb, inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from support.strategies import examples

from cobandit.errors import CobanditError
from cobandit.stats import paired_errors

counts = st.integers(1, 30).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n)).map(tuple)
)


def slow_mcnemar(b: int, c: int) -> float:
    """Of all ways to toss b + c coins, the share at least as uneven."""
    n = b + c
    return sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(b - c)) / 2**n


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_a_coin_test(b, c):
    assert paired_errors.mcnemar(b, c) == pytest.approx(slow_mcnemar(b, c))
    assert paired_errors.mcnemar(b, c) == paired_errors.mcnemar(c, b)
    assert paired_errors.mcnemar(b, c) == pytest.approx(
        stats.binomtest(b, b + c).pvalue if b + c else 1
    )


def every_coupling(first: int, second: int, n: int) -> set[tuple[int, int, int]]:
    return {
        (n_both, b, c)
        for n_both, b, c in product(range(n + 1), repeat=3)
        if n_both + b == first and n_both + c == second and n_both + b + c <= n
    }


@examples(40)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
    )
)
def test_couplings_are_all_tables_with_the_margins(given_counts):
    first, second, n = given_counts
    table = paired_errors.couplings(first, second, n)
    shown = set(
        table[["both", "only_first", "only_second"]].itertuples(index=False, name=None)
    )
    assert shown == every_coupling(first, second, n)
    assert table["p"].tolist() == pytest.approx(
        [
            slow_mcnemar(b, c)
            for b, c in zip(table["only_first"], table["only_second"], strict=True)
        ]
    )


@pytest.mark.slow
@examples(40)
@given(counts)
def test_comparison_covers_all_couplings(given_counts):
    first, second, n = given_counts
    result, table = (
        paired_errors.compare(first, second, n),
        paired_errors.couplings(first, second, n),
    )
    assert (result["best"], result["worst"]) == (table["p"].min(), table["p"].max())
    assert result["best"] <= result["independent"] <= result["worst"]
    enough = [
        k for k in table["both"] if (table.loc[table["both"] >= k, "p"] <= 0.05).all()
    ]
    assert result["needed"] == min(enough) if enough else isnan(result["needed"])
    swapped = paired_errors.compare(second, first, n)
    assert [*result.values()] == pytest.approx([*swapped.values()], nan_ok=True)


def test_unpaired_tests_match_scipy():
    result = paired_errors.compare(74, 135, 500)
    table = np.array([[74, 426], [135, 365]])
    assert result["fisher"] == pytest.approx(stats.fisher_exact(table).pvalue)
    assert result["score"] == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue
    )
    nobody = [*paired_errors.compare(0, 0, 5).values()]
    assert nobody == pytest.approx([1, 1, 1, np.nan, 1, 1], nan_ok=True)


def slow_power(n: int, first: float, second: float, both: float) -> float:
    """Sum over all outcomes of n replays."""
    b, c = first - both, second - both
    total = 0.0
    for i in range(n + 1):
        for j in range(n + 1 - i):
            if slow_mcnemar(i, j) <= 0.05:
                ways = comb(n, i) * comb(n - i, j)
                total += ways * b**i * c**j * (1 - b - c) ** (n - i - j)
    return total


@pytest.mark.parametrize("n", [1, 5, 6, 7, 12, 25])
@pytest.mark.parametrize(
    ("first", "second", "n_both"),
    [
        (0.1, 0.4, 0.1),
        (0.1, 0.4, 0.04),
        (0.3, 0.3, 0.1),
        (0.5, 0.5, 0.0),
        (0.0, 0.7, 0.0),
        (0.9, 0.8, 0.7),
        (0.2, 0.2, 0.2),
    ],
)
def test_power_matches_enumeration(n, first, second, n_both):
    fast = paired_errors.paired_power(n, first, second, n_both)
    assert fast == pytest.approx(slow_power(n, first, second, n_both), abs=1e-9)


@pytest.mark.slow
def test_needed_replays_reach_the_power():
    power = paired_errors.paired_power
    for case in [(0.1, 0.3, 0.1), (0.1, 0.3, 0.03), (0.02, 0.1, 0.02)]:
        needed = int(paired_errors.replays_needed(*case))
        assert power(needed, *case) >= 0.8 > power(needed - 1, *case)
    # if errors are nested, six disagreements reject, whatever their number
    nested = int(paired_errors.replays_needed(0.004, 0.006, both=0.004))
    assert (
        stats.binom.sf(5, nested, 0.002) >= 0.8 > stats.binom.sf(5, nested - 1, 0.002)
    )
    assert paired_errors.replays_needed(0.2, 0.2, 0.1) == inf
    # the textbook formula for independent samples
    p, q = 0.148, 0.164
    z, mean = stats.norm.isf(0.025), (p + q) / 2
    spread = (
        z * (2 * mean * (1 - mean)) ** 0.5
        + stats.norm.isf(0.2) * (p * (1 - p) + q * (1 - q)) ** 0.5
    )
    assert paired_errors.replays_needed(p, q, p * q) == pytest.approx(
        (spread / (p - q)) ** 2, rel=0.03
    )


@examples(60)
@given(st.integers(1, 60), st.data())
def test_constrained_mle_maximises_the_likelihood(n, data):
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    delta = data.draw(st.floats(-0.95, 0.95))
    low, high = max(0.0, -delta), (1 - delta) / 2

    def minus_log_likelihood(x: float) -> float:
        terms = ((b, x + delta), (c, x), (n - b - c, 1 - 2 * x - delta))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in terms if k)

    result = optimize.minimize_scalar(
        minus_log_likelihood,
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10},
    )
    ours = paired_errors.constrained_mle(b, c, n, delta)
    assert low - 1e-12 <= ours <= high + 1e-12
    assert minus_log_likelihood(ours) <= result.fun + 1e-6


@given(st.integers(1, 80), st.data())
def test_paired_difference_is_symmetric_and_bounded(n, data):
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    difference, low, high = paired_errors.paired_difference(b, c, n)
    assert difference == (b - c) / n
    assert -1 <= low <= difference <= high <= 1
    assert low < high
    assert paired_errors.paired_difference(c, b, n) == pytest.approx(
        (-difference, -high, -low), abs=1e-7
    )
    _, wide, wider = paired_errors.paired_difference(b, c, n, level=0.99)
    assert wide <= low + 1e-9 and wider >= high - 1e-9


def test_paired_difference_solves_the_score_equation():
    b, c, n = 62, 70, 500
    for end, sign in zip(
        paired_errors.paired_difference(b, c, n)[1:], (1, -1), strict=True
    ):
        x = paired_errors.constrained_mle(b, c, n, end)
        score = (b - c - n * end) / np.sqrt(n * (2 * x + end - end**2))
        assert score == pytest.approx(sign * 1.959964, abs=1e-5)
    # without disagreements Tango's interval is known in closed form
    z2 = 1.959964**2
    assert paired_errors.paired_difference(0, 0, 100) == pytest.approx(
        (0, -z2 / (100 + z2), z2 / (100 + z2)), abs=1e-6
    )


def test_invalid_counts_are_refused():
    for wrong in (
        lambda: paired_errors.couplings(6, 1, 5),
        lambda: paired_errors.couplings(-1, 1, 5),
        lambda: paired_errors.paired_difference(3, 3, 5),
        lambda: paired_errors.paired_power(10, 0.1, 0.2, 0.15),
        lambda: paired_errors.paired_power(10, 0.9, 0.9, 0.1),
        lambda: paired_errors.paired_power(10, 0.1, -0.2, -0.2),
    ):
        with pytest.raises(CobanditError):
            wrong()
