"""Measuring a table: one evaluation, the plan of all, and the records and the card that they become.

``python -m measured.evaluation`` (``make measure``) asks both models every question
again; it takes hours, can be stopped at any time, and goes on where it was.
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

#: What a plan calls this module, which may run as ``__main__``.
MODULE = "measured.evaluation"
TASKS = {task.NAME: task for task in (word_sums, piqa_small)}
COLUMNS = {
    "correct": "int8",
    "seconds": "float32",
    "tokens": "int16",
    "prompt_tokens": "int16",
}
#: What cards and plans say of the columns.
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
    """Ask a model one question: whether it was right, tokens, and seconds of processor time.

    The seed of the sampler follows from table, configuration and the instance's place
    in the order of evaluation, so that an evaluation that is made again writes the same
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
    """One word problem, in a process of its own: processor time is counted by the process."""
    return await to_process.run_sync(
        evaluate, word_sums.NAME, dict(configuration), instance
    )


async def evaluate_piqa_small(
    configuration: Mapping[str, Any], instance: str
) -> dict[str, float]:
    """One question of PIQA, in a process of its own."""
    return await to_process.run_sync(
        evaluate, piqa_small.NAME, dict(configuration), instance
    )


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
        # one for each core of the machine that the bundled tables were measured on
        "at_once": 2,
        "timeout": 600,
    }


def conditions() -> str:
    """Return what the numbers depend on besides prompts: models and their sums, versions, processor, day.

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


def bundle(name: str, rows: pd.DataFrame, made: str, folder: Path) -> Path:
    """Write the records and the card of a measured table.

    Parameters
    ----------
    name : str
        Of the table: ``"word-sums"`` or ``"piqa-small"``.
    rows : DataFrame
        One row for each evaluation: the columns of the configuration, instance,
        correct, seconds, tokens, prompt_tokens.
    made : str
        What `conditions` returned where the rows were measured.
    folder : Path

    Returns
    -------
    Path
        Of the records; the card is next to them.
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
        "source": f"measured by this project with data/scripts/measured ({made})",
        "license": "CC0-1.0",
        "kind": "measured",
        "records": records.name,
        "sha256": None,  # has its place, and is of what is written
        **SCORED,
        "split": {"profiling": n_instances // 5, "seed": 0},  # the paper's share
        "arms": arms,
    }
    write_table(table, fields, records)
    return records


def main() -> None:
    """Measure both tables, and bundle what came out."""
    try:
        for name in TASKS:
            done = live.run(plan(name), watch=lambda progress: print(progress.line))
            print(
                "wrote"
                f" {bundle(name, pd.read_parquet(done.table), conditions(), data_directory())}"
            )
    except CobanditError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
