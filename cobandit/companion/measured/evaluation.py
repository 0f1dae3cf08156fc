"""Measuring a table: one evaluation, the plan of all, and the records and the card that they become.

``python -m cobandit.companion.measured.evaluation`` (``make measure``) asks both models every question again;
it takes hours, can be stopped at any time, and goes on where it was.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pandas as pd
from anyio import to_process
from rich.console import Console

from cobandit import live
from cobandit.companion.measured import models, piqa_small, word_sums
from cobandit.errors import CobanditError
from cobandit.faults import stop
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256, write_table

#: What a plan calls this module, which may run as ``__main__``.
MODULE = "cobandit.companion.measured.evaluation"
TASKS = {task.NAME: task for task in (word_sums, piqa_small)}
AT_ONCE = 2
"""Processes: one for each core of the machine that the bundled tables were measured on."""
LICENSE = "CC0-1.0"
SHARE = 0.2
"""Share of the instances that are for profiling, as in the paper."""
TITLES = {
    "word-sums": "Two small language models on word problems: {arms} configurations, {instances} problems",
    "piqa-small": "Two small language models on PIQA: {arms} configurations, {instances} questions",
}
COLUMNS = {"correct": "int8", "seconds": "float32", "tokens": "int16", "prompt_tokens": "int16"}
#: What cards and plans say of the columns.
SCORED = {
    "cost": {"column": "tokens", "unit": "tokens"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "efficiency", "column": "seconds", "transform": "inverse-percentile"},
    ],
}


def evaluate(name: str, configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """Ask a model one question: whether it was right, tokens, and seconds of processor time.

    The seed of the sampler follows from table, configuration and instance, so that an evaluation that is
    made again writes the same text.
    """
    task: ModuleType = TASKS[name]
    settings = " | ".join(str(value) for value in configuration.values())
    seed = crc32(f"{name}|{settings}|{task.place(instance)}".encode()) % 2**31
    answer = models.complete(
        configuration["model"],
        task.prompt(configuration, instance),
        limit=configuration["max_tokens"],
        temperature=configuration["temperature"],
        seed=seed,
    )
    return {
        "correct": float(task.correct(answer.text, instance)),
        "seconds": answer.seconds,
        "tokens": answer.tokens,
        "prompt_tokens": answer.prompt_tokens,
    }


async def evaluate_word_sums(configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """One word problem, in a process of its own: processor time is counted by the process."""
    return await to_process.run_sync(evaluate, word_sums.NAME, dict(configuration), instance)


async def evaluate_piqa_small(configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """One question of PIQA, in a process of its own."""
    return await to_process.run_sync(evaluate, piqa_small.NAME, dict(configuration), instance)


def plan(name: str) -> dict[str, Any]:
    """Plan of a run that evaluates everything, question by question.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> len(check_plan(plan("word-sums"), "the plan").configurations.all)
    72
    """
    return {
        "name": name,
        "configurations": {"list": TASKS[name].configurations()},
        "instances": TASKS[name].instances(),
        "method": "UniformOnce",
        "budget": 1,
        "unit": "share",
        **SCORED,
        "largest_cost": "max_tokens",
        "pilot": 2,
        "evaluate": {"callable": {"function": f"{MODULE}:evaluate_{name.replace('-', '_')}"}},
        "at_once": AT_ONCE,
        "timeout": 600,
    }


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def conditions() -> dict[str, str]:
    """What the numbers depend on besides the prompts: models with their sums, versions, processor, day.

    Raises
    ------
    CobanditError
        If a model's package is absent.
    """
    weights = {
        model: f"{package} {version(package)}, sha256 {file_sha256(models.weights(model))}"
        for model, package in models.PACKAGES.items()
    }
    return weights | {
        "llama.cpp": f"xllamacpp {version('xllamacpp')}, one thread, no prompt cache",
        "processor": processor(),
        "measured": str(date.today()),
    }


def complete_instances(rows: pd.DataFrame, task: ModuleType) -> pd.DataFrame:
    """The rows of the instances that every configuration was evaluated on.

    Examples
    --------
    >>> from cobandit.companion.measured import piqa_small
    >>> grid = piqa_small.configurations()
    >>> rows = pd.DataFrame([c | {"instance": "7"} for c in grid] + [grid[0] | {"instance": "9"}])
    >>> complete_instances(rows, piqa_small)["instance"].unique().tolist()
    ['7']
    """
    evaluated = rows["instance"].value_counts()
    return rows[rows["instance"].isin(evaluated.index[evaluated == len(task.configurations())])]


def bundle(
    name: str, rows: pd.DataFrame, made: Mapping[str, str], folder: Path | None = None
) -> tuple[Path, Path]:
    """Write the records and the card of a measured table.

    Parameters
    ----------
    name : str
        Of the table: ``"word-sums"`` or ``"piqa-small"``.
    rows : DataFrame
        One row for each evaluation: the columns of the configuration, instance, correct, seconds, tokens,
        prompt_tokens.  Instances that some configuration was not evaluated on are left out.
    made : mapping
        What `conditions` returned where the rows were measured.
    folder : Path, optional
        Default: the catalogue's.

    Returns
    -------
    records, card : Path

    Raises
    ------
    TableError
        If no instance was evaluated by every configuration.
    """
    task, folder = TASKS[name], folder or data_directory()
    whole = complete_instances(rows, task)
    if whole.empty:
        stop(name, "no instance was evaluated by every configuration", "let `make measure` go on")
    described = pd.DataFrame(task.configurations())
    arms = list(described.columns)
    described.insert(0, "config", [task.config_name(c) for c in task.configurations()])
    table = described.merge(whole[[*arms, "instance", *COLUMNS]], on=arms).astype(COLUMNS)
    table["place"] = table["instance"].map(task.place)
    table = table.sort_values(["config", "place"], ignore_index=True).drop(columns="place")
    records, card = folder / f"{name}.parquet", folder / f"{name}.yml"
    n_instances = table["instance"].nunique()
    how = "; ".join(f"{what}: {value}" for what, value in made.items())
    fields = {
        "name": name,
        "title": TITLES[name].format(arms=len(described), instances=n_instances),
        "source": f"measured by this project with cobandit.companion.measured ({how})",
        "license": LICENSE,
        "kind": "measured",
        "records": records.name,
        "sha256": None,  # has its place, and is of what is written
        **SCORED,
        "split": {"profiling": max(2, round(SHARE * n_instances)), "seed": 0},
        "arms": arms,
    }
    write_table(table, fields, records)
    return records, card


def measure(name: str) -> None:
    """Evaluate every pair of a table, and bundle what came out."""
    out = Console()
    done = live.run(plan(name), watch=lambda progress: out.print(progress.line, markup=False))
    for path in bundle(name, pd.read_parquet(done.table), conditions()):
        out.print(f"wrote {path}", markup=False)


def main(names: list[str]) -> None:
    """Measure the tables that are named, by default both."""
    try:
        for name in names or list(TASKS):
            if name not in TASKS:
                raise CobanditError(f"there is no measured table {name!r}: choose of {', '.join(TASKS)}")
            measure(name)
    except CobanditError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
