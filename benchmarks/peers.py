"""Compare speed with other libraries (peers), for ``docs/scale.md``.

    python benchmarks/peers.py                       # installs into _build/peers
    python benchmarks/peers.py --folder FOLDER

Results are stored in ``peers.json``. Each peer has a separate virtual environment,
because their requirements conflict. Times are processor times on one core. Tasks run in
turns several times, and the smallest time of each task counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import workloads
from peer_tasks import PULLS, draw_points

import cobandit as cb

#: Pinned requirements of each peer, beginning with the peer itself.
PEERS = {
    "mabwiser": ["mabwiser==2.7.4"],
    # the last release needs a function that later versions of SciPy do not have
    "SMPyBandits": ["SMPyBandits==0.9.7", "numpy==1.26.4", "scipy==1.11.4"],
    "moocore": ["moocore==0.3.2"],
}
N_ARMS = 108  # of the paper's PIQA
EVALUATIONS = 2_000  # of PSI-SR
REPLICATIONS = 100  # of the kernel of PSI-SR
SIZES = ((1_000, 2), (1_000, 3), (10_000, 2))
REPETITIONS = 3
STORED = Path(__file__).with_name("peers.json")

Measurement = Callable[[], tuple[float, Any]]
Row = dict[str, Any]


def install(folder: Path) -> dict[str, Path | None]:
    """Install the peers, and return the Python interpreter of each peer.

    The interpreter is None if pip fails.
    """
    pythons: dict[str, Path | None] = {}
    for name, requirements in PEERS.items():
        home = folder / name
        python = home / "bin" / "python"
        if not python.exists():
            venv.create(home, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", *requirements]
        done = subprocess.run(command, check=False)
        pythons[name] = python if done.returncode == 0 else None
    return pythons


def _ask(python: Path, name: str, *sizes: int) -> tuple[float, Any]:
    """Run a task in the environment of a peer. Return its seconds and its result."""
    script = Path(__file__).with_name("peer_tasks.py")
    command = [python, script, name, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # a peer may print warnings before the result
    seconds, result = json.loads(done.stdout.splitlines()[-1])
    return seconds, result


def _pull_class() -> tuple[float, Any]:
    """Measure the seconds of a pull by the class, after each arm has been pulled."""
    pulls = workloads.Online(N_ARMS, 1, rho=2.0 + PULLS / N_ARMS).readable()
    for _ in islice(pulls, N_ARMS):
        pass
    start = process_time()
    n_pulls = sum(1 for _ in islice(pulls, PULLS))
    return (process_time() - start) / n_pulls, None


def _pull_kernel() -> tuple[float, Any]:
    return workloads.pull_seconds(N_ARMS, 300_000, n_objectives=1), None


def _find_front(n_points: int, n_objectives: int) -> tuple[float, Any]:
    points = draw_points(n_points, n_objectives)
    start = process_time()
    is_on_front = cb.pareto_mask(points, dominance="standard")
    return process_time() - start, int(is_on_front.sum())


def _reject_class(run: workloads.Rejects) -> tuple[float, Any]:
    return workloads.processor_seconds(run.readable, 1)[0], None


def _reject_kernel(run: workloads.Rejects) -> tuple[float, Any]:
    seconds, _ = workloads.processor_seconds(lambda: run.compiled(REPLICATIONS), 1)
    return seconds / REPLICATIONS, None


def list_measurements(
    pythons: dict[str, Path | None],
) -> list[tuple[str, str, Measurement | None]]:
    """Return all measurements, with the names of their tasks and libraries.

    A measurement is None if the peer is not installed.
    """

    def ask(name: str, *sizes: int) -> Measurement | None:
        python = pythons[name]
        return None if python is None else lambda: _ask(python, name, *sizes)

    pull = f"a pull of {N_ARMS} arms, one objective"
    rejects = f"PSI-SR, {N_ARMS} arms, {EVALUATIONS:,} evaluations"
    run = workloads.Rejects(N_ARMS, EVALUATIONS)
    rows: list[tuple[str, str, Measurement | None]] = [
        (pull, "mabwiser, UCB1", ask("mabwiser", N_ARMS)),
        (pull, "SMPyBandits, UCB", ask("SMPyBandits", N_ARMS)),
        (pull, "cobandit, CoHV-UCB, class", _pull_class),
        (pull, "cobandit, CoHV-UCB, kernel", _pull_kernel),
        # no peer identifies a Pareto set
        (rejects, "cobandit, class", lambda: _reject_class(run)),
        (rejects, "cobandit, kernel", lambda: _reject_kernel(run)),
    ]
    for n_points, n_objectives in SIZES:
        task = f"front of {n_points:,} points, {n_objectives} objectives"
        rows.append((task, "moocore", ask("moocore", n_points, n_objectives)))
        ours = lambda n=n_points, d=n_objectives: _find_front(n, d)  # noqa: E731
        rows.append((task, "cobandit", ours))
    return rows


def measure(pythons: dict[str, Path | None]) -> list[Row]:
    """Measure all tasks in turns, and check that libraries find the same fronts."""
    measurements = list_measurements(pythons)
    rows: list[Row] = [
        {"task": task, "library": library, "seconds": None}
        for task, library, _ in measurements
    ]
    results: dict[str, Any] = {}
    for repetition in range(REPETITIONS + 1):
        for row, (task, library, measurement) in zip(rows, measurements, strict=True):
            if measurement is None:
                continue
            seconds, result = measurement()
            if task.startswith("front") and results.setdefault(task, result) != result:
                raise AssertionError(f"{task}: {library} found a different front")
            # the first repetition compiles kernels
            if repetition:
                row["seconds"] = min(seconds, row["seconds"] or seconds)
    return rows


def describe_machine() -> dict[str, Any]:
    """Return the processor, the number of cores, and versions of software."""
    processor = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        names = re.findall(r"model name\s*: (.*)", information.read_text())
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "peers": [requirements[0] for requirements in PEERS.values()],
    }


def format_time(seconds: float | None) -> str:
    """Format a time with a unit such as ms or µs.

    Examples
    --------
    >>> format_time(2.04e-5), format_time(3.2e-8), format_time(0.61), format_time(None)
    ('20.4 µs', '32.0 ns', '610 ms', 'not installed')
    """
    if seconds is None:
        return "not installed"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.1f} ns"


def format_lines(stored: dict[str, Any]) -> list[str]:
    """Return lines for ``docs/scale.md``: machine and date, then rows of a table."""
    machine = stored["machine"]
    return [
        f"Measured on {stored['date']} on {machine['processor']}, {machine['cores']}"
        f" cores, Python {machine['python']}, NumPy {machine['numpy']},"
        f" {', '.join(machine['peers'])}.",
        *(
            f"| {row['task']} | {row['library']} | {format_time(row['seconds'])} |"
            for row in stored["rows"]
        ),
    ]


def main() -> None:
    """Install and measure peers, write ``peers.json``, and print lines to copy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("_build", "peers"))
    folder = parser.parse_args().folder.absolute()
    stored = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": describe_machine(),
        "rows": measure(install(folder)),
    }
    STORED.write_text(
        json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print("\n".join(format_lines(stored)))
    print(f"wrote {STORED}; copy these lines to docs/scale.md", file=sys.stderr)


if __name__ == "__main__":
    main()
