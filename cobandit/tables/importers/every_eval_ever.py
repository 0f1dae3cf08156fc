"""Records of Every Eval Ever: an evaluation's JSON file, and a JSON Lines file of its instances.

A line of the latter is one instance under one metric: ``sample_id``, ``evaluation.score``, ``token_usage``
and ``performance.latency_ms``.  ``evaluation_id`` leads to the evaluation's JSON file, which has the model,
how it generated, and of each metric its name, its range and whether lower is better.  Versions 0.2 and 0.3 of
the schema are read.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import isfinite, nan
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from cobandit.faults import TableError, stop
from cobandit.tables.card import Cost
from cobandit.tables.every_eval_export import CONFIGURATION, COST, NOT_RECORDED, PROMPT, UNIT
from cobandit.tables.importers import logs
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, RepeatOptions, importer
from cobandit.tables.safe_reading import Record, find_files, parse, plain_text, read_lines

#: Details of a model that are the same in all of its configurations, or name one.
_OF_THE_MODEL = (CONFIGURATION, "deployment_type", "model_availability")


class EveryEvalEverOptions(LogOptions, RepeatOptions):
    """Options of ``cobandit import every-eval-ever``."""


class _Metric(Record):
    metric_id: str | None = None
    metric_name: str | None = None
    lower_is_better: bool = False
    min_score: float | None = None
    max_score: float | None = None
    has_unknown_level: bool = False

    @property
    def name(self) -> str:
        return self.metric_name or self.metric_id or "score"

    @property
    def is_bounded(self) -> bool:
        known = self.min_score is not None and self.max_score is not None
        return known and isfinite(self.min_score) and isfinite(self.max_score)  # type: ignore[arg-type]


class _Generation(Record):
    generation_args: dict[str, JsonValue] = Field(default_factory=dict)
    additional_details: dict[str, JsonValue] | None = None


class _Result(Record):
    evaluation_result_id: str | None = None
    evaluation_name: str
    metric_config: _Metric = _Metric()
    generation_config: _Generation = _Generation()


class _Model(Record):
    id: str
    additional_details: dict[str, JsonValue] | None = None


class _Evaluation(Record):
    evaluation_id: str
    evaluation_timestamp: str | None = None
    model_info: _Model
    evaluation_results: list[_Result] = Field(default_factory=list)
    detailed_evaluation_results: dict[str, JsonValue] | None = None

    def find_metric(self, line: "_Line") -> _Metric:
        """Find the metric that a line is about."""
        for result in self.evaluation_results:
            if line.evaluation_result_id and result.evaluation_result_id == line.evaluation_result_id:
                return result.metric_config
        for result in self.evaluation_results:
            if result.evaluation_name == line.evaluation_name:
                return result.metric_config
        return _Metric()

    @property
    def configuration(self) -> str | None:
        """Name of the configuration, where cobandit wrote the record."""
        name = (self.model_info.additional_details or {}).get(CONFIGURATION)
        return name if isinstance(name, str) else None

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        """Descriptions of model and generation, the latter last; details are text, also those of numbers."""
        generated = [result.generation_config for result in self.evaluation_results[:1]]
        details = [
            self.model_info.additional_details or {},
            *(config.additional_details or {} for config in generated),
        ]
        return [
            *(
                {name: _read_detail(value) for name, value in each.items() if name not in _OF_THE_MODEL}
                for each in details
            ),
            *(config.generation_args for config in generated),
        ]


class _Score(Record):
    score: JsonValue = None
    is_correct: bool | None = None


class _Usage(Record):
    input_tokens: float | None = None
    output_tokens: float | None = None


class _Performance(Record):
    latency_ms: float | None = None


class _Line(Record):
    evaluation_id: str
    model_id: str
    evaluation_name: str
    evaluation_result_id: str | None = None
    sample_id: str | int
    evaluation: _Score
    token_usage: _Usage | None = None
    performance: _Performance | None = None
    error: str | None = None
    metadata: dict[str, JsonValue] | None = None

    @property
    def recorded_cost(self) -> tuple[float, str] | None:
        """Cost and its unit, where cobandit wrote the record."""
        cost, unit = (self.metadata or {}).get(COST), (self.metadata or {}).get(UNIT)
        return (float(cost), unit) if isinstance(cost, str) and isinstance(unit, str) else None


@importer("every-eval-ever", EveryEvalEverOptions)
def read_logs(paths: Sequence[Path], options: EveryEvalEverOptions, notes: Notes) -> ImportResult:
    """Records of Every Eval Ever, with instances (JSON and JSON Lines).

    Parameters
    ----------
    paths : sequence of Path
        Files of instances, or folders that hold them, each with the JSON file of its evaluation.
    options : EveryEvalEverOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file is damaged or none of this format, a lower score is better, or a choice (task, metric) has
        to be made.
    """
    files = find_files(paths, ["*.jsonl"], "instances of Every Eval Ever")
    evaluations = _find_evaluations(files)
    parsed = logs.read_each(files, _read_lines, notes)
    parsed = {key: lines for file in parsed for key, lines in _by_evaluation(file, parsed[file]).items()}
    task_of = {key: lines[0].evaluation_name for key, lines in parsed.items()}
    tasks, keys = logs.choose_tasks(options, task_of, notes)

    metric_of = {
        (key, line.evaluation_result_id): evaluations[line.evaluation_id].find_metric(line)
        if line.evaluation_id in evaluations
        else _Metric()
        for key in keys
        for line in parsed[key]
    }
    scored = [(task_of[key], [metric.name]) for (key, _), metric in metric_of.items()]
    exported = all(line.evaluation_id in evaluations for key in keys for line in parsed[key][:1]) and all(
        evaluations[parsed[key][0].evaluation_id].configuration for key in keys
    )
    names = dict.fromkeys(metric.name for metric in metric_of.values())
    metrics = logs.choose_metrics("metric", options.metric or (tuple(names) if exported else ()), scored)
    if exported and len(metrics.objectives) == 1:
        metrics = metrics._replace(objectives=metrics.of[task_of[keys[0]]])
    options = _with_ranges(options, metrics, task_of, metric_of)
    reader = ScoreReader(options.word)

    runs = []
    for key in keys:
        first = parsed[key][0]
        evaluation = evaluations.get(first.evaluation_id)
        described = evaluation.settings if evaluation else []
        settings = logs.collect_settings(key, first.model_id, *described)
        timestamp = (evaluation and evaluation.evaluation_timestamp) or ""
        run = logs.LoggedRun(
            str(key),
            task_of[key],
            settings,
            when=logs.find_begin(timestamp),
            name=evaluation.configuration if evaluation else None,
        )
        wanted = metrics.of[task_of[key]]
        for (sample, repeat), lines in _by_sample(parsed[key]).items():
            scores = {metric_of[key, line.evaluation_result_id].name: line.evaluation for line in lines}
            if any(line.error for line in lines):
                run.left_out["instances that ended in an error"] += 1
            elif not scores.keys() >= set(wanted):
                run.left_out[f"instances without {', '.join(sorted(set(wanted) - scores.keys()))}"] += 1
            else:
                run.evaluations.append(
                    logs.Evaluation(
                        plain_text(sample, key, "the sample_id"),
                        tuple(_read_score(reader, scores[name], name) for name in wanted),
                        *_cost(lines[0], exported),
                        repeat=f"repeat {repeat}",
                    )
                )
        runs.append(run)
    notes.logs += reader.unknown_words()
    recorded = {line.recorded_cost for key in keys for line in parsed[key]}
    units = {None if cost is None else cost[1] for cost in recorded}
    unit = units.pop() if len(units) == 1 else None
    paid = Cost(column="tokens", unit="tokens") if unit is None else Cost(column="cost", unit=unit)
    measured = {"tokens": options.count}
    return logs.combine(runs, tasks, metrics, paid, options, notes, "Every Eval Ever records", measured)


def _find_evaluations(files: Iterable[Path]) -> dict[str, _Evaluation]:
    """Read the evaluations' JSON files next to files of instances, by their identifiers."""
    evaluations = {}
    for folder in sorted({file.parent for file in files}):
        for path in sorted(folder.glob("*.json")):
            try:
                evaluation = parse(_Evaluation, path)
            except TableError:
                continue  # another JSON file
            evaluations[evaluation.evaluation_id] = evaluation
    return evaluations


