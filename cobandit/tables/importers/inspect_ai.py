"""The importer of Inspect AI: ``.eval`` archives, and JSON logs.

An archive is a zip file with ``header.json`` (or ``_journal/start.json``, if the run
did not finish) and one ``samples/<id>_epoch_<n>.json`` per sample. A JSON log has
the fields of the header, and all samples in its field ``samples``. A sample has scores
by scorer, ``model_usage`` by model, and ``total_time`` and ``working_time`` in seconds.
``input_tokens`` excludes cached tokens (for some providers only since February 2026).
``total_tokens`` includes cached tokens, and the other counts are interpreted so that
they add up to this total. The id and the epoch identify an evaluation.
Epochs of a sample are averaged, because instances have to be independent; ``--repeats
separate`` keeps one row per epoch. Logs that did not end successfully, or that have no
scores, are left out, and the report states the reason.
"""

import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from cobandit.errors import raise_fault
from cobandit.tables.archives import open_archive
from cobandit.tables.bounded_files import find_files
from cobandit.tables.card import CUT_OFF, EMPTY
from cobandit.tables.checked_json import LogRecord, Number, parse_json, plain_text
from cobandit.tables.importers.combining_samples import combine_samples
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions, RepeatOptions, as_list
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_choices import collect
from cobandit.tables.importers.log_samples import Log, ModelUse, Sample
from cobandit.tables.importers.log_settings import (
    checksum,
    collect_settings,
    find_begin,
)
from cobandit.tables.prices import Prices
from cobandit.tables.usage import Reading, read_usage

_Tokens = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class ModelUsage(LogRecord):
    """Tokens of one model in a sample, and their cost if it was logged."""

    input_tokens: _Tokens = 0
    input_tokens_cache_read: _Tokens | None = None
    input_tokens_cache_write: _Tokens | None = None
    output_tokens: _Tokens = 0
    total_tokens: _Tokens = 0
    reasoning_tokens: _Tokens | None = None
    total_cost: Annotated[Number, Field(ge=0, allow_inf_nan=False)] | None = None

    @property
    def reading(self) -> Reading:
        """Numbers of tokens by kind, interpreted so that they add up to the total."""
        return read_usage(self.model_dump(exclude={"total_cost"}, exclude_unset=True))


class _Score(LogRecord):
    value: JsonValue


class _Message(LogRecord):
    content: JsonValue = None


class _Choice(LogRecord):
    stop_reason: str | None = None
    message: _Message = _Message()


class _Output(LogRecord):
    choices: list[_Choice] = Field(default_factory=list)

    @property
    def flaws(self) -> tuple[str, ...]:
        """Return the flaws of the answer, such as being cut off."""
        if not self.choices:
            return ()
        first = self.choices[0]
        is_cut_off = first.stop_reason in ("max_tokens", "model_length")
        is_empty = first.message.content in ("", [])
        return (CUT_OFF,) * is_cut_off + (EMPTY,) * is_empty


class InspectSample(LogRecord):
    """A sample in a log of Inspect: one evaluation with scores and token counts."""

    id: int | str
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    model_usage: dict[str, ModelUsage] = Field(default_factory=dict)
    total_time: Number | None = None
    working_time: Number | None = None
    started_at: str | None = None
    error: JsonValue = None
    invalidation: JsonValue = None
    input: JsonValue = None
    target: JsonValue = None
    metadata: dict[str, JsonValue] | None = None
    output: _Output | None = None

    def values(self) -> dict[str, JsonValue]:
        """Return the scores by name; a dictionary gives one score for each key."""
        scores: dict[str, JsonValue] = {}
        for name, score in (self.scores or {}).items():
            if isinstance(score.value, dict):
                scores |= {f"{name}.{key}": value for key, value in score.value.items()}
            else:
                scores[name] = score.value
        return scores

    def why_unusable(self, metrics: Iterable[str] = ()) -> str | None:
        """Return the reason why the sample is unusable, or None."""
        if self.error is not None:
            return "samples that ended in an error"
        if self.invalidation is not None:
            return "samples that were invalidated"
        values = self.values()
        for metric in metrics:
            value = values.get(metric)
            # Inspect writes NaN as the score of an unscored sample
            if value is None or (isinstance(value, float) and math.isnan(value)):
                return f"samples without a score of {metric}"
        return None


def usage_usd(usages: Mapping[str, ModelUsage], prices: Prices) -> float | None:
    """Return the cost of all models' tokens in USD; None if a cost is unknown.

    A cost in the log takes precedence over a price.

    Examples
    --------
    >>> usages = (ModelUsage(total_cost=0.5), ModelUsage())
    >>> [usage_usd({"m": usage}, Prices()) for usage in usages]
    [0.5, None]
    """
    total = 0.0
    for model, logged in usages.items():
        cost = logged.total_cost
        if cost is None and (usage := logged.reading.usage) is not None:
            cost = prices.usd(usage, model)
        if cost is None:
            return None
        total += cost
    return total


#: Supported version of the log format.
VERSION = 2

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)


class InspectOptions(LogOptions, RepeatOptions):
    """Options of ``cobandit import inspect``."""

    usage: Literal["model", "all"] = Field(
        "model",
        description=(
            "The tokens that count as cost: those of the evaluated model, or of all"
            " models (with graders and sub-agents)."
        ),
    )
    latency: Literal["total_time", "working_time", "none"] = Field(
        "working_time",
        description=(
            "The time from which efficiency is computed; working_time excludes"
            " waiting for rate limits."
        ),
    )
    unfinished: bool = Field(
        False,
        description=(
            "Also import the finished samples of runs that failed or were cancelled;"
            " quick samples may be over-represented."
        ),
    )


