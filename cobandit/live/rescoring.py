"""Answers that a run has kept, and how they are scored again without a call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from cobandit.errors import CobanditError
from cobandit.live.evaluators.texts import ScorerOptions
from cobandit.live.folder import RunFolder
from cobandit.live.lines import read_entries
from cobandit.live.records import FAILED
from cobandit.tables.safe_reading import check_fields
from cobandit.tables.storage import write_table

#: The column that a scorer gives.
SCORE = "score"


def read_answers(folder: str | Path) -> pd.DataFrame:
    """Read what the models of a run wrote.

    Parameters
    ----------
    folder : str or Path
        Of the run.

    Returns
    -------
    DataFrame
        One row of each evaluation, in the order in which they were made: ``config``, ``instance``,
        ``prompt`` (a checksum of what was asked), ``text``, ``target`` (the right answer) and ``finish``
        (why the text ended), as far as the evaluator gives them, and ``row``, what was measured.

    Raises
    ------
    CobanditError
        If the run kept no answers.
    """
    path = RunFolder(folder).answers
    entries = read_entries(path)
    if not entries:
        raise CobanditError(
            f"{path.parent} has no answers: its evaluator gave no text, or its plan says answers: false"
        )
    # one that was in flight when a process died was made again: the last is the one that counts
    return pd.DataFrame(entries).drop_duplicates(["config", "instance"], keep="last", ignore_index=True)


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
        If there is no table, an evaluation of it has no answer, or no column is the score.
    """
    there = RunFolder(folder)
    options = check_fields(ScorerOptions, dict(scorer), "the scorer")
    answers = {(each["config"], each["instance"]): each for each in read_answers(folder).to_dict("records")}
    if not there.table.exists():
        raise CobanditError(f"{there.path} has no table yet: end the run, or export it")
    frame = pd.read_parquet(there.table)
    if SCORE not in frame:
        raise CobanditError(f"{there.table} has no column {SCORE!r}")
    fails = frame[FAILED] if FAILED in frame else pd.Series(False, frame.index)
    for number, row in frame[~fails].iterrows():
        answer = answers.get((row["config"], row["instance"]), {})
        target = answer.get("target")
        # a function may do without what is right
        if "text" not in answer or (":" not in options.scorer and not isinstance(target, str)):
            raise CobanditError(
                f"no text of {row['config']!r} on {row['instance']!r} was kept, or no right answer with it "
                "(a function as evaluator gives none): run the plan anew, or score by a function of your "
                "own: --scorer my_module:score"
            )
        known = target if isinstance(target, str) else ""
        for column, value in options.score(answer["text"], known).items():
            frame.loc[number, column] = value
    card = yaml.safe_load(there.table.with_suffix(".yml").read_text(encoding="utf-8"))
    card["name"] = f"{card['name']}-rescored"
    given = ", ".join(f"{name} {value}" for name, value in scorer.items())
    output = there.path / "rescored.parquet"
    write_table(frame, card, output, [f"made by: cobandit rescore, {given}; no evaluation was made again"])
    return output
