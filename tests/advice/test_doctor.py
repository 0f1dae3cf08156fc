"""Findings of the doctor: one table per finding, and a clean table without any."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from support.commands import call
from support.drawn import table_of

import cobandit as cb
from cobandit.advice import Finding, doctor
from cobandit.advice.answer import answer_lines
from cobandit.tables import EvaluationTable
from cobandit.tables.catalogue import data_directory
from cobandit.tables.importers import import_logs
from cobandit.tables.profiling import profiling_mask


def sound(rng, n_arms=6, n=120):
    """Scores and costs in which there is nothing to notice."""
    levels = np.linspace(0.2, 0.8, n_arms)[:, None]
    scores = (rng.random((n_arms, n)) < levels).astype(float)
    return (
        scores,
        rng.uniform(0.8, 1.2, (n_arms, n))
        * rng.permutation(np.arange(1, n_arms + 1))[:, None],
    )


@pytest.fixture
def clean():
    return sound(np.random.default_rng(1))


def two_objectives(scores, costs, speed):
    """Table of two objectives from arrays (K, I)."""
    frame = (
        table_of(scores, costs).rows.drop(columns="split").assign(speed=speed.ravel())
    )
    return EvaluationTable.from_frame(
        frame, cost="cost", objectives=["accuracy", "speed"], profiling=30
    )


def found(table, name, alone=True):
    """Return the findings of one name; no others may occur but too few instances."""
    findings = doctor(table)
    assert not alone or {finding.name for finding in findings} - {"few"} == {name} - {
        "few"
    }, findings
    return [finding for finding in findings if finding.name == name]


@pytest.mark.slow
def test_clean_tables_have_no_findings(clean, synthetic):
    assert doctor(table_of(*clean, profiling=30)) == [] == doctor(synthetic)


def test_constant_configurations_are_reported(clean):
    scores, costs = clean
    scores[2] = 0
    (finding,) = found(table_of(scores, costs, profiling=30), "constant")
    assert finding.number == 1
    assert (
        finding.problem
        == "accuracy is 0 on every instance for 1 of 6 configurations: arm2"
    )
    assert "broken prompt, parser or scorer" in finding.remedy


def test_duplicated_configurations_are_reported(clean):
    scores, costs = clean
    scores[5], costs[5] = scores[1], costs[1]
    scores[4], costs[4] = scores[1], costs[1]
    (finding,) = found(table_of(scores, costs, profiling=30), "duplicates")
    assert finding.number == 2 and finding.problem.endswith("for arm1, arm4 and arm5")


def test_equal_scores_at_different_costs_are_not_duplicates(clean):
    scores, costs = clean
    scores[5] = scores[4]
    assert found(table_of(scores, costs, profiling=30), "few")


def test_instances_without_spread_are_reported(clean):
    scores, costs = clean
    scores[:, :30], scores[:, 30:54] = 1, 0
    (finding,) = found(table_of(scores, costs, profiling=30), "alike")
    same = (scores == scores[0]).all(axis=0)
    right, wrong = (same & (scores[0] == 1)).sum(), (same & (scores[0] == 0)).sum()
    assert finding.number == pytest.approx(same.mean()) and right >= 30 and wrong >= 24
    assert (
        f"(all 1 on {right}, all 0 on {wrong}): {120 - same.sum()} of 120 distinguish"
        in finding.problem
    )


def test_dominating_evaluation_cost_is_reported(clean):
    scores, costs = clean
    costs[3, 17] = costs[3].sum() / 2
    (finding,) = found(table_of(scores, costs, profiling=30), "outlier")
    assert finding.number == pytest.approx(costs[3, 17] / costs[3].sum())
    assert (
        "of the cost of arm3" in finding.problem
        and "USD on instance q0017, where the median" in finding.problem
    )


def test_heavy_tail_of_costs_is_reported(clean):
    scores, costs = clean
    costs[2] = np.random.default_rng(3).pareto(1.1, 120) + 1
    (finding,) = found(table_of(scores, costs, profiling=30), "tail", alone=False)
    half = (np.cumsum(np.sort(costs[2])[::-1]) < costs[2].sum() / 2).sum() + 1
    assert (
        finding.number >= 0.5
        and f"Of arm2, {half} of 120 evaluations carry half" in finding.problem
    )


@pytest.mark.slow
def test_identical_objectives_are_reported(clean):
    scores, costs = clean
    speed = np.clip(
        0.2
        + 0.6 * scores.mean(axis=1)[:, None]
        + np.random.default_rng(6).normal(0, 0.01, (6, 120)),
        0,
        1,
    )
    (finding,) = found(two_objectives(scores, costs, speed), "same")
    assert finding.number == 1 and finding.problem.startswith(
        "accuracy and speed order the configurations alike"
    )


@pytest.mark.slow
def test_objective_equal_to_cost_is_reported(clean):
    scores, costs = clean
    speed = np.clip(1 - costs / 10, 0, 1)
    (finding,) = found(two_objectives(scores, costs, speed), "same")
    assert finding.problem.startswith("speed and low cost")
    assert finding.remedy.startswith("Leave it out: the cost is compared anyway")


@pytest.mark.parametrize("quantity", [0.1, 512.0])
def test_equal_costs_are_not_reported_as_an_objective(clean, quantity):
    scores, costs = clean
    table = table_of(scores, np.full_like(costs, quantity), profiling=30)
    rows = table.rows.drop(columns="split")
    rows = rows.drop(index=[3, 200])  # so that sums of 0.1 are of other lengths
    assert doctor(EvaluationTable.from_records(rows, table.card)) == []


def test_too_few_instances_are_reported():
    scores, costs = sound(np.random.default_rng(8), n=12)
    scores[:] = (
        np.random.default_rng(8).random((6, 12)) < np.linspace(0.5, 0.6, 6)[:, None]
    )
    (finding,) = found(table_of(scores, costs, profiling=4), "few", alone=False)
    assert (
        finding.number > 12
        and "shared instances are needed; there are 12" in finding.problem
    )
    order = np.argsort(-scores.mean(axis=1), kind="stable")
    assert (
        f"accuracy, arm{order[0]} (" in finding.problem
        and f"median one, arm{order[3]} (" in finding.problem
    )


def test_needed_instances_have_a_power_of_eighty_percent():
    from cobandit.stats import paired_errors

    scores, costs = sound(np.random.default_rng(9), n=40)
    # both wrong on the last sixteen
    scores[0, :], scores[1, :] = np.arange(40) < 24, np.arange(40) < 20
    (finding,) = found(
        table_of(scores[:2], costs[:2], profiling=10), "few", alone=False
    )
    assert finding.number == paired_errors.replays_needed(0.4, 0.5, 0.4) > 40


@pytest.mark.slow
def test_missing_evaluations_of_hard_instances_are_reported(clean):
    scores, costs = clean
    hard = np.arange(120) < 40
    scores[:, hard] = np.random.default_rng(10).random((6, 40)) < 0.15
    full_table = table_of(scores, costs, profiling=30)
    rows = full_table.rows.drop(columns="split")
    gone = (rows["config"] == "arm3") & rows["instance"].isin(
        [f"q{s:04d}" for s in range(38)]
    )
    (finding,) = found(
        EvaluationTable.from_records(rows[~gone], full_table.card), "missing"
    )
    assert finding.number < -0.2
    assert finding.problem.startswith(
        "arm3 is missing on 38 of 120 instances, where the others' mean"
    )
    at_random = (rows["config"] == "arm3") & (
        np.random.default_rng(0).random(len(rows)) < 0.3
    )
    names = {
        f.name
        for f in doctor(EvaluationTable.from_records(rows[~at_random], full_table.card))
    }
    assert "missing" not in names


@pytest.mark.slow
def test_configurations_without_shared_instances_are_reported(clean):
    scores, costs = clean
    rows = (
        table_of(scores, costs, profiling=30)
        .rows.drop(columns="split")
        .astype({"instance": str})
    )
    place = rows["instance"].str[1:].astype(int)
    is_kept = ~rows["config"].isin(["arm0", "arm3"]) | (
        (place < 60) == (rows["config"] == "arm0")
    )
    table = EvaluationTable.from_frame(
        rows[is_kept], cost="cost", objectives=["accuracy"], profiling=30
    )
    (finding,) = found(table, "disjoint", alone=False)
    assert (
        finding.number == 1
        and "no instance: 1, such as arm0 and arm3;" in finding.problem
    )
    overlapping = is_kept | ((rows["config"] == "arm0") & (place == 60))
    table = EvaluationTable.from_frame(
        rows[overlapping], cost="cost", objectives=["accuracy"], profiling=30
    )
    assert "disjoint" not in {entry.name for entry in doctor(table)}


def test_misleading_profiling_split_is_reported(clean):
    scores, costs = clean
    costs[0] *= np.where(profiling_mask(120, 30, 0), 0.01, 1.0)
    (finding,) = found(table_of(scores, costs, profiling=30), "profiling", alone=False)
    assert (
        finding.number == pytest.approx(100, rel=0.1)
        and "arm0 would be the most eff" in finding.problem
    )
    assert (
        finding.remedy == "Use another seed for the split, or more profiling instances"
    )


@pytest.mark.slow
def test_tables_of_any_shape_are_checked_without_errors():
    """Small tables full of ties may have findings but never cause an error."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        n_arms, n = rng.integers(2, 6), rng.integers(4, 9)
        scores, costs = (
            rng.integers(0, 2, (n_arms, n)) * 1.0,
            rng.integers(1, 3, (n_arms, n)) * 1.0,
        )
        for finding in doctor(table_of(scores, costs, profiling=2)):
            assert (
                isinstance(finding, Finding)
                and np.isfinite(finding.number)
                and str(finding).endswith(".")
            )


