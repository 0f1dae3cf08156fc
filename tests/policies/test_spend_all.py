"""CoPSI that spends its whole budget: the steps of its proof by brute force."""

import math
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import brute_force_constant, forced, noise_free, noisy, run
from support.strategies import cost_vectors, examples, problems

import cobandit as cb
from cobandit.testing.policy_runs import guarantees_aside
from cobandit.theory import allocation_constant, exact_allocation_constant
from companion.proofs import allocation


def floor(x):
    return math.floor(x * (1 + 1e-9))


def adaptive(costs, budget, n_objectives=1):
    return cb.CoPSIAdaptive(costs, budget, n_objectives)


def assert_spends_all(finder):
    """What holds on every run with declared costs, whatever the feedback was."""
    costs, budget, K = finder.costs, finder.budget, finder.n_arms
    L = allocation_constant(K, costs.min() / costs.max())
    assert len(finder.phases) == K - 1 and finder.ask() is None
    targets = [phase.target for phase in finder.phases]
    assert targets == sorted(targets)
    for phase in finder.phases:
        cost = costs[phase.active].sum()
        constant = floor(budget / (exact_allocation_constant(costs) * cost))
        assert phase.target >= constant >= math.floor(budget / (L * cost))
    last = costs[finder.phases[-1].active].sum()
    assert budget - last * (1 + 1e-9) < finder.spent <= budget * (1 + 1e-9)


@pytest.mark.parametrize(
    "n_arms", [2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 5))]
)
@pytest.mark.parametrize("factor", [1.0, 1.7, 30.0])
def test_targets_match_every_order_of_elimination(n_arms, factor):
    """Return the rule written out, its constant by all orders of the remaining arms."""
    costs = np.random.default_rng(n_arms).uniform(0.01, 1.0, n_arms).round(3)
    budget = factor * brute_force_constant(costs) * costs.sum()

    @cache
    def constant_of(remaining):
        return brute_force_constant(costs[sorted(remaining)])

    for order in permutations(range(n_arms)):
        finder = adaptive(costs, budget)
        run(finder, noise_free(forced(order), costs))
        assert [phase.removed for phase in finder.phases] == list(order[:-1])
        gone, targets = 0.0, []
        for r in range(n_arms - 1):
            remaining = costs[list(order[r:])]
            constant = constant_of(frozenset(order[r:])) if len(remaining) > 2 else 1.0
            targets.append(floor((budget - gone) / (constant * remaining.sum())))
            gone += remaining[0] * targets[-1]
        assert [phase.target for phase in finder.phases] == targets
        assert (
            allocation.elimination_targets(costs[list(order)], budget)[0].tolist()
            == targets
        )
        assert_spends_all(finder)


@pytest.mark.slow
@examples(120)
@given(
    problems(max_arms=8),
    st.sampled_from([1, 3]),
    st.floats(1, 60),
    st.integers(0, 10**6),
)
def test_whole_budget_is_spent_under_any_feedback(given_problem, power, factor, seed):
    """Also with costs a thousandfold apart."""
    means, costs = given_problem
    costs = costs**power
    finder = adaptive(
        costs, factor * exact_allocation_constant(costs) * costs.sum(), means.shape[1]
    )
    run(finder, noisy(means, costs, seed))
    assert_spends_all(finder)


@pytest.mark.slow
@given(st.integers(3, 7).flatmap(cost_vectors))
def test_constant_falls_by_at_least_the_removed_share(costs):
    slack = allocation.recursion_slack(costs)
    assert slack.min() == pytest.approx(0, abs=1e-12)
    assert slack[costs.argmax()] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_targets_never_fall_behind_in_forced_orders():
    """The other steps of the proof are among the statements that are tested."""
    trials = allocation.spending_trials(2000, seed=3, base="exact", decades=4.0)
    assert (trials["growth"] >= 1 - 1e-8).all()
    expensive_first = trials[
        (trials["order"] == "most expensive first") & (trials["n_arms"] > 2)
    ]
    # no more to gain
    assert (expensive_first["growth"] < trials["growth"].median()).mean() > 0.5


def test_exact_constant_equals_a_larger_budget():
    costs = np.array([1.0, 4.0, 1.0, 0.25])
    rewards = forced((2, 1, 0, 3))
    gain = allocation_constant(4, 1 / 16) / exact_allocation_constant(costs)
    exact, paper = cb.CoPSIExact(costs, 200.0, 1), cb.CoPSI(costs, 200.0 * gain, 1)
    assert run(exact, noise_free(rewards, costs)) == run(
        paper, noise_free(rewards, costs)
    )
    assert gain > 1.2 and exact.spent <= 200


# Realised costs.
@pytest.mark.slow
@examples(60)
@given(
    problems(max_arms=6),
    st.floats(1.5, 60),
    st.integers(0, 10**6),
    st.floats(0.05, 0.9),
)
def test_realised_costs_enter_the_next_target(given_problem, factor, seed, spread):
    """Every phase plans with the remaining budget; only the last pull crosses it."""
    means, costs = given_problem
    rng, before, planned = np.random.default_rng(seed), 0.0, {}
    finder = adaptive(
        costs, factor * exact_allocation_constant(costs) * costs.sum(), means.shape[1]
    )
    with guarantees_aside():
        while (arm := finder.ask()) is not None:
            before = finder.spent
            # the spend when a phase first asks
            planned.setdefault(len(finder.phases), before)
            finder.tell(
                arm, means[arm], costs[arm] * rng.uniform(1 - spread, 1 + spread)
            )
    assert before <= finder.budget * (1 + 1e-9)
    reached = 0
    for place, phase in enumerate(finder.phases):
        remaining = costs[phase.active]
        if place in planned:  # else nothing was pulled in this phase
            budget = finder.budget - planned[place] + reached * remaining.sum()
            assert phase.target == floor(
                budget / (exact_allocation_constant(remaining) * remaining.sum())
            )
            assert phase.target > reached
        else:
            assert phase.target == reached
        reached = phase.target


@pytest.mark.slow
def test_errors_by_ratio_match_replay_kernels():
    """A budget far above the complexity leaves no errors, a small one some."""
    methods = ["CoPSI", "CoPSIAdaptive", "UniformIdentification"]
    small, large = (
        allocation.errors_by_ratio(methods, [1, 100], rho, 3, 20, 0)
        for rho in (30, 3000)
    )
    assert len(small) == len(methods) * 2 * 3 and not small.isna().to_numpy().any()
    assert small["error"].mean() > 0.05 and large["error"].mean() < 0.01
    used = large.groupby("method")["used"].agg(["min", "max"])
    assert (used["max"] <= 1 + 1e-9).all() and used.loc["CoPSIAdaptive", "min"] > 0.999
    equal = small[small["method"] == "UniformIdentification"].pivot(
        index="problem", columns="ratio"
    )
    assert (equal["error", 1] == equal["error", 100]).all()  # costs do not matter to it