class _Eval(LogRecord):
    task: str
    created: str = ""
    model: str
    model_generate_config: dict[str, JsonValue] = Field(default_factory=dict)
    task_args: dict[str, JsonValue] = Field(default_factory=dict)
    solver: str | None = None


class _Plan(LogRecord):
    config: dict[str, JsonValue] = Field(default_factory=dict)


class _Metric(LogRecord):
    value: JsonValue = None


class _Scored(LogRecord):
    """Summary of one score over all samples of a log."""

    name: str = ""
    reducer: str | None = None
    metrics: dict[str, _Metric] = Field(default_factory=dict)


class _Results(LogRecord):
    total_samples: JsonValue = None
    scores: list[_Scored] = Field(default_factory=list)

    @property
    def means(self) -> dict[str, float]:
        """Mean of each score, which the log states as its accuracy or its mean."""
        return {
            scored.name: value
            for scored in self.scores
            for metric in ("accuracy", "mean")
            if isinstance(
                value := scored.metrics.get(metric, _Metric()).value, (int, float)
            )
        }

    @property
    def reducers(self) -> str:
        """Names of epoch reducers other than the mean, as text."""
        return ", ".join(
            {entry.reducer for entry in self.scores if entry.reducer} - {"mean"}
        )


class _Log(LogRecord):
    version: int = VERSION
    status: str = "started"
    eval: _Eval
    plan: _Plan = _Plan()
    results: _Results | None = None
    samples: Annotated[list[InspectSample], BeforeValidator(as_list)] = []  # noqa: RUF012 (never written to)

    def known_usage(self, sample: InspectSample, whose: str) -> dict[str, ModelUsage]:
        """Return the charged token counts, of the evaluated model or of all models."""
        return {
            name: usage
            for name, usage in sample.model_usage.items()
            if whose == "all" or name == self.eval.model
        }


@importer("inspect", InspectOptions)
def read_logs(
    paths: Sequence[Path], options: InspectOptions, notes: Notes
) -> ImportResult:
    """Read logs of Inspect AI, .eval archives or JSON."""
    files = find_files(paths, ["*.eval", "*.json"], "Inspect logs")
    others = set[str]()
    collected = collect(
        files, lambda file: [_read(file, options, others)], options, notes
    )
    if others:
        notes.remarks.append(
            f"note: the cost excludes the usage of {', '.join(sorted(others))}"
            " (--usage all includes it)"
        )

    measured = options.identify(options.latency) | {"usage": options.usage}
    remedy = "--usage all counts every model" if others else ""
    return combine_samples(
        collected,
        options,
        notes,
        "Inspect AI logs",
        measured,
        metric_kind="scorer",
        remedy=remedy,
    )


def _read(file: Path, options: InspectOptions, others: set[str]) -> Log:
    """Read a log; ``others`` receives the models whose tokens are not charged."""
    log = _parse(file, options)
    samples = []
    for sample in log.samples:
        used = log.known_usage(sample, options.usage)
        others |= sample.model_usage.keys() - used.keys()
        samples.append(
            Sample(
                plain_text(sample.id, f"{file}, sample {sample.id!r}", "the id"),
                sample.values(),
                tuple(
                    ModelUse(
                        name,
                        usage.reading.usage,
                        usage.total_cost,
                        usage.reading.doubts,
                    )
                    for name, usage in used.items()
                ),
                getattr(sample, options.latency, None),  # none is no time
                f"epoch {sample.epoch}",
                sample.why_unusable(),
                checksum(json.dumps([sample.input, sample.target])),
                sample.metadata or {},
                sample.output.flaws if sample.output else (),
            )
        )

    # generation settings of the run are in the plan, and take precedence over settings
    # of the model
    sources = (log.eval.task_args, log.eval.model_generate_config, log.plan.config)
    results = log.results or _Results()
    return Log(
        str(file),
        log.eval.task,
        collect_settings(file, log.eval.model, *sources, {"solver": log.eval.solver}),
        samples,
        finished=log.status == "success",
        began=find_begin(
            log.eval.created, *(sample.started_at for sample in log.samples)
        ),
        counted=results.total_samples if log.status == "success" else None,
        means=results.means,
        reduced=results.reducers,
    )


def _parse(file: Path, options: InspectOptions) -> _Log:
    if file.suffix.lower() == ".eval":
        with open_archive(file) as (names, read):
            # a run that did not finish has no header yet
            header = "header.json" if "header.json" in names else "_journal/start.json"
            log = parse_json(_Log, read(header), f"{file}, {header}")
            samples = [
                parse_json(InspectSample, read(name), f"{file}, {name}")
                for name in names  # zipfile reads the last of members with one name
                if _SAMPLE.fullmatch(name)
            ]
        log = log.model_copy(update={"samples": samples})
    else:
        log = parse_json(_Log, file)

    if log.version != VERSION:
        problem = f"this log has version {log.version}, but only {VERSION} is supported"
        remedy = "convert the log: inspect log convert"
        raise_fault(file, problem, remedy, "unknown-format")

    if log.status != "success" and not options.unfinished:
        remedy = (
            "finish the run (inspect eval-retry), or import its finished samples"
            " with --unfinished"
        )
        problem = f"the run ended with the status {log.status!r}"
        raise_fault(file, problem, remedy, "unfinished-log")

    if not any(sample.scores or sample.error for sample in log.samples):
        raise_fault(
            file,
            "the log has no samples with scores",
            f"score the samples: inspect score {shlex.quote(str(file))}",
            "no-score",
        )

    return log
