"""Python functions as evaluators: results, exceptions, checks before a run."""

import contextvars
import errno
import socket
import sys
import threading
import time
from types import SimpleNamespace
from unittest import mock

import anyio
import httpx2
import numpy as np
import pytest
from pydantic import ValidationError
from support.evaluating import opened
from support.faults import fault
from support.runs import PLAN

from cobandit import live
from cobandit.live.evaluators import EVALUATORS, Failure, find_evaluator
from cobandit.live.evaluators.functions import FunctionEvaluator


def evaluate(function, instances=("7",), configuration=None):
    async def main():
        return await FunctionEvaluator(function, "mine:evaluate").evaluate(
            configuration or {"n": 1}, instances
        )

    return anyio.run(main)


async def later(configuration, instance):
    await anyio.sleep(0)
    return {"correct": configuration["n"]}


class Later:
    async def __call__(self, configuration, instance):
        return await later(configuration, instance)


@pytest.mark.parametrize(
    "function", [lambda c, i: {"correct": c.pop("n")}, later, Later()]
)
def test_plain_and_async_functions_return_rows(function):
    """They may change what they are given."""
    assert evaluate(function, ("7", "8")) == [{"correct": 1.0}] * 2


def test_plain_function_sees_context_variables_of_the_run():
    whose = contextvars.ContextVar("whose", default=0)

    async def main():
        whose.set(3)
        function = FunctionEvaluator(
            lambda c, i: {"correct": whose.get()}, "mine:evaluate"
        )
        return await function.evaluate({}, ["1"])

    assert anyio.run(main) == [{"correct": 3.0}]


def test_plain_functions_run_concurrently():
    # more than a pool of threads has by default
    meet = threading.Barrier(50, timeout=5)

    def function(configuration, instance):
        meet.wait()
        return {"correct": 1}

    async def main():
        evaluator = FunctionEvaluator(function, "mine:evaluate")
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(evaluator.evaluate, {}, ["1"])

    anyio.run(main)


def test_hanging_plain_function_times_out():
    released = threading.Event()

    async def main():
        with anyio.move_on_after(0.05):
            await FunctionEvaluator(
                lambda c, i: released.wait(5), "mine:evaluate"
            ).evaluate({}, ["1"])
        return time.monotonic()

    began, before = time.monotonic(), set(threading.enumerate())
    ended = anyio.run(main)
    waited_for = [
        thread for thread in set(threading.enumerate()) - before if not thread.daemon
    ]
    released.set()
    assert ended - began < 2 and not waited_for  # when the process ends


class Status(Exception):
    """As clients of HTTP raise it."""

    def __init__(self, code, inside=False):
        super().__init__("refused")
        self.response = SimpleNamespace(status_code=code) if inside else None
        self.status_code = None if inside else code


def wrapped(error):
    try:
        raise ValueError("the client's own") from error
    except ValueError as own:
        return own


def transport_error(module):
    """An instance of a subclass of the client's TransportError."""
    base = type("TransportError", (Exception,), {"__module__": module})
    return type("ReadTimeout", (base,), {"__module__": module})("gone")


@pytest.mark.parametrize(
    ("error", "message", "retry", "unavailable"),
    [
        (StopIteration(), "StopIteration", False, False),
        (KeyError("model"), "KeyError: 'model'", False, False),
        (SystemExit(1), "SystemExit: 1", False, False),
        (FileNotFoundError("7.png"), "FileNotFoundError: 7.png", False, False),
        (ConnectionResetError("gone"), "ConnectionResetError: gone", True, False),
        (TimeoutError(), "TimeoutError", True, False),
        (
            ConnectionRefusedError("nobody"),
            "ConnectionRefusedError: nobody",
            True,
            True,
        ),
        (OSError(errno.ENETUNREACH, "no network"), "no network", True, True),
        (
            wrapped(socket.gaierror("no such host")),
            "ValueError: the client's own",
            True,
            True,
        ),
        (
            wrapped(ExceptionGroup("each", [ConnectionRefusedError()])),
            "the client's own",
            True,
            True,
        ),
        (Status(400), "Status: refused", False, False),
        (Status(500), "Status: refused", True, False),
        (Status(429), "Status: refused", True, True),
        (Status(503, inside=True), "Status: refused", True, True),
        (httpx2.ReadTimeout("gone"), "ReadTimeout: gone", True, False),
        (transport_error("httpx"), "ReadTimeout: gone", True, False),
        (transport_error("httpx._exceptions"), "ReadTimeout: gone", True, False),
        (transport_error("mine.httpx"), "ReadTimeout: gone", False, False),
    ],
)
def test_exception_becomes_a_failed_evaluation(error, message, retry, unavailable):
    def function(configuration, instance):
        raise error

    async def slow(configuration, instance):
        raise error

    for entry in (function, slow):
        with pytest.raises(Failure) as caught:
            evaluate(entry)
        result = caught.value
        assert str(result).startswith("mine:evaluate: ") and str(result).endswith(
            message
        )
        assert (result.retry, result.unavailable, result.cost) == (
            retry,
            unavailable,
            None,
        )


def test_function_may_raise_a_failure():
    def function(configuration, instance):
        raise Failure("no answer", cost=12.5, retry=True, wait=3)

    with pytest.raises(Failure) as caught:
        evaluate(function)
    assert (caught.value.cost, caught.value.retry, caught.value.wait) == (12.5, True, 3)


