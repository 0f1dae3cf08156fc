"""What the benchmarks time is what runs, and what they stored keeps the promises."""

import json
from pathlib import Path

import numpy as np
import peers
import pytest
import ratios
import workloads
from scipy import stats

import cobandit as cb

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("front", [3, 10])
def test_kernel_and_class_return_the_front(front):
    run = workloads.Front(40, 200, front)
    truth = np.flatnonzero(cb.pareto_mask(run.means))
    assert (
        np.flatnonzero(run.compiled()).tolist()
        == run.readable().tolist()
        == truth.tolist()
    )


def test_run_spends_its_budget():
    run = workloads.Online(50, 2, rho=4)
    assert run.compiled(3) > 3 * 50
    assert len(list(run.readable())) > 3 * 50


@pytest.mark.slow
def test_memory_of_a_run_is_linear_in_arms():
    for make in (
        lambda K: workloads.Online(K, 2, rho=4),
        lambda K: workloads.Front(K, 200),
    ):
        (table, run), (larger_run, larger) = (make(K).megabytes() for K in (1024, 4096))
        assert larger_run == pytest.approx(
            4 * table, rel=0.01
        ) and larger == pytest.approx(4 * run)


def test_pull_is_timed_with_the_requested_radii():
    wider = workloads.Online(50, 2, rho=40, scales=workloads.WIDER)
    assert (
        wider.policy().reward_scale == 0.1
        and workloads.Online(50, 2, rho=40).policy().reward_scale == 0.01
    )
    assert 0 < workloads.pull_seconds(50, 20_000, scales=workloads.WIDER) < 1e-3


@pytest.mark.parametrize(
    ("ratio", "measurable", "met"),
    [(2, True, "yes"), (1, True, "NO"), (1, False, "not measurable")],
)
def test_busy_processor_does_not_break_a_promise(ratio, measurable, met, monkeypatch):
    row = {
        "measurement": "two over one",
        "ratio": ratio,
        "at_least": 1.6,
        "seconds": 1,
        "detail": "",
    }
    monkeypatch.setattr(
        ratios, "MEASUREMENTS", [lambda: row | {"measurable": measurable}]
    )
    monkeypatch.setattr(ratios, "FURTHER", ())
    assert ratios.measure()["met"].tolist() == [met]
    assert ratios.main([]) == (met == "NO")


def timings():
    return json.loads(
        (ROOT / "benchmarks" / "timings.json").read_text(encoding="utf-8")
    )


def rows_of(stored):
    """Rows of the tables in docs/scale.md."""

    def number(value, spec, unit=1.0):
        return "–" if value is None else f"{unit * value:{spec}}"

    online = [
        f"| {row['K']:,} | {number(row['kernel_pull'], '.0f', 1e9)} |"
        f" {number(row['kernel_pull_wider'], '.0f', 1e9)} |"
        f" {number(row.get('class_pull'), '.0f', 1e6)} |"
        f" {number(row['kernel_run'], '.2f', 1e3)} | {row['pulls']:,} |"
        f" {row['run_MB']:.2f} | {row['table_MB']:.2f} |"
        for row in stored["online"]
    ]
    identification = [
        f"| {row['K']:,} | {row['front']} | {row['kernel_run']:.4f} |"
        f" {number(row.get('class_run'), '.2f')} | {row['run_MB']:.2f} |"
        f" {row['table_MB']:.2f} |"
        for row in stored["identification"]
    ]
    back_ends = [
        f"| {row['back end']} | {row['seconds']:.2f} | {row['slowest']:.2f} |"
        for row in stored["back_ends"]
    ]
    return {"online": online, "identification": identification, "back_ends": back_ends}


def test_written_growth_matches_the_measured_one():
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert [
        row for rows in rows_of(timings()).values() for row in rows if row not in text
    ] == []


def test_page_shows_the_stored_times_of_peers():
    stored = json.loads(peers.STORED.read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert [line for line in peers.format_lines(stored) if line not in text] == []
    assert stored["machine"]["peers"] == [pins[0] for pins in peers.PEERS.values()]


def test_peer_that_cannot_be_installed_stays_in_the_table():
    rows = peers.list_measurements(dict.fromkeys(peers.PEERS))
    missing = [library for _, library, measurement in rows if measurement is None]
    assert {library.partition(",")[0] for library in missing} == set(peers.PEERS)
    assert peers.format_time(None) == "not installed"


def test_stored_timings_keep_the_promises():
    """Measured by benchmarks/arms.py: what is said of growth rests on this file."""
    stored = timings()
    for radii in ("kernel_pull", "kernel_pull_wider"):
        pull = {row["K"]: row[radii] for row in stored["online"]}
        assert pull[100_000] <= 4 * pull[100]

    runs = {
        (row["K"], row["front"]): row["kernel_run"] for row in stored["identification"]
    }
    assert runs[10_000, 30] < 300
    sizes = [K for K, front in runs if front == 30 and K >= 300 and K != 2000]
    assert (
        stats.linregress(np.log(sizes), np.log([runs[K, 30] for K in sizes])).slope
        < 2.2
    )
    assert {100, 300, 1000} <= {
        row["K"] for row in stored["identification"] if "class_run" in row
    }
