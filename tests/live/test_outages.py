"""Outages give no score, and a question that breaks the service stops nothing."""

import itertools
import json
import os
import time

import pandas as pd
import pytest
from support.faults import fault
from support.runs import PLAN, Fake, asking
from support.stub_endpoint import completion, stub_endpoint

import cobandit as cb
from cobandit import live
from cobandit.live import dispatcher, retries
from cobandit.live.evaluators import Failure
from cobandit.live.plan import check_plan

QUICK = {"patience": 0.6, "timeout": 0.5}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Neither for the disk nor for long before another try."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(retries, "back_off", lambda tries: 0.05)


def hang_up(_):
    raise ConnectionAbortedError


def hang(_):
    time.sleep(0.7)
    return completion("2")


#: What a service does when it is not well.
OUTAGES = {
    "status 500": lambda _: (500, "oops"),
    "status 502": lambda _: (502, "<html>bad gateway</html>"),
    "busy": lambda _: (503, "busy", {"Retry-After": "0.1"}),
    "too many requests": lambda _: (
        429,
        {"error": {"message": "slow down"}},
        {"Retry-After": "3600"},
    ),
    "overloaded": lambda _: (529, "overloaded"),
    "a page": lambda _: (200, "<html>please log in</html>"),
    "an error with status 200": lambda _: (
        200,
        {"error": {"message": "upstream", "code": 502}},
    ),
    "dropped": hang_up,
    "silent": hang,
}


def write_plan(folder, address, n=8, **changes):
    ids = [f"q{number}" for number in range(n)]
    lines = [{"instance": name, "question": f"{name}?", "answer": "2"} for name in ids]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "plan.yml").write_text(
        json.dumps(asking(address) | {"budget": 1} | QUICK | changes)
    )
    return folder / "plan.yml"


def answer_well(body):
    return completion(
        "2" if body["model"] == "large" else "3", (9, 3 + (body["model"] == "large"))
    )


@pytest.mark.slow
@pytest.mark.parametrize("sick", OUTAGES.values(), ids=OUTAGES)
@pytest.mark.parametrize("at_once", [1, 3])
def test_short_outage_changes_nothing(tmp_path, monkeypatch, sick, at_once):
    """Three failed answers of the service do not change the end of the run."""
    counter = itertools.count()
    monkeypatch.setattr(retries, "LONGEST_WAIT", 0.1)

    def answer(body):
        return sick(body) if 4 <= next(counter) < 7 else answer_well(body)

    lines = []
    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address, at_once=at_once, patience=60)
        done = live.run(
            plan, tmp_path / "run", watch=lambda progress: lines.append(progress.line)
        )
    measurements = pd.read_parquet(done.table)
    # one that took too long may have been billed, and is charged
    assert "failed" not in measurements and (len(measurements) == 16 or sick is hang)
    assert measurements.groupby("model")["score"].mean().to_dict() == {
        "large": 1.0,
        "small": 0.0,
    }
    assert sum("is retried in" in line for line in lines) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("sick", OUTAGES.values(), ids=OUTAGES)
def test_long_outage_stops_the_run_until_it_is_resumed(tmp_path, sick):
    counter = itertools.count()

    def answer(body):
        return (
            sick(body)
            if body["model"] == "small" and next(counter) >= 4
            else answer_well(body)
        )

    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address, at_once=2)
        began = time.monotonic()
        with fault("silent-service", "'small'", remedy="patience"):
            live.run(plan, tmp_path / "run")
        assert 0.5 < time.monotonic() - began < 20
    with stub_endpoint(answer_well) as address:
        # a server that comes back has another port
        plan = write_plan(tmp_path, address, at_once=2)
        done = live.run(plan, tmp_path / "run")
    measurements = pd.read_parquet(done.table)
    assert "failed" not in measurements and (len(measurements) == 16 or sick is hang)


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize("at_once", [1, 4])
def test_error_of_a_question_scores_zero(tmp_path, status, at_once):
    """Even if the very first question of all is too long for every model."""
    first = check_plan(
        PLAN | {"instances": [f"q{n}" for n in range(8)], "pilot": 2}, "plan"
    ).order[0]

    def answer(body):
        if body["messages"][0]["content"] == f"{first}?":
            return status, {"error": {"message": "the context is too long"}}
        return answer_well(body)

    with stub_endpoint(answer) as address:
        done = live.run(
            write_plan(tmp_path, address, at_once=at_once), tmp_path / "run"
        )
    measurements = pd.read_parquet(done.table)
    assert measurements[measurements["failed"]]["instance"].tolist() == [first, first]
    assert (
        measurements[measurements["failed"]]["tokens"] > 0
    ).all()  # charged what others cost
    assert done.recommendation == ("large",)


@pytest.mark.slow
def test_service_that_refuses_all_questions_stops_the_run(tmp_path):
    """Costs are known from a table, but nothing scores zero before the first answer."""
    with stub_endpoint(answer_well) as address:
        first = live.run(write_plan(tmp_path, address, budget=0.6), tmp_path / "first")
    sick = True

    def answer(body):
        return (
            (400, {"error": {"message": "unknown field"}})
            if sick
            else answer_well(body)
        )

    with stub_endpoint(answer) as address:
        start, plan = first.table, write_plan(tmp_path, address, at_once=2)
        with fault("nothing-evaluated", " on ", ["unknown field"]):
            live.run(plan, tmp_path / "run", start=start)
        assert len(address.requests) <= 2 * 2 + 1
        sick = False
        done = live.run(plan, tmp_path / "run", start=start)
    assert "failed" not in pd.read_parquet(done.table) and done.recommendation == (
        "large",
    )


