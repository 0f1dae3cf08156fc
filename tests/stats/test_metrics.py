"""Regrets, recovery scores and intervals against loops and closed formulas."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.strategies import problems

from cobandit import Problem
from cobandit.stats import metrics, summaries


@pytest.mark.slow
@given(problems(), st.integers(0, 2**32), st.floats(0.5, 1e4))
def test_regrets_match_a_hand_calculation(given_problem, seed, budget):
    problem = Problem(*given_problem)
    pulls = np.random.default_rng(seed).integers(0, 100, (3, problem.n_arms))
    nu = [h / c for h, c in zip(problem.hypervolume, problem.costs, strict=True)]
    efficiency = [
        sum(n * (max(nu) - e) for n, e in zip(row, nu, strict=True)) for row in pulls
    ]
    standard = [
        max(nu) * budget
        - sum(n * h for n, h in zip(row, problem.hypervolume, strict=True))
        for row in pulls
    ]
    assert metrics.efficiency_regret(problem, pulls) == pytest.approx(
        efficiency, abs=1e-9
    )
    assert metrics.standard_regret(problem, pulls, budget) == pytest.approx(
        standard, abs=1e-9
    )
    assert metrics.efficiency_regret(problem, pulls[0]) == pytest.approx(
        efficiency[0], abs=1e-9
    )


def test_regrets_differ_only_in_the_cost_of_pulls():
    """R_std - sum_i mu_i^c Delta_i n_i = nu* (B - cost of pulls), as in Corollary 1."""
    problem = Problem([[0.75, 0.5], [0.5, 0.5], [0.25, 1.0]], [1.0, 0.5, 0.25])
    pulls = np.array([3, 4, 5])
    wasted = (problem.costs * problem.efficiency_gaps) @ pulls
    unspent = problem.efficiency.max() * (7 - problem.costs @ pulls)
    assert metrics.standard_regret(problem, pulls, 7) == pytest.approx(wasted + unspent)


@given(st.lists(st.floats(0, 10), max_size=120), st.integers(1, 60))
def test_moving_average_matches_a_hand_calculation(gaps, window):
    twin = [np.mean(gaps[max(0, t - window + 1) : t + 1]) for t in range(len(gaps))]
    assert metrics.moving_average(gaps, window) == pytest.approx(twin, abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(pairs):
    returned, truth = np.array(pairs).T
    truth[0] = True  # a Pareto set is never empty
    hits = int((returned & truth).sum())
    precision, recall = hits / max(1, returned.sum()), hits / truth.sum()
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    assert metrics.f1_score(returned, truth) == pytest.approx(f1)
    assert metrics.f1_score([returned, truth], truth)[1] == 1
    assert (metrics.f1_score(returned, truth) == 1) == (returned == truth).all()


@pytest.mark.parametrize(("k", "n"), [(0, 500), (2, 500), (7, 20), (20, 20)])
def test_wilson_interval_matches_known_values(k, n):
    z = stats.norm.ppf(0.975)
    p = k / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    bounds = max(0, middle - half), min(1, middle + half)
    assert summaries.proportion_interval(k, n) == pytest.approx(bounds, abs=1e-12)


def test_single_value_has_no_interval():
    assert summaries.mean_interval([7.0]) == (7.0, 7.0)


RUNS = pd.DataFrame(
    {
        "method": ["A"] * 4 + ["B"] * 2,
        "options": "",
        "rho": [1.0, 1.0, 2.0, 2.0, 1.0, 2.0],
        "status": ["ok", "ok", "ok", "infeasible", "infeasible", "ok"],
        "regret": [1.0, 3.0, 5.0, np.nan, np.nan, 2.0],
        "correct": [True, False, True, False, False, True],
    }
)


@pytest.mark.parametrize("n", [2, 40, 2001])
def test_mean_interval_matches_scipys_percentile_bootstrap(n):
    values = np.random.default_rng(n).exponential(size=n)
    how = {
        "n_resamples": summaries.RESAMPLES,
        "batch": summaries.RESAMPLES,
        "method": "percentile",
    }
    theirs = stats.bootstrap(
        (values,), np.mean, **how, rng=np.random.default_rng(0)
    ).confidence_interval
    assert summaries.mean_interval(values) == pytest.approx(
        (theirs.low, theirs.high), rel=1e-12
    )


def test_means_are_summarised():
    cells = summaries.summarise(RUNS, "regret")
    assert list(cells) == ["method", "options", "rho", "runs", "mean", "low", "high"]
    assert cells[["method", "rho", "runs"]].to_numpy().tolist() == [
        ["A", 1.0, 2],
        ["A", 2.0, 1],
        ["B", 1.0, 0],
        ["B", 2.0, 1],
    ]
    assert cells["mean"].tolist() == pytest.approx([2, 5, np.nan, 2], nan_ok=True)
    assert (cells["low"][0], cells["high"][0]) == summaries.mean_interval([1.0, 3.0])
    assert cells.loc[2, ["mean", "low", "high"]].isna().all()


def test_proportions_are_summarised():
    cells = summaries.summarise(RUNS, "correct", by=("method",))
    assert cells["runs"].tolist() == [3, 1] and cells["successes"].tolist() == [2, 1]
    assert (cells["low"][0], cells["high"][0]) == summaries.proportion_interval(2, 3)


@pytest.mark.parametrize("column", ["regret", "correct"])
def test_infeasible_summary_has_the_same_columns(column):
    starved = summaries.summarise(RUNS.assign(status="infeasible"), column)
    assert list(starved) == list(summaries.summarise(RUNS, column))
    assert starved["mean"].isna().all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: summaries.summarise(RUNS, "regrets"),
        lambda: metrics.moving_average([1.0], window=0),
        lambda: metrics.moving_average([float("nan")]),
        lambda: summaries.mean_interval([]),
        lambda: summaries.mean_interval([1.0, float("inf")]),
        lambda: metrics.standard_regret(Problem([[0.5], [0.25]], [1, 1]), [1, 1], 0),
        lambda: summaries.proportion_interval(3, 2),
        lambda: summaries.proportion_interval(0, 0),
        lambda: metrics.f1_score([True, False], [True, False, True]),
        lambda: metrics.efficiency_regret(Problem([[0.5], [0.25]], [1, 1]), [1, 1, 1]),
    ],
    ids=[
        *("no such column", "window", "nan", "no values", "infinite", "budget"),
        *(
            "more successes than trials",
            "no trials",
            "sets of other sizes",
            "pulls of other arms",
        ),
    ],
)
def test_invalid_arguments_are_refused(call):
    with pytest.raises(ValueError):
        call()
