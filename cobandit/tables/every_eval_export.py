"""A table as records of Every Eval Ever, version 0.3: JSON per configuration, JSON Lines of its instances.

``cobandit import every-eval-ever`` reads the records back as the same table.  What the
schema asks for and a table does not know is said to be so: texts are empty, and where
tokens are counted those of prompts are marked as not recorded.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from cobandit._version import __version__
from cobandit.errors import raise_fault
from cobandit.tables.card import Objective
from cobandit.tables.table import EvaluationTable

#: Version of the schema.
SCHEMA = "0.3.0"

#: Keys of details of a model and of an instance that a table's import reads back.
CONFIGURATION = "cobandit_configuration"
COST, UNIT, PROMPT = "cost", "cost_unit", "input_tokens"
NOT_RECORDED = "not recorded"

#: Settings that have a place of their own in the schema, as numbers.
GENERATION = ("temperature", "top_p", "top_k", "max_tokens")

#: Letters of a folder's name: those that every file system takes.
_ODD_LETTERS = re.compile(r"[^\w.+=,@-]+")
_RESERVED = re.compile(r"data|(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class ExportedRecords(NamedTuple):
    """Result of `export_every_eval_ever`: the files of the evaluations, and what records cannot hold."""

    files: tuple[Path, ...]
    report: tuple[str, ...]


def export_every_eval_ever(
    table: EvaluationTable,
    folder: str | Path,
    *,
    organization: str = "unknown",
    relationship: Literal[
        "first_party", "third_party", "collaborative", "other"
    ] = "other",
    library: str = "unknown",
    when: float | None = None,
) -> ExportedRecords:
    """Write a table as records of Every Eval Ever, two files per configuration.

    Parameters
    ----------
    table : EvaluationTable
    folder : str or Path
        Files go to ``data/<table>/<developer>/<model>`` below it; it may be there
        already.
    organization : str
        Who provides the evaluations.
    relationship : {"first_party", "third_party", "collaborative", "other"}
        What the organization is to those who made the models.
    library : str
        What the evaluations were made with.
    when : float, optional
        Seconds since 1970 at which the records are made, by default now.

    Returns
    -------
    ExportedRecords

    Raises
    ------
    TableError
        If the files cannot be written.

    Notes
    -----
    An objective is a metric with scores in [0, 1], after its transform.  The efficiency that importers make
    of seconds is written as ``performance.latency_ms``, from which it is made again.  Costs are
    ``metadata.cost`` of an instance in ``metadata.cost_unit``, and whole tokens also ``token_usage``.

    Examples
    --------
    >>> import cobandit as cb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = export_every_eval_ever(cb.load("synthetic-24"), folder, when=0.0)
    ...     len(written.files), len(list(Path(folder).rglob("*_samples.jsonl")))
    (24, 24)
    """
    root = Path(folder)
    timestamp = str(int(time.time() if when is None else when))
    frame = table.evaluations
    arms = table.arms
    scores = table.rows
    latency = _timed(table)
    metrics = [
        objective for objective in table.card.objectives if objective is not latency
    ]
    seconds = None if latency is None else frame[latency.column]
    counts_tokens = _counts_tokens(table)
    binary = {
        each.name
        for each in metrics
        if each.transform == "none" and scores[each.name].isin([0.0, 1.0]).all()
    }

    files = []
    for number, config in enumerate(table.configs):
        chosen = np.flatnonzero(frame["config"].to_numpy() == config)
        model = str(arms["model"].iloc[number]) if "model" in arms else config
        developer, name = _place(model)
        collection = _portable(table.name)
        evaluation_id = f"{table.name}/{model}/{timestamp}/{number}"
        results = [
            _result(
                table,
                objective,
                scores[objective.name].iloc[chosen],
                arms.iloc[number],
                "binary" if objective.name in binary else "continuous",
            )
            for objective in metrics
        ]
        lines = list(
            _lines(
                table,
                {
                    "schema_version": SCHEMA,
                    "evaluation_id": evaluation_id,
                    "model_id": model,
                },
                scores.iloc[chosen],
                frame.iloc[chosen],
                metrics,
                None if seconds is None else seconds.iloc[chosen],
                counts_tokens,
            )
        )
        content = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        checksum = hashlib.sha256(content.encode()).hexdigest()
        stem = uuid.UUID(bytes=bytes.fromhex(checksum)[:16], version=4)
        place = Path("data", collection, developer, name)
        samples = place / f"{stem}_samples.jsonl"
        evaluation = {
            "schema_version": SCHEMA,
            "evaluation_id": evaluation_id,
            "retrieved_timestamp": timestamp,
            "source_metadata": {
                "source_name": table.card.title,
                "source_type": "evaluation_run",
                "source_organization_name": organization,
                "evaluator_relationship": relationship,
                "additional_details": {
                    "written_by": f"cobandit {__version__}",
                    "source": table.card.source,
                    "license": table.card.license,
                    "kind": table.card.kind,
                },
            },
            "eval_library": {"name": library, "version": "unknown"},
            "model_info": {
                "name": model,
                "id": model,
                "developer": developer,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                    CONFIGURATION: config,
                },
            },
            "evaluation_results": results,
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": samples.as_posix(),
                "hash_algorithm": "sha256",
                "checksum": checksum,
                "total_rows": len(lines),
            },
        }
        target = root / place / f"{stem}.json"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            (root / samples).write_text(content, encoding="utf-8")
            target.write_text(
                json.dumps(evaluation, ensure_ascii=False, indent=2) + "\n",
                encoding="utf-8",
            )
        except OSError as error:
            raise_fault(
                target,
                f"it could not be written: {error}",
                "free some space, or choose another folder",
                "not-written",
            )
        files.append(target)
    return ExportedRecords(tuple(files), tuple(_remarks(table, latency, counts_tokens)))


def _timed(table: EvaluationTable) -> Objective | None:
    """Find the objective that an import makes of seconds, unless there is no other."""
    efficiency = Objective(
        name="efficiency", column="seconds", transform="inverse-percentile"
    )
    objectives = table.card.objectives
    return next(
        (each for each in objectives if each == efficiency and len(objectives) > 1),
        None,
    )


def _counts_tokens(table: EvaluationTable) -> bool:
    costs = table.evaluations[table.card.cost.column].to_numpy()
    return table.card.cost.unit == "tokens" and bool((costs == np.floor(costs)).all())


def _place(model: str) -> tuple[str, str]:
    """Return the folders of a model: its developer (before the slash) and its name."""
    developer, slash, name = model.partition("/")
    return (
        (_portable(developer), _portable(name))
        if slash
        else ("unknown", _portable(model))
    )


def _portable(name: str) -> str:
    """Make a name that every file system takes as that of a folder.

    Examples
    --------
    >>> _portable("llama 3.1: 8B"), _portable("a/b"), _portable("data"), _portable("...")
    ('llama_3.1_8B', 'a_b', 'data_', 'unnamed')
    """
    plain = _ODD_LETTERS.sub("_", name)[:100].strip(".") or "unnamed"
    return f"{plain}_" if _RESERVED.fullmatch(plain) else plain


def _result(
    table: EvaluationTable,
    objective: Objective,
    scores: pd.Series,
    settings: pd.Series,
    score_type: Literal["binary", "continuous"],
) -> dict[str, Any]:
    """Describe one objective of one configuration: its metric, its mean and how answers were generated."""
    details = {"column": objective.column}
    if objective.transform != "none":
        best, worst = table.limits[objective.name]
        details |= {
            "transform": objective.transform,
            "scores_1": repr(best),
            "scores_0": repr(worst),
        }

    given = {
        str(name): value
        for name, value in settings.items()
        if name != "model" and pd.notna(value)
    }
    generation = {name: _number(given[name]) for name in GENERATION if name in given}
    generation = {
        name: number for name, number in generation.items() if number is not None
    }
    return {
        "evaluation_result_id": objective.name,
        "evaluation_name": table.name,
        "source_data": {"dataset_name": table.name, "source_type": "other"},
        "metric_config": {
            "metric_id": f"{table.name}.{objective.name}",
            "metric_name": objective.name,
            "lower_is_better": False,
            "score_type": score_type,
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": details,
        },
        "score_details": {
            "score": float(scores.mean()),
            "uncertainty": {
                "standard_deviation": float(scores.std()),
                "num_samples": len(scores),
            },
        },
        "generation_config": {
            "generation_args": generation,
            "additional_details": {
                name: str(value)
                for name, value in given.items()
                if name not in generation
            },
        },
    }


def _number(value: Any) -> int | float | None:
    """Return a number as JSON has it, None for anything else."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.number)
    ):
        return None
    return int(value) if float(value).is_integer() else float(value)


