"""Runs: evaluations, charges, repeats and files; killed anywhere, they resume."""

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import anyio
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument, fault
from support.runs import LARGEST, PLAN, Fake, asking, flaky, measure
from support.strategies import examples

import cobandit as cb
from cobandit import live
from cobandit.errors import CobanditError, GuaranteeWarning
from cobandit.live import retries
from cobandit.live.evaluators import Failure
from cobandit.live.evaluators.endpoints import EndpointEvaluator
from cobandit.live.plan import check_plan
from cobandit.policies.registry import list_methods
from cobandit.testing.policy_runs import guarantees_aside

RACE = {
    key: value for key, value in PLAN.items() if key not in ("budget", "unit", "method")
} | {
    "stop": {"tolerance": 0.2},
    "instances": 120,
}
GRID = PLAN["configurations"]["grid"]
GOOD = {"correct": 1.0, "tokens": 5.0, "seconds": 1.0}
AMOUNT = {"unit": "tokens", "largest_cost": LARGEST}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Neither for the disk nor before another try."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(retries, "back_off", lambda tries: 0.0)


def rows(path):
    return pd.read_parquet(path)


def stop(configuration, instance, tried):
    raise CobanditError("stopped here", code="stopped")


def expect_fault(
    code, plan, folder, evaluator=None, place="", names=(), remedy="", **options
):
    with fault(code, place, names, remedy) as caught:
        live.run(
            plan,
            folder,
            evaluator=Fake() if evaluator is None else evaluator,
            **options,
        )
    return caught.value


def play(plan, measure=measure):
    """Compute a run directly: means and percentiles of the pilot, then the policy."""
    plan = check_plan(plan, "plan")
    order, n_pilot = plan.order, plan.pilot
    raw = [
        [measure(settings, instance) for instance in order]
        for settings in plan.configurations.all
    ]
    columns = {
        name: np.array([[row[name] for row in entry] for entry in raw])
        for name in raw[0][0]
    }
    low, high = np.percentile(columns["seconds"][:, :n_pilot], [5, 95])
    inverse = (1 / np.clip(columns["seconds"], low, high) - 1 / high) / (
        1 / low - 1 / high
    )
    rewards = np.stack([columns["correct"], inverse], axis=2)
    costs = columns["tokens"][:, :n_pilot].mean(axis=1)
    budget = plan.budget * (len(order) * costs.sum() if plan.unit == "share" else 1)
    policy = plan.strategy.policy(costs, budget, 2, len(order), **plan.strategy.given)
    with guarantees_aside():
        while (arm := policy.ask()) is not None:
            policy.tell(
                arm, rewards[arm, arm.number], columns["tokens"][arm, arm.number]
            )
    return policy, tuple(plan.names[arm] for arm in policy.recommend()), budget


@pytest.mark.slow
@pytest.mark.parametrize(
    "budget", [{}, {"budget": 1500, "unit": "tokens"}], ids=["share", "amount"]
)
def test_run_equals_its_policy_with_the_pilots_costs(tmp_path, budget):
    fake, plan = Fake(), PLAN | budget
    done = live.run(plan, tmp_path / "run", evaluator=fake)
    policy, names, budget = play(plan)
    assert done.recommendation == names and done.budget == pytest.approx(budget)
    assert done.policy.pulls.tolist() == policy.pulls.tolist()
    assert (
        done.spent == pytest.approx(policy.spent) == pytest.approx(fake.billed)
        and fake.billed <= budget
    )
    # nothing twice
    assert len(set(fake.evaluated)) == len(fake.evaluated) == done.policy.pulls.sum()
    written = json.loads((tmp_path / "run" / "recommendation.json").read_text())
    assert written["recommendation"] == list(names) and written["finished"]
    resumed = live.run(plan, tmp_path / "run", evaluator=Fake(fail=stop))
    assert (resumed.recommendation, resumed.spent) == (done.recommendation, done.spent)


@pytest.mark.slow
def test_table_holds_the_measurements(tmp_path):
    done = live.run(PLAN, tmp_path / "run", evaluator=Fake())
    table, plan = cb.read(done.table), check_plan(PLAN, "plan")
    assert (table.kind, table.name, table.n_arms) == ("measured", "toy", 6)
    assert set(table.card.split.instances) == set(plan.order[:5])
    assert table.card.n_instances == len(plan.order)
    assert table.arms.loc["large shots=2"].tolist() == ["large", 2]
    measurements = rows(done.table)
    assert len(measurements) == done.policy.pulls.sum()
    for row in measurements.sample(20, random_state=0).to_dict("records"):
        measured = measure(
            {"model": row["model"], "shots": row["shots"]}, row["instance"]
        )
        assert {name: row[name] for name in measured} == measured
    order = {name: place for place, name in enumerate(table.configs)}
    costs = dict(zip(plan.names, done.policy.costs))
    assert table.costs.tolist() == pytest.approx([costs[name] for name in order])
    advice = cb.recommend(table, replications=20)
    assert set(advice.arms.index) == set(plan.names)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["CoPSIOnce", "UniformOnce", "PSISROnce", "EGESHOnce", "CoPSIPrintedOnce"]
)
@pytest.mark.parametrize(("at_once", "block"), [(8, 1), (1, 7), (3, 4)])
def test_concurrency_changes_nothing(tmp_path, method, at_once, block):
    """The evaluations are the same, whatever order they end in."""
    plan = PLAN | {"method": method}
    one = live.run(plan, tmp_path / "one", evaluator=Fake())
    fake = Fake(block, delay=0.002)
    many = live.run(plan | {"at_once": at_once}, tmp_path / "many", evaluator=fake)
    assert many.recommendation == one.recommendation and many.spent == pytest.approx(
        one.spent
    )
    pd.testing.assert_frame_equal(rows(many.table), rows(one.table))
    assert 1 <= fake.most <= at_once and max(len(ids) for _, ids in fake.calls) <= block
    if block > 1:
        assert len(fake.calls) < len(fake.evaluated)
    else:
        assert fake.most > 1


