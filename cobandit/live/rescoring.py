"""Answers that a run has kept, and how they are scored again without a call."""

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

#: The column that a scorer gives.
SCORE_COLUMN = "score"


def read_answers(folder: str | Path) -> pd.DataFrame:
    """Read the texts that the models of a run wrote.

    Parameters
    ----------
    folder : str or Path
        Of the run.

    Returns
    -------
    DataFrame
        One row of each evaluation, in the order in which they were made: ``config``,
        ``instance``, ``prompt`` (a checksum of what was asked), ``text``, ``target``
        (the right answer) and ``finish`` (why the text ended), as far as the evaluator
        gives them, and ``row``, what was measured.

    Raises
    ------
    CobanditError
        If the run kept no answers.
    """
    path = RunFiles(folder).answers
    entries = read_entries(path)
    if not entries:
        problem = (
            "the run has no answers: its evaluator gave no text, or its plan says"
            " answers: false"
        )
        raise_fault(
            path.parent,
            problem,
            "run a plan that keeps them in another folder",
            "no-answers-kept",
        )

    # one that was in flight when a process died was made again: the last is the one
    # that counts
    return pd.DataFrame(entries).drop_duplicates(
        ["config", "instance"], keep="last", ignore_index=True
    )


def rescore(folder: str | Path, scorer: Mapping[str, Any]) -> Path:
    """Score the answers of a run again, by another scorer and without a call.

    Parameters
    ----------
    folder : str or Path
        Of the run, which has a table.
    scorer : mapping
        As in a plan: ``{"scorer": "number", "tolerance": 0.5}``.

    Returns
    -------
    Path
        ``rescored.parquet`` in the folder, with its card: the run's table, scored anew.

    Raises
    ------
    CobanditError
        If there is no table, an evaluation of it has no answer, or no column is the
        score.
    """
    files = RunFiles(folder)
    options = check_fields(ScorerOptions, dict(scorer), "the scorer")
    answers = _read_last_answers(files)
    if not files.table.exists():
        raise_fault(
            files.path,
            "the run has no table yet",
            "end the run, or export it",
            "no-table",
        )
    frame = pd.read_parquet(files.table)
    if SCORE_COLUMN not in frame:
        problem = f"there is no column {SCORE_COLUMN!r}"
        raise_fault(
            files.table,
            problem,
            "score by the function that made its columns",
            "no-score",
        )

    has_failed = (
        frame[FAILED_KEY] if FAILED_KEY in frame else pd.Series(False, frame.index)
    )
    for number, row in frame[~has_failed].iterrows():
        answer = answers.get((row["config"], row["instance"]), {})
        target = answer.get("target")
        # a function may do without the right answer
        needs_target = ":" not in options.scorer
        if "text" not in answer or (needs_target and not isinstance(target, str)):
            raise_fault(
                f"{row['config']!r} on instance {row['instance']!r}",
                "no text was kept, or no right answer with it (a function as evaluator"
                " gives none)",
                "run the plan anew, or score by a function of your own: --scorer"
                " my_module:score",
                "no-answer",
            )
        scores = options.score(
            answer["text"], target if isinstance(target, str) else ""
        )
        for column, value in scores.items():
            frame.loc[number, column] = value

    card = yaml.safe_load(files.table.with_suffix(".yml").read_text(encoding="utf-8"))
    card["name"] = f"{card['name']}-rescored"
    words = ", ".join(f"{name} {value}" for name, value in scorer.items())
    output = files.path / "rescored.parquet"
    write_table(
        frame,
        card,
        output,
        [f"made by: cobandit rescore, {words}; no evaluation was made again"],
    )
    return output


def _read_last_answers(files: RunFiles) -> dict[tuple[str, str], dict[Any, Any]]:
    """Read the last answer of each configuration and instance."""
    entries: list[dict[Any, Any]] = read_answers(files.path).to_dict("records")
    return {(entry["config"], entry["instance"]): entry for entry in entries}


def rescore_pilot(plan: Plan, evaluator: Evaluator, folder: RunFiles) -> bool:
    """Score the answers of a pilot again if its scorer has changed, or all its scores are equal.

    Its journal is replaced at once, so that a process that dies meanwhile leaves the
    one or the other.

    Parameters
    ----------
    plan : Plan
        As it is now; the folder has the one that the answers were scored by.
    evaluator : Evaluator
    folder : RunFiles
        Of a run that has begun, and is not past its pilot.

    Returns
    -------
    bool
        Whether all answers are scored as the plan now says.

    Raises
    ------
    CobanditError
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
        # a plan that differs in anything else was refused before
        is_changed = bool(folder.find_differences(plan))
        if (
            not is_changed
            and find_equal_objective(
                plan.objectives, [entry["record"] for entry in scored]
            )
            is None
        ):
            return False
        changed = _score_again(plan, evaluator, folder, scored)
        if changed is None:
            if is_changed:
                folder.refuse(plan)
            return False
        if changed:
            with closing(Lines(folder.answers)) as kept:
                kept.mend()
                for answer in changed:
                    kept.append(answer)
            pilot.replace(entries)

    return True


def _score_again(
    plan: Plan, evaluator: Evaluator, folder: RunFiles, scored: list[dict[str, Any]]
) -> list[dict[str, Any]] | None:
    """Change the records of a pilot to new scores, and return their answers; None if one has no score."""
    score_again = getattr(evaluator, "rescore", None)

    answers = {
        (entry["config"], entry["instance"]): entry
        for entry in read_entries(folder.answers)
    }
    changed = []
    for entry in scored:
        arm = entry["tell"]
        name, instance = plan.names[arm], plan.order[entry["number"]]
        answer = answers.get((name, instance))
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
