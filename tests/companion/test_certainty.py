"""Bounds on the cost of certainty, against certificates and methods."""

from bisect import bisect_left
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import examples

import cobandit as cb
from cobandit.errors import CobanditError
from companion import bounds
from companion.bounds.certainty import needed_in, smallest_changes
from companion.proofs.without_replacement import least_share


def front(rewards):
    return cb.pareto_mask(rewards.mean(axis=1))


def are_certificates(rewards, seen):
    """Return which sets (S, K, N) are certificates: all completions have one front.

    Means move one by one and dominance is monotone in each, so that the extremes
    decide.
    """
    n_arms, n_instances, n_objectives = rewards.shape
    sums = np.einsum("skn,knd->skd", seen, rewards)
    missing = n_instances - seen.sum(axis=2, keepdims=True)
    fronts = []
    for fill in product((0.0, 1.0), repeat=n_objectives * n_arms):
        means = (
            sums + missing * np.reshape(fill, (n_arms, n_objectives))
        ) / n_instances
        beats = (means[:, :, None] > means[:, None]).all(axis=3)
        fronts.append(~beats.any(axis=1))
    return (np.array(fronts) == fronts[0]).all(axis=(0, 2))


@st.composite
def small_tables(draw):
    n_arms, n_instances, n_objectives = draw(
        st.sampled_from([(2, 4, 1), (2, 4, 2), (3, 3, 1), (3, 3, 2)])
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        return rng.integers(0, 3, (n_arms, n_instances, n_objectives)) / 2
    return rng.random((n_arms, n_instances, n_objectives))


@pytest.mark.slow
@examples(50)
@given(small_tables())
def test_no_certificate_has_fewer_evaluations_than_the_bound(rewards):
    n_arms, n_instances, _ = rewards.shape
    sets = np.array(list(product((False, True), repeat=n_arms * n_instances)))
    sets = sets.reshape(-1, n_arms, n_instances)
    fewest = sets[are_certificates(rewards, sets)].sum(axis=2).min(axis=0)
    assert (bounds.least_evaluations(rewards) <= fewest + 1e-9).all()


def test_bound_is_attained_if_one_objective_decides():
    """One arm is right on all ten: every six of its evaluations are a certificate."""
    rewards = np.ones((2, 10, 1))
    rewards[1, 6:] = 0
    assert bounds.least_evaluations(rewards).tolist() == [6, 0]
    mask = np.ones((2, 2, 10), dtype=bool)
    # six ones of ten: level with the other, if the rest is zero
    mask[0, 0, 6:] = mask[1, 0, 7:] = False
    assert are_certificates(rewards, mask).tolist() == [False, True]


def brute_force(rewards, delta):
    """Check the statement on all sets of instances and all their subsets."""
    n_arms, n_instances, n_objectives = rewards.shape
    truth = front(rewards).tobytes()
    subsets = [[] for _ in range(n_instances + 1)]
    for size in range(n_instances + 1):
        subsets[size] = list(combinations(range(n_instances), size))
    minimum = np.zeros(n_arms)
    for i, d in np.ndindex(n_arms, n_objectives):
        needed = [{}, {}]
        for to, result in enumerate(needed):
            changes = {}
            for size in range(1, n_instances + 1):
                for Q in subsets[size]:
                    changed = rewards.copy()
                    changed[i, list(Q), d] = 1 - to
                    changes[Q] = front(changed).tobytes() != truth
            for size in range(1, n_instances + 1):
                for G in subsets[size]:
                    enough = [
                        m
                        for m in range(1, size + 1)
                        if all(changes[Q] for Q in combinations(G, m))
                    ]
                    result[G] = (
                        needed_in([size], [enough[0]], delta)[0] if enough else 0.0
                    )
        for size in range(n_instances + 1):
            for G in subsets[size]:
                rest = tuple(q for q in range(n_instances) if q not in G)
                minimum[i] = max(
                    minimum[i], needed[0].get(G, 0.0) + needed[1].get(rest, 0.0)
                )

    return minimum


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.2])
def test_bound_is_the_maximum_over_all_sets(seed, delta):
    rng = np.random.default_rng(seed)
    rewards = rng.random(
        (int(rng.integers(2, 5)), 5, int(rng.integers(1, 4)))
    ) ** rng.uniform(0.2, 5)
    assert bounds.least_evaluations(rewards, delta) == pytest.approx(
        brute_force(rewards, delta)
    )


