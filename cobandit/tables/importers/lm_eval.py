"""Logs of EleutherAI's lm-evaluation-harness, as ``lm_eval --log_samples --output_path`` writes them.

A run of one model writes ``results_<date>.json`` and, for each task, ``samples_<task>_<date>.jsonl``.  A line
of the latter is one document under one *filter* (a way to extract the answer), with each metric's value as a
top-level key; a task with several filters has several lines a document.  The log has neither tokens nor
times: tokens are counted here, and there is no efficiency objective.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, JsonValue

from cobandit.faults import stop
from cobandit.tables.card import Cost
from cobandit.tables.importers.logs import (
    Evaluation,
    LoggedRun,
    choose,
    choose_metrics,
    choose_tasks,
    collect_settings,
    combine,
    finite,
    is_number,
    read_each,
)
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, importer
from cobandit.tables.prices import TokenCounter, make_token_counter
from cobandit.tables.safe_reading import Record, find_files, parse, plain_text, read_bytes, read_lines

_NOT_METRICS = ("doc", "target", "filtered_resps", "prompt_hash", "target_hash")
_NAMES_OF_A_MODEL = ("peft", "delta", "pretrained", "model", "path", "engine")


class LmEvalOptions(LogOptions):
    """Options of ``cobandit import lm-eval``."""

    filter: str | None = Field(None, description="The filter to take, where a task has several.")
    tokenizer: Path | None = Field(
        None, description="A tokenizer.json to count tokens with (default: characters / 4)."
    )


class _Results(Record):
    """What is used of ``results_<date>.json``."""

    model_name: str | None = None
    config: dict[str, JsonValue] | None = None
    configs: dict[str, dict[str, JsonValue]] | None = None
    shots: dict[str, JsonValue] | None = Field(None, alias="n-shot")
    documents: dict[str, dict[str, JsonValue]] | None = Field(None, alias="n-samples")
    higher_is_better: dict[str, dict[str, bool | None]] | None = None
    system_instruction: str | None = None
    chat_template_sha: str | None = None


class _Line(Record):
    """One line of ``samples_<task>_<date>.jsonl``; the values of its metrics are among the extra keys."""

    model_config = ConfigDict(extra="allow")

    doc_id: int | str
    doc_hash: str | int | None = None
    filter: str = "none"
    metrics: list[str] | None = None
    arguments: JsonValue = None
    resps: list[JsonValue] = Field(default_factory=list)

    @property
    def scores(self) -> dict[str, Any]:
        """Metrics of the line; lines written before 2024-08 do not list them, there every number counts."""
        extra = self.model_extra or {}
        if self.metrics is not None:
            return {name: extra[name] for name in self.metrics if name in extra}
        return {key: value for key, value in extra.items() if is_number(value)}


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
    tasks, files = choose_tasks(options, {file: _task(file) for file in files}, notes)
    logs = read_each(files, _log, notes)
    filters = _filters(options.filter, logs)
    scored = [
        (_task(file), line.scores if line.filter == filters[_task(file)] else ())
        for file, log in logs.items()
        for _, line in log.lines
    ]
    metrics = choose_metrics("metric", options.metric, scored)
    _compare_documents(logs, options.compare_tasks, notes)
    tokens = make_token_counter(options.tokenizer)

    runs = []
    for file, (lines, results, settings) in logs.items():
        task, filter_, wanted = _task(file), filters[_task(file)], metrics.of[_task(file)]
        better = (results.higher_is_better or {}).get(task) or {}
        if lower := [name for name in wanted if better.get(name) is False]:
            stop(file, f"the harness says that a lower {lower[0]} is better", "choose another with --metric")
        run = LoggedRun(str(file), task, settings, when=_when(file))
        held = len({line.doc_id for _, line in lines if line.filter == filter_})
        notes.compare(file, held, ((results.documents or {}).get(task) or {}).get("effective"))
        for where, line in lines:
            if line.filter != filter_:
                run.left_out[f"lines of the filter {line.filter!r}"] += 1
            elif missing := [name for name in wanted if name not in line.scores]:
                run.left_out[f"lines without {missing[0]}"] += 1
            else:
                instance = plain_text(line.doc_id, where, "the doc_id")
                found = tuple(finite(line.scores[name], where, f"the metric {name}") for name in wanted)
                cost = _tokens(line, where, tokens, options.count == "all")
                prompts = (tokens.count(_text(request[0])) for request in _requests(line.arguments))
                prompt = sum(prompts) if options.count == "generated" else None
                run.evaluations.append(Evaluation(instance, found, cost, prompt=prompt))
        runs.append(run)
    named = ", ".join(set(filters.values()))
    if len(set(filters.values())) > 1:
        named = ", ".join(f"{filter_} of {task}" for task, filter_ in sorted(filters.items()))
    counted = "the responses" if options.count == "generated" else "prompts and responses"
    notes.remarks += [
        f"{', '.join(metrics.objectives)}: {metrics}, of filter {named!r}, {', '.join(tasks)}",
        f"cost: {tokens.unit} of {counted}, counted here: the logs do not have them",
    ]
    what = f"{', '.join(tasks)}, {metrics}, filter {named}; tokens of {counted}"
    unit = Cost(column="tokens", unit=tokens.unit)
    measured = {"tasks": tasks, "metrics": metrics.of, "filters": filters, "tokens": options.count}
    source = f"lm-evaluation-harness logs: {what}"
    return combine(runs, metrics.objectives, unit, options, notes, source, measured)


class _Log(NamedTuple):
    lines: list[tuple[str, _Line]]
    results: _Results
    settings: dict[str, Any]


def _filters(wanted: str | None, logs: Mapping[Path, _Log]) -> dict[str, str]:
    """The filter of each task: the wanted one where there are several, else the only one."""
    found: dict[str, set[str]] = {}
    for file, log in logs.items():
        found.setdefault(_task(file), set()).update(line.filter for _, line in log.lines)
    if wanted is not None:
        choose("filter", wanted, set().union(*found.values()), "the logs", "--filter")
    return {
        task: choose("filter", wanted if len(names) > 1 else None, names, "the logs", "--filter")
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


def _compare_documents(logs: dict[Path, _Log], across: bool, notes: Notes) -> None:
    """Refuse logs that have other documents under the same ``doc_id``, as versions of a task may.

    Tasks that are compared are known to differ: there it is a remark.
    """
    files: defaultdict[tuple[str, int | str], dict[str | int, Path]] = defaultdict(dict)
    for file, log in logs.items():
        for _, line in log.lines:
            if line.doc_hash is not None:
                place = ("" if across else _task(file), line.doc_id)
                files[place].setdefault(line.doc_hash, file)
    differing = {doc_id: [*found.values()] for (_, doc_id), found in files.items() if len(found) > 1}
    if not differing:
        return
    problem = f"{len(differing)} documents differ under the same doc_id"
    if across:
        notes.remarks.append(f"note: {problem} between the tasks (by doc_hash)")
        return
    doc_id, (first, file, *_) = next(iter(differing.items()))
    remedy = "compare runs on the same documents: leave out those of another version of the task"
    stop(file, f"{problem}: by its doc_hash, {doc_id!r} is another one in {first}", remedy)


def _task(file: Path) -> str:
    return file.stem.removeprefix("samples_").rpartition("_")[0]


def _when(file: Path) -> float:
    """Seconds since 1970 of the date in the name, as if it were in UTC; 0 if it is none."""
    try:
        time = datetime.strptime(file.stem.rpartition("_")[2], "%Y-%m-%dT%H-%M-%S.%f")
    except ValueError:
        return 0.0
    return time.replace(tzinfo=UTC).timestamp()


def _results(file: Path) -> _Results:
    """Read the results file of the same run: the one next to the samples that ends in the same date."""
    date = file.stem.rpartition("_")[2]
    found = [path for path in sorted(file.parent.iterdir()) if path.name.endswith(f"_{date}.json")]
    if len(found) != 1:
        there = ", ".join(path.name for path in found) or "none"
        problem = f"the model is named in the run's results_{date}.json next to it, of which there is {there}"
        stop(file, problem, "put that one file next to the samples")
    return parse(_Results, read_bytes(found[0]), found[0])


def _settings(file: Path, task: str, results: _Results) -> dict[str, Any]:
    """Collect what the harness says of the configuration: the model, its arguments, generation, prompt."""
    config = results.config or {}
    arguments = _arguments(config.get("model_args"))
    named = next((arguments[name] for name in _NAMES_OF_A_MODEL if arguments.get(name)), None)
    model = results.model_name or named or config.get("model")
    details = (results.configs or {}).get(task) or {}
    generation = details.get("generation_kwargs")
    prompt = {
        "num_fewshot": (results.shots or {}).get(task, details.get("num_fewshot")),
        "system_instruction": results.system_instruction,
        "chat_template": results.chat_template_sha,
    }
    rest = {key: value for key, value in arguments.items() if key not in _NAMES_OF_A_MODEL}
    generation = generation if isinstance(generation, dict) else {}
    return collect_settings(
        f"{file}, its results file", model, rest, generation, _arguments(config.get("gen_kwargs")), prompt
    )


def _arguments(given: JsonValue) -> dict[str, Any]:
    """Arguments as a dictionary; older versions log them as the command line's ``key=value,key=value``."""
    if isinstance(given, dict):
        return dict(given)
    if not isinstance(given, str):
        return {}
    pairs = (part.split("=", 1) for part in given.split(",") if "=" in part)
    return {key.strip(): _value(value.strip()) for key, value in pairs}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _tokens(line: _Line, where: str, tokens: TokenCounter, prompts: bool) -> float:
    """Count what the document cost: its responses, with its prompts if these are to be counted."""
    requests = _requests(line.arguments)
    responses = [
        text for request in line.resps for text in (request if isinstance(request, list) else [request])
    ]
    generates = bool(requests) and all(
        len(request) > 1 and isinstance(request[1], dict) for request in requests
    )
    if not generates and not prompts:
        problem = "the model only rated given answers here, so nothing was generated"
        stop(where, problem, "count prompts and answers with --count all")
    texts = [_text(request[0]) for request in requests] if prompts else []
    if generates:
        if not all(isinstance(text, str) for text in responses) or not responses:
            stop(where, "its resps are not text", "check that this is a log of the harness")
        texts += [str(text) for text in responses]
    else:
        texts += [_text(part) for request in requests for part in request[1:2]]
    if not texts:
        stop(where, "there are no requests to count the tokens of", "run it again with --log_samples")
    return float(sum(tokens.count(text) for text in texts))


def _requests(arguments: JsonValue) -> list[list[JsonValue]]:
    """Requests of a document, each a prompt and its continuation or generation settings."""
    if isinstance(arguments, dict):  # {"gen_args_0": {"arg_0": prompt, "arg_1": ...}, ...}
        arguments = [list(request.values()) for request in arguments.values() if isinstance(request, dict)]
    requests = arguments if isinstance(arguments, list) else []
    return [request for request in requests if isinstance(request, list) and request]


def _text(part: JsonValue) -> str:
    """Text of a prompt; a chat is logged as a list of messages."""
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
