"""Promises about errors: what is tried, how it is counted."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cobandit.policies import ParetoRace
from companion.promises import cells, near_ties, shared
from companion.promises import races as raced
from companion.stored import results


def test_every_cell_is_stored():
    stored = results.read_result("promises")
    assert list(stored.columns) == [
        "section",
        "cell",
        "promise",
        "allowed",
        "runs",
        "wrong",
    ]
    assert (
        list(dict.fromkeys(zip(stored["section"], stored["cell"], strict=True)))
        == cells.list_cells()
    )


@pytest.mark.parametrize(("runs", "wrong"), [(300, 0), (300, 24), (20, 20)])
def test_intervals_are_those_of_clopper_and_pearson(runs, wrong):
    tried = pd.DataFrame({"runs": [runs], "wrong": [wrong], "allowed": [0.05]})
    row = cells.add_intervals(tried).iloc[0]
    expected = stats.binomtest(wrong, runs).proportion_ci(cells.LEVEL)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["refuted"] == (expected.low > 0.05)


@pytest.mark.slow
def test_random_race_is_refuted(monkeypatch):
    """The cells see a threshold of zero."""
    cell = "100 prompts, N = 300"
    monkeypatch.setattr(raced, "ParetoRace", _careless)
    tried = cells.add_intervals(cells.play("race", cell, 30))
    assert tried["refuted"].all() and list(tried["cell"]) == [cell] * 2


def _careless(*arguments, **options):
    race = ParetoRace(*arguments, **options)
    race.thresholds = np.zeros_like(race.thresholds)
    # an array that can be written would be another type, and compile the kernel again
    race.thresholds.setflags(write=False)
    return race


@pytest.mark.slow
def test_weaker_certificate_is_refuted(monkeypatch):
    """The cells see a limit of capital that is too low."""
    monkeypatch.setattr(raced, "ParetoRace", _too_easily_certain)
    tried = cells.add_intervals(
        cells.play("certified", "5 close means, D = 2, N = 40", 90)
    )
    assert tried["refuted"].all() and tried["runs"].tolist() == [30]


def _too_easily_certain(*arguments, **options):
    race = ParetoRace(*arguments, **options)
    race.evidence.limit = 0.1
    return race


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("cell", "broken"),
    [
        ("one on the easy half of 40", "find_dependence"),
        ("up to 15 copies of 30 passages", "clusters"),
    ],
)
def test_naive_use_of_easy_instances_and_copies_is_refuted(cell, broken, monkeypatch):
    """As if nothing depended on how hard instances are, or copies were instances."""
    if broken == "clusters":
        monkeypatch.setattr(shared.EvaluationTable, "clusters", None)
    else:
        monkeypatch.setattr(
            "cobandit.advice.recommender.find_dependence", lambda *_: []
        )
    tried = cells.add_intervals(cells.play("shared", cell, 24))
    assert tried["refuted"].any()


@pytest.mark.parametrize("cell", shared.CELLS)
def test_cells_allow_wrongly_sure_statements(cell):
    draw, at_least, is_random = shared._CELLS[cell]
    drawn = draw(np.random.default_rng(0))
    known = drawn.scores[~np.isnan(drawn.scores)]
    assert (drawn.means < at_least).any() and set(known) == {0.0, 1.0}
    assert is_random or np.isnan(drawn.scores).any()


@pytest.mark.parametrize("cell", raced.CELLS)
def test_tables_are_in_range_and_redrawn(cell):
    draw = raced._CELLS[cell].draw
    first, costs = draw(np.random.default_rng(0))
    redrawn, _ = draw(np.random.default_rng(1))
    assert (
        first.min() >= 0
        and first.max() <= 1
        and costs.shape == (len(first),)
        and costs.min() > 0
    )
    assert first.shape == redrawn.shape and not np.array_equal(first, redrawn)


def test_best_is_ahead_by_one_more_instance():
    rewards, costs = near_ties.best_ahead(5, 200, 0.02)(np.random.default_rng(0))
    means = rewards.mean(axis=1)[:, 0]
    assert (
        means[0] - means[1:] == pytest.approx(np.full(4, 0.025)) and costs.argmax() == 0
    )