@pytest.mark.slow
def test_concurrency_stays_within_the_evaluators_limit(tmp_path):
    fake = Fake(block=3, delay=0.002, at_once=1)
    live.run(PLAN | {"at_once": 8}, tmp_path / "run", evaluator=fake)
    assert fake.most == 1


#: Other tests make methods of their own.
OURS = sorted(
    name
    for name, method in list_methods().items()
    if method.__module__.startswith("cobandit.")
)


@pytest.mark.acceptance
@examples(60)
@given(
    method=st.sampled_from(OURS),
    at_once=st.integers(1, 8),
    block=st.sampled_from([1, 1, 3]),
    seed=st.integers(0, 99),
    budget=st.integers(900, 6000),
    cost=st.sampled_from([None, 5.0, 40.0]),
    pilot=st.integers(2, 9),
)
def test_spending_stays_within_the_budget(
    tmp_path_factory, method, at_once, block, seed, budget, cost, pilot
):
    """The evaluator's bill, failures included, is within budget at any concurrency."""
    changes = {
        "method": method,
        "budget": budget,
        "at_once": at_once,
        "pilot": pilot,
        "retries": 1,
    }
    fake = Fake(block, 0.001, seed, flaky(0.2, cost, times=2, seed=seed))
    folder = tmp_path_factory.mktemp("run") / "run"
    try:
        done = live.run(PLAN | AMOUNT | changes, folder, evaluator=fake)
    except CobanditError as error:
        reasons = (
            "increase the plan's budget",
            "change the plan's budget",
            "nothing could be evaluated",
        )
        assert any(reason in str(error) for reason in reasons)
    else:
        assert done.spent <= budget * (1 + 1e-9)
    assert fake.billed <= budget * (1 + 1e-9)


@pytest.mark.slow
def test_unused_pilot_is_paid_from_the_budget(tmp_path):
    """CoPSIOnce removes arms at the fifth evaluation, and the pilot has 15 per arm."""
    plan = PLAN | {"pilot": 15, "budget": 0.6}
    fake = Fake()
    done = live.run(plan, tmp_path / "run", evaluator=fake)
    assert (done.policy.pulls < 15).any() and done.policy.budget < done.budget
    assert done.spent == pytest.approx(fake.billed) and fake.billed <= done.budget
    assert len(set(fake.evaluated)) == len(fake.evaluated)
    assert len(rows(done.table)) == len(fake.evaluated)


