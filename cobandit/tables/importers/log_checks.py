"""Checks that logs agree with each other, and with the summaries that they state."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.conditions import evaluate_condition
from cobandit.tables.importers.import_notes import Notes, limit_lines
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.log_choices import Metrics
from cobandit.tables.importers.log_samples import Log, Sample
from cobandit.tables.importers.logged_runs import LoggedRun


def filter_samples(
    collected: Sequence[Log], options: LogOptions, notes: Notes
) -> list[Log]:
    """Return the logs with only the samples that satisfy ``--where``."""
    if options.where is None:
        return list(collected)

    rows = [
        {
            **log.settings,
            **sample.fields,
            **sample.scores,
            "task": log.task,
            "instance": sample.instance,
        }
        | {"seconds": sample.seconds}
        for log in collected
        for sample in log.samples
    ]
    frame = pd.DataFrame(rows)
    keeps = iter(evaluate_condition(frame, options.where, f"--where {options.where!r}"))
    filtered = [
        replace(log, samples=[sample for sample in log.samples if next(keeps)])
        for log in collected
    ]
    n_filtered = sum(len(log.samples) for log in filtered)
    notes.left_out["evaluations that --where leaves out"] += len(rows) - n_filtered

    # the stated count and means include the samples that are now left out
    return [replace(log, counted=None, means={}) for log in filtered if log.samples]


def add_declared(
    collected: Sequence[Log], metrics: Metrics, options: LogOptions
) -> LogOptions:
    """Return the options with the score ranges and missing-score values of the logs."""
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

    update = {
        "range": (*ranges, *options.range),
        "no_score": (*no_scores, *options.no_score),
    }
    return options.model_copy(update=update)


def keep_last(log: Log, notes: Notes) -> list[Sample]:
    """Return the samples of a log, keeping only the last of several copies."""
    last = {(sample.instance, sample.repeat): sample for sample in log.samples}
    if n_repeated := len(log.samples) - len(last):
        notes.remarks.append(
            f"duplicates in {log.file}: {n_repeated:,} evaluations; the last copy of"
            " each counts"
        )
    return list(last.values())


#: Largest difference between two means that rounding may cause. For means above 1, it
#: is relative.
ROUNDED = 2e-3


def compare_means(
    log: Log, run: LoggedRun, wanted: Sequence[str], options: LogOptions, notes: Notes
) -> None:
    """Add a remark if means of the samples differ from the means stated by the log."""
    for place, name in enumerate(wanted):
        stated = log.means.get(name)
        by_instance = defaultdict(list)
        for evaluation in run.evaluations:
            if math.isfinite(evaluation.scores[place]):
                by_instance[evaluation.instance].append(evaluation.scores[place])
        if stated is None or not by_instance or options.word:
            continue
        mean = sum(sum(scores) / len(scores) for scores in by_instance.values()) / len(
            by_instance
        )
        if abs(mean - stated) > ROUNDED * max(1.0, abs(stated)):
            reduced = f" (repeats reduced by {log.reduced})" if log.reduced else ""
            problem = (
                f"the log states a mean {name} of {stated:.4g}{reduced}, but the mean"
                f" of its samples is {mean:.4g}"
            )
            notes.remarks.append(f"differs: {log.file}: {problem}")


#: Two logs may have different questions under the same name. If this is the case for
#: less than this share of their common names, only these instances are renamed.
MOSTLY = 0.5


def compare_questions(
    collected: Sequence[Log], options: LogOptions, notes: Notes
) -> list[Log]:
    """Rename instances so that equal questions have equal names in all logs.

    Versions of a benchmark may name its instances differently. If two logs have the
    same questions under different names, the names of the first log are used. If most
    questions with the same name are equal, the unequal ones are treated as other
    instances. If most are unequal, the logged questions may contain different prompts,
    and instances are matched by name.
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
        elif by_question.keys() == set(questions.values()) and len(by_question) == len(
            questions
        ):
            remarks.append(
                f"another order: {log.file} has the questions of {reference.file}"
                " under other names"
            )
            same.append(
                _rename(
                    log,
                    {
                        name: by_question[question]
                        for name, question in questions.items()
                    },
                )
            )
        elif len(differ) < MOSTLY * len(shared):
            counted = f"{len(differ):,} of {len(shared):,} questions of {log.file}"
            remarks.append(
                f"another version: {counted} differ from the questions of the same"
                f" name in {reference.file}, and count as other instances"
            )
            same.append(
                _rename(log, {name: f"{name} ({questions[name]})" for name in differ})
            )
        else:
            counted = f"{len(differ):,} of {len(shared):,} in {log.file}"
            remarks.append(
                f"other questions: {counted} differ from the questions of the same"
                f" name in {reference.file}; leave one log out, unless only the"
                " prompt differs"
            )
            same.append(log)

    notes.remarks += limit_lines(remarks)
    return same


def _rename(log: Log, names: Mapping[str, str | None]) -> Log:
    renamed = [
        replace(sample, instance=names.get(sample.instance) or sample.instance)
        for sample in log.samples
    ]
    return replace(log, samples=renamed)


def check_cluster_field(collected: Sequence[Log], cluster: str) -> None:
    """Check that each sample has the field that groups instances."""
    n_with_field = Counter(
        name for log in collected for sample in log.samples for name in sample.fields
    )
    n_samples = sum(len(log.samples) for log in collected)
    if n_with_field[cluster] < n_samples:
        shared = sorted(
            name for name, number in n_with_field.items() if number == n_samples
        )
        problem = (
            f"only {n_with_field[cluster]:,} of {n_samples:,} samples have a field"
            f" {cluster!r}"
        )
        raise_fault(
            "--cluster",
            problem,
            suggest(
                cluster,
                shared,
                f"name a field that all samples have: {', '.join(shared) or 'none'}",
            ),
            "no-group-column",
        )
