"""Content of files in the format of Every Eval Ever 0.3, from the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from cobandit.tables.card import Objective
from cobandit.tables.table import EvaluationTable

#: Version of the schema.
SCHEMA = "0.3.0"

# Keys in the details of a model and of an instance that an import reads back.
CONFIGURATION = "cobandit_configuration"
COST = "cost"
UNIT = "cost_unit"
PROMPT = "input_tokens"
NOT_RECORDED = "not recorded"

#: Settings for which the schema has numeric fields.
GENERATION = ("temperature", "top_p", "top_k", "max_tokens")


class TableRows(NamedTuple):
    """Rows of a table, prepared for the export to Every Eval Ever."""

    #: The table.
    table: EvaluationTable
    #: Rows with the objectives as scores in [0, 1].
    scores: pd.DataFrame
    #: The same rows with the measured values.
    measured: pd.DataFrame
    #: Objectives that are written as metrics.
    metrics: list[Objective]
    #: Objective that is written as seconds, if there is one.
    latency: Objective | None
    #: Whether costs are written as tokens.
    counts_tokens: bool

    def take(self, mask: np.ndarray) -> TableRows:
        """Return the rows that a mask selects."""
        return self._replace(scores=self.scores[mask], measured=self.measured[mask])

    def score_type(self, metric: Objective) -> Literal["binary", "continuous"]:
        """Return the type of a metric: ``"binary"`` if all scores are 0 or 1."""
        scores = self.scores[metric.name]
        is_binary = metric.transform == "none" and scores.isin([0.0, 1.0]).all()
        return "binary" if is_binary else "continuous"


def describe_result(
    rows: TableRows,
    objective: Objective,
    settings: pd.Series,
    score_type: Literal["binary", "continuous"],
) -> dict[str, Any]:
    """Return the result of a configuration in one objective, in the export's format.

    It consists of the metric, the mean score and the generation settings.

    Parameters
    ----------
    rows : TableRows
        Rows of the configuration.
    objective : Objective
    settings : Series
        Descriptive columns of the configuration.
    score_type : {"binary", "continuous"}
    """
    table = rows.table
    scores = rows.scores[objective.name]
    details = {"column": objective.column}
    if objective.transform != "none":
        best, worst = table.limits[objective.name]
        details |= {
            "transform": objective.transform,
            "scores_1": repr(best),
            "scores_0": repr(worst),
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
        "generation_config": _describe_generation(settings),
    }


def _describe_generation(settings: pd.Series) -> dict[str, Any]:
    """Return settings in `GENERATION` as numbers, and all other settings as text."""
    values = {
        str(name): value
        for name, value in settings.items()
        if name != "model" and pd.notna(value)
    }
    arguments = {}
    for name in GENERATION:
        number = _plain_number(values.get(name))
        if number is not None:
            arguments[name] = number
    details = {
        name: str(value) for name, value in values.items() if name not in arguments
    }
    return {"generation_args": arguments, "additional_details": details}


def _plain_number(value: Any) -> int | float | None:
    """Return a number that JSON can store; None for any other value."""
    is_truth_value = isinstance(value, (bool, np.bool_))
    if is_truth_value or not isinstance(value, (int, float, np.number)):
        return None
    return int(value) if float(value).is_integer() else float(value)


def list_lines(rows: TableRows, head: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a configuration's instances, one per instance and metric.

    Parameters
    ----------
    rows : TableRows
        Rows of the configuration.
    head : dict
        Fields of every line.
    """
    table = rows.table
    for row, instance in enumerate(rows.measured["instance"]):
        measured = rows.measured.iloc[row]
        details = _describe_instance(rows, measured)
        for objective in rows.metrics:
            score = float(rows.scores[objective.name].iloc[row])
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
                **details,
            }


def _describe_instance(rows: TableRows, measured: pd.Series) -> dict[str, Any]:
    """Return cost, tokens, seconds and cluster of one evaluation."""
    card = rows.table.card
    cost = float(measured[card.cost.column])
    metadata = {COST: repr(cost), UNIT: card.cost.unit}
    fields: dict[str, Any] = {}
    if rows.counts_tokens:
        tokens = int(cost)
        fields["token_usage"] = {
            "input_tokens": 0,
            "output_tokens": tokens,
            "total_tokens": tokens,
        }
        metadata[PROMPT] = NOT_RECORDED
    if rows.latency is not None:
        seconds = float(measured[rows.latency.column])
        fields["performance"] = {"latency_ms": 1000 * seconds}
    if card.cluster is not None:
        metadata[card.cluster] = str(measured[card.cluster])
    return fields | {"metadata": metadata}
