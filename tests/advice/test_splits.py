"""The splits of a table: one truth for replays, and advice that reports differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.drawn import heavy, table_of
from support.faults import bad_argument

import cobandit as cb
from cobandit.advice.splits import compare_splits
from cobandit.tables.profiling import profiling_mask


def by_hand(table, split):
    """Return mean evaluation scores divided by the mean costs of a split."""
    rows = table.rows
    means = rows.groupby(["split", "config"], observed=True)[
        ["cost", "accuracy"]
    ].mean()
    return (means.loc["evaluation", "accuracy"] / means.loc[split, "cost"]).to_numpy()


@pytest.mark.slow
def test_truth_has_costs_of_the_evaluation_split():
    """Under heavy tails, profiling costs can favour another configuration."""
    misled = 0
    for seed in range(40):
        table = heavy(np.random.default_rng(seed))
        truth = by_hand(table, "evaluation")
        misled += truth.argmax() != by_hand(table, "profiling").argmax()
        assert table.problem.best_arm == truth.argmax()
        np.testing.assert_allclose(
            table.problem.efficiency, truth * table.cost_range[1]
        )
    assert misled >= 4


@pytest.mark.parametrize(
    ("kind", "default"), [("measured", "evaluation"), ("reconstruction", "profiling")]
)
def test_truth_depends_on_the_kind_of_the_table(kind, default):
    table = heavy(np.random.default_rng(1), kind=kind)
    other = {"evaluation": "profiling", "profiling": "evaluation"}[default]
    runs = {
        named: cb.replay_online(
            table, "UniformAllocation", rho=8, replications=3, true_costs=named
        )
        for named in (None, default, other)
    }
    pd.testing.assert_frame_equal(runs[None], runs[default])
    assert (runs[other]["pulls"] == runs[None]["pulls"]).all()
    assert (runs[other]["efficiency_regret"] != runs[None]["efficiency_regret"]).all()
    gaps = {
        split: (nu := by_hand(table, split) * table.cost_range[1]).max() - nu
        for split in runs
        if split
    }
    for split, gap in gaps.items():  # uniform: as many pulls of each, up to one
        entry = runs[split]["pulls"] // table.n_arms
        assert (
            runs[split]["efficiency_regret"] >= entry * gap.sum() * (1 - 1e-9)
        ).all()
        assert (
            runs[split]["efficiency_regret"] <= (entry + 1) * gap.sum() * (1 + 1e-9)
        ).all()
    paths = cb.replay_paths(
        table, "UniformAllocation", rho=8, replications=3, true_costs=other
    )
    last = paths.groupby("replication")["efficiency_regret"].last()
    np.testing.assert_allclose(last, runs[other]["efficiency_regret"])


def test_unknown_split_is_refused(synthetic):
    with bad_argument("unknown-choice", "true_costs", ["'both'"]):
        synthetic.truth("both")
    with bad_argument("unknown-choice", "true_costs", ["'both'"]):
        cb.replay_online(synthetic, "CoHVUCB", rho=4, true_costs="both")


@pytest.mark.acceptance
def test_advice_agrees_with_replays_or_gives_the_reason():
    agreed = 0
    for seed in range(30):
        table = heavy(np.random.default_rng(seed))
        advice = cb.recommend(table, replications=1)
        # as replays judge
        strict = cb.recommend(table, replications=1, dominance="strict").arms[
            "on_front"
        ]
        comparison = compare_splits(table)
        assert (
            comparison.best == advice.most_efficient
            and comparison.judged_best == table.configs[table.problem.best_arm]
        )
        assert set(comparison.front) == set(strict.index[strict])
        assert comparison.judged_front == tuple(
            np.array(table.configs)[table.problem.pareto_mask]
        )
        same = set(comparison.front) == set(comparison.judged_front)
        agreed += same and comparison.best == comparison.judged_best
        answers = comparison.describe_answers()
        assert answers.startswith("All 60 instances and the 48 of the") == (
            same and comparison.best == comparison.judged_best
        )
        if comparison.best != comparison.judged_best:
            assert f"{comparison.best} is the most efficient over all" in answers
            assert f" {comparison.judged_best} over the evaluation split" in answers
        for front, other_front in (
            (comparison.front, comparison.judged_front),
            (comparison.judged_front, comparison.front),
        ):
            assert all(name in answers for name in front if name not in other_front)
    assert 5 < agreed < 25


def test_cheap_profiling_instances_of_one_arm_mislead():
    """After such a split, the profiled costs make another configuration the best."""
    rng = np.random.default_rng(6)
    scores, costs = (rng.random((4, 60)) < 0.5) * 1.0, rng.uniform(0.8, 1.2, (4, 60))
    costs[1] *= np.where(profiling_mask(60, 12, 0), 0.5, 4.0)
    comparison = compare_splits(table_of(scores, costs))
    assert (
        comparison.misled and comparison.told_best == "arm1" != comparison.judged_best
    )
    assert (
        comparison.cost_ratios[0] == pytest.approx(0.5 / 4, rel=0.2)
        and 0.8 < comparison.cost_ratios[1] < 1.2
    )
    sentence = comparison.describe_profiling()
    assert f" {comparison.cost_ratios[0]:.2f} to " in sentence
    assert f" {comparison.told_best} " in sentence
