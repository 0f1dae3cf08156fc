"""The race: brute-force consequences of right comparisons, protocol, known results."""

from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import made_up, play_once
from support.faults import bad_argument
from support.strategies import benchmarks, examples

from cobandit.errors import BudgetError
from cobandit.policies import ParetoRace
from cobandit.policies.look_depths import FIRST_LOOK, list_looks
from cobandit.policies.look_thresholds import find_crossing_chances, find_thresholds
from cobandit.policies.race_order import arrange
from cobandit.policies.race_standing import Calls, Standing
from cobandit.stats.metrics import beyond_tolerance


@st.composite
def races(draw, max_instances=40):
    """Draw rewards (K, N, D) in tenths for ties, costs (K,) and a tolerance."""
    rewards, costs = draw(benchmarks(max_instances=max_instances, levels=10))
    if draw(st.booleans()):  # equal means, which floats do not add up to
        rewards[-1] = rewards[0][draw(st.permutations(range(rewards.shape[1])))]
    return rewards, costs, draw(st.integers(0, 3)) / 10


def above(mean, mean_of_other, by=0.0):
    """Tell whether one arm dominates another by a margin, by definition."""
    differences = [
        round(10_000_000 * (a - b - by))
        for a, b in zip(mean, mean_of_other, strict=True)
    ]
    return min(differences) >= 0 and max(differences) > 0


def is_good(returned, means, tolerance, excess):
    """Tell whether all arms are covered and none returned is clearly dominated."""
    arms = range(len(means))
    covered = all(
        arm in returned
        or any(above(means[entry], means[arm], -tolerance) for entry in returned)
        for arm in arms
    )
    return covered and not any(
        above(means[arm], means[entry], excess) for entry in returned for arm in arms
    )


def is_promised(returned, means, tolerance):
    """Tell whether a race holds its promise: twice the tolerance, once if returned."""
    among = [means[entry] for entry in returned]
    return is_good(returned, means, tolerance, 2 * tolerance) and not any(
        above(rival, mean, tolerance) for mean in among for rival in among
    )


# Returned sets.


@examples(60)
@given(races(max_instances=10))
def test_exhaustive_race_is_exact(benchmark):
    rewards, costs, tolerance = benchmark
    _, n_instances, n_objectives = rewards.shape
    race = ParetoRace(
        costs, n_objectives, n_instances, tolerance=tolerance, front="objectives"
    )
    play_once(race, rewards)
    returned, means = race.recommend().tolist(), rewards.mean(axis=1)
    assert (
        race.status == "settled"
        and race.settled.all()
        and race.pulls.min() == n_instances
    )
    assert is_good(returned, means, tolerance, excess=tolerance)
    if tolerance == 0:
        assert returned == [
            i for i, a in enumerate(means) if not any(above(b, a) for b in means)
        ]


