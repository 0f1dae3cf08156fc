"""The synthetic table: its generator's properties, and the bundled file."""

import numpy as np
import pandas as pd
import pytest
import synthetic

from cobandit.problem import Problem
from cobandit.tables import load
from cobandit.tables.card import read_card
from cobandit.tables.catalogue import data_directory


def test_regenerating_the_synthetic_table_gives_the_same_content(tmp_path):
    synthetic.write(tmp_path)
    bundled = data_directory()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "synthetic-24.parquet"),
        pd.read_parquet(bundled / "synthetic-24.parquet"),
    )
    # another version of the Parquet writer may pack the same content into other bytes
    rebuilt, bundled_card = (
        read_card(d / "synthetic-24.yml").model_dump(exclude={"sha256"})
        for d in (tmp_path, bundled)
    )
    assert rebuilt == bundled_card


def test_synthetic_table_matches_its_card():
    table = load(synthetic.NAME)
    true = synthetic.parameters()
    problem = Problem(
        true[["accuracy", "efficiency"]], true["tokens"], names=true.index
    )
    assert (table.n_arms, table.n_objectives, set(table.n_instances)) == (24, 2, {400})
    assert table.configs == problem.names
    assert problem.costs.max() / problem.costs.min() == pytest.approx(10)
    assert problem.pareto_mask.sum() == 6
    assert problem.best_arm != np.argmax(problem.hypervolume), (
        "cost awareness has to matter"
    )
    costs = table.rows.groupby("config", observed=True)["cost"].agg(["min", "max"])
    assert (costs["min"] >= np.floor(0.5 * problem.costs)).all()
    assert (costs["max"] <= np.ceil(1.5 * problem.costs)).all()


@pytest.mark.slow
def test_synthetic_means_are_the_true_ones():
    drawn = synthetic.generate(n_instances=40_000, seed=1).groupby("config")
    true = synthetic.parameters()
    for column, name in (
        ("correct", "accuracy"),
        ("efficiency", "efficiency"),
        ("tokens", "tokens"),
    ):
        error = drawn[column].std() / np.sqrt(40_000)
        # 72 means at 4.5 standard errors: one run in two thousand would fail by chance,
        # and the seed is fixed
        assert ((drawn[column].mean() - true[name]).abs() < 4.5 * error).all()


def test_synthetic_instances_are_correlated():
    # arm after arm
    efficiency = load(synthetic.NAME).rows["efficiency"].to_numpy().reshape(24, 400)
    assert np.corrcoef(efficiency).min() > 0.3