class TestFailures:
    @pytest.mark.slow
    @pytest.mark.parametrize(("cost", "block"), [(None, 1), (3.0, 1), (3.0, 6)])
    def test_temporary_failure_is_repeated_and_charged(self, tmp_path, cost, block):
        fake = Fake(block, fail=flaky(times=2, cost=cost))
        done = live.run(PLAN | {"at_once": 2}, tmp_path / "run", evaluator=fake)
        assert done.spent == pytest.approx(fake.billed) and fake.billed <= done.budget
        assert cost or done.recommendation == play(PLAN)[1]
        tries = pd.Series(fake.evaluated).value_counts()
        assert set(tries) == {1, 3} and "failed" not in rows(done.table)

    @pytest.mark.slow
    def test_repeated_failure_scores_zero(self, tmp_path):
        fake = Fake(fail=flaky(0.15, times=9, retry=False))
        done = live.run(PLAN, tmp_path / "run", evaluator=fake)
        measurements = rows(done.table)
        assert pd.Series(fake.evaluated).value_counts().max() == 1
        assert (
            0.05 < measurements["failed"].mean() < 0.3
            and measurements["correct"].dtype == float
        )
        scored = cb.read(done.table).rows
        failed = measurements.sort_values(["config", "instance"])["failed"].to_numpy()
        assert (scored.loc[failed, ["accuracy", "efficiency"]] == 0).all(axis=None)
        assert (scored.loc[~failed, "efficiency"] > 0).any()

    @pytest.mark.slow
    def test_table_has_the_costs_reported_to_the_method(self, tmp_path):
        brevity = {"name": "brevity", "column": "tokens", "transform": "negate-minmax"}
        plan = PLAN | {"objectives": [PLAN["objectives"][0], brevity]}
        done = live.run(
            plan,
            tmp_path / "run",
            evaluator=Fake(fail=flaky(0.15, times=9, retry=False)),
        )
        means = (
            cb.read(done.table).rows.groupby("config")[["accuracy", "brevity"]].mean()
        )
        reported_means = done.policy.mean_rewards
        np.testing.assert_allclose(
            means.loc[list(check_plan(plan, "plan").names)], reported_means, atol=1e-12
        )
        assert "evaluations failed and score zero" in done.losses[0]
        assert done.losses[0].endswith("; the first: overloaded")

    @pytest.mark.slow
    @pytest.mark.parametrize("cost", [None, 4.0])
    @pytest.mark.parametrize(("place", "pilot"), [(1, 5), (7, 5), (0, 2)])
    def test_repeated_failure_is_omitted(self, tmp_path, cost, place, pilot):
        """In the pilot and later; the card keeps two instances for profiling."""
        order = check_plan(PLAN, "plan").order

        def fail(configuration, instance, tried):
            return (
                Failure("no such question", cost=cost)
                if instance == order[place]
                else None
            )

        fake = Fake(delay=0.001, fail=fail)
        plan = PLAN | {"failures": "leave-out", "at_once": 3, "pilot": pilot}
        done = live.run(plan, tmp_path / "run", evaluator=fake)
        measurements = rows(done.table)
        assert (
            order[place] not in set(measurements["instance"])
            and "failed" not in measurements
        )
        assert (
            np.flatnonzero(done.policy.left_out) == [place]
            and fake.billed <= done.budget
        )
        kept_instances = [
            instance for instance in order[: max(pilot, 3)] if instance != order[place]
        ]
        assert list(cb.read(done.table).card.split.instances) == kept_instances

    @pytest.mark.slow
    def test_timed_out_evaluations_fail(self, tmp_path):
        slow = []
        lines = []

        class Slow(Fake):
            async def evaluate(self, configuration, instances):
                if (
                    instances[0] == "7"
                    and configuration["shots"] == 6
                    and len(slow) < 2
                ):
                    slow.append(configuration)
                    await anyio.sleep(60)
                return await super().evaluate(configuration, instances)

        plan = PLAN | {"timeout": 0.3, "at_once": 2, "budget": 1}
        done = live.run(
            plan,
            tmp_path / "run",
            evaluator=Slow(),
            watch=lambda progress: lines.append(progress.line),
        )
        # on a busy machine, an evaluation on another instance may be late, too
        late = [
            line for line in lines if re.search(r" on 7 .*within the timeout", line)
        ]
        assert len(slow) == len(late) == 2 and all("retried" in line for line in late)
        assert len(rows(done.table)) == 240

    @pytest.mark.slow
    def test_evaluator_may_have_its_own_timeout(self, tmp_path):
        """A silent evaluator would block a run; the plan's timeout precedes its own."""

        class Silent(Fake):
            timeout = 0.05

            async def evaluate(self, configuration, instances):
                await anyio.sleep(0.2)
                return await super().evaluate(configuration, instances)

        plan = PLAN | {"patience": 0.1, "instances": 8, "budget": 1}
        expect_fault(
            "silent-service",
            plan,
            tmp_path / "run",
            Silent(),
            names=["no answer within the timeout of 0.05 s"],
        )
        live.run(
            plan | {"timeout": 9, "at_once": 60}, tmp_path / "run", evaluator=Silent()
        )
        assert EndpointEvaluator.timeout == 600

    @pytest.mark.slow
    def test_requested_waiting_time_is_respected(self, tmp_path):
        called = []

        class Busy(Fake):
            async def evaluate(self, configuration, instances):
                called.append((time.monotonic(), configuration))
                if len(called) == 1:
                    raise Failure("429: slow down", retry=True, wait=0.3)
                return await super().evaluate(configuration, instances)

        live.run(PLAN, tmp_path / "run", evaluator=Busy())
        (first, first_configuration), *later = called
        assert (
            next(
                when
                for when, configuration in later
                if configuration == first_configuration
            )
            - first
            >= 0.3
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("at_once", [1, 4])
    def test_unavailable_service_gives_no_score(self, tmp_path, at_once):
        """The service fails and returns: no failure, no evaluation made twice."""

        def gone(*_):
            return (
                Failure("nobody there", unavailable=True)
                if len(first.calls) > 60
                else None
            )

        plan = PLAN | {"at_once": at_once, "patience": 0}
        first, second = Fake(delay=0.001, fail=gone), Fake()
        error = expect_fault(
            "silent-service",
            plan,
            tmp_path / "run",
            first,
            "shots=",
            ["nobody there"],
            "patience",
        )
        assert "Results are kept" in str(error)
        assert len(first.calls) <= 60 + 2 * at_once
        done = live.run(plan, tmp_path / "run", evaluator=second)
        assert done.recommendation == play(PLAN)[1] and "failed" not in rows(done.table)
        assert len(set(first.evaluated) & set(second.evaluated)) <= at_once

    @pytest.mark.slow
    def test_failing_service_gives_no_score(self, tmp_path):
        """A wrong key is no score: nothing is told, and mended the same plan starts."""
        fake = Fake(fail=lambda *_: Failure("401: no such key"))
        expect_fault(
            "nothing-evaluated",
            PLAN,
            tmp_path / "run",
            fake,
            "small shots=0 on ",
            ["401: no such key"],
        )
        assert len(fake.calls) == 2 * 6  # one bad question is not enough
        assert (
            live.run(PLAN, tmp_path / "run", evaluator=Fake()).recommendation
            == play(PLAN)[1]
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("fails", "failures"), [(["small", "large"], "zero"), (["large"], "leave-out")]
    )
    def test_configuration_without_answers_stops_the_run(
        self, tmp_path, fails, failures
    ):
        def fail(configuration, instance, tried):
            return (
                Failure("no such model", cost=2.0)
                if configuration["model"] in fails
                else None
            )

        fake = Fake(fail=fail)
        plan = PLAN | {"failures": failures}
        expect_fault(
            "no-answers",
            plan,
            tmp_path / "run",
            fake,
            fails[0],
            ["no such model"],
            "correct or remove",
        )
        assert len(fake.calls) == 5 * 6

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("row", "code", "words"),
        [
            (
                {"correct": 1.0, "seconds": 1.0},
                "missing-column",
                "not return 'tokens', only correct, seconds",
            ),
            (GOOD | {"correct": 80.0}, "bad-value", "80.0"),
            (GOOD | {"tokens": -1.0}, "bad-value", "-1.0"),
            (GOOD | {"correct": None}, "not-a-number", "None as 'correct'"),
            (GOOD | {"shots": 0.0}, "reserved-column", "'shots'"),
            (GOOD | {"failed": 0.0}, "reserved-column", "'failed'"),
        ],
    )
    def test_unusable_row_stops_the_run(self, tmp_path, row, code, words):
        class Once(Fake):
            async def _one(self, configuration, instance, tried):
                result = await super()._one(configuration, instance, tried)
                return dict(row) if len(self.calls) == 50 else result

        first = Once()
        expect_fault(code, PLAN, tmp_path / "run", first, "on instance", names=[words])
        second = Fake()
        assert (
            live.run(PLAN, tmp_path / "run", evaluator=second).recommendation
            == play(PLAN)[1]
        )
        assert set(first.evaluated) & set(second.evaluated) == {first.evaluated[-1]}

    def test_every_instance_needs_a_row(self, tmp_path):
        class Short(Fake):
            async def evaluate(self, configuration, instances):
                return (await super().evaluate(configuration, instances))[1:]

        expect_fault(
            "row-count",
            PLAN,
            tmp_path / "run",
            Short(4),
            "shots=",
            ["3 rows for 4 instances"],
        )

    @pytest.mark.parametrize("at_once", [1, 4])
    def test_evaluator_error_names_its_configuration(self, tmp_path, at_once):
        def fail(configuration, instance, tried):
            raise ZeroDivisionError("division by zero")

        expect_fault(
            "evaluator-failed",
            PLAN | {"at_once": at_once},
            tmp_path / "run",
            Fake(fail=fail, delay=0.01),
            place="shots=",
            names=["ZeroDivisionError: division by zero"],
        )