@examples(100)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(2, 9), st.integers(0, 4))
def test_right_decisions_in_any_order_keep_arms_covered(
    seed, n_objectives, n_arms, tolerance
):
    """True decisions become certain one after the other, each at a separate look."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 9, (n_arms, n_objectives)).astype(float)
    standing = Standing(rng.integers(1, 4, n_arms).astype(float))
    known = np.zeros((3, n_arms, n_arms), dtype=bool)
    for share in (0.2, 0.4, 0.6, 1.0):
        known |= rng.random(known.shape) < share
        active = standing.active
        pairs = np.ix_(active, active)
        truth = [
            [[above(means[j], means[i], margin) for j in active] for i in active]
            for margin in (0, -tolerance, tolerance)
        ]
        dominated, covered, too_far = (
            np.array(entry, dtype=bool).reshape(2 * [len(active)]) for entry in truth
        )
        for entry in (dominated, covered, too_far):
            np.fill_diagonal(entry, False)
        open_ = too_far | ~known[2][pairs] & ~np.eye(len(active), dtype=bool)
        standing.conclude(
            Calls(dominated & known[0][pairs], covered & known[1][pairs], open_),
            means[active].sum(axis=1),
        )
    assert not len(standing.active)
    assert is_promised(np.flatnonzero(standing.returned).tolist(), means, tolerance)


@examples(60)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(2, 7), st.floats(0, 0.3))
def test_differences_beyond_the_tolerance_break_the_promise(
    seed, n_objectives, n_arms, tolerance
):
    rng = np.random.default_rng(seed)
    means = rng.random((n_arms, n_objectives))
    returned = rng.random(n_arms) < 0.7
    returned[0] = True
    beyond = beyond_tolerance(returned[None], means, tolerance)[0]
    assert is_promised(np.flatnonzero(returned).tolist(), means, tolerance) == (
        beyond < 1e-7
    )


def test_larger_tolerance_costs_less():
    spent = []
    for tolerance in (0.0, 0.05, [0.05, 0.3], 0.3):
        race = ParetoRace(np.ones(8), 2, 300, tolerance=tolerance)
        play_once(race, made_up(n_instances=300))
        spent.append(race.spent)
    assert sorted(spent, reverse=True) == spent and spent[-1] < spent[0] < 8 * 300


# The threshold.


@pytest.mark.slow
@pytest.mark.parametrize("n_instances", [60, 300, 1000])
def test_ties_cross_the_threshold_at_the_allowed_rate(n_instances):
    """On 20,000 ties the rate is within a fifth, and three errors, of the formula."""
    rng = np.random.default_rng(n_instances)
    looks = list_looks(n_instances)[:-1]
    thresholds = find_thresholds(n_instances, 8, 0.1)[:, [0, 1, 3, 7]]
    crossed = np.zeros((20_000, 4), dtype=bool)
    sums = np.zeros(20_000)
    share_left = 0.0
    for look, threshold in zip(looks, thresholds, strict=True):
        # in which the bridge has independent increments
        clock = look / (n_instances - look)
        sums += np.sqrt(clock - share_left) * rng.standard_normal(20_000)
        share_left = clock
        crossed |= (sums / np.sqrt(clock))[:, None] > threshold
    expected = find_crossing_chances(thresholds, n_instances).sum(axis=0)
    assert expected == pytest.approx([0.1, 0.05, 0.025, 0.0125])
    assert (
        abs(crossed.mean(axis=0) - expected)
        < 0.2 * expected + 3 * np.sqrt(expected / 20_000)
    ).all()


@pytest.mark.parametrize("n_instances", [21, 22, 60, 5000])
def test_thresholds_rise_with_ties_and_spend_the_stated_error(n_instances):
    looks = list_looks(n_instances)
    thresholds = find_thresholds(n_instances, 5, 0.05)
    assert (
        thresholds.shape == (len(looks) - 1, 5)
        and (np.diff(thresholds, axis=1) > 0).all()
    )
    growth = [0.3, *np.diff(np.log(looks[:-1]))]
    spent = growth * np.sqrt(looks[:-1]) * (1 - looks[:-1] / n_instances)
    expected = np.outer(spent / spent.sum(), 0.05 / np.arange(1, 6))
    assert find_crossing_chances(thresholds, n_instances) == pytest.approx(expected)


class Seen:
    """Return the evidence per pair after n instances, by definition, from (n, K, D)."""

    def __init__(self, observed, tolerance, n_instances):
        self.n, self.n_instances, self.tolerance = len(observed), n_instances, tolerance
        x = observed[:, None] - observed[:, :, None]
        self.differences = x.mean(axis=0)
        scatter = np.maximum(((x - self.differences) ** 2).sum(axis=0), 1) + 0.25
        self.errors = np.sqrt(scatter * (1 - self.n / n_instances)) / self.n
        self.distances = (self.differences + tolerance) / self.errors

    def is_rival(self, i, j):
        return i != j and abs(self.distances[i, j].min()) < 2

    def count_ties(self, active, outdone):
        rivals, reached, others = [], [], 0
        for i in active:
            against = [j for j in active if j != i]
            if any(
                (self.differences[i, j] / self.errors[i, j]).min() >= 2 for j in against
            ):
                continue
            rivals.append(sum(self.is_rival(i, j) for j in against) + outdone[i])
            reached.append(
                sum(abs(self.distances[i, j]) < 3 for j in against) + outdone[i]
            )
            others += len(against) + outdone[i]
        mean = sum(rivals) / len(rivals)
        weight = 2 * min(1, np.max(sum(reached)) / others / 0.9973) ** 12
        contested = sum(count > 0 for count in rivals)
        return max(2, contested // 8, floor(mean / 8), floor(mean * weight))

    def covers(self, i, j, z):
        """Whether j certainly covers i."""
        unseen = 1 - self.n / self.n_instances
        minimum = z * np.sqrt(unseen / 3) / self.n
        half = (
            z
            * (1 + (z * z + 1) / (4 * self.n) * unseen)
            * np.maximum(self.errors[i, j], minimum)
        )
        return (self.differences[i, j] - half + self.tolerance).min() > 0


@pytest.mark.slow
@examples(20)
@given(
    st.integers(0, 2**32),
    st.integers(1, 3),
    st.integers(2, 30),
    st.sampled_from([0.0, 0.05, 0.3]),
)
def test_near_ties_match_their_definition(seed, n_objectives, n_arms, tolerance):
    """Also those that have left: with rivals of whoever drove them out."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.3, rng.uniform(0.31, 0.6), (n_arms, 1, n_objectives))
    rewards = np.clip(rng.normal(means, 0.2, (n_arms, 80, n_objectives)), 0, 1)
    race = ParetoRace(
        np.ones(n_arms), n_objectives, 80, tolerance=tolerance, front="objectives"
    )
    outdone = np.zeros(n_arms, dtype=int)
    active, depth = np.arange(n_arms), 0
    while (pull := race.ask()) is not None:
        if race.depth > depth:
            depth = race.depth
            if depth >= FIRST_LOOK:
                partial_sums = Seen(
                    rewards[:, :depth].transpose(1, 0, 2), tolerance, 80
                )
                z = race.thresholds[
                    list_looks(80).tolist().index(depth),
                    partial_sums.count_ties(active, outdone) - 1,
                ]
                remaining = [
                    j
                    for j in active
                    if race.settled[j] and not race._standing.returned[j]
                ]
                for i in active:
                    outdone[i] += sum(
                        partial_sums.is_rival(i, j) and partial_sums.covers(j, i, z)
                        for j in remaining
                    )
                assert race._outdone.tolist() == outdone.tolist()
                active = np.flatnonzero(~race.settled)
                assert race._count_ties(active, depth) == partial_sums.count_ties(
                    active, outdone
                )
        race.tell(pull, rewards[pull.key])


