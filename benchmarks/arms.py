"""Measure time and memory with many arms, replications and rows.

    python benchmarks/arms.py               # everything
    python benchmarks/arms.py back_ends     # one part; other parts stay as stored

The results are stored in ``timings.json``, which ``docs/scale.md`` describes. Times are
processor times on one core, except for the back ends, whose times are elapsed times.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scale
import workloads
import yaml
from ratios import random_table

import cobandit as cb
from companion.paper import experiments

ONLINE = (10, 100, 1_000, 10_000, 100_000)
READABLE = 10_000  # largest number of arms for the class of the online policy
IDENTIFICATION = (100, 300, 1_000, 3_000, 10_000)
FRONTS = (10, 30, 100, 300)
READABLE_IDENTIFICATION = 1_000
REPLICATIONS = (100, 400, 1_600)  # numbers of replications of the paper's grid
ROWS = (100_000, 1_000_000, 10_000_000)  # numbers of rows of the tables for reading
REPETITIONS = 5  # number of measurements per back end, in turns; the smallest counts


def _sizes(run: workloads.Online | workloads.Front) -> dict[str, float]:
    return dict(zip(("table_MB", "run_MB"), run.megabytes(), strict=True))


def _class_pull(run: workloads.Online, pulls: int = 300) -> float:
    """Measure the seconds of a pull by the class, after each arm has been pulled."""
    pulled = run.readable()
    for _ in islice(pulled, run.shape[0]):
        pass
    start = process_time()
    for _ in islice(pulled, pulls):
        pass
    return (process_time() - start) / pulls


def online() -> list[dict[str, Any]]:
    """Measure pulls and runs of CoHV-UCB, by the kernel and by the class."""
    workloads.Online(10, 2, 4.0).compiled()  # compiles
    rows = []
    for n_arms in ONLINE:
        pulls = max(300_000, 10 * n_arms)
        pull, wider = (
            workloads.pull_seconds(n_arms, pulls, scales=s)
            for s in (workloads.SCALES, workloads.WIDER)
        )
        run = workloads.Online(n_arms, 2, rho=4.0)
        seconds, pulls = workloads.processor_seconds(run.compiled)
        row = {
            "K": n_arms,
            "kernel_pull": pull,
            "kernel_pull_wider": wider,
            "kernel_run": seconds,
            "pulls": pulls,
        } | _sizes(run)
        if n_arms <= READABLE:
            row["class_pull"] = _class_pull(run)
        rows.append(row)
        print(row, flush=True)

    return rows


def identification() -> list[dict[str, Any]]:
    """Measure runs of CoPSI for several numbers of arms and sizes of the front."""
    workloads.Front(60, 200).compiled()

    rows = []
    sizes = [(n_arms, 30) for n_arms in IDENTIFICATION] + [
        (2_000, front) for front in FRONTS
    ]
    for n_arms, front in sizes:
        run = workloads.Front(n_arms, 200, front)
        seconds, returned = workloads.processor_seconds(
            run.compiled, 1 if n_arms > 3_000 else 3
        )
        assert returned.sum() == front
        row: dict[str, Any] = {
            "K": n_arms,
            "front": front,
            "kernel_run": seconds,
        } | _sizes(run)
        if n_arms <= READABLE_IDENTIFICATION:
            row["class_run"], again = workloads.processor_seconds(run.readable, 2)
            assert (np.flatnonzero(returned) == again).all()
        rows.append(row)
        print(row, flush=True)

    return rows


def back_ends() -> list[dict[str, Any]]:
    """Measure one grid of replays in one process and in parallel, on each back end."""
    from dask.distributed import LocalCluster

    table = random_table(108, 2)

    def replay(**how: Any) -> Any:
        methods = [cb.spec("CoHVUCB", **workloads.SCALES), "UniformAllocation"]
        return cb.replay_online(table, methods, (8, 32), replications=600, **how)

    def elapsed(function: Callable[[], Any]) -> tuple[float, float, Any]:
        start = perf_counter()
        used = process_time()
        result = function()
        return perf_counter() - start, process_time() - used, result

    rows = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        ways: dict[str, dict[str, Any]] = {
            "one process": {"workers": 1},
            "two threads": {"workers": 2, "backend": "threading"},
            "two processes": {"workers": 2},
            "Dask, two workers": {
                "backend": "dask",
                "scheduler": cluster.scheduler_address,
            },
        }
        reference = replay()
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for repetition in range(REPETITIONS + 1):
            for name, how in ways.items():
                *taken, found = elapsed(lambda how=how: replay(**how))
                assert found.equals(reference), name
                # the first call, which starts workers and compiles, does not count
                if repetition:
                    times[name].append((taken[0], taken[1]))
        for name, taken in times.items():
            seconds, own = min(taken)
            row = {
                "back end": name,
                "seconds": seconds,
                "processor_seconds": own,
                "rows": len(reference),
            }
            rows.append(row | {"slowest": max(taken)[0]})
            print(rows[-1], flush=True)
    return rows


def replays() -> list[dict[str, Any]]:
    """Measure the paper's replays on one core: all methods at all budgets."""
    table = cb.load("gsm8k")
    rows = []
    for replications in REPLICATIONS:
        runs: list[Any] = []

        def grid(n: int = replications, runs: list[Any] = runs) -> None:
            runs[:] = [
                experiments.play("online", table, n),
                experiments.play("identification", table, n),
            ]

        seconds, _ = workloads.processor_seconds(grid)
        pulls = sum(int(frame["pulls"].sum()) for frame in runs)
        rows.append({"replications": replications, "seconds": seconds, "pulls": pulls})
        print(rows[-1], flush=True)
    return rows


READ = """
import re, sys, time
from pathlib import Path
import cobandit as cb, cobandit.tables.storage

def peak():  # on Linux; what a parent once held does not count here
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", status)[1])

before, start = peak(), time.process_time()
table = cb.read(sys.argv[1])
table.truth()
print(time.process_time() - start, peak() - before)
"""


def reading() -> list[dict[str, Any]]:
    """Measure the reading and checking of tables with a hundred configurations."""
    rows = []
    for n_rows in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scale.parquet")
            scale.frame(100, n_rows // 100, 2).to_parquet(path, index=False)
            path.with_suffix(".yml").write_text(
                yaml.safe_dump(scale.card(2, n_rows // 100)), encoding="utf-8"
            )
            done = subprocess.run(
                [sys.executable, "-c", READ, path],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds, taken = (float(value) for value in done.stdout.split())
            megabytes = path.stat().st_size / 1e6
        rows.append(
            {
                "rows": n_rows,
                "seconds": seconds,
                "peak_MB": taken / 1e6,
                "file_MB": megabytes,
            }
        )
        print(rows[-1], flush=True)

    return rows


PARTS = {  # in order of memory, smallest first
    "replays": replays,
    "identification": identification,
    "online": online,
    "back_ends": back_ends,
    "reading": reading,
}


def main(names: list[str]) -> int:
    """Measure some or all parts, and write ``timings.json``."""
    path = Path(__file__).with_name("timings.json")
    found: dict[str, Any] = (
        json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    )
    found["machine"] = {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    for name in names or PARTS:
        found[name] = PARTS[name]()
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