class TestOtherMethods:
    @pytest.mark.slow
    def test_online_methods_use_instances_cyclically(self, tmp_path):
        """Evaluation n of a configuration is on instance n of the order, cyclically."""
        fake = Fake()
        plan = PLAN | {
            "method": {"CoHVUCB": {"reward_scale": 0.01, "cost_scale": 0.01}},
            "instances": 12,
        }
        done = live.run(plan | {"budget": 1.0}, tmp_path / "run", evaluator=fake)
        order = check_plan(plan, "plan").order
        maximum = 0
        for settings in {configuration for configuration, _ in fake.evaluated}:
            mine = [
                instance
                for configuration, instance in fake.evaluated
                if configuration == settings
            ]
            assert mine == [order[n % 12] for n in range(len(mine))]
            maximum = max(maximum, len(mine))
        assert (
            maximum > 12
            and len(done.recommendation) == 1
            and fake.billed <= done.budget
        )
        measurements = rows(done.table)
        assert len(measurements) == len(fake.evaluated) and f"{order[0]} (2)" in set(
            measurements["instance"]
        )
        assert len(cb.recommend(cb.read(done.table), replications=20).front)

    @pytest.mark.slow
    def test_methods_with_repeats_do_not_receive_the_pilot(self, tmp_path):
        done = live.run(
            PLAN | {"method": "UniformIdentification"},
            tmp_path / "run",
            evaluator=Fake(),
        )
        plan = check_plan(PLAN, "plan")
        settings = itertools.product(plan.configurations.all, plan.order[:5])
        pilot = sum(measure(*entry)["tokens"] for entry in settings)
        assert done.policy.budget == pytest.approx(done.budget - pilot)


@pytest.mark.slow
def test_flawed_answers_are_counted_at_the_end(tmp_path):
    def evaluate(configuration, instance):
        row = measure(configuration, instance)
        return row | {
            "truncated": 0.0,
            "empty": float(configuration["model"] == "large" and instance == "7"),
        }

    done = live.run(PLAN | {"budget": 1}, tmp_path / "run", evaluator=evaluate)
    named = (
        "1 of 40 of large shots=0, 1 of 40 of large shots=2 and 1 of 40 of large"
        " shots=6"
    )
    assert done.losses == (f"3 of 240 answers were empty ({named})",)
    assert cb.read(done.table).card.counts["large shots=2"] == {"answers empty": 1}


@pytest.mark.slow
def test_cost_beyond_the_largest_warns(tmp_path):
    with pytest.warns(GuaranteeWarning) as caught:
        live.run(
            PLAN | {"largest_cost": 40, "budget": 1}, tmp_path / "run", evaluator=Fake()
        )
    # each of which Python shows once
    warnings = {str(warning.message) for warning in caught}
    assert all(
        "cost more than its largest_cost 40: the budget may be exceeded" in entry
        for entry in warnings
    )
    assert 0 < len(warnings) <= 6 < len(caught)


def stop_after(n, plan, folder, **options):
    """Start a run whose evaluator ends it after n evaluations."""

    def fail(configuration, instance, tried):
        if len(fake.calls) > n:
            raise CobanditError("stopped here", code="stopped")

    fake = Fake(fail=fail, **options)
    with bad_argument("stopped"):
        live.run(plan, folder, evaluator=fake)
    return fake