def test_removed_arms_count_as_rivals_until_removed():
    """One arm is ahead of equal ones by the tolerance: every removed arm counts."""
    rng = np.random.default_rng(0)
    counts = np.array([180, *[150] * 9])
    right = rng.permuted(np.arange(300) < counts[:, None], axis=1).astype(float)
    race = ParetoRace(np.linspace(1, 2, 10), 1, 300, tolerance=0.1, front="objectives")
    play_once(race, right[:, :, None])
    assert race._outdone[0] > 0 and (race._outdone[1:] <= 9).all()


# Protocol and budget.


@examples(60)
@given(races(), st.floats(0.01, 1.1))
def test_runs_stay_within_budget_and_repeat_nothing(benchmark, share):
    rewards, costs, tolerance = benchmark
    _, n_instances, n_objectives = rewards.shape
    budget = share * n_instances * costs.sum()
    try:
        race = ParetoRace(
            costs, n_objectives, n_instances, tolerance=tolerance, budget=budget
        )
    except BudgetError as error:
        assert budget < error.smallest == costs.sum()
        return
    pairs = play_once(race, rewards)
    assert (
        len(set(pairs)) == len(pairs) == race.pulls.sum()
        and race.pulls.max() <= n_instances
    )
    assert race.spent <= budget * (1 + 1e-9) and race.status in (
        "settled",
        "out of budget",
    )
    if race.status == "out of budget":  # not even one more round fits
        assert race.spent + costs[~race.settled].sum() > budget
    assert len(race.recommend())


