"""Paired comparisons: the gain of pairing, brute force, zero denominators."""

import numpy as np
import pandas as pd
import pytest
from support.faults import bad_argument

import cobandit as cb
from cobandit.stats.contrasts import leaders, paired_contrasts, ratio, ratio_of_counts
from cobandit.stats.paired_errors import joint_errors, paired_difference
from cobandit.stats.summaries import mean_interval
from companion import paper
from companion.paper import experiment_cells, experiments

RUNS = experiments.play("online", cb.load("synthetic-24"), replications=20, rho=[4, 8])


def test_pairs_cover_every_claim_and_every_derived_number():
    """A pair that is missing would be judged by the intervals of both means."""
    compared = {(n.method, n.against) for n in paper.published() if n.operation}
    for claim in paper.claims():
        compared |= {
            (method, against) for method in claim.methods for against in claim.against
        }
    assert compared - {("UniformIdentification", "CoPSI")} <= set(
        experiment_cells.PAIRS
    )


def test_differences_have_paired_intervals():
    contrast_rows = paired_contrasts(
        RUNS, "efficiency_regret", [("CoHVUCB", "HVUCB")]
    ).set_index(["rho", "measure"])
    for rho, part in RUNS.groupby("rho"):
        wide = part.pivot_table(
            index="replication", columns="method", values="efficiency_regret"
        )
        apart = wide["CoHVUCB"] - wide["HVUCB"]
        row = contrast_rows.loc[(rho, "difference")]
        assert row["mean"] == pytest.approx(apart.mean())
        assert [row["low"], row["high"]] == pytest.approx(mean_interval(apart))


def test_ratios_agree_with_resampling_by_hand():
    rng = np.random.default_rng(5)
    second = rng.uniform(1, 3, 40)
    first = second * rng.uniform(0.4, 0.6, 40)
    drawn = np.random.default_rng(1).integers(0, 40, (4000, 40))
    by_hand = np.percentile(
        first[drawn].mean(axis=1) / second[drawn].mean(axis=1), [2.5, 97.5]
    )
    value, *ends = ratio(first, second)
    assert value == first.mean() / second.mean()
    assert ends == pytest.approx(by_hand, rel=0.01)


@pytest.mark.slow
def test_errors_are_compared_by_their_joint_counts():
    runs = cb.replay_identification(
        cb.load("synthetic-24"), ["CoPSI", "PSISR"], 500, replications=60
    )
    counts = joint_errors(runs).iloc[0]
    cells = experiment_cells.cells(runs, "identification", "error")
    result = cells[cells["against"].notna()].set_index("measure")
    alone = (counts["first"] - counts["both"], counts["second"] - counts["both"])
    expected = paired_difference(*map(int, alone), 60)
    assert result.loc["difference", ["mean", "low", "high"]].tolist() == pytest.approx(
        expected
    )
    repeated = ratio_of_counts(counts["first"], counts["second"], counts["both"], 60)
    assert result.loc["ratio", "mean"] == pytest.approx(repeated[0])
    assert result.loc["ratio", ["low", "high"]].tolist() == pytest.approx(
        repeated[1:], rel=0.15
    )


def test_zero_denominators_give_no_ratio():
    value, low, high = ratio([1.0, 1.0], [0.0, 0.0])
    assert value == np.inf and np.isnan([low, high]).all()
    value, low, high = ratio([0.0, 0.0], [0.0, 0.0])
    assert np.isnan([value, low, high]).all()
    assert ratio_of_counts(3, 3, 2, 500)[1:] == (pytest.approx(0, abs=0.3), np.inf)


def test_infeasible_runs_are_left_out_in_pairs():
    runs = RUNS.assign(
        status=np.where(
            (RUNS["method"] == "HVUCB") & (RUNS["rho"] == 4), "infeasible", "ok"
        )
    )
    contrast_rows = paired_contrasts(
        runs, "efficiency_regret", [("CoHVUCB", "HVUCB"), ("CoHVUCB", "CoPSI")]
    )
    assert contrast_rows["rho"].unique().tolist() == [8.0]


def test_repeated_replications_are_refused():
    twice = pd.concat([RUNS, RUNS.assign(options="reward_scale=0.5")])
    with bad_argument("repeated-runs", "runs", ["method"]):
        paired_contrasts(twice, "efficiency_regret", [("CoHVUCB", "HVUCB")])
    contrast_rows = paired_contrasts(
        twice, "efficiency_regret", [("CoHVUCB", "HVUCB")], by=("options", "rho")
    )
    assert set(contrast_rows["options"]) == set(twice["options"])


@pytest.mark.slow
def test_realised_costs_are_compared_with_declared_ones():
    runs = experiments.play(
        "stochastic", cb.load("synthetic-24"), replications=5, rho=[500]
    )
    cells = experiment_cells.cells(runs, "stochastic", "error")
    charged = cells[cells["against"] == "declared"]
    assert set(charged["method"]) == set(experiments.IDENTIFICATION)
    assert set(charged["costs"]) == {"realised"}


@pytest.mark.parametrize("maximum", [False, True])
def test_leaders_are_the_best_mean_and_methods_not_separated_from_it(maximum):
    leader_rows = leaders(RUNS, "standard_regret", largest=maximum).set_index("rho")
    for rho, part in RUNS.groupby("rho"):
        wide = part.pivot_table(
            index="replication", columns="method", values="standard_regret"
        )
        order = wide.mean().sort_values(ascending=not maximum)
        row = leader_rows.loc[rho]
        first = order.index[0]
        level = {
            name
            for name in order.index[1:]
            # its ends have different signs
            if np.prod(mean_interval(wide[first] - wide[name])) <= 0
        }
        behind = [name for name in order.index[1:] if name not in level]
        assert (row["leader"], set(row["level"])) == (first, level)
        assert (row["next"], row["next_mean"]) == (
            behind[0],
            pytest.approx(order[behind[0]]),
        )


def test_infeasible_methods_never_lead_and_ties_share():
    runs = pd.DataFrame(
        {"method": list("ABC") * 2, "rho": [1.0] * 3 + [2.0] * 3, "replication": 0}
    )
    runs = runs.assign(
        status=["ok"] * 3 + ["infeasible"] * 3, f1=[0.5, 0.5, 0.25, 1.0, 1.0, 1.0]
    )
    (row,) = leaders(runs, "f1", largest=True).to_dict("records")
    assert (row["rho"], row["leader"], row["level"], row["next"]) == (
        1.0,
        "A",
        ("B",),
        "C",
    )
    alone = leaders(runs[runs["method"] == "A"], "f1").iloc[0]
    assert (
        alone["level"] == () and alone["next"] is None and np.isnan(alone["next_mean"])
    )
