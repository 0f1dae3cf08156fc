"""Latencies in measured units beside the scores that are derived from them."""

import json

import numpy as np
import pandas as pd
import pytest
from support.commands import call

import cobandit as cb
from cobandit.advice.answer_table import write_answer_table


@pytest.fixture
def timed():
    """Two configurations whose seconds are 1 to 40, and ten times that."""
    seconds = np.arange(1, 41.0)
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame(
            {
                "config": name,
                "instance": np.arange(40),
                "usd": cost,
                "ok": (rng.random(40) < chance).astype(float),
                "seconds": times * seconds,
            }
        )
        for name, cost, chance, times in (
            ("quick", 1.0, 0.4, 1.0),
            ("slow", 2.0, 0.9, 10.0),
        )
    ]
    return cb.EvaluationTable.from_frame(
        pd.concat(frames, ignore_index=True),
        cost="usd",
        objectives={"accuracy": "ok", "speed": ("seconds", "inverse-percentile")},
    )


def test_percentiles_match_the_measured_column(timed):
    advice = cb.recommend(timed, replications=20)

    assert advice.measured == {"speed": "seconds"}
    assert advice.arms["speed_p50"].to_dict() == {"quick": 20.5, "slow": 205.0}
    assert advice.arms["speed_p95"].to_dict() == pytest.approx(
        {"quick": 38.05, "slow": 380.5}
    )
    assert "accuracy_p50" not in advice.arms


def test_excluding_a_configuration_changes_no_measured_value(timed):
    frame = timed.evaluations.assign(config=lambda rows: rows["config"].astype(str))
    third = frame[frame["config"] == "slow"].assign(config="third", seconds=1e4)
    wider = cb.EvaluationTable.from_frame(
        pd.concat([frame, third], ignore_index=True),
        cost="usd",
        objectives={"accuracy": "ok", "speed": ("seconds", "inverse-percentile")},
    )

    two, three = (cb.recommend(table, replications=20).arms for table in (timed, wider))

    assert two.loc["slow", "speed"] != three.loc["slow", "speed"]
    assert two.loc["slow", "speed_p95"] == three.loc["slow", "speed_p95"]


@pytest.mark.slow
def test_every_answer_shows_the_measured_column(timed, tmp_path):
    cb.save(timed, tmp_path / "timed.parquet")
    shown = write_answer_table(
        cb.recommend(timed, replications=20), cb.recommend(timed, replications=20).arms
    )
    assert shown["seconds p50/p95"].to_dict() == {"quick": "20.5/38", "slow": "205/380"}

    text = call("recommend", tmp_path / "timed.parquet", columns=140).stdout
    assert "seconds p50/p95" in text and "205/380" in text
    plain = json.loads(call("recommend", tmp_path / "timed.parquet", "--json").stdout)
    assert plain["arms"][1]["speed_p95"] == pytest.approx(380.5)
    assert plain["measured"] == {"speed": "seconds"}


@pytest.mark.slow
def test_narrow_terminal_points_to_the_measured_values(timed, tmp_path):
    cb.save(timed, tmp_path / "timed.parquet")

    text = call("recommend", tmp_path / "timed.parquet", columns=60).stdout

    assert "p50" not in text
    assert "seconds: in a wider terminal, or with --html" in " ".join(text.split())


@pytest.mark.slow
def test_last_line_lists_further_options_of_the_command(timed, tmp_path):
    cb.save(timed, tmp_path / "timed.parquet")

    last = call(
        "recommend", tmp_path / "timed.parquet", columns=200
    ).stdout.splitlines()[-1]

    assert (
        last.startswith("More")
        and f"{tmp_path / 'timed.parquet'} --html front.html" in last
    )
