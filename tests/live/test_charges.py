"""Charges of a run: prices, budgets, unreadable counts and corrections."""

import itertools
import json
import os

import pandas as pd
import pytest
from support.faults import fault
from support.runs import PLAN, Fake, asking, flaky
from support.stub_endpoint import completion, stub_endpoint

from cobandit import live
from cobandit.live import retries
from cobandit.live.evaluators import Failure
from cobandit.live.plan import check_plan
from cobandit.live.run_files import RunFiles
from cobandit.live.status import describe_progress
from cobandit.tables.storage import read

pytestmark = pytest.mark.slow

USD = {"cost": "usd", "budget": 1, "unit": "share", "equal_scores": True}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(retries, "back_off", lambda tries: 0.02)


def write_plan(
    folder, address, name="plan.yml", models=("small", "large"), options=None, **changes
):
    lines = [
        {"instance": f"q{n}", "question": f"{n}?", "answer": "2"} for n in range(8)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    plan = (
        asking(address, **(options or {}))
        | {"configurations": {"grid": {"model": list(models)}}}
        | changes
    )
    (folder / name).write_text(json.dumps(plan))
    return folder / name


def answer_well(body):
    return completion("2" if "large" in body["model"] else "3", (1000, 100))


def test_known_prices_need_no_file_and_report_their_date(tmp_path):
    with stub_endpoint(answer_well) as address:
        plan = write_plan(tmp_path, address, models=("gpt-4o-mini", "gpt-4o"), **USD)
        message = live.estimate(plan, tmp_path / "run")
        done = live.run(plan, tmp_path / "run")
    costs = pd.read_parquet(done.table).groupby("model")["cost_usd"].mean()
    assert costs["gpt-4o-mini"] == pytest.approx(210e-6) and costs[
        "gpt-4o"
    ] == pytest.approx(3.5e-3)
    assert "genai-prices" in done.prices and "gpt-4o of openai" in done.prices
    assert message.prices == done.prices
    assert f"# prices: {done.prices}" in done.table.with_suffix(".yml").read_text()


def test_run_keeps_the_date_of_its_prices(tmp_path):
    answers = itertools.count()

    def answer(body):
        return answer_well(body) if next(answers) < until else (401, "")

    until = 5
    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address, models=("gpt-4o-mini", "gpt-4o"), **USD)
        with fault("request-refused", address, ["401"]):
            live.run(plan, tmp_path / "run")
        folder = RunFiles(tmp_path / "run")
        folder.write(folder.prices, {"day": "2026-03-01", "source": "before"})
        until = 1000
        assert "as of 2026-03-01" in live.run(plan, tmp_path / "run").prices


def test_corrected_prices_change_charges_without_calls(tmp_path):
    (tmp_path / "wrong.yml").write_text(
        "small: {input: 1, output: 1}\nlarge: {input: 1, output: 1}\n"
    )
    (tmp_path / "right.yml").write_text(
        "small: {input: 1, output: 10}\nlarge: {input: 3, output: 30}\n"
    )
    with stub_endpoint(answer_well) as address:
        plan = write_plan(tmp_path, address, options={"prices": "wrong.yml"}, **USD)
        first = live.run(plan, tmp_path / "first")
        n_requests = len(address.requests)
        mended = write_plan(
            tmp_path, address, "mended.yml", options={"prices": "right.yml"}, **USD
        )
        with fault("other-plan", "first", ["evaluate.options.prices"]):
            live.run(mended, tmp_path / "first")  # results of both would be mixed
        second = live.run(mended, tmp_path / "second", start=first.table)
        assert len(address.requests) == n_requests
        (tmp_path / "wrong.yml").write_text((tmp_path / "right.yml").read_text())
        with fault("changed-instances", "first", ["'wrong.yml'"], "--from"):
            live.run(plan, tmp_path / "first")
    before, after = (
        pd.read_parquet(result.table).groupby("model")["cost_usd"].mean()
        for result in (first, second)
    )
    assert before.to_dict() == pytest.approx({"large": 1.1e-3, "small": 1.1e-3})
    assert after.to_dict() == pytest.approx({"large": 6e-3, "small": 2e-3})
    assert second.spent == pytest.approx(
        8 * 8e-3
    ) and second.inherited == pytest.approx(second.spent)
    assert read(second.table).card.cost.unit == "USD"


