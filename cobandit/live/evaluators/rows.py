"""Rows of measurements: usual columns, tokens, kept answers, and a check of rows that user code returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from cobandit._text import ellipsize
from cobandit.errors import CobanditError
from cobandit.live.evaluators.base import Row
from cobandit.tables.usage import Doubt, Reading, Usage

#: What endpoints and tasks of Inspect give: ``tokens`` are those generated, ``seconds``
#: go from request to answer, and ``truncated`` is 1 where a limit of tokens cut the
#: answer off, ``empty`` where there is none. There may be ``written_tokens`` (to a
#: cache), and columns that are 1 where tokens are ``doubtful`` (they do not add up) or
#: ``estimated`` (they were not counted).
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
    """A row that comes with the answer that it scores, to be kept: text, finish reason, usage and so on.

    ``doubts`` are fields of the answer that could not be read, to be named once in a
    run.
    """

    def __init__(
        self, row: Row, answer: Mapping[str, Any], doubts: Sequence[Doubt] = ()
    ):
        super().__init__(row)
        self.answer = answer
        self.doubts = tuple(doubts)


def keep_answer(
    row: Row,
    asked: str,
    text: str,
    target: str,
    finish: str | None,
    cut: bool,
    doubts: Sequence[Doubt] = (),
) -> Answered:
    """Mark a row whose answer is cut off or empty, and keep the answer with a checksum of its prompt."""
    row = row | {"truncated": float(cut), "empty": float(not text.strip())}
    answer = {
        "prompt": digest_prompt(asked),
        "text": text,
        "target": target,
        "finish": finish,
    }
    return Answered(row, answer, doubts)


def digest_prompt(asked: str) -> str:
    """Return the checksum by which an answer names what was asked."""
    return sha256(asked.encode()).hexdigest()[:16]


def count_tokens(usage: Usage) -> Row:
    """Return the tokens of a row; an answer's end is one, which some leave out.

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
    """Read tokens from a row, as `count_tokens` writes them; None if it has none.

    Examples
    --------
    >>> read_tokens(count_tokens(Usage(input=4, cached=16, output=2)))
    Usage(input=4.0, cached=16.0, output=2.0, written=0.0)
    """
    if not {"prompt_tokens", "tokens"} <= row.keys():
        return None
    cached, written = row.get("cached_tokens", 0.0), row.get("written_tokens", 0.0)
    return Usage(
        max(0.0, row["prompt_tokens"] - cached - written),
        cached,
        row["tokens"],
        written,
    )


def note_reading(row: Row, reading: Reading) -> Row:
    """Add the tokens of an answer to its row, and 1 where they are doubtful or were not counted."""
    row = row if reading.usage is None else row | count_tokens(reading.usage)
    if reading.estimated:
        return row | {"estimated": 1.0}
    return row | ({"doubtful": 1.0} if reading.doubts else {})


def read_row(given: Any, source: str) -> Row:
    """Check the row that user code returned: a mapping of names to finite numbers.

    Parameters
    ----------
    given : object
    source : str
        Its source, to start the message.

    Raises
    ------
    CobanditError
        If it is anything else.

    Examples
    --------
    >>> read_row({"correct": True, "tokens": np.int64(57)}, "my_module:evaluate")
    {'correct': 1.0, 'tokens': 57.0}
    >>> read_row({"correct": "yes"}, "my_module:evaluate")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: my_module:evaluate gave 'yes' for 'correct': a finite number is needed; \
if there is none, raise cobandit.live.evaluators.Failure
    """
    if (
        not isinstance(given, Mapping)
        or not given
        or not all(isinstance(name, str) for name in given)
    ):
        raise CobanditError(
            f"{source} gave {quote_value(given)}: a mapping of column names to numbers"
            ' is needed, such as {"correct": 1, "tokens": 57}'
        )

    row = {}
    for name, value in given.items():
        try:
            row[name] = (
                math.nan
                if np.ndim(value) or isinstance(value, (str, bytes))
                else float(value)
            )
        except (TypeError, ValueError):
            row[name] = math.nan
        if not math.isfinite(row[name]):
            raise CobanditError(
                f"{source} gave {quote_value(value)} for {name!r}: a finite number is"
                " needed; if there is none, raise cobandit.live.evaluators.Failure"
            )

    return row


def quote_value(value: Any) -> str:
    """Show a value in a message, its middle cut if it is long."""
    return ellipsize(repr(value), 80)
