"""Answers of a run: what models wrote stands next to the journal, and is scored again without a call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from cobandit.errors import CobanditError
from cobandit.live.evaluators.scorers import ScorerOptions
from cobandit.live.folder import RunFolder
from cobandit.live.log import read_entries
from cobandit.live.pilot import FAILED
from cobandit.tables.fields import check_fields
from cobandit.tables.storage import write_table

SCORE = "score"
"""The column that a scorer gives."""


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
        ``prompt`` (a checksum of what was asked), ``text``, ``target`` (the right answer), ``finish`` (why
        the text ended) and ``usage``, as far as the evaluator gives them, and ``row``, what was measured.

    Raises
    ------
    CobanditError
        If the run kept no answers.
    """
    path = RunFolder(folder).answers
    entries = read_entries(path) if path.exists() else []
    if not entries:
        raise CobanditError(
            f"{path.parent} has no answers: a run keeps them unless its plan says answers: false"
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
    answers = read_answers(folder).set_index(["config", "instance"])
    if not there.table.exists():
        raise CobanditError(f"{there.path} has no table yet: end the run, or export it")
    frame = pd.read_parquet(there.table)
    if SCORE not in frame:
        raise CobanditError(f"{there.table} has no column {SCORE!r}")
    fails = frame[FAILED] if FAILED in frame else pd.Series(False, frame.index)
    for number in frame.index[~fails]:
        config, instance = frame.loc[number, ["config", "instance"]]
        if (config, instance) not in answers.index:
            raise CobanditError(f"no answer was kept of {config!r} on {instance!r}: run the plan anew")
        answer = answers.loc[(config, instance)]
        for column, value in options.score(answer["text"], str(answer.get("target", ""))).items():
            frame.loc[number, column] = value
    card = yaml.safe_load(there.table.with_suffix(".yml").read_text(encoding="utf-8"))
    card["name"] = f"{card['name']}-rescored"
    given = ", ".join(f"{name} {value}" for name, value in scorer.items())
    output = there.path / "rescored.parquet"
    write_table(frame, card, output, [f"made by: cobandit rescore, {given}; no evaluation was made again"])
    return output
