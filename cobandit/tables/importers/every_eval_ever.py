"""The importer of Every Eval Ever: a JSON and a JSON Lines file per evaluation.

A line of the JSON Lines file is one instance under one metric, with ``sample_id``,
``evaluation.score``, ``token_usage`` and ``performance.latency_ms``. ``evaluation_id``
identifies the JSON file, which has the model, its generation settings, and the name,
range and direction of each metric. Versions 0.2 and 0.3 of the format are supported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue

from cobandit.errors import TableError
from cobandit.tables.bounded_files import find_files, read_lines
from cobandit.tables.card import Cost
from cobandit.tables.checked_json import LogRecord, parse_json, plain_text
from cobandit.tables.every_eval_records import (
    CONFIGURATION,
    COST,
    NOT_RECORDED,
    PROMPT,
    UNIT,
)
from cobandit.tables.importers.combining_samples import combine_samples
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions, RepeatOptions
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_choices import collect
from cobandit.tables.importers.log_samples import Log, ModelUse, Sample
from cobandit.tables.importers.log_settings import collect_settings, find_begin
from cobandit.tables.usage import Usage

#: Details of a model that are not settings, because they are the same in all of its
#: configurations, or name a configuration.
_OF_THE_MODEL = (CONFIGURATION, "deployment_type", "model_availability")


class EveryEvalEverOptions(LogOptions, RepeatOptions):
    """Options of ``cobandit import every-eval-ever``."""

    latency: Literal["latency_ms", "none"] = Field(
        "latency_ms",
        description="The time from which efficiency is computed: latency_ms or none.",
    )

    @property
    def takes_own_cost(self) -> bool:
        """Whether costs come from the records, because the user chose no cost."""
        return "cost" not in self.model_fields_set


class _Metric(LogRecord):
    metric_id: str | None = None
    metric_name: str | None = None
    lower_is_better: bool = False
    min_score: float | None = None
    max_score: float | None = None
    has_unknown_level: bool = False

    @property
    def name(self) -> str:
        return self.metric_name or self.metric_id or "score"


class _Generation(LogRecord):
    generation_args: dict[str, JsonValue] = Field(default_factory=dict)
    additional_details: dict[str, JsonValue] | None = None


class _Details(LogRecord):
    score: float | None = None


class _Result(LogRecord):
    evaluation_result_id: str | None = None
    evaluation_name: str
    metric_config: _Metric = _Metric()
    score_details: _Details = _Details()
    generation_config: _Generation = _Generation()


class _Model(LogRecord):
    id: str
    additional_details: dict[str, JsonValue] | None = None


class _Evaluation(LogRecord):
    evaluation_id: str
    evaluation_timestamp: str | None = None
    model_info: _Model
    evaluation_results: list[_Result] = Field(default_factory=list)
    detailed_evaluation_results: dict[str, JsonValue] | None = None

    def find_metric(self, line: "_Line") -> _Metric:
        """Return the metric to which a line belongs."""
        for result in self.evaluation_results:
            if (
                line.evaluation_result_id
                and result.evaluation_result_id == line.evaluation_result_id
            ):
                return result.metric_config
        for result in self.evaluation_results:
            if result.evaluation_name == line.evaluation_name:
                return result.metric_config
        return _Metric()

    def find_means(self, task: str) -> dict[str, float]:
        """Return, by metric, the mean scores that the record states for a task."""
        return {
            result.metric_config.name: result.score_details.score
            for result in self.evaluation_results
            if result.evaluation_name == task and result.score_details.score is not None
        }

    @property
    def configuration(self) -> str | None:
        """Name of the configuration, if cobandit wrote the record."""
        name = (self.model_info.additional_details or {}).get(CONFIGURATION)
        return name if isinstance(name, str) else None

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        """Settings of the model and of generation, as several mappings."""
        generated = [result.generation_config for result in self.evaluation_results[:1]]
        details = [
            self.model_info.additional_details or {},
            *(config.additional_details or {} for config in generated),
        ]
        return [
            *(
                {
                    name: _read_detail(value)
                    for name, value in detail.items()
                    if name not in _OF_THE_MODEL
                }
                for detail in details
            ),
            *(config.generation_args for config in generated),
        ]


class _Score(LogRecord):
    score: JsonValue = None
    is_correct: bool | None = None

    @property
    def value(self) -> JsonValue:
        return self.is_correct if self.score is None else self.score


class _Usage(LogRecord):
    input_tokens: float | None = None
    output_tokens: float | None = None


class _Performance(LogRecord):
    latency_ms: float | None = None


class _Line(LogRecord):
    evaluation_id: str
    model_id: str
    evaluation_name: str
    evaluation_result_id: str | None = None
    sample_id: str | int
    sample_hash: str | None = None
    evaluation: _Score
    token_usage: _Usage | None = None
    performance: _Performance | None = None
    error: str | None = None
    metadata: dict[str, JsonValue] | None = None


@importer("every-eval-ever", EveryEvalEverOptions)
def read_logs(
    paths: Sequence[Path], options: EveryEvalEverOptions, notes: Notes
) -> ImportResult:
    """Read records of Every Eval Ever that list instances (JSON and JSON Lines)."""
    files = find_files(paths, ["*.jsonl"], "instances of Every Eval Ever")
    evaluations = _find_evaluations(files)
    collected = collect(
        files, lambda file: _read(file, evaluations, options), options, notes
    )
    names = (
        {name: None for log in collected for name in log.means}
        if _are_exported(collected)
        else {}
    )
    units = {
        str(sample.fields.get(UNIT)) for log in collected for sample in log.samples
    }
    paid = (
        Cost(column="cost", unit=units.pop())
        if names and options.takes_own_cost
        else None
    )
    measured = options.identify(options.latency)
    return combine_samples(
        collected,
        options,
        notes,
        "Every Eval Ever records",
        measured,
        metric_kind="metric",
        default=tuple(names),
        keep_name=bool(names),
        paid=paid,
    )


def _are_exported(logs: Sequence[Log]) -> bool:
    """Return whether cobandit wrote all these records, with costs in one unit."""
    units = {sample.fields.get(UNIT) for log in logs for sample in log.samples}
    return (
        all(log.configuration for log in logs) and len(units) == 1 and None not in units
    )


def _read(
    file: Path, evaluations: Mapping[str, _Evaluation], options: EveryEvalEverOptions
) -> Iterator[Log]:
    """Read a file of instances, and yield one log per evaluation and task."""
    groups: dict[tuple[str, str], list[_Line]] = {}
    for place, content in read_lines(file):
        line = parse_json(_Line, content, place)
        groups.setdefault((line.evaluation_id, line.evaluation_name), []).append(line)

    for (identifier, task), lines in groups.items():
        evaluation = evaluations.get(identifier)
        metric_of = {
            line.evaluation_result_id: (
                evaluation.find_metric(line) if evaluation else _Metric()
            )
            for line in lines
        }
        metrics = {metric.name: metric for metric in metric_of.values()}
        yield Log(
            str(file),
            task,
            collect_settings(
                file, lines[0].model_id, *(evaluation.settings if evaluation else [])
            ),
            [
                _make_sample(file, together, metric_of, repeat, options)
                for (_, repeat), together in _by_sample(lines).items()
            ],
            began=find_begin((evaluation and evaluation.evaluation_timestamp) or ""),
            configuration=evaluation.configuration if evaluation else None,
            means=evaluation.find_means(task) if evaluation else {},
            lower=[name for name, metric in metrics.items() if metric.lower_is_better],
            ranges={
                name: (metric.min_score, metric.max_score)
                for name, metric in metrics.items()
                if metric.min_score is not None
                and metric.max_score is not None
                and isfinite(metric.min_score)
                and isfinite(metric.max_score)
            },
            no_scores={
                name: -1 for name, metric in metrics.items() if metric.has_unknown_level
            },
        )


def _make_sample(
    file: Path,
    lines: Sequence[_Line],
    metric_of: Mapping[str | None, _Metric],
    repeat: int,
    options: EveryEvalEverOptions,
) -> Sample:
    """Make a sample from its lines, one per metric."""
    first = lines[0]
    fields = first.metadata or {}
    cost = fields.get(COST)
    latency = (first.performance or _Performance()).latency_ms
    usage = first.token_usage
    prompt = (
        0
        if usage is None or fields.get(PROMPT) == NOT_RECORDED
        else usage.input_tokens or 0
    )

    return Sample(
        plain_text(first.sample_id, file, "the sample_id"),
        {
            metric_of[line.evaluation_result_id].name: line.evaluation.value
            for line in lines
        },
        (
            ()
            if usage is None or usage.output_tokens is None
            else (ModelUse(first.model_id, Usage(prompt, 0, usage.output_tokens)),)
        ),
        None if latency is None or options.latency == "none" else latency / 1000,
        f"repeat {repeat}",
        (
            "instances that ended in an error"
            if any(line.error for line in lines)
            else None
        ),
        first.sample_hash,
        fields,
        cost=float(cost) if isinstance(cost, str) and UNIT in fields else None,
    )


def _find_evaluations(files: Iterable[Path]) -> dict[str, _Evaluation]:
    """Read the JSON files next to files of instances, by evaluation identifier."""
    evaluations = {}
    for folder in sorted({file.parent for file in files}):
        for path in sorted(folder.glob("*.json")):
            try:
                evaluation = parse_json(_Evaluation, path)
            except TableError:
                continue  # a JSON file of another kind
            evaluations[evaluation.evaluation_id] = evaluation
    return evaluations


def _by_sample(lines: Iterable[_Line]) -> dict[tuple[str | int, int], list[_Line]]:
    """Group an evaluation's lines, with one metric each, by sample and repeat."""
    repeats: Counter[tuple[str | int, str | None]] = Counter()
    groups: dict[tuple[str | int, int], list[_Line]] = {}
    for line in lines:
        metric = line.sample_id, line.evaluation_result_id
        repeats[metric] += 1
        groups.setdefault((line.sample_id, repeats[metric]), []).append(line)
    return groups


def _read_detail(value: JsonValue) -> JsonValue:
    """Convert a number that is written as text; a code such as 007 remains text.

    Examples
    --------
    >>> _read_detail("0.5"), _read_detail("5"), _read_detail("007"), _read_detail("1e5")
    (0.5, 5, '007', '1e5')
    """
    for kind in (int, float):
        with suppress(TypeError, ValueError):
            if str(kind(value)) == value:  # type: ignore[arg-type]
                return kind(value)
    return value
