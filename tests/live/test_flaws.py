"""Truncated, empty or failed answers: counted and named where they decide."""

import pytest
from support.commands import call
from support.runs import PLAN, Fake

import cobandit as cb
from cobandit import live
from cobandit.advice.doctor import doctor
from cobandit.live.evaluators import Failure
from cobandit.live.flaws import find_losers
from cobandit.live.status import describe_losers, tabulate_configurations
from cobandit.tables.card import CUT_OFF, EMPTY, FAILURES

pytestmark = pytest.mark.slow

RACE = PLAN | {
    "name": "race",
    "method": "ParetoRace",
    "budget": None,
    "unit": "",
    "stop": {"tolerance": 0.02},
    "configurations": {
        "list": [
            {"model": "good", "max_tokens": 60},
            {"model": "poor"},
            {"model": "worst"},
        ]
    },
    "objectives": [{"name": "accuracy", "column": "correct"}],
}


class Cut(Fake):
    """The good model is right unless its answer is flawed, on every other pair."""

    def __init__(self, kind="truncated"):
        super().__init__()
        self.kind = kind

    async def evaluate(self, configuration, instances):
        self.calls.append((tuple(configuration.values()), tuple(instances)))
        return [
            self.measure(configuration["model"], int(instance))
            for instance in instances
        ]

    def measure(self, model, number):
        right = {"good": True, "poor": number % 10 < 8, "worst": number % 10 < 5}[model]
        cost = {"good": 12.0, "poor": 10.0, "worst": 11.0}[model]
        flawed = model == "good" and number % 4 < 2
        if flawed and self.kind == "failed":
            return Failure("a refusal", cost=cost)
        row = {"correct": float(right and not flawed), "tokens": cost + number % 2}
        return row if self.kind == "failed" else row | {self.kind: float(flawed)}


@pytest.mark.parametrize(
    ("kind", "counted", "remedy"),
    [
        ("truncated", CUT_OFF, "Raise its max_tokens (60)"),
        ("empty", EMPTY, "read_answers"),
        ("failed", FAILURES, "Find the reason for its failures"),
    ],
)
def test_configuration_losing_by_flaws_is_named_with_the_remedy(
    tmp_path, kind, counted, remedy
):
    done = live.run(RACE, tmp_path / "run", evaluator=Cut(kind))
    good, poor, _ = done.plan.names
    assert done.recommendation == (poor,)
    progress = live.read_progress(tmp_path / "run")
    (loser,) = find_losers(progress.stage)
    n = tabulate_configurations(progress).loc[good]
    assert (loser.name, loser.kind, loser.flawed, loser.evaluations) == (
        good,
        counted,
        n[counted],
        n["evaluations"],
    )
    assert remedy in loser.remedy
    # at the run's end, in its card's head, in `show`, and from its card in `doctor`
    assert str(loser) in done.losses and [str(loser)] == describe_losers(progress)
    shown = " ".join(call("show", tmp_path / "run", columns=200).output.split())
    assert str(loser) in shown and counted in shown
    findings = doctor(cb.read(done.table))
    assert any(f"{n[counted]} of {good}" in finding.problem for finding in findings)


def test_configuration_losing_anyway_is_not_named(tmp_path):
    """Its answers without flaws are no better than those of the returned one."""

    class Poor(Cut):
        def measure(self, model, number):
            return super().measure(
                {"good": "worst", "poor": "poor", "worst": "worst"}[model], number
            ) | {"truncated": float(model == "good" and number % 4 < 2)}

    done = live.run(RACE, tmp_path / "run", evaluator=Poor())
    stage = live.read_progress(tmp_path / "run").stage
    assert done.plan.names[0] not in done.recommendation and not find_losers(stage)
