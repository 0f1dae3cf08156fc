"""The splits of a table: one truth for replays, advice that says where it differs, bad luck noticed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.drawn import heavy, table_of

import cobandit as cb
from cobandit.advice.splits import FALSE_ALARMS, compare_splits
from cobandit.tables.columns import profiling_mask


def by_hand(table, split):
    """Efficiency of each configuration: mean scores of evaluation over mean costs of a split."""
    rows = table.rows
    means = rows.groupby(["split", "config"], observed=True)[["cost", "accuracy"]].mean()
    return (means.loc["evaluation", "accuracy"] / means.loc[split, "cost"]).to_numpy()


@pytest.mark.slow
def test_regret_is_against_the_evaluation_split_costs_included():
    """Where profiling costs name another best configuration, as they do under heavy tails."""
    misled = 0
    for seed in range(40):
        table = heavy(np.random.default_rng(seed))
        truth = by_hand(table, "evaluation")
        misled += truth.argmax() != by_hand(table, "profiling").argmax()
        assert table.problem.best_arm == truth.argmax()
        np.testing.assert_allclose(table.problem.efficiency, truth * table.cost_range[1])
    assert misled >= 4


@pytest.mark.parametrize(("kind", "default"), [("measured", "evaluation"), ("reconstruction", "profiling")])
def test_the_truth_of_replays_depends_on_what_a_table_is(kind, default):
    table = heavy(np.random.default_rng(1), kind=kind)
    other = {"evaluation": "profiling", "profiling": "evaluation"}[default]
    runs = {
        named: cb.replay_online(table, "UniformAllocation", rho=8, replications=3, true_costs=named)
        for named in (None, default, other)
    }
    pd.testing.assert_frame_equal(runs[None], runs[default])
    assert (runs[other]["pulls"] == runs[None]["pulls"]).all()
    assert (runs[other]["efficiency_regret"] != runs[None]["efficiency_regret"]).all()
    gaps = {split: (nu := by_hand(table, split) * table.cost_range[1]).max() - nu for split in runs if split}
    for split, gap in gaps.items():  # uniform: as many pulls of each, up to one
        each = runs[split]["pulls"] // table.n_arms
        assert (runs[split]["efficiency_regret"] >= each * gap.sum() * (1 - 1e-9)).all()
        assert (runs[split]["efficiency_regret"] <= (each + 1) * gap.sum() * (1 + 1e-9)).all()
    paths = cb.replay_paths(table, "UniformAllocation", rho=8, replications=3, true_costs=other)
    last = paths.groupby("replication")["efficiency_regret"].last()
    np.testing.assert_allclose(last, runs[other]["efficiency_regret"])


def test_a_split_that_does_not_exist_is_refused(synthetic):
    with pytest.raises(cb.CobanditError, match="true_costs"):
        synthetic.truth("both")
    with pytest.raises(cb.CobanditError, match="true_costs"):
        cb.replay_online(synthetic, "CoHVUCB", rho=4, true_costs="both")


@pytest.mark.slow
def test_advice_and_replays_agree_or_say_why_not():
    agreed = 0
    for seed in range(30):
        table = heavy(np.random.default_rng(seed))
        advice = cb.recommend(table, replications=1)
        strict = cb.recommend(table, replications=1, dominance="strict").arms["on_front"]  # as replays judge
        found = compare_splits(table, replications=9)
        assert (
            found.best == advice.most_efficient and found.judged_best == table.configs[table.problem.best_arm]
        )
        assert set(found.front) == set(strict.index[strict])
        assert found.judged_front == tuple(np.array(table.configs)[table.problem.pareto_mask])
        same = set(found.front) == set(found.judged_front)
        agreed += same and found.best == found.judged_best
        answers = found.sentences()[0]
        assert f"over all 60 instances is {found.best}; by the 48 of" in answers
        assert f"judge replays, it is {found.judged_best}. " in answers
        assert answers.endswith("set: none; only the second: none.") == same
    assert 5 < agreed < 25


def test_distances_are_those_of_two_means():
    rng = np.random.default_rng(3)
    table = heavy(rng)
    rows = table.rows
    t = []
    for _, arm in rows.groupby("config", observed=True):
        known = arm["split"] == "profiling"
        for column in ("accuracy", "cost"):
            error = arm[column].std() * np.sqrt(1 / known.sum() + 1 / (~known).sum())
            t.append(abs(arm.loc[known, column].mean() - arm.loc[~known, column].mean()) / error)
    assert compare_splits(table, replications=1).farthest == pytest.approx(max(t))


@pytest.mark.slow
def test_cutting_into_blocks_changes_nothing(monkeypatch):
    table = heavy(np.random.default_rng(4))
    whole = compare_splits(table)
    for block in (60 * 2, 60 * 1000):
        monkeypatch.setattr("cobandit.advice.paired.BLOCK", block)
        assert compare_splits(table) == whole


@pytest.mark.slow
def test_random_splits_are_seldom_called_unlucky():
    """Once in a hundred is what is stated; more than 13 of 500 would come of chance once in a thousand."""
    rng = np.random.default_rng(5)
    tables = [heavy(rng, seed=seed) for seed in range(500)]
    alarms = sum(compare_splits(table, replications=199, seed=s).unlucky for s, table in enumerate(tables))
    assert alarms <= stats.binom.isf(1e-3, 500, FALSE_ALARMS)
    assert alarms >= 1  # it is not simply silent: none would come of chance once in 150


def test_an_unlucky_split_is_noticed():
    """Profiling holds the cheap instances, as after a split by hand."""
    rng = np.random.default_rng(6)
    cheap = profiling_mask(60, 12, 0)
    costs = np.where(cheap, 1.0, 3.0) * rng.uniform(0.8, 1.2, (4, 60))
    found = compare_splits(table_of((rng.random((4, 60)) < 0.5) * 1.0, costs))
    assert found.unlucky and found.farthest_at[1] == "cost" and found.cost_ratios[1] < 0.4
    said = found.sentences()[1]
    assert "was drawn unluckily" in said


def test_constant_columns_are_no_distance():
    found = compare_splits(table_of(np.full((2, 40), 0.1), np.full((2, 40), 0.3)), replications=50)
    assert found.farthest == 0 and found.p_value == 1 and not found.unlucky
