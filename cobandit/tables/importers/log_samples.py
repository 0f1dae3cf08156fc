"""The skeleton of the log readers: a format says what its logs hold, and all else is the same for each.

A format's importer turns each file into `Log` objects, of `Sample` objects as they were logged: every score
by its name, what each model used, seconds.  `collect` chooses tasks and reads, `combine_samples` chooses
scores, reads them as numbers, charges, compares a log with what it says of itself, and makes the frame.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.card import Cost
from cobandit.tables.columns import evaluate_condition
from cobandit.tables.importers import logs
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, limit_lines
from cobandit.tables.prices import Prices
from cobandit.tables.usage import Doubt, Usage


class ModelUse(NamedTuple):
    """What one model used for a sample.

    Attributes
    ----------
    model : str
    usage : Usage or None
        Its tokens, None if they were not logged.
    usd : float or None
        What it cost, where that was logged.
    doubts : tuple of Doubt
        About the tokens.
    """

    model: str
    usage: Usage | None = None
    usd: float | None = None
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One evaluation as it was logged.

    Attributes
    ----------
    instance : str
    scores : mapping of str to object
        Every score by its name, as it was logged: numbers, words, true or false.
    used : tuple of ModelUse
        Empty where nothing was logged, as for an answer from a cache.
    seconds : float or None
    repeat : str
        Tells evaluations of one instance apart.
    unusable : str or None
        Why it counts for nothing, such as "samples that ended in an error".
    question : str or None
        What was asked, or a checksum of it: tells questions apart that have the same name.
    fields : mapping of str to object
        What else the log says of the instance, for ``--where`` and ``--cluster``.
    flaws : tuple of str
        What makes the answer doubtful, such as `cobandit.tables.card.CUT_OFF`.
    cost : float or None
        What it cost, where the format has a cost of its own.
    """

    instance: str
    scores: Mapping[str, Any]
    used: tuple[ModelUse, ...] = ()
    seconds: float | None = None
    repeat: str = ""
    unusable: str | None = None
    question: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    flaws: tuple[str, ...] = ()
    cost: float | None = None


@dataclass(frozen=True)
class Log:
    """One run of a configuration on a task.

    Attributes
    ----------
    file : str
        Where it is from, for messages.
    task : str
    settings : dict
        From `logs.collect_settings`.
    samples : sequence of Sample
    finished : bool
    when : float
        Seconds since 1970 at which it began.
    configuration : str or None
        The name of the configuration, where the log gives one.
    counted : object
        How many samples the run says that it has.
    means : mapping of str to float
        The mean that the run itself says, by the name of the score.
    reduced : str
        How the run made one score of repeats, where that is not their mean.
    lower : collection of str
        Scores of which a lower one is better.
    ranges : mapping of str to (float, float)
        Worst and best of scores, where the log says so.
    no_scores : mapping of str to float
        Values that mean no score, where the log says so.
    """

    file: str
    task: str
    settings: dict[str, Any]
    samples: Sequence[Sample]
    finished: bool = True
    when: float = 0.0
    configuration: str | None = None
    counted: Any = None
    means: Mapping[str, float] = field(default_factory=dict)
    reduced: str = ""
    lower: Collection[str] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    no_scores: Mapping[str, float] = field(default_factory=dict)


def collect(
    files: Iterable[Path],
    read: Callable[[Path], Iterable[Log]],
    options: LogOptions,
    notes: Notes,
    task_of: Callable[[Path], str] | None = None,
) -> list[Log]:
    """Read the logs of the wanted tasks; one that cannot be used is left out, with its reason.

    Parameters
    ----------
    files : iterable of Path
    read : callable
        Gives the logs in a file, or raises TableError.
    options : LogOptions
    notes : Notes
    task_of : callable, optional
        Gives the task of a file without reading all of it: files of other tasks are then not read.

    Returns
    -------
    list of Log

    Raises
    ------
    TableError
        If no file can be used, or a task has to be chosen.
    """
    if task_of is not None:
        _, files = logs.choose_tasks(options, logs.read_each(files, task_of, notes), notes)
    by_file = logs.read_each(files, lambda file: list(read(file)), notes)
    collected = [log for of_file in by_file.values() for log in of_file]
    if task_of is not None:
        return collected
    _, chosen = logs.choose_tasks(options, {number: log.task for number, log in enumerate(collected)}, notes)
    return [collected[number] for number in chosen]


