"""The importer of EleutherAI's lm-evaluation-harness, for ``lm_eval --log_samples``.

A run of one model writes ``results_<date>.json`` and, for each task,
``samples_<task>_<date>.jsonl``. A line of the samples is one document under one
*filter* (a way to extract the answer), with each metric as a top-level key. A
task with several filters has several lines per document. Logs from before August 2024
are rejected, because their lines do not name the filter and the metrics. Logs have
neither numbers of tokens nor times, so tokens are counted here, and there is no
efficiency objective.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from cobandit.errors import raise_fault
from cobandit.tables.bounded_files import find_files, read_lines
from cobandit.tables.card import EMPTY
from cobandit.tables.checked_json import LogRecord, parse_json, plain_text
from cobandit.tables.importers.combining_samples import combine_samples
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_choices import choose, collect
from cobandit.tables.importers.log_samples import Log, ModelUse, Sample
from cobandit.tables.importers.log_settings import collect_settings, find_begin
from cobandit.tables.token_counts import TokenCounter, make_token_counter
from cobandit.tables.usage import Usage

_NAMES_OF_A_MODEL = ("peft", "delta", "pretrained", "model", "path", "engine")


class LmEvalOptions(LogOptions):
    """Options of ``cobandit import lm-eval``."""

    cost: Literal["tokens", "usd", "none"] = Field(
        "tokens",
        description=(
            "The cost: tokens, counted from the text; usd, by current prices; or"
            " none, so that every evaluation costs 1."
        ),
    )
    filter: str | None = Field(
        None, description="The filter to import, if a task has several."
    )
    tokenizer: Path | None = Field(
        None,
        description="A tokenizer.json to count tokens with (default: characters / 4).",
    )


class _Results(LogRecord):
    """The fields of ``results_<date>.json`` that the import uses."""

    model_name: str | None = None
    config: dict[str, JsonValue] = Field(default_factory=dict)
    configs: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    documents: dict[str, dict[str, JsonValue] | None] | None = Field(
        None, alias="n-samples"
    )
    shots: dict[str, JsonValue] = Field(alias="n-shot", default_factory=dict)
    higher_is_better: dict[str, dict[str, bool | None]] = Field(default_factory=dict)
    results: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    system_instruction: str | None = None
    chat_template_sha: str | None = None


class _Line(LogRecord):
    """A line of ``samples_<task>_<date>.jsonl``, with metrics among its extra keys."""

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
        """Requests to the model: prompts with continuations or generation settings."""
        return [list(request.values()) for request in self.arguments.values()]

    @property
    def is_generated(self) -> bool:
        """Whether the model generated an answer, instead of rating given answers."""
        return all(
            len(request) > 1 and isinstance(request[1], dict)
            for request in self.requests
        )


@importer("lm-eval", LmEvalOptions)
def read_logs(
    paths: Sequence[Path], options: LmEvalOptions, notes: Notes
) -> ImportResult:
    """Read logs of EleutherAI's lm-evaluation-harness, run with --log_samples."""
    files = find_files(paths, ["samples_*_*.jsonl"], "samples of the harness")
    tokens = make_token_counter(options.tokenizer)
    runs = collect(
        files, lambda file: [_read(file, options, tokens)], options, notes, _task
    )
    filters = _choose_filters(options.filter, runs)
    runs = [_take_filter(log, filters[log.task], notes) for log in runs]
    measured = {"filters": filters} | (
        {"tokens": options.count}
        if options.cost == "tokens"
        else {"cost": options.cost}
    )
    source = "lm-evaluation-harness logs"

    # a model that only rates given answers generates no tokens
    remedy = "--count all counts prompts and answers"
    return combine_samples(
        runs,
        options,
        notes,
        source,
        measured,
        metric_kind="metric",
        unit=tokens.unit,
        remedy=remedy,
    )


