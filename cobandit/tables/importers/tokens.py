"""Counts the tokens of text whose log does not say how many there were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cobandit.faults import stop

CHARACTERS = 4
"""Characters that count as one token where no tokenizer is given."""


class TokenCounter(NamedTuple):
    """How tokens are counted: the function, and what the card calls its unit."""

    count: Callable[[str], int]
    unit: str


def by_characters(text: str) -> int:
    """Count one token for every four characters begun.

    Examples
    --------
    >>> by_characters("The answer is 42."), by_characters("")
    (5, 0)
    """
    return -(-len(text) // CHARACTERS)


def token_counter(tokenizer: Path | None) -> TokenCounter:
    """Make the counter: by characters, or with a ``tokenizer.json`` as Hugging Face models have it.

    Parameters
    ----------
    tokenizer : Path or None
        The file; reading it needs the package ``tokenizers``.

    Raises
    ------
    TableError
        If the file is missing or is no tokenizer, or the package is not installed.

    Examples
    --------
    >>> token_counter(None).unit
    'tokens (characters / 4)'
    """
    if tokenizer is None:
        return TokenCounter(by_characters, f"tokens (characters / {CHARACTERS})")
    if not tokenizer.is_file():
        stop(tokenizer, "there is no such tokenizer", "name a tokenizer.json, or leave --tokenizer out")
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        stop(tokenizer, "reading it needs the package tokenizers", "pip install tokenizers")
    try:
        encoder = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # its Rust core raises plain Exception
        stop(tokenizer, f"this is no tokenizer.json ({str(error)[:80]})", "take the model's own file")

    def count(text: str) -> int:
        return len(encoder.encode(text, add_special_tokens=False).ids)

    return TokenCounter(count, f"tokens ({tokenizer.name})")
