"""Measure time and memory of the commands on random tables of a given size.

    python benchmarks/scale.py                            # a small table, all commands
    python benchmarks/scale.py --arms 5000 --instances 2000   # 10^7 rows: minutes, 3 GB
    python benchmarks/scale.py --arms 5000 --instances 2000 --rerun

Each command runs in a separate process. Its memory is the largest memory of the process
and its workers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import yaml
from rich.console import Console
from rich.table import Table

import cobandit as cb
from cobandit.tables import Card, EvaluationTable

LETTERS = "abcdefgh"
#: Base sizes of `growth`.
BASE = {"K": 50, "N": 200, "D": 2, "R": 10}


def card(objectives: int, instances: int) -> dict[str, Any]:
    """Return the fields of the card of a random table."""
    return {
        "name": "scale",
        "title": "Random table",
        "source": "benchmarks/scale.py",
        "license": "CC0-1.0",
        "kind": "synthetic",
        "records": "scale.parquet",
        "cost": {"column": "tokens", "unit": "tokens"},
        "objectives": [{"name": name, "column": name} for name in LETTERS[:objectives]],
        "split": {"profiling": max(2, instances // 5)},
    }


def frame(arms: int, instances: int, objectives: int, seed: int = 0) -> pd.DataFrame:
    """Draw the rows of a random table, with binary scores.

    The costs of the arms differ by a factor of up to ten.
    """
    rng = np.random.default_rng(seed)
    cost = np.repeat(rng.uniform(20, 200, arms), instances)
    columns: dict[str, Any] = {
        "config": pd.Categorical.from_codes(
            np.repeat(np.arange(arms), instances),
            [f"configuration-{i}" for i in range(arms)],
        ),
        "instance": pd.Categorical.from_codes(
            np.tile(np.arange(instances), arms),
            [f"instance-{i}" for i in range(instances)],
        ),
        "tokens": cost * rng.uniform(0.5, 1.5, len(cost)),
    }
    for name in LETTERS[:objectives]:
        chance = np.repeat(rng.uniform(0.1, 0.9, arms), instances)
        columns[name] = (rng.random(len(cost)) < chance).astype(float)

    return pd.DataFrame(columns)


def _seconds(function: Callable[[], Any]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def growth() -> pd.DataFrame:
    """Measure how seconds grow if one size is multiplied by four.

    All runs are on one core, in this process.

    Returns
    -------
    DataFrame
        One row for the base sizes, and one per changed size: ``what`` (the changed
        size), ``K``, ``N``, ``D``, ``R``, and the seconds of
        ``validate``, ``online`` (CoHV-UCB at rho = 32), ``identification`` (CoPSI at
        rho = 200) and ``recommend``.
    """
    changes = [{}, *({name: 4 * value} for name, value in BASE.items())]
    rows = []
    for change in [{}, *changes]:  # the first round only compiles
        size = BASE | change
        records = frame(size["K"], size["N"], size["D"])
        table_card = Card.model_validate(card(size["D"], size["N"]))
        table = EvaluationTable.from_records(records, table_card)
        steps = {
            "validate": lambda r=records, a=table_card: EvaluationTable.from_records(
                r, a
            ),
            "online": lambda t=table, n=size["R"]: cb.replay_online(
                t, "CoHVUCB", 32, n
            ),
            "identification": lambda t=table, n=size["R"]: cb.replay_identification(
                t, "CoPSI", 200, n
            ),
            "recommend": lambda t=table, n=size["R"]: cb.recommend(
                t, replications=10 * n
            ),
        }
        label = ", ".join(f"4 {name}" for name in change) or "base"
        rows.append(
            {
                "what": label,
                **size,
                **{name: _seconds(step) for name, step in steps.items()},
            }
        )

    return pd.DataFrame(rows[1:])


def run(*arguments: str, folder: Path) -> tuple[float, float]:
    """Run a ``cobandit`` command, and return its seconds and gigabytes."""
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "cobandit", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"cobandit {' '.join(arguments)} failed")
    return perf_counter() - start, used.ru_maxrss * 1024 / 1e9  # kilobytes, on Linux


def main() -> None:
    """Write a random table, run the commands on it, and print time and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, value in {"arms": 200, "instances": 200, "objectives": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument(
        "--rerun", action="store_true", help="also run cobandit-book rerun --fast"
    )
    options = parser.parse_args()
    methods = ["-m", "CoHVUCB", "-m", "UniformAllocation", "-b", "2", "-b", "8"]
    commands = {
        "validate": ["validate", "scale.parquet"],
        "replay": [
            "replay",
            "scale.parquet",
            "-o",
            "runs.parquet",
            *methods,
            "--workers",
            "2",
        ],
        "recommend": ["recommend", "scale.parquet", "--budget", "100000"],
    }
    if options.rerun:
        commands["rerun"] = ["rerun", "scale.parquet", "-o", "report", "--fast"]
    shown = Table(
        title=(
            f"K = {options.arms:,}, N = {options.instances:,}, D ="
            f" {options.objectives}; {os.cpu_count()} cores"
        ),
        title_justify="left",
    )
    for heading in ("command", "seconds", "GB"):
        shown.add_column(heading, justify="left" if heading == "command" else "right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame(options.arms, options.instances, options.objectives).to_parquet(
            folder / "scale.parquet", index=False
        )
        (folder / "scale.yml").write_text(
            yaml.safe_dump(card(options.objectives, options.instances))
        )
        for command, arguments in commands.items():
            seconds, memory = run(*arguments, folder=folder)
            shown.add_row(command, f"{seconds:.1f}", f"{memory:.2f}")

    Console(width=None if sys.stdout.isatty() else 140).print(shown)


if __name__ == "__main__":
    main()
