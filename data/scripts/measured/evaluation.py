"""Measurement of a table: one evaluation, the plan of all, records and card.

``python -m measured.evaluation`` (``make measure``) asks both models every question
again. It takes hours, can be interrupted at any time, and continues from there.
"""

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

from cobandit import live
from cobandit.errors import CobanditError
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256, write_table
from measured import models, piqa_small, word_sums

#: Name of this module in a plan, because it may run as ``__main__``.
MODULE = "measured.evaluation"
TASKS = {task.NAME: task for task in (word_sums, piqa_small)}
COLUMNS = {
    "correct": "int8",
    "seconds": "float32",
    "tokens": "int16",
    "prompt_tokens": "int16",
}
#: Entries of cards and plans about the columns.
SCORED = {
    "cost": {"column": "tokens", "unit": "tokens"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "efficiency", "column": "seconds", "transform": "inverse-percentile"},
    ],
}


def evaluate(
    name: str, configuration: Mapping[str, Any], instance: str
) -> dict[str, float]:
    """Ask a model one question; return correctness, tokens, and processor seconds.

    The seed of the sampler follows from the table, the configuration and the instance's
    position in the order of evaluation, so that a repeated evaluation writes the same
    text.
    """
    task: ModuleType = TASKS[name]
    settings = " | ".join(str(value) for value in configuration.values())
    seed = (
        crc32(f"{name}|{settings}|{task.instances().index(instance)}".encode()) % 2**31
    )
    text, took = models.complete(
        configuration["model"],
        task.prompt(configuration, instance),
        limit=configuration["max_tokens"],
        temperature=configuration["temperature"],
        seed=seed,
    )
    return {"correct": float(task.correct(text, instance)), **took}


async def evaluate_word_sums(
    configuration: Mapping[str, Any], instance: str
) -> dict[str, float]:
    """Evaluate a word problem in a process, by which processor time is counted."""
    return await to_process.run_sync(
        evaluate, word_sums.NAME, dict(configuration), instance
    )


async def evaluate_piqa_small(
    configuration: Mapping[str, Any], instance: str
) -> dict[str, float]:
    """Evaluate a question of PIQA in a process."""
    return await to_process.run_sync(
        evaluate, piqa_small.NAME, dict(configuration), instance
    )


def plan(name: str) -> dict[str, Any]:
    """Return the plan of a run that evaluates everything, question by question.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> len(check_plan(plan("word-sums"), "the plan").configurations.all)
    72
    """
    return {
        "name": name,
        "configurations": {"grid": TASKS[name].GRID},
        "instances": TASKS[name].instances(),
        "method": "UniformOnce",
        "budget": 1,
        "unit": "share",
        **SCORED,
        "largest_cost": "max_tokens",
        "pilot": 2,
        "evaluate": {
            "callable": {"function": f"{MODULE}:evaluate_{name.replace('-', '_')}"}
        },
        # one per core of the machine on which the bundled tables were measured
        "at_once": 2,
        "timeout": 600,
    }


def conditions() -> str:
    """Return the conditions of the measurement: models, versions, processor and day.

    Raises
    ------
    CobanditError
        If a model's package is absent.
    """
    weights = (
        f"{model}: {package} {version(package)}, sha256"
        f" {file_sha256(models.weights(model))}; "
        for model, package in models.PACKAGES.items()
    )
    return (
        f"{''.join(weights)}llama.cpp: xllamacpp {version('xllamacpp')}, one thread, no"
        f" prompt cache; processor: {platform.processor() or platform.machine()};"
        f" measured: {date.today()}"
    )


def bundle(name: str, rows: pd.DataFrame, origin: str, folder: Path) -> Path:
    """Write the records and the card of a measured table.

    Parameters
    ----------
    name : str
        Name of the table: ``"word-sums"`` or ``"piqa-small"``.
    rows : DataFrame
        One row per evaluation: the columns of the configuration, instance, correct,
        seconds, tokens, prompt_tokens.
    origin : str
        Result of `conditions` at the time of the measurement.
    folder : Path

    Returns
    -------
    Path
        Path of the records; the card is next to them.
    """
    task = TASKS[name]
    arms = list(TASKS[name].GRID)
    names = [task.config_name(settings) for settings in rows[arms].to_dict("records")]
    table = rows[[*arms, "instance", *COLUMNS]].astype(COLUMNS)
    table.insert(0, "config", names)
    table = table.sort_values("instance", key=pd.Index(task.instances()).get_indexer)
    table = table.sort_values("config", kind="stable", ignore_index=True)
    n_instances = table["instance"].nunique()
    records = folder / f"{name}.parquet"
    fields = {
        "name": name,
        "title": task.TITLE.format(arms=len(set(names)), instances=n_instances),
        "source": f"measured by this project with data/scripts/measured ({origin})",
        "license": "CC0-1.0",
        "kind": "measured",
        "records": records.name,
        "sha256": None,  # filled in when the records are written
        **SCORED,
        "split": {"profiling": n_instances // 5, "seed": 0},  # the paper's share
        "arms": arms,
    }
    write_table(table, fields, records)
    return records


def main() -> None:
    """Measure and bundle both tables."""
    try:
        for name in TASKS:
            done = live.run(plan(name), watch=lambda progress: print(progress.line))
            rows = pd.read_parquet(done.table)
            records = bundle(name, rows, conditions(), data_directory())
            print(f"wrote {records}")
    except CobanditError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
