"""The stop after a pilot in which all scores are equal, as with a wrong scorer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cobandit._text import ellipsize
from cobandit.errors import raise_fault
from cobandit.live.lines import read_entries
from cobandit.live.records import FAILED_KEY
from cobandit.live.run_files import RunFiles
from cobandit.live.stages import RunStage
from cobandit.tables.card import Objective

#: Largest number of characters of a name, an answer or a right answer in the message.
SHOWN_LETTERS = 120

#: A pilot in which all answers have the best score stops the run only if it has at
#: least this number of answers. If 95 % of all answers are right, one in twenty pilots
#: of this size has only right answers.
FEWEST_BEST = 60

#: Code of the fault that all scores are equal.
EQUAL_SCORES = "equal-scores"


def find_equal_objective(
    objectives: Iterable[Objective], records: Iterable[Mapping[str, Any]]
) -> Objective | None:
    """Return the first objective in which all records have equal scores, or None.

    Fewer than `FEWEST_BEST` records may all have the best score, because the benchmark
    may be easy. An objective whose scale is fitted to the pilot is skipped, because
    equal values do not determine a scale.

    Examples
    --------
    >>> accuracy = Objective(name="accuracy", column="correct")
    >>> find_equal_objective([accuracy], [{"correct": 0.0}, {"correct": 0.0}]).name
    'accuracy'
    >>> find_equal_objective([accuracy], [{"correct": 1.0}, {"correct": 1.0}])
    >>> find_equal_objective([accuracy], [{"correct": 0.0}, {"correct": 1.0}])
    """
    scored = [record for record in records if FAILED_KEY not in record]
    for objective in objectives:
        has_scale = objective.transform == "none" or objective.limits is not None
        values = {record.get(objective.column) for record in scored}
        if not has_scale or len(scored) < 2 or len(values) > 1:
            continue

        best = 1.0 if objective.limits is None else objective.limits[0]
        if values != {best} or len(scored) >= FEWEST_BEST:
            return objective
    return None


def refuse_equal_scores(pilot: RunStage, folder: RunFiles, can_rescore: bool) -> None:
    """Stop a run if all scores of its pilot are equal, unless the plan allows this.

    Parameters
    ----------
    pilot : RunStage
        A complete pilot.
    folder : RunFiles
        Files of the run, from which the message quotes an answer.
    can_rescore : bool
        Whether the evaluator can score answers again, so that the run can continue.

    Raises
    ------
    TableError
        With the code ``equal-scores``. The message shows an answer and the right
        answer.
    """
    plan = pilot.plan
    if plan.equal_scores:
        return
    objective = find_equal_objective(plan.objectives, pilot.results.values())
    if objective is None:
        return

    scored = {
        key: record for key, record in pilot.results.items() if FAILED_KEY not in record
    }
    key, record = next(iter(scored.items()))
    name, instance = pilot.name_record(key)
    value = record[objective.column]
    problem = (
        f"all {len(scored)} answers of the pilot score {value:g} in {objective.name}"
        f" (column {objective.column!r}), so that configurations cannot be"
        f" distinguished. For example, {ellipsize(name, SHOWN_LETTERS)!r} on instance"
        f" {ellipsize(instance, SHOWN_LETTERS)!r}"
        f" {describe_answer(folder, name, instance)}"
    )
    if can_rescore:
        remedy = (
            "correct the scorer or the right answers, and run the plan again: kept"
            " answers are scored again without new requests. If equal scores are"
            " intended, write equal_scores: true into the plan"
        )
    else:
        remedy = (
            "correct the evaluator and start in another folder (--folder); the"
            " results in this folder are kept. If equal scores are intended, write"
            " equal_scores: true into the plan, and run it again"
        )

    raise_fault(folder.path, problem, remedy, code=EQUAL_SCORES)


def describe_answer(folder: RunFiles, name: str, instance: str) -> str:
    """Describe a configuration's last answer on an instance, with the right answer."""
    answers = [
        entry
        for entry in read_entries(folder.answers)
        if (entry["config"], entry["instance"]) == (name, instance)
    ]
    if not answers:
        return "has no text to show here (an evaluator may return it as 'answer')"

    text = answers[-1].get("text")
    target = answers[-1].get("target")
    description = f"answered {_quote(text)}" if text else "gave an empty answer"
    if target is not None:
        description += f", where {_quote(target)} is right"
    return description


def _quote(text: str) -> str:
    return repr(ellipsize(" ".join(str(text).split()), SHOWN_LETTERS))
