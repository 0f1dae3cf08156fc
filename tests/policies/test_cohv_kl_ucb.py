"""The index of CoHV-KL-UCB, the divergence behind it, and its region."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit import theory
from cobandit.policies.cohv_ucb import _largest_efficiency
from companion.proofs import least_regret

share = st.floats(0.02, 0.98)


@pytest.mark.slow
@given(share, share, st.floats(0.05, 0.9), st.floats(1e-4, 5.0))
@examples(60)
def test_index_matches_a_grid_search(r, q, lam, allowed):
    """Return the largest mean over costs that the remaining divergence allows."""
    index = _largest_efficiency((r,), q, allowed, lam)
    best = 0.0
    for z in np.linspace(0, q, 400)[1:]:
        rest = allowed - float(theory.bernoulli_divergence(q, z))
        if rest < 0:
            continue
        top = 1 - 1e-15
        if theory.bernoulli_divergence(r, top) <= rest:
            x = top
        else:
            x = optimize.brentq(
                lambda x, rest=rest: float(theory.bernoulli_divergence(r, x)) - rest,
                r,
                top,
            )
        best = max(best, x / (lam + (1 - lam) * z))
    assert best <= index * (1 + 1e-9) and index <= best * 1.03


@given(
    st.lists(share, min_size=1, max_size=3),
    share,
    st.floats(0.05, 0.9),
    st.floats(1e-5, 2.0),
)
def test_index_and_divergence_are_inverse(r, q, lam, allowed):
    index = _largest_efficiency(tuple(r), q, allowed, lam)
    cost = lam + (1 - lam) * q
    assert theory.least_divergence(r, cost, index, cost_ratio=lam) == pytest.approx(
        allowed, rel=1e-5
    )


@pytest.mark.parametrize("lam", [0.05, 0.9, 1.0])
@pytest.mark.parametrize("rewards", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("q", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("allowed", [1e-6, 0.1, 20.0])
def test_feedback_at_zero_and_one_is_handled(lam, rewards, q, allowed):
    q = q if lam < 1 else 0.0
    index = _largest_efficiency(rewards, q, allowed, lam)
    observed = np.prod(rewards) / (lam + (1 - lam) * q)
    assert observed * (1 - 1e-12) <= index <= 1 / lam * (1 + 1e-12)


def test_divergences_may_be_zero_or_infinite():
    # it is better already
    assert theory.least_divergence([0.5], 0.5, 0.9, cost_ratio=0.25) == 0
    # nothing is
    assert theory.least_divergence([0.5], 0.5, 4.0, cost_ratio=0.25) == np.inf
    with bad_argument("out-of-range", "means"):
        theory.least_divergence([1.0], 0.5, 3.0, cost_ratio=0.25)


def test_region_is_left_at_most_as_often_as_stated():
    """False alarm 1e-6; three fifths of the right-hand side are noticed."""
    mean, level, runs = np.array([0.5, 0.2, 0.7]), 0.1, 400
    maximum = stats.binom.isf(1e-6, runs, level)
    assert least_regret.leaving_region(mean, runs, 400, 0, level) <= maximum
    assert least_regret.leaving_region(mean, runs, 400, 0, level, share=0.6) > maximum


def test_coins_are_independent_with_the_given_means():
    arms = least_regret.coin_arms(
        [[0.75, 0.5], [0.25, 0.9]], [0.7, 0.55], cost_ratio=0.4
    )
    assert np.allclose(arms.problem.means, [[0.75, 0.5], [0.25, 0.9]])
    assert np.allclose(arms.problem.costs, [0.7, 0.55])
    assert np.allclose(np.corrcoef(arms.rows[: 20**3].T), np.eye(3))
    with bad_argument("not-multiples", "means"):
        least_regret.coin_arms([[0.77], [0.5]], [0.7, 0.55], cost_ratio=0.4)


def test_index_uses_the_stated_threshold():
    policy = cb.CoHVKLUCB(2, 1, 100.0, (0.5, 2.0))
    for reward, cost in ((1.0, 0.5), (0.0, 2.0), (1.0, 1.0)):
        policy.tell(policy.ask(), [reward], cost)
    n, lam = policy.pulls, 0.25
    allowed = (np.log(theory.horizon(50.0, lam)) + np.log(np.pi * (n + 0.5))) / n
    shares = (policy.mean_costs / 2 - lam) / (1 - lam)
    stated = [
        _largest_efficiency(tuple(policy.mean_rewards[i]), shares[i], allowed[i], lam)
        for i in range(2)
    ]
    assert policy.index() == pytest.approx(stated)