def combine_samples(
    collected: Sequence[Log],
    options: LogOptions,
    notes: Notes,
    source: str,
    measured: Mapping[str, Any],
    *,
    what: str = "score",
    default: Sequence[str] = (),
    keep_name: bool = False,
    paid: Cost | None = None,
    unit: str = "tokens",
    remedy: str = "",
) -> ImportResult:
    """Choose scores, read them as numbers, charge, and make one frame of all logs.

    Parameters
    ----------
    collected : sequence of Log
    options : LogOptions
    notes : Notes
    source : str
        What the logs are.
    measured : mapping
        As of `logs.combine`.
    what : str
        What scores are called, such as ``"scorer"``.
    default : sequence of str
        Scores that are taken if the user names none.
    keep_name : bool
        Whether a single score keeps its name as that of the objective.
    paid : Cost, optional
        The column of `Sample.cost` and its unit, where the format has costs of its own.
    unit : str
        What tokens are called, where they were counted from text.
    remedy : str
        What else to do about tokens that were not logged.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a score has to be chosen, a lower one is better, or whatever `logs.combine` raises.
    """
    collected = _filter(collected, options, notes)
    scored = [(log.task, sample.scores) for log in collected for sample in log.samples]
    metrics = logs.choose_metrics(what, options.metric or default, scored)
    if keep_name and len(metrics.objectives) == 1:
        metrics = metrics._replace(objectives=next(iter(metrics.of.values())))
    for log in collected:
        if lower := [name for name in metrics.of.get(log.task, ()) if name in log.lower]:
            raise_fault(log.file, f"a lower {lower[0]} is better", "choose another with --metric")
    options = _add_declared(collected, metrics, options)
    collected = _compare_questions(collected, options, notes)

    reader = ScoreReader(options.word)
    charge = _Charge(options, options.known_prices(), notes)
    runs = []
    for log in collected:
        wanted = metrics.of.get(log.task, ())
        samples = _keep_last(log, notes)
        scored_names = {name for sample in samples for name in sample.scores}
        absent = [name for name in wanted if name not in scored_names]
        notes.compare(log.file, len(log.samples), len(samples), log.counted)
        run = logs.LoggedRun(
            log.file, log.task, log.settings, finished=log.finished, when=log.when, name=log.configuration
        )
        for sample in samples:
            if sample.unusable is not None or absent:
                run.left_out[sample.unusable or f"evaluations without {absent[0]}"] += 1
                continue
            scores = tuple(
                math.nan if (value := sample.scores.get(name)) is None else reader.read(value, name)
                for name in wanted
            )
            cost, prompt = (sample.cost, None) if paid else charge(sample, f"{log.file}, {sample.instance!r}")
            run.evaluations.append(
                logs.Evaluation(
                    sample.instance,
                    scores,
                    math.nan if cost is None else cost,
                    sample.seconds,
                    prompt,
                    sample.repeat,
                    sample.flaws,
                    sample.fields.get(options.cluster) if options.cluster else None,
                )
            )
        _compare_means(log, run, wanted, options, notes)
        runs.append(run)
    notes.logs += reader.unknown_words()
    charge.report()
    if "cost" not in options.model_fields_set and not paid:
        options = _settle_unlogged(runs, options, remedy, notes)
        measured = {**measured, **({"cost": options.cost} if options.cost == "none" else {})}
    if options.cluster is not None:
        _check_cluster(collected, options.cluster)
    column = (
        options.charged if options.cost != "tokens" else options.charged.model_copy(update={"unit": unit})
    )
    tasks = sorted({log.task for log in collected})
    return logs.combine(runs, tasks, metrics, paid or column, options, notes, source, measured)