@pytest.mark.slow
def test_question_that_breaks_the_service_scores_zero_once_others_are_answered(
    tmp_path, monkeypatch
):
    """It fails for longer than the patience, while other questions are answered."""
    clock = [time.monotonic(), 0.0]

    def steady():
        """Time without the pauses of a busy machine, in which nobody is silent."""
        before, passed = clock
        clock[:] = time.monotonic(), passed + min(time.monotonic() - before, 0.02)
        return clock[1]

    monkeypatch.setattr(dispatcher.anyio, "current_time", steady)
    bad = check_plan(PLAN, "plan").order[2]

    def fail(configuration, instance, tried):
        return (
            Failure("status 500", retry=True)
            if instance == bad and configuration["shots"] == 6
            else None
        )

    fake = Fake(delay=0.05, fail=fail)
    done = live.run(
        PLAN | {"patience": 0.4, "at_once": 3, "pilot": 12, "budget": 1},
        tmp_path / "run",
        evaluator=fake,
    )
    measurements = pd.read_parquet(done.table)
    assert (
        set(measurements[measurements["failed"]]["instance"]) == {bad}
        and measurements["failed"].sum() == 2
    )


@pytest.mark.slow
@pytest.mark.parametrize("cost", [None, 4.0])
def test_last_question_that_breaks_the_service_is_compared_with_an_answered_one(
    tmp_path, cost
):
    """An answered question is repeated at a charge, then the failing one once more."""
    bad = check_plan(PLAN, "plan").order[-1]
    arms, tries = {"model": ["small", "large"], "shots": [6]}, []

    def fail(configuration, instance, tried):
        broken = instance == bad and configuration["model"] == "small"
        tries.append(broken)
        return Failure("status 500", cost=cost, retry=True) if broken else None

    fake = Fake(fail=fail)
    plan = PLAN | {
        "configurations": {"grid": arms},
        "patience": 0.3,
        "budget": 1,
        "retries": 99,
    }
    done = live.run(plan, tmp_path / "run", evaluator=fake)
    measurements = pd.read_parquet(done.table)
    assert measurements[measurements["failed"]][
        ["model", "instance"]
    ].to_numpy().tolist() == [["small", bad]]
    assert fake.evaluated.count((("small", 6), bad)) == sum(tries) and len(
        fake.evaluated
    ) == len(tries)
    assert done.spent == pytest.approx(
        fake.billed + (done.policy.costs[0] if cost is None else 0)
    )


@pytest.mark.slow
def test_other_configurations_continue_while_one_waits(tmp_path):
    """The only worker does not wait for the unavailable service of the small model."""
    began = time.monotonic()
    order = []

    def fail(configuration, instance, tried):
        away = configuration["model"] == "small" and time.monotonic() - began < 0.3
        order.append((configuration["model"], away))
        return Failure("nobody there", unavailable=True) if away else None

    done = live.run(PLAN | {"pilot": 2}, tmp_path / "run", evaluator=Fake(fail=fail))
    assert "failed" not in pd.read_parquet(done.table)
    first_small = next(
        place
        for place, (model, away) in enumerate(order)
        if model == "small" and not away
    )
    # all of its pilot
    assert sum(model == "large" for model, _ in order[:first_small]) >= 6


class Cached(Fake):
    """Instances that are free, as from a cache."""

    def __init__(self, free):
        super().__init__()
        self.free = free

    async def _one(self, configuration, instance, tried):
        row = await super()._one(configuration, instance, tried)
        free = instance in self.free and not isinstance(row, Failure)
        return row | {"tokens": 0.0} if free else row


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 4])
def test_zero_cost_is_charged_as_smallest_cost(tmp_path, at_once):
    order = check_plan(PLAN, "plan").order
    fake = Cached([order[0], order[7]])  # the first of all among them
    done = live.run(
        PLAN | {"budget": 1, "at_once": at_once}, tmp_path / "run", evaluator=fake
    )
    measurements = pd.read_parquet(done.table).set_index("instance")["tokens"]
    smallest = measurements.loc[
        list(order[1:5])
    ].min()  # of the pilot, which comes first
    assert (measurements[order[0]] > 0).all() and (
        measurements[order[7]] == smallest
    ).all()
    table = cb.read(done.table)
    assert table.n_free == 12 and table.free_evaluations.tolist() == [2] * 6
    assert any(line.startswith("12 of 240") and "free" in line for line in done.losses)


@pytest.mark.slow
def test_zero_cost_after_failures_is_charged_as_smallest_charge(tmp_path):
    order = check_plan(PLAN, "plan").order
    fake = Cached(order[:2])
    fake.fail = lambda configuration, *_: (
        Failure("no", cost=3) if configuration["model"] == "small" else None
    )
    done = live.run(PLAN | {"pilot": 2}, tmp_path / "run", evaluator=fake)
    measurements = pd.read_parquet(done.table)
    assert (
        measurements.loc[
            (measurements["model"] == "large")
            & measurements["instance"].isin(order[:2]),
            "tokens",
        ]
        == 3
    ).all()


def test_run_without_any_cost_is_refused(tmp_path):
    fake = Cached(check_plan(PLAN, "plan").order)
    with fault("free-evaluations", " on ", ["'tokens'"], "even for free evaluations"):
        live.run(PLAN, tmp_path / "run", evaluator=fake)
    assert len(fake.calls) == 12
