"""Intervals in a recommendation: those of bounded scores, on what was evaluated."""

from __future__ import annotations

import numpy as np
import pytest
from support.drawn import table_of

import cobandit as cb
from cobandit.advice.answer_table import STEP, write_answer_table
from cobandit.stats.finite_limits import finite_mean_limits
from cobandit.stats.intervals import mean_intervals, step_interval
from cobandit.stats.limits import mean_limits
from cobandit.stats.pairwise import Paired


def make(seed=0, binary=True):
    rng = np.random.default_rng(seed)
    scores = (rng.random((3, 56)) < [[1.0], [0.9], [0.6]]).astype(float)
    if not binary:
        scores = rng.beta(9, 1, (3, 56))
    return scores, table_of(
        scores, np.array([1.0, 2.0, 3.0])[:, None] * np.ones((3, 56))
    )


@pytest.mark.parametrize("binary", [True, False])
def test_every_mean_has_the_interval_of_its_scores(binary, monkeypatch):
    scores, table = make(binary=binary)
    monkeypatch.setattr("cobandit.stats.evaluations.BLOCK_SIZE", 150)  # several blocks
    low, high = mean_intervals(Paired(table), 0.9)
    expected = mean_limits(scores, np.ones(scores.shape), 0.9)
    np.testing.assert_allclose(low[:, 0], expected[0], atol=1e-6)
    np.testing.assert_allclose(high[:, 0], expected[1], atol=1e-6)


def test_only_right_answers_leave_the_interval_open_below():
    """Not 1.000 within nothing after 56 of 56."""
    _, table = make()
    row = cb.recommend(table, replications=2).arms.loc["arm0"]
    assert (
        row["accuracy"] == row["accuracy_high"] == 1
        and 0.9 < row["accuracy_low"] < 0.96
    )


def test_step_uses_shared_instances():
    scores, _ = make()
    scores[1, 20:] = np.nan
    costs = np.array([1.0, 2.0, 3.0])[:, None] * np.ones((3, 56))
    compared = Paired(table_of(scores, costs))
    low, high = step_interval(compared, 2, 1, 0.95)
    gains = (scores[1] - scores[2])[None, :20]
    expected = mean_limits(gains, np.ones(gains.shape), low=-1.0)
    assert (low[0], high[0]) == pytest.approx((expected[0][0], expected[1][0]))
    assert low[0] < gains.mean() < high[0]


def test_step_of_a_few_wins_is_undecided():
    """31 wins against 25 on 600 questions: one point more, and not surely more."""
    scores = np.ones((2, 600))
    scores[0, :31] = 0
    scores[1, 31:56] = 0
    front = cb.recommend(
        table_of(scores, np.array([[1.0], [1.48]]) * scores.clip(1, 1)), replications=2
    ).front
    row = front.iloc[1]
    assert row["more_accuracy"] == pytest.approx(0.01) and row[
        "times"
    ] == pytest.approx(1.48)
    assert (
        -0.02 < row["more_accuracy_low"] < 0 < 0.02 < row["more_accuracy_high"] < 0.04
    )
    assert front.iloc[0][["more_accuracy_low", "more_accuracy_high"]].isna().all()


def test_arms_without_shared_instances_have_no_interval():
    scores, _ = make()
    scores[0, :30] = np.nan
    scores[1, 30:] = np.nan
    compared = Paired(table_of(scores, np.ones((3, 56))))
    low, high = step_interval(compared, 0, 1, 0.95)
    assert np.isnan(low).all() and np.isnan(high).all()


# Benchmarks.


@pytest.mark.parametrize("binary", [True, False])
def test_complete_benchmark_has_no_uncertainty(binary):
    """No interval has a width, nor is one printed."""
    _, table = make(binary=binary)
    advice = cb.recommend(table, about="benchmark", replications=2)
    for end in ("low", "high"):
        np.testing.assert_allclose(
            advice.arms[f"accuracy_{end}"], advice.arms["accuracy"], atol=1e-12
        )
    steps = advice.front.iloc[1:]
    assert steps["more_accuracy_low"].tolist() == pytest.approx(
        steps["more_accuracy"].tolist()
    )
    assert steps["more_accuracy_high"].tolist() == pytest.approx(
        steps["more_accuracy"].tolist()
    )
    written = write_answer_table(advice, advice.arms)
    assert written["accuracy"].str.fullmatch(r"\d\.\d{3}").all()
    assert not written[STEP].str.contains(" to ").any()
    beyond = cb.recommend(table, replications=2)
    assert write_answer_table(beyond, beyond.arms)["accuracy"].str.contains("–").all()


@pytest.mark.parametrize("binary", [True, False])
def test_benchmark_intervals_use_the_finite_population(binary):
    """Of arms that are evaluated on all, on 40 and on 20 of 56 instances."""
    scores, _ = make(binary=binary)
    scores[1, 40:] = np.nan
    scores[2, :36] = np.nan
    compared = Paired(
        table_of(scores, np.array([1.0, 2.0, 3.0])[:, None] * np.ones((3, 56))),
        finite=True,
    )
    low, high = mean_intervals(compared, 0.9)
    own_means = np.nanmean(scores, axis=1)
    for arm, n in enumerate((56, 40, 20)):
        present = np.isfinite(scores[arm])
        expected = finite_mean_limits(
            scores[arm][None, present], np.ones((1, n)), 56, 0.9
        )
        moved = np.array(expected)[:, 0] + compared.means[arm, 0] - own_means[arm]
        possible = np.nansum(scores[arm]) / 56
        ends = np.clip(moved, possible, possible + (56 - n) / 56)
        assert (low[arm, 0], high[arm, 0]) == pytest.approx(tuple(ends))
    assert low[0, 0] == high[0, 0] == own_means[0]
    wider = mean_intervals(Paired(compared.table), 0.9)
    assert (high - low < wider[1] - wider[0]).all()
    for pair, n in (((0, 1), 40), ((1, 2), 4)):
        ends = np.array(step_interval(compared, *pair, 0.95))[:, 0]
        gains = scores[pair[1]] - scores[pair[0]]
        gains = gains[np.isfinite(gains)]
        assert len(gains) == n
        expected = finite_mean_limits(gains[None], np.ones((1, n)), 56, low=-1.0)
        assert ends == pytest.approx(np.array(expected)[:, 0])


def test_clusters_of_a_benchmark_are_uncertain_until_complete():
    scores, _ = make(binary=False)
    frame = table_of(scores, np.ones((3, 56))).rows.reset_index()[
        ["config", "instance", "accuracy", "cost"]
    ]
    frame["passage"] = (
        frame["instance"].astype(str).str.extract(r"(\d+)$", expand=False).astype(int)
        // 4
    )
    options = {"cost": "cost", "objectives": ["accuracy"], "cluster": "passage"}
    all_pairs = Paired(cb.EvaluationTable.from_frame(frame, **options), finite=True)
    low, high = mean_intervals(all_pairs, 0.95)
    np.testing.assert_allclose(low, all_pairs.means, atol=1e-12)
    np.testing.assert_allclose(high, all_pairs.means, atol=1e-12)
    is_held = (frame["config"] != "arm1") | (frame["passage"] < 7)
    part = cb.EvaluationTable.from_frame(frame[is_held], **options)
    arm = part.configs.index("arm1")
    widths = {}
    for finite in (True, False):
        low, high = mean_intervals(Paired(part, finite), 0.95)
        widths[finite] = high[arm, 0] - low[arm, 0]
    assert 0.01 < widths[True] < 0.85 * widths[False]
