"""The next evaluations: missing, affordable, and sufficient for the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn import COSTS, MEANS, drawn, with_holes
from support.shapes import make_agents, make_leaderboard
from support.strategies import examples

import cobandit as cb
from cobandit.advice.next_evaluations import plan_next
from cobandit.policies.look_depths import FIRST_LOOK
from cobandit.tables import EvaluationTable


@pytest.mark.slow
@examples(40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 0.3, 0.6]),
    st.sampled_from([None, 0.5, 5.0, 40.0, 1e6]),
    st.sampled_from([0.0, 0.1]),
)
def test_planned_evaluations_are_missing_and_within_budget(
    seed, holes, budget, tolerance
):
    table = with_holes(40, holes, seed)
    plan, rows = plan_next(table, budget, tolerance), table.rows
    evaluated = set(
        zip(rows["config"].astype(str), rows["instance"].astype(str), strict=True)
    )
    named = list(plan.pairs.itertuples(index=False, name=None))
    assert len(set(named)) == len(named) and not evaluated & set(named)
    assert {instance for _, instance in named} <= {
        instance for _, instance in evaluated
    }
    assert {name for name, _ in named} <= set(table.configs)
    price = plan.pairs["configuration"].map(table.summary()["cost"]).astype(float).sum()
    assert price <= (np.inf if budget is None else budget) * (1 + 1e-9)
    assert plan.settled <= plan.would_be_settled <= table.n_arms
    if len(named) and plan.compared:
        # or they would not be worth their cost
        assert plan.would_be_settled > plan.settled
    if budget is None and plan.compared:
        assert len(named) == plan.evaluations and price == pytest.approx(plan.price)


def test_race_continues_with_the_planned_evaluations():
    """The plan begins with the evaluations that a race on the table makes next."""
    full_table, table = (
        drawn(np.random.default_rng(3), MEANS, COSTS, 60),
        with_holes(60, 0.2, 3),
    )
    del full_table
    plan = plan_next(table)
    order = plan.pairs["instance"].drop_duplicates().tolist()
    n_seen = table.rows.groupby("instance", observed=True)["config"].nunique()
    # where most are evaluated, comparisons need least
    assert n_seen[order].is_monotonic_decreasing
    assert plan.pairs.equals(plan_next(table).pairs)


def follow(full_table, table, **options):
    """Make what is named and ask again until all is settled; the table then."""
    for _ in range(60):
        plan = plan_next(table, **options)
        if plan.settled == table.n_arms:
            return table
        evaluated = full_table.rows.merge(
            plan.pairs.rename(columns={"configuration": "config"})
        )
        rows = pd.concat([table.rows, evaluated]).drop(columns="split")
        table = EvaluationTable.from_frame(
            rows, cost="cost", unit="USD", objectives=["accuracy"]
        )
    raise AssertionError("it does not end")


@pytest.mark.slow
def test_certified_race_needs_more_and_reports_it():
    table = with_holes(100, 0.3, 3)
    options = {"tolerance": 0.1, "front": "objectives"}
    plans = [
        plan_next(table, certified=certified, **options) for certified in (False, True)
    ]
    assert (
        plans[1].settled <= plans[0].settled
        and plans[1].evaluations > plans[0].evaluations > 0
    )
    texts = [
        str(cb.recommend(table, tolerance=0.1, certified=certified, replications=20))
        for certified in (False, True)
    ]
    assert "until that is settled on this benchmark, it takes" in texts[0]
    assert "until that is proved at 95 % on this benchmark, it takes" in texts[1]


@pytest.mark.slow
def test_certified_race_is_followed_to_its_end():
    """Less than everything is evaluated, and then nothing is asked for."""
    full_table, table = make_leaderboard(150), make_leaderboard(150, seen=0.1)
    done = follow(full_table, table, tolerance=0.2, certified=True)
    means = full_table.summary()["accuracy"]
    best = done.summary().query("instances > 100")["accuracy"].idxmax()
    assert means[best] >= means.max() - 0.2 and len(done.rows) < 0.8 * len(
        full_table.rows
    )


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("front", "maximum"), [("objectives", 0.4), ("objectives and cost", 0.7)]
)
def test_plan_decides_all_for_less_than_all_evaluations(front, maximum):
    """From a tenth of a leaderboard, the best within two points costs two fifths.

    All that is worth its cost takes more: many are about as good for about as much.
    """
    full_table, table = make_leaderboard(300), make_leaderboard(300, seen=0.1)
    assert full_table.n_arms == 58
    done = follow(full_table, table, tolerance=0.02, front=front)
    means = full_table.summary()["accuracy"]
    best = done.summary().query("instances > 200")["accuracy"].idxmax()
    assert means[best] >= means.max() - 0.02
    assert len(done.rows) < maximum * len(full_table.rows)


def test_nothing_is_planned_if_nothing_can_be_decided():
    """One more evaluation cannot separate two agents three points apart."""
    table = make_agents()
    plan = plan_next(table, budget=0.5)
    assert (
        plan.settled == plan.would_be_settled == 0
        and not len(plan.pairs)
        and plan.evaluations > 10
    )
    enough = plan_next(table, budget=plan.price)
    assert enough.would_be_settled == 2 and len(enough.pairs) == plan.evaluations
    # what it says is the least is enough, and no less
    assert len(plan_next(table, budget=plan.step).pairs)
    assert not len(plan_next(table, budget=0.999 * plan.step).pairs)


def test_first_comparison_is_planned_before_all_others():
    table = make_leaderboard(100, seen=0.05)
    plan = plan_next(table)
    assert not plan.compared and plan.settled == 0
    # eight are evaluated by all
    assert plan.pairs["instance"].nunique() == FIRST_LOOK - 8
    assert plan.evaluations == 58 * table.rows["instance"].nunique() - len(table.rows)
    assert not len(plan_next(table, budget=0.999 * plan.step).pairs)
    assert len(plan_next(table, budget=plan.step).pairs)


def test_subset_lacks_instances_of_excluded_arms():
    """The benchmark has them, and who is left may differ there."""
    full_table = drawn(np.random.default_rng(2), [[0.5], [0.6], [0.7]], COSTS[:3], 30)
    rows = full_table.rows.drop(columns="split")
    large = rows["config"] == "arm002"
    described = rows.assign(kind=np.where(large, "large", "small"))[
        large | (rows["instance"].cat.codes < 20)
    ]
    named = {
        "cost": "cost",
        "objectives": ["objective0"],
        "arms": "kind",
        "profiling": 5,
    }
    part = EvaluationTable.from_frame(described, **named).subset("kind == 'small'")
    plan = plan_next(part)
    assert plan.settled == 0 < plan.evaluations == len(plan.pairs)
    assert {*plan.pairs["instance"]} <= {f"q{number:05d}" for number in range(20, 30)}
