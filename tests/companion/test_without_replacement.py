"""Sampling without replacement: bounds against exact enumeration."""

import math
from itertools import combinations, product
from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit.errors import CobanditError
from cobandit.policies.paired_evidence import PairedEvidence
from companion import bounds
from companion.proofs.exact_once import (
    exact_tails,
    largest_ratio,
    orders,
    two_arms_once,
)


@pytest.mark.parametrize(("n_instances", "levels"), [(4, 2), (6, 2), (7, 2), (5, 3)])
@pytest.mark.parametrize(
    "bound",
    [
        lambda e, n, N, _: bounds.hoeffding_serfling_tail(e, n, N),
        lambda e, n, N, x: bounds.bernstein_serfling_tail(e, n, N, x.var()),
    ],
    ids=["Hoeffding", "Bernstein"],
)
def test_serfling_bounds_hold_for_all_later_depths(bound, n_instances, levels):
    assert 0.8 < largest_ratio(bound, n_instances, levels) <= 1


CUT = {
    "3 in place of 2": lambda e, n, N, x: bounds.hoeffding_serfling_tail(
        e * 1.5**0.5, n, N
    ),
    "without 1 + 1/n": lambda e, n, N, x: (
        exp(-2 * n * e**2 / (1 - n / N)) if n < N else 0.0
    ),
    "n unseen, not n - 1": lambda e, n, N, x: (
        exp(-2 * n * e**2 / (1 - (n + 1) / N)) if n + 1 < N else 1.0
    ),
    "Gauss in place of Bernstein": lambda e, n, N, x: exp(-n * e**2 / (2 * x.var())),
}


@pytest.mark.parametrize("bound", CUT.values(), ids=CUT)
def test_cut_constant_is_noticed(bound):
    assert largest_ratio(bound, 4, 2) > 1.05


def test_serfling_factor_falls_and_switches_at_half():
    factors = [bounds.serfling_factor(n, 100) for n in range(1, 101)]
    assert factors[0] == 1 and factors[-1] == 0 and (np.diff(factors) < 0).all()
    for n in (10, 49):
        assert factors[n - 1] == pytest.approx(1 - (n - 1) / 100)
    for n in (51, 90):
        assert factors[n - 1] == pytest.approx((1 - n / 100) * (1 + 1 / n))


def test_enumerated_tail_is_hypergeometric():
    tails = {
        (n, values.sum(), round(is_off, 9)): tail
        for tail, is_off, n, values in exact_tails(6)
    }
    assert tails[5, 3, 0.1] == pytest.approx(0.5)  # the last is a zero
    assert len(list(orders([0, 0, 1, 1]))) == 6


@pytest.mark.parametrize("depth", [1, 3, 5, 6])
@pytest.mark.parametrize(("better", "worse"), [(1, 0), (2, 1), (4, 2), (3, 3)])
def test_error_of_two_arms_matches_enumeration(better, worse, depth):
    differences = np.repeat([1, -1, 0], [better, worse, 6 - better - worse])
    n_seen = [sum(differences[list(Q)]) for Q in combinations(range(6), depth)]
    assert two_arms_once(better, worse, 6, depth) == pytest.approx(
        np.mean(np.array(n_seen) <= 0)
    )


def test_error_bound_vanishes_at_full_depth():
    gaps = [0.2, 0.1, 0.4]
    options = {"n_objectives": 2, "n_instances": 1000}
    assert bounds.once_error_bound([1000, 1000], gaps, **options) == 0
    assert bounds.once_error_bound([1000, 1000], [0.0, 0.0, 0.4], **options) == 0
    assert bounds.once_error_bound([1000, 999], [0.0, 0.0, 0.4], **options) == inf
    expected = [600 * 0.4**2, 800 * 0.2**2]  # the largest gap first
    factor = [(1 - n / 1000) * (1 + 1 / n) for n in (600, 800)]
    bound = (
        2
        * 3
        * 2
        * sum(exp(-x / (32 * f)) for x, f in zip(expected, factor, strict=True))
    )
    assert bounds.once_error_bound([600, 800], gaps, **options) == pytest.approx(bound)
    with_replacement = 2 * 3 * 2 * sum(exp(-x / 32) for x in expected)
    assert bound < with_replacement / 5


def test_pairing_pays_for_similar_answers():
    depths = [400, 450]
    gaps = [0.2, 0.2, 0.3]
    alike = np.full((3, 3, 1), 0.02)
    independent = np.full((3, 3, 1), 0.5)
    all_bounds = [
        bounds.paired_error_bound(depths, gaps, v, n_instances=500)
        for v in (alike, independent)
    ]
    plain = bounds.once_error_bound(depths, gaps, n_objectives=1, n_instances=500)
    assert 1e3 * all_bounds[0] < min(plain, all_bounds[1])
    assert (
        bounds.paired_error_bound(depths, gaps, np.ones((3, 3, 1)), n_instances=500)
        > plain
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bounds.serfling_factor(5, 4),
        lambda: bounds.serfling_factor(0, 4),
        lambda: bounds.hoeffding_serfling_tail(0.0, 1, 4),
        lambda: bounds.hoeffding_serfling_tail(0.1, 1, 4, width=-1),
        lambda: bounds.bernstein_serfling_tail(0.1, 1, 4, variance=-0.1),
        lambda: bounds.once_error_bound(
            [1], [0.1, 0.1, 0.1], n_objectives=1, n_instances=4
        ),
        lambda: bounds.once_error_bound(
            [1], [0.1, -0.1], n_objectives=1, n_instances=4
        ),
        lambda: bounds.paired_error_bound(
            [1], [0.1, 0.1], np.ones((3, 3, 1)), n_instances=4
        ),
    ],
)
def test_arguments_out_of_range_are_refused(wrong):
    with pytest.raises(CobanditError):
        wrong()


