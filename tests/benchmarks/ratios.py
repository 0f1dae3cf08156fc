"""The speed that the project promises, each as a ratio of two measurements in one run: ``make bench``.

Ratios hold on any machine, times do not.  Every measurement is the median of several repetitions of warm
kernels; the two sides of a ratio are measured in turns, so that a busy moment meets both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import cobandit as cb
from cobandit import _check
from cobandit.replay import kernels
from cobandit.tables import Card, EvaluationTable

SCALES = {"reward_scale": 0.01, "cost_scale": 0.01}  # the paper's


def _seconds(function: Callable[[], Any]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def _in_turns(*functions: Callable[[], Any], repetitions: int) -> list[list[float]]:
    """Times of each function, after one call that compiles and warms."""
    for function in functions:
        function()
    rounds = [[_seconds(function) for function in functions] for _ in range(repetitions)]
    return [list(times) for times in zip(*rounds, strict=True)]


def _random_rows(rng: np.random.Generator, n_arms: int, n_objectives: int, instances: int) -> np.ndarray:
    """Rows of a kernel's table: cost, cost over the largest, rewards; a ten-fold range of mean costs."""
    n = n_arms * instances
    costs = np.repeat(rng.uniform(0.1, 1.0, n_arms), instances) * rng.uniform(0.5, 1.0, n)
    means = np.repeat(rng.uniform(0.1, 0.9, (n_arms, n_objectives)), instances, axis=0)
    rewards = np.clip(means + rng.normal(0, 0.2, means.shape), 0, 1)
    return np.column_stack([costs, costs / costs.max(), rewards])


