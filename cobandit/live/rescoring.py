"""Scoring the stored answers of a run again, without new calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from cobandit.errors import raise_fault
from cobandit.live.equal_scores import find_equal_objective
from cobandit.live.evaluators.base import Evaluator
from cobandit.live.evaluators.scorers import ScorerOptions
from cobandit.live.lines import Lines, read_entries
from cobandit.live.plan import Plan
from cobandit.live.records import FAILED_KEY
from cobandit.live.run_files import RunFiles
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.storage import write_table

#: Column of a scorer's score.
SCORE_COLUMN = "score"


def read_answers(folder: str | Path) -> pd.DataFrame:
    """Read the models' answers that a run has stored.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Returns
    -------
    DataFrame
        One row per evaluation, in the order of the run: ``config``, ``instance``, and
        ``row`` (the measurements). Some evaluators also provide ``prompt`` (a
        checksum), ``text``, ``target`` (the right answer) and ``finish`` (the finish
        reason).

    Raises
    ------
    TableError
        If the run stored no answers.
    """
    path = RunFiles(folder).answers
    entries = read_entries(path)
    if not entries:
        problem = (
            "the run has no answers: its evaluator returned no text, or its plan has"
            " answers: false"
        )
        remedy = "run a plan that stores answers in another folder"
        raise_fault(path.parent, problem, remedy, "no-answers-kept")

    # an evaluation in flight at a crash is repeated, and the last answer counts
    return pd.DataFrame(entries).drop_duplicates(
        ["config", "instance"], keep="last", ignore_index=True
    )


def rescore(folder: str | Path, scorer: Mapping[str, Any]) -> Path:
    """Score the stored answers of a run by another scorer, without new calls.

    Parameters
    ----------
    folder : str or Path
        Folder of a finished run, which has a table.
    scorer : mapping
        Options of a scorer, as in a plan: ``{"scorer": "number", "tolerance": 0.5}``.

    Returns
    -------
    Path
        Path of ``rescored.parquet`` in the folder: the table with the new scores. Its
        card (a YAML description) is next to it.

    Raises
    ------
    TableError
        If the run has no table, the table has no column ``score``, or an evaluation has
        no stored answer.
    """
    files = RunFiles(folder)
    options = check_fields(ScorerOptions, dict(scorer), "the scorer")
    answers = _read_last_answers(files)
    if not files.table.exists():
        problem = "the run has no table yet"
        remedy = "finish the run, or export its table: cobandit run PLAN --export"
        raise_fault(files.path, problem, remedy, "no-table")
    frame = pd.read_parquet(files.table)
    if SCORE_COLUMN not in frame:
        problem = f"the table has no column {SCORE_COLUMN!r} to replace"
        remedy = "rescore only runs whose evaluator returns this column"
        raise_fault(files.table, problem, remedy, "no-score")

    has_failed = (
        frame[FAILED_KEY] if FAILED_KEY in frame else pd.Series(False, frame.index)
    )
    for number, row in frame[~has_failed].iterrows():
        answer = answers.get((row["config"], row["instance"]), {})
        target = answer.get("target")
        # a scorer function may not need the right answer
        needs_target = ":" not in options.scorer
        if "text" not in answer or (needs_target and not isinstance(target, str)):
            place = f"{row['config']!r} on instance {row['instance']!r}"
            problem = (
                "the run stored no text of the answer, or no right answer, which"
                " evaluator functions do not return"
            )
            remedy = (
                "run the plan in a new folder, or use your own function as scorer:"
                " --scorer my_module:score"
            )
            raise_fault(place, problem, remedy, "no-answer")
        scores = options.score(
            answer["text"], target if isinstance(target, str) else ""
        )
        for column, value in scores.items():
            frame.loc[number, column] = value

    card = yaml.safe_load(files.table.with_suffix(".yml").read_text(encoding="utf-8"))
    card["name"] = f"{card['name']}-rescored"
    words = ", ".join(f"{name} {value}" for name, value in scorer.items())
    note = f"made by: cobandit rescore, {words}; no evaluation was repeated"
    output = files.path / "rescored.parquet"
    write_table(frame, card, output, [note])
    return output


def _read_last_answers(files: RunFiles) -> dict[tuple[str, str], dict[Any, Any]]:
    """Read the last answer of each configuration and instance."""
    entries: list[dict[Any, Any]] = read_answers(files.path).to_dict("records")
    return {(entry["config"], entry["instance"]): entry for entry in entries}


def rescore_pilot(plan: Plan, evaluator: Evaluator, folder: RunFiles) -> bool:
    """Score a pilot's answers again if the scorer has changed or all scores are equal.

    The pilot's journal is replaced in one step, so that a crash leaves either the old
    or the new one.

    Parameters
    ----------
    plan : Plan
        Current plan. The stored scores were made with the plan in the folder.
    evaluator : Evaluator
    folder : RunFiles
        Files of a run whose pilot is not complete.

    Returns
    -------
    bool
        Whether all answers have been scored again, or needed no change.

    Raises
    ------
    TableError
        If the scorer has changed, and an answer cannot be scored again.
    """
    if not folder.pilot.exists():
        return False

    with closing(Lines(folder.pilot)) as pilot:
        entries = pilot.entries
        scored = [
            entry
            for entry in entries
            if "tell" in entry
            and entry["reward"] is not None
            and FAILED_KEY not in entry["record"]
        ]
        # plans that differ in other fields were already refused
        is_changed = bool(folder.find_differences(plan))
        records = [entry["record"] for entry in scored]
        has_equal_scores = find_equal_objective(plan.objectives, records) is not None
        if not is_changed and not has_equal_scores:
            return False

        changed = _score_again(plan, evaluator, folder, scored)
        if changed is None:
            if is_changed:
                folder.refuse(plan)
            return False
        if changed:
            with closing(Lines(folder.answers)) as answers:
                answers.mend()
                for answer in changed:
                    answers.append(answer)
            pilot.replace(entries)

    return True


def _score_again(
    plan: Plan, evaluator: Evaluator, folder: RunFiles, scored: list[dict[str, Any]]
) -> list[dict[str, Any]] | None:
    """Replace the scores in a pilot's records, and return the changed answers.

    Returns None if an answer cannot be scored again.
    """
    score_again = getattr(evaluator, "rescore", None)
    answers = {
        (entry["config"], entry["instance"]): entry
        for entry in read_entries(folder.answers)
    }
    changed = []
    for entry in scored:
        arm = entry["tell"]
        instance = plan.order[entry["number"]]
        answer = answers.get((plan.names[arm], instance))
        if answer is None or score_again is None:
            return None
        scores = score_again(plan.configurations.all[arm], instance, answer)
        if scores is None:
            return None
        row = {
            column: value
            for column, value in scores.items()
            if column != plan.cost.column
        }
        record = entry["record"] | row
        if record != entry["record"]:
            entry["record"] = record
            changed.append(answer | {"row": record})

    return changed
