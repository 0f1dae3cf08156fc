"""``cobandit run``: output, interruption, and plans that start nothing."""

import io
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pandas as pd
import pytest
import yaml
from rich.console import Console
from support import commands
from support.faults import bad_argument
from support.runs import PLAN, Fake

import cobandit as cb
from cobandit import live
from cobandit._text import amount
from cobandit.cli.run import run
from cobandit.cli.run_progress import watching
from cobandit.errors import CobanditError
from cobandit.live import retries
from cobandit.live.evaluators import Failure
from cobandit.live.plan import check_plan

call = partial(commands.call, columns=160)
MODULE = """
import os, sys, time
sys.path[:0] = {path}
from support.runs import measure

def evaluate(configuration, instance):
    time.sleep(60 if os.path.exists("hang") else {seconds})
    model = configuration["model"].strip("[]")
    return measure({{"model": model, "shots": configuration["shots"]}}, instance)
"""
BRACKETS = {
    "configurations": {"grid": {"model": ["[small]", "[/large]"], "shots": [0, 2, 6]}},
    "cost": {"column": "tokens", "unit": "[k] tokens"},
    "evaluate": {"callable": {"function": "measuring:evaluate"}},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own with a plan, whose evaluations take no time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "measuring", raising=False)
    write(tmp_path)
    yield tmp_path
    sys.modules.pop("measuring", None)


def write(folder, seconds=0, **changes):
    path = [path for path in sys.path if path]
    (folder / "measuring.py").write_text(MODULE.format(path=path, seconds=seconds))
    (folder / "plan.yml").write_text(
        yaml.safe_dump(PLAN | BRACKETS | changes, sort_keys=False)
    )


def plain(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_run_ends_with_its_recommendation(folder):
    done = call("run", "plan.yml")
    assert done.exit_code == 0, done.output
    full_run = live.run(folder / "plan.yml", "runs/toy")
    assert (
        "pilot: 30 evaluations, from which the cost of all evaluations is estimated"
        in done.output
    )
    assert "pilot: 0 [k] tokens, 0 of 30 evaluations" in done.output
    assert "front so far: [small] shots=0" in done.output
    spent, _, rest = done.output.partition(", whatever the cost:")
    names, _, advice = rest.partition("table: runs/toy/table.parquet")
    assert [line.strip() for line in names.split("\n") if line.strip()] == list(
        full_run.recommendation
    )
    assert (
        f"spent {amount(full_run.spent)} of {amount(full_run.budget)} [k] tokens"
        in spent
    )
    # no second front
    assert f"The method returned {len(full_run.recommendation)} of 6" in advice
    assert call("validate", "runs/toy/table.parquet").output.endswith("valid\n")


def test_plan_in_the_help_is_valid():
    text = run.__doc__.partition("\b\n")[2].replace("\\[", "[")
    plan = check_plan(yaml.safe_load(text), "the help")
    assert len(plan.names) == 6 and plan.evaluate.name == "callable"


@pytest.mark.slow
def test_run_uses_another_folder_and_exports(folder):
    assert call("run", "plan.yml", "--folder", "elsewhere").exit_code == 0
    table = pd.read_parquet("elsewhere/table.parquet")
    os.remove("elsewhere/table.parquet")
    (folder / "measuring.py").write_text("raise SystemExit  # nothing is evaluated")
    done = call("run", "plan.yml", "--folder", "elsewhere", "--export")
    assert done.exit_code == 0 and "CoPSIOnce returns" in done.output
    pd.testing.assert_frame_equal(pd.read_parquet("elsewhere/table.parquet"), table)


@pytest.mark.slow
def test_run_without_a_front_is_exported_shown_and_estimated(folder):
    """The command that an interrupted run prints works, and so does a dry run."""
    write(folder, method="ParetoRace")

    def fail(configuration, instance, tried):
        if len(fake.calls) > 33:
            raise CobanditError("stopped here", code="stopped")

    fake = Fake(fail=fail)
    with bad_argument("stopped"):
        live.run(folder / "plan.yml", "runs/toy", evaluator=fake)
    done = call("run", "plan.yml", "--export")
    assert (
        done.exit_code == 0
        and "  nothing yet\n" in done.output
        and "Cheapest" not in done.output
    )
    assert "the same command again, without --export" in plain(done.output)
    shown = call("show", "runs/toy").output
    assert "(no process is running)" in shown and "front so far: none yet" in shown
    dry_run = call("run", "plan.yml", "--dry-run").output
    assert (
        "they are charged but not repeated" in dry_run
        and "pilot: nothing to evaluate" in dry_run
    )
    write(folder, method="ParetoRace", budget=100, unit="[k] tokens")
    assert "tokens are spent, and the budget is 100" in str(
        call("run", "plan.yml", "--dry-run").exception
    )


def test_dry_run_starts_nothing(folder):
    done = call("run", "plan.yml", "--dry-run")
    assert (
        done.exit_code == 0
        and "6 configurations on 40 instances: 240 evaluations in all" in done.output
    )
    assert (
        "budget: 0.5 of the cost of all evaluations" in done.output
        and not (folder / "runs").exists()
    )


@pytest.mark.slow
def test_finished_race_is_shown_and_reused(folder):
    """A plan without a method races; `show` reports the same end."""
    race = {
        "method": {"ParetoRace": {}},
        "budget": None,
        "unit": "",
        "stop": {"tolerance": 0.2},
    }
    write(folder, **race)
    done = call("run", "plan.yml")
    assert done.exit_code == 0, done.output
    assert "6 of 6 configurations are settled within 0.2" in done.output
    assert (
        " of 40 instances\n" in done.output
        and "to continue: change stop, budget or method" in done.output
    )
    assert "every instance here" not in done.output
    shown = call("show", "runs/toy").output
    assert "0 of 6 configurations active" in shown
    assert "run: toy, ParetoRace, over" in shown and "settled: 6 of 6\n" in shown
    write(folder, **race | {"name": "again"})
    second_call = call("run", "plan.yml", "--from", "runs/toy/table.parquet").output
    assert (
        "in an earlier table" in second_call
        and "pilot: nothing to evaluate" in second_call
    )
    assert "they are charged but not repeated" in plain(second_call)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"evaluate": {"callable": {"function": "measurring:evaluate"}}},
            "No module named 'measurring'",
        ),
        (
            {"evaluate": {"callable": {"function": "measuring:evaluat"}}},
            "did you mean 'evaluate'?",
        ),
        (
            {"method": "CoPSIOnse"},
            "plan.yml, field 'method': unknown method 'CoPSIOnse'. Did you mean",
        ),
        ({"evaluate": None}, "the plan has no field 'evaluate'"),
    ],
)
def test_bad_plans_start_no_run(folder, refused, changes, message):
    write(folder, **changes)
    assert message in plain(refused("run", "plan.yml"))
    assert not (folder / "runs").exists()


