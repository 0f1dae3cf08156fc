"""Rows of measurements: their columns, token counts, answers and checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from cobandit._text import ellipsize
from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import Row
from cobandit.tables.usage import Doubt, Reading, Usage

#: Columns that endpoints and Inspect tasks measure. ``tokens`` are the generated
#: tokens, and ``seconds`` is the time from request to answer. ``truncated`` is 1 if a
#: limit of tokens cut off the answer, and ``empty`` is 1 if the answer is empty. Rows
#: may also have ``written_tokens`` (tokens written to a cache), ``doubtful`` (1 if the
#: counts of tokens do not add up) and ``estimated`` (1 if the tokens were estimated).
ANSWER_COLUMNS = (
    "score",
    "prompt_tokens",
    "cached_tokens",
    "tokens",
    "seconds",
    "cost_usd",
    "truncated",
    "empty",
)


class Answered(dict[str, float]):
    """A row of measurements, with the model's answer for storage.

    Attributes
    ----------
    answer : mapping of str
        Parts of the answer by name, such as its text and finish reason.
    doubts : tuple of Doubt
        Flaws of the answer, such as unreadable fields. A run reports each kind once.
    """

    def __init__(
        self, row: Row, answer: Mapping[str, Any], doubts: Sequence[Doubt] = ()
    ):
        super().__init__(row)
        self.answer = answer
        self.doubts = tuple(doubts)


def keep_answer(
    row: Row,
    prompt: str,
    text: str,
    target: str,
    finish: str | None,
    cut: bool,
    doubts: Sequence[Doubt] = (),
) -> Answered:
    """Return a row with its answer, and with the columns ``truncated`` and ``empty``.

    A checksum of the prompt is stored with the answer.
    """
    row = row | {"truncated": float(cut), "empty": float(not text.strip())}
    answer = {
        "prompt": digest_prompt(prompt),
        "text": text,
        "target": target,
        "finish": finish,
    }
    return Answered(row, answer, doubts)


def digest_prompt(prompt: str) -> str:
    """Return the checksum of a prompt, which a run stores with each answer."""
    return sha256(prompt.encode()).hexdigest()[:16]


def count_tokens(usage: Usage) -> Row:
    """Return the columns of token counts; ``tokens`` is at least 1.

    Examples
    --------
    >>> count_tokens(Usage(input=4, cached=16, output=0))
    {'prompt_tokens': 20.0, 'cached_tokens': 16.0, 'tokens': 1.0}
    """
    generated = float(max(1, usage.output))
    row = {
        "prompt_tokens": float(usage.prompt),
        "cached_tokens": float(usage.cached),
        "tokens": generated,
    }
    return row | ({"written_tokens": float(usage.written)} if usage.written else {})


def read_tokens(row: Row) -> Usage | None:
    """Read the columns that `count_tokens` wrote into a row; None if it has none.

    Examples
    --------
    >>> read_tokens(count_tokens(Usage(input=4, cached=16, output=2)))
    Usage(input=4.0, cached=16.0, output=2.0, written=0.0)
    """
    if not {"prompt_tokens", "tokens"} <= row.keys():
        return None
    cached = row.get("cached_tokens", 0.0)
    written = row.get("written_tokens", 0.0)
    uncached = max(0.0, row["prompt_tokens"] - cached - written)
    return Usage(uncached, cached, row["tokens"], written)


def note_reading(row: Row, reading: Reading) -> Row:
    """Return a row with token counts, and a mark if they are doubtful or estimated."""
    row = row if reading.usage is None else row | count_tokens(reading.usage)
    if reading.estimated:
        return row | {"estimated": 1.0}
    return row | ({"doubtful": 1.0} if reading.doubts else {})


def read_row(result: Any, source: str) -> Row:
    """Check that user code returned a row: a mapping of names to finite numbers.

    Parameters
    ----------
    result : object
    source : str
        Name of the user code, for messages.

    Raises
    ------
    TableError
        If the result is not a row.

    Examples
    --------
    >>> read_row({"correct": True, "tokens": np.int64(57)}, "my_module:evaluate")
    {'correct': 1.0, 'tokens': 57.0}
    >>> read_row({"correct": "yes"}, "my_module:evaluate")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: my_module:evaluate: it returned 'yes' as 'correct' -> \
return a finite number; if there is none, raise cobandit.live.evaluators.Failure
    """
    is_row = isinstance(result, Mapping) and all(isinstance(key, str) for key in result)
    if not is_row or not result:
        problem = f"it returned {quote_value(result)}, which is not a row of numbers"
        remedy = (
            "return a mapping of column names to numbers, such as"
            ' {"correct": 1, "tokens": 57}'
        )
        raise_fault(source, problem, remedy, "not-a-row")

    row = {}
    for name, value in result.items():
        row[name] = _read_number(value)
        if not math.isfinite(row[name]):
            problem = f"it returned {quote_value(value)} as {name!r}"
            remedy = (
                "return a finite number; if there is none, raise"
                " cobandit.live.evaluators.Failure"
            )
            raise_fault(source, problem, remedy, "not-a-number")

    return row


def _read_number(value: Any) -> float:
    """Return a scalar as a number; NaN for anything else, including text."""
    if np.ndim(value) or isinstance(value, (str, bytes)):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def quote_value(value: Any) -> str:
    """Return a value as text for a message, without the middle of a long value."""
    return ellipsize(repr(value), 80)
