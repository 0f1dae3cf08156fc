"""A stop after a pilot whose scores are all equal, as where a scorer fits no answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cobandit._text import ellipsize
from cobandit.errors import raise_fault
from cobandit.live.lines import read_entries
from cobandit.live.plan import Plan
from cobandit.live.records import FAILED
from cobandit.live.run_files import RunFiles
from cobandit.live.stages import Stage
from cobandit.tables.card import Objective

#: Letters of an answer and of a right answer that the message shows, at most.
SHOWN_LETTERS = 120

#: Where 95 of 100 answers are right, so many are all right in one pilot of twenty:
#: nothing has to be mended.
FEWEST_BEST = 60

#: The fault's code.
EQUAL_SCORES = "equal-scores"


def find_equal_objective(
    plan: Plan, records: Iterable[Mapping[str, Any]]
) -> Objective | None:
    """Find the first objective on which several records all score alike; None if there is none.

    Fewer than `FEWEST_BEST` records with the best score may be an easy benchmark.  An
    objective whose scale is fitted to the pilot is left out, since no scale fits equal
    values.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> plan = check_plan({
    ...     "name": "toy", "configurations": {"grid": {"model": ["a", "b"]}}, "instances": 30,
    ...     "budget": 0.5, "unit": "share", "cost": {"column": "tokens", "unit": "tokens"},
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> find_equal_objective(plan, [{"correct": 0.0}, {"correct": 0.0}]).name
    'accuracy'
    >>> find_equal_objective(plan, [{"correct": 1.0}, {"correct": 1.0}])
    >>> find_equal_objective(plan, [{"correct": 0.0}, {"correct": 1.0}])
    """
    scored = [record for record in records if FAILED not in record]
    for objective in plan.objectives:
        has_scale = objective.transform == "none" or objective.limits is not None
        values = {record.get(objective.column) for record in scored}
        if not has_scale or len(scored) < 2 or len(values) > 1:
            continue

        best = 1.0 if objective.limits is None else objective.limits[0]
        if values != {best} or len(scored) >= FEWEST_BEST:
            return objective
    return None


def refuse_equal_scores(pilot: Stage, folder: RunFiles, can_rescore: bool) -> None:
    """Stop a run after a pilot whose scores are all equal, unless its plan says that they are meant.

    Parameters
    ----------
    pilot : Stage
        A complete one.
    folder : RunFiles
        Of the run; the message shows one of its answers.
    can_rescore : bool
        Whether the evaluator can score answers again, so that the same run can go on.

    Raises
    ------
    TableError
        With the code ``equal-scores``, an answer with its right answer, and what to do.
    """
    plan = pilot.plan
    objective = (
        None
        if plan.equal_scores
        else find_equal_objective(plan, pilot.results.values())
    )
    if objective is None:
        return

    scored = {
        key: record for key, record in pilot.results.items() if FAILED not in record
    }
    key, record = next(iter(scored.items()))
    name, instance = pilot.name_record(key)
    value = record[objective.column]
    problem = (
        f"all {len(scored)} answers of the pilot score {value:g} in {objective.name}"
        f" (column {objective.column!r}), so they cannot tell configurations apart. For"
        f" example, {ellipsize(name, SHOWN_LETTERS)!r} on instance"
        f" {ellipsize(instance, SHOWN_LETTERS)!r}"
        f" {describe_answer(folder, name, instance)}"
    )
    if can_rescore:
        remedy = (
            "mend the scorer or the right answers, and run the plan again: it scores"
            " the answers that are kept, and asks nothing twice. If equal scores are"
            " meant, write equal_scores: true into the plan"
        )
    else:
        remedy = (
            "mend the evaluator and start in another folder (--folder). What was"
            " evaluated is kept here. If equal scores are meant, write equal_scores:"
            " true into the plan, and run it again"
        )

    raise_fault(folder.path, problem, remedy, code=EQUAL_SCORES)


def describe_answer(folder: RunFiles, name: str, instance: str) -> str:
    """Describe the last answer that a configuration gave on an instance, with the right one."""
    answers = [
        entry
        for entry in read_entries(folder.answers)
        if (entry["config"], entry["instance"]) == (name, instance)
    ]
    if not answers:
        return (
            "gave no text that could be shown here (an evaluator may return it as"
            " 'answer')"
        )

    text = answers[-1].get("text")
    target = answers[-1].get("target")
    answered = f"answered {_quote(text)}" if text else "gave an empty answer"
    return (
        answered if target is None else f"{answered}, where {_quote(target)} is right"
    )


def _quote(text: str) -> str:
    return repr(ellipsize(" ".join(str(text).split()), SHOWN_LETTERS))