def _read_lines(file: Path) -> list[_Line]:
    return [parse(_Line, content, where) for where, content in read_lines(file)]


def _by_evaluation(file: Path, lines: Iterable[_Line]) -> dict[Path, list[_Line]]:
    """Group the lines of a file by evaluation and task, under a path that names both."""
    groups: dict[tuple[str, str], list[_Line]] = {}
    for line in lines:
        groups.setdefault((line.evaluation_id, line.evaluation_name), []).append(line)
    if len(groups) == 1:
        return {file: next(iter(groups.values()))}
    return {file / f"{number}": lines for number, lines in enumerate(groups.values(), 1)}


def _by_sample(lines: Iterable[_Line]) -> dict[tuple[str | int, int], list[_Line]]:
    """Group the lines of one evaluation by sample and repeat; each metric has a line of its own."""
    repeats: Counter[tuple[str | int, str | None]] = Counter()
    groups: dict[tuple[str | int, int], list[_Line]] = {}
    for line in lines:
        metric = line.sample_id, line.evaluation_result_id
        repeats[metric] += 1
        groups.setdefault((line.sample_id, repeats[metric]), []).append(line)
    return groups


def _with_ranges(
    options: EveryEvalEverOptions,
    metrics: logs.Metrics,
    task_of: Mapping[Path, str],
    metric_of: Mapping[tuple[Path, str | None], _Metric],
) -> EveryEvalEverOptions:
    """Add ranges and unknown levels that the evaluations declare to those that the user gave."""
    ranges = []
    no_scores = []
    for (key, _), metric in metric_of.items():
        wanted = metrics.of[task_of[key]]
        if metric.name not in wanted:
            continue
        if metric.lower_is_better:
            stop(key, f"a lower {metric.name} is better", "choose another with --metric")
        objective = metrics.objectives[wanted.index(metric.name) if len(metrics.objectives) > 1 else 0]
        if metric.is_bounded:
            ranges.append(f"{objective}={metric.min_score}:{metric.max_score}")
        if metric.has_unknown_level:
            no_scores.append(f"{objective}=-1")
    return options.model_copy(
        update={
            "range": (*dict.fromkeys(ranges), *options.range),
            "no_score": (*dict.fromkeys(no_scores), *options.no_score),
        }
    )


def _read_score(reader: ScoreReader, evaluation: _Score, metric: str) -> float:
    value = evaluation.is_correct if evaluation.score is None else evaluation.score
    return nan if value is None else reader.read(value, metric)


def _cost(line: _Line, exported: bool) -> tuple[float, float | None, float | None]:
    """Return cost, seconds and tokens of the prompt; the cost is NaN where none was logged."""
    usage = line.token_usage or _Usage()
    latency = (line.performance or _Performance()).latency_ms
    seconds = None if latency is None else latency / 1000
    prompt = None if (line.metadata or {}).get(PROMPT) == NOT_RECORDED else usage.input_tokens
    if exported and line.recorded_cost is not None:
        return line.recorded_cost[0], seconds, prompt
    return nan if usage.output_tokens is None else usage.output_tokens, seconds, prompt


def _read_detail(value: JsonValue) -> JsonValue:
    """Read a number that is written as text; a code such as 007 stays text.

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
