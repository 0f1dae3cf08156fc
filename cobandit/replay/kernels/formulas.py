"""Formulas that distinguish methods, called by a common compiled run.

A formula is the index of an online method, or the target of a gap elimination. Some of
its arguments are numbers that it reads from the policy. All online methods share one
compiled run, and all gap eliminations another, so a new method compiles in a second.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, types

from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import is_builtin
from cobandit.replay.kernels._cache import FOLDER, inner, kept
from cobandit.replay.kernels.compiled_runs import register


class Formula(NamedTuple):
    """A compiled formula, with the numbers that it reads from a policy."""

    #: The compiled formula.
    call: Any
    #: Numbers that the formula reads from a policy, padded to the size of `NUMBERS`.
    numbers: tuple[float, ...]
    #: Whether the formula needs sums of squares.
    squares: bool


#: Type of the numbers that a formula reads from a policy. It is the same for all
#: formulas, because they share a compiled run.
NUMBERS = types.UniTuple(types.float64, 8)


@cache
def _by_address(
    formula: Callable[..., Any],
    pass_numbers: Callable[..., Any],
    arguments: tuple[Any, ...],
    n_numbers: int,
) -> Any:
    """Return ``pass_numbers(formula, n_numbers)``, compiled for calls by address."""
    with kept():
        signature = types.float64(*arguments, NUMBERS)
        function = pass_numbers(formula, n_numbers)
        # The cache stores compiled code under this name. If all formulas had one name,
        # a process would load the code of another formula.
        function.__qualname__ = f"{formula.__module__}.{formula.__qualname__}"
        return cfunc(
            signature,
            cache=is_builtin(formula) and FOLDER is not None,
            error_model="numpy",
        )(function)


def register_formula(
    policy: type[AskTell],
    run: Any,
    pass_numbers: Callable[..., Any],
    arguments: tuple[Any, ...],
    n_known: int,
    squares: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a formula as the kernel of a class.

    Parameters
    ----------
    policy : type
    run : compiled function
        Result of `compile_run`.
    pass_numbers : callable
        ``pass_numbers(formula, n)`` returns a function that calls the formula. This
        function gets the arguments that the run passes and the padded numbers. It
        passes on the first n numbers.
    arguments : tuple of Numba types
        Types of the arguments that the run passes, without the numbers.
    n_known : int
        Number of arguments of the formula that the run passes. Each further argument
        has the name of an attribute of the policy.
    squares : bool
        Whether the run must also compute sums of squares.
    """

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        attributes = list(inspect.signature(formula).parameters.values())[n_known:]
        if len(attributes) > len(NUMBERS):
            raise CobanditError(
                f"{formula.__name__} has {len(attributes)} arguments from the policy,"
                f" but only {len(NUMBERS)} are possible -> combine some of them",
                argument="formula",
                code="too-many-numbers",
            )

        def read(method: AskTell) -> Formula:
            numbers = [
                _read_number(formula, method, attribute) for attribute in attributes
            ]
            padding = [0.0] * (len(NUMBERS) - len(numbers))
            call = _by_address(formula, pass_numbers, arguments, len(numbers))
            return Formula(call, (*numbers, *padding), squares)

        inner(formula)
        register(policy, run, read)
        return formula

    return decorate


def _read_number(
    formula: Callable[..., Any], method: AskTell, attribute: inspect.Parameter
) -> float:
    value = getattr(method, attribute.name, attribute.default)
    if not isinstance(value, (int, float, np.number)):
        value_text = repr(value)
        if value is attribute.empty:
            value_text = "no such attribute"
        raise CobanditError(
            f"{formula.__name__} reads the attribute {attribute.name} of"
            f" {type(method).__name__}: a number is needed, got {value_text}",
            argument=attribute.name,
            code="not-a-number",
        )
    return float(value)
