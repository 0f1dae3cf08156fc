"""Answers of vendors and gateways are read by field, charged and named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.evaluating import opened
from support.stub_endpoint import stub_endpoint

from cobandit.live.evaluators import Failure
from cobandit.live.evaluators.answers import read_answer

USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}


def body(content=None, finish="stop", usage=USAGE, **message):
    return {
        "choices": [
            {"message": {"content": content} | message, "finish_reason": finish}
        ],
        "usage": usage,
    }


def read(answer):
    return read_answer(
        answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    )


def kinds(answer):
    return [doubt.kind for doubt in answer.doubts]


PARTS = [{"type": "thinking", "text": "2 + 2 is 5?"}, {"type": "text", "text": "4"}]
NESTED = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "5"}]},
    {"type": "text", "text": "4"},
]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("4", "4"),
        (PARTS, "4"),
        (NESTED, "4"),
        ([{"type": "output_text", "text": "4", "annotations": []}], "4"),
        (["The answer ", "is 4"], "The answer is 4"),
        ([{"text": {"value": "4"}}], "4"),
        ({"text": "4"}, "4"),
        ({"parts": [{"text": "5", "thought": True}, {"text": "4"}]}, "4"),
        ({"answer": 4}, '{"answer": 4}'),
        (4, "4"),
        (4.5, "4.5"),
        (True, "true"),
        ([], ""),
        (None, ""),
    ],
)
def test_usual_answers_are_read(content, text):
    answer = read(body(content))
    assert (answer.text, answer.finish, answer.usage, answer.doubts) == (
        text,
        "stop",
        USAGE,
        (),
    )


@pytest.mark.parametrize(
    ("arguments", "text", "kind"),
    [
        (body(None, reasoning_content="2 + 2"), "", "reasoning alone"),
        (body("", reasoning="2 + 2"), "", "reasoning alone"),
        (
            body(None, tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]),
            "",
            "calls of tools",
        ),
        (
            body([{"type": "image_url", "image_url": {}}]),
            "",
            "a part of type 'image_url'",
        ),
        (body("4 \ud83d"), "4 \N{REPLACEMENT CHARACTER}", "half a character"),
        ({"choices": [], "usage": USAGE}, "", "no choices"),
        ({"choices": None, "usage": USAGE}, "", "no choices"),
        ({"usage": USAGE}, "", "no choices"),
        ({"choices": ["4"], "usage": USAGE}, "", "choices cannot be read"),
        (body("4", finish=["stop"]), "4", "finish_reason cannot be read"),
        (
            json.dumps(body("4 caf\xe9"), ensure_ascii=False).encode("latin-1"),
            None,
            "bytes that are not text",
        ),
    ],
)
def test_unreadable_fields_are_named_and_others_read(arguments, text, kind):
    answer = read(arguments)
    assert kinds(answer) == [kind] and answer.usage == USAGE
    assert answer.text == text if text is not None else answer.text.startswith("4 caf")


@pytest.mark.parametrize(
    ("arguments", "text", "finish"),
    [
        (b"\xef\xbb\xbf" + json.dumps(body("4")).encode(), "4", "stop"),
        (json.dumps(body("4")).encode("utf-16"), "4", "stop"),
        (b"\n\n   " + json.dumps(body("4")).encode() + b"\n", "4", "stop"),
        (body("4", finish={"type": "stop"}), "4", "stop"),
        (body("4", finish=None), "4", None),
        (
            body(None, refusal="I cannot help with that."),
            "I cannot help with that.",
            "stop",
        ),
        (
            {"choices": [{"text": "4", "finish_reason": "length"}], "usage": USAGE},
            "4",
            "length",
        ),
        ({"choices": {"message": {"content": "4"}}, "usage": USAGE}, "4", None),
        ({"choices": [{"message": "4"}], "usage": USAGE}, "4", None),
        ({"choices": [None, {"message": {"content": "4"}}], "usage": USAGE}, "4", None),
        ({"choices": [{"message": {"content": "4"}, "usage": USAGE}]}, "4", None),
        (
            {"choices": [{"message": {"content": "4"}}], "x_groq": {"usage": USAGE}},
            "4",
            None,
        ),
        (
            b'{"choices": [{"message": {"content": "4\n5"}}], "usage": %s}'
            % json.dumps(USAGE).encode(),
            "4\n5",
            None,
        ),
    ],
)
def test_answers_of_other_shapes_are_read(arguments, text, finish):
    answer = read(arguments)
    assert (answer.text, answer.finish, answer.usage, kinds(answer)) == (
        text,
        finish,
        USAGE,
        [],
    )
    assert answer.is_cut is (finish == "length")


def test_unexpected_stream_is_concatenated():
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": None}}], "usage": None},
        {"choices": [{"delta": {"content": "The answer "}}]},
        {"choices": [{"delta": {"content": "is 4"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": USAGE},
    ]
    lines = [
        ": keep-alive",
        *(f"data: {json.dumps(event)}" for event in events),
        "data: [DONE]",
    ]
    answer = read("\n\n".join(lines).encode())
    assert (answer.text, answer.finish, answer.usage) == (
        "The answer is 4",
        "stop",
        USAGE,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        b"",
        b"<html>502</html>",
        b"null",
        b"[]",
        b'{"choices": [{"message": {"con',
        b"[" * 100_000,
        b'{"choices": ' + b"1" * 5000 + b"}",
        b"data: [DONE]",
        {"choices": []},
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}},
        {"error": {"message": "upstream"}},
        {"error": {"message": "upstream"}, "choices": None, "usage": None},
    ],
)
def test_gateway_page_is_not_an_answer(arguments):
    assert read(arguments) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "parts", "usage", "message"]),
            each,
        )
    ),
    max_leaves=8,
)


@given(json_values, json_values, json_values)
def test_answer_with_choices_and_usage_is_charged(content, finish, usage):
    answer = read(
        {
            "choices": [{"message": {"content": content}, "finish_reason": finish}],
            "usage": usage,
        }
    )
    counted = answer.read_tokens("a question").usage
    assert min(counted) >= 0
    answer.text.encode()


def evaluate(answer_, cost="tokens"):
    """The row of one question, or the failure."""

    async def use(evaluator):
        return (await evaluator.evaluate({"model": "small"}, ["a"]))[0]

    rows = {"a": {"question": "2 + 2?", "answer": "4"}}
    with stub_endpoint(lambda _: answer_) as address:
        options = {"base_url": address, "scorer": "number", "prompt": "{question}"}
        row = opened(
            "openai",
            options,
            use,
            configurations=({"model": "small"},),
            instances=rows,
            cost=cost,
        )
        assert len([path for path, *_ in address.requests if "chat" in path]) == 1
        return row


def test_list_of_parts_is_scored_and_charged():
    row = evaluate(body(PARTS))
    assert (row["score"], row["tokens"], row["prompt_tokens"]) == (1, 7, 20)
    assert not row.doubts and "doubtful" not in row


def test_inconsistent_counts_are_charged_and_marked():
    row = evaluate(body("4", usage=USAGE | {"total_tokens": 1027}))
    assert (row["score"], row["tokens"], row["doubtful"]) == (1, 1007, 1)
    assert [doubt.kind for doubt in row.doubts] == ["less than the total"]


def test_uncounted_reasoning_is_estimated():
    row = evaluate(body("4", usage=None, reasoning_content="x" * 4000))
    assert (row["tokens"], row["estimated"]) == (1001, 1)


def test_abandoned_answer_is_charged_and_repeated():
    response = body("", finish="error")
    response["choices"][0]["error"] = {"code": 502, "message": "the model crashed"}
    with pytest.raises(Failure) as caught:
        evaluate(response)
    assert caught.value.retry and caught.value.cost == 7
    assert "the model crashed" in str(caught.value)
