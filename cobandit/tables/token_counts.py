"""Counting the tokens of a text, by characters or with a tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cobandit.errors import raise_fault

#: Number of characters that count as one token if no tokenizer is given.
CHARACTERS = 4


class TokenCounter(NamedTuple):
    """A function that counts tokens, and the unit of its counts."""

    #: Function that counts the tokens of a text.
    count: Callable[[str], int]
    #: Unit of the cost, which names the way of counting.
    unit: str


def count_characters(text: str) -> int:
    """Estimate the number of tokens as a quarter of the characters, rounded up.

    Examples
    --------
    >>> [count_characters(text) for text in ("It is 42.", "", "a", "abcd", "abcde")]
    [3, 0, 1, 1, 2]
    """
    return -(-len(text) // CHARACTERS)


def make_token_counter(tokenizer: Path | None) -> TokenCounter:
    """Return a counter that uses a ``tokenizer.json``, or by default characters.

    Parameters
    ----------
    tokenizer : Path or None
        The ``tokenizer.json`` of a model, which the package ``tokenizers`` reads.

    Raises
    ------
    TableError
        If the file is missing or is not a tokenizer, or the package is not installed.

    Examples
    --------
    >>> make_token_counter(None).unit
    'tokens (characters / 4)'
    """
    if tokenizer is None:
        return TokenCounter(count_characters, f"tokens (characters / {CHARACTERS})")
    if not tokenizer.is_file():
        raise_fault(
            tokenizer,
            "there is no such tokenizer",
            "name a tokenizer.json, or leave --tokenizer out",
            "no-file",
        )
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise_fault(
            tokenizer,
            "reading this file needs the package tokenizers",
            "install the package: pip install tokenizers",
            "missing-package",
        )
    try:
        encoder = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # the Rust core of tokenizers raises plain Exception
        raise_fault(
            tokenizer,
            f"this is not a tokenizer.json ({str(error)[:80]})",
            "use the tokenizer.json of the model",
            "bad-tokenizer",
        )

    unit = f"tokens ({tokenizer.name})"
    return TokenCounter(
        lambda text: len(encoder.encode(text, add_special_tokens=False).ids), unit
    )
