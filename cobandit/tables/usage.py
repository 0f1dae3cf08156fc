"""Numbers of tokens of an answer, read from a vendor's response or a log.

Vendors use different names and different sums: the prompt may or may not include cached
tokens, and the completion may or may not include reasoning tokens. Of these
interpretations, the one under which the counts add up to the total is used. If there is
none, the larger of the total and the sum of the counts is charged, and a `Doubt`
reports the mismatch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from cobandit.tables.token_counts import count_characters


class Usage(NamedTuple):
    """Numbers of tokens of an evaluation, by kind.

    Examples
    --------
    >>> Usage(input=100, cached=400, output=20, written=50).prompt
    550
    """

    #: Prompt tokens that were neither read from nor written to a cache.
    input: float
    #: Prompt tokens that were read from a cache.
    cached: float
    #: Generated tokens, including reasoning.
    output: float
    #: Prompt tokens that were written to a cache.
    written: float = 0

    @property
    def prompt(self) -> float:
        """Number of all prompt tokens."""
        return self.input + self.cached + self.written


class Doubt(NamedTuple):
    """A value that could not be read reliably."""

    #: Kind of problem, by which doubts are counted.
    kind: str
    #: Description of the problem, with the value.
    text: str


class Reading(NamedTuple):
    """Result of reading numbers of tokens: the numbers, and doubts about these."""

    #: Numbers of tokens; None if they are missing and cannot be estimated.
    usage: Usage | None
    #: Doubts about the counts.
    doubts: tuple[Doubt, ...] = ()
    #: Whether a missing number was estimated from a text.
    estimated: bool = False


#: Names of each count. A dot separates the names of nested fields.
_PROMPT = (
    "prompt_tokens",
    "input_tokens",
    "inputTokens",
    "prompt_token_count",
    "promptTokenCount",
)
_OUTPUT = (
    *("completion_tokens", "output_tokens", "outputTokens", "candidates_token_count"),
    *("candidatesTokenCount", "generated_tokens"),
)
_TOTAL = ("total_tokens", "totalTokens", "total_token_count", "totalTokenCount")
_CACHED = (
    *("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
    *(
        "prompt_cache_hit_tokens",
        "cached_tokens",
        "cached_content_token_count",
        "cachedContentTokenCount",
    ),
)
_WRITTEN = (
    *(
        "prompt_tokens_details.cache_write_tokens",
        "prompt_tokens_details.cache_creation_tokens",
    ),
    *(
        "input_tokens_details.cache_write_tokens",
        "input_tokens_details.cache_creation_tokens",
    ),
)
_REASONING = (
    *(
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
    ),
    "reasoning_tokens",
)

#: Names of cache counts. The prompt's count excludes these tokens if its own name is in
#: `_EXCLUSIVE`.
_CACHED_APART = (
    "cache_read_input_tokens",
    "input_tokens_cache_read",
    "cacheReadInputTokens",
)
_WRITTEN_APART = (
    "cache_creation_input_tokens",
    "input_tokens_cache_write",
    "cacheWriteInputTokens",
)
_EXCLUSIVE = ("input_tokens", "inputTokens")

#: Names of reasoning counts that are not part of the answer's count.
_REASONING_APART = ("thoughts_token_count", "thoughtsTokenCount")

#: Fields under which some vendors nest their counts.
_NESTED = ("billed_units", "tokens")

#: Numbers above this limit are not counts of tokens.
_MOST = 2**53


class _Counts:
    """The numbers in a vendor's usage record, by name, and doubts about these."""

    def __init__(self, raw: Mapping[Any, Any]):
        self._raw = raw
        self.doubts: list[Doubt] = []

    def find(self, names: tuple[str, ...]) -> tuple[str, int] | None:
        """Return name and value of the first positive count, or of the first count."""
        best = None
        for name in names:
            value: Any = self._raw
            for part in name.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            count = None if value is None else self._read(name, value)
            if count is not None and (best is None or not best[1]):
                best = name, count
        return best

    def count(self, *names: str) -> int | None:
        """Return the first positive count under some names, or else the first count."""
        best = self.find(names)
        return None if best is None else best[1]

    def _read(self, name: str, value: Any) -> int | None:
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan

        if not 0 <= number <= _MOST:
            text = (
                f"{name} is {str(value)[:40]!a}, which is not a count, and is treated"
                " as missing"
            )
            self.doubts.append(Doubt(f"{name} is no count", text))
            return None

        if number != int(number):
            text = (
                f"{name} is {number:g}, which is not a whole number, and is rounded up"
            )
            self.doubts.append(Doubt(f"{name} is no whole number", text))

        return math.ceil(number)


class _Parts(NamedTuple):
    """An assumption about which counts exclude cached, written or reasoning tokens."""

    #: Whether the prompt's count excludes tokens that were read from a cache.
    cached_apart: bool
    #: Whether the prompt's count excludes tokens that were written to a cache.
    written_apart: bool
    #: Whether the completion's count excludes reasoning.
    reasoning_apart: bool