class TestGoingOn:
    @pytest.mark.slow
    @pytest.mark.parametrize("n", [3, 29, 30, 31, 60])
    @pytest.mark.parametrize("race", [True, False])
    def test_reported_evaluations_are_not_repeated(self, tmp_path, n, race):
        plan = RACE if race else PLAN
        first, second = stop_after(n, plan, tmp_path / "run"), Fake()
        done = live.run(plan, tmp_path / "run", evaluator=second)
        full_run = live.run(plan, tmp_path / "whole", evaluator=Fake())
        assert not set(first.evaluated[:n]) & set(second.evaluated)
        assert done.spent == full_run.spent
        pd.testing.assert_frame_equal(rows(done.table), rows(full_run.table))

    @pytest.mark.slow
    def test_changed_plan_is_refused(self, tmp_path):
        live.run(PLAN, tmp_path / "run", evaluator=Fake())
        before = sorted(
            (path.name, path.read_bytes()) for path in (tmp_path / "run").iterdir()
        )
        fake = Fake()
        expect_fault(
            "other-plan",
            PLAN | {"seed": 1, "budget": 0.6},
            tmp_path / "run",
            fake,
            names=["seed is 0 there, but 1 here"],
        )
        assert not fake.calls
        assert before == sorted(
            (path.name, path.read_bytes()) for path in (tmp_path / "run").iterdir()
        )
        live.run(
            PLAN | {"at_once": 3, "retries": 0, "timeout": 9},
            tmp_path / "run",
            evaluator=fake,
        )

    @pytest.mark.parametrize(
        ("changes", "differ"),
        [
            ({"base_url": "http://127.0.0.1:2/v1"}, []),
            (
                {"body": {"seed": 1}},
                ["evaluate.options.body.seed is None there, but 1 here"],
            ),
            (
                {"scorer": "exact"},
                ["evaluate.options.scorer is 'number' there, but 'exact' here"],
            ),
        ],
    )
    def test_differences_are_named_by_their_path(self, changes, differ):
        """And where an endpoint is may change."""
        local_plan = asking("http://127.0.0.1:1/v1", body={}) | {"instances": 12}
        written = check_plan(local_plan, "plan").model_dump(mode="json")
        openai = local_plan["evaluate"]["openai"] | changes
        assert (
            check_plan(
                local_plan | {"evaluate": {"openai": openai}}, "plan"
            ).differences(written)
            == differ
        )
        by_place = [
            PLAN
            | {
                "configurations": {
                    "list": [{"model": "a", "base_url": f"http://{n}"} for n in places]
                }
            }
            for places in ("xy", "xz")
        ]
        first, second = (check_plan(entry, "plan") for entry in by_place)
        assert second.differences(first.model_dump(mode="json"))

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (
                {"objectives": [{"name": "accuracy", "column": "right"}]},
                "'right'",
            ),
            ({"cost": {"column": "tokns", "unit": "tokens"}}, "'tokns'"),
        ],
    )
    def test_run_resumes_after_a_column_is_corrected(self, tmp_path, wrong, message):
        plan = tmp_path / "plan.yml"
        plan.write_text(json.dumps(PLAN | wrong))
        expect_fault("missing-column", plan, tmp_path / "run", names=[message])
        plan.write_text(json.dumps(PLAN))
        stopped, fake = stop_after(10, plan, tmp_path / "run"), Fake()
        live.run(plan, tmp_path / "run", evaluator=fake)
        assert not set(stopped.evaluated[:10]) & set(fake.evaluated)

    @pytest.mark.slow
    def test_whole_plan_may_change_before_the_first_result(self, tmp_path):
        stop_after(0, PLAN, tmp_path / "run")
        assert (tmp_path / "run" / "pilot.journal").exists()
        other_plan = PLAN | {
            "configurations": {"grid": GRID | {"model": ["large"]}},
            "seed": 3,
        }
        done = live.run(other_plan, tmp_path / "run", evaluator=Fake())
        assert done.policy.n_arms == 3

    @pytest.mark.slow
    def test_other_objectives_need_columns_of_the_pilot(self, tmp_path):
        little = PLAN | {"budget": 550, "unit": "tokens", "method": "CoPSI"}
        latency = {"name": "latency", "column": "latency", "transform": "negate-minmax"}
        expect_fault("method-budget", little, tmp_path / "run")
        expect_fault(
            "missing-column",
            PLAN | {"objectives": [latency]},
            tmp_path / "run",
            names=["'latency'"],
        )

    @pytest.mark.slow
    def test_larger_budget_reuses_the_pilot(self, tmp_path):
        """Neither what the pilot needs nor what the method needs is known before."""
        small, fake = {"unit": "tokens", "budget": 100}, Fake()
        expect_fault(
            "budget-below-pilot",
            PLAN | small,
            tmp_path / "run",
            fake,
            names=["of the pilot's 30 evaluations", "of 100 tokens"],
        )
        assert 0 < fake.billed <= 100
        done = live.run(
            PLAN | small | {"budget": 3000}, tmp_path / "run", evaluator=fake
        )
        assert len(set(fake.evaluated)) == len(
            fake.evaluated
        ) and done.spent == pytest.approx(fake.billed)

    @pytest.mark.slow
    @pytest.mark.parametrize("failures", ["zero", "leave-out"])
    def test_extended_run_equals_a_run_with_the_larger_budget(self, tmp_path, failures):
        """What was evaluated is not evaluated again, but for what failed."""

        def fail(configuration, instance, tried):
            return (
                Failure("no")
                if instance == failed and configuration["shots"] == 2
                else None
            )

        failed, small, fake = (
            check_plan(PLAN, "plan").order[3],
            PLAN | {"failures": failures},
            Fake(),
        )
        first = live.run(
            small | {"budget": 0.4}, tmp_path / "first", evaluator=Fake(fail=fail)
        )
        larger = small | {"budget": 0.8}
        expect_fault(
            "other-plan",
            larger | {"pilot": 4},
            tmp_path / "first",
            fake,
            names=["pilot is 5 there, but 4 here"],
            remedy="--from",
        )
        larger_plan = larger | {"reuse": str(first.table)}
        stopped = stop_after(5, larger_plan, tmp_path / "more")
        done = live.run(larger_plan, tmp_path / "more", evaluator=fake)
        full_run = live.run(larger, tmp_path / "whole", evaluator=Fake())
        assert (done.recommendation, done.spent) == (
            full_run.recommendation,
            full_run.spent,
        )
        pd.testing.assert_frame_equal(rows(done.table), rows(full_run.table))
        known_rows = rows(first.table)
        assert (
            done.inherited > 0
            and done.inherited <= first.spent
            and not full_run.inherited
        )
        inherited = set(
            zip(zip(known_rows["model"], known_rows["shots"]), known_rows["instance"])
        )
        repeated = {
            instance
            for settings, instance in inherited
            & {*stopped.evaluated[:5], *fake.evaluated}
        }
        assert repeated == ({failed} if failures == "zero" else set())

    @pytest.mark.slow
    @pytest.mark.parametrize("failures", ["zero", "leave-out"])
    def test_extended_run_pays_nothing_twice(self, tmp_path, failures):
        """But for what failed; and the money of both is that of the run."""

        def fail(configuration, instance, tried):
            bad = instance == failed and configuration["shots"] == 2
            return Failure("no", cost=4.0) if bad else None

        failed, small = (
            check_plan(PLAN, "plan").order[7],
            PLAN | {"failures": failures, "budget": 0.4},
        )
        first, fake = Fake(fail=fail), Fake()
        live.run(small, tmp_path / "run", evaluator=first)
        larger = small | {"budget": 0.8}
        stopped = stop_after(5, larger, tmp_path / "run")
        done = live.run(larger, tmp_path / "run", evaluator=fake)
        assert done.policy.finished and done.inherited == 0
        repeated = set(first.evaluated) & {*stopped.evaluated[:5], *fake.evaluated}
        assert {instance for _, instance in repeated} <= {failed}
        # also what the new plan has no use for, and what failed before
        assert first.billed + stopped.billed + fake.billed == pytest.approx(done.spent)
        assert done.spent <= done.budget * (1 + 1e-9)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["CoPSI", "UniformIdentification"])
    def test_returning_methods_receive_results_of_their_instances(
        self, tmp_path, method
    ):
        first, fake = Fake(), Fake()
        live.run(
            PLAN | {"method": method, "budget": 0.6}, tmp_path / "run", evaluator=first
        )
        done = live.run(
            PLAN | {"method": "UniformOnce", "budget": 1},
            tmp_path / "run",
            evaluator=fake,
        )
        assert (
            not set(first.evaluated) & set(fake.evaluated)
            and first.billed < done.spent <= done.budget
        )
        for row in rows(done.table).to_dict("records"):
            settings = {name: row[name] for name in GRID}
            assert row["tokens"] == measure(settings, row["instance"])["tokens"]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("method", "budget"), [("CoPSI", 0.8), ("UniformIdentification", 0.65)]
    )
    def test_stored_results_are_reused_for_their_instances(
        self, tmp_path, method, budget
    ):
        """Such a method starts after the pilot, not on the first instance."""
        first, fake = Fake(), Fake()
        live.run(PLAN | {"budget": 0.6}, tmp_path / "run", evaluator=first)
        expect_fault(
            "method-budget",
            PLAN | {"method": "EGESHOnce", "budget": 0.45},
            tmp_path / "run",
            names=["the whole budget"],
        )
        done = live.run(
            PLAN | {"method": method, "budget": budget},
            tmp_path / "run",
            evaluator=fake,
        )
        assert not set(first.evaluated) & set(fake.evaluated)
        assert first.billed < done.spent <= done.budget
        for row in rows(done.table).to_dict("records"):
            settings = {name: row[name] for name in GRID}
            assert (
                row["tokens"] == measure(settings, row["instance"].split()[0])["tokens"]
            )

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("changes", "code", "words"),
        [
            (
                {"cost": {"column": "tokens", "unit": "characters"}},
                "other-cost",
                "characters",
            ),
            ({"method": "CoPSI"}, "repeated-instances", "CoPSI"),
            (
                {"instances": ["a", "b", "c", "d"], "pilot": 2},
                "nothing-reusable",
                "on 'c'",
            ),
            (
                {"objectives": [{"name": "accuracy", "column": "right"}]},
                "missing-column",
                "'right'",
            ),
            (
                {"configurations": {"grid": GRID | {"top": [1]}}},
                "other-setting",
                "top 2",
            ),
            ({"reuse": "nowhere.parquet"}, "no-file", ""),
        ],
    )
    def test_unusable_tables_are_refused(self, tmp_path, changes, code, words):
        grid = {"grid": GRID | {"top": [2]}}
        first = live.run(
            PLAN | {"configurations": grid}, tmp_path / "first", evaluator=Fake()
        )
        plan = PLAN | {"reuse": str(first.table)} | changes
        expect_fault(code, plan, tmp_path / "b", names=[words])
        assert not (tmp_path / "b").exists()

    @pytest.mark.slow
    def test_answers_to_changed_questions_are_not_reused(self, tmp_path):
        """Neither by reuse nor by a start from the table, and no message advises it."""
        first = PLAN | {"evaluate": {"callable": {"function": "some:one"}}}
        other_plan = PLAN | {"evaluate": {"callable": {"function": "some:other"}}}
        done = live.run(first, tmp_path / "run", evaluator=Fake())
        expected = {
            "code": "other-evaluator",
            "folder": tmp_path / "new",
            "names": ["function is 'some:one' there, but 'some:other' here"],
        }
        expect_fault(plan=other_plan | {"reuse": str(done.table)}, **expected)
        expect_fault(plan=other_plan, start=done.table, **expected)
        assert not (tmp_path / "new").exists()

    @pytest.mark.slow
    def test_second_process_changes_nothing(self, tmp_path):
        """The budget may change after the pilot, but not while another process runs."""
        refused = []

        def evaluate(configuration, instance):
            if not refused:
                refused.append(configuration)
                expect_fault("open-elsewhere", PLAN | {"budget": 0.9}, tmp_path / "run")
            return measure(configuration, instance)

        done = live.run(PLAN, tmp_path / "run", evaluator=evaluate)
        assert (
            refused
            and live.run(PLAN, tmp_path / "run", evaluator=Fake()).spent == done.spent
        )

    def test_folder_with_other_files_is_refused(self, tmp_path):
        (tmp_path / "notes.txt").write_text("mine")
        expect_fault("other-folder", PLAN, tmp_path, place=str(tmp_path))

    @pytest.mark.slow
    def test_unfinished_run_is_exported(self, tmp_path):
        stop_after(60, PLAN | {"at_once": 4}, tmp_path / "run", delay=0.001)
        half = live.export(PLAN, tmp_path / "run")
        table = cb.read(half.table)
        assert (
            55 <= len(table.rows) <= 60
            and not half.policy.finished
            and half.recommendation
        )
        assert cb.recommend(table, budget=500, replications=20).next is not None
        assert not json.loads((tmp_path / "run" / "recommendation.json").read_text())[
            "finished"
        ]

    def test_pilot_is_shown_but_not_exported(self, tmp_path):
        for look in (
            lambda: live.export(PLAN, tmp_path / "run"),
            lambda: live.read_progress(tmp_path / "run"),
        ):
            with fault("no-run", str(tmp_path / "run")):
                look()
        stop_after(10, PLAN, tmp_path / "run")
        progress = live.read_progress(tmp_path / "run")
        assert (progress.stage.name, len(progress.stage.records), progress.front) == (
            "pilot",
            10,
            (),
        )
        with fault("pilot-not-over", names=["10 of the pilot's 30 evaluations"]):
            live.export(PLAN, tmp_path / "run")
        assert not (tmp_path / "run" / "table.parquet").exists()


