"""Whether a model's text gives the right answer; case and white space around do not count."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import Field, field_validator, model_validator

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.faults import stop
from cobandit.live.evaluators import EvaluatorOptions, Row, describe_error, load_function, read_row

KINDS = ("exact", "contains", "regex", "number")

# a minus right after a word, a number or a bracket is that of a subtraction
_NUMBER = re.compile(
    r"(?:(?<![\w)])-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?=\.\d))(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII
)


def last_number(text: str) -> float | None:
    """Read the last number of a text; commas may separate its thousands.

    Examples
    --------
    >>> last_number("8 - 35 = -27."), last_number("$1,234.50 in all"), last_number("none")
    (-27.0, 1234.5, None)
    """
    found = _NUMBER.findall(text.replace("\N{MINUS SIGN}", "-"))
    return float(found[-1].replace(",", "")) if found else None


def _same(text: str) -> str:
    return text.strip().casefold()


class ScorerOptions(EvaluatorOptions):
    r"""How a text is scored.

    ``exact``: it is the answer; ``contains``: the answer is in it; ``regex``: what the group of the pattern
    (or all of it) finds last is the answer; ``number``: its last number is that of the answer, within the
    tolerance; ``module:function``: a function of the text and the answer, which gives a score in [0, 1], or
    a mapping of columns to numbers.

    Examples
    --------
    >>> ScorerOptions(scorer="number").score("8 + 35 = 43, 43 - 25 = 18.", "#### 18")
    {'score': 1.0}
    >>> ScorerOptions(scorer="regex", pattern=r"\b([AB])\b").score("Not A. So: b", "B")
    {'score': 0.0}
    """

    scorer: str = Field(
        pattern=rf"^({'|'.join(KINDS)}|[^:\s]+:[^:\s]+)$",
        description="choose exact, contains, regex or number, or name a function as module:function",
    )
    answer: str = Field("answer", description="name the column that holds the right answer of an instance")
    pattern: str | None = Field(None, description="give the regular expression of scorer regex")
    tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="say how far off a number may be, in its unit"
    )

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            groups = re.compile(pattern or "").groups
        except re.error as error:
            stop(None, f"{pattern!r} is no regular expression ({error})", "correct it")
        if groups > 1:
            stop(None, f"{pattern!r} has {groups} groups", "keep one; others are written (?:...)")
        return pattern

    @model_validator(mode="after")
    def _belong(self) -> ScorerOptions:
        if (self.pattern is not None) != (self.scorer == "regex"):
            if self.scorer == "regex":
                stop(None, "scorer regex needs a pattern", "give one, such as '([AB])'")
            stop(None, f"a pattern means nothing with scorer {self.scorer}", "leave it out")
        if self.tolerance and self.scorer != "number":
            stop(None, f"a tolerance means nothing with scorer {self.scorer}", "leave it out")
        return self

    @cached_property
    def function(self) -> Callable[[str, str], Any] | None:
        """The function that scores, if the scorer is one."""
        return None if self.scorer in KINDS else load_function(self.scorer, "text", "answer")

    def usable(self, answer: str) -> bool:
        """Whether a text could be right at all, given the right answer."""
        if self.function is not None:
            return True
        return bool(answer.strip()) and (self.scorer != "number" or last_number(answer) is not None)

    def score(self, text: str, answer: str) -> Row:
        """Score a text, given the right answer: columns of the table.

        Raises
        ------
        CobanditError
            If the function fails, or gives no score.
        """
        if self.function is None:
            return {"score": float(self._is_correct(text, answer))}
        try:
            given = self.function(text, answer)
        except Exception as error:
            raise CobanditError(
                f"the scorer {self.scorer} failed on an answer: {describe_error(error)}.  Correct it and run "
                "the plan again: what was told is kept"
            ) from error
        if isinstance(given, Mapping):
            return read_row(given, f"the scorer {self.scorer}")
        return {"score": _check.scalar(given, f"the score by {self.scorer}")}

    def _is_correct(self, text: str, answer: str) -> bool:
        if self.scorer == "exact":
            return _same(text) == _same(answer)
        if self.scorer == "contains":
            return _same(answer) in _same(text)
        if self.scorer == "regex":
            found = re.findall(self.pattern or "", text)
            return bool(found) and _same(found[-1]) == _same(answer)
        number, wanted = last_number(text), last_number(answer)
        return (
            number is not None
            and wanted is not None
            and math.isclose(number, wanted, rel_tol=1e-9, abs_tol=self.tolerance * (1 + 1e-9))
        )
