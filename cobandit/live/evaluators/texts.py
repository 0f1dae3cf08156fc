"""Texts: what an endpoint is asked, and whether what it answers is right.

Templates of a plan are filled with settings and the columns of an instance; case and white space around an
answer do not count.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    HttpUrl,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.faults import stop, suggest
from cobandit.live.configurations import Columns
from cobandit.live.evaluators import WHERE, EvaluatorOptions, Row, describe_error, load_function, read_row

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
                "the plan again: what was evaluated is kept"
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


class Template:
    """Text with ``{name}`` where a setting or a field of the instance goes; ``{{`` and ``}}`` are braces.

    Parameters
    ----------
    text : str
    where : str
        What messages call it.

    Raises
    ------
    TableError
        If a brace has no other, or what they hold is no name.

    Examples
    --------
    >>> Template("{question} Answer with {what}.", "prompt").fill({"question": "1 + 1?", "what": "a number"})
    '1 + 1? Answer with a number.'
    >>> Template("Answer as {} or {x}", "prompt")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: prompt: '{}' is no name in braces -> write {name}, and {{ }} for other braces
    """

    def __init__(self, text: str, where: str):
        remedy = "write {name}, and {{ }} for other braces"
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError as error:
            stop(where, f"its braces do not match ({error})", remedy)
        self.text, self.where = text, where
        self.names = tuple(dict.fromkeys(name for _, name, _, _ in parts if name is not None))
        for _, name, format_, conversion in parts:
            if name is not None and (not name.strip() or set(name) & set(".[") or format_ or conversion):
                shown = (
                    "{" + name + (f"!{conversion}" if conversion else "") + (f":{format_}" if format_ else "")
                )
                stop(where, f"'{shown}}}' is no name in braces", remedy)

    def check(self, settings: Iterable[str], columns: Iterable[str]) -> None:
        """Refuse a name that is neither a setting nor a column, or is both."""
        settings, columns = set(settings), set(columns)
        for name in self.names:
            if name in settings and name in columns:
                stop(
                    self.where, f"{{{name}}} is a setting and a column of the instances", "rename one of them"
                )
            if name not in settings | columns:
                known = sorted(settings | columns)
                remedy = suggest(name, known)
                stop(self.where, f"{{{name}}} is neither a setting nor a column of the instances", remedy)

    def fill(self, values: Mapping[str, Any]) -> str:
        """Put the values in."""
        return self.text.format_map(values)


SETTINGS = (
    *("model", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop"),
    *("presence_penalty", "frequency_penalty", "reasoning_effort", "verbosity"),
)
"""Settings of a configuration that go into the request as they are."""


class Turn(EvaluatorOptions):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="choose system, developer, user or assistant"
    )
    content: str = Field(description="write a template such as '{question}'")


def _as_turns(written: Any) -> Any:
    return ({"role": "user", "content": written},) if isinstance(written, str) else written


Turns = Annotated[tuple[Turn, ...], BeforeValidator(_as_turns), Field(min_length=1)]
"""What is sent: a text, which the user says, or messages in their order."""


class InstancesFile(EvaluatorOptions):
    """A file of instances and its column of ids, or the file alone: as a plan's own ``instances``."""

    file: str = Field(description="name a file of instances; a relative path starts where the plan is")
    column: str = Field("instance", description="name the column of the ids")

    @model_validator(mode="before")
    @classmethod
    def _take_file(cls, written: Any) -> Any:
        return {"file": written} if isinstance(written, str) else written


class OpenAIOptions(ScorerOptions):
    """Options of ``evaluate: {openai: ...}``."""

    base_url: str | None = Field(
        None,
        description="give the address up to /v1, such as http://127.0.0.1:8080/v1, here or as a setting of "
        "each configuration",
    )
    key: str | None = Field(
        None, description="name the environment variable that holds the key, not the key itself"
    )
    api: Literal["chat", "completions"] = Field("chat", description="choose chat or completions")
    prompt: dict[str, Turns] = Field(
        description="write a template such as '{question}', a list of turns {role: ..., content: ...}, or "
        "several by name, of which each configuration names one as its 'prompt'"
    )
    system: str | None = Field(
        None, description="write a template of the system message of a chat, or leave it out"
    )
    instances: InstancesFile | None = Field(
        None,
        description="name a file of instances, or write {file: ..., column: that of the ids}; by default it "
        "is the file of the plan's own instances",
    )
    body: dict[str, JsonValue] = Field(
        {}, description="give further fields of the request; a setting of the same name takes its place"
    )
    prices: str | None = Field(None, description="name a file of prices, or leave it out")

    @field_validator("base_url")
    @classmethod
    def _base(cls, url: str | None) -> str | None:
        return None if url is None else check_address(url)

    @field_validator("prompt", mode="before")
    @classmethod
    def _by_name(cls, written: Any) -> Any:
        return written if isinstance(written, Mapping) else {"": written}