class _Charge:
    """What samples cost, in what the user chose, and models that have no price."""

    def __init__(self, options: LogOptions, prices: Prices, notes: Notes):
        self._options = options
        self._prices = prices
        self._notes = notes
        self._priced = set[str]()
        self._unpriced = set[str]()

    def __call__(self, sample: Sample, where: str) -> tuple[float, float | None]:
        """Return tokens that were generated, and those of prompts; or what both cost in money, and None.

        The former is NaN where it is not known.
        """
        for use in sample.used:
            self._notes.doubt(where, use.doubts)
        if self._options.cost == "usd":
            costs = [self._usd(use) for use in sample.used]
            return (sum(costs) if costs else math.nan), None
        usages = [use.usage for use in sample.used if use.usage is not None]
        if not usages or len(usages) < len(sample.used):
            return math.nan, None
        return sum(usage.output for usage in usages), sum(usage.prompt for usage in usages)

    def _usd(self, use: ModelUse) -> float:
        if use.usd is not None:
            return use.usd
        usd = None if use.usage is None else self._prices.usd(use.usage, use.model)
        if use.usage is not None:
            (self._unpriced if usd is None else self._priced).add(use.model)
        return math.nan if usd is None else usd

    def report(self) -> None:
        """Say where prices are from, and which models have none."""
        self._options.note_unpriced(self._unpriced, self._notes)
        if self._priced:
            named = self._prices.describe((model, None) for model in sorted(self._priced))
            self._notes.remarks.append(f"prices: {named}")


def _filter(collected: Sequence[Log], options: LogOptions, notes: Notes) -> list[Log]:
    """Leave out samples that do not fulfil ``--where``."""
    if options.where is None:
        return list(collected)
    rows = [
        {**log.settings, **sample.fields, **sample.scores, "task": log.task, "instance": sample.instance}
        | {"seconds": sample.seconds}
        for log in collected
        for sample in log.samples
    ]
    frame = pd.DataFrame(rows)
    keeps = iter(evaluate_condition(frame, options.where, f"--where {options.where!r}"))
    filtered = [replace(log, samples=[sample for sample in log.samples if next(keeps)]) for log in collected]
    n_filtered = sum(len(log.samples) for log in filtered)
    notes.left_out["evaluations that --where leaves out"] += len(rows) - n_filtered
    # what a run counted and averaged is about all of its samples
    return [replace(log, counted=None, means={}) for log in filtered if log.samples]


def _add_declared(collected: Sequence[Log], metrics: logs.Metrics, options: LogOptions) -> LogOptions:
    """Put ranges, and values that mean no score, that logs declare in front of those of the user."""
    ranges: dict[str, None] = {}
    no_scores: dict[str, None] = {}
    for log in collected:
        wanted = metrics.of.get(log.task, ())
        for place, name in enumerate(wanted):
            objective = metrics.objectives[place if len(metrics.objectives) > 1 else 0]
            if name in log.ranges:
                low, high = log.ranges[name]
                ranges[f"{objective}={low}:{high}"] = None
            if name in log.no_scores:
                no_scores[f"{objective}={log.no_scores[name]}"] = None
    update = {"range": (*ranges, *options.range), "no_score": (*no_scores, *options.no_score)}
    return options.model_copy(update=update)


def _keep_last(log: Log, notes: Notes) -> list[Sample]:
    """Keep the last of samples that are written more than once."""
    last = {(sample.instance, sample.repeat): sample for sample in log.samples}
    if again := len(log.samples) - len(last):
        notes.remarks.append(f"written twice in {log.file}: {again:,} evaluations; the last of each counts")
    return list(last.values())


def _settle_unlogged(
    runs: Sequence[logs.LoggedRun], options: LogOptions, remedy: str, notes: Notes
) -> LogOptions:
    """Let every evaluation cost 1 where some logs have no cost at all, unless the user chose a cost."""
    used = [run for run in runs if run.evaluations]
    unlogged = [run for run in used if all(math.isnan(each.cost) for each in run.evaluations)]
    if not unlogged:
        return options
    n_timed = sum(bool(each.seconds) for run in used for each in run.evaluations)
    remedies = [remedy] if remedy else []
    if n_timed == sum(len(run.evaluations) for run in used):
        remedies.append("--cost seconds takes the time, which all have")
    if len(unlogged) < len(used):
        remedies.append("--cost tokens leaves these logs out")
    counted = f"{len(unlogged):,} of {len(used):,} logs ({unlogged[0].file}) have no tokens"
    ending = f" ({'; '.join(remedies)})" if remedies else ""
    notes.remarks.append(f"cost: {counted}, so each evaluation costs 1{ending}")
    return options.model_copy(update={"cost": "none"})