@pytest.mark.slow
def test_command_prints_findings_as_text_and_json(clean, tmp_path, monkeypatch):
    scores, costs = clean
    scores[2] = 0
    table = table_of(scores, costs, profiling=30)
    cb.save(table, tmp_path / "mine.parquet")
    text = " ".join(call("doctor", tmp_path / "mine.parquet").stdout.split())
    assert "constant: accuracy is 0 on every instance for 1 of 6" in text
    assert "-> Look at a few of their answers" in text
    (plain,) = json.loads(call("doctor", tmp_path / "mine.parquet", "--json").stdout)
    assert plain["name"] == "constant" and plain["number"] == 1
    assert call("doctor", "synthetic-24").stdout.endswith("no problems found\n")


@pytest.mark.slow
def test_bundled_tables_have_no_findings():
    """Nothing is said of them: a stricter threshold shows here."""
    for name in ("gsm8k", "piqa", "word-sums", "piqa-small"):
        assert doctor(cb.load(name)) == []


@pytest.mark.slow
def test_table_of_a_race_is_checked():
    table = cb.read(data_directory() / "runs" / "word-sums-live" / "table.parquet")
    assert table.n_instances.min() < table.card.split.profiling + 2
    assert "constant" in {finding.name for finding in doctor(table)}


@pytest.mark.slow
def test_long_names_are_shortened_and_findings_are_plain_values(clean):
    scores, costs = clean
    scores[2] = 1
    table = table_of(scores, costs, profiling=30)
    rows = table.rows.drop(columns="split")
    rows["config"] = rows["config"].astype(str) + "l" + "o" * 100_000 + "ng"
    frame = pd.DataFrame(doctor(EvaluationTable.from_records(rows, table.card)))
    assert frame.columns.tolist() == ["name", "number", "problem", "remedy"]
    assert (
        frame["problem"].str.len().max() < 400
        and frame["problem"].str.contains("arm2loo").any()
    )


