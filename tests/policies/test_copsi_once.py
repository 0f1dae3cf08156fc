"""Single-evaluation policies: budgets, exactness, protocol, known methods as twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import made_up, play_once, successive_rejects
from support.faults import bad_argument
from support.strategies import benchmarks, examples, mean_matrices

import cobandit as cb
from cobandit import testing
from cobandit.errors import BudgetError
from cobandit.policies import (
    CoPSIOnce,
    CoPSIPrintedOnce,
    EGESHOnce,
    PSISROnce,
    UniformOnce,
)
from cobandit.policies.copsi_once import find_gaps
from cobandit.policies.paired_evidence import PairedEvidence, count_claims
from cobandit.policies.removal_depths import planned_depth

METHODS = [CoPSIOnce, CoPSIPrintedOnce, EGESHOnce, PSISROnce, UniformOnce]
every_method = pytest.mark.parametrize("method", METHODS)


def within(spent, budget):
    return spent <= budget * (1 + 1e-9)


# The plan.


def planned_by_trial(costs, depth, n_instances, remaining):
    """The definition, from the largest m downwards."""
    costs = sorted(costs, reverse=True)
    for m in range(n_instances, depth, -1):
        reached, spend = depth, 0
        for r in range(len(costs) - 1):
            target = min(n_instances, int(m * sum(costs) / sum(costs[r:])))
            spend += sum(costs[r:]) * max(0, target - reached)
            reached = max(reached, target)
        if spend <= remaining:
            return m
    return depth


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=7), st.integers(0, 30), st.data()
)
def test_planned_depth_is_the_deepest_affordable(costs, n_instances, data):
    n_instances += 1
    depth = data.draw(st.integers(0, n_instances))
    remaining = data.draw(st.integers(0, sum(costs) * n_instances))
    assert planned_depth(costs, depth, n_instances, remaining) == planned_by_trial(
        costs, depth, n_instances, remaining
    )


# Budgets.


@pytest.mark.slow
@every_method
@examples(60)
@given(benchmark=benchmarks(), share=st.floats(0.05, 1.1))
def test_runs_stay_within_budget_and_repeat_nothing(method, benchmark, share):
    rewards, costs = benchmark
    _, n_instances, n_objectives = rewards.shape
    budget = share * n_instances * costs.sum()
    try:
        finder = method(costs, budget, n_objectives, n_instances)
    except BudgetError as error:
        assert within(budget, error.smallest)
        return
    pairs = play_once(finder, rewards)
    assert (
        len(set(pairs)) == len(pairs) == finder.pulls.sum()
        and finder.pulls.max() <= n_instances
    )
    assert within(finder.spent, finder.budget)
    targets = [phase.target for phase in finder.phases]
    assert targets == sorted(targets)


def test_interrupted_run_compares_on_the_same_instances():
    """Arm 0 looks better by an evaluation that arm 1 does not get any more."""
    finder = CoPSIOnce([1, 1], 17, 1, 10)
    for _ in range(5):
        assert finder.ask() == 0
        finder.tell(0, [0.25])
    for _ in range(5):
        assert finder.ask() == 1
        finder.tell(1, [0.3])
    assert finder.ask() == 0
    finder.tell(0, [1.0], 6.5)
    assert finder.ask() is None and finder.pulls.tolist() == [6, 5]
    assert finder.recommend().tolist() == [1]


# Exactness.


@pytest.mark.slow
def test_leftover_budget_completes_remaining_arms():
    """Clear arms are removed early; the two close ones are evaluated completely."""
    rewards = made_up(6, 400)
    rewards[0], rewards[1] = rewards[0] * 0 + 0.9, rewards[0] * 0 + 0.9
    rewards[1, -1] = 0.8  # told apart by the last instance only
    finder = CoPSIOnce([1.0] * 6, 0.5 * 6 * 400, 2, 400)
    play_once(finder, rewards)
    assert finder.pulls[:2].tolist() == [400, 400] and finder.pulls[2:].max() < 400
    assert finder.recommend().tolist() == [0]


def test_dominated_arm_is_removed_at_equal_gaps():
    gaps, front = find_gaps(np.array([[-np.inf, 1.0], [-1.0, -np.inf]]))
    assert front.tolist() == [False, True] and gaps.tolist() == [1.0, 1.0]
    rewards = np.repeat([[[0.0]], [[1.0]]], 10, axis=1)
    finder = CoPSIOnce([1, 1], 10, 1, 10)
    play_once(finder, rewards)
    assert finder.recommend().tolist() == [1] and finder.phases[0].removed == 0


@given(mean_matrices())
def test_gaps_of_differences_equal_gaps_of_means(means):
    weakest = (means - means[:, None]).min(axis=2)
    np.fill_diagonal(weakest, -np.inf)
    gaps, front = find_gaps(weakest)
    assert front.tolist() == cb.pareto_mask(means).tolist()
    assert gaps.tolist() == cb.classification_gaps(means).tolist()


# Confidence.


def test_confident_run_stops_when_all_memberships_are_certain():
    rewards = made_up(5, 400)
    finder = CoPSIOnce([1.0] * 5, 5 * 400, 2, 400, confidence=0.95)
    play_once(finder, rewards)
    assert finder.certain.all() and finder.spent < 0.8 * finder.budget
    assert (
        finder.recommend().tolist()
        == np.flatnonzero(cb.pareto_mask(rewards.mean(axis=1))).tolist()
    )
    assert not CoPSIOnce([1.0] * 5, 5 * 400, 2, 400).certain.any()


def test_certainly_dominated_arms_are_removed_first():
    """Arm 0 dominates 1; removing 0 first would leave 1 to be returned."""
    rewards = np.zeros((2, 400, 2))
    rewards[0] += 1
    finder = CoPSIOnce([1.0] * 2, 2 * 400, 2, 400, confidence=0.95)
    play_once(finder, rewards)
    assert finder.certain.all() and finder.depth < 400
    assert finder.phases[0].removed == 1 and finder.recommend().tolist() == [0]


def test_small_budget_removes_the_clearest_without_certainty():
    finder = CoPSIOnce([1.0] * 8, 0.1 * 8 * 200, 2, 200, confidence=0.95)
    play_once(finder, made_up())
    assert len(finder.phases) == 7 and not finder.certain.all()


@pytest.mark.slow
@examples(60)
@given(benchmark=benchmarks(max_arms=4), share=st.floats(0.3, 1.0))
def test_exhaustive_run_is_certain(benchmark, share):
    rewards, costs = benchmark
    _, n_instances, n_objectives = rewards.shape
    budget = max(costs.sum(), share * n_instances * costs.sum())
    finder = CoPSIOnce(costs, budget, n_objectives, n_instances, confidence=1 - 1e-9)
    play_once(finder, rewards)
    truth = cb.pareto_mask(rewards.mean(axis=1))
    returned = np.isin(np.arange(len(costs)), finder.recommend())
    assert (returned == truth)[finder.certain].all()
    if (finder.pulls == n_instances).all():
        assert finder.certain.all()


@pytest.mark.parametrize(
    ("confidence", "code"),
    [
        *((value, "out-of-range") for value in (0.0, 1.0, 1.5, -0.1)),
        ("high", "not-a-number"),
        (float("nan"), "not-finite"),
    ],
)
def test_invalid_confidence_is_refused(confidence, code):
    with bad_argument(code, "confidence"):
        CoPSIOnce([1, 1], 10, 1, 10, confidence=confidence)


# Protocol.


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [*METHODS, cb.spec(CoPSIOnce, confidence=0.9)], ids=str
)
def test_protocol(method):
    testing.check_policy(method)


@pytest.mark.parametrize(
    ("n_instances", "code"),
    [
        (0, "out-of-range"),
        (-1, "out-of-range"),
        (2.5, "not-a-whole-number"),
        ("many", "not-a-whole-number"),
    ],
)
@every_method
def test_number_of_instances_must_be_a_count(method, n_instances, code):
    with bad_argument(code, "n_instances"):
        method([1, 1], 10, 1, n_instances)


# Known methods.


@pytest.mark.parametrize("seed", range(20))
def test_psi_sr_once_reduces_to_successive_rejects(
    seed,
):
    rewards = np.random.default_rng(seed).random((6, 50))  # no ties
    finder = PSISROnce([1.0] * 6, 0.4 * 300, 1, 50)
    play_once(finder, rewards[:, :, None])
    assert finder.recommend().tolist() == [
        successive_rejects(rewards.tolist(), finder.n_rounds)[1]
    ]


def test_sequential_halving_halves_the_arms():
    rewards = made_up(8, 60)
    finder = EGESHOnce([1.0] * 8, 8 * 30, 2, 60)
    play_once(finder, rewards)
    # 8, 4 and 2 arms
    assert np.unique(finder.pulls, return_counts=True)[1].tolist() == [4, 2, 2]
    assert np.unique(finder.pulls).tolist() == [10, 30, 60]


@given(st.integers(2, 9), st.integers(1, 4), st.data())
def test_counts_of_relevant_claims_match_their_names(n_arms, n_objectives, data):
    """One per pair of a member and another, D per other: the maximum over fronts."""
    dominated = data.draw(st.integers(0, n_arms - 1))
    front = data.draw(st.integers(0, n_arms - dominated))
    counts = []
    for size in range(max(front, 1), n_arms - dominated + 1):
        named = {("front", i, j) for i in range(size) for j in range(n_arms) if j != i}
        named |= {
            ("rest", i, d) for i in range(size, n_arms) for d in range(n_objectives)
        }
        counts.append(len(named))
    assert count_claims(n_arms, n_objectives, dominated, front) == max(counts)


def test_limit_falls_as_memberships_become_certain():
    evidence = PairedEvidence(3, 1, n_instances=400, confidence=0.95)
    levels, limits = np.array([[0.9], [0.5], [0.1]]), [evidence.limit]
    for _ in range(60):
        evidence.add(np.arange(3), levels[None, :, :] - levels[:, None, :])
        evidence.lower_limit()
        limits.append(evidence.limit)
    assert limits[0] == pytest.approx(6 / 0.05) and limits[-1] == pytest.approx(
        4 / 0.05
    )
    assert sorted(limits, reverse=True) == limits and evidence.certain.all()