class TestRace:
    """The default: no budget, and an end of its own."""

    @pytest.mark.slow
    @pytest.mark.parametrize("at_once", [1, 6])
    def test_race_stops_and_continues_with_a_smaller_tolerance(self, tmp_path, at_once):
        """Evaluations of the larger tolerance are reused, as within one race."""
        first, second, alone = Fake(), Fake(), Fake()
        plan = RACE | {"at_once": at_once}
        observations = []
        rough = live.run(
            plan,
            tmp_path / "run",
            evaluator=first,
            watch=lambda each: observations.append(each.settled),
        )
        settled = [n for n in observations if n is not None]
        assert settled == sorted(settled) and settled[-1] == 6
        assert rough.policy.status == "settled" and rough.budget is None
        assert len(first.evaluated) < 6 * 120
        progress = live.read_progress(tmp_path / "run")
        assert progress.front == rough.recommendation and not progress.busy
        fine = live.run(
            plan | {"stop": {"tolerance": 0.02}}, tmp_path / "run", evaluator=second
        )
        full_run = live.run(
            plan | {"stop": {"tolerance": 0.02}}, tmp_path / "whole", evaluator=alone
        )
        assert len(second.evaluated) and not set(first.evaluated) & set(
            second.evaluated
        )
        assert fine.recommendation == full_run.recommendation
        assert fine.policy.pulls.tolist() == full_run.policy.pulls.tolist()
        assert fine.spent == pytest.approx(first.billed + second.billed)
        assert set(alone.evaluated) <= {*first.evaluated, *second.evaluated}

    @pytest.mark.slow
    def test_budget_is_an_upper_limit(self, tmp_path):
        fake = Fake()
        done = live.run(
            RACE | AMOUNT | {"stop": {"tolerance": 0.0}, "budget": 900},
            tmp_path / "a",
            evaluator=fake,
        )
        assert (
            done.policy.status == "out of budget"
            and fake.billed <= 900
            and done.recommendation
        )

    @pytest.mark.slow
    def test_continued_method_must_accept_the_spent_results(self, tmp_path):
        race = live.run(RACE, tmp_path / "run", evaluator=Fake())
        fixed = RACE | {
            "stop": None,
            "method": "CoPSIOnce",
            "unit": "tokens",
            "budget": race.spent - 100,
        }
        amounts = [f"{race.spent:,.6g} tokens", f"{race.spent - 100:,.6g}"]
        expect_fault("method-budget", fixed, tmp_path / "run", names=amounts)
        live.run(
            fixed | {"budget": race.spent + 300}, tmp_path / "run", evaluator=Fake()
        )

    @pytest.mark.slow
    def test_race_starts_from_a_table(self, tmp_path):
        """The order of the table comes first; its evaluations are not made again."""
        first, fake = Fake(), Fake()
        rough = live.run(RACE | {"seed": 3}, tmp_path / "first", evaluator=first)
        fine = RACE | {"stop": {"tolerance": 0.02}}
        for _ in range(2):  # and again, as after a kill
            done = live.run(fine, tmp_path / "fine", evaluator=fake, start=rough.table)
        expect_fault(
            "other-plan",
            fine,
            tmp_path / "fine",
            fake,
            names=["instances.0 is", "this plan reuses none"],
        )
        assert not set(first.evaluated) & set(fake.evaluated)
        assert (
            0 < done.inherited <= rough.spent
            and done.inherited + fake.billed == pytest.approx(done.spent)
        )


