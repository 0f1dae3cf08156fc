"""Sure, settled and covered statements on misleading tables, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from companion.promises import cells, limits


@pytest.mark.parametrize("cell", limits.CELLS)
def test_drawn_tables_match_their_cell(cell):
    drawn = limits._CELLS[cell].draw(np.random.default_rng(0))
    known = drawn.scores[~np.isnan(drawn.scores)]
    assert drawn.scores.shape[0] == len(drawn.means) == len(drawn.costs)
    assert (
        known.min() >= 0
        and known.max() <= 1
        and ((drawn.means >= 0) & (drawn.means <= 1)).all()
    )
    requested = limits._CELLS[cell]
    if isinstance(requested, limits.Sure):  # somebody could be called sure wrongly
        below = np.zeros(len(drawn.means), dtype=bool)
        if requested.at_least is not None:
            below |= drawn.means < requested.at_least
        if requested.within is not None:
            below |= drawn.means < drawn.means.max() - requested.within
        assert below.any()


def test_benchmark_mean_is_the_largest_below_the_number():
    drawn = limits._CELLS["benchmark, at least .95, 10 below, 40 of 60"].draw(
        np.random.default_rng(1)
    )
    # 57 would be the threshold
    assert drawn.means == pytest.approx(np.full(10, 56 / 60))
    assert (np.isnan(drawn.scores).sum(axis=1) == 20).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", ["at least .95, 10 at .949, N = 40", "interval, .97, n = 20"]
)
def test_students_limits_would_be_refuted(cell, monkeypatch):
    def student(values, counts, threshold, low=0.0, high=1.0):
        n = counts.sum(axis=1)
        means = (values * counts).sum(axis=1) / n
        errors = np.sqrt(
            ((values - means[:, None]) ** 2 * counts).sum(axis=1) / (n - 1) / n + 1e-6
        )
        return stats.t.sf((means - threshold) / errors, n - 1)

    def interval(scores, counts, level=0.95, low=0.0, high=1.0):
        half = 1.96 * scores.std(axis=1) / np.sqrt(scores.shape[1])
        return scores.mean(axis=1) - half, scores.mean(axis=1) + half

    monkeypatch.setattr("cobandit.advice.choice.threshold_p_values", student)
    monkeypatch.setattr(limits, "mean_limits", interval)
    assert cells.add_intervals(cells.play("limits", cell, 60))["refuted"].all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        "at least .95, 10 at .949, N = 40",
        "within .05, one at .99, 9 at .939, N = 40",
        "benchmark, at least .9, 5 below, 50 of 500",
        "interval, beta (.2, .02), n = 30",
    ],
)
def test_promises_are_not_refuted(cell):
    tried = cells.add_intervals(cells.play("limits", cell, 60))
    assert not tried["refuted"].any() and tried["runs"].tolist() == [60]
