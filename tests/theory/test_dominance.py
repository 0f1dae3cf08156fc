"""The Pareto order compared with twins from Section 3.2 and with moocore."""

import moocore
import numpy as np
import pytest
from hypothesis import given
from support.faults import bad_argument
from support.strategies import mean_matrices

from cobandit import classification_gaps, margins, pareto_mask
from cobandit.dominance import BLOCK

# Twins: single numbers in, single numbers out, one line per definition.


def m(mu, i, j):
    return min(mu[j][d] - mu[i][d] for d in range(len(mu[i])))


def M(mu, i, j):
    return max(mu[i][d] - mu[j][d] for d in range(len(mu[i])))


def others(mu, i):
    return [j for j in range(len(mu)) if j != i]


def dominates(mu, j, i):
    return all(mu[i][d] < mu[j][d] for d in range(len(mu[i])))


def front(mu):
    return [
        not any(dominates(mu, j, i) for j in range(len(mu))) for i in range(len(mu))
    ]


def delta_minus(mu, i):
    return max(m(mu, i, j) for j in others(mu, i))


def delta_plus(mu, i):
    return min(
        min(M(mu, i, j), max(M(mu, j, i), 0) + max(delta_minus(mu, j), 0))
        for j in others(mu, i)
    )


def gamma(mu, i):
    return delta_plus(mu, i) if front(mu)[i] else delta_minus(mu, i)


@pytest.mark.slow
@given(mean_matrices())
def test_implementations_agree(mu):
    """On the grid every difference is exact, so twins agree to the last bit."""
    arms = range(len(mu))
    small, large = margins(mu)
    assert pareto_mask(mu).tolist() == front(mu.tolist())
    assert classification_gaps(mu).tolist() == [gamma(mu.tolist(), i) for i in arms]
    assert small.tolist() == [[m(mu, i, j) for j in arms] for i in arms]
    assert large.tolist() == [[M(mu, i, j) for j in arms] for i in arms]
    assert (large == -small).all()


@pytest.mark.parametrize(
    ("n_arms", "n_objectives"), [(2, 1), (40, 1), (40, 3), (25, 12)]
)
def test_implementations_agree_off_the_grid(n_arms, n_objectives):
    # any sign: only the order counts
    mu = np.random.default_rng(n_arms).normal(size=(n_arms, n_objectives))
    assert pareto_mask(mu).tolist() == front(mu.tolist())
    assert classification_gaps(mu).tolist() == [
        gamma(mu.tolist(), i) for i in range(n_arms)
    ]


@given(mean_matrices())
def test_gaps_are_zero_exactly_at_ties(mu):
    """gamma >= 0; an arm weakly but not strictly dominated stays, with gap 0."""
    mask, gaps = pareto_mask(mu), classification_gaps(mu)
    assert (gaps >= 0).all() and (gaps[~mask] > 0).all() and mask.any()
    for i in np.flatnonzero(mask):
        if any((mu[j] >= mu[i]).all() for j in others(mu, i)):
            assert gaps[i] == 0


@pytest.mark.parametrize("n_values", [5, 40, 100_000])
def test_fronts_of_many_arms_equal_comparisons_of_all_pairs(n_values):
    """More arms than are compared at once, with many ties, few and none."""
    rng = np.random.default_rng(n_values)
    mu = rng.integers(0, n_values, (2 * BLOCK + 5, 3)) / n_values

    for tolerance in (0.0, 0.1):
        exceeds = (mu[:, None] > mu + tolerance).all(axis=2)
        assert (pareto_mask(mu, tolerance=tolerance) == ~exceeds.any(axis=0)).all()

    standard = moocore.is_nondominated(mu, maximise=True, keep_weakly=True)
    assert (pareto_mask(mu, "standard", tolerance=0.0) == standard).all()


@pytest.mark.parametrize("n_objectives", [2, 3, 5])
def test_moocore_agrees_without_ties(n_objectives):
    """Weak and strict dominance agree without shared coordinates."""
    rng = np.random.default_rng(n_objectives)
    for _ in range(50):
        mu = np.column_stack([rng.permutation(60) for _ in range(n_objectives)]) / 60
        assert (pareto_mask(mu) == moocore.is_nondominated(mu, maximise=True)).all()


def test_dominance_is_strict_in_every_coordinate():
    """moocore's weak order drops the second and third arm; the paper's keeps them."""
    mu = np.array([[0.5, 0.5], [0.5, 0.25], [0.5, 0.5], [0.25, 0.25]])
    assert pareto_mask(mu).tolist() == [True, True, True, False]
    assert classification_gaps(mu).tolist() == [0, 0, 0, 0.25]
    assert moocore.is_nondominated(mu, maximise=True).tolist() == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("function", [pareto_mask, classification_gaps, margins])
@pytest.mark.parametrize(
    ("means", "code"),
    [
        ([[0.5, 0.5]], "wrong-shape"),
        ([], "wrong-shape"),
        ([0.5, 0.5], "wrong-shape"),
        ([[], []], "wrong-shape"),
        ([[0.5], [0.5, 0.25]], "not-numbers"),
        ([[0.5], [float("nan")]], "not-finite"),
        ([[0.5], [float("inf")]], "not-finite"),
        ([["a"], ["b"]], "not-numbers"),
        (None, "not-numbers"),
    ],
    ids=[
        "one arm",
        "empty",
        "1-d",
        "no objective",
        "ragged",
        "nan",
        "inf",
        "text",
        "none",
    ],
)
def test_invalid_means_are_refused(function, means, code):
    with bad_argument(code, "means"):
        function(means)
