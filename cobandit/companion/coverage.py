"""Whether what is called settled is right: samples of a table whose answers are known, asked many times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _check
from cobandit.advice.paired import Paired, compare_pairs
from cobandit.advice.questions import Levels, efficiency_questions, find_levels, find_tails, front_questions
from cobandit.errors import CobanditError
from cobandit.tables import Card, EvaluationTable


class Truth(NamedTuple):
    """What is so, of K configurations."""

    on_front: NDArray[np.bool_]
    efficiency: NDArray[np.float64]


def truth_of(table: EvaluationTable, strict: bool = False) -> Truth:
    """Give the answers over all instances of a table."""
    whole = compare_pairs(table, strict=strict)
    return Truth(whole.on_front, whole.efficiency)


def sample(table: EvaluationTable, n_instances: int, rng: np.random.Generator) -> EvaluationTable:
    """Draw a table of independent instances from a table, each configuration on all of them.

    Parameters
    ----------
    table : EvaluationTable
        Complete, and the population: its means are the true ones.
    n_instances : int
        Drawn with replacement, under new names; objectives stay as they are scored in ``table``.
    rng : Generator

    Returns
    -------
    EvaluationTable
    """
    rows = table.rows
    of = rows["instance"].cat.codes.to_numpy().reshape(table.n_arms, -1)
    drawn = rng.integers(of.shape[1], size=n_instances)
    taken = rows.iloc[(np.arange(table.n_arms)[:, None] * of.shape[1] + drawn).ravel()]
    names = [f"{number:06d}" for number in range(n_instances)]
    taken = taken.drop(columns="split").assign(instance=np.tile(names, table.n_arms))
    return EvaluationTable.from_records(taken, _plain_card(table, n_instances))


def thinned(table: EvaluationTable, share: float, rng: np.random.Generator) -> EvaluationTable:
    """Leave out evaluations at random, of each configuration the same share, at least four made."""
    rows, kept = table.rows, []
    for _, own in rows.groupby("config", observed=True):
        kept.append(own.sample(max(4, round(share * len(own))), random_state=rng))
    taken = pd.concat(kept).drop(columns="split")
    return EvaluationTable.from_records(taken, _plain_card(table, rows["instance"].nunique()))


def _plain_card(table: EvaluationTable, n_instances: int) -> Card:
    """Card for rows whose objectives are scored already."""
    objectives = [{"name": name, "column": name} for name in table.objectives]
    fields = table.card.model_dump() | {
        "cost": {"column": "cost", "unit": table.card.cost.unit},
        "objectives": objectives,
        "split": {"profiling": max(2, n_instances // 2)},
        "arms": (),
        "origin": None,
    }
    return Card.model_validate(fields)


def bonferroni(compared: Paired, alpha: float) -> Levels:
    """Levels that Bonferroni's inequality gives: what the step-down procedure is to improve on."""
    n_arms = len(compared.costs)
    best = np.full(n_arms, alpha / (n_arms - 1))
    return Levels(alpha / (n_arms * (n_arms - 1)), alpha / (n_arms * compared.n_compared), best)


def coverage(
    table: EvaluationTable,
    n_instances: int | None = None,
    share: float | None = None,
    samples: int = 40,
    level: float = 0.95,
    seed: int = 0,
    strict: bool = False,
) -> pd.DataFrame:
    """Ask samples of a table what is settled, and compare it with what the whole table says.

    Parameters
    ----------
    table : EvaluationTable
        Complete: every configuration on every instance.
    n_instances : int, optional
        Independent instances of each sample, for answers on instances like these.
    share : float, optional
        Share of the evaluations that are made, for answers on the benchmark; exactly one of the two is given.
    samples : int
    level : float
        Confidence.
    seed : int
    strict : bool
        Whether the front is the paper's, as in `compare_pairs`.

    Returns
    -------
    DataFrame, one row per sample
        ``settled`` and ``bonferroni``, memberships settled by the step-down procedure and by Bonferroni's
        inequality; ``wrong``, whether any settled membership is wrong; ``best_settled`` and ``best_wrong``,
        whether the most efficient configuration is settled, and wrongly; ``cannot_tell``, whether the tail of
        its costs is what leaves it open.

    Raises
    ------
    CobanditError
        If a number is out of range.

    Examples
    --------
    >>> import cobandit as cb
    >>> found = coverage(cb.load("synthetic-24"), n_instances=100, samples=2)
    >>> bool((found["settled"] >= found["bonferroni"]).all()), bool(found["wrong"].any())
    (True, False)
    """
    if (n_instances is None) == (share is None):
        raise CobanditError("n_instances or share: exactly one of the two is needed")
    samples, rng, true = (
        _check.count(samples, "samples", 1),
        np.random.default_rng(seed),
        truth_of(table, strict),
    )
    found = []
    for number in range(samples):
        if n_instances is not None:
            drawn = sample(table, _check.count(n_instances, "n_instances", 4), rng)
        else:
            drawn = thinned(table, _check.positive(share or 0, "share"), rng)
        compared = compare_pairs(drawn, finite=n_instances is None, strict=strict)
        levels = find_levels(compared, 1 - level, seed + number)
        open_ = {question.arm for question in front_questions(compared, levels)}
        before = {question.arm for question in front_questions(compared, bonferroni(compared, 1 - level))}
        sure = np.array([arm not in open_ for arm in range(table.n_arms)])
        asked = efficiency_questions(compared, levels, find_tails(compared))
        best = int(compared.efficiency.argmax())
        found.append(
            {
                "settled": int(sure.sum()),
                "bonferroni": table.n_arms - len(before),
                "wrong": bool((compared.on_front != true.on_front)[sure].any()),
                "best_settled": not asked,
                "best_wrong": not asked and bool(true.efficiency[best] < true.efficiency.max()),
                "cannot_tell": any(question.why == "tail" for question in asked),
            }
        )
    return pd.DataFrame(found)
