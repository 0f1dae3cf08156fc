"""Combining the samples of all logs in one table, with scores and costs as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cobandit.errors import raise_fault
from cobandit.tables.card import Cost
from cobandit.tables.importers.combining_runs import combine_runs
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.importer_registry import ImportResult
from cobandit.tables.importers.log_checks import (
    add_declared,
    check_cluster_field,
    compare_means,
    compare_questions,
    filter_samples,
    keep_last,
)
from cobandit.tables.importers.log_choices import choose_metrics
from cobandit.tables.importers.log_costs import Charge, settle_unlogged
from cobandit.tables.importers.log_samples import Log
from cobandit.tables.importers.logged_runs import Evaluation, LoggedRun
from cobandit.tables.importers.scores import ScoreReader


def combine_samples(
    collected: Sequence[Log],
    options: LogOptions,
    notes: Notes,
    source: str,
    measured: Mapping[str, Any],
    *,
    metric_kind: str = "score",
    default: Sequence[str] = (),
    keep_name: bool = False,
    paid: Cost | None = None,
    unit: str = "tokens",
    remedy: str = "",
) -> ImportResult:
    """Read the scores and costs of all samples, and combine all logs in one frame.

    Parameters
    ----------
    collected : sequence of Log
    options : LogOptions
    notes : Notes
    source : str
        As in `combine_runs`.
    measured : mapping
        As in `combine_runs`.
    metric_kind : str
        Word for a metric in messages, such as ``"scorer"``.
    default : sequence of str
        Names of scores to use if the user names none.
    keep_name : bool
        Whether a single objective has the name of its score, instead of "accuracy".
    paid : Cost, optional
        Name and unit of `Sample.cost`, for formats that log costs.
    unit : str
        Unit of the cost, if tokens are counted from text.
    remedy : str
        Additional remedy in the remark on logs without tokens.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If the user has to choose a score, if lower scores are better, or if
        `combine_runs` raises.
    """
    collected = filter_samples(collected, options, notes)
    scored = [(log.task, sample.scores) for log in collected for sample in log.samples]
    metrics = choose_metrics(metric_kind, options.metric or default, scored)
    if keep_name and len(metrics.objectives) == 1:
        metrics = metrics._replace(objectives=next(iter(metrics.of.values())))
    for log in collected:
        if lower := [
            name for name in metrics.of.get(log.task, ()) if name in log.lower
        ]:
            raise_fault(
                log.file,
                f"lower values of {lower[0]} are better, but objectives are maximised",
                "choose another score with --metric",
                "lower-is-better",
            )
    options = add_declared(collected, metrics, options)
    collected = compare_questions(collected, options, notes)

    reader = ScoreReader(options.word)
    charge = Charge(options, options.known_prices(), notes)
    runs = []
    for log in collected:
        wanted = metrics.of.get(log.task, ())
        samples = keep_last(log, notes)
        scored_names = {name for sample in samples for name in sample.scores}
        absent = [name for name in wanted if name not in scored_names]
        notes.compare(log.file, len(log.samples), len(samples), log.counted)
        run = LoggedRun(
            log.file,
            log.task,
            log.settings,
            finished=log.finished,
            began=log.began,
            name=log.configuration,
        )
        for sample in samples:
            if sample.unusable is not None or absent:
                run.left_out[sample.unusable or f"evaluations without {absent[0]}"] += 1
                continue
            scores = tuple(
                (
                    math.nan
                    if (value := sample.scores.get(name)) is None
                    else reader.read(value, name)
                )
                for name in wanted
            )
            cost, prompt = (
                (sample.cost, None)
                if paid
                else charge(sample, f"{log.file}, {sample.instance!r}")
            )
            run.evaluations.append(
                Evaluation(
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
        compare_means(log, run, wanted, options, notes)
        runs.append(run)
    notes.logs += reader.unknown_words()
    charge.report()
    if "cost" not in options.model_fields_set and not paid:
        options = settle_unlogged(runs, options, remedy, notes)
        measured = {
            **measured,
            **({"cost": options.cost} if options.cost == "none" else {}),
        }
    if options.cluster is not None:
        check_cluster_field(collected, options.cluster)
    column = (
        options.charged
        if options.cost != "tokens"
        else options.charged.model_copy(update={"unit": unit})
    )
    tasks = sorted({log.task for log in collected})
    return combine_runs(
        runs, tasks, metrics, paid or column, options, notes, source, measured
    )
