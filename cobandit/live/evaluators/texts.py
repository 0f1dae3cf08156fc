"""Texts: what an endpoint is asked, and whether what it answers is right.

Templates of a plan are filled with settings and the columns of an instance; case and white space around an
answer do not count.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue, field_validator, model_validator

from cobandit._text import suggest
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.evaluators.base import ADDRESS_SETTINGS, EvaluatorOptions, Row
from cobandit.live.evaluators.rows import read_row
from cobandit.live.evaluators.user_code import describe_error, load_function
from cobandit.live.instances import Columns

SCORERS = ("exact", "contains", "regex", "number")

# a minus right after a word, a number or a bracket is that of a subtraction
_NUMBER = re.compile(
    r"(?:(?<![\w)])-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?=\.\d))(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII
)


def last_number(text: str) -> float:
    """Read the last number of a text, not a number where there is none; commas may separate its thousands.

    Examples
    --------
    >>> last_number("8 - 35 = -27."), last_number("$1,234.50 in all"), last_number("none")
    (-27.0, 1234.5, nan)
    """
    found = _NUMBER.findall(text.replace("\N{MINUS SIGN}", "-"))
    return float(found[-1].replace(",", "")) if found else math.nan


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
        pattern=rf"^({'|'.join(SCORERS)}|[^:\s]+:[^:\s]+)$",
        description="choose exact, contains, regex or number, or name a function as module:function",
    )
    answer: str = Field("answer", description="name the column that holds the right answer of an instance")
    pattern: re.Pattern[str] | None = Field(None, description="give the regular expression of scorer regex")
    tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="say how far off a number may be, in its unit"
    )

    @model_validator(mode="after")
    def _belong(self) -> ScorerOptions:
        if (self.pattern is None) == (self.scorer == "regex") or (self.tolerance and self.scorer != "number"):
            problem = "scorer regex needs a pattern, number may have a tolerance, and no other has either"
            raise_fault(
                None, problem, "give regex a pattern such as '([AB])', and leave out what others cannot use"
            )
        return self

    @cached_property
    def function(self) -> Callable[[str, str], Any] | None:
        """The function that scores, if the scorer is one."""
        return None if self.scorer in SCORERS else load_function(self.scorer, "text", "answer")

    def usable(self, answer: str) -> bool:
        """Whether a text could be right at all, given the right answer."""
        if self.function is not None:
            return True
        return bool(answer.strip()) and not (self.scorer == "number" and math.isnan(last_number(answer)))

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
                f"scorer {self.scorer} failed on an answer: {describe_error(error)}"
            ) from error
        return read_row(given if isinstance(given, Mapping) else {"score": given}, f"scorer {self.scorer}")

    def _is_correct(self, text: str, answer: str) -> bool:
        if self.scorer == "exact":
            return _same(text) == _same(answer)
        if self.scorer == "contains":
            return _same(answer) in _same(text)
        if self.pattern is not None:
            found = [match[match.lastindex or 0] for match in self.pattern.finditer(text)]
            return bool(found) and _same(found[-1]) == _same(answer)
        slack = self.tolerance * (1 + 1e-9)
        return math.isclose(last_number(text), last_number(answer), rel_tol=1e-9, abs_tol=slack)


def find_names(template: str, where: str) -> set[str]:
    """Find the names in the braces of a template; ``{{`` and ``}}`` are braces.

    Raises
    ------
    TableError
        If a brace has no other, or what they hold is no name.

    Examples
    --------
    >>> sorted(find_names("{question} Answer with {what}, as {{x}}.", "prompt"))
    ['question', 'what']
    >>> find_names("Answer as {} or {x}", "prompt")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: prompt: not all braces of 'Answer as {} or {x}' hold a name -> write {name}, \
