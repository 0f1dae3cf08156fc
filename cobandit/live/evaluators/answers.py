"""Reading the answers of endpoints: text, finish reason and counts of tokens.

Every billed answer is read, even if it is malformed. A field that cannot be read is
left empty and listed in ``doubts``; the other fields are still read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cobandit.tables.usage import Doubt, Reading, read_usage

#: Finish reasons of answers that reached a limit of tokens.
_LIMITS = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "model_length",
    }
)

#: Types of content that do not belong to the text of an answer.
_THOUGHTS = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"}
)

#: Fields of a message that hold the reasoning before an answer.
_REASONING = ("reasoning_content", "reasoning", "thinking")

#: Fields that may contain the counts of tokens; gateways use different ones.
_COUNTS = ("usage", "usageMetadata", "usage_metadata")

#: Start of a line in an event stream, which some servers send without request.
_EVENT = "data:"


class EndpointAnswer(NamedTuple):
    """An answer of an endpoint: text, finish reason, token counts and flaws."""

    #: Text of the answer; may be empty.
    text: str
    #: Finish reason.
    finish: str | None
    #: Counts of tokens as they were sent.
    usage: Any
    #: Reasoning before the answer, which is billed and not scored.
    reasoning: str = ""
    #: Flaws of the answer, such as fields that could not be read.
    doubts: tuple[Doubt, ...] = ()
    #: Error by which the vendor aborted the answer; None for a complete answer.
    error: Any = None

    @property
    def is_cut(self) -> bool:
        """Whether a limit of tokens cut the answer off."""
        return self.finish is not None and self.finish.lower() in _LIMITS

    def read_tokens(self, prompt: str) -> Reading:
        """Read the counts of tokens, and estimate missing ones from the texts."""
        return read_usage(
            self.usage, prompt_text=prompt, answer_text=self.reasoning + self.text
        )


def read_answer(content: bytes) -> EndpointAnswer | None:
    """Read the answer from the body of a response; return None if there is none.

    An answer has ``choices``, or positive counts of tokens. An error page of a gateway,
    for example, has neither.

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
    choice = next((entry for entry in listed if isinstance(entry, Mapping)), None)
    usage = _find_usage(body, choice)
    if choice is None and listed and not body.get("error"):
        doubts.append(_unreadable("choices", listed))
    elif choice is None and not _is_billed(usage):
        return None
    elif choice is None:
        text = "the answer has counts of tokens but no choices, and counts as empty"
        doubts.append(Doubt("no choices", text))

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
    """Read JSON leniently.

    A byte order mark, invalid bytes, and an event stream are accepted.
    """
    encoding = json.detect_encoding(content)
    text = content.decode(encoding, errors="replace")
    is_changed = text.encode(encoding, errors="ignore") != content
    if "\N{REPLACEMENT CHARACTER}" in text and is_changed:
        problem = f"the answer has bytes that are not {encoding}"
        doubts.append(Doubt("bytes that are not text", problem))

    text = text.strip().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").strip()
    try:
        if text.startswith((_EVENT, ":", "event:")):
            return _join(text)
        body, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        # ValueError: not JSON, or a number with thousands of digits
        return None

    return body if isinstance(body, Mapping) else None


def _join(text: str) -> Mapping[str, Any] | None:
    """Join an event stream: texts are joined, other fields keep the last value."""
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
    """Return the field with the counts of tokens, wherever a vendor puts it."""
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
        problem = "the answer calls a tool but has no text, and counts as empty"
        doubts.append(Doubt("calls of tools", problem))
    elif any(message.get(name) for name in _REASONING):
        problem = "the answer has reasoning but no text, and counts as empty"
        doubts.append(Doubt("reasoning alone", problem))

    return text


def _texts(content: Any, thoughts: bool, doubts: list[Doubt]) -> Iterator[str]:
    """Yield all texts in a message's content, which may be nested."""
    if content is None:
        return

    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        kind = content.get("type")
        kind = kind if isinstance(kind, str) else None
        if not thoughts and (kind in _THOUGHTS or content.get("thought") is True):
            return
        fields = ("text", "content", "value", "parts")
        inner = next((content[name] for name in fields if name in content), None)
        if inner is None and kind == "refusal":
            inner = content.get("refusal")
        if inner is not None:
            yield from _texts(inner, thoughts, doubts)
        elif (
            kind is None
        ):  # an object without a type is the answer itself, if JSON was requested
            yield json.dumps(content)
        else:
            problem = f"the answer has a part without text: {kind!r}"
            doubts.append(Doubt(f"a part of type {kind!r}", problem))
    elif _is_list(content):
        for part in content:
            yield from _texts(part, thoughts, doubts)
    else:
        yield json.dumps(content)


def _read_finish(choice: Mapping[str, Any], doubts: list[Doubt]) -> str | None:
    reason = choice.get("finish_reason", choice.get("stop_reason"))
    if reason is None or isinstance(reason, str):
        return reason
    if isinstance(reason, Mapping):
        for name in ("type", "reason", "name", "value"):
            word = reason.get(name)
            if isinstance(word, str):
                return word
    doubts.append(_unreadable("finish_reason", reason))
    return None


def _unreadable(name: str, value: Any) -> Doubt:
    kind = f"{name} cannot be read"
    return Doubt(kind, f"{kind}: {str(value)[:60]!a}")


def _make_valid(text: str, doubts: list[Doubt]) -> str:
    """Replace unpaired surrogates (halves of characters), which no file can store."""
    valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if valid != text:
        problem = "the text has half of a character (a surrogate), which is replaced"
        doubts.append(Doubt("half a character", problem))
    return valid
