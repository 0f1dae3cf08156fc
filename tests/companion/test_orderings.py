"""The paper's claims in words, and the rule by which a table of results bears them out or not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit.companion import paper
from cobandit.stats.metrics import summarise

NUMBERS = paper.published()
CLAIMS = {claim.key: claim for claim in paper.claims()}


def printed_frame(claim: paper.Claim) -> pd.DataFrame:
    """What the paper prints about the quantity of a claim, its rounding as the interval."""
    grids = {"online": (2, 32), "trajectory": (32, 32), "identification": (20, 5000), "full-set": (10, 200)}
    smallest, largest = grids.get(claim.experiment, (5000, 5000))
    wanted = {"smallest": (smallest,), "largest": (largest,)}.get(claim.at, (smallest, largest))
    rows = [
        {
            "dataset": number.dataset,
            "method": number.method,
            claim.along: number.rho,
            "costs": number.costs,
            "mean": number.value,
            "low": number.value - number.half_unit,
            "high": number.value + number.half_unit,
        }
        for number in NUMBERS
        if (number.experiment, number.quantity) == (claim.experiment, claim.quantity)
        and number.rho in wanted
        and number.operation is None
    ]
    return pd.DataFrame(rows)


def verdict(key: str, frame: pd.DataFrame) -> str:
    return paper.judge_claim(CLAIMS[key], frame).verdict


def cells(values: dict[str, list[float]], half: float = 1.0, rho=(2.0, 32.0), **columns) -> pd.DataFrame:
    rows = [
        {"method": method, "rho": budget, "mean": mean, "low": mean - half, "high": mean + half, **columns}
        for method, means in values.items()
        for budget, mean in zip(rho, means, strict=True)
    ]
    return pd.DataFrame(rows)


def test_claims_are_named_once_and_about_this_library():
    assert len(CLAIMS) == len(paper.claims()) > 25
    for claim in paper.claims():
        assert claim.place in {number.place for number in NUMBERS}
        assert claim.methods and set(claim.datasets) <= {"gsm8k", "piqa"}
        assert all(hasattr(cb, method) for method in claim.methods + claim.against)
        assert (claim.measure is not None) == claim.relation.endswith("advantage")
        assert claim.relation != "larger advantage" or len(claim.datasets) == 2


@pytest.mark.slow
def test_claims_on_the_printed_numbers_themselves():
    outcomes = {}
    for claim in paper.claims():
        try:
            outcomes[claim.key] = paper.judge_claim(claim, printed_frame(claim)).verdict
        except cb.CobanditError:  # the paper prints nothing about one of the methods
            outcomes[claim.key] = "not printed"
    fails = {key for key, outcome in outcomes.items() if outcome == "fails"}
    # as a factor, the lead over Accuracy-Cost-UCB is larger on GSM8K (63.75 / 29.01 against 241.79 / 161.07)
    assert fails == {"standard-advantage-larger-on-piqa-as-a-factor"}
    assert sum(outcome == "holds" for outcome in outcomes.values()) > 20


def test_better_needs_disjoint_intervals():
    key = "CoHVUCB-beats-uniform-at-the-end"
    assert verdict(key, cells({"CoHVUCB": [9, 1], "UniformAllocation": [5, 5]})) == "holds"
    assert verdict(key, cells({"CoHVUCB": [1, 5], "UniformAllocation": [5, 1]})) == "fails"
    assert verdict(key, cells({"CoHVUCB": [1, 4], "UniformAllocation": [5, 5]})) == "not separated"
    assert verdict(key, cells({"CoHVUCB": [1, 5], "UniformAllocation": [5, 5]}, half=0)) == "not separated"


def test_more_f1_is_better():
    frame = cells({"CoPSI": [0.5, 0.7], "UniformIdentification": [0.3, 0.6]}, half=0.01)
    assert verdict("CoPSI-better-F1-than-uniform", frame) == "holds"


def test_claims_about_all_budgets_fail_with_one():
    key = "CoHVUCB-beats-accuracy-only"
    assert verdict(key, cells({"CoHVUCB": [1, 1], "AccuracyCostUCB": [9, 9]})) == "holds"
    assert verdict(key, cells({"CoHVUCB": [9, 1], "AccuracyCostUCB": [1, 9]})) == "fails"
    outcome = paper.judge_claim(CLAIMS[key], cells({"CoHVUCB": [8, 1], "AccuracyCostUCB": [9, 9]}))
    assert outcome.verdict == "not separated"
    assert outcome.details["verdict"].tolist() == ["not separated", "holds"]


def test_claims_hold_on_each_dataset_or_not_at_all():
    frames = [
        cells({"CoHVUCB": [1, 1], "AccuracyCostUCB": [9, 9]}, dataset="gsm8k"),
        cells({"CoHVUCB": [9, 9], "AccuracyCostUCB": [1, 1]}, dataset="piqa"),
    ]
    assert verdict("CoHVUCB-beats-accuracy-only", pd.concat(frames)) == "fails"
    assert verdict("CoHVUCB-beats-accuracy-only", frames[0].assign(dataset="my-table")) == "holds"


def test_most_of_a_trajectory_is_more_than_half():
    values = {
        "CoHVUCB": [5, 5, 1, 1, 1],
        "AccuracyCostUCB": [5, 5, 9, 9, 9],
        "UniformAllocation": [5, 5, 9, 9, 9],
    }
    frame = cells(values, rho=range(5)).rename(columns={"rho": "spent"})
    assert verdict("recent-losses-avoided-on-gsm8k", frame) == "holds"
    assert verdict("recent-losses-avoided-on-gsm8k", frame[frame["spent"] < 4]) == "not separated"


def test_comparable_means_are_close_or_apart():
    key = "hypervolume-policies-close-in-regret-on-gsm8k"

    def outcome(a: float, b: float, half: float) -> str:
        return verdict(
            key, cells({"CoHVUCB": [a, a], "HVUCB": [b, b]}, half).rename(columns={"rho": "spent"})
        )

    assert outcome(100, 109, 0) == "holds"
    assert outcome(100, 120, 1) == "fails"
    assert outcome(100, 120, 15) == "not separated"


def test_keeping_up_is_to_be_better_or_comparable():
    key = "uniform-competitive-at-the-start"
    for uniform, expected in [(0.2, "holds"), (0.62, "holds"), (0.9, "fails"), (0.7, "not separated")]:
        frame = cells({"UniformIdentification": [uniform, 0], "CoPSI": [0.6, 0]}, half=0.06)
        assert verdict(key, frame) == expected


def test_advantages_that_grow_and_that_are_larger():
    key = "standard-advantage-grows-on-piqa"
    others = {"HVUCB": [20, 90], "AccuracyCostUCB": [20, 90], "UniformAllocation": [20, 90]}
    assert verdict(key, cells({"CoHVUCB": [10, 10]} | others)) == "holds"
    assert verdict(key, cells({"CoHVUCB": [10, 10]} | others, half=50)) == "not separated"
    assert verdict(key, cells({"CoHVUCB": [10, 89]} | others)) == "fails"
    key = "costs-matter-more-on-piqa"
    gsm8k = cells({"CoHVUCB": [10, 10], "HVUCB": [11, 11]}, dataset="gsm8k")
    piqa = cells({"CoHVUCB": [100, 100], "HVUCB": [200, 200]}, dataset="piqa")
    assert verdict(key, pd.concat([gsm8k, piqa])) == "holds"
    swapped = {"gsm8k": "piqa", "piqa": "gsm8k"}
    assert verdict(key, pd.concat([gsm8k, piqa]).replace({"dataset": swapped})) == "fails"
    assert verdict(key, piqa) == "cannot be checked"


def test_undecided_needs_a_winner_on_each_side():
    key = "elimination-methods-undecided"
    assert verdict(key, cells({"CoPSI": [1, 9], "PSISR": [9, 1]})) == "holds"
    assert verdict(key, cells({"CoPSI": [9, 9], "PSISR": [1, 1]})) == "fails"
    assert verdict(key, cells({"CoPSI": [9, 5], "PSISR": [1, 5]})) == "not separated"


def test_nearer_compares_distances():
    key = "elimination-methods-closer"
    assert (
        verdict(key, cells({"CoPSI": [50, 50], "PSISR": [49, 49], "UniformIdentification": [9, 9]}))
        == "holds"
    )
    assert (
        verdict(key, cells({"CoPSI": [50, 50], "PSISR": [9, 9], "UniformIdentification": [49, 49]}))
        == "fails"
    )


def test_unchanged_compares_the_two_charges():
    methods = ["CoPSI", "PSISR", "UniformIdentification"]
    frame = pd.concat(cells({m: [1, 0.5] for m in methods}, 0.01, costs=c) for c in ("declared", "realised"))
    assert verdict("realised-costs-do-no-harm", frame) == "holds"
    worse = frame.assign(mean=frame["mean"].where(frame["costs"] == "declared", 0.9))
    worse = worse.assign(low=worse["mean"] - 0.01, high=worse["mean"] + 0.01)
    assert verdict("realised-costs-do-no-harm", worse) == "fails"
    with pytest.raises(cb.CobanditError, match="lacks costs"):
        verdict("realised-costs-do-no-harm", frame.drop(columns="costs"))


def test_budgets_without_a_feasible_run_are_left_out():
    frame = cells({"CoPSI": [np.nan, 1, 2], "UniformIdentification": [5, 5, np.nan]}, rho=(1.0, 2.0, 3.0))
    outcome = paper.judge_claim(CLAIMS["CoPSI-beats-uniform-at-the-end"], frame)
    assert outcome.verdict == "holds"
    assert outcome.details["at"].tolist() == [2.0]
    nothing = cells({"CoPSI": [np.nan, np.nan], "UniformIdentification": [5, 5]})
    assert verdict("CoPSI-beats-uniform-at-the-end", nothing) == "cannot be checked"


def test_a_frame_that_cannot_answer_is_refused():
    frame = cells({"CoHVUCB": [1, 1], "AccuracyCostUCB": [9, 9]})
    with pytest.raises(cb.CobanditError, match="has no UniformAllocation"):
        verdict("CoHVUCB-beats-uniform-at-the-end", frame)
    with pytest.raises(cb.CobanditError, match="twice"):
        verdict("CoHVUCB-beats-accuracy-only", pd.concat([frame, frame]))


@pytest.mark.slow
def test_claims_are_checked_on_a_replay():
    runs = cb.replay_online(
        cb.load("synthetic-24"), ["CoHVUCB", "AccuracyCostUCB"], rho=[4, 8], replications=20, seed=1
    )
    outcome = paper.judge_claim(CLAIMS["CoHVUCB-beats-accuracy-only"], summarise(runs, "efficiency_regret"))
    assert outcome.verdict in ("holds", "fails", "not separated")
    assert len(outcome.details) == 2