def check_address(url: str) -> str:
    """Check a base address, and leave out a slash at its end.

    Raises
    ------
    ValueError
        With problem and remedy.

    Examples
    --------
    >>> check_address("http://127.0.0.1:8080/v1/")
    'http://127.0.0.1:8080/v1'
    """
    url = url.rstrip("/")
    try:
        HttpUrl(url)
    except ValidationError:
        stop(None, f"{url!r} is no address", "write one such as http://127.0.0.1:8080/v1")
    for path in ("/chat/completions", "/completions"):
        if url.endswith(path):
            stop(None, f"{url!r} is more than the base address", f"leave out {path}")
    return url


class Prompts:
    """The templates of a plan, and the requests that they make with configurations and instances.

    Parameters
    ----------
    options : OpenAIOptions
    configurations : sequence of mapping
    instances : mapping of str to mapping
        Columns by id.

    Raises
    ------
    TableError
        If a template is wrong, a configuration names none or no model, or has a setting that changes nothing.
    """

    def __init__(
        self,
        options: OpenAIOptions,
        configurations: Sequence[Mapping[str, Any]],
        instances: Mapping[str, Columns],
    ):
        self._options = options
        system = [] if options.system is None else [("system", Template(options.system, "system"))]
        self._turns = {
            name: [
                *system,
                *((turn.role, Template(turn.content, f"prompt {name}".strip())) for turn in turns),
            ]
            for name, turns in options.prompt.items()
        }
        if options.api == "completions" and any(len(turns) > 1 for turns in self._turns.values()):
            stop(
                "prompt",
                "plain completions have no system message, and no turns",
                "write it all into one text",
            )
        columns = set.intersection(*(set(row) for row in instances.values()))
        for configuration in configurations:
            self._check(configuration, columns)

    def _check(self, configuration: Mapping[str, Any], columns: set[str]) -> None:
        where = f"configuration {dict(configuration)}"
        if self.model(configuration) is None:
            stop(where, "it has no model", "give each configuration a 'model', or one to all in body")
        name = configuration.get("prompt")
        if self._by_name and name not in self._turns:
            known = ", ".join(self._turns)
            stop(where, f"there is no prompt {name!r}", suggest(str(name), self._turns, f"there is {known}"))
        used = [template for _, template in self._chosen(configuration)]
        for template in used:
            template.check(configuration, columns)
        useful = {*SETTINGS, *WHERE, *self._options.body, *(n for t in used for n in t.names)}
        useful |= {"prompt"} if self._by_name else set()
        for setting in configuration:
            if setting not in useful:
                remedy = suggest(setting, useful, "use it in the prompt, or give its default in body")
                stop(where, f"the setting {setting!r} changes nothing in the request", remedy)

    def digests(self, instances: Mapping[str, Columns], answer: str) -> dict[str, str]:
        """A checksum of what the templates and the scorer take of each instance."""
        used = {name for turns in self._turns.values() for _, template in turns for name in template.names}
        names = sorted({answer, *used})
        return {
            instance: sha256(repr([columns.get(name) for name in names]).encode()).hexdigest()[:16]
            for instance, columns in instances.items()
        }

    @property
    def _by_name(self) -> bool:
        return "" not in self._turns

    def _chosen(self, configuration: Mapping[str, Any]) -> list[tuple[str, Template]]:
        return self._turns[configuration["prompt"] if self._by_name else ""]

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """The model of a configuration."""
        return configuration.get("model", self._options.body.get("model"))

    def request(self, configuration: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """Make the body of a request; what is None is left out."""
        body, values = self._options.body, {**columns, **configuration}
        taken = {name: value for name, value in configuration.items() if name in SETTINGS or name in body}
        request = {name: value for name, value in {**body, **taken}.items() if value is not None}
        messages = [
            {"role": role, "content": template.fill(values)} for role, template in self._chosen(configuration)
        ]
        if self._options.api == "completions":
            return request | {"prompt": messages[0]["content"]}
        return request | {"messages": messages}
