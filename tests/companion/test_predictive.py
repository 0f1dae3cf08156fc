"""Verdicts on predicted numbers: sharpness, tails and groups."""

import numpy as np
import pandas as pd
import pytest

from cobandit.companion.paper import predictive, published
from cobandit.companion.reconstruction import predictions


@pytest.fixture(scope="module")
def draws():
    return np.random.default_rng(1).normal(100, 10, 40_000)


def test_z_and_p_are_those_of_the_normal_distribution(draws):
    judged = predictive.judge_prediction(draws, 119.6)
    assert judged.z == pytest.approx(1.96, abs=0.03) and judged.p == pytest.approx(0.05, abs=0.006)
    assert (judged.low, judged.high) == pytest.approx((80.4, 119.6), abs=0.5)


@pytest.mark.parametrize(
    ("scale", "value", "verdict"),
    [
        (1, 100, "replicated"),
        (2, 100, "consistent"),
        (3, 100, "cannot tell"),
        (1, 60, "differs"),
        (3, 1, "differs"),
    ],
)
def test_verdicts_by_width(draws, scale, value, verdict):
    assert predictive.judge_prediction(100 + scale * (draws - 100), value).verdict == verdict


def test_rounding_helps_the_printed_value(draws):
    exact, rounded = (predictive.judge_prediction(draws, 121.0, half) for half in (0.0, 2.0))
    assert exact.verdict == "differs" and rounded.verdict == "replicated"


@pytest.mark.slow
def test_of_true_predictions_one_in_twenty_differs():
    rng = np.random.default_rng(3)
    verdicts = [
        predictive.judge_prediction(rng.normal(5, 1, 400), rng.normal(5, 1)).verdict for _ in range(2000)
    ]
    assert 0.03 < np.mean([v == "differs" for v in verdicts]) < 0.07  # false alarm: below 10^-4


def test_nothing_to_judge():
    assert predictive.judge_prediction(np.array([np.nan]), 1.0).verdict == "cannot be checked"


def test_every_predicted_number_has_a_group():
    predicted = [n for n in published() if n.role in ("predicted", "arithmetic")]
    groups = {predictive.group_of(n) for n in predicted}
    assert all(dataset in ("gsm8k", "piqa") and method for dataset, method, _ in groups)
    assert {what for *_, what in groups} <= set(predictive.PHENOMENA.values())
    assert ("gsm8k", "CoHVUCB", "online regret") in groups and len(groups) < len(predicted) / 2


def test_a_group_counts_its_numbers():
    rows = pd.DataFrame({"group": "a", "p": [0.02, 0.6, 0.7], "width": [0.3, 0.4, 2.0]})
    rows["verdict"] = ["differs", "replicated", "cannot tell"]
    assert predictive.judge_groups(rows).loc["a", "verdict"] == "replicated"  # 3 * 0.02 > 0.05
    assert predictive.judge_groups(rows.assign(p=[0.01, 0.6, 0.7])).loc["a", "verdict"] == "differs"


def test_derived_numbers_are_computed_draw_by_draw():
    """Two regrets that always have the ratio 0.36 have a sharp relative reduction, wide as they are."""
    numbers = [n for n in published() if n.printed == "64.0%"]
    other = np.exp(np.random.default_rng(0).normal(6, 0.5, 500))
    keys = [predictive.played_key(numbers[0], method) for method in (None, "HVUCB")]
    draws = pd.DataFrame(dict(zip(keys, (0.36 * other, other), strict=True)))
    (judged,) = predictive.judge_numbers(draws, numbers).values()
    assert judged.verdict == "replicated" and judged.median == pytest.approx(0.64) and judged.width < 1e-9
    (judged,) = predictive.judge_numbers(draws[keys[:1]], numbers).values()
    assert judged.verdict == "cannot be checked"


def test_a_reading_changes_what_it_changes_and_nothing_else():
    plays = pd.DataFrame(
        [
            ("default", "x", 0, 1.0),
            ("default", "y", 0, 2.0),
            ("default", "fact-front", 0, 9.0),
            ("A5", "y", 0, np.nan),
            ("A10", "y", 0, 3.0),
            ("A10", "y", 1, 7.0),
        ],
        columns=["reading", "key", "number", "value"],
    )
    found = predictions.across_readings(plays)
    assert found.loc["default"].to_dict() == {"x": 1.0, "y": 2.0}
    assert found.loc["A10"].to_dict() == {"x": 1.0, "y": 3.0}
    assert found.loc["A5", "x"] == 1.0 and np.isnan(found.loc["A5", "y"])