and {{ }} for other braces
    """
    with suppress(ValueError):
        parts = {
            (name, form or conversion)
            for _, name, form, conversion in string.Formatter().parse(template)
            if name is not None
        }
        if not any(form or not name.strip() or set(name) & set(".[") for name, form in parts):
            return {name for name, _ in parts}
    problem = f"not all braces of {template!r} hold a name"
    raise_fault(where, problem, "write {name}, and {{ }} for other braces")


#: Settings of a configuration that go into the request as they are.
REQUEST_SETTINGS = (
    *("model", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop"),
    *("presence_penalty", "frequency_penalty", "reasoning_effort", "verbosity"),
)


class Turn(EvaluatorOptions):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="choose system, developer, user or assistant"
    )
    content: str = Field(description="write a template such as '{question}'")


def _as_turns(written: Any) -> Any:
    return ({"role": "user", "content": written},) if isinstance(written, str) else written


#: What is sent: a text, which the user says, or messages in their order.
Turns = Annotated[tuple[Turn, ...], BeforeValidator(_as_turns), Field(min_length=1)]


class OpenAIOptions(ScorerOptions):
    """Options of ``evaluate: {openai: ...}``, and the requests that they make of settings and instances."""

    base_url: str | None = Field(None, description="give the address up to /v1, here or as a setting")
    key: str | None = Field(
        None, description="name the environment variable that holds the key, not the key itself"
    )
    prompt: dict[str, Turns] = Field(
        description="write a template such as '{question}', a list of turns {role: ..., content: ...}, or "
        "several by name, of which each configuration names one as its 'prompt'"
    )
    body: dict[str, JsonValue] = Field(
        {}, description="give further fields of the request; a setting of the same name takes its place"
    )
    prices: str | None = Field(None, description="name a file of prices, or leave it out")

    @field_validator("prompt", mode="before")
    @classmethod
    def _by_name(cls, written: Any) -> Any:
        return written if isinstance(written, Mapping) else {"": written}

    @cached_property
    def names(self) -> dict[str, set[str]]:
        """The names in the braces of each prompt."""
        return {
            name: set[str]().union(*(find_names(turn.content, f"prompt {name}") for turn in turns))
            for name, turns in self.prompt.items()
        }

    def check(self, configurations: Sequence[Mapping[str, Any]], instances: Mapping[str, Columns]) -> None:
        """Check that requests can be made, given the columns of each instance.

        Raises
        ------
        TableError
            If a template is wrong, a configuration names none or no model, or has a setting that changes
            nothing.
        """
        names, columns = self.names, set.intersection(*map(set, instances.values()))
        for configuration in configurations:
            where = f"configuration {dict(configuration)}"
            if self.model(configuration) is None:
                raise_fault(
                    where, "it has no model", "give each configuration a 'model', or one to all in body"
                )
            prompt = self._choose(configuration)
            if prompt not in names:
                remedy = suggest(str(prompt), names, "let its setting 'prompt' name one of the prompts")
                raise_fault(where, f"there is no prompt {prompt!r}", remedy)
            for name in names[prompt]:
                if (name in configuration) == (name in columns):
                    problem = f"{{{name}}} has to be either a setting or a column of the instances"
                    raise_fault(where, problem, suggest(name, {*configuration, *columns}))
            useful = {*REQUEST_SETTINGS, *ADDRESS_SETTINGS, *self.body, *names[prompt]}
            useful |= {"prompt"} if prompt else set()
            for setting in configuration:
                if setting not in useful:
                    remedy = suggest(setting, useful, "use it in the prompt, or give its default in body")
                    raise_fault(where, f"the setting {setting!r} changes nothing in the request", remedy)

    def _choose(self, configuration: Mapping[str, Any]) -> Any:
        """The name of a configuration's template: where there is one alone, 'prompt' is a setting as any."""
        return "" if "" in self.prompt else configuration.get("prompt", "")

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """The model of a configuration."""
        return configuration.get("model", self.body.get("model"))

    def request(self, configuration: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """Make the body of a request; what is None is left out."""
        known = {*REQUEST_SETTINGS, *self.body}
        settings = {name: value for name, value in configuration.items() if name in known}
        fields = {**self.body, **settings}
        request = {name: value for name, value in fields.items() if value is not None}

        turns = self.prompt[self._choose(configuration)]
        values = {**columns, **configuration}
        messages = [{"role": turn.role, "content": turn.content.format_map(values)} for turn in turns]
        return request | {"messages": messages}
