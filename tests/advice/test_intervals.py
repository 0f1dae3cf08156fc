"""Intervals in a recommendation: those of bounded scores, on what was evaluated."""

from __future__ import annotations

import numpy as np
import pytest
from support.drawn import table_of

import cobandit as cb
from cobandit.advice.intervals import mean_intervals, step_interval
from cobandit.advice.paired import Paired
from cobandit.stats.limits import mean_limits


def make(seed=0, binary=True):
    rng = np.random.default_rng(seed)
    scores = (rng.random((3, 56)) < [[1.0], [0.9], [0.6]]).astype(float)
    if not binary:
        scores = rng.beta(9, 1, (3, 56))
    return scores, table_of(scores, np.array([1.0, 2.0, 3.0])[:, None] * np.ones((3, 56)))


@pytest.mark.parametrize("binary", [True, False])
def test_each_mean_has_the_interval_of_its_scores(binary, monkeypatch):
    scores, table = make(binary=binary)
    monkeypatch.setattr("cobandit.advice.paired.BLOCK", 150)  # several blocks
    low, high = mean_intervals(Paired(table), 0.9)
    expected = mean_limits(scores, np.ones(scores.shape), 0.9)
    np.testing.assert_allclose(low[:, 0], expected[0], atol=1e-6)
    np.testing.assert_allclose(high[:, 0], expected[1], atol=1e-6)


def test_after_so_many_right_answers_the_interval_is_open_below():
    """Not 1.000 within nothing after 56 of 56."""
    _, table = make()
    row = cb.recommend(table, replications=2).arms.loc["arm0"]
    assert row["accuracy"] == row["accuracy_high"] == 1 and 0.9 < row["accuracy_low"] < 0.96


def test_a_step_is_compared_on_what_both_have():
    scores, _ = make()
    scores[1, 20:] = np.nan
    costs = np.array([1.0, 2.0, 3.0])[:, None] * np.ones((3, 56))
    compared = Paired(table_of(scores, costs))
    low, high = step_interval(compared, 2, 1, 0.95)
    gains = (scores[1] - scores[2])[None, :20]
    expected = mean_limits(gains, np.ones(gains.shape), low=-1.0)
    assert (low[0], high[0]) == pytest.approx((expected[0][0], expected[1][0]))
    assert low[0] < gains.mean() < high[0]


def test_a_step_of_a_few_wins_is_unsure():
    """31 wins against 25 on 600 questions: one point more, and not surely more."""
    scores = np.ones((2, 600))
    scores[0, :31] = 0
    scores[1, 31:56] = 0
    front = cb.recommend(
        table_of(scores, np.array([[1.0], [1.48]]) * scores.clip(1, 1)), replications=2
    ).front
    row = front.iloc[1]
    assert row["more_accuracy"] == pytest.approx(0.01) and row["times"] == pytest.approx(1.48)
    assert -0.02 < row["more_accuracy_low"] < 0 < 0.02 < row["more_accuracy_high"] < 0.04
    assert front.iloc[0][["more_accuracy_low", "more_accuracy_high"]].isna().all()


def test_where_two_share_nothing_there_is_no_interval():
    scores, _ = make()
    scores[0, :30] = np.nan
    scores[1, 30:] = np.nan
    compared = Paired(table_of(scores, np.ones((3, 56))))
    low, high = step_interval(compared, 0, 1, 0.95)
    assert np.isnan(low).all() and np.isnan(high).all()
