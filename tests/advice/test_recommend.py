"""Recommendations: redraws and pairs against their definitions, budgets kept, stated confidence held."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.drawn import COSTS, MEANS, NEAR_TIES, drawn, with_holes
from support.strategies import examples

import cobandit as cb
from cobandit.advice import doctor
from cobandit.advice.next_evaluations import allocate, missing_pairs
from cobandit.advice.paired import compare_pairs, critical_value, redraw_means
from cobandit.advice.questions import Question
from cobandit.advice.words import sentences
from cobandit.errors import CobanditError
from cobandit.tables import EvaluationTable


@pytest.fixture(scope="module")
def ragged():
    rng = np.random.default_rng(3)
    while True:  # holes so many that either split of each arm keeps two instances, most times
        try:
            return drawn(rng, MEANS, COSTS, 60, holes=0.3)
        except cb.TableError:
            continue


def wide(table, column):
    """Instances as rows, arms as columns, NaN where there is none."""
    rows = table.rows
    return rows.pivot_table(index="instance", columns="config", values=column, observed=False).to_numpy()


# ------------------------------------------------------------------------------ redraws


def test_redraws_are_weighted_means_with_one_weight_an_instance(ragged):
    means, costs = redraw_means(ragged, 5, seed=7)
    weights = np.random.default_rng(7).standard_exponential((5, 60))
    for column, found in [("objective0", means[..., 0]), ("objective1", means[..., 1]), ("cost", costs)]:
        values = wide(ragged, column)
        for r in range(5):
            known = ~np.isnan(values)
            expected = np.nansum(values * weights[r][:, None], axis=0) / (known * weights[r][:, None]).sum(
                axis=0
            )
            np.testing.assert_allclose(found[r], expected, rtol=1e-12)


def test_redraws_do_not_depend_on_how_they_are_cut(ragged, monkeypatch):
    whole = redraw_means(ragged, 6, seed=1)
    monkeypatch.setattr("cobandit.advice.paired.BLOCK", 300)
    for one, other in zip(whole, redraw_means(ragged, 6, seed=1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_redraws_spread_as_means_do():
    table = drawn(np.random.default_rng(0), MEANS, COSTS, 400)
    means, _ = redraw_means(table, 4000)
    every = table.summary()[["objective0", "objective1"]].to_numpy()
    np.testing.assert_allclose(means.std(axis=0), np.sqrt(every * (1 - every) / 401), rtol=0.08)


def test_redraws_never_lose_an_arm_with_few_instances():
    rng, n = np.random.default_rng(5), 400
    table = drawn(rng, [[0.5], [0.6]], [1.0, 1.0], n)
    rows = table.rows
    few = set(rows["instance"][rows["split"] == "profiling"].unique()[:2])
    few |= set(rows["instance"][rows["split"] == "evaluation"].unique()[:2])
    frame = rows[(rows["config"] == "arm000") | rows["instance"].isin(few)].drop(columns="split")
    table = EvaluationTable.from_records(frame, table.card)
    means, costs = redraw_means(table, 200)
    assert np.isfinite(means).all() and np.isfinite(costs).all()


# ------------------------------------------------------------------------------ pairs


def test_ratios_are_those_of_the_instances_that_two_arms_share(monkeypatch):
    monkeypatch.setattr("cobandit.advice.paired.BLOCK", 500)  # several blocks
    table = drawn(np.random.default_rng(1), MEANS, COSTS, 60)
    found = np.vstack([gaps.ratios.min(axis=0) for gaps in compare_pairs(table).dominance()])
    columns = [wide(table, f"objective{d}") for d in (0, 1)]
    for i in range(6):
        for j in range(6):
            if i == j:
                continue
            t = []
            for values in columns:
                difference = values[:, j] - values[:, i]
                one_more = 2 * values.var(axis=0, ddof=1).mean() / 60**2
                error = np.sqrt(difference.var(ddof=1) / 60 + one_more)
                t.append(difference.mean() / error)
            assert found[i, j] == pytest.approx(min(t), rel=1e-9)


def test_ratios_with_holes_use_what_each_arm_has(ragged):
    found = np.vstack([gaps.ratios.min(axis=0) for gaps in compare_pairs(ragged).dominance()])
    values = wide(ragged, "objective0"), wide(ragged, "objective1")
    i, j, t = 0, 3, []
    for column in values:
        n = (~np.isnan(column)).sum(axis=0)
        z = np.nan_to_num((column - np.nanmean(column, axis=0)) / np.sqrt(n * (n - 1)))
        pooled = np.nanmean(np.nanvar(column, axis=0, ddof=1))
        error = np.sqrt(((z[:, j] - z[:, i]) ** 2).sum() + pooled / n[i] ** 2 + pooled / n[j] ** 2)
        t.append((np.nanmean(column[:, j]) - np.nanmean(column[:, i])) / error)
    assert found[i, j] == pytest.approx(min(t), rel=1e-9)


@pytest.mark.slow
def test_error_of_an_efficiency_is_that_of_many_draws():
    rng = np.random.default_rng(2)
    compared = [compare_pairs(drawn(rng, MEANS[:2], COSTS[:2], 200)) for _ in range(200)]
    spread = np.std([each.efficiency for each in compared], axis=0)
    stated = np.sqrt(np.mean([each.variances[-1] for each in compared], axis=0))
    np.testing.assert_allclose(stated, spread, rtol=0.15)


def test_few_instances_that_all_scored_alike_settle_nothing():
    """Four of four against none of four: the sample variances are zero, the doubt is not."""
    table = drawn(np.random.default_rng(0), [[1.0], [0.0], [0.5]], [1.0, 1.0, 1.0], 4)
    assert not cb.recommend(table, level=0.999).arms["front_settled"].any()
    few, many = critical_value([4, 400], 0.01)
    assert few > many


# ------------------------------------------------------------------------------ stated confidence


def wrong_and_settled(rng, means, costs, n_instances, tables, level):
    """In how many tables a settled membership, and a settled best arm, was wrong; share of settled arms."""
    truth = cb.Problem(means, costs)
    wrong_front = wrong_best = settled = 0
    for _ in range(tables):
        arms = cb.recommend(
            drawn(rng, means, costs, n_instances), level=level, replications=1
        ).arms.sort_index()
        sure = arms["front_settled"].to_numpy()
        wrong_front += bool((arms["on_front"].to_numpy() != truth.pareto_mask)[sure].any())
        best = arms["most_efficient"].to_numpy().argmax()
        wrong_best += bool(arms["efficient_settled"].iloc[best] and best != truth.best_arm)
        settled += sure.mean()
    return wrong_front, wrong_best, settled / tables


@pytest.mark.parametrize(
    ("means", "costs", "n_instances"),
    [
        (NEAR_TIES, np.linspace(1, 1.1, 9), 120),
        (MEANS, COSTS, 40),
        ([[0.5], [0.5], [0.48]], [1.0, 1.0, 1.0], 60),
    ],
    ids=["near ties", "clear and few", "one objective"],
)
@pytest.mark.slow
def test_what_is_called_settled_is_wrong_no_more_often_than_stated(means, costs, n_instances):
    """At level 0.8, so that errors could show: more than 32 of 100 would come of chance once in 500 tests."""
    wrong_front, wrong_best, _ = wrong_and_settled(
        np.random.default_rng(8), means, costs, n_instances, 100, 0.8
    )
    most = stats.binom.isf(0.002, 100, 0.2)
    assert wrong_front <= most and wrong_best <= most


@pytest.mark.slow
def test_a_rule_that_settles_too_early_would_be_caught(monkeypatch):
    """The test above can fail: with critical values of one comparison instead of all, it does."""
    monkeypatch.setattr(
        "cobandit.advice.questions.critical_value", lambda counts, alpha: np.full(len(counts), 0.3)
    )
    wrong_front, _, _ = wrong_and_settled(
        np.random.default_rng(8), NEAR_TIES, np.linspace(1, 1.1, 9), 120, 60, 0.8
    )
    assert wrong_front > stats.binom.isf(0.002, 100, 0.2)


@pytest.mark.slow
def test_more_instances_settle_more():
    shares = [
        wrong_and_settled(np.random.default_rng(4), MEANS, COSTS, n, 6, 0.95)[2] for n in (20, 200, 2000)
    ]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.8


@pytest.mark.slow
def test_the_estimated_evaluations_are_what_it_takes():
    """Three times what is said to be needed settles a question most times, a tenth of it seldom."""
    means, costs, rng, n = [[0.56, 0.56], [0.5, 0.5]], [1.0, 1.0], np.random.default_rng(9), 100
    first = [cb.recommend(drawn(rng, means, costs, n), replications=1).questions for _ in range(30)]
    asked = [q[(q["kind"] == "front") & (q["configuration"] == "arm001")] for q in first]
    extra = np.median([q["evaluations"].iloc[0] / 2 for q in asked if len(q)])
    settled = []
    for factor in (0.1, 3):
        tables = [drawn(rng, means, costs, int(n + factor * extra)) for _ in range(20)]
        settled.append(
            np.mean([cb.recommend(t, replications=1).arms.loc["arm001", "front_settled"] for t in tables])
        )
    assert settled[0] < 0.4 and settled[1] > 0.8


# ------------------------------------------------------------------------------ the budget


def made_up_questions(rng, costs, n_questions):
    questions = []
    for _ in range(n_questions):
        arms = rng.choice(len(costs), size=rng.integers(2, 5), replace=False)
        extra = rng.integers(1, 50, len(arms)).astype(float)
        if rng.random() < 0.1:
            extra[0] = np.inf
        questions.append(
            Question("front", arms[0], arms[1], 1.0, 2.0, arms, extra, float(extra @ costs[arms]))
        )
    return sorted(questions, key=lambda question: question.price)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.floats(0.01, 1e4), st.integers(1, 6))
def test_an_allocation_is_whole_and_within_its_budget(seed, budget, n_questions):
    rng = np.random.default_rng(seed)
    costs, missing = rng.uniform(0.1, 5, 8), rng.integers(0, 30, 8) * rng.integers(0, 2)
    questions = made_up_questions(rng, costs, n_questions)
    granted = allocate(questions, costs, budget, missing)
    assert granted.dtype == np.int64 and (granted >= 0).all()
    assert granted @ costs <= budget * (1 + 1e-9)
    here, everything = np.zeros(8), np.zeros(8)  # what the benchmark still has of it; ties need no new ones
    for question in questions:
        wanted = np.minimum(question.extra, missing[question.arms])
        here[question.arms] = np.maximum(here[question.arms], wanted)
        if np.isfinite(question.price):
            everything[question.arms] = np.maximum(everything[question.arms], question.extra)
    everything = np.maximum(everything, here)
    assert (granted <= everything).all() and (allocate(questions, costs, 1e9, missing) == everything).all()
    if (granted > missing).any():  # new instances only once the benchmark has nothing left that is needed
        assert (granted >= here).all()
    lacking = here if (granted < here).any() else everything
    for question in questions:
        # what is left cannot buy what the first unfunded question still lacks of any of its arms
        if lacking is everything and not np.isfinite(question.price):
            continue
        wanted = np.minimum(question.extra, lacking[question.arms])
        short = question.arms[granted[question.arms] < wanted]
        if len(short):
            assert budget - granted @ costs < costs[short].max() * (1 + 1e-9)
            break


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_missing_evaluations_are_bought_as_by_hand(seed):
    """With a budget for all of some questions, one evaluation at a time, by counting in sets."""
    rng = np.random.default_rng(seed)
    costs, missing = np.ones(6), rng.integers(0, 9, 6)
    questions = made_up_questions(rng, costs, 4)
    pairs = [
        {
            (arm, n)
            for arm, extra in zip(q.arms.tolist(), q.extra, strict=True)
            for n in range(missing[arm])
            if n < extra
        }
        for q in questions
    ]
    for funded in range(5):
        bought = set().union(*pairs[:funded])
        by_hand = [sum(arm == one for one, _ in bought) for arm in range(6)]
        assert allocate(questions, costs, len(bought) + 1e-6, missing).tolist() == by_hand


@pytest.mark.slow
def test_a_recommendation_adds_up(synthetic):
    advice = cb.recommend(synthetic, budget=20_000)
    arms, plain = advice.arms, json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert advice.exhausted and plain["exhausted"] and not arms[["missing", "next"]].any(axis=None)
    assert 0 < advice.price("new") <= 20_000
    assert advice.price("new") == plain["price_of_new"] == pytest.approx((arms["new"] * arms["cost"]).sum())
    assert set(plain["front"]) == set(synthetic.summary().query("on_front").index)
    assert plain["best"] == arms.index[0] == advice.best
    assert arms["efficient_share"].sum() == pytest.approx(1)
    unsettled = set(arms.index[~arms["front_settled"]])
    assert unsettled == set(advice.questions.query("kind == 'front'")["configuration"]) and unsettled
    assert advice.questions["price"].is_monotonic_increasing
    assert len(plain["arms"]) == 24


# ------------------------------------------------------------------------------ a finite benchmark


@pytest.mark.slow
@examples(40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 0.2, 0.4]),
    st.sampled_from([5.0, 40.0, 200.0, 1e6]),
    st.sampled_from(["instances", "benchmark"]),
)
def test_what_is_named_exists_is_missing_and_within_the_budget(seed, holes, budget, about):
    table = with_holes(40, holes, seed)
    advice = cb.recommend(table, budget, about=about, replications=2)
    arms, rows = advice.arms, table.rows
    there = set(zip(rows["config"].astype(str), rows["instance"].astype(str), strict=True))
    instances, named = (
        {instance for _, instance in there},
        list(advice.evaluate_next.itertuples(index=False, name=None)),
    )
    for name in table.configs:
        absent = sum((name, instance) not in there for instance in instances)
        assert arms.loc[name, "missing"] == absent >= arms.loc[name, "next"]
        assert arms.loc[name, "next"] == sum(one == name for one, _ in named)
    assert len(set(named)) == len(named) and not there & set(named)
    assert {instance for _, instance in named} <= instances
    assert advice.price("next") + advice.price("new") <= budget * (1 + 1e-9)
    assert advice.exhausted == (holes == 0)
    if about == "benchmark":  # nothing beyond it is asked for, and nothing at all once it is exhausted
        assert not arms["new"].any() and (len(advice.questions) == 0 or holes > 0)
        assert (advice.questions["new_instances"] == 0).all() and np.isfinite(advice.needed)
        assert advice.needed <= advice.price("missing") * (1 + 1e-9)
    elif budget == 1e6:
        assert arms["new"].any() and (advice.price("next") > 0) == (holes > 0)


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_instances_are_named_as_by_brute_force(seed):
    """One order for all: no pair that was passed over is on an instance that more are evaluated on."""
    rng = np.random.default_rng(seed)
    table = with_holes(16, rng.uniform(0, 0.5), seed)
    values = wide(table, "cost")  # instances are sorted by name
    absent = np.isnan(values)
    numbers = rng.integers(0, absent.sum(axis=0) + 1)
    named = missing_pairs(table, numbers, seed)
    evaluated = dict(zip(table.rows["instance"].cat.categories, (~absent).sum(axis=1).tolist(), strict=True))
    order = named["instance"].map(evaluated)
    assert order.is_monotonic_decreasing
    places = {}
    for arm, name in enumerate(table.configs):
        mine = named.loc[named["configuration"] == name, "instance"]
        could = {i for i, gone in zip(evaluated, absent[:, arm], strict=True) if gone}
        assert len(mine) == numbers[arm] and set(mine) <= could
        rest = [evaluated[i] for i in could - set(mine)]
        assert not len(mine) or not rest or min(evaluated[i] for i in mine) >= max(rest)
        for here, there in itertools.pairwise(mine):  # the same order for every configuration
            assert places.setdefault(frozenset((here, there)), here) == here
    assert named.equals(missing_pairs(table, numbers, seed))


def test_equal_instances_come_at_random():
    """A benchmark may be sorted; the first of what is missing would then be of one kind."""
    whole = drawn(np.random.default_rng(0), MEANS, COSTS, 60)
    rows = whole.rows.drop(columns="split")
    table = EvaluationTable.from_records(
        rows[(rows["config"] != "arm002") | rows["instance"].isin([f"q{n:05d}" for n in range(30)])],
        whole.card,
    )
    named = [
        missing_pairs(table, np.array([0, 0, 30, 0, 0, 0]), seed)["instance"].tolist() for seed in (1, 2)
    ]
    assert sorted(named[0]) == sorted(named[1]) == [f"q{n:05d}" for n in range(30, 60)]
    assert named[0] != named[1] and named[0] != sorted(named[0])


def test_new_instances_are_what_the_benchmark_does_not_have():
    arms, extra = np.array([0, 2]), np.array([6.0, 9.0])
    question = Question("front", 0, 2, 1.0, 2.0, arms, extra, 15.0)
    for missing, new in [([0, 0, 0], 9), ([6, 0, 4], 5), ([0, 0, 9], 6), ([20, 20, 20], 0)]:
        assert question.new(np.array(missing)) == new
    table = drawn(np.random.default_rng(2), MEANS, COSTS, 40)
    asked = cb.recommend(table, replications=2).questions.query("kind == 'efficiency' and why == 'gap'")
    assert len(asked)
    for found in asked.itertuples():
        times = (found.factor / found.ratio) ** 2
        assert found.new_instances == max(1, np.ceil((times - 1) * 40))
        assert found.evaluations == 2 * found.new_instances


def test_a_benchmark_that_is_exhausted_is_said_to_be():
    table = drawn(np.random.default_rng(2), MEANS, COSTS, 40)
    advice = cb.recommend(table, 100.0, replications=2)
    _, here, like_these, settle, then = sentences(advice)
    front = table.summary()["on_front"].sum()
    assert here == (
        "On this benchmark the answer is exact: all 6 configurations are evaluated on all 40 instances, and "
        f"the Pareto set has {front} of them."
    )
    assert like_these.startswith("On instances like these it is never exact. Settled at 95%: ")
    new = advice.questions["new_instances"]
    assert f"New instances, the same for all that are compared: {new.min():,.0f} would settle " in settle
    assert f"{new.max():,.0f} would settle {len(new)} of {len(new)} open answers." in settle
    bought = advice.arms["new"]
    assert then.startswith(
        f"Evaluate next: nothing, as the benchmark is exhausted. On {bought.max()} new instances, about "
    )
    assert all(f"{number} × {name}" in then for name, number in bought[bought > 0].items())


def test_where_all_is_settled_nothing_is_asked():
    table = drawn(np.random.default_rng(0), [[0.9, 0.9], [0.1, 0.1]], [1.0, 1.0], 200)
    advice = cb.recommend(table, 10.0, replications=2)
    assert advice.questions.empty and advice.needed == 0 and not advice.arms[["next", "new"]].any(axis=None)
    assert len(said := sentences(advice)) == 4 and said[-1] == "Every answer is settled at 95%."
    assert json.loads(json.dumps(advice.to_dict(), allow_nan=False))["questions"] == []


@pytest.mark.slow
def test_what_is_missing_is_named_in_words():
    table = with_holes(40, 0.2, 20)
    advice = cb.recommend(table, 40.0, replications=2)
    missing, total = advice.arms["missing"].sum(), 6 * 40
    _, here, _, settle, then = sentences(advice)
    assert f"exact once all {total} evaluations are made; {missing} are missing, for about " in here
    assert "after what is missing here: " in settle
    first, second = advice.evaluate_next[:2].itertuples(index=False, name=None)
    assert "first {} on instance {}, then {} on instance {}, ".format(*first, *second) in then
    assert f"; {len(advice.evaluate_next)} of the missing evaluations for about " in then
    assert len(sentences(cb.recommend(table, replications=2))) == 4  # no budget: nothing to evaluate next


@pytest.mark.slow
def test_evaluations_that_were_made_are_not_named_again():
    whole, table = drawn(np.random.default_rng(20), MEANS, COSTS, 40), with_holes(40, 0.2, 20)
    advice = cb.recommend(table, 40.0, replications=2)
    made = whole.rows.merge(advice.evaluate_next.rename(columns={"configuration": "config"}))
    rows = pd.concat([table.rows, made]).drop(columns="split")
    again = cb.recommend(EvaluationTable.from_records(rows, table.card), 40.0, replications=2)
    left = (advice.arms["missing"] - advice.arms["next"]).sort_index()
    assert (again.arms["missing"].sort_index() == left).all() and len(made) == advice.arms["next"].sum() > 0


@pytest.mark.slow
def test_an_exact_tie_is_said_to_be_one():
    table = drawn(np.random.default_rng(0), [[0.5, 0.5], [0.7, 0.2]], [1.0, 1.0], 50)
    rows = table.rows.drop(columns="split")
    twin = rows[rows["config"] == "arm000"].assign(config="twin")
    advice = cb.recommend(EvaluationTable.from_records(pd.concat([rows, twin]), table.card), budget=10)
    tied = advice.questions[np.isinf(advice.questions["price"])]
    assert {"arm000", "twin"} <= set(tied["configuration"])
    assert np.isfinite(advice.needed) and advice.to_dict()["ties"] == len(tied)
    json.dumps(advice.to_dict(), allow_nan=False)
    only = EvaluationTable.from_records(pd.concat([rows[rows["config"] == "arm000"], twin]), table.card)
    *_, settle, then = sentences(cb.recommend(only, budget=1e6))
    assert settle == "Exact ties, which no number of new instances settles: 3."  # two on the front, one best
    assert then == "Evaluate next: nothing, as the benchmark is exhausted."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"budget": float("nan")}, "finite"),
        ({"level": 1.0}, "below 1"),
        ({"level": -0.1}, "level"),
        ({"replications": 0}, "replications"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_numbers_are_refused(arguments, message, synthetic):
    with pytest.raises(CobanditError, match=message):
        cb.recommend(synthetic, **arguments)


@pytest.mark.parametrize("given", ["my.parquet", pd.DataFrame({"config": ["a"]})])
@pytest.mark.parametrize("asked", [cb.recommend, doctor])
def test_what_is_no_table_is_refused(asked, given):
    got = "'my.parquet'" if isinstance(given, str) else "a DataFrame"
    with pytest.raises(CobanditError, match=rf"^table: .* is needed, got {got}; .*from_frame"):
        asked(given)
