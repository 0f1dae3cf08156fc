"""A run per configuration: how far each was evaluated, what became of it, and what its answers lack."""

from __future__ import annotations

import pandas as pd

from cobandit.errors import CobanditError
from cobandit.live.flaws import count_flaws
from cobandit.live.progress import Progress
from cobandit.live.run_table import card_of, frame_of
from cobandit.live.stages import MainStage
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.tables.card import Card
from cobandit.tables.table import EvaluationTable


def tabulate_evaluations(progress: Progress) -> EvaluationTable:
    """Make the table of a run's evaluations so far, without writing it.

    Raises
    ------
    CobanditError
        If there are too few evaluations for a table yet.
    """
    stage = _find_main_stage(progress)
    frame = frame_of(stage)
    card = Card.model_validate(card_of(stage, frame))
    return EvaluationTable.from_records(frame, card, "the run")


def tabulate_configurations(progress: Progress) -> pd.DataFrame:
    """Tabulate what became of each configuration of a run.

    Returns
    -------
    DataFrame
        Indexed by configuration, in the plan's order: ``evaluations`` so far, ``state``, as text, and a
        column per kind of flaw, such as answers that were cut off, with how many it has.

    Raises
    ------
    CobanditError
        If the pilot is not over.
    """
    stage = _find_main_stage(progress)
    frame = frame_of(stage)
    names = list(stage.names)
    counts = frame["config"].value_counts().reindex(names, fill_value=0)
    found = pd.DataFrame({"evaluations": counts.to_numpy()}, index=pd.Index(names, name="configuration"))
    policy = stage.policy
    if isinstance(policy, IdentificationPolicy):
        active = set(policy.active.tolist())
        returned = set(progress.front)
        found["state"] = [
            "active" if arm in active else _name_end(name in returned, int(policy.pulls[arm]))
            for arm, name in enumerate(names)
        ]
    flaws = count_flaws(frame)
    for kind in dict.fromkeys(kind for each in flaws.values() for kind in each):
        found[kind] = [flaws.get(name, {}).get(kind, 0) for name in names]
    return found


def _name_end(is_returned: bool, instances: int) -> str:
    return f"{'returned' if is_returned else 'left'} after {instances} instances"


def _find_main_stage(progress: Progress) -> MainStage:
    if not isinstance(progress.stage, MainStage):
        raise CobanditError(
            "the run is in its pilot, and there is nothing to compare yet -> wait until the pilot is over"
        )
    return progress.stage
