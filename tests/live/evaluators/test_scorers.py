"""What counts as a right answer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit.live.evaluators.scorers import ScorerOptions, last_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("x=-3", -3),
        ("so 5-3", 3),
        ("(5)-3", 3),
        ("-7", -7),
        ("\N{MINUS SIGN}7", -7),
        ("12,345,678", 12345678),
        ("1,2,3", 3),
        ("1234,567", 567),
        ("3.14.", 3.14),
        ("of .5", 0.5),
        ("1e-5", 1e-5),
        ("#### 18", 18),
        ("", math.nan),
        ("١٢", math.nan),  # other digits are not read
    ],
)
def test_last_number_of_an_answer_is_read(text, number):
    np.testing.assert_equal(last_number(text), number)


@given(
    st.integers(-(10**12), 10**12), st.sampled_from(["", "The answer is ", "1 + 2 = "])
)
def test_grouped_numbers_are_read(number, before):
    assert (
        last_number(f"{before}{number}.")
        == last_number(f"{before}{number:,}")
        == number
    )


@pytest.mark.parametrize(
    ("options", "text", "answer", "correct"),
    [
        ({"scorer": "exact"}, " Paris\n", "paris", True),
        ({"scorer": "exact"}, "Paris.", "Paris", False),
        ({"scorer": "contains"}, "It is PARIS, I think", "Paris", True),
        ({"scorer": "regex", "pattern": r"\b([AB])\b"}, "A? No, B", "b", True),
        ({"scorer": "regex", "pattern": r"\b([AB])\b"}, "B? No, A", "b", False),
        ({"scorer": "regex", "pattern": r"\d+"}, "12 and 13", "13", True),
        ({"scorer": "regex", "pattern": r"\d+"}, "none", "13", False),
        ({"scorer": "number"}, "3.0", "3", True),
        ({"scorer": "number"}, "3.1", "3", False),
        ({"scorer": "number", "tolerance": 0.1}, "3.1", "3", True),
        ({"scorer": "number", "tolerance": 0.1}, "3.2", "3", False),
    ],
)
def test_scorers_match_their_examples(options, text, answer, correct):
    assert ScorerOptions(**options).score(text, answer) == {"score": float(correct)}


def test_unmatchable_answers_are_reported():
    assert not ScorerOptions(scorer="contains").usable(" ")
    assert not ScorerOptions(scorer="number").usable("three")
    assert ScorerOptions(scorer="number").usable("#### 3")
