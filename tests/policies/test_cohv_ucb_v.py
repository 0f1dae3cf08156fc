"""CoHV-UCB-V: the variance-aware radius, its formula and its promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import examples

import cobandit as cb


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3))
def test_radius_matches_its_formula_and_is_never_wider(seed, n_arms, n_objectives):
    rng = np.random.default_rng(seed)
    rewards, costs = rng.random((n_arms, n_objectives)), rng.uniform(0.5, 1, n_arms)
    policy = cb.CoHVUCBV(n_arms, n_objectives, 60.0, (0.25, 1.0), alpha=0.01)
    n_seen = {arm: [] for arm in range(n_arms)}
    for _ in range(40):
        arm = policy.ask()
        if arm is None:
            break
        row = [
            costs[arm] * rng.uniform(0.5, 1),
            *(rewards[arm] * rng.random(n_objectives)),
        ]
        policy.tell(arm, row[1:], row[0])
        n_seen[arm].append(row)
    beta = policy.radius
    for arm, rows in n_seen.items():
        if not rows:
            continue
        sigma = np.std(rows, axis=0)  # the biased one, as in the inequality
        expected = np.minimum(beta[arm], 2 * sigma * beta[arm] + 6 * beta[arm] ** 2)
        got = [policy.normalised_cost_radius[arm], *policy.reward_radius[arm]]
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert (np.array(got) <= beta[arm]).all()
