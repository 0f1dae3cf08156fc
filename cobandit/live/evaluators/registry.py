"""Kinds of evaluators by name.

A new kind is a new module: one of `BUILT_IN`, or any that a plan names as
``module:name``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import Context, Evaluator, EvaluatorOptions
from cobandit.live.evaluators.user_code import import_module

#: Options and context in, an evaluator to be entered out; entering checks what can be
#: checked at no cost.
Opener = Callable[[Any, Context], AbstractAsyncContextManager[Evaluator]]


class EvaluatorKind(NamedTuple):
    """A kind of evaluator: the model of its options, and the function that opens it."""

    options: type[EvaluatorOptions]
    open: Opener


#: The module of each kind that comes with the package, imported when it is named: HTTP
#: takes its time.
BUILT_IN = {"callable": "functions", "openai": "endpoints", "inspect": "inspect_tasks"}


#: Every kind of evaluator whose module has been imported, by name.
EVALUATORS: dict[str, EvaluatorKind] = {}


def evaluator(name: str, options: type[EvaluatorOptions]) -> Callable[[Opener], Opener]:
    """Register an async context manager that opens a kind of evaluator."""

    def register(open_: Opener) -> Opener:
        EVALUATORS[name] = EvaluatorKind(options, open_)
        return open_

    return register


def find_evaluator(name: str) -> EvaluatorKind:
    """Find a kind of evaluator by name.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`, or ``module:name`` for one that another module registers.

    Raises
    ------
    TableError
        If there is none of that name, or the module cannot be imported.

    Examples
    --------
    >>> find_evaluator("callable").options.__name__
    'CallableOptions'
    >>> find_evaluator("calable")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: there is no evaluator 'calable' -> did you mean 'callable'? there are ...
    """
    module, _, short = name.rpartition(":")
    if module:
        import_module(module)
    elif name in BUILT_IN:
        importlib.import_module(f"cobandit.live.evaluators.{BUILT_IN[name]}")

    if short not in EVALUATORS:
        known = sorted({*EVALUATORS, *BUILT_IN})
        raise_fault(
            None,
            f"there is no evaluator {name!r}",
            suggest(short, known),
            "no-evaluator",
        )

    return EVALUATORS[short]
