"""Recommendations: definitions of redraws and pairs, budgets, stated confidence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.drawn import COSTS, MEANS, NEAR_TIES, drawn, with_holes
from support.faults import bad_argument

import cobandit as cb
from cobandit.advice import doctor
from cobandit.advice.answer import answer
from cobandit.advice.questions import find_questions
from cobandit.stats.pairwise import Paired
from cobandit.stats.redrawn_means import redraw_means
from cobandit.stats.simultaneous import critical_value, find_levels
from cobandit.tables import EvaluationTable


@pytest.fixture(scope="module")
def ragged():
    rng = np.random.default_rng(3)
    # holes so many that either split of each arm keeps two instances, most times
    while True:
        try:
            return drawn(rng, MEANS, COSTS, 60, holes=0.3)
        except cb.TableError:
            continue


def wide(table, column):
    """Instances as rows, arms as columns, NaN where there is none."""
    rows = table.rows
    return rows.pivot_table(
        index="instance", columns="config", values=column, observed=False
    ).to_numpy()


# Redraws.


def test_redraws_are_weighted_means_with_one_weight_per_instance():
    table = drawn(np.random.default_rng(3), MEANS, COSTS, 60)
    means, costs = redraw_means(table, 5, seed=7)
    weights = np.random.default_rng(7).standard_exponential((5, 60))
    for column, matches in [
        ("objective0", means[..., 0]),
        ("objective1", means[..., 1]),
        ("cost", costs),
    ]:
        values = wide(table, column)
        np.testing.assert_allclose(
            matches, weights @ values / weights.sum(axis=1)[:, None], rtol=1e-12
        )


def test_redraws_of_an_incomplete_table_scatter_about_its_adjusted_means(ragged):
    means, costs = redraw_means(ragged, 4000, seed=7)
    every, n = ragged.summary(), ragged.n_instances
    for d in (0, 1):
        true = every[f"objective{d}"]
        np.testing.assert_allclose(means[..., d].mean(axis=0), true, atol=0.01)
        np.testing.assert_allclose(
            means[..., d].std(axis=0), np.sqrt(true * (1 - true) / n), rtol=0.2
        )
    np.testing.assert_allclose(costs.mean(axis=0), every["cost"], rtol=0.01)


def test_redraws_do_not_depend_on_their_blocks(ragged, monkeypatch):
    all_redraws = redraw_means(ragged, 6, seed=1)
    monkeypatch.setattr("cobandit.stats.evaluations.BLOCK_SIZE", 300)
    for one, other in zip(all_redraws, redraw_means(ragged, 6, seed=1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# Pairs.


def test_ratios_use_the_shared_instances_of_two_arms(monkeypatch):
    monkeypatch.setattr("cobandit.stats.evaluations.BLOCK_SIZE", 500)  # several blocks
    table = drawn(np.random.default_rng(1), MEANS, COSTS, 60)
    result = np.vstack([gaps.ratios.min(axis=0) for gaps in Paired(table).dominance()])
    columns = [wide(table, f"objective{d}") for d in (0, 1)] + [-wide(table, "cost")]
    relative = (columns[2].var(axis=0, ddof=1) / columns[2].mean(axis=0) ** 2).mean()
    for i in range(6):
        for j in range(6):
            if i == j:
                continue
            t = []
            for values in columns:
                difference = values[:, j] - values[:, i]
                one_more = 2 * values.var(axis=0, ddof=1).mean() / 60**2
                if values is columns[2]:  # of costs, each in proportion to its own
                    one_more = (
                        relative * (values.mean(axis=0)[[i, j]] ** 2).sum() / 60**2
                    )
                error = np.sqrt(difference.var(ddof=1) / 60 + one_more)
                t.append(difference.mean() / error)
            assert result[i, j] == pytest.approx(min(t), rel=1e-9)


@pytest.mark.parametrize("block", [2**24, 500])
def test_ratios_of_incomplete_tables_use_the_shared_instances(
    ragged, monkeypatch, block
):
    monkeypatch.setattr("cobandit.stats.evaluations.BLOCK_SIZE", block)
    gaps = [*Paired(ragged, strict=True).dominance()]
    result = np.vstack([gap.ratios.min(axis=0) for gap in gaps])
    shared = np.vstack([gap.shared for gap in gaps])
    values = [wide(ragged, "objective0"), wide(ragged, "objective1")]
    for i, j in ((0, 3), (3, 0), (4, 1), (5, 2)):
        t = []
        for column in values:
            difference = column[:, j] - column[:, i]
            difference = difference[~np.isnan(difference)]
            n = len(difference)
            one_more = 2 * np.nanvar(column, axis=0, ddof=1).mean() / n**2
            t.append(difference.mean() / np.sqrt(difference.var(ddof=1) / n + one_more))
        assert result[i, j] == pytest.approx(min(t), rel=1e-9) and shared[i, j] == n


@pytest.mark.slow
def test_few_equal_scores_decide_nothing():
    """All right against all wrong on four instances: no variance, but doubt remains."""
    table = drawn(np.random.default_rng(0), [[1.0], [0.0], [0.5]], [1.0, 1.0, 1.0], 4)
    assert not cb.recommend(table, level=0.999).arms["front_settled"].any()
    few, many = critical_value([4, 400], 0.01)
    assert few > many


# Stated confidence.


def wrong_and_settled(rng, means, costs, n_instances, tables, level, shared=0.5):
    """Return the tables with a wrong decided membership, and the share decided.

    Only the last table gets a whole recommendation, which has to decide the same.
    """
    front = cb.pareto_mask(
        np.column_stack([means, -np.array(costs)]), dominance="standard"
    )
    wrong = settled = 0
    for _ in range(tables):
        table = drawn(rng, means, costs, n_instances, shared=shared)
        compared = Paired(table)
        questions = find_questions(compared, find_levels(compared, 1 - level, 0))
        sure = ~np.isin(np.arange(table.n_arms), questions["arm"])
        wrong += bool((compared.on_front != front)[sure].any())
        settled += sure.mean()

    arms = cb.recommend(table, level=level, replications=1).arms.sort_index()
    assert (arms["on_front"] == compared.on_front).all()
    assert (arms["front_settled"] == sure).all()
    return wrong, settled / tables


@pytest.mark.parametrize(
    ("means", "costs", "n_instances", "shared"),
    [
        *(
            (NEAR_TIES, np.linspace(1, 1.1, 9), 120, shared)
            for shared in (0.0, 0.5, 1.0)
        ),
        (MEANS, COSTS, 40, 0.5),
        ([[0.5], [0.5], [0.48]], [1.0, 1.0, 1.0], 60, 0.5),
    ],
    ids=[
        "near ties",
        "near ties, half shared",
        "near ties, all shared",
        "clear and few",
        "one objective",
    ],
)
@pytest.mark.acceptance
def test_error_of_decided_memberships_is_as_stated(means, costs, n_instances, shared):
    """At level 0.8, more than 32 errors in 100 occur by chance once in 500 tests."""
    rng, maximum = np.random.default_rng(8), stats.binom.isf(0.002, 100, 0.2)
    assert (
        wrong_and_settled(rng, means, costs, n_instances, 100, 0.8, shared)[0]
        <= maximum
    )


@pytest.mark.slow
def test_too_small_critical_values_are_noticed(monkeypatch):
    """With critical values of one comparison instead of all, the test above fails."""
    monkeypatch.setattr(
        "cobandit.stats.simultaneous.critical_value",
        lambda counts, alpha: np.full(len(counts), 0.3),
    )
    rng = np.random.default_rng(8)
    wrong, _ = wrong_and_settled(rng, NEAR_TIES, np.linspace(1, 1.1, 9), 120, 60, 0.8)
    assert wrong > stats.binom.isf(0.002, 100, 0.2)


@pytest.mark.slow
def test_more_instances_decide_more():
    # no two the same: what is equal is never settled
    costs = [1.0, 2.0, 1.2, 3.0, 1.5, 4.0]
    rng = np.random.default_rng
    shares = [
        wrong_and_settled(rng(4), MEANS, costs, n, 6, 0.95)[1] for n in (20, 200, 2000)
    ]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.8


@pytest.mark.acceptance
def test_estimated_evaluations_decide_the_question():
    """Three times the estimate usually decides a question, a tenth of it rarely."""
    means, costs, rng, n = (
        [[0.56, 0.56], [0.5, 0.5]],
        [1.0, 1.3],
        np.random.default_rng(9),
        100,
    )
    first = [
        cb.recommend(drawn(rng, means, costs, n), replications=1).questions
        for _ in range(30)
    ]
    questions_of_arm = [q[q["configuration"] == "arm001"] for q in first]
    extra = np.median(
        [q["evaluations"].iloc[0] / 2 for q in questions_of_arm if len(q)]
    )
    settled = []
    for factor in (0.1, 3):
        tables = [drawn(rng, means, costs, int(n + factor * extra)) for _ in range(20)]
        settled.append(
            np.mean(
                [
                    cb.recommend(t, replications=1).arms.loc["arm001", "front_settled"]
                    for t in tables
                ]
            )
        )
    assert settled[0] < 0.4 and settled[1] > 0.8


# Recommendations.


@pytest.mark.slow
def test_parts_of_a_recommendation_agree(synthetic):
    advice = cb.recommend(synthetic, budget=20_000)
    arms, plain = advice.arms, json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert (
        advice.exhausted
        and plain["exhausted"]
        and not arms["missing"].any()
        and not len(advice.next.pairs)
    )
    every = synthetic.summary()
    values = np.column_stack([every[list(synthetic.objectives)], -every["cost"]])
    on_front = every.index[cb.pareto_mask(values, dominance="standard")]
    front = [row["config"] for row in plain["front"]]
    assert set(front) == set(on_front) == set(arms.index[arms["on_front"]])
    assert (
        arms["cost"].is_monotonic_increasing
        and every.loc[front, "cost"].is_monotonic_increasing
    )
    assert (
        plain["most_efficient"]
        == advice.most_efficient
        == arms["hypervolume_per_cost"].idxmax()
    )
    assert arms["efficient_share"].sum() == pytest.approx(1)
    unsettled = set(arms.index[~arms["front_settled"]])
    assert unsettled == set(advice.questions["configuration"]) and unsettled
    assert advice.questions["price"].is_monotonic_increasing
    assert len(plain["arms"]) == 24


# New instances, ties.


@pytest.mark.slow
@pytest.mark.parametrize("holes", [0, 0.3])
def test_new_instances_are_outside_the_benchmark(holes):
    """A dominated pair needs (factor / ratio)^2 times the instances that it has."""
    advice = cb.recommend(with_holes(40, holes, 2), replications=2)
    dominated = ~advice.arms["on_front"][advice.questions["configuration"]].to_numpy()
    assert dominated.any()
    for result in advice.questions[dominated].itertuples():
        pair = advice.arms.loc[[result.configuration, result.against]]
        extra = np.ceil(
            ((result.factor / result.ratio) ** 2 - 1) * pair["instances"]
        ).clip(1)
        assert result.new_instances == (extra - pair["missing"]).clip(0).max()
        assert (result.evaluations, result.price) == pytest.approx(
            (extra.sum(), extra @ pair["cost"])
        )


def test_decided_tables_have_no_questions():
    table = drawn(np.random.default_rng(0), [[0.9, 0.9], [0.1, 0.1]], [1.0, 3.0], 200)
    advice = cb.recommend(table, 10.0, replications=2)
    assert advice.questions.empty and advice.next.evaluations == 0
    assert answer(advice).lines["Sure"].startswith("that one, at 95 %")
    assert json.loads(json.dumps(advice.to_dict(), allow_nan=False))["questions"] == []


@pytest.mark.slow
def test_exact_tie_needs_infinitely_many_instances():
    table = drawn(np.random.default_rng(0), [[0.5, 0.5], [0.7, 0.2]], [1.0, 1.0], 50)
    rows = table.rows.drop(columns="split")
    twin = rows[rows["config"] == "arm000"].assign(config="twin")
    advice = cb.recommend(
        EvaluationTable.from_records(pd.concat([rows, twin]), table.card), budget=10
    )
    tied = advice.questions[np.isinf(advice.questions["price"])]
    assert {"arm000", "twin"} <= set(tied["configuration"])
    json.dumps(advice.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("wrong", "code", "names"),
    [
        ({"budget": 0}, "out-of-range", ["0"]),
        ({"budget": float("nan")}, "not-finite", ["nan"]),
        ({"level": 1.0}, "out-of-range", ["1.0", "0.9999"]),
        ({"level": -0.1}, "out-of-range", ["-0.1"]),
        ({"replications": 0}, "out-of-range", ["0"]),
        ({"seed": -1}, "out-of-range", ["-1"]),
        ({"about": "users"}, "unknown-choice", ["'users'"]),
    ],
)
def test_bad_numbers_are_refused(wrong, code, names, synthetic):
    (argument,) = wrong
    with bad_argument(code, argument, names):
        cb.recommend(synthetic, **wrong)


@pytest.mark.parametrize("arguments", ["my.parquet", pd.DataFrame({"config": ["a"]})])
@pytest.mark.parametrize("options", [cb.recommend, doctor])
def test_arguments_other_than_tables_are_refused(options, arguments):
    got = "'my.parquet'" if isinstance(arguments, str) else "a DataFrame"
    with bad_argument("not-a-table", "table", [got, "from_frame"]):
        options(arguments)