def expected_capital(population):
    """Return the mean capital of bets on a false mean after 1, ..., N steps."""
    capitals = []
    for order in orders(population):
        evidence = PairedEvidence(2, 1, len(order), 0.5)
        observations = []
        for x in order:
            evidence.add(np.arange(2), np.array([[[0.0], [x]], [[-x], [0.0]]]))
            observations.append(evidence._capital[0, 1, 0].sum())
        capitals.append(observations)
    return np.mean(capitals, axis=0)


@pytest.mark.parametrize(
    "population", [[-1, 0, 1], [-1, -1, 1, 1], [-1, -0.5, 0, 0.5, 1], [-1, -1, 0, 1, 1]]
)
def test_capital_of_a_false_bet_is_a_martingale(population):
    assert expected_capital(population) == pytest.approx(1)
    lower = expected_capital(np.array(population) * 0.75 - 0.25)
    assert (np.diff(lower) < 0).all() and lower[0] < 1


def wrongly_certain(population, confidence):
    """Return the probability that two arms with equal means are ever separated."""
    matches = []
    for order in orders(population):
        evidence = PairedEvidence(2, 1, len(order), confidence)
        for x in order:
            evidence.add(np.arange(2), np.array([[[0.0], [x]], [[-x], [0.0]]]))
        matches.append(evidence.above.any())
    return np.mean(matches)


@pytest.mark.parametrize("confidence", [0.1, 0.3, 0.5, 0.8])
def test_equal_arms_are_rarely_separated(confidence):
    population = [-1] * 4 + [1] * 4
    assert wrongly_certain(population, confidence) <= 1 - confidence


def test_certainty_needs_the_union_over_both_directions(
    monkeypatch,
):
    """The limit counts 2 claims; a limit for a half of one is passed too often."""
    population = [-1] * 4 + [1] * 4
    confidence = 0.1
    original = PairedEvidence.__init__

    def lax(self, *arguments):
        original(self, *arguments)
        self.limit /= 2

    monkeypatch.setattr(PairedEvidence, "__init__", lax)
    assert wrongly_certain(population, confidence) > 1 - confidence


def test_arm_that_others_are_judged_by_stays():
    """Arm 0 is on the front, but may dominate 2; arm 1 is dominated and removed."""
    evidence = PairedEvidence(3, 1, 100, 0.9)
    evidence.above[1, 0] = evidence.above[1, 2] = True
    evidence.spared[0] = True
    active = np.arange(3)
    assert evidence.certain.tolist() == [True, True, False]
    assert evidence.removable(active).tolist() == [False, True, False]
    evidence.above[2, 0] = True
    assert evidence.removable(active).tolist() == [True, True, True]


@given(st.integers(2, 40), st.integers(0, 40), st.integers(0, 40), st.floats(0, 0.49))
def test_least_instances_at_its_extremes(N, a, b, delta):
    a, b = min(a, N), min(b, N - min(a, N))
    counts = [a, b, N - a - b]
    assert bounds.least_instances(counts, counts, delta) == pytest.approx(
        N * (1 - 2 * delta)
    )
    assert bounds.least_instances([N, 0, 0], [0, N, 0], delta) == pytest.approx(
        1 - 2 * delta, abs=1e-9
    )


def test_best_test_is_optimal_on_a_small_table():
    """By hand: kinds 2, 1, 1 against 1, 2, 1, with one instance of four."""
    powers = [0.0, 0.0, 0.0, 0.0]
    for n in range(4):
        outcomes = list(product(range(3), range(3)))
        first, second = (
            np.array([_chance((x, y), n, counts) for x, y in outcomes])
            for counts in ((2, 1, 1), (1, 2, 1))
        )
        for chosen in product([0, 1], repeat=len(outcomes)):
            if second @ chosen <= 0.25 + 1e-12:
                powers[n] = max(powers[n], float(first @ chosen))

    total = sum(max(0.0, 1 - 0.25 - power) for power in powers)
    assert (
        bounds.least_instances([2, 1, 1], [1, 2, 1], 0.25) <= total + 1e-12
    )  # a randomised test may do better


def _chance(seen, n, counts):
    rest = n - sum(seen)
    if not 0 <= rest <= counts[2] or seen[0] > counts[0] or seen[1] > counts[1]:
        return 0.0
    ways = (
        math.comb(counts[0], seen[0])
        * math.comb(counts[1], seen[1])
        * math.comb(counts[2], rest)
    )
    return ways / math.comb(sum(counts), n)
