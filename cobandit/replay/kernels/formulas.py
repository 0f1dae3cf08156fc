"""Formulas of a method, called by their address from one compiled run.

A formula is an index of online selection or a target of an elimination; it reads
numbers off its readable class.  All formulas of a kind share one compiled run, so that
a new method compiles in a second.
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
    """A formula as a run calls it."""

    #: The compiled formula.
    call: Any
    #: Numbers that it reads off the class, padded to the size of `NUMBERS`.
    numbers: tuple[float, ...]
    #: Whether it reads sums of squares.
    squares: bool


#: Numbers that a formula can read: a tuple of one size, which is passed in registers.
NUMBERS = types.UniTuple(types.float64, 8)


@cache
def _by_address(
    formula: Callable[..., Any],
    pass_numbers: Callable[..., Any],
    arguments: tuple[Any, ...],
    n_numbers: int,
) -> Any:
    """Compile ``pass_numbers(formula, n_numbers)``, which passes on the first numbers."""
    with kept():
        signature = types.float64(*arguments, NUMBERS)
        function = pass_numbers(formula, n_numbers)
        # Compiled code is kept on disk under this name.  With one name for all formulas
        # processes would mistake one for another.
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
    """Return a decorator that makes a formula the kernel of a class.

    Parameters
    ----------
    policy : type
    run : compiled function
        As `compile_run` returns it.
    pass_numbers : callable
        ``pass_numbers(formula, n)`` takes what the run passes, and calls the formula
        with it and with the first n numbers.
    arguments : tuple of Numba types
        What the run passes besides the numbers.
    n_known : int
        Arguments of the formula that come from the run.  The others have the names of
        attributes of the class.
    squares : bool
        Whether the run adds up squares, too.
    """

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        attributes = list(inspect.signature(formula).parameters.values())[n_known:]
        if len(attributes) > len(NUMBERS):
            raise CobanditError(
                f"{formula.__name__} reads {len(attributes)} numbers -> let it read"
                f" {len(NUMBERS)} at most"
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
        problem = "no such attribute" if value is attribute.empty else repr(value)
        reader = (
            f"{formula.__name__} reads {attribute.name} off {type(method).__name__}"
        )
        raise CobanditError(f"{reader}: a number is needed, got {problem}")
    return float(value)
