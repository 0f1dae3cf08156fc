"""Counts of tokens as vendors send them, and how they are read."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit.tables.usage import Usage, read_usage


def openai(prompt, output, total=None, cached=None, reasoning=None, **extra):
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": total,
    }
    counts["prompt_tokens_details"] = {"cached_tokens": cached}
    counts["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return counts | extra


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        # reasoning inside and outside of the completion, with a total and without
        (openai(100, 237, 2238, reasoning=1901), Usage(100, 0, 2138)),
        (openai(100, 2138, 2238, reasoning=1901), Usage(100, 0, 2138)),
        (openai(100, 2138, reasoning=1901), Usage(100, 0, 2138)),
        (openai(100, 237, reasoning=1901), Usage(100, 0, 2138)),
        # a prompt with the cache, and without
        (openai(100, 20, 120, cached=60), Usage(40, 60, 20)),
        (openai(100, 20, 180, cached=60), Usage(100, 60, 20)),
        (openai(100, 20, 520, cached=400), Usage(100, 400, 20)),
        # a gateway in front of another vendor: written and read, both inside
        (
            openai(
                100, 20, 120, cache_read_input_tokens=60, cache_creation_input_tokens=30
            ),
            Usage(10, 60, 20, 30),
        ),
        # both at once
        (openai(100, 20, 1080, cached=60, reasoning=900), Usage(100, 60, 920)),
        # other vendors' own names
        (
            {
                "input_tokens": 5,
                "cache_read_input_tokens": 60,
                "cache_creation_input_tokens": 7,
                "output_tokens": 9,
            },
            Usage(5, 60, 9, 7),
        ),
        (
            {
                "input_tokens": 80,
                "input_tokens_details": {"cached_tokens": 30},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 4},
                "total_tokens": 89,
            },
            Usage(50, 30, 9),
        ),
        (
            {
                "prompt_tokens": 90,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 26,
                "completion_tokens": 3,
                "total_tokens": 93,
            },
            Usage(26, 64, 3),
        ),
        (
            {
                "promptTokenCount": 9,
                "candidatesTokenCount": 3,
                "thoughtsTokenCount": 50,
                "totalTokenCount": 62,
            },
            Usage(9, 0, 53),
        ),
        (
            {
                "inputTokens": 5,
                "outputTokens": 3,
                "cacheReadInputTokens": 20,
                "totalTokens": 28,
            },
            Usage(5, 20, 3),
        ),
        (
            {
                "billed_units": {"input_tokens": 5, "output_tokens": 3},
                "tokens": {"input_tokens": 9},
            },
            Usage(5, 0, 3),
        ),
        # one of the two follows from the total
        ({"prompt_tokens": 7, "total_tokens": 10}, Usage(7, 0, 3)),
        ({"completion_tokens": 3, "total_tokens": 10}, Usage(7, 0, 3)),
        # a gateway that sends both names, and zero for one of them; a total that is not
        # filled in
        (
            {
                "input_tokens": 0,
                "prompt_tokens": 7,
                "completion_tokens": 3,
                "total_tokens": 0,
            },
            Usage(7, 0, 3),
        ),
        (
            {"prompt_tokens": "7", "completion_tokens": 3.0, "queue_time": 0.2},
            Usage(7, 0, 3),
        ),
    ],
)
def test_consistent_counts_are_read_without_doubt(counts, usage):
    reading = read_usage(counts)
    assert reading.usage == usage
    assert not reading.doubts and not reading.estimated


@pytest.mark.parametrize(
    ("counts", "usage", "kind"),
    [
        # hidden reasoning, in the total alone
        (openai(9, 24, 1039), Usage(9, 0, 1030), "less than the total"),
        (openai(100, 20, 50), Usage(100, 0, 20), "more than the total"),
        (openai(100, 20, 120, cached=400), Usage(100, 400, 20), "more than the total"),
        (openai(-5, 3), None, "prompt_tokens is no count"),
        (openai(-5, 3, 10), Usage(7, 0, 3), "prompt_tokens is no count"),
        (openai(7, True, 10), Usage(7, 0, 3), "completion_tokens is no count"),
        (openai(7.5, 3), Usage(8, 0, 3), "prompt_tokens is no whole number"),
        (openai(7, float("nan"), 10), Usage(7, 0, 3), "completion_tokens is no count"),
        (openai(7, 10**400, 10), Usage(7, 0, 3), "completion_tokens is no count"),
        (openai(7, [3], 10), Usage(7, 0, 3), "completion_tokens is no count"),
        ({"total_tokens": 5}, Usage(0, 0, 5), "a total alone"),
        ([7, 3], None, "usage is no record"),
    ],
)
def test_inconsistent_counts_are_charged_and_named(counts, usage, kind):
    reading = read_usage(counts)
    assert reading.usage == usage
    assert kind in [doubt.kind for doubt in reading.doubts]


@pytest.mark.parametrize(
    "counts", [None, {}, {"prompt_tokens": None}, "", 0, {"queue_time": 3}]
)
def test_uncounted_tokens_are_estimated_from_text(counts):
    assert read_usage(counts).usage is None
    reading = read_usage(counts, prompt_text="a" * 40, answer_text="b" * 9)
    assert reading.usage == Usage(10, 0, 3) and reading.estimated
    assert "not counted" in [doubt.kind for doubt in reading.doubts]


def test_known_count_is_kept_if_the_other_is_estimated():
    assert read_usage(
        {"completion_tokens": 50}, prompt_text="a" * 40, answer_text="b"
    ).usage == Usage(10, 0, 50)


counted = st.integers(0, 3000)


@given(counted, counted, counted, counted, counted, *[st.booleans()] * 3)
def test_nested_counts_still_match_the_total(
    plain,
    cached,
    written,
    answer,
    thoughts,
    cached_apart,
    written_apart,
    thoughts_apart,
):
    """Writing a known usage in every vendor's format and reading it gives it back."""
    total = plain + cached + written + answer + thoughts
    counts = openai(
        plain + (0 if cached_apart else cached) + (0 if written_apart else written),
        answer + (0 if thoughts_apart else thoughts),
        total,
        cached,
        thoughts,
        cache_creation_input_tokens=written,
    )
    reading = read_usage(counts)
    assert not reading.doubts
    assert reading.usage.prompt + reading.usage.output == total
    # two readings may add up to one total, as where as much is cached as was thought
    sums = {
        (cached * a + written * b + thoughts * c): (a, b, c)
        for a, b, c in product((0, 1), repeat=3)
    }
    if len(sums) == 8:
        assert reading.usage == Usage(plain, cached, answer + thoughts, written)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "prompt_tokens",
                "completion_tokens",
                "total_tokens",
                "cached_tokens",
                "usage",
            ]
        ),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.lists(st.integers()),
    )
)
def test_any_counts_give_nonnegative_charges(counts):
    usage = read_usage(counts, prompt_text="", answer_text="").usage
    assert usage is not None and min(usage) >= 0


def test_charge_is_at_least_the_sum_of_parts():
    for prompt, output, total, cached, reasoning in product((0, 5, 100), repeat=5):
        usage = read_usage(
            openai(prompt, output, total or None, cached, reasoning)
        ).usage
        assert usage.prompt >= max(prompt, cached) and usage.output >= max(
            output, reasoning
        )
        assert usage.prompt + usage.output >= total
