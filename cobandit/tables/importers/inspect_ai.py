"""Logs of Inspect AI: ``.eval`` archives, and JSON logs.

An archive is a zip of ``header.json`` (of a run that did not finish: ``_journal/start.json``) and one
``samples/<id>_epoch_<n>.json`` per sample; a JSON log is the header with its ``samples``.  A sample has
scores by scorer, ``model_usage`` by model, ``total_time`` and ``working_time`` in seconds.  ``input_tokens``
leaves out what came from the cache (for some providers only since February 2026); ``total_tokens`` includes
it, so ``--count all`` takes that.  An evaluation is known by (id, epoch); the epochs of a sample are
averaged, since instances have to be independent, unless ``--repeats separate`` keeps one row for each.
A log that did not end well is left out, and so is one without scores: its reason is in the report.
"""

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from cobandit.faults import stop
from cobandit.tables.importers import logs
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.sources import ImportResult, Notes, PricedOptions, as_list, importer
from cobandit.tables.prices import Prices
from cobandit.tables.safe_reading import Number, Record, find_files, open_archive, parse, plain_text
from cobandit.tables.usage import Reading, read_usage

_Tokens = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class ModelUsage(Record):
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
        """Its tokens, read so that they add up to the total."""
        return read_usage(self.model_dump(exclude={"total_cost"}, exclude_unset=True))


class _Score(Record):
    value: JsonValue


class Sample(Record):
    """A sample of a log."""

    id: int | str
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    model_usage: dict[str, ModelUsage] = Field(default_factory=dict)
    total_time: Number | None = None
    working_time: Number | None = None
    started_at: str | None = None
    error: JsonValue = None
    invalidation: JsonValue = None

    def values(self) -> dict[str, JsonValue]:
        """Return the scores by name; one that is a dictionary counts as one for each of its keys."""
        found: dict[str, JsonValue] = {}
        for name, score in (self.scores or {}).items():
            if isinstance(score.value, dict):
                found |= {f"{name}.{key}": value for key, value in score.value.items()}
            else:
                found[name] = score.value
        return found

    def why_unusable(self, metrics: Iterable[str]) -> str | None:
        """Say why the sample does not give all scores, None if it does."""
        if self.error is not None:
            return "samples that ended in an error"
        if self.invalidation is not None:
            return "samples that were invalidated"
        values = self.values()
        for metric in metrics:
            value = values.get(metric)
            # Inspect writes an unscored sample as not a number
            if value is None or (isinstance(value, float) and math.isnan(value)):
                return f"samples without a score of {metric}"
        return None


def usage_usd(usages: Mapping[str, ModelUsage], prices: Prices) -> float | None:
    """Add up what the usage of each model cost: what was logged, else by its price; None if one has neither.

    Examples
    --------
    >>> usage_usd({"m": ModelUsage(total_cost=0.5)}, Prices()), usage_usd({"m": ModelUsage()}, Prices())
    (0.5, None)
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


#: Version of the log format that is read.
VERSION = 2

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)


class InspectOptions(PricedOptions):
    """Options of ``cobandit import inspect``."""

    usage: Literal["model", "all"] = Field(
        "model", description="Whose usage costs: the evaluated model's, or all models' (graders, sub-agents)."
    )
    latency: Literal["total_time", "working_time", "none"] = Field(
        "working_time", description="The time that makes efficiency: working_time leaves out rate limits."
    )
    unfinished: bool = Field(
        False,
        description="Also take finished samples of runs that did not end well: maybe the quick ones.",
    )


class _Eval(Record):
    task: str
    created: str = ""
    model: str
    model_generate_config: dict[str, JsonValue] = Field(default_factory=dict)
    task_args: dict[str, JsonValue] = Field(default_factory=dict)
    solver: str | None = None


class _Plan(Record):
    config: dict[str, JsonValue] = Field(default_factory=dict)


class _Log(Record):
    version: int = VERSION
    status: str = "started"
    eval: _Eval
    plan: _Plan = _Plan()
    results: dict[str, JsonValue] | None = None
    samples: Annotated[list[Sample], BeforeValidator(as_list)] = []  # noqa: RUF012 (never written to)

    def known_usage(self, sample: Sample, whose: str) -> dict[str, ModelUsage]:
        """Usage of a sample that counts: the evaluated model's, or that of all models."""
        known = sample.model_usage.items()
        return {name: usage for name, usage in known if whose == "all" or name == self.eval.model}


