"""A Python function as an evaluator, plain or async.

.. code-block:: yaml

    evaluate: {callable: {function: "my_module:evaluate"}}
"""

from __future__ import annotations

import asyncio
import contextvars
import errno
import inspect
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pkgutil import resolve_name
from typing import Any

from pydantic import Field

from cobandit.errors import CobanditError
from cobandit.faults import nearest
from cobandit.live.evaluators import (
    UNAVAILABLE,
    Context,
    EvaluatorOptions,
    Failure,
    Row,
    describe_error,
    evaluator,
    import_module,
    read_row,
)

NOBODY = (ConnectionRefusedError, socket.gaierror)
UNREACHABLE = frozenset({errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH})
"""Errors of the system, and their numbers, where a service is not there."""


class CallableOptions(EvaluatorOptions):
    """Options of ``evaluate: {callable: ...}``."""

    function: str = Field(
        pattern=r"^[^:\s]+:[^:\s]+$", description="name it as module:function, for example my_module:evaluate"
    )


class FunctionEvaluator:
    """Calls ``function(configuration, instance)``, which gives a mapping of column names to numbers.

    A plain function runs in a thread, so several calls may run at once; what it raises is a failure of that
    evaluation.  It may raise a `Failure` itself, to say what it cost or that trying again may help; of other
    errors, those of the system (connections, time-outs) are worth another try, and where they come of a
    service that is not there, or is asked too much at once, nothing is scored.

    Parameters
    ----------
    function : callable
    name : str
        What messages call it.

    Examples
    --------
    >>> import anyio
    >>> evaluator = FunctionEvaluator(lambda c, instance: {"correct": c["n"] > int(instance)}, "above")
    >>> anyio.run(evaluator.evaluate, {"n": 3}, ["2"])
    [{'correct': 1.0}]
    """

    block = 1
    at_once = None

    def __init__(self, function: Callable[[Mapping[str, Any], str], Any], name: str):
        self.function = function
        self.name = name
        call = getattr(function, "__call__", None)  # noqa: B004 (an object's own, which may be async)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)

    async def evaluate(self, configuration: Mapping[str, Any], instances: Sequence[str]) -> list[Row]:
        """Call the function for each instance."""
        return [await self._one(configuration, instance) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], instance: str) -> Row:
        given = dict(configuration)  # so that the function may change it
        try:
            if self._is_async:
                result = await self.function(given, instance)
            else:
                result = await _in_thread(self.function, given, instance)
        except Failure:
            raise
        except (Exception, SystemExit) as error:
            said = f"{self.name}: {describe_error(error)}"
            nobody = _is_unavailable(error)
            raise Failure(said, retry=isinstance(error, OSError), unavailable=nobody) from error
        return read_row(result, f"{self.name}, for instance {instance!r},")


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a thread that, if it hangs, does not keep the process; anyio's would."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if not told.done():  # it may have been given up
            told.set_result((result, error))

    def work() -> None:
        try:
            outcome: tuple[Any, BaseException | None] = function(*arguments), None
        except BaseException as error:
            outcome = None, error
        with suppress(RuntimeError):  # the run is over
            loop.call_soon_threadsafe(tell, *outcome)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    result, error = await told
    if error is not None:
        raise error
    return result


def _is_unavailable(error: BaseException | None) -> bool:
    """Whether a service is not there, or is asked too much at once, as clients of HTTP let it be seen."""
    while error is not None:
        if isinstance(error, BaseExceptionGroup):  # one for each address that was tried
            error = error.exceptions[0]
        response = getattr(error, "response", None)
        status = getattr(error if response is None else response, "status_code", None)
        if isinstance(error, NOBODY) or getattr(error, "errno", None) in UNREACHABLE or status in UNAVAILABLE:
            return True
        error = error.__cause__ or error.__context__
    return False


@evaluator("callable", CallableOptions)
@asynccontextmanager
async def open_callable(options: CallableOptions, context: Context) -> AsyncIterator[FunctionEvaluator]:
    """Import the function; the current folder is searched first.

    Raises
    ------
    CobanditError
        If it cannot be imported, or does not take a configuration and an instance.
    """
    yield FunctionEvaluator(load_function(options.function), options.function)


def load_function(name: str) -> Callable[[Mapping[str, Any], str], Any]:
    """Import ``module:function`` and check that it takes a configuration and an instance.

    Examples
    --------
    >>> load_function("shutil:wich")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: the module 'shutil' has no 'wich': did you mean 'which'?
    """
    module_name, _, path = name.partition(":")
    module = import_module(module_name)
    try:
        function = resolve_name(name)
    except AttributeError:
        remedy = nearest(path, (n for n in vars(module) if not n.startswith("_"))) or "check the name"
        raise CobanditError(f"the module {module_name!r} has no {path!r}: {remedy.strip()}") from None
    if not callable(function):
        raise CobanditError(f"{name} is no function but {function!r}: name a function")
    try:
        inspect.signature(function).bind({}, "instance")
    except TypeError as error:
        raise CobanditError(
            f"{name} cannot be called as {path}(configuration, instance) ({error}): let it take these two"
        ) from None
    except ValueError:  # compiled, without a signature to look at
        pass
    return function