@pytest.mark.slow
def test_progress_line_shows_names_verbatim_and_remains(tmp_path):
    """Rich reads brackets as markup, and a stray closing tag would be an error."""
    screen = Console(file=io.StringIO(), force_terminal=True, width=150, markup=False)
    plan = PLAN | {key: BRACKETS[key] for key in ("configurations", "cost")}

    class Small(Fake):
        async def evaluate(self, configuration, instances):
            return await super().evaluate(configuration | {"model": "small"}, instances)

    with watching(screen) as watch:
        live.run(plan, tmp_path / "run", evaluator=Small(delay=0.02), watch=watch)
    shown = screen.file.getvalue()
    for text in ("toy pilot", "toy run", "[k] tokens", "front so far: [small] shots=0"):
        assert text in shown
    last = shown.splitlines()[-2]
    assert "toy run" in last and "[small] shots=0" in last  # the line stays


def fail_often(configuration, instance, tried):
    """Each evaluation of one configuration fails twice before it is answered."""
    is_bad = configuration == {"model": "small", "shots": 2}
    return Failure("overloaded", retry=True) if is_bad and tried < 2 else None


@pytest.mark.slow
@pytest.mark.parametrize("is_terminal", [True, False])
def test_failures_take_one_line_per_configuration(tmp_path, monkeypatch, is_terminal):
    monkeypatch.setattr(retries, "back_off", lambda tries: 0.0)
    screen = Console(
        file=io.StringIO(), force_terminal=is_terminal, width=100, markup=False
    )
    with watching(screen) as watch:
        live.run(
            PLAN | {"at_once": 4},
            tmp_path / "run",
            evaluator=Fake(fail=fail_often),
            watch=watch,
        )
    lines = screen.file.getvalue().split("\n")
    if is_terminal:  # the last drawing
        assert "toy run" in lines[-3]
        assert (
            lines[-2].startswith("small shots=2: ")
            and "tries failed; the last" in lines[-2]
        )
    else:
        failed = [line for line in lines if "failed" in line]
        first, last = failed  # when it began to fail, and how often it did
        assert first.startswith("small shots=2 on ") and last.startswith(
            "small shots=2: "
        )


@pytest.mark.slow
def test_interrupted_run_is_resumed(folder):
    """Ctrl-C ends at once, though functions run in threads that cannot be cancelled."""
    write(folder, seconds=0.1, at_once=4)
    words = [sys.executable, "-m", "cobandit", "run", "plan.yml"]
    # else deaf in the background
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, heard)
    deadline = time.monotonic() + 100
    while (
        not (folder / "runs/toy/run.journal").exists() and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    (folder / "hang").touch()
    time.sleep(3)  # until evaluations hang
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT, err
    assert (
        "all evaluations are kept. Continue with: cobandit run plan.yml\n" in out
        and "Traceback" not in err
    )
    (folder / "hang").unlink()
    write(folder, at_once=1)
    done = call("run", "plan.yml")
    assert done.exit_code == 0, done.output
    full_run = live.run(folder / "plan.yml", "whole")
    pd.testing.assert_frame_equal(
        pd.read_parquet("runs/toy/table.parquet"), pd.read_parquet(full_run.table)
    )
    assert cb.read("runs/toy/table.parquet").n_arms == 6
