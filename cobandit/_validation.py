"""Checks of arguments of public functions."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit._text import find_nearest
from cobandit.errors import CobanditError


def table(given: object) -> None:
    """Raise if a value is not an EvaluationTable, for example a path or a data frame.

    Examples
    --------
    >>> table("my.parquet")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: table: an EvaluationTable is needed, got ...
    """
    # look at the class, because reading the attribute of an instance may raise
    if not hasattr(type(given), "feedback"):
        what = repr(given) if isinstance(given, str) else f"a {type(given).__name__}"
        raise CobanditError(
            f"table: an EvaluationTable is needed, got {what}; load one with"
            " cobandit.load or cobandit.read, or make one from a data frame with"
            " EvaluationTable.from_frame",
            argument="table",
            code="not-a-table",
        )


def numbers(value: ArrayLike, name: str, ndim: int | None) -> NDArray[np.float64]:
    """Return a value as an array of finite floats, or raise.

    The array must have ``ndim`` dimensions; None allows any number of dimensions.
    """
    try:
        if np.ma.is_masked(value):
            raise TypeError("it has masked entries")
        raw = np.asarray(value)
        if raw.size and raw.dtype.kind not in "buif":
            raise TypeError(f"its entries are of type {raw.dtype}")
        array = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CobanditError(
            f"{name}: expected numbers in an array ({error})",
            argument=name,
            code="not-numbers",
        ) from None

    if ndim is not None and array.ndim != ndim:
        raise CobanditError(
            f"{name}: expected an array of {ndim} dimension(s), got shape"
            f" {array.shape}",
            argument=name,
            code="wrong-shape",
        )
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f"{name}{list(where)}" if where else name
        raise CobanditError(
            f"{place} is {array[where]}: every entry must be a finite number",
            argument=name,
            code="not-finite",
        )

    return array


def means(value: ArrayLike, name: str = "means") -> NDArray[np.float64]:
    """Return mean vectors as a finite array (K, D) with K >= 2 and D >= 1, or raise."""
    array = numbers(value, name, 2)
    if array.shape[0] < 2 or array.shape[1] < 1:
        raise CobanditError(
            f"{name}: at least two arms and one objective are needed, got an array of"
            f" shape {array.shape}",
            argument=name,
            code="wrong-shape",
        )
    return array


def costs(
    value: ArrayLike, name: str = "costs", n_arms: int | None = None
) -> NDArray[np.float64]:
    """Return mean costs as a finite and positive array (K,), or raise."""
    array = numbers(value, name, 1)
    if n_arms is None and len(array) < 2:
        raise CobanditError(
            f"{name}: at least two arms are needed, got {len(array)}",
            argument=name,
            code="wrong-length",
        )
    if n_arms is not None and len(array) != n_arms:
        raise CobanditError(
            f"{name}: one cost for each of the {n_arms} arms is needed, got"
            f" {len(array)}",
            argument=name,
            code="wrong-length",
        )
    if (array <= 0).any():
        arm = int(np.argmax(array <= 0))
        raise CobanditError(
            f"{name}[{arm}] is {array[arm]}: every cost must be positive",
            argument=name,
            code="cost-not-positive",
        )

    return array


def positive(value: float, name: str, upper: float = np.inf) -> float:
    """Return a finite number in (0, upper], or raise."""
    number = scalar(value, name)
    if not 0 < number <= upper:
        limit = "" if upper == np.inf else f" and at most {upper}"
        raise CobanditError(
            f"{name} is {number}: it must be positive{limit}",
            argument=name,
            code="out-of-range",
        )
    return number


def non_negative(value: float, name: str) -> float:
    """Return a finite number >= 0, or raise."""
    number = scalar(value, name)
    if number < 0:
        raise CobanditError(
            f"{name} is {number}: it must not be negative",
            argument=name,
            code="out-of-range",
        )
    return number


def scalar(value: float, name: str) -> float:
    """Return a finite number, or raise."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        # OverflowError: an integer of more than 308 digits
        raise CobanditError(
            f"{name} is {value!r}: a number is needed",
            argument=name,
            code="not-a-number",
        ) from None
    if not math.isfinite(number):
        raise CobanditError(
            f"{name} is {number}: it must be finite", argument=name, code="not-finite"
        )
    return number


def count(value: int, name: str, least: int) -> int:
    """Return a whole number that is at least ``least``, or raise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise CobanditError(
            f"{name} is {value!r}: a whole number is needed",
            argument=name,
            code="not-a-whole-number",
        )
    if value < least:
        raise CobanditError(
            f"{name} is {value}: it must be at least {least}",
            argument=name,
            code="out-of-range",
        )
    return int(value)


def seed(value: int) -> int:
    """Return a seed, a whole number from 0 to 2^64 - 1, or raise."""
    value = count(value, "seed", 0)
    if value >= 2**64:
        raise CobanditError(
            f"seed is {value}: it must be below 2^64",
            argument="seed",
            code="out-of-range",
        )
    return value


def choice(value: str, name: str, known: Iterable[str]) -> str:
    """Return one of the ``known`` names, or raise and suggest the nearest one."""
    known = list(known)
    if value not in known:
        near = find_nearest(value, known)
        hint = f" Did you mean {near!r}?" if near else ""
        raise CobanditError(
            f"unknown {name} {value!r}.{hint} Known: {', '.join(known)}",
            argument=name,
            code="unknown-choice",
        )
    return value