@pytest.mark.slow
def test_running_run_can_be_shown_and_exported(tmp_path):
    looked = []

    def evaluate(configuration, instance):
        if (tmp_path / "run" / "run.journal").exists() and not looked:
            progress = live.read_progress(tmp_path / "run")
            assert progress.busy and progress.stage.name == "run"
            looked.extend(
                [
                    progress.stage.spent,
                    len(rows(live.export(PLAN, tmp_path / "run").table)),
                ]
            )
        return measure(configuration, instance)

    done = live.run(PLAN, tmp_path / "run", evaluator=evaluate)
    spent, exported = looked
    assert 0 < spent < done.spent and exported >= 30
    assert live.read_progress(tmp_path / "run").stage.spent == pytest.approx(done.spent)


def test_cost_of_a_run_is_estimated(tmp_path):
    """By the largest cost, and what the evaluator says; nothing is started."""
    fake = Fake()
    result = live.estimate(
        PLAN | AMOUNT | {"budget": 3000}, tmp_path / "run", evaluator=fake
    )
    assert (result.pilot, result.largest_cost) == (30, 30 * LARGEST)
    assert "all evaluations: at most about 14,400 tokens" in result.lines
    fake.bound_cost = lambda configuration, instance: 9.0
    assert live.estimate(PLAN, tmp_path / "run", evaluator=fake).largest_cost == 270
    result = live.estimate(PLAN, tmp_path / "run", evaluator=Fake())
    small = live.estimate(
        PLAN | AMOUNT | {"budget": 200}, tmp_path / "run", evaluator=fake
    )
    assert small.lines[-1].startswith("the budget may be too small for the pilot")
    assert small.lines[-1].endswith("can be resumed with a larger budget")
    assert (
        result.largest_cost == np.inf
        and "from which the cost of all evaluations is estimated"
        in " ".join(result.lines)
    )
    assert not fake.calls and not (tmp_path / "run").exists()