def _lines(
    table: EvaluationTable,
    head: dict[str, str],
    scores: pd.DataFrame,
    frame: pd.DataFrame,
    metrics: list[Objective],
    seconds: pd.Series | None,
    counts_tokens: bool,
) -> Iterator[dict[str, Any]]:
    """Go through the instances of one configuration, each with a line per metric."""
    costs = frame[table.card.cost.column].to_numpy()
    cluster = table.card.cluster
    for row, instance in enumerate(frame["instance"]):
        cost = float(costs[row])
        metadata = {COST: repr(cost), UNIT: table.card.cost.unit}
        measured: dict[str, Any] = {}
        if counts_tokens:
            tokens = int(cost)
            measured["token_usage"] = {
                "input_tokens": 0,
                "output_tokens": tokens,
                "total_tokens": tokens,
            }
            metadata[PROMPT] = NOT_RECORDED
        if seconds is not None:
            measured["performance"] = {"latency_ms": 1000 * float(seconds.iloc[row])}
        if cluster is not None:
            metadata[cluster] = str(frame[cluster].iloc[row])
        for objective in metrics:
            score = float(scores[objective.name].iloc[row])
            yield {
                **head,
                "evaluation_name": table.name,
                "evaluation_result_id": objective.name,
                "sample_id": str(instance),
                "interaction_type": "single_turn",
                "input": {"raw": "", "reference": []},
                "output": {"raw": []},
                "answer_attribution": [],
                "evaluation": {"score": score, "is_correct": score == 1.0},
                **measured,
                "metadata": metadata,
            }


def _remarks(
    table: EvaluationTable, timed: Objective | None, counts_tokens: bool
) -> Iterator[str]:
    """Yield a remark per property that the records lack, or hold in another form."""
    card = table.card
    yield "texts of questions and answers are empty: a table has none"
    for objective in card.objectives:
        if objective.transform != "none" and objective is not timed:
            yield (
                f"{objective.name} is written after its transform"
                f" ({objective.transform})"
            )

    if counts_tokens:
        yield "tokens of prompts are marked as not recorded"
    if table.n_free:
        counted = f"each counts as {card.smallest_cost:g} {card.cost.unit}"
        yield f"{table.n_free:,} evaluations may have cost nothing: {counted}"

    options = f"--profiling {card.split.profiling} --seed {card.split.seed}"
    if card.split.instances is None:
        yield f"the split is not written: an import makes it again with {options}"
    else:
        yield (
            "the split is not written: it was chosen before the evaluations, and an"
            " import makes another"
        )