@pytest.mark.slow
def test_free_evaluations_are_counted_with_their_smallest_cost(clean, tmp_path):
    """Both say how many evaluations are meant; of a subset, those that are left."""
    scores, costs = clean
    costs[0, ::4] = 0
    table_of(scores, costs + 1e-9, profiling=30).rows.assign(cost=costs.ravel()).to_csv(
        tmp_path / "a.csv"
    )
    columns = {
        "config": ["config"],
        "instance": "instance",
        "cost": ["cost"],
        "unit": "USD",
    }
    imported = import_logs(
        "csv",
        [tmp_path / "a.csv"],
        tmp_path / "a.parquet",
        objective=["accuracy=accuracy"],
        **columns,
    )
    (finding,) = found(imported.table, "free")
    smallest = np.median(costs[costs > 0]) / 1000
    text = f"30 of {costs.size} evaluations cost {smallest:.4g} USD or less"
    assert (
        finding.number == 30
        and finding.problem.startswith(text)
        and imported.table.card.smallest_cost == smallest
    )
    advice = cb.recommend(cb.read(imported.records), replications=20)
    assert advice.free == 30 and any(
        line.startswith(text) for line in answer_lines(advice)
    )
    kept_configs = imported.table.configs[1:]
    assert imported.table.subset(f"config in {list(kept_configs)}").n_free == 0


def test_one_cause_gives_one_finding():
    """Five configurations lack hard instances; the one finding names them all."""
    rng = np.random.default_rng(12)
    hard = np.arange(120) < 40
    scores = (rng.random((8, 120)) < np.where(hard, 0.1, 0.9)).astype(float)
    scores[:5, hard] = np.nan
    table = EvaluationTable.from_arrays(scores, np.arange(1, 9.0))

    (finding,) = [entry for entry in doctor(table) if entry.name == "missing"]

    assert finding.number < -0.5
    assert sum(f"config{number}" in finding.problem for number in range(5)) >= 3
    assert "and 1 more" in finding.problem
