"""Scorers, which compare the answer of a model with the right answer.

Case is ignored, and so is white space around an answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import Field, model_validator

from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import EvaluatorOptions, Row
from cobandit.live.evaluators.rows import read_row
from cobandit.live.evaluators.user_code import describe_error, load_function

SCORERS = ("exact", "contains", "regex", "number")


# a minus sign directly after a word, number or bracket is a subtraction
_NUMBER = re.compile(
    r"(?:(?<![\w)])-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?=\.\d))(?:\.\d+)?(?:[eE][-+]?\d+)?",
    re.ASCII,
)


def last_number(text: str) -> float:
    """Read the last number of a text; NaN without one.

    Commas are accepted as thousands separators.

    Examples
    --------
    >>> [last_number(text) for text in ("8 - 35 = -27.", "$1,234.50 in all", "none")]
    [-27.0, 1234.5, nan]
    """
    numbers = _NUMBER.findall(text.replace("\N{MINUS SIGN}", "-"))
    return float(numbers[-1].replace(",", "")) if numbers else math.nan


def _fold(text: str) -> str:
    """Return a text in lower case, without white space around it."""
    return text.strip().casefold()


class ScorerOptions(EvaluatorOptions):
    r"""Options of a scorer.

    An answer is correct if

    * ``exact``: the text equals the right answer,
    * ``contains``: the text contains the right answer,
    * ``regex``: the last match of the pattern equals the right answer; if the pattern
      has a group, the match of the group counts,
    * ``number``: the last number in the text equals the last number in the right
      answer, within the tolerance,
    * ``module:function``: a function of the text and the right answer returns a score
      in [0, 1], or a mapping of columns to numbers.

    Examples
    --------
    >>> ScorerOptions(scorer="number").score("8 + 35 = 43, 43 - 25 = 18.", "#### 18")
    {'score': 1.0}
    >>> ScorerOptions(scorer="regex", pattern=r"\b([AB])\b").score("Not A. So: b", "B")
    {'score': 0.0}
    """

    scorer: str = Field(
        pattern=rf"^({'|'.join(SCORERS)}|[^:\s]+:[^:\s]+)$",
        description=(
            "choose exact, contains, regex or number, or name a function as"
            " module:function"
        ),
    )
    answer: str = Field(
        "answer",
        description="name the column of the right answers in the file of instances",
    )
    pattern: re.Pattern[str] | None = Field(
        None, description="give a regular expression, for the scorer regex"
    )
    tolerance: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="give a number from 0, the largest accepted difference",
    )

    @model_validator(mode="after")
    def _belong(self) -> ScorerOptions:
        if self.scorer == "regex" and self.pattern is None:
            problem = "the scorer regex needs a pattern"
            remedy = "write a pattern, such as '([AB])'"
            raise_fault(None, problem, remedy, "scorer-options")
        if self.pattern is not None and self.scorer != "regex":
            problem = f"the scorer {self.scorer} uses no pattern"
            remedy = "leave the pattern out, or choose the scorer regex"
            raise_fault(None, problem, remedy, "scorer-options")
        if self.tolerance and self.scorer != "number":
            problem = f"the scorer {self.scorer} uses no tolerance"
            remedy = "leave the tolerance out, or choose the scorer number"
            raise_fault(None, problem, remedy, "scorer-options")
        return self

    @cached_property
    def function(self) -> Callable[[str, str], Any] | None:
        """The user's function that scores; None for a built-in scorer."""
        if self.scorer in SCORERS:
            return None
        return load_function(self.scorer, "text", "answer")

    def usable(self, answer: str) -> bool:
        """Return whether some text could match this right answer."""
        if self.function is not None:
            return True
        return bool(answer.strip()) and not (
            self.scorer == "number" and math.isnan(last_number(answer))
        )

    def score(self, text: str, answer: str) -> Row:
        """Return the columns with the score of a text, given the right answer.

        Raises
        ------
        CobanditError
            If the function fails, or does not return a score.
        """
        if self.function is None:
            return {"score": float(self._is_correct(text, answer))}
        try:
            result = self.function(text, answer)
        except Exception as error:
            problem = f"the function failed on an answer: {describe_error(error)}"
            remedy = "correct this function"
            raise_fault(f"scorer {self.scorer}", problem, remedy, "scorer-failed")
        row = result if isinstance(result, Mapping) else {"score": result}
        return read_row(row, f"scorer {self.scorer}")

    def _is_correct(self, text: str, answer: str) -> bool:
        if self.scorer == "exact":
            return _fold(text) == _fold(answer)
        if self.scorer == "contains":
            return _fold(answer) in _fold(text)
        if self.pattern is not None:
            matches = [
                match[match.lastindex or 0] for match in self.pattern.finditer(text)
            ]
            return bool(matches) and _fold(matches[-1]) == _fold(answer)
        slack = self.tolerance * (1 + 1e-9)
        return math.isclose(
            last_number(text), last_number(answer), rel_tol=1e-9, abs_tol=slack
        )
