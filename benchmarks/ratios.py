"""Test the promised speeds, as ratios of two measurements (``make bench``).

    python benchmarks/ratios.py            # print a table; fail if a promise is broken
    python benchmarks/ratios.py --store    # also store the times in ratios.json

Unlike times, ratios are comparable between machines. Every measurement is the median of
several repetitions with compiled kernels. The two sides of a ratio are measured in
turns, so that other load affects both. The table also shows the speed-up over the times
in ``ratios.json``, which were stored with their machine and date. No speed-up is
promised, and it is not meaningful on another or a busy machine.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from workloads import SCALES, Front, Once, Online, Race, Rejects, random_rows

import cobandit as cb
from cobandit.tables import EvaluationTable

STORED = Path(__file__).with_suffix(".json")
#: Number of times that each side of a ratio is measured.
REPETITIONS = 3


def _seconds(function: Callable[[], Any]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def _in_turns(*functions: Callable[[], Any]) -> tuple[list[Any], list[list[float]]]:
    """Return what the functions return, and the times of each of them.

    The functions are measured in turns. Each is called once before, to compile it.
    """
    results = [function() for function in functions]
    rounds = [
        [_seconds(function) for function in functions] for _ in range(REPETITIONS)
    ]
    return results, [list(times) for times in zip(*rounds, strict=True)]


def random_table(
    n_arms: int, n_objectives: int, instances: int = 20
) -> EvaluationTable:
    """Return a random evaluation table."""
    rows = random_rows(np.random.default_rng(0), n_arms, n_objectives, instances)
    rows = rows.reshape(n_arms, instances, -1)
    return EvaluationTable.from_arrays(
        rows[:, :, 2:], rows[:, :, 0], profiling=instances // 2
    )


def kernel_over_class() -> dict[str, Any]:
    """Measure by which factor a pull is faster by the kernel than by the class.

    There are K = 108 arms and D = 2 objectives.
    """
    online = Online(108, 2, rho=8)
    replications = 20

    def by_class() -> int:
        return sum(1 for _ in online.readable())

    pulls, times = _in_turns(lambda: online.compiled(replications), by_class)
    fast_ns, slow_ns = (
        1e9 * median(seconds) / n for seconds, n in zip(times, pulls, strict=True)
    )
    return {
        "measurement": "kernel over class, per pull (K = 108, D = 2)",
        "ratio": slow_ns / fast_ns,
        "at_least": 200,
        "seconds": fast_ns / 1e9,
        "detail": f"{slow_ns / 1e3:.1f} us by class, {fast_ns:.0f} ns by kernel",
    }


def many_arms_over_few() -> dict[str, Any]:
    """Measure by which factor a pull is slower with 100,000 arms than with 100 arms.

    The time is O(D + log K), but memory access is slower with many arms. Runs start
    with one pull of each arm, without a choice, so the time of a pull is computed from
    the difference between a longer and a shorter run.
    """
    pulls, times = _in_turns(
        *(
            partial(Online(n_arms, 2, rho).compiled, replications)
            for n_arms, rho, replications in (
                (100, 20, 5),
                (100, 2020, 5),
                (100_000, 2, 1),
                (100_000, 12, 1),
            )
        )
    )
    few, many = (
        1e9
        * median(b - a for a, b in zip(times[short], times[short + 1], strict=True))
        / (pulls[short + 1] - pulls[short])
        for short in (0, 2)
    )
    return {
        "measurement": "a pull, K = 100,000 over K = 100",
        "ratio": many / few,
        "at_most": 4,
        "seconds": many / 1e9,
        "detail": f"{few:.0f} ns and {many:.0f} ns a pull",
    }


def copsi_growth() -> dict[str, Any]:
    """Measure by which factor a CoPSI run is slower with 4,000 arms than with 1,000.

    The factor is 16 for quadratic and 64 for cubic growth.
    """
    small = Front(1000, rho=200)
    large = Front(4000, rho=200)
    _, times = _in_turns(small.compiled, large.compiled)
    few = median(times[0])
    many = median(times[1])
    return {
        "measurement": "a CoPSI run, K = 4,000 over K = 1,000 (front of 30, rho = 200)",
        "ratio": many / few,
        "at_most": 17,
        "seconds": many,
        "detail": f"{1e3 * few:.0f} ms and {1e3 * many:.0f} ms a run",
    }


def once_growth() -> dict[str, Any]:
    """Measure by which factor `CoPSIOnce` is slower with 4,000 arms than with 1,000.

    The method compares all pairs of active arms, so the factor would be 16 if the same
    share of arms were active at every depth. The threshold of a removal is larger with
    more arms, so they are removed later, and more than 16 times as many pairs are
    compared.
    """
    small = Once(1000, share=0.3)
    large = Once(4000, share=0.3)
    _, times = _in_turns(small.compiled, large.compiled)
    few = median(times[0])
    many = median(times[1])
    return {
        "measurement": (
            "a run of CoPSI once, K = 4,000 over K = 1,000 (N = 300, three tenths of"
            " the cost)"
        ),
        "ratio": many / few,
        "at_most": 20,
        "seconds": many,
        "detail": f"{1e3 * few:.0f} ms and {1e3 * many:.0f} ms a run",
    }


def race_growth() -> dict[str, Any]:
    """Measure by which factor `ParetoRace` is slower with 4,000 arms than with 1,000.

    With more arms, thresholds are larger, so arms are removed later, and pairs of
    active arms grow by more than 16 over the whole race. Their sums of squares are
    updated, but rivals are counted for at most 128 candidates.
    """
    small = Race(1000)
    large = Race(4000)
    _, times = _in_turns(small.compiled, large.compiled)
    few = median(times[0])
    many = median(times[1])
    return {
        "measurement": (
            "a Pareto race, K = 4,000 over K = 1,000 (N = 300, tolerance 0.02)"
        ),
        "ratio": many / few,
        "at_most": 16,
        "seconds": many,
        "detail": f"{1e3 * few:.0f} ms and {1e3 * many:.0f} ms a run",
    }


def two_threads_over_one() -> dict[str, Any]:
    """Measure by which factor `replay_online` is faster on two threads than on one."""
    table = random_table(108, 2)
    methods = [cb.spec("CoHVUCB", **SCALES)]

    def replay(workers: int) -> int:
        replayed = cb.replay_online(
            table, methods, 32, replications=300, workers=workers, backend="threading"
        )
        return int(replayed["pulls"].sum())

    used_processors = []

    def replay_on_two() -> None:
        start = perf_counter()
        used = process_time()
        replay(2)
        used_processors.append((process_time() - used) / (perf_counter() - start))

    (pulls, _), (one, two) = _in_turns(partial(replay, 1), replay_on_two)
    processors = median(used_processors)
    free = processors > 1.7
    busy = "" if free else f"; only {processors:.1f} processors were free"
    return {
        "measurement": "two threads over one (K = 108, D = 2, 300 replications)",
        "ratio": median(one) / median(two),
        "at_least": 1.6,
        "measurable": free,
        "seconds": median(two),
        "detail": (
            f"{1e9 * median(one) / pulls:.0f} ns and {1e9 * median(two) / pulls:.0f} ns"
            f" a pull{busy}"
        ),
    }


def psi_sr_over_class(
    n_arms: int, evaluations: int, replications: int
) -> dict[str, Any]:
    """Measure by which factor the kernel runs PSI-SR faster than the class."""
    run = Rejects(n_arms, evaluations)
    _, (fast, slow) = _in_turns(lambda: run.compiled(replications), run.readable)
    seconds = median(fast) / replications
    return {
        "measurement": (
            f"a PSI-SR run, class over kernel (K = {n_arms}, T = {evaluations:,})"
        ),
        "ratio": median(slow) / seconds,
        "at_least": 50,
        "seconds": seconds,
        "detail": f"{median(slow):.2f} s by class, {1e3 * seconds:.2f} ms by kernel",
    }


#: Measurements that a page of the book shows. Those in `FURTHER` take longer.
MEASUREMENTS: tuple[Callable[[], dict[str, Any]], ...]
MEASUREMENTS = (
    kernel_over_class,
    many_arms_over_few,
    copsi_growth,
    two_threads_over_one,
)
FURTHER = (
    once_growth,
    race_growth,
    partial(psi_sr_over_class, 14, 70_000, 20),
    partial(psi_sr_over_class, 100, 20_000, 20),
    partial(psi_sr_over_class, 400, 80_000, 2),
)


def _rows(measurements: Iterable[Callable[[], dict[str, Any]]]) -> pd.DataFrame:
    """Run measurements. Return the columns of `measure`, and ``seconds``."""
    rows = []
    for measurement in measurements:
        row = measurement()
        lower = row.pop("at_least", None)
        upper = row.pop("at_most", None)
        row["target"] = f"at least {lower:g}" if upper is None else f"at most {upper:g}"
        is_met = row["ratio"] >= lower if upper is None else row["ratio"] <= upper
        row["met"] = (
            "yes"
            if is_met
            else "NO"
            if row.pop("measurable", True)
            else "not measurable"
        )
        rows.append(row)
    return pd.DataFrame(rows)


def measure() -> pd.DataFrame:
    """Return the ratios on the book's page, with their targets and details."""
    return _rows(MEASUREMENTS)[["measurement", "ratio", "target", "met", "detail"]]


