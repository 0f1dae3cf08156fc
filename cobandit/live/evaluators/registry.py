"""Kinds of evaluators by name.

A plan names one of the kinds in `BUILT_IN`, or writes ``module:name`` for a kind that
another module registers with `evaluator`.
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

#: Function of options and context that returns a context manager. Entering the context
#: manager checks everything that can be checked without cost, and yields an evaluator.
Opener = Callable[[Any, Context], AbstractAsyncContextManager[Evaluator]]


class EvaluatorKind(NamedTuple):
    """A kind of evaluator."""

    #: Class of the options.
    options: type[EvaluatorOptions]
    #: Function that makes an evaluator from options.
    open: Opener


#: Modules of the built-in kinds. They are imported on demand, because HTTP clients are
#: slow to import.
BUILT_IN = {"callable": "functions", "openai": "endpoints", "inspect": "inspect_tasks"}


#: Kinds of evaluators whose modules have been imported, by name.
EVALUATORS: dict[str, EvaluatorKind] = {}


def evaluator(name: str, options: type[EvaluatorOptions]) -> Callable[[Opener], Opener]:
    """Return a decorator that registers a new kind of evaluator under a name.

    The decorated function is the async context manager that makes an evaluator from
    ``options``.
    """

    def register(open_: Opener) -> Opener:
        EVALUATORS[name] = EvaluatorKind(options, open_)
        return open_

    return register


def find_evaluator(name: str) -> EvaluatorKind:
    """Return a kind of evaluator by its name, and import its module.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`, or ``module:name`` for a kind that another module registers.

    Raises
    ------
    TableError
        If the kind does not exist, or its module cannot be imported.

    Examples
    --------
    >>> find_evaluator("callable").options.__name__
    'CallableOptions'
    >>> find_evaluator("calable")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: there is no evaluator 'calable' -> did you mean ...
    """
    module, _, short = name.rpartition(":")
    if module:
        import_module(module)
    elif name in BUILT_IN:
        importlib.import_module(f"cobandit.live.evaluators.{BUILT_IN[name]}")

    if short not in EVALUATORS:
        names = sorted({*EVALUATORS, *BUILT_IN})
        problem = f"there is no evaluator {name!r}"
        raise_fault(None, problem, suggest(short, names), "no-evaluator")

    return EVALUATORS[short]
