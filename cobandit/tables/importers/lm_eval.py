"""Logs of EleutherAI's lm-evaluation-harness, as ``lm_eval --log_samples --output_path`` writes them.

A run of one model writes ``results_<date>.json`` and, for each task, ``samples_<task>_<date>.jsonl``.  A line
of the latter is one document under one *filter* (a way to extract the answer), with each metric's value as a
top-level key; a task with several filters has several lines a document.  Lines name their filter and metrics
since August 2024; older ones are refused.  The log has neither tokens nor times: tokens are counted here, and
there is no efficiency objective.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import ConfigDict, Field, JsonValue

from cobandit.faults import stop
from cobandit.tables.card import Cost
from cobandit.tables.importers import logs
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, importer
from cobandit.tables.safe_reading import Record, find_files, parse, plain_text, read_lines
from cobandit.tables.token_counts import make_token_counter

_NOT_METRICS = ("doc", "target", "filtered_resps", "prompt_hash", "target_hash")
_NAMES_OF_A_MODEL = ("peft", "delta", "pretrained", "model", "path", "engine")


class LmEvalOptions(LogOptions):
    """Options of ``cobandit import lm-eval``."""

    filter: str | None = Field(None, description="The filter to take, where a task has several.")
    tokenizer: Path | None = Field(None, description="A tokenizer.json (default: characters / 4).")


class _Results(Record):
    """What is used of ``results_<date>.json``."""

    model_name: str | None = None
    config: dict[str, JsonValue] = Field(default_factory=dict)
    configs: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    documents: dict[str, dict[str, JsonValue] | None] | None = Field(None, alias="n-samples")
    shots: dict[str, JsonValue] = Field(alias="n-shot", default_factory=dict)
    higher_is_better: dict[str, dict[str, bool | None]] = Field(default_factory=dict)
    system_instruction: str | None = None
    chat_template_sha: str | None = None


class _Line(Record):
    """One line of ``samples_<task>_<date>.jsonl``; the values of its metrics are among the extra keys."""

    model_config = ConfigDict(extra="allow")

    doc_id: int | str
    doc_hash: str
    filter: str
    metrics: list[str]
    arguments: dict[str, Annotated[dict[str, JsonValue], Field(min_length=1)]]
    resps: list[list[JsonValue]]

    @property
    def scores(self) -> dict[str, Any]:
        """Values of the metrics."""
        extra = self.model_extra or {}
        return {name: extra[name] for name in self.metrics if name in extra}

    @property
    def requests(self) -> list[list[JsonValue]]:
        """What was asked: each a prompt and its continuation or generation settings."""
        return [list(request.values()) for request in self.arguments.values()]


@importer("lm-eval", LmEvalOptions)
def read_logs(paths: Sequence[Path], options: LmEvalOptions, notes: Notes) -> ImportResult:
    """Logs of EleutherAI's lm-evaluation-harness, run with --log_samples.

    Parameters
    ----------
    paths : sequence of Path
        Files ``samples_<task>_<date>.jsonl``, or folders that hold them, each next to its ``results`` file.
    options : LmEvalOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file is damaged or none of the harness, or a choice (task, filter, metric) has to be made.
    """
    files = find_files(paths, ["samples_*_*.jsonl"], "samples of the harness")
    tasks, files = logs.choose_tasks(options, {file: _task(file) for file in files}, notes)
    parsed = logs.read_each(files, _log, notes)
    filters = _filters(options.filter, parsed)
    scored = [
        (_task(file), line.scores if line.filter == filters[_task(file)] else ())
        for file, log in parsed.items()
        for _, line in log.lines
    ]
    metrics = logs.choose_metrics("metric", options.metric, scored)
    if not options.compare_tasks:
        _compare_documents(parsed)
    tokens = make_token_counter(options.tokenizer)
    reader = ScoreReader(options.word)

    runs = []
    for file, (lines, results, settings) in parsed.items():
        task, filter_, wanted = _task(file), filters[_task(file)], metrics.of[_task(file)]
        better = results.higher_is_better.get(task, {})
        if lower := [name for name in wanted if better.get(name) is False]:
            stop(file, f"the harness says that a lower {lower[0]} is better", "choose another with --metric")
        day, _, time = _date(file).partition("T")
        when = logs.find_begin(f"{day}T{time.replace('-', ':')}")
        run = logs.LoggedRun(str(file), task, settings, when=when)
        held = len({line.doc_id for _, line in lines if line.filter == filter_})
        notes.compare(file, held, ((results.documents or {}).get(task) or {}).get("effective"))
        for where, line in lines:
            if line.filter != filter_:
                run.left_out[f"lines of the filter {line.filter!r}"] += 1
            elif missing := [name for name in wanted if name not in line.scores]:
                run.left_out[f"lines without {missing[0]}"] += 1
            else:
                instance = plain_text(line.doc_id, where, "the doc_id")
                scores = tuple(reader.read(line.scores[name], name) for name in wanted)
                cost = sum(map(tokens.count, _answers(line, where, options.count == "all")))
                prompt = sum(tokens.count(_text(request[0])) for request in line.requests)
                run.evaluations.append(logs.Evaluation(instance, scores, cost, prompt=prompt))
        runs.append(run)
    notes.logs += reader.unknown_words()
    unit = Cost(column="tokens", unit=tokens.unit)
    measured = {"filters": filters, "tokens": options.count}
    return logs.combine(runs, tasks, metrics, unit, options, notes, "lm-evaluation-harness logs", measured)


class _Log(NamedTuple):
    lines: list[tuple[str, _Line]]
    results: _Results
    settings: dict[str, Any]


def _filters(wanted: str | None, parsed: Mapping[Path, _Log]) -> dict[str, str]:
    """The filter of each task: the wanted one where there are several, else the only one."""
    found: dict[str, set[str]] = {}
    for file, log in parsed.items():
        found.setdefault(_task(file), set()).update(line.filter for _, line in log.lines)
    if wanted is not None:
        logs.choose("filter", wanted, set().union(*found.values()), "--filter")
    return {
        task: logs.choose("filter", wanted if len(names) > 1 else None, names, "--filter")
        for task, names in found.items()
    }


def _log(file: Path) -> _Log:
    results, lines = _results(file), []
    for where, content in read_lines(file):
        line = parse(_Line, content, where)
        for key in _NOT_METRICS:  # the documents would fill the memory
            (line.model_extra or {}).pop(key, None)
        lines.append((where, line))
    return _Log(lines, results, _settings(file, _task(file), results))


def _compare_documents(parsed: Mapping[Path, _Log]) -> None:
    """Refuse logs that have other documents under the same ``doc_id``, as versions of a task may."""
    known: dict[tuple[str, int | str], tuple[str, Path]] = {}
    for file, log in parsed.items():
        for _, line in log.lines:
            before, first = known.setdefault((_task(file), line.doc_id), (line.doc_hash, file))
            if line.doc_hash != before:
                problem = f"by its doc_hash, document {line.doc_id!r} is another one than in {first}"
                stop(file, problem, "leave out the runs of another version of the task")


def _task(file: Path) -> str:
    return file.stem.removeprefix("samples_").rpartition("_")[0]


def _date(file: Path) -> str:
    return file.stem.rpartition("_")[2]


def _results(file: Path) -> _Results:
    """Read the results file of the same run: the one next to the samples that ends in the same date."""
    date = _date(file)
    found = [path for path in sorted(file.parent.iterdir()) if path.name.endswith(f"_{date}.json")]
    if len(found) != 1:
        problem = f"results_{date}.json, which names the model, is next to it {len(found)} times"
        stop(file, problem, "put that one file next to the samples")
    return parse(_Results, found[0])


def _settings(file: Path, task: str, results: _Results) -> dict[str, Any]:
    """Collect what the harness says of the configuration: the model, its arguments, generation, prompt."""
    arguments = _arguments(results.config.get("model_args"))
    return logs.collect_settings(
        f"{file}, its results file",
        results.model_name or results.config.get("model"),
        {key: value for key, value in arguments.items() if key not in _NAMES_OF_A_MODEL},
        _arguments(results.configs.get(task, {}).get("generation_kwargs")),
        _arguments(results.config.get("gen_kwargs")),
        {
            "num_fewshot": results.shots.get(task),
            "system_instruction": results.system_instruction,
            "chat_template": results.chat_template_sha,
        },
    )


def _arguments(given: JsonValue) -> dict[str, Any]:
    """Arguments as a dictionary; the command line's are logged as ``key=value,key=value``."""
    if isinstance(given, dict):
        return dict(given)
    pairs = (part.split("=", 1) for part in str(given).split(",") if "=" in part)
    return {key.strip(): _value(value.strip()) for key, value in pairs}


def _value(text: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _answers(line: _Line, where: str, given: bool) -> list[str]:
    """Texts that the model generated, or, if these are to be counted, the given ones that it rated."""
    if all(len(request) > 1 and isinstance(request[1], dict) for request in line.requests):
        return [_text(text) for responses in line.resps for text in responses]
    if not given:
        problem = "the model only rated given answers here, so nothing was generated"
        stop(where, problem, "count prompts and answers with --count all")
    return [_text(part) for request in line.requests for part in request[1:2]]


def _text(part: JsonValue) -> str:
    """Text of a prompt; a chat is logged as a list of messages."""
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