def test_unreadable_counts_are_named_once_counted_and_charged(tmp_path):
    """Half of the answers hide their reasoning in the total, some have no counts."""
    numbers = itertools.count()
    billed, totals, uncounted = 0, 0, 0

    def answer(body):
        nonlocal billed, totals, uncounted
        response, number = answer_well(body), next(numbers)
        if number % 2:
            response["usage"]["total_tokens"] = 1500
            totals += 1
        elif number % 4 == 2:
            response["usage"] = None
            uncounted += 1
            response["choices"][0]["message"]["content"] = "2 " * 40
        billed += 500 if number % 2 else 20 if number % 4 == 2 else 100
        return response

    lines = []
    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address, budget=1)
        done = live.run(
            plan,
            tmp_path / "run",
            watch=lambda progress: lines.append((progress.notable, progress.line)),
        )
        n = len(address.requests)
    named = [line for notable, line in lines if notable]
    assert len(named) == 2 and any("total_tokens 1,500" in line for line in named)
    assert done.spent == billed
    assert [line.split(" answers")[0] for line in done.losses] == [
        f"{totals} of {n}",
        f"{uncounted} of {n}",
    ]
    measurements = pd.read_parquet(done.table)
    assert (measurements["doubtful"].sum(), measurements["estimated"].sum()) == (
        totals,
        uncounted,
    )
    assert (
        len(measurements) == n
        and totals > 2
        and uncounted
        and "failed" not in measurements
    )


def test_exceeded_budget_is_reported_with_the_remedy(tmp_path):
    """The last evaluation costs more than all before it together."""
    numbers = itertools.count()

    def evaluate(configuration, instance):
        return {
            "correct": 1.0,
            "tokens": 500.0 if next(numbers) == 20 else 10.0,
            "seconds": 1.0,
        }

    plan = PLAN | {
        "budget": 300,
        "unit": "tokens",
        "objectives": PLAN["objectives"][:1],
        "pilot": 2,
    }
    plan |= {"equal_scores": True}
    observations = []
    done = live.run(
        plan,
        tmp_path / "run",
        evaluator=evaluate,
        watch=lambda progress: observations.append(describe_progress(progress)),
    )
    assert done.spent > done.budget
    (message,) = done.losses
    assert "exceeded by" in message and "largest_cost" in message
    assert "largest_cost" in observations[-1]["note"] and "note" not in observations[0]
    assert (
        message
        in done.table.with_suffix(".yml")
        .read_text()
        .replace("\n# ", " ")
        .replace("\n", " ")
        or "exceeded"
    )
    within = live.run(
        plan | {"largest_cost": 500, "budget": 8000},
        tmp_path / "other",
        evaluator=evaluate,
    )
    assert within.spent <= within.budget and not within.losses


def test_failing_question_does_not_delay_a_run(tmp_path, monkeypatch):
    """It always fails, while the patience with the service is that of ten minutes."""
    monkeypatch.setattr(retries, "LONGEST_ALONE", 0.2)
    plan = PLAN | {"budget": 1, "at_once": 2}
    bad = check_plan(plan, "plan").order[3]
    tried = []

    def fail(configuration, instance, _):
        if instance == bad and configuration == {"model": "small", "shots": 0}:
            tried.append(instance)
            return Failure("status 500", retry=True)
        return None

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retries, "back_off", lambda tries: 0.05)
        done = live.run(plan, tmp_path / "run", evaluator=Fake(delay=0.01, fail=fail))
    measurements = pd.read_parquet(done.table)
    assert measurements["failed"].sum() == 1 and 5 <= len(tried) <= 40
    assert any("1 of 240 evaluations failed" in line for line in done.losses)


def test_occasionally_failing_service_costs_no_score(tmp_path, monkeypatch):
    """Three in ten evaluations fail four times; a fifth failure could be scored."""
    monkeypatch.setattr(retries, "LONGEST_ALONE", 0.0)
    monkeypatch.setattr(retries, "back_off", lambda tries: 0.001)
    done = live.run(
        PLAN | {"budget": 0.5, "instances": 20},
        tmp_path / "run",
        evaluator=Fake(fail=flaky(0.3, times=4)),
    )
    assert "failed" not in pd.read_parquet(done.table)