def store(measured: pd.DataFrame) -> None:
    """Store measured times in ``ratios.json``, with machine and date."""
    entry = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "seconds": dict(zip(measured["measurement"], measured["seconds"], strict=True)),
    }
    STORED.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the table. Return 1 if a target is missed, else 0."""
    start = perf_counter()
    measured = _rows((*MEASUREMENTS, *FURTHER))
    before = json.loads(STORED.read_text(encoding="utf-8"))
    title = "Speed ratios, measured here and now; how many times faster than on "
    machine = f"{before['machine']['processor']}, {before['machine']['cores']} cores"
    shown = Table(title=f"{title}{before['date']} ({machine})", title_justify="left")
    for heading in ("measurement", "ratio", "target", "met", "faster", "detail"):
        shown.add_column(
            heading, justify="right" if heading in ("ratio", "faster") else "left"
        )

    for row in measured.itertuples():
        mark = {"yes": "[green]yes[/green]", "NO": "[bold red]NO[/bold red]"}.get(
            row.met, row.met
        )
        then = before["seconds"].get(row.measurement)
        faster = "" if then is None else f"{then / float(row.seconds):.2f}"
        shown.add_row(
            row.measurement, f"{row.ratio:.1f}", row.target, mark, faster, row.detail
        )

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(shown)
    console.print(f"{perf_counter() - start:.0f} s", highlight=False)
    if "--store" in arguments:
        store(measured)
    return int("NO" in set(measured["met"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