#: Difference of means, as a part of their size, that rounding may make.
ROUNDED = 2e-3


def _compare_means(
    log: Log, run: logs.LoggedRun, wanted: Sequence[str], options: LogOptions, notes: Notes
) -> None:
    """Remark where the mean of what was read is not what the log says of itself."""
    for place, name in enumerate(wanted):
        stated = log.means.get(name)
        by_instance = defaultdict(list)
        for evaluation in run.evaluations:
            if math.isfinite(evaluation.scores[place]):
                by_instance[evaluation.instance].append(evaluation.scores[place])
        if stated is None or not by_instance or options.word:
            continue
        mean = sum(sum(each) / len(each) for each in by_instance.values()) / len(by_instance)
        if abs(mean - stated) > ROUNDED * max(1.0, abs(stated)):
            reduced = f" (repeats reduced by {log.reduced})" if log.reduced else ""
            problem = (
                f"it says that its mean {name} is {stated:.4g}{reduced}; that of what was read is {mean:.4g}"
            )
            notes.remarks.append(f"differs: {log.file}: {problem}")


#: Share of instances from which on questions of the same name are the same, but for some.
MOSTLY = 0.5


def _compare_questions(collected: Sequence[Log], options: LogOptions, notes: Notes) -> list[Log]:
    """Make an instance the same in all logs: one question, in another order or version of a benchmark or not.

    A question that has another name in another log, where all are the same, gets the name of the first log.
    Where most questions of a name are the same, the others are other instances.  Where most differ, a task
    may put its prompts into them: names then say what is the same.
    """
    first: dict[Hashable, Log] = {}
    same = []
    remarks = []
    for log in collected:
        key = None if options.compare_tasks else log.task
        questions = {sample.instance: sample.question for sample in log.samples}
        if None in questions.values():
            same.append(log)
            continue
        reference = first.setdefault(key, log)
        names = {sample.instance: sample.question for sample in reference.samples}
        shared = questions.keys() & names.keys()
        differ = {name for name in shared if questions[name] != names[name]}
        by_question = {question: name for name, question in names.items()}
        if not differ:
            same.append(log)
        elif by_question.keys() == set(questions.values()) and len(by_question) == len(questions):
            remarks.append(f"another order: {log.file} has the questions of {reference.file} by other names")
            same.append(_rename(log, {name: by_question[asked] for name, asked in questions.items()}))
        elif len(differ) < MOSTLY * len(shared):
            counted = f"{len(differ):,} of {len(shared):,} questions of {log.file}"
            remarks.append(
                f"another version: {counted} differ from those of that name in {reference.file}: "
                "they count as other instances"
            )
            same.append(_rename(log, {name: f"{name} ({questions[name]})" for name in differ}))
        else:
            counted = f"{len(differ):,} of {len(shared):,} in {log.file}"
            remarks.append(
                f"other questions: {counted} differ from those of that name in {reference.file}: "
                "leave one log out unless it is the prompt that differs"
            )
            same.append(log)
    notes.remarks += limit_lines(remarks)
    return same


def _rename(log: Log, names: Mapping[str, str | None]) -> Log:
    renamed = [
        replace(sample, instance=names.get(sample.instance) or sample.instance) for sample in log.samples
    ]
    return replace(log, samples=renamed)


def _check_cluster(collected: Sequence[Log], cluster: str) -> None:
    """Check that each sample has the field that says what instances have in common."""
    n_with_field = Counter(name for log in collected for sample in log.samples for name in sample.fields)
    n_samples = sum(len(log.samples) for log in collected)
    if n_with_field[cluster] < n_samples:
        shared = sorted(name for name, number in n_with_field.items() if number == n_samples)
        problem = f"{n_with_field[cluster]:,} of {n_samples:,} samples have a field {cluster!r}"
        raise_fault(
            "--cluster", problem, suggest(cluster, shared, f"all have {', '.join(shared) or 'no field'}")
        )