def test_numbers_of_any_kind_are_accepted():
    arguments = {
        "a": True,
        "b": np.bool_(True),
        "c": np.float32(0.5),
        "d": np.array(2),
        "e": 3,
    }
    assert evaluate(lambda c, i: arguments) == [
        {"a": 1.0, "b": 1.0, "c": 0.5, "d": 2.0, "e": 3.0}
    ]


@pytest.mark.parametrize(
    ("result", "code", "shown"),
    [
        (None, "not-a-row", "None"),
        (0.5, "not-a-row", "0.5"),
        ({}, "not-a-row", "{}"),
        ({1: 2}, "not-a-row", "{1: 2}"),
        ({"correct": "1"}, "not-a-number", "'1' as 'correct'"),
        ({"correct": None}, "not-a-number", "None as 'correct'"),
        ({"correct": float("nan")}, "not-a-number", "nan as 'correct'"),
        ({"correct": [1]}, "not-a-number", "[1] as 'correct'"),
        ({"correct": 1j}, "not-a-number", "1j as 'correct'"),
        ("x" * 500, "not-a-row", "..."),
    ],
)
def test_wrong_return_value_is_refused(result, code, shown):
    place = "mine:evaluate on instance '7'"
    with fault(code, place, names=[shown]) as caught:
        evaluate(lambda c, i: result)
    assert len(str(caught.value)) < 250


MODULE = """
def evaluate(configuration, instance):
    return {"correct": configuration["n"] > int(instance)}

def alone():
    return {}

class Scorers:
    @staticmethod
    def zero(configuration, instance):
        return {"correct": 0}

number = 3
"""


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A current folder with modules, as a user has it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "scoring.py").write_text(MODULE)
    (tmp_path / "failing.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "needing.py").write_text("import a_package_that_nobody_has\n")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    with mock.patch.dict(sys.modules), mock.patch.dict(EVALUATORS):
        yield tmp_path


@pytest.mark.parametrize("name", ["scoring:evaluate", "scoring:Scorers.zero"])
def test_modules_of_the_current_folder_are_imported(workspace, name):
    async def use(evaluator):
        return await evaluator.evaluate({"n": 0}, ["1"])

    assert opened("callable", {"function": name}, use) == [{"correct": 0.0}]


@pytest.mark.parametrize(
    ("name", "code", "named", "remedy"),
    [
        (
            "scorign:evaluate",
            "no-module",
            "No module named 'scorign'",
            "start in the folder",
        ),
        (
            "scoring.py:evaluate",
            "no-module",
            "scoring.py",
            "write the name without '.py'",
        ),
        ("scoring:evalute", "no-function", "'evalute'", "did you mean 'evaluate'?"),
        ("scoring:number", "parameters", "number(configuration, instance)", ""),
        ("scoring:alone", "parameters", "alone(configuration, instance)", ""),
        (
            "failing:evaluate",
            "failing-module",
            "failing.py, line 2): ZeroDivisionError: division by zero",
            "",
        ),
        (
            "needing:evaluate",
            "no-module",
            "No module named 'a_package_that_nobody_has'",
            "install",
        ),
        ("leaving:evaluate", "failing-module", "SystemExit", ""),
    ],
)
def test_uncallable_functions_are_refused_on_opening(
    workspace, name, code, named, remedy
):
    with fault(code, place=name.partition(":")[0], names=[named], remedy=remedy):
        opened("callable", {"function": name})


@pytest.mark.parametrize("name", ["scoring", "scoring:", ":evaluate", "a:b:c", "a b:f"])
def test_function_names_need_a_module(workspace, name):
    with pytest.raises(ValidationError) as caught:
        opened("callable", {"function": name})
    (detail,) = caught.value.errors()
    assert (detail["loc"], detail["type"]) == (("function",), "string_pattern_mismatch")


OWN = """
from contextlib import asynccontextmanager
from cobandit.live.evaluators import EvaluatorOptions, evaluator

class Options(EvaluatorOptions):
    value: float

class Constant:
    block = 3
    at_once = 1

    def __init__(self, value):
        self.value = value

    async def evaluate(self, configuration, instances):
        return [{"correct": self.value} for _ in instances]

@evaluator("constant", Options)
@asynccontextmanager
async def open_constant(options, context):
    yield Constant(options.value)
"""


def test_custom_evaluator_is_named_with_its_module(workspace):
    (workspace / "own_evaluators.py").write_text(OWN)

    async def use(evaluator):
        return await evaluator.evaluate({}, ["1", "2"])

    assert (
        opened("own_evaluators:constant", {"value": 0.5}, use) == [{"correct": 0.5}] * 2
    )
    name = "own_evaluators:constnat"
    with fault("no-evaluator", names=[name], remedy="'constant'?"):
        find_evaluator(name)


def test_texts_without_targets_need_a_scoring_function(tmp_path, monkeypatch):
    """By number, say, every one of them would be wrong."""
    module = SimpleNamespace(
        evaluate=lambda settings, instance: {
            "score": settings["m"],
            "tokens": 9.0,
            "answer": "It is 7",
        },
        judge=lambda text, target: float("7" in text),
    )
    plan = PLAN | {
        "configurations": {"grid": {"m": [0, 1]}},
        "instances": 12,
        "budget": 1,
        "objectives": [{"name": "accuracy", "column": "score"}],
        "evaluate": {"callable": {"function": "texts_alone:evaluate"}},
    }
    monkeypatch.setitem(sys.modules, "texts_alone", module)
    live.run(plan, tmp_path)
    with fault("no-answer", "on instance"):
        live.rescore(tmp_path, {"scorer": "number"})
    assert live.rescore(tmp_path, {"scorer": "texts_alone:judge"}).exists()
