"""Promises about errors: what is tried, how it is counted."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cobandit.companion.promises import cells, near_ties
from cobandit.companion.promises import races as raced
from cobandit.companion.stored import results
from cobandit.policies import ParetoRace


def test_every_cell_is_stored():
    stored = results.read_result("promises")
    assert list(stored.columns) == ["section", "cell", "promise", "allowed", "runs", "wrong"]
    assert list(dict.fromkeys(zip(stored["section"], stored["cell"], strict=True))) == cells.list_cells()


@pytest.mark.parametrize(("runs", "wrong"), [(300, 0), (300, 24), (20, 20)])
def test_intervals_are_those_of_clopper_and_pearson(runs, wrong):
    tried = pd.DataFrame({"runs": [runs], "wrong": [wrong], "allowed": [0.05]})
    row = cells.add_intervals(tried).iloc[0]
    expected = stats.binomtest(wrong, runs).proportion_ci(cells.LEVEL)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["refuted"] == (expected.low > 0.05)


@pytest.mark.slow
def test_a_race_that_decides_at_random_is_refuted(monkeypatch):
    """The cells see a threshold of zero."""
    cell = "100 prompts, N = 300"
    monkeypatch.setattr(raced, "ParetoRace", _careless)
    tried = cells.add_intervals(raced.play(cell, 30, 0))
    assert tried["refuted"].all() and list(tried["cell"]) == [cell] * 2


def _careless(*given, **options):
    race = ParetoRace(*given, **options)
    race.thresholds = np.zeros_like(race.thresholds)
    return race


@pytest.mark.parametrize("cell", raced.CELLS)
def test_tables_are_in_range_and_drawn_anew(cell):
    draw = raced._CELLS[cell].draw
    first, costs = draw(np.random.default_rng(0))
    again, _ = draw(np.random.default_rng(1))
    assert first.min() >= 0 and first.max() <= 1 and costs.shape == (len(first),) and costs.min() > 0
    assert first.shape == again.shape and not np.array_equal(first, again)


def test_the_best_is_ahead_by_one_instance_more():
    rewards, costs = near_ties.best_ahead(5, 200, 0.02)(np.random.default_rng(0))
    means = rewards.mean(axis=1)[:, 0]
    assert means[0] - means[1:] == pytest.approx(np.full(4, 0.025)) and costs.argmax() == 0
