"""The front of objectives and cost: costs are compared with their own tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument
from support.strategies import examples

from cobandit.policies import ParetoRace
from cobandit.policies.cost_comparison import (
    compare_costs,
    find_affordable,
    read_cost_tolerance,
)
from cobandit.replay.running import run_kernel
from cobandit.stats.metrics import beyond_tolerance
from companion.proofs.known_arms import share_instances


def play(race, rewards, costs):
    """Evaluate on rewards (K, N, D), reporting the costs (K, N) or none."""
    while (pull := race.ask()) is not None:
        paid = None if costs is None else costs[pull, pull.number]
        race.tell(pull, rewards[pull, pull.number], paid)
    return race


def dominates(mean, mean_of_other):
    """Standard dominance of (objectives..., minus the cost)."""
    ahead = [round(1e9 * (a - b)) for a, b in zip(mean, mean_of_other, strict=True)]
    return min(ahead) >= 0 and max(ahead) > 0


def find_front(means):
    """Arms that no other dominates, by definition."""
    return [
        i
        for i, mean in enumerate(means)
        if not any(dominates(rival, mean) for rival in means)
    ]


def make_answers(seed, n_arms=8, n_instances=300, spread=1.0, costs_alike=False):
    """Return right and wrong answers (K, N, 1) and heavy-tailed costs (K, N)."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, spread, (n_arms, 1)) - rng.normal(0, 1, (1, n_instances))
    right = (rng.random((n_arms, n_instances)) < 1 / (1 + np.exp(-ability))).astype(
        float
    )
    prices = (
        np.ones(n_arms) if costs_alike else np.exp(rng.uniform(0, np.log(20), n_arms))
    )
    return right[:, :, None], prices[:, None] * np.exp(
        rng.normal(0, 0.8, (n_arms, n_instances))
    )


@examples(60)
@given(
    st.integers(0, 2**32),
    st.integers(2, 6),
    st.integers(1, 15),
    st.integers(1, 3),
    st.booleans(),
)
def test_exhaustive_race_is_exact(seed, n_arms, n_instances, n_objectives, declared):
    """Scores in thirds and costs of one, two or three, so that ties are frequent."""
    rng = np.random.default_rng(seed)
    rewards = rng.integers(0, 4, (n_arms, n_instances, n_objectives)) / 3
    costs = rng.integers(1, 4, (n_arms, n_instances)).astype(float)
    rewards[-1] = rewards[0]
    race = ParetoRace(costs.mean(axis=1), n_objectives, n_instances)
    play(race, rewards, None if declared else costs)
    assert race.status == "settled"
    means = np.column_stack([rewards.mean(axis=1), -costs.mean(axis=1)])
    assert race.recommend().tolist() == find_front(means.tolist())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tolerance", "cost_tolerance"), [(0.0, 0.0), (0.03, "10%"), (0.05, 0.4)]
)
def test_error_rate_is_at_most_as_stated(tolerance, cost_tolerance):
    """Of 300 races on heavy-tailed costs: 5 %, and 4 standard errors."""
    n_off = 0
    for seed in range(300):
        rewards, costs = make_answers(seed, n_instances=200)
        prices = costs.mean(axis=1)
        race = ParetoRace(
            prices, 1, 200, tolerance=tolerance, cost_tolerance=cost_tolerance
        )
        feedback = share_instances(rewards, costs)
        returned = run_kernel(race, feedback, seed, np.arange(1)).returned
        means = rewards.mean(axis=1)
        excess = beyond_tolerance(returned, means, tolerance, prices, cost_tolerance)
        n_off += excess[0] > 1e-9
    assert n_off <= 300 * 0.05 + 4 * np.sqrt(300 * 0.05 * 0.95)


def test_equal_costs_are_known_exactly():
    """Of two arms with equal costs on every instance, the better one remains alone."""
    rewards = np.zeros((3, 400, 1))
    rewards[1] = 1.0
    rewards[2] = 0.5
    rng = np.random.default_rng(0)
    paid = np.exp(rng.normal(0, 1, 400)) * np.ones((3, 1))
    for costs in (None, np.ones((3, 400)), paid):
        race = play(ParetoRace(np.ones(3), 1, 400), rewards, costs)
        assert race.recommend().tolist() == [1] and race.pulls.max() < 100
    # prices per call that differ are as exact: the cheapest stays, and so does the best
    fixed = np.array([[1.0], [1.02], [1.01]]) * np.ones(400)
    race = play(ParetoRace(np.ones(3), 1, 400), rewards, fixed)
    assert race.recommend().tolist() == [0, 1, 2] and race.pulls.max() < 100
    # within a tenth all cost the same
    race = play(ParetoRace(np.ones(3), 1, 400, cost_tolerance="10%"), rewards, fixed)
    assert race.recommend().tolist() == [1]