@pytest.mark.parametrize(
    ("wrong", "code", "names"),
    [
        ({"tolerance": -0.1}, "out-of-range", ["-0.1"]),
        ({"tolerance": 2}, "out-of-range", ["2.0"]),
        ({"tolerance": [0.1, 0.1, 0.1]}, "out-of-range", ["2 objectives"]),
        ({"tolerance": float("nan")}, "not-finite", []),
        ({"error": 0.0}, "out-of-range", ["0.0"]),
        ({"error": 1.0}, "out-of-range", ["1"]),
        ({"budget": 1.0}, "small-budget", ["at least 2"]),
    ],
)
def test_invalid_race_arguments_are_refused(wrong, code, names):
    (argument,) = wrong
    with bad_argument(code, argument, names):
        ParetoRace([1, 1], 2, 100, **wrong)


# Given evaluations.


def told_by(race, rewards):
    """What a race was told, (N, K, D), NaN where nothing."""
    known = np.where(race._is_scored[:, :, None], rewards.transpose(1, 0, 2), np.nan)
    assert np.isfinite(known).sum() == race.pulls.sum() * rewards.shape[2]
    return known


def test_smaller_tolerance_reuses_paid_evaluations():
    rewards, costs = made_up(n_instances=300), np.arange(1.0, 9.0)
    wide = ParetoRace(costs, 2, 300, tolerance=0.2)
    first = play_once(wide, rewards)
    second_race = ParetoRace(costs, 2, 300, tolerance=0.2)
    second_race.know(told_by(wide, rewards))
    assert second_race.finished and second_race.spent == 0
    narrow = ParetoRace(costs, 2, 300, tolerance=0.02)
    narrow.know(told_by(wide, rewards))
    second = play_once(narrow, rewards)
    assert second and not set(first) & set(second)
    alone = ParetoRace(costs, 2, 300, tolerance=0.02)
    play_once(alone, rewards)
    assert narrow.recommend().tolist() == alone.recommend().tolist()


def test_only_missing_evaluations_are_made():
    rewards = made_up(n_instances=300)
    reported = np.random.default_rng(1).random((300, 8)) < 0.5
    order = arrange(reported)
    assert (
        sorted(order) == list(range(300))
        and (np.diff(reported[order].sum(axis=1)) <= 0).all()
    )
    shuffled = rewards[:, order]
    race = ParetoRace(np.ones(8), 2, 300, tolerance=0.02)
    race.know(
        np.where(reported[order][:, :, None], shuffled.transpose(1, 0, 2), np.nan)
    )
    # nothing is known of pairs
    assert race.forecast().tolist() == (~reported).sum(axis=0).tolist()
    pairs = play_once(race, shuffled)
    assert race.status == "settled" and not any(
        reported[order][number, arm] for arm, number in pairs
    )
    assert not race.forecast().any()


@pytest.mark.slow
def test_remaining_cost_is_estimated():
    expected = actual = 0
    for seed in range(20):
        race, rewards = (
            ParetoRace(np.ones(8), 2, 300, tolerance=0.05),
            made_up(n_instances=300, seed=seed),
        )
        while race.depth < 20 and (pull := race.ask()) is not None:
            race.tell(pull, rewards[pull.key])
        expected += race.forecast().sum()
        actual += len(play_once(race, rewards))
    assert 0.5 < actual / expected < 1.5, actual / expected


def test_given_evaluations_are_checked():
    race = ParetoRace([1, 1], 2, 100)
    with bad_argument("bad-rewards", "rewards", ["(100, 2, 2)"]):
        race.know(np.zeros((2, 100, 2)))
    with bad_argument("bad-rewards", "rewards", ["[0, 1]"]):
        race.know(np.full((100, 2, 2), 1.5))
    race.ask()
    with bad_argument("race-has-begun", "rewards"):
        race.know(np.zeros((100, 2, 2)))