@pytest.mark.slow
def test_run_works_in_a_notebook(tmp_path):
    """Where a loop is running already."""

    async def cell():
        return live.run(PLAN, tmp_path / "run", evaluator=measure)

    assert asyncio.run(cell()).recommendation == play(PLAN)[1]


def test_missing_evaluator_is_refused(tmp_path):
    with fault("no-evaluator", remedy="write evaluate: {callable"):
        live.run(PLAN, tmp_path / "run")
    assert not (tmp_path / "run").exists()


SCRIPT = """
    import json, os, signal, sys
    sys.path[:0] = {path}
    from cobandit import live
    from support.runs import PLAN, measure

    dies, folder = int(sys.argv[1]), sys.argv[2]

    def evaluate(configuration, instance):
        with open(folder + ".log", "a") as log:  # one write a line
            log.write(json.dumps([list(configuration.values()), instance]) + "\\n")
        # Two threads may have written before either counts.
        if 0 < dies <= sum(1 for _ in open(folder + ".log")):
            os.kill(os.getpid(), signal.SIGKILL)
        return measure(configuration, instance)

    live.run(PLAN | {{"at_once": 3}}, folder, evaluator=evaluate)
"""


@pytest.mark.slow
def test_run_killed_at_any_time_is_resumed(tmp_path):
    """After SIGKILL with three in flight, the end equals an undisturbed run."""
    script, folder = tmp_path / "script.py", tmp_path / "run"
    script.write_text(
        textwrap.dedent(SCRIPT.format(path=[path for path in sys.path if path]))
    )
    deaths = [11, 40, 71]
    for death in [*deaths, 0]:
        done = subprocess.run(
            [sys.executable, script, str(death), folder], capture_output=True, text=True
        )
        assert done.returncode == (-signal.SIGKILL if death else 0), done.stderr
    full_run = live.run(PLAN | {"at_once": 3}, tmp_path / "whole", evaluator=measure)
    pd.testing.assert_frame_equal(rows(folder / "table.parquet"), rows(full_run.table))
    written = [
        json.loads((path / "recommendation.json").read_text())
        for path in (folder, tmp_path / "whole")
    ]
    assert written[0] == written[1]
    lines = (tmp_path / "run.log").read_text().splitlines()
    assert len(lines) - len(set(lines)) <= 3 * len(deaths)  # those under way