@pytest.mark.slow
def test_front_of_the_paper_ignores_cost():
    rewards, costs = make_answers(1)
    best = int(rewards.mean(axis=(1, 2)).argmax())
    costs[best] = 100 * costs.max()
    with_cost = play(ParetoRace(costs.mean(axis=1), 1, 300), rewards, costs)
    alone = play(
        ParetoRace(costs.mean(axis=1), 1, 300, front="objectives"), rewards, costs
    )
    assert alone.recommend().tolist() == [best]
    assert best in with_cost.recommend() and len(with_cost.recommend()) > 1


def test_certified_race_compares_declared_costs():
    """What is told is charged, and says nothing of the front."""
    rewards, costs = make_answers(2, n_instances=60)
    declared = np.arange(1.0, 9.0)
    race = play(
        ParetoRace(declared, 1, 60, certified=True, tolerance=0.2), rewards, costs
    )
    second_race = play(
        ParetoRace(declared, 1, 60, certified=True, tolerance=0.2), rewards, None
    )
    assert (
        race.recommend().tolist() == second_race.recommend().tolist()
        and race.pulls.tolist() == second_race.pulls.tolist()
    )
    excess = beyond_tolerance(
        np.isin(np.arange(8), race.recommend())[None],
        rewards.mean(axis=1),
        0.2,
        declared,
    )
    assert excess[0] < 1e-9


def test_omitted_instances_do_not_enter_compared_costs():
    rewards, costs = make_answers(3, n_arms=3, n_instances=30)
    race = ParetoRace(costs.mean(axis=1), 1, 30)
    while (pull := race.ask()) is not None:
        if pull.number == 4:
            race.leave_out(pull)
        else:
            race.tell(pull, rewards[pull, pull.number], costs[pull, pull.number])
    is_kept = np.arange(30) != 4
    assert race.status == "settled"
    means = np.column_stack(
        [rewards[:, is_kept].mean(axis=1), -costs[:, is_kept].mean(axis=1)]
    )
    assert race.recommend().tolist() == find_front(means.tolist())


def test_given_evaluations_include_their_costs():
    rewards, costs = make_answers(4, n_instances=120)
    played = play(ParetoRace(costs.mean(axis=1), 1, 120), rewards, costs)
    race = ParetoRace(np.ones(8), 1, 120)
    race.know(rewards.transpose(1, 0, 2), costs.T)
    assert (
        race.ask() is None and race.recommend().tolist() == played.recommend().tolist()
    )
    for wrong in (-costs.T, costs, np.full((120, 8), np.nan)):
        with bad_argument("bad-costs", "costs", ["(120, 8)"]):
            ParetoRace(np.ones(8), 1, 120).know(rewards.transpose(1, 0, 2), wrong)


# One pair.


@examples(60)
@given(
    st.integers(0, 2**32),
    st.integers(20, 60),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.floats(0, 2),
)
def test_margin_equals_that_of_the_contrast(seed, n, share, amount):
    """Its standard error is that of the values (1 + r) c + a - c' per instance."""
    rng = np.random.default_rng(seed)
    own_draws, other_draws = np.exp(rng.normal(0, 1, (2, n))) * rng.uniform(
        0.5, 2, (2, 1)
    )
    centred = [
        entry - entry.mean()
        for entry in (own_draws, other_draws, own_draws - other_draws)
    ]
    scatters = [float(entry @ entry) for entry in centred]
    margin = compare_costs(
        own_draws.mean(), other_draws.mean(), *scatters, n, 1 / n, share, amount
    )
    contrast = (1 + share) * own_draws + amount - other_draws
    size = max(own_draws.mean(), other_draws.mean())
    scatter = (
        max(float(((contrast - contrast.mean()) ** 2).sum()), size**2) + 0.25 * size**2
    )
    assert margin.within == pytest.approx(contrast.mean() / size)
    assert margin.within_error == pytest.approx(np.sqrt(scatter) / n / size)
    assert margin.varies == 1.0
    assert (margin.within >= 0) == find_affordable(
        [own_draws.mean(), other_draws.mean()], amount
    )[0, 1] or share


# Bad input.


@pytest.mark.parametrize(
    "written",
    ["ten", "-5%", "", "%", "nan", "inf", -0.1, float("nan"), True, None, "5 %%"],
)
def test_invalid_tolerance_of_costs_is_refused(written):
    with bad_argument("bad-tolerance", "cost_tolerance", [repr(written)]):
        ParetoRace([1, 1], 1, 100, cost_tolerance=written)


def test_tolerances_of_costs_are_parsed():
    assert read_cost_tolerance(" 10 % ") == (0.1, 0.0) and read_cost_tolerance(
        "0.25"
    ) == (0.0, 0.25)
    assert read_cost_tolerance(0) == (0.0, 0.0)


def test_unknown_front_is_refused():
    with bad_argument("unknown-choice", "front", ["'cost'"]):
        ParetoRace([1, 1], 1, 100, front="cost")
