"""An instance that some configuration cannot be evaluated on is left out for all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument
from support.strategies import cost_vectors

import cobandit as cb
from cobandit import _budget
from cobandit.errors import BudgetError
from cobandit.policies import CoPSIPrintedOnce, EGESHOnce, PSISROnce, Pull, UniformOnce

ONCE = [cb.CoPSIOnce, CoPSIPrintedOnce, EGESHOnce, PSISROnce, UniformOnce]
N = 12


def play(finder, rewards, impossible, rng, at_once=3, failing=0.2):
    """Play with several in flight, and omit the ``impossible`` pairs (K, N).

    Returns what was scored, shape (N, K), and the numbers that were handed out after
    they had been left out.
    """
    reported, late, flying = np.zeros((N, finder.n_arms), dtype=bool), [], []
    while not finder.finished:
        while len(flying) < at_once and (pull := finder.ask()) is not None:
            late += [pull.key] * bool(finder.left_out[pull.number])
            flying.append(pull)
        pull = flying.pop(int(rng.integers(len(flying))))
        if rng.random() < failing:
            finder.tell(pull, None)
        elif impossible[pull.key]:
            if rng.random() < 0.5 and not finder.left_out[pull.number]:
                finder.tell(pull, None)
            finder.leave_out(pull)
        else:
            finder.tell(pull, rewards[pull.key])
            reported[pull.number, int(pull)] = True
    return reported, late


@pytest.mark.slow
@given(
    st.sampled_from(ONCE),
    cost_vectors(4),
    st.floats(1, 14),
    st.floats(0, 0.3),
    st.sampled_from([1, 3, 10**9]),
    st.integers(0, 2**32),
)
def test_statistics_exclude_omitted_instances(cls, costs, rho, share, at_once, seed):
    rng = np.random.default_rng(seed)
    rewards, impossible = rng.integers(0, 5, (4, N, 2)) / 4, rng.random((4, N)) < share
    try:
        finder = cls(costs, rho * costs.sum(), 2, N)
    except BudgetError:
        return
    reported, late = play(finder, rewards, impossible, rng, at_once)
    assert not late
    # also of what was in flight and left out
    assert (finder.pulls == reported.sum(axis=0)).all()
    assert finder.spent == pytest.approx(finder.pulls @ costs)
    assert finder.spent <= _budget.add_slack(finder.budget)
    assert finder.n_kept == N - finder.left_out.sum()
    assert (finder.left_out <= impossible.any(axis=0)).all()
    is_kept = reported & ~finder.left_out[:, None]
    for arm in range(4):
        mean = (
            rewards[arm, is_kept[:, arm]].mean(axis=0)
            if is_kept[:, arm].any()
            else np.zeros(2)
        )
        assert finder.mean_rewards[arm] == pytest.approx(mean)


@pytest.mark.parametrize("cls", ONCE)
@pytest.mark.parametrize("seed", range(5))
def test_remaining_instances_give_the_exact_front(cls, seed):
    rng = np.random.default_rng(seed)
    rewards, impossible = rng.random((4, N, 2)), rng.random((4, N)) < 0.1
    finder = cls([1.0, 2.0, 0.5, 4.0], 7.5 * N * 4, 2, N)
    play(finder, rewards, impossible, rng)
    everything = ~impossible.any(axis=0)
    if cls in (cb.CoPSIOnce, UniformOnce):
        assert (finder.left_out == ~everything).all() and finder.left_out.any()
    is_kept = rewards[:, ~finder.left_out]
    assert (
        finder.recommend().tolist()
        == np.flatnonzero(cb.pareto_mask(is_kept.mean(axis=1))).tolist()
    )


def test_copsi_once_continues_with_smaller_n_and_N():
    """Its statistics by their formula, on the instances that are kept."""
    rewards = np.random.default_rng(3).random((3, N, 2))
    finder = cb.CoPSIOnce([1.0, 2.0, 1.5], 40, 2, N)
    while finder.depth == 0:
        pull = finder.ask()
        if pull.key == (1, 2):
            finder.leave_out(pull)
        else:
            finder.tell(pull, rewards[pull.key])
    assert (finder.depth, finder.n_kept) == (4, 11)
    assert finder.pulls.tolist() == [5, 4, 4]  # the first had been evaluated on it
    assert finder.ask().number == 5
    x = (rewards[2] - rewards[0])[[0, 1, 3, 4]]
    variance = (0.25 + ((x - x.mean(axis=0)) ** 2).sum(axis=0)) / 4
    expected = x.mean(axis=0) / np.sqrt(variance / 4 * (1 - 4 / 11))
    assert finder._smallest_t_statistics()[0, 2] == pytest.approx(expected.min())


def test_pulls_in_flight_on_omitted_instances_are_charged_only():
    finder = cb.CoPSIOnce([1.0, 2.0], 30, 1, 10)
    pulls = {pull.key: pull for pull in iter(finder.ask, None)}
    finder.tell(pulls[0, 1], [1.0])
    finder.leave_out(pulls[1, 1])
    assert finder.spent == 1.0 and finder.mean_rewards[0] == 0.0  # taken back
    finder.leave_out(pulls[0, 2])
    finder.tell(pulls[1, 2], [0.5], 1.5)
    assert (
        finder.spent == 2.5
        and finder.pulls.tolist() == [1, 1]
        and not finder.mean_rewards.any()
    )
    finder.leave_out(pulls[0, 3])
    finder.tell(pulls[1, 3], None, 0.25)  # is not tried again: nobody needs it
    assert finder.spent == 2.75 and finder.ask() is None
    assert finder.left_out.tolist() == [False, True, True, True] + [False] * 6


def test_invalid_omissions_are_refused():
    finder = cb.CoPSIOnce([1.0, 2.0], 30, 1, 10)
    pull = finder.ask()
    with bad_argument("not-in-flight", "arm", ["evaluation 5 of arm 1"]):
        finder.leave_out(Pull(1, 5))
    finder.tell(pull, [0.5])
    with bad_argument("not-in-flight", "arm"):
        finder.leave_out(pull)
    assert not finder.left_out.any()
    certain = cb.CoPSIOnce([1.0, 2.0], 30, 1, 10, confidence=0.9)
    with bad_argument("needs-all-instances", "pull"):
        certain.leave_out(certain.ask())
    online = cb.HVUCB(2, 1, 30, (1.0, 1.0))
    with bad_argument("no-shared-instances", "pull", ["HVUCB"]):
        online.leave_out(online.ask())


def test_no_remaining_instance_means_no_recommendation():
    for cls in (cb.CoPSIOnce, UniformOnce):
        finder = cls([1.0, 2.0], 30, 1, 3)
        while (pull := finder.ask()) is not None:
            finder.leave_out(pull)
        assert finder.finished and finder.n_kept == 0 and finder.spent == 0
        assert finder.recommend().tolist() == []


@pytest.mark.filterwarnings("error")
def test_omitted_phase_removes_no_arm():
    finder = cb.CoPSIOnce([1.0, 2.0, 1.5], 30, 2, N)
    phase = list(iter(finder.ask, None))
    for pull in phase:
        finder.leave_out(pull)
    assert (
        finder.depth == 0
        and finder.phases == []
        and finder.n_kept == N - len(phase) // 3
    )
    assert finder.ask().key == (0, len(phase) // 3)


def test_next_pull_avoids_omitted_instances():
    finder = cb.CoPSIOnce([1.0, 2.0, 1.5], 60, 2, N)
    pulls = [finder.ask() for _ in range(9)]
    assert pulls[4].key == (0, 4) and pulls[8].key == (1, 3) and finder.upcoming == 1
    finder.leave_out(pulls[4])  # the last of the phase
    assert finder.upcoming == 2 and finder.ask().key == (2, 0)