def _read(file: Path, options: LmEvalOptions, tokens: TokenCounter) -> Log:
    """Read a file of samples, with the lines of all filters."""
    results = _results(file)
    task = _task(file)
    day, _, time = _date(file).partition("T")
    settings = _settings(file, task, results)

    reads_all = options.where is not None or options.cluster is not None
    samples = []
    for place, content in read_lines(file):
        line = parse_json(_Line, content, place)
        document = (line.model_extra or {}).get("doc")
        # the documents as a whole would take too much memory
        fields = document if reads_all and isinstance(document, dict) else {}
        answers = _answers(line, options.count == "all" or options.cost == "usd")
        prompt = sum(tokens.count(_text(request[0])) for request in line.requests)
        usage = (
            None
            if answers is None
            else Usage(prompt, 0, sum(map(tokens.count, answers)))
        )
        samples.append(
            Sample(
                plain_text(line.doc_id, place, "the doc_id"),
                line.scores,
                (ModelUse(str(settings["model"]), usage),),
                repeat=line.filter,
                question=line.doc_hash,
                fields={"filter": line.filter, **fields},
                flaws=(EMPTY,)
                * (line.is_generated and not any(map(str.strip, answers or ()))),
            )
        )

    better = results.higher_is_better.get(task, {})
    return Log(
        str(file),
        task,
        settings,
        samples,
        began=find_begin(f"{day}T{time.replace('-', ':')}"),
        counted=((results.documents or {}).get(task) or {}).get("effective"),
        means={
            name: value
            for name, value in results.results.get(task, {}).items()
            if isinstance(value, (int, float))
        },
        lower=[name for name, is_better in better.items() if is_better is False],
    )


def _choose_filters(wanted: str | None, runs: Sequence[Log]) -> dict[str, str]:
    """Return the filter of each task: the chosen one, or the only one."""
    filters: dict[str, set[str]] = {}
    for log in runs:
        filters.setdefault(log.task, set()).update(
            sample.repeat for sample in log.samples
        )
    if wanted is not None:
        choose("filter", wanted, set().union(*filters.values()), "--filter")
    return {
        task: choose("filter", wanted if len(names) > 1 else None, names, "--filter")
        for task, names in filters.items()
    }


def _take_filter(log: Log, chosen: str, notes: Notes) -> Log:
    """Return the log with only the samples and means of one filter."""
    for sample in log.samples:
        if sample.repeat != chosen:
            notes.left_out[f"lines of the filter {sample.repeat!r}"] += 1

    return replace(
        log,
        samples=[
            replace(sample, repeat="")
            for sample in log.samples
            if sample.repeat == chosen
        ],
        means={
            name.removesuffix(f",{chosen}"): mean
            for name, mean in log.means.items()
            if name.endswith(f",{chosen}")
        },
    )


def _task(file: Path) -> str:
    return file.stem.removeprefix("samples_").rpartition("_")[0]


def _date(file: Path) -> str:
    return file.stem.rpartition("_")[2]


def _results(file: Path) -> _Results:
    """Read the results file next to the samples, with the same date."""
    date = _date(file)
    files = [
        path
        for path in sorted(file.parent.iterdir())
        if path.name.endswith(f"_{date}.json")
    ]
    if len(files) != 1:
        problem = (
            f"one results_{date}.json, which names the model, must be next to this"
            f" file, but there are {len(files)}"
        )
        raise_fault(
            file,
            problem,
            "put exactly one such file next to the samples",
            "no-results-file",
        )
    return parse_json(_Results, files[0])


def _settings(file: Path, task: str, results: _Results) -> dict[str, Any]:
    """Collect a configuration's settings: model, arguments, generation, prompt."""
    arguments = _arguments(results.config.get("model_args"))
    return collect_settings(
        f"{file}, its results file",
        results.model_name or results.config.get("model"),
        {
            key: value
            for key, value in arguments.items()
            if key not in _NAMES_OF_A_MODEL
        },
        _arguments(results.configs.get(task, {}).get("generation_kwargs")),
        _arguments(results.config.get("gen_kwargs")),
        {
            "num_fewshot": results.shots.get(task),
            "system_instruction": results.system_instruction,
            "chat_template": results.chat_template_sha,
        },
    )


def _arguments(value: JsonValue) -> dict[str, Any]:
    """Return arguments as a dictionary; some logs write ``key=value,key=value``."""
    if isinstance(value, dict):
        return dict(value)
    pairs = (part.split("=", 1) for part in str(value).split(",") if "=" in part)
    return {key.strip(): _value(value.strip()) for key, value in pairs}


def _value(text: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _answers(line: _Line, counts_rated: bool) -> list[str] | None:
    """Return the generated answers, or the rated answers if these are counted."""
    if line.is_generated:
        return [_text(text) for responses in line.resps for text in responses]
    if not counts_rated:
        return None
    return [_text(part) for request in line.requests for part in request[1:2]]


def _text(part: JsonValue) -> str:
    """Return a prompt as text; a chat, which is a list of messages, as JSON."""
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
