"""Where budgets go, and tables with some of their objectives."""

import numpy as np
import pandas as pd
import pytest
from support.faults import bad_argument, fault

import cobandit as cb
from cobandit.stats import metrics
from cobandit.testing.small_tables import table_of
from companion.paper.arm_pulls import allocation


@pytest.fixture(scope="module")
def table():
    return cb.load("synthetic-24")


@pytest.mark.parametrize("methods", ["CoHVUCB", ["HVUCB", "UniformAllocation"]])
def test_allocation_sums_to_the_pulls_of_the_replay(table, methods):
    rho = [40, 60]
    replications = 6
    seed = 3
    counted = allocation(table, methods, rho, replications, seed)
    runs = cb.replay_online(table, methods, rho, replications, seed)
    keys = ["method", "rho", "replication"]
    assert len(counted) == len(runs) * table.n_arms
    totals = counted.groupby(keys)["pulls"].sum()
    assert totals.sort_index().equals(runs.set_index(keys)["pulls"].sort_index())
    per_run = counted.pivot_table(index=keys, columns="arm", values="pulls")
    regret = metrics.efficiency_regret(table.problem, per_run.to_numpy())
    expected = runs.set_index(keys)["efficiency_regret"].reindex(per_run.index)
    np.testing.assert_allclose(regret, expected, rtol=1e-12)


def test_allocation_is_empty_for_an_insufficient_budget(table):
    assert allocation(table, "CoHVUCB", 0.01, 2).empty


def test_table_with_some_objectives_equals_table_built_without_the_others():
    rng = np.random.default_rng(0)
    arms = [
        [(float(rng.integers(1, 9)), *rng.random(3)) for _ in range(6)]
        for _ in range(4)
    ]
    full_table = table_of(arms)
    names = full_table.objectives
    selection = full_table.select_objectives(names[2], names[0])
    fresh = table_of([[(row[0], row[3], row[1]) for row in rows] for rows in arms])
    assert selection.objectives == (names[2], names[0])
    np.testing.assert_array_equal(selection.means, fresh.means)
    np.testing.assert_array_equal(selection.feedback.rewards, fresh.feedback.rewards)
    np.testing.assert_array_equal(selection.costs, full_table.costs)
    assert list(selection.raw_means.columns) == [
        full_table.card.objectives[d].column for d in (2, 0)
    ]
    runs = [cb.replay_online(one, "CoHVUCB", 4, 3) for one in (selection, fresh)]
    pd.testing.assert_frame_equal(*runs)


@pytest.mark.parametrize(
    ("names", "code"),
    [((), "no-objective"), (("accuracy", "accuracy"), "repeated-name")],
)
def test_none_and_repeated_objectives_are_refused(table, names, code):
    with fault(code, "field 'objectives'"):
        table.select_objectives(*names)


def test_unknown_objective_is_refused(table):
    with bad_argument("unknown-choice", "objective", ["'accurracy'", "'accuracy'?"]):
        table.select_objectives("accurracy")
