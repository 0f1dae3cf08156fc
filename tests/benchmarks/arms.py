"""Time and memory from ten to a hundred thousand arms, written to ``data/timings.json`` for the book.

    python tests/benchmarks/arms.py               # everything
    python tests/benchmarks/arms.py back_ends     # one part; the others stay as stored

Times are processor times on one core, except those of the back ends, which are elapsed.  The page `scale`
shows what the file holds and measures small sizes anew.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
from ratios import random_table

import cobandit as cb
from cobandit import scaling
from cobandit.tables.catalogue import data_directory

ONLINE = (10, 100, 1_000, 10_000, 100_000)
READABLE = 10_000  # most arms of the readable online policy
IDENTIFICATION = (100, 300, 1_000, 3_000, 10_000)
FRONTS = (10, 30, 100, 300)
READABLE_IDENTIFICATION = (30, 100, 300)


def _peak() -> float:
    """Most memory that the process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _class_pull(run: scaling.Online, pulls: int = 300) -> float:
    """A pull by the class, once every arm was pulled."""
    times = []
    for most in (run.shape[0], run.shape[0] + pulls):
        times.append(scaling.processor_seconds(lambda most=most: run.readable(most=most), 2)[0])
    return (times[1] - times[0]) / pulls


def online() -> list[dict[str, Any]]:
    """A pull and a run of CoHV-UCB, kernel and class."""
    scaling.Online(10, 2, 4.0).compiled()  # compiles
    before, rows = _peak(), []
    for n_arms in ONLINE:
        pull = scaling.pull_seconds(n_arms, max(300_000, 10 * n_arms))
        run = scaling.Online(n_arms, 2, rho=4.0)
        seconds, pulls = scaling.processor_seconds(run.compiled)
        row = {
            "K": n_arms,
            "kernel_pull": pull,
            "kernel_run": seconds,
            "pulls": pulls,
            "MB": _peak() - before,
        }
        if n_arms <= READABLE:
            row["class_pull"] = _class_pull(run)
        rows.append(row)
        print(row, flush=True)
    return rows


def identification() -> list[dict[str, Any]]:
    """A run of CoPSI by size at a front of 30, then by front at 2,000 arms; the class at small sizes."""
    scaling.Front(60, 200).compiled()
    before, rows = _peak(), []
    sizes = [(n_arms, 30) for n_arms in IDENTIFICATION] + [(2_000, front) for front in FRONTS]
    for n_arms, front in sizes:
        run = scaling.Front(n_arms, 200, front)
        seconds, returned = scaling.processor_seconds(run.compiled, 1 if n_arms > 3_000 else 3)
        assert returned.sum() == front
        rows.append({"K": n_arms, "front": front, "kernel_run": seconds, "MB": _peak() - before})
        print(rows[-1], flush=True)
    for n_arms in READABLE_IDENTIFICATION:
        run = scaling.Front(n_arms, 50, 10)
        seconds, _ = scaling.processor_seconds(run.readable, 1)
        rows.append({"K": n_arms, "front": 10, "class_run": seconds})
        print(rows[-1], flush=True)
    return rows


def back_ends() -> list[dict[str, Any]]:
    """The same grid on one process, two processes, two threads, and a local Dask cluster of two workers."""
    from dask.distributed import LocalCluster

    table = random_table(108, 2)

    def replay(**how: Any) -> Any:
        methods = [cb.spec("CoHVUCB", **scaling.SCALES), "UniformAllocation"]
        return cb.replay_online(table, methods, (8, 32), replications=300, **how)

    def elapsed(function: Callable[[], Any]) -> tuple[float, float, Any]:
        function()  # starts workers, and compiles in them
        start, used = perf_counter(), process_time()
        found = function()
        return perf_counter() - start, process_time() - used, found

    rows = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        ways: dict[str, dict[str, Any]] = {
            "one process": {"workers": 1},
            "two threads": {"workers": 2, "backend": "threading"},
            "two processes": {"workers": 2},
            "Dask, two workers": {"backend": "dask", "scheduler": cluster.scheduler_address},
        }
        reference = replay()
        for name, how in ways.items():
            seconds, own, found = elapsed(lambda how=how: replay(**how))
            assert found.equals(reference), name
            rows.append({"back end": name, "seconds": seconds, "processor_seconds": own, "rows": len(found)})
            print(rows[-1], flush=True)
    return rows


PARTS = {"identification": identification, "online": online, "back_ends": back_ends}  # by memory, upwards


def main(names: list[str]) -> int:
    """Measure, and write the file."""
    path = data_directory() / "timings.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
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
