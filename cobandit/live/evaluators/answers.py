"""What an endpoint answered: text, reason for its end and counts of tokens, each read by itself.

An answer that was billed is an answer, whatever its shape: a field that cannot be read
is empty, with a doubt that names it, and the others are read all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cobandit.tables.usage import Doubt, Reading, read_usage

#: Reasons for an end that are a limit of tokens.
_LIMITS = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "model_length",
    }
)

#: Parts of an answer that are no part of its text.
_THOUGHTS = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"}
)

#: Fields of a choice's message that hold what was thought on the way to an answer.
_REASONING = ("reasoning_content", "reasoning", "thinking")

#: Where gateways put counts of tokens, beside ``usage``.
_COUNTS = ("usage", "usageMetadata", "usage_metadata")

#: How a stream of events begins its lines, from servers that send one although none was
#: asked for.
_EVENT = "data:"


class EndpointAnswer(NamedTuple):
    """An answer, as far as it could be read.

    Attributes
    ----------
    text : str
        Empty where there is none.
    finish : str or None
        Why it ended.
    usage : object
        The counts of tokens, as they were sent.
    reasoning : str
        Text of the reasoning before the answer, which is billed and not scored.
    doubts : tuple of Doubt
    error : object
        Of a choice that a vendor gave up on the way; None for an answer.
    """

    text: str
    finish: str | None
    usage: Any
    reasoning: str = ""
    doubts: tuple[Doubt, ...] = ()
    error: Any = None

    @property
    def is_cut(self) -> bool:
        """Whether a limit of tokens ended it."""
        return self.finish is not None and self.finish.lower() in _LIMITS

    def read_tokens(self, asked: str) -> Reading:
        """Read its tokens; what is not counted is estimated from the texts."""
        return read_usage(self.usage, asked=asked, answered=self.reasoning + self.text)


def read_answer(content: bytes) -> EndpointAnswer | None:
    """Read the body of a response; None if it is no answer, such as the page of a gateway.

    It is one if it has choices, or counts of tokens that were billed.

    Examples
    --------
    >>> parts = [{"type": "thinking", "text": "2 + 2"}, {"type": "text", "text": "4"}]
    >>> body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    >>> answer = read_answer(json.dumps(body).encode())
    >>> answer.text, answer.finish, answer.usage
    ('4', 'stop', None)
    >>> read_answer(b"<html>502</html>") is None
    True
    """
    doubts: list[Doubt] = []
    body = _load(content, doubts)
    if body is None:
        return None

    choices: Any = body.get("choices")
    if isinstance(choices, Mapping):
        choices = [choices]
    listed = choices if _is_list(choices) else []
    choice = next((each for each in listed if isinstance(each, Mapping)), None)
    usage = _find_usage(body, choice)
    if choice is None and listed and not body.get("error"):
        doubts.append(_unreadable("choices", listed))
    elif choice is None and not _is_billed(usage):
        return None
    elif choice is None:
        doubts.append(
            Doubt(
                "no choices",
                "the answer has counts of tokens and no choices: it is empty",
            )
        )

    choice = choice or {}
    message = next(
        (choice[name] for name in ("message", "delta") if choice.get(name) is not None),
        choice,
    )
    if not isinstance(message, Mapping):
        message = {"content": message}
    text = _read_text(message, doubts)
    finish = _read_finish(choice, doubts)
    reasoning = "".join(
        "".join(_texts(message.get(name), True, [])) for name in _REASONING[:2]
    )
    return EndpointAnswer(
        text=_make_valid(text, doubts),
        finish=None if finish is None else _make_valid(finish, doubts),
        usage=usage,
        reasoning=reasoning.encode(errors="ignore").decode(),
        doubts=tuple(doubts),
        error=choice.get("error"),
    )


def _load(content: bytes, doubts: list[Doubt]) -> Mapping[str, Any] | None:
    """Read JSON leniently: with a byte order mark, bytes that are no text, or as a stream of events."""
    encoding = json.detect_encoding(content)
    text = content.decode(encoding, errors="replace")
    if (
        "\N{REPLACEMENT CHARACTER}" in text
        and text.encode(encoding, errors="ignore") != content
    ):
        doubts.append(
            Doubt(
                "bytes that are no text",
                f"the answer has bytes that are not {encoding}",
            )
        )

    text = text.strip().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").strip()
    try:
        if text.startswith((_EVENT, ":", "event:")):
            return _join(text)
        body, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        # ValueError: no JSON, or a number of thousands of digits
        return None

    return body if isinstance(body, Mapping) else None


def _join(text: str) -> Mapping[str, Any] | None:
    """Join the events of a stream: texts one after the other, and whatever else came last."""
    pieces: list[str] = []

    joined: dict[str, Any] = {}
    finish = None
    for line in text.splitlines():
        data = line.removeprefix(_EVENT).strip()
        if not line.startswith(_EVENT) or not data.startswith("{"):
            continue
        event, _ = json.JSONDecoder(strict=False).raw_decode(data)
        joined |= {
            name: value
            for name, value in event.items()
            if value is not None and name != "choices"
        }
        for choice in event.get("choices") or ():
            part = choice.get("delta") or choice.get("message") or choice
            pieces += _texts(part.get("content", part.get("text")), False, [])
            finish = choice.get("finish_reason") or finish
            joined["choices"] = True

    if joined.pop("choices", False):
        joined["choices"] = [
            {"message": {"content": "".join(pieces)}, "finish_reason": finish}
        ]

    return joined or None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _find_usage(body: Mapping[str, Any], choice: Mapping[str, Any] | None) -> Any:
    """Find the counts of tokens, where vendors have them."""
    holders: list[Any] = [body, body.get("x_groq"), choice]
    for holder in holders:
        for name in _COUNTS:
            if isinstance(holder, Mapping) and holder.get(name) is not None:
                return holder[name]
    return None


def _is_billed(usage: Any) -> bool:
    read = read_usage(usage).usage if isinstance(usage, Mapping) else None
    return read is not None and read.prompt + read.output > 0


def _read_text(message: Mapping[str, Any], doubts: list[Doubt]) -> str:
    content = message.get("content")
    if content is None:
        content = message.get("text")
    text = "".join(_texts(content, False, doubts))
    if text or content:
        return text
    if isinstance(refusal := message.get("refusal"), str):
        return refusal

    if message.get("tool_calls") or message.get("function_call"):
        doubts.append(
            Doubt(
                "calls of tools", "the answer calls a tool and has no text: it is empty"
            )
        )
    elif any(message.get(name) for name in _REASONING):
        doubts.append(
            Doubt(
                "reasoning alone", "the answer has reasoning and no text: it is empty"
            )
        )

    return text


def _texts(content: Any, thoughts: bool, doubts: list[Doubt]) -> Iterator[str]:
    """Go through the texts of a content: text, a number, an object, or parts of these."""
    if content is None:
        return

    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        kind = content.get("type")
        kind = kind if isinstance(kind, str) else None
        if not thoughts and (kind in _THOUGHTS or content.get("thought") is True):
            return
        held = next(
            (
                content[name]
                for name in ("text", "content", "value", "parts")
                if name in content
            ),
            None,
        )
        if held is None and kind == "refusal":
            held = content.get("refusal")
        if held is not None:
            yield from _texts(held, thoughts, doubts)
        elif kind is None:  # an object as the answer, which was asked for as JSON
            yield json.dumps(content)
        else:
            doubts.append(
                Doubt(
                    f"a part of type {kind!r}",
                    f"the answer has a part without text: {kind!r}",
                )
            )
    elif _is_list(content):
        for part in content:
            yield from _texts(part, thoughts, doubts)
    else:
        yield json.dumps(content)


def _read_finish(choice: Mapping[str, Any], doubts: list[Doubt]) -> str | None:
    given = choice.get("finish_reason", choice.get("stop_reason"))
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        named = (given.get(name) for name in ("type", "reason", "name", "value"))
        if (
            word := next((name for name in named if isinstance(name, str)), None)
        ) is not None:
            return word
    doubts.append(_unreadable("finish_reason", given))
    return None


def _unreadable(name: str, value: Any) -> Doubt:
    return Doubt(
        f"{name} cannot be read", f"{name} cannot be read: {str(value)[:60]!a}"
    )


def _make_valid(text: str, doubts: list[Doubt]) -> str:
    """Replace halves of characters, which no file could hold."""
    valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if valid != text:
        doubts.append(
            Doubt(
                "half a character", "the text has half a character, which is replaced"
            )
        )
    return valid
