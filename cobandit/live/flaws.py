"""Flaws of a run's evaluations, by configuration: failures, answers cut off or empty, doubtful costs."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit import _budget
from cobandit._text import amount, some_names
from cobandit.live.progress import recommended
from cobandit.live.records import COST_WAS_ZERO, FAILED_KEY
from cobandit.live.stages import MainStage, RunStage
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.tables.card import CUT_OFF, EMPTY, FAILURES, FREE

#: Columns that are 1 where something is odd about an answer, which is scored as it is.
COUNTED = {
    "truncated": "cut off at a limit of tokens",
    "empty": "empty",
    COST_WAS_ZERO: "free, and charged as the cheapest one",
    "doubtful": "counted in tokens that do not add up, and are charged in full",
    "estimated": "not counted in tokens, which are estimated from their text",
}

#: The kind of flaw, as a card counts it, that a column marks.
FLAW_OF_COLUMN = {
    "truncated": CUT_OFF,
    "empty": EMPTY,
    FAILED_KEY: FAILURES,
    COST_WAS_ZERO: FREE,
}

#: Kinds by which a configuration may lose, with the words for them.
LOSSES = {
    CUT_OFF: "answers were cut off",
    EMPTY: "answers were empty",
    FAILURES: "evaluations failed",
}

#: Settings that limit the tokens of an answer.
LIMITS = ("max_tokens", "max_completion_tokens")

#: Share of its evaluations below which flaws are not said to cost a configuration its
#: place.
LOSING_SHARE = 0.1


class Loser(NamedTuple):
    """A configuration that is not returned, and would be by its evaluations without a flaw.

    Attributes
    ----------
    name : str
    kind : str
        The commonest flaw, such as `cobandit.tables.card.CUT_OFF`.
    flawed, evaluations : int
        How many of its evaluations have that flaw, of how many.
    remedy : str
        What to do about it.
    """

    name: str
    kind: str
    flawed: int
    evaluations: int
    remedy: str

    def __str__(self) -> str:
        """Write it in two sentences."""
        counted = f"{self.flawed:,} of its {self.evaluations:,} {LOSSES[self.kind]}"
        return (
            f"{self.name} may have lost by this alone: {counted}, and by the others it"
            f" would be on the front. {self.remedy}"
        )


def find_losers(stage: MainStage) -> list[Loser]:
    """Find configurations that a method does not return, and would by their evaluations without a flaw.

    Each is compared with every other configuration on the instances that both have and
    on which it has no flaw itself, so that it gains nothing by having failed on hard
    ones.
    """
    policy = stage.policy
    returned = set(recommended(policy, stage.names))
    if not returned or not isinstance(policy, IdentificationPolicy):
        return []
    compares_cost = isinstance(policy, ParetoRace) and policy.compares_cost
    scores: list[dict[int, list[float]]] = [{} for _ in stage.names]
    flaws: list[dict[int, str]] = [{} for _ in stage.names]
    for (arm, place), record in stage.records.items():
        values = stage.rewards(record)
        if compares_cost:
            values.append(-record[stage.plan.cost.column])
        scores[arm][place] = values
        kinds = [
            kind
            for column, kind in FLAW_OF_COLUMN.items()
            if record.get(column) and kind in LOSSES
        ]
        if kinds:
            flaws[arm][place] = kinds[0]

    losers = []
    for arm, name in enumerate(stage.names):
        sound = scores[arm].keys() - flaws[arm].keys()
        has_enough = len(flaws[arm]) >= max(1, LOSING_SHARE * len(scores[arm]))
        if name in returned or not has_enough or not sound:
            continue
        if any(
            _dominates(scores[other], scores[arm], sound)
            for other in range(len(scores))
            if other != arm
        ):
            continue
        ((kind, number),) = Counter(flaws[arm].values()).most_common(1)
        losers.append(
            Loser(name, kind, number, len(scores[arm]), _find_remedy(stage, arm, kind))
        )
    return losers


def _dominates(
    rival: dict[int, list[float]], scores: dict[int, list[float]], places: set[int]
) -> bool:
    """Whether a rival has means at least as high on the instances that both have, and a higher one."""
    shared = sorted(places & rival.keys())
    if not shared:
        return False
    ahead = np.mean([rival[place] for place in shared], axis=0)
    behind = np.mean([scores[place] for place in shared], axis=0)
    return bool((ahead >= behind).all() and (ahead > behind).any())


def _find_remedy(stage: MainStage, arm: int, kind: str) -> str:
    """Say what to do about a configuration that loses by a kind of flaw."""
    again = "in a new run that starts from this table (--from)"
    if kind == CUT_OFF:
        settings = stage.plan.configurations.all[arm]
        limit = next((name for name in LIMITS if settings.get(name) is not None), None)
        what = (
            "its limit of tokens"
            if limit is None
            else f"its {limit} ({settings[limit]})"
        )
        return f"Raise {what} {again}."
    if kind == EMPTY:
        return (
            "Look at a few of its answers (cobandit.live.read_answers): reasoning may"
            " use up all tokens."
        )

    return f"See why they fail, and evaluate it {again}."


def describe_overspending(stage: RunStage) -> str:
    """Say by how much the budget is exceeded, and how to prevent it; nothing if it is not."""
    plan = stage.plan
    budget = stage.budget
    if budget is None or stage.spent <= _budget.add_slack(budget):
        return ""

    excess = (
        f"the budget is exceeded by {amount(stage.spent - budget)} {plan.cost.unit}"
    )
    if plan.largest_cost is not None:
        return (
            f"{excess}, since an evaluation cost more than the plan's largest_cost:"
            " raise it"
        )

    return (
        f"{excess}, since an evaluation cost more than those before it. A run stays"
        " within its budget with largest_cost in its plan: the most that one may cost,"
        " or the setting that says it (max_tokens)"
    )


def describe_flaws(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say what was lost by failures, what else is not as it should be, and who may have lost by it."""
    lines = [describe_overspending(stage)]
    if FAILED_KEY in frame:
        first = next(
            record[FAILED_KEY]
            for record in stage.records.values()
            if FAILED_KEY in record
        )
        failed = f"{frame[FAILED_KEY].sum()} of {len(frame)} evaluations failed and score zero"
        lines.append(
            f"{failed} ({_count_by_configuration(frame, FAILED_KEY)}); the first: {first}"
        )

    for column, words in COUNTED.items():
        if column in frame and frame[column].any():
            counted = f"{int(frame[column].sum())} of {len(frame)} answers were {words}"
            lines.append(f"{counted} ({_count_by_configuration(frame, column)})")

    lines += map(str, find_losers(stage))
    if stage.left_out:
        lines.append(
            f"{len(stage.left_out)} instances are left out, since an evaluation on them"
            " failed"
        )

    return [line for line in lines if line]


def _count_by_configuration(frame: pd.DataFrame, column: str) -> str:
    """Count the rows of each configuration that a column marks, the most first."""
    marked = frame.groupby("config")[column].agg(["sum", "size"])
    marked = marked[marked["sum"] > 0].sort_values(
        "sum", ascending=False, kind="stable"
    )
    return some_names(
        [
            f"{row['sum']:.0f} of {row['size']:.0f} of {name}"
            for name, row in marked.iterrows()
        ]
    )


def count_flaws(frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count flaws by configuration and kind, as a card has them."""
    counts: dict[str, dict[str, int]] = {}
    for column, kind in FLAW_OF_COLUMN.items():
        if column in frame:
            for name, number in frame.groupby("config")[column].sum().items():
                if number:
                    counts.setdefault(str(name), {})[kind] = int(number)
    return counts
