"""Configurations on different instances: shared pairs decide, easy ones do not."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from support.drawn import COSTS, MEANS, drawn

import cobandit as cb
from cobandit.advice import doctor
from cobandit.advice.answer import answer
from cobandit.advice.answer_table import describe_steps
from cobandit.advice.words import describe_dependence
from cobandit.stats.missingness import find_dependence
from cobandit.stats.pairwise import Paired


def easy_half(rng, n_instances=40):
    """Return one configuration on the easier half, and a better one on everything."""
    hard = np.arange(n_instances) >= n_instances // 2
    one = np.where(hard, np.nan, np.arange(n_instances) != 3)
    easy_scores = np.where(hard, rng.random(n_instances) < 0.4, 1.0)
    return table_of([one, easy_scores], [1.0, 0.9])


def table_of(scores, costs, **options):
    configs = [f"arm{number}" for number in range(len(scores))]
    return cb.EvaluationTable.from_arrays(
        np.array(scores, dtype=float),
        costs,
        configs=configs,
        objectives=["accuracy"],
        **options,
    )


def test_easy_instances_decide_nothing_and_warn():
    table = easy_half(np.random.default_rng(0))
    advice = cb.recommend(table, at_least={"accuracy": 0.5}, replications=20)
    (matches,) = [entry for entry in advice.dependence if entry.measure == "accuracy"]
    assert (matches.configuration, matches.missing) == (
        "arm0",
        20,
    ) and matches.where_missing < matches.where_present
    assert not advice.arms["front_settled"].any()
    assert (advice.choice.sure, advice.choice.confidence, advice.next.settled) == (
        None,
        0.0,
        0,
    )
    texts = answer(advice)
    assert (
        describe_dependence(matches) in texts.warnings[0] and "Sure" not in texts.lines
    )
    assert "sure at" not in texts.lines["You asked"]
    assert set(advice.next.pairs["configuration"]) == {"arm0"}
    assert [entry.number for entry in doctor(table) if entry.name == "missing"] == [
        matches.where_missing - matches.where_present
    ]
    json.dumps(advice.to_dict(), allow_nan=False)


def test_shared_instances_precede_separate_means():
    """The second is worse by its mean but better, and cheaper, on shared instances."""
    table = easy_half(np.random.default_rng(0))
    group = table.rows.groupby("config", observed=True)["accuracy"].mean()
    assert group["arm0"] > group["arm1"]
    advice = cb.recommend(table, replications=20)
    assert advice.front.index.tolist() == ["arm1"]
    assert advice.arms["accuracy"]["arm0"] < advice.arms["accuracy"]["arm1"]


def test_evaluation_only_after_failures_decides_nothing():
    rng = np.random.default_rng(2)
    first = (rng.random(60) < 0.7).astype(float)
    second = np.where(first == 0, rng.random(60) < 0.5, np.nan)
    advice = cb.recommend(table_of([first, second], [1, 3]), replications=2)
    assert (
        advice.dependence[0].configuration == "arm1"
        and not advice.arms["front_settled"].any()
    )


def test_missing_expensive_instances_are_reported():
    rng = np.random.default_rng(1)
    costs = rng.lognormal(size=(3, 60)) * np.where(np.arange(60) < 20, 8.0, 1.0)
    scores = (rng.random((3, 60)) < 0.6).astype(float)
    scores[1, :20] = np.nan
    dependence = find_dependence(table_of(scores, costs))
    assert (dependence[0].configuration, dependence[0].measure) == ("arm1", "cost")
    assert dependence[0].where_missing > 3 * dependence[0].where_present


def test_many_small_differences_are_reported_together():
    """Of each of twenty the hardest tenth is missing twice as often as the rest."""
    rng = np.random.default_rng(0)
    hard = np.arange(200) < 40
    scores = (rng.random((20, 200)) < np.where(hard, 0.3, 0.8)).astype(float)
    scores[rng.random(scores.shape) < np.where(hard, 0.2, 0.1)] = np.nan
    assert find_dependence(table_of(scores, np.ones(20)))


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("n_arms", "n_instances", "accuracy", "share"),
    [(2, 40, 0.95, 0.5), (6, 100, 0.7, 0.3)],
)
def test_evaluations_missing_at_random_are_rarely_reported(
    n_arms, n_instances, accuracy, share
):
    """At a level of 1 %, more than 4 of 50 occur by chance once in 1,000 tests."""
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(50):
        scores = (rng.random((n_arms, n_instances)) < accuracy).astype(float)
        scores[1:][rng.random((n_arms - 1, n_instances)) < share] = np.nan
        alarms += bool(find_dependence(table_of(scores, np.ones(n_arms))))
    assert alarms <= stats.binom.isf(1e-3, 50, 0.01)


@pytest.mark.slow
def test_races_are_not_reported_as_missing_hard_instances():
    """Who leaves a race early has its first instances in a random order."""
    alarms = 0
    for seed in range(8):
        table = drawn(np.random.default_rng(seed), MEANS, COSTS, 120)
        scores = table.rows.pivot(
            index="instance", columns="config", values="objective0"
        ).to_numpy()
        race = cb.ParetoRace(np.ones(6), 1, 120, tolerance=0.02)
        reported = np.full(scores.T.shape, np.nan)
        while (arm := race.ask()) is not None:
            place = race.begun[arm] - 1
            reported[arm, place] = scores[place, arm]
            race.tell(arm, [scores[place, arm]])
        is_kept = ~np.isnan(reported).all(axis=0)
        alarms += bool(find_dependence(table_of(reported[:, is_kept], np.ones(6))))
    assert alarms <= 2


def test_steps_use_shared_instances():
    rng = np.random.default_rng(4)
    scores = (rng.random((4, 80)) < np.array([0.3, 0.5, 0.7, 0.9])[:, None]).astype(
        float
    )
    scores[rng.random(scores.shape) < 0.3] = np.nan
    costs = np.array([1, 2, 3, 4])[:, None] * rng.lognormal(size=80)
    advice = cb.recommend(table_of(scores, costs), replications=2)
    assert advice.adjusted and not advice.dependence and len(advice.front) > 2
    numbers = [int(name.removeprefix("arm")) for name in advice.front.index]
    for place, (one, following) in enumerate(pairwise(numbers), 1):
        is_shared = ~np.isnan(scores[[one, following]]).any(axis=0)
        row = advice.front.iloc[place]
        assert row["more_accuracy"] == pytest.approx(
            scores[following, is_shared].mean() - scores[one, is_shared].mean()
        )
        assert row["times"] == pytest.approx(
            costs[following, is_shared].mean() / costs[one, is_shared].mean()
        )


def test_arms_without_shared_instances_are_not_compared():
    scores = np.full((3, 40), np.nan)
    rng = np.random.default_rng(0)
    scores[0, :20], scores[1, 20:] = rng.random(20) < 0.9, rng.random(20) < 0.2
    scores[2] = rng.random(40) < 0.5
    compared = Paired(table_of(scores, [1, 2, 3]))
    (gaps,) = compared.dominance()
    assert gaps.shared[0, 1] == 0 and (gaps.ratios[:, 0, 1] == 0).all()
    assert np.isnan(compared.step(0, 1)[1])
    advice = cb.recommend(compared.table, replications=2)
    assert advice.arms["on_front"][["arm0", "arm1"]].all()
    assert not advice.arms["front_settled"][["arm0", "arm1"]].any()
    assert "no instance shared with the next cheaper one" in describe_steps(advice)


def test_cycle_has_a_front_and_stays_undecided():
    """On shared instances each of three arms is ahead of the next, cyclically."""
    blocks = [(1.0, 0.5, np.nan), (np.nan, 1.0, 0.5), (0.5, np.nan, 1.0)]
    scores = np.repeat(np.array(blocks).T, 40, axis=1) + np.random.default_rng(
        0
    ).normal(0, 1e-3, (3, 120))
    compared = Paired(table_of(scores.clip(0, 1), [1, 1, 1]))
    assert compared.in_cycle.all() and compared.on_front.any()
    assert not cb.recommend(compared.table, replications=2).arms["front_settled"].any()


@pytest.mark.acceptance
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_tables_missing_at_random_can_be_decided(share):
    rng, settled, wrong = np.random.default_rng(7), [], 0
    true = np.array([0.3, 0.5, 0.52, 0.8])
    for _ in range(12):
        scores = (rng.random((4, 300)) < true[:, None]).astype(float)
        scores[1:][rng.random((3, 300)) < share] = np.nan
        arms = cb.recommend(
            table_of(scores, [1, 3, 2, 4]), replications=1
        ).arms.sort_index()
        right = arms["on_front"].to_numpy() == [True, False, True, True]
        wrong += bool((~right & arms["front_settled"]).any())
        settled.append(arms["front_settled"].to_numpy())
    assert np.mean(settled, axis=0)[[0, 3]].min() > 0.6 and wrong <= stats.binom.isf(
        1e-3, 12, 0.05
    )


def test_tolerance_is_judged_on_shared_instances():
    """Within .1 of the best: .3 ahead by its mean, .1 behind on shared instances."""
    advice = cb.recommend(
        easy_half(np.random.default_rng(0)), within={"accuracy": 0.04}, replications=2
    )
    assert advice.choice.configuration == "arm1"
    behind = Paired(easy_half(np.random.default_rng(0))).fall_behind(0)
    assert behind.tolist() == pytest.approx([0.05, 0.0])