def read_usage(
    raw: Any, *, prompt_text: str | None = None, answer_text: str | None = None
) -> Reading:
    """Return the numbers of tokens of an answer, given a vendor's usage record.

    Parameters
    ----------
    raw : object
        The field ``usage`` of an answer or a log, with the names of any vendor; None if
        it is missing.
    prompt_text, answer_text : str, optional
        Texts of prompt and answer. Missing numbers are estimated at four characters
        per token.

    Returns
    -------
    Reading

    Notes
    -----
    If prompt and output add up to less than the total, the difference is added to the
    output, because some endpoints count hidden reasoning only in the total. If there is
    only a total, it counts as output.

    Examples
    --------
    A completion that excludes reasoning:

    >>> details = {"reasoning_tokens": 1901}
    >>> counts = {"prompt_tokens": 100, "completion_tokens": 237, "total_tokens": 2238}
    >>> read_usage(counts | {"completion_tokens_details": details}).usage
    Usage(input=100, cached=0, output=2138, written=0)

    A completion that includes reasoning, and a prompt that includes cached tokens:

    >>> counts = {"prompt_tokens": 100, "completion_tokens": 2138, "total_tokens": 2238}
    >>> counts |= {"completion_tokens_details": details}
    >>> counts |= {"prompt_tokens_details": {"cached_tokens": 60}}
    >>> read_usage(counts).usage
    Usage(input=40, cached=60, output=2138, written=0)

    A prompt that excludes cached tokens:

    >>> counts = {"input_tokens": 5, "cache_read_input_tokens": 60, "output_tokens": 7}
    >>> read_usage(counts).usage
    Usage(input=5, cached=60, output=7, written=0)
    """
    if raw is not None and not isinstance(raw, Mapping):
        doubt = Doubt(
            "usage is no record",
            f"usage is {str(raw)[:40]!a}, not a mapping of names to counts",
        )
        return _complete(None, None, None, (doubt,), prompt_text, answer_text)
    raw = raw or {}
    for name in _NESTED:
        if isinstance(raw.get(name), Mapping):
            raw = {**raw, **raw[name]}
            break
    counts = _Counts(raw)
    total = counts.count(*_TOTAL) or None
    prompt = counts.find(_PROMPT)
    output = counts.count(*_OUTPUT)
    cached = counts.find((*_CACHED, *_CACHED_APART)) or ("", 0)
    written = counts.find((*_WRITTEN, *_WRITTEN_APART)) or ("", 0)
    reasoning = counts.find((*_REASONING, *_REASONING_APART)) or ("", 0)
    if prompt is None and raw.get("prompt_cache_miss_tokens") is not None:
        miss = counts.count("prompt_cache_miss_tokens")
        prompt = None if miss is None else ("prompt_tokens", miss + cached[1])
    if prompt is None or output is None:
        prompt_count = None if prompt is None else prompt[1]
        return _complete(
            prompt_count, output, total, tuple(counts.doubts), prompt_text, answer_text
        )

    usual = _Parts(
        cached_apart=prompt[0] in _EXCLUSIVE and cached[0] in _CACHED_APART,
        written_apart=prompt[0] in _EXCLUSIVE and written[0] in _WRITTEN_APART,
        reasoning_apart=reasoning[0] in _REASONING_APART,
    )
    usages = list(
        _readings(usual, prompt[1], output, cached[1], written[1], reasoning[1])
    )
    if total is None:
        usage = usages[0]
    else:
        fitting = [
            reading for reading in usages if reading.prompt + reading.output == total
        ]
        usage = (fitting or usages)[0]
        if not fitting:
            usage = _exceed(usage, total, counts.doubts)
    return Reading(usage, tuple(counts.doubts))


def _readings(
    usual: _Parts, prompt: int, output: int, cached: int, written: int, reasoning: int
) -> Iterator[Usage]:
    """Yield possible interpretations of the counts, the usual one first."""
    all_parts = sorted(
        (_Parts(*flags) for flags in product((False, True), repeat=3)),
        key=lambda parts: sum(a != b for a, b in zip(parts, usual, strict=True)),
    )
    earlier = set()
    for parts in all_parts:
        inside = (0 if parts.cached_apart else cached) + (
            0 if parts.written_apart else written
        )
        generated = output + (reasoning if parts.reasoning_apart else 0)
        # a count larger than the whole cannot be part of it
        if inside > prompt or (reasoning > output and not parts.reasoning_apart):
            continue
        usage = Usage(prompt - inside, cached, generated, written)
        if usage not in earlier:
            earlier.add(usage)
            yield usage


def _exceed(usage: Usage, total: int, doubts: list[Doubt]) -> Usage:
    """Add a doubt that counts do not add up, and charge missing tokens as output."""
    shortfall = total - usage.prompt - usage.output
    text = (
        f"prompt {usage.prompt:,} and output {usage.output:,} do not add up to"
        f" total_tokens {total:,}"
    )
    if shortfall <= 0:
        doubts.append(Doubt("more than the total", f"{text}; the parts are charged"))
        return usage
    doubts.append(
        Doubt(
            "less than the total",
            f"{text}; the missing {shortfall:,} are charged as output",
        )
    )
    return usage._replace(output=usage.output + shortfall)


def _complete(
    prompt: int | None,
    output: int | None,
    total: int | None,
    doubts: tuple[Doubt, ...],
    prompt_text: str | None,
    answer_text: str | None,
) -> Reading:
    """Return the numbers of tokens; estimate missing ones from the total or a text."""
    if total is not None and prompt is not None:
        return Reading(Usage(prompt, 0, max(0, total - prompt)), doubts)
    if total is not None and output is not None:
        return Reading(Usage(max(0, total - output), 0, output), doubts)
    if total:
        text = f"there is only a total of {total:,} tokens, which is charged as output"
        doubt = Doubt("a total alone", text)
        return Reading(Usage(0, 0, total), (*doubts, doubt))

    if prompt is None and prompt_text is not None:
        prompt = count_characters(prompt_text)
    if output is None and answer_text is not None:
        output = count_characters(answer_text)
    if prompt is None or output is None:
        return Reading(None, doubts)

    text = (
        "the numbers of tokens are missing, and are estimated at four characters per"
        " token"
    )
    return Reading(
        Usage(prompt, 0, output), (*doubts, Doubt("not counted", text)), estimated=True
    )
