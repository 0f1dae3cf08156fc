"""The result of a run: its recommendation, table and cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobandit._text import amount
from cobandit.live.flaws import describe_flaws
from cobandit.live.plan import Plan
from cobandit.live.progress import ask_about, recommended
from cobandit.live.run_files import RunFiles
from cobandit.live.run_table import card_of, frame_of, report_of
from cobandit.live.stages import MainStage
from cobandit.policies.asktell import AskTell
from cobandit.tables.storage import write_table


@dataclass(frozen=True, repr=False)
class Run:
    """The result of a run: its recommendation, table and cost."""

    #: The plan.
    plan: Plan
    #: Names of the configurations that the method recommends: the Pareto set, or the
    #: most efficient configuration.
    recommendation: tuple[str, ...]
    #: Path of the table of evaluations, for `cobandit.read`. Its card (a YAML
    #: description) is next to it.
    table: Path
    #: The policy at the end of the run.
    policy: AskTell
    #: Cost of the run in the unit of the cost, including the pilot.
    spent: float
    #: Part of ``spent`` that was paid by an earlier run whose table was reused.
    inherited: float
    #: Budget in the unit of the cost; None for a race without a budget.
    budget: float | None
    #: Failures and other flaws of the evaluations, in words.
    losses: tuple[str, ...]
    #: Source and day of the prices; blank if none are used.
    prices: str = ""

    def __repr__(self) -> str:
        """Show the plan's name, the number of returned configurations and the cost."""
        unit = self.plan.cost.unit
        counted = f"{len(self.recommendation)} of {len(self.plan.names)} configurations"
        return (
            f"Run({self.plan.name!r}, returns {counted}, spent {amount(self.spent)}"
            f" {unit})"
        )

    @property
    def question(self) -> dict[str, Any]:
        """Arguments of `cobandit.recommend` that match the method's front."""
        return ask_about(self.policy)


def write_run(stage: MainStage, folder: RunFiles) -> Run:
    """Write the table and the recommendation of a run, and return its result.

    The card, a YAML file that describes the table, is written next to it.
    """
    plan = stage.plan
    recommendation = recommended(stage.policy, stage.names)
    content = {
        "method": plan.method.name,
        "recommendation": list(recommendation),
        "finished": stage.policy.finished,
        "spent": stage.spent,
        "inherited": stage.inherited,
        "budget": stage.budget,
        "unit": plan.cost.unit,
    }
    folder.write(folder.recommendation, content)

    frame = frame_of(stage)
    report = report_of(stage, frame)
    prices = folder.prices_source
    if prices:
        report.append(f"prices: {prices}")
    write_table(frame, card_of(stage, frame), folder.table, report)
    return Run(
        plan=plan,
        recommendation=recommendation,
        table=folder.table,
        policy=stage.policy,
        spent=stage.spent,
        inherited=stage.inherited,
        budget=stage.budget,
        losses=tuple(describe_flaws(stage, frame)),
        prices=prices,
    )