@importer("inspect", InspectOptions)
def read_logs(paths: Sequence[Path], options: InspectOptions, notes: Notes) -> ImportResult:
    """Logs of Inspect AI, .eval archives or JSON.

    Parameters
    ----------
    paths : sequence of Path
        Logs, or folders that hold them.
    options : InspectOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file is damaged, hostile or no such log, or a choice (task, scorer, cost) has to be made.
    """
    files = find_files(paths, ["*.eval", "*.json"], "Inspect logs")
    parsed = logs.read_each(files, lambda file: _log(file, options), notes)
    tasks, files = logs.choose_tasks(options, {file: log.eval.task for file, log in parsed.items()}, notes)
    parsed = {file: parsed[file] for file in files}
    scored = [(log.eval.task, sample.values()) for log in parsed.values() for sample in log.samples]
    metrics = logs.choose_metrics("scorer", options.metric, scored)
    prices = options.known_prices()

    reader = ScoreReader(options.word)
    runs, others, priced = [], set[str](), set[str]()
    unpriced = set[str]()
    for file, log in parsed.items():
        # what the run was started with stands in the plan, and wins over what the model was made with
        given = (log.eval.task_args, log.eval.model_generate_config, log.plan.config)
        settings = logs.collect_settings(file, log.eval.model, *given, {"solver": log.eval.solver})
        when = logs.find_begin(log.eval.created, *(sample.started_at for sample in log.samples))
        run = logs.LoggedRun(str(file), log.eval.task, settings, finished=log.status == "success", when=when)
        if run.finished and log.results:
            notes.compare(file, len(log.samples), log.results.get("total_samples"))
        wanted = metrics.of[log.eval.task]
        for sample in log.samples:
            if reason := sample.why_unusable(wanted):
                run.left_out[reason] += 1
                continue
            where = f"{file}, sample {sample.id!r}"
            used = log.known_usage(sample, options.usage)
            others |= sample.model_usage.keys() - used.keys()
            instance = plain_text(sample.id, where, "the id")
            scores = tuple(reader.read(sample.values()[name], name) for name in wanted)
            cost, prompt = _cost(used, options, prices)
            if options.cost == "usd" and used and math.isnan(cost):
                unpriced |= used.keys()
            priced |= {name for name, usage in used.items() if usage.total_cost is None}
            for usage in used.values():
                notes.doubt(where, usage.reading.doubts)
            seconds = getattr(sample, options.latency, None)  # none is no time
            evaluation = logs.Evaluation(instance, scores, cost, seconds, prompt, f"epoch {sample.epoch}")
            run.evaluations.append(evaluation)
        runs.append(run)
    notes.logs += reader.unknown_words()
    options.note_unpriced(unpriced, notes)
    if others:
        notes.remarks.append(f"note: what {', '.join(sorted(others))} used is not in the cost (--usage all)")
    if options.cost == "usd" and priced:
        notes.remarks.append(f"prices: {prices.describe((name, None) for name in sorted(priced))}")
    measured = options.identify(options.latency) | {"usage": options.usage}
    return logs.combine(runs, tasks, metrics, options.charged, options, notes, "Inspect AI logs", measured)


def _log(file: Path, options: InspectOptions) -> _Log:
    if file.suffix.lower() == ".eval":
        with open_archive(file) as (names, read):
            # a run that did not finish has no header yet
            header = "header.json" if "header.json" in names else "_journal/start.json"
            log = parse(_Log, read(header), f"{file}, {header}")
            samples = [
                parse(Sample, read(name), f"{file}, {name}")
                for name in dict.fromkeys(names)  # of a name written twice, the last is what counts
                if _SAMPLE.fullmatch(name)
            ]
        log = log.model_copy(update={"samples": samples})
    else:
        log = parse(_Log, file)
    if log.version != VERSION:
        problem = f"this is version {log.version} of the log format; {VERSION} is read"
        stop(file, problem, "convert it: inspect log convert")
    if log.status != "success" and not options.unfinished:
        remedy = "finish it (inspect eval-retry), or take what is there with --unfinished"
        stop(file, f"it ended as {log.status!r}", remedy)
    if not any(sample.scores or sample.error for sample in log.samples):
        stop(file, "it has no samples with scores", f"score them: inspect score {shlex.quote(str(file))}")
    needs_usage = options.cost in ("tokens", "usd")
    if needs_usage and not any(log.known_usage(sample, options.usage) for sample in log.samples):
        logged = {name for sample in log.samples for name in sample.model_usage}
        problem = f"no usage of {log.eval.model} is logged; there is {', '.join(sorted(logged)) or 'none'}"
        remedies = ["count every model with --usage all"] if logged else []
        if any(getattr(sample, options.latency, None) for sample in log.samples):
            remedies.append("take its seconds with --cost seconds")
        remedies.append("let every evaluation cost 1 with --cost none")
        stop(file, problem, ", or ".join(remedies))
    return log


def _cost(
    usages: Mapping[str, ModelUsage], options: InspectOptions, prices: Prices
) -> tuple[float, float | None]:
    """Tokens that were generated, and those of prompts; or what both cost in money, and None.

    NaN where no usage is logged, as for an answer that came from a cache, or a model has no price.
    """
    if not usages:
        return math.nan, None
    if options.cost == "usd":
        total_cost = usage_usd(usages, prices)
        return math.nan if total_cost is None else total_cost, None
    read = [usage for logged in usages.values() if (usage := logged.reading.usage) is not None]
    return sum(usage.output for usage in read), sum(usage.prompt for usage in read)
