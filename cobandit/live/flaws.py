"""Flaws of a run's evaluations: failures, cut-off or empty answers, doubtful costs."""

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

#: Columns that mark flawed answers, with descriptions. Such answers are scored like
#: others.
COUNTED = {
    "truncated": "cut off at a limit of tokens",
    "empty": "empty",
    COST_WAS_ZERO: "free, and charged the smallest cost so far",
    "doubtful": "billed with token counts that do not add up, and are charged in full",
    "estimated": "without token counts, which are estimated from the text",
}

#: Names of flaws in the description of a table (its card), by the column that marks
#: them.
FLAW_OF_COLUMN = {
    "truncated": CUT_OFF,
    "empty": EMPTY,
    FAILED_KEY: FAILURES,
    COST_WAS_ZERO: FREE,
}

#: Kinds of flaws that may keep a configuration off the front, with descriptions.
LOSSES = {
    CUT_OFF: "answers were cut off",
    EMPTY: "answers were empty",
    FAILURES: "evaluations failed",
}

#: Settings that limit the number of tokens of an answer.
LIMITS = ("max_tokens", "max_completion_tokens")

#: Smallest share of flawed evaluations that may keep a configuration off the front.
LOSING_SHARE = 0.1


class Loser(NamedTuple):
    """A configuration that may be off the front only because of flawed evaluations."""

    #: Name of the configuration.
    name: str
    #: Most frequent flaw of the configuration, such as `cobandit.tables.card.CUT_OFF`.
    kind: str
    #: Number of evaluations with this flaw.
    flawed: int
    #: Number of evaluations of the configuration.
    evaluations: int
    #: Advice on how to avoid the flaw.
    remedy: str

    def __str__(self) -> str:
        """Describe the loss and the remedy in two sentences."""
        counted = f"{self.flawed:,} of its {self.evaluations:,} {LOSSES[self.kind]}"
        return (
            f"{self.name} may be missing only because {counted}. By its other answers"
            f" it would be on the front. {self.remedy}"
        )


def find_losers(stage: MainStage) -> list[Loser]:
    """Find configurations that would be on the front without their flawed evaluations.

    A configuration is compared with every rival on the instances that the two share,
    without those on which the configuration's own evaluation is flawed. Both means are
    over the same instances, so failing on hard instances is no advantage. Only
    configurations are returned whose share of flawed evaluations is at least
    `LOSING_SHARE`.
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
        rivals = (scores[rival] for rival in range(len(scores)) if rival != arm)
        if any(_dominates(rival, scores[arm], sound) for rival in rivals):
            continue
        ((kind, n_flawed),) = Counter(flaws[arm].values()).most_common(1)
        loser = Loser(
            name=name,
            kind=kind,
            flawed=n_flawed,
            evaluations=len(scores[arm]),
            remedy=_find_remedy(stage, arm, kind),
        )
        losers.append(loser)
    return losers


def _dominates(
    rival: dict[int, list[float]], scores: dict[int, list[float]], places: set[int]
) -> bool:
    """Whether a rival dominates a configuration on their shared instances."""
    shared = sorted(places & rival.keys())
    if not shared:
        return False
    ahead = np.mean([rival[place] for place in shared], axis=0)
    behind = np.mean([scores[place] for place in shared], axis=0)
    return bool((ahead >= behind).all() and (ahead > behind).any())


def _find_remedy(stage: MainStage, arm: int, kind: str) -> str:
    """Return advice on avoiding a kind of flaw, for one configuration."""
    new_run = "in a new run that reuses this table (--from)"
    if kind == CUT_OFF:
        settings = stage.plan.configurations.all[arm]
        limit = next((name for name in LIMITS if settings.get(name) is not None), None)
        setting = "limit of tokens"
        if limit is not None:
            setting = f"{limit} ({settings[limit]})"
        return f"Raise its {setting} {new_run}."
    if kind == EMPTY:
        return (
            "Read a few of its answers (cobandit.live.read_answers): reasoning may"
            " use up all tokens."
        )

    return f"Find the reason for its failures, and evaluate it {new_run}."


def describe_overspending(stage: RunStage) -> str:
    """Describe how far a run exceeds its budget, and the remedy; '' if it does not."""
    plan = stage.plan
    budget = stage.budget
    if budget is None or stage.spent <= _budget.add_slack(budget):
        return ""

    excess = (
        f"the budget is exceeded by {amount(stage.spent - budget)} {plan.cost.unit}"
    )
    if plan.largest_cost is not None:
        return (
            f"{excess}, because an evaluation cost more than the plan's largest_cost."
            " Increase largest_cost"
        )

    return (
        f"{excess}, because an evaluation cost more than all earlier ones. To stay"
        " within the budget, add largest_cost to the plan: the largest possible cost"
        " of an evaluation, or the setting that limits it (max_tokens)"
    )


def describe_flaws(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Describe a run's flaws, and configurations that are off the front due to them."""
    lines = [describe_overspending(stage)]
    if FAILED_KEY in frame:
        first = next(
            record[FAILED_KEY]
            for record in stage.records.values()
            if FAILED_KEY in record
        )
        n_failed = frame[FAILED_KEY].sum()
        by_configuration = _count_by_configuration(frame, FAILED_KEY)
        lines.append(
            f"{n_failed} of {len(frame)} evaluations failed and score zero"
            f" ({by_configuration}); the first: {first}"
        )

    for column, words in COUNTED.items():
        if column in frame and frame[column].any():
            counted = f"{int(frame[column].sum())} of {len(frame)} answers were {words}"
            lines.append(f"{counted} ({_count_by_configuration(frame, column)})")

    lines += map(str, find_losers(stage))
    if stage.left_out:
        lines.append(
            f"{len(stage.left_out)} instances are left out, because an evaluation on"
            " them failed"
        )

    return [line for line in lines if line]


def _count_by_configuration(frame: pd.DataFrame, column: str) -> str:
    """List the number of marked rows per configuration, largest first."""
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
    """Count the flawed evaluations of each configuration, by kind of flaw."""
    counts: dict[str, dict[str, int]] = {}
    for column, kind in FLAW_OF_COLUMN.items():
        if column in frame:
            for name, number in frame.groupby("config")[column].sum().items():
                if number:
                    counts.setdefault(str(name), {})[kind] = int(number)
    return counts