def _table(n_arms: int, n_objectives: int, instances: int = 20) -> EvaluationTable:
    """Evaluation table of such rows."""
    rows = _random_rows(np.random.default_rng(0), n_arms, n_objectives, instances)
    frame = pd.DataFrame(rows[:, [0, *range(2, rows.shape[1])]], columns=["cost", *"abcdefgh"[:n_objectives]])
    frame["config"] = np.repeat(np.arange(n_arms), instances)
    frame["instance"] = np.tile(np.arange(instances), n_arms)
    objectives = [{"name": name, "column": name} for name in "abcdefgh"[:n_objectives]]
    about = {"name": "benchmark", "title": "Benchmark", "source": "random", "license": "CC0-1.0"}
    columns = {"cost": {"column": "cost", "unit": "units"}, "objectives": objectives}
    split = {"kind": "synthetic", "records": "none.parquet", "split": {"profiling": instances // 2}}
    return EvaluationTable.from_frame(frame, Card.model_validate(about | columns | split))


class Online:
    """CoHV-UCB on a random table of K arms, as kernel and as class."""

    def __init__(self, n_arms: int, n_objectives: int, rho: float, instances: int = 20):
        self.rows = _random_rows(np.random.default_rng(n_arms), n_arms, n_objectives, instances)
        self.costs = self.rows[:, 0].reshape(n_arms, instances).mean(axis=1)
        self.table = kernels.Table(self.rows, np.arange(0, len(self.rows) + 1, instances))
        self.budget = rho * float(self.costs.sum())
        self.shape = (n_arms, n_objectives)
        self.dearest = np.argsort(-self.costs, kind="stable")
        self.kernel = kernels.ONLINE["CoHVUCB"]

    def policy(self) -> cb.CoHVUCB:
        """A fresh policy."""
        cost_range = (self.rows[:, 0].min(), self.rows[:, 0].max())
        return cb.CoHVUCB(*self.shape, self.budget, cost_range, expected_costs=self.costs, **SCALES)

    def compiled(self, replications: int = 1) -> int:
        """Play by kernel; the number of pulls."""
        pulls, _ = self.kernel.run(
            self.kernel.read(self.policy()),
            _check.with_slack(self.budget),
            self.costs,
            self.dearest,
            1,
            self.table,
            np.uint64(0),
            np.arange(replications),
            np.empty((replications, 0), dtype=np.int64),
            np.empty((replications, 0)),
        )
        return int(pulls.sum())

    def readable(self) -> int:
        """Ask and tell on the same kind of feedback; the number of pulls."""
        policy = self.policy()
        feedback = list(zip(self.rows[:, 2:], self.rows[:, 0].tolist(), strict=True))
        instances, s = len(self.rows) // self.shape[0], 0
        while (arm := policy.ask()) is not None:
            policy.tell(arm, *feedback[arm * instances + s % instances])
            s += 1
        return int(policy.pulls.sum())


def kernel_over_class() -> dict[str, Any]:
    """A pull of the readable class over a pull of the kernel, K = 108 and D = 2."""
    online = Online(108, 2, rho=32)
    replications = 20
    n_fast, n_slow = online.compiled(replications), online.readable()
    fast, slow = _in_turns(lambda: online.compiled(replications), online.readable, repetitions=7)
    fast_ns, slow_ns = 1e9 * median(fast) / n_fast, 1e9 * median(slow) / n_slow
    return {
        "measurement": "kernel over class, per pull (K = 108, D = 2)",
        "ratio": slow_ns / fast_ns,
        "at_least": 200,
        "detail": f"{slow_ns / 1e3:.1f} us by class, {fast_ns:.0f} ns by kernel",
    }


def many_arms_over_few() -> dict[str, Any]:
    """A pull among 100,000 arms over one among 100: O(D + log K), and the memory of the machine.

    Runs start with a pull of every arm, and K of them say nothing about choosing among arms; so a pull
    is what a longer run takes more than a shorter one.
    """
    sides = []
    for n_arms, short, longer, replications in ((100, 20, 2020, 5), (100_000, 2, 12, 1)):
        runs = [Online(n_arms, 2, rho) for rho in (short, longer)]
        n = [run.compiled(replications) for run in runs]
        sides.append((runs, replications, n[1] - n[0]))
    functions = [
        (lambda run=run, r=replications: run.compiled(r)) for runs, replications, _ in sides for run in runs
    ]
    times = _in_turns(*functions, repetitions=7)
    few, many = (
        1e9 * median(b - a for a, b in zip(times[2 * i], times[2 * i + 1], strict=True)) / sides[i][2]
        for i in (0, 1)
    )
    return {
        "measurement": "a pull, K = 100,000 over K = 100",
        "ratio": many / few,
        "at_most": 4,
        "detail": f"{few:.0f} ns and {many:.0f} ns a pull",
    }


class Front:
    """CoPSI on K arms of which exactly 30 are Pareto-optimal, without noise, at equal rho."""

    def __init__(self, n_arms: int, rho: float, front: int = 30):
        rng = np.random.default_rng(n_arms)
        first = np.linspace(0.3, 0.9, front)
        best = np.column_stack([first, 1.2 - first])
        weaker = best[rng.integers(front, size=n_arms - front)] - rng.uniform(0.05, 0.28, (n_arms - front, 1))
        means = np.vstack([best, weaker])[rng.permutation(n_arms)]
        assert cb.pareto_mask(means).sum() == front
        self.costs = rng.uniform(0.1, 1.0, n_arms)
        self.table = kernels.Table(np.column_stack([self.costs, self.costs, means]), np.arange(n_arms + 1))
        self.policy = cb.CoPSI(self.costs, rho * self.costs.sum(), 2)
        self.kernel = kernels.IDENTIFICATION["CoPSI"]

    def run(self) -> Any:
        """Play one replication."""
        return self.kernel.run(
            self.kernel.read(self.policy),
            _check.with_slack(self.policy.budget),
            self.costs,
            False,
            self.table,
            np.uint64(0),
            np.arange(1),
            np.empty((1, 0), dtype=np.int64),
        )


def copsi_growth() -> dict[str, Any]:
    """A CoPSI run with 4,000 arms over one with 1,000: quadratic would be 16, cubic 64."""
    small, large = Front(1000, rho=200), Front(4000, rho=200)
    times = _in_turns(small.run, large.run, repetitions=5)
    few, many = median(times[0]), median(times[1])
    return {
        "measurement": "a CoPSI run, K = 4,000 over K = 1,000 (front of 30, rho = 200)",
        "ratio": many / few,
        "at_most": 20,
        "detail": f"{1e3 * few:.0f} ms and {1e3 * many:.0f} ms a run",
    }


def two_threads_over_one() -> dict[str, Any]:
    """One thread's time over two threads', by `cobandit.replay_online`."""
    table = _table(108, 2)
    methods = [cb.spec("CoHVUCB", **SCALES)]

    def replay(workers: int) -> Any:
        return cb.replay_online(table, methods, 32, replications=600, workers=workers, backend="threading")

    pulls = int(replay(1)["pulls"].sum())
    one, two = _in_turns(lambda: replay(1), lambda: replay(2), repetitions=7)
    start, used = perf_counter(), process_time()
    replay(2)
    processors = (process_time() - used) / (perf_counter() - start)
    busy = "" if processors > 1.7 else f"; not measurable here, only {processors:.1f} processors were free"
    return {
        "measurement": "two threads over one (K = 108, D = 2, 600 replications)",
        "ratio": median(one) / median(two),
        "at_least": 1.6,
        "detail": f"{1e9 * median(one) / pulls:.0f} ns and {1e9 * median(two) / pulls:.0f} ns a pull{busy}",
    }


MEASUREMENTS = (kernel_over_class, many_arms_over_few, copsi_growth, two_threads_over_one)


def measure() -> pd.DataFrame:
    """Measure everything, a row each: ``measurement``, ``ratio``, ``target`` (text), ``met``, ``detail``."""
    rows = []
    for measurement in MEASUREMENTS:
        row = measurement()
        least, most = row.pop("at_least", None), row.pop("at_most", None)
        row["target"] = f"at least {least:g}" if most is None else f"at most {most:g}"
        row["met"] = bool(row["ratio"] >= least if most is None else row["ratio"] <= most)
        rows.append(row)
    return pd.DataFrame(rows)[["measurement", "ratio", "target", "met", "detail"]]


def main() -> int:
    """Print the table; 1 if a target is missed."""
    start = perf_counter()
    measured = measure()
    shown = Table(title="Speed ratios, measured here and now", title_justify="left")
    for heading in ("measurement", "ratio", "target", "met", "detail"):
        shown.add_column(heading, justify="right" if heading == "ratio" else "left")
    for row in measured.itertuples():
        met = "[green]yes[/green]" if row.met else "[bold red]NO[/bold red]"
        shown.add_row(row.measurement, f"{row.ratio:.1f}", row.target, met, row.detail)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(shown)
    console.print(f"{perf_counter() - start:.0f} s", highlight=False)
    return 0 if measured["met"].all() else 1


if __name__ == "__main__":
    sys.exit(main())