@pytest.mark.parametrize("seed", range(30))
def test_front_changes_exactly_beyond_the_smallest_change(seed):
    rng = np.random.default_rng(seed)
    means = rng.random((int(rng.integers(2, 7)), int(rng.integers(1, 4))))
    truth = cb.pareto_mask(means)
    for sign, changes in zip((1, -1), smallest_changes(means), strict=True):
        for i, d in np.ndindex(means.shape):
            for factor in (0.999, 1.001):
                changed = means.copy()
                changed[i, d] += sign * min(factor * changes[i, d], 10.0)
                beyond = factor > 1 and np.isfinite(changes[i, d])
                assert (cb.pareto_mask(changed) != truth).any() == beyond


@pytest.mark.parametrize(("g", "m"), [(6, 1), (6, 2), (7, 3), (5, 5)])
@pytest.mark.parametrize("delta", [0.0, 0.02, 0.1, 0.3])
def test_needed_evaluations_match_counted_subsets(g, m, delta):
    subsets = list(combinations(range(g), m))
    missed = [np.mean([min(Q) >= h for Q in subsets]) for h in range(g + 1)]
    first = next(h for h in range(g + 1) if missed[h] <= 2 * delta)
    before = (
        np.interp(2 * delta, [missed[first], missed[first - 1]], [first, first - 1])
        if first
        else 0.0
    )
    assert needed_in([g], [m], delta)[0] == pytest.approx(before)


@pytest.mark.parametrize(
    ("g", "m"),
    [(2000, 1000), (1200, 1100), (1500, 1500), (3000, 2), (50, 3)],
    ids=lambda n: str(n),
)
@pytest.mark.parametrize("delta", [0.0, 1e-300, 0.025, 0.3])
def test_needed_evaluations_of_thousands_match_exact_arithmetic(g, m, delta):
    """Shares of subsets fall below what a floating-point number can hold."""

    def missed(h):
        return Fraction(comb(g - h, m), comb(g, m))

    allowed = 2 * Fraction(delta)
    high = bisect_left(range(g - m + 2), -allowed, key=lambda h: -missed(h))
    share = (missed(high - 1) - allowed) / (missed(high - 1) - missed(high))
    assert needed_in([g], [m], delta)[0] == pytest.approx(float(high - 1 + share))


@pytest.mark.slow
def test_bound_falls_with_the_error_and_is_below_the_spend():
    table = cb.load("synthetic-24")
    shares = [least_share(table, delta) for delta in (0.0, 0.01, 0.05, 0.2, 0.49)]
    assert (
        shares == sorted(shares, reverse=True)
        and shares[-1] < 0.01
        and 0.6 < shares[0] < 1
    )
    sure = cb.spec("CoPSIOnce", confidence=0.95)
    runs = cb.replay_identification(
        table, sure, share=1.0, feedback="once", replications=20
    )
    assert shares[2] < (runs["spent"] / runs["budget"]).mean() < 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bounds.least_evaluations(np.ones((2, 3))),
        lambda: bounds.least_evaluations(np.ones((2, 0, 1))),
        lambda: bounds.least_evaluations(np.full((2, 3, 1), 1.5)),
        lambda: bounds.least_evaluations(np.ones((2, 3, 1)), delta=0.5),
        lambda: bounds.least_evaluations(np.ones((2, 3, 1)), delta=-0.1),
    ],
)
def test_arguments_out_of_range_are_refused(wrong):
    with pytest.raises(CobanditError):
        wrong()
