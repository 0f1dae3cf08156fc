"""Radii that count pulls in flight: by hand, as an inequality, under delay."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cobandit as cb
from cobandit import theory
from companion import bounds


def test_sequential_pulls_keep_the_papers_radius():
    assert theory.alpha_in_flight(1, 1, budget=10, cost_ratio=0.5, alpha=3) == 3


@given(
    st.integers(1, 50),
    st.integers(1, 100),
    st.integers(0, 1000),
    st.floats(0, 1),
    st.floats(2, 1e6),
    st.floats(0.01, 4),
)
def test_wider_radius_covers_missing_results(
    at_once, n_init, more, share, budget, alpha
):
    n_told, flying = n_init + more, round(share * (at_once - 1))
    n, log_T = n_told + flying, log(theory.horizon(budget, 1.0))
    given_ = {"budget": budget, "cost_ratio": 1.0, "alpha": alpha}
    wider = theory.alpha_in_flight(at_once, n_init, **given_)
    assert (sqrt(alpha * n * log_T) + flying) / n_told <= sqrt(wider * log_T / n) * (
        1 + 1e-12
    )


def watched(means, alpha_of_run, *, at_once, n_init, alpha, budget, seed):
    """Play CoHV-UCB as printed, good answers held back as long as others are in flight.

    Whether the event held (of each arm, for every n, the sums over its first n
    evaluations are within sqrt(alpha n log T) of their means), whether optimism did
    whenever the index decided, and the pulls.
    """
    truth, rng = (
        np.column_stack([means, [0.75, 0.75, 0.5]]),
        np.random.default_rng(seed),
    )
    policy = cb.CoHVUCB(
        3, 2, budget, (0.25, 1.0), alpha=alpha_of_run, n_init=n_init, selection="all"
    )
    allowed, sums = alpha * log(theory.horizon(budget, 0.25)), np.zeros((3, 3))
    on_event, optimistic, flying = True, True, []
    while not policy.finished:
        while len(flying) < at_once and (pull := policy.ask()) is not None:
            row = np.append(
                rng.random(2) < means[pull], truth[pull, 2] + rng.choice([-0.25, 0.25])
            )
            sums[pull] += row
            n = pull.number + 1
            on_event &= bool(
                (np.abs(sums[pull] - n * truth[pull]) <= sqrt(allowed * n)).all()
            )
            flying.append((pull, row))
        if policy.pulls.min() >= n_init:
            optimistic &= bool((policy.optimistic_rewards >= means).all())
            optimistic &= bool(
                (policy.normalised_optimistic_costs <= truth[:, 2]).all()
            )
        pull, row = flying.pop(int(np.argmin([row[:2].sum() for _, row in flying])))
        policy.tell(pull, row[:2], row[2])
    return on_event, optimistic, policy.pulls


@pytest.mark.slow
def test_optimism_holds_on_the_event_under_any_delay():
    """The sequential alpha fails in some runs on the event; the wider one never."""
    means = np.array([[0.5, 0.5], [0.5, 0.25], [0.25, 0.25]])
    given_ = {"at_once": 9, "n_init": 3, "alpha": 0.15, "budget": 40.0}
    wider = theory.alpha_in_flight(9, 3, budget=40.0, cost_ratio=0.25, alpha=0.15)
    n_kept = 0
    failed = 0
    for seed in range(60):
        on_event, optimistic, _ = watched(means, wider, **given_, seed=seed)
        assert optimistic or not on_event
        n_kept += on_event
        on_event, optimistic, _ = watched(means, 0.15, **given_, seed=seed)
        failed += on_event and not optimistic
    assert n_kept >= 10, "the event hardly ever held: nothing was tested"
    assert failed >= 5, (
        "without the wider radius nothing fails either: nothing was tested"
    )


@pytest.mark.parametrize("at_once", [1, 4, 8])
@pytest.mark.slow
def test_pulls_on_the_event_stay_below_the_bound(at_once):
    """The threshold bound at the wider alpha, or n_0."""
    means = np.array([[0.9, 0.9], [0.2, 0.2], [0.1, 0.1]])
    given_ = {"at_once": at_once, "n_init": 30, "alpha": 0.5, "budget": 600.0}
    wider = theory.alpha_in_flight(
        at_once, 30, budget=600.0, cost_ratio=0.25, alpha=0.5
    )
    problem = cb.Problem(means, [0.75, 0.75, 0.5])
    radius = np.array(
        [
            bounds.threshold_radius(
                means[arm],
                problem.costs[arm],
                problem.efficiency.max(),
                cost_ratio=0.25,
            )
            for arm in (1, 2)
        ]
    )
    bound = np.maximum(30, 1 + wider * log(theory.horizon(600.0, 0.25)) // radius**2)
    assert (bound < 600 / 0.75).all(), "the bound says nothing"
    runs = [watched(means, wider, **given_, seed=seed) for seed in range(6)]
    event_pulls = [pulls for on_event, _, pulls in runs if on_event]
    assert len(event_pulls) >= 3
    assert (np.array(event_pulls)[:, 1:] <= bound).all()
