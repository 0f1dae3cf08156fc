"""Requests of an endpoint, with prompts made from templates.

Names in braces in a template are replaced by settings of the configuration, or by
columns of the instance.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue, field_validator

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import ADDRESS_SETTINGS, EvaluatorOptions
from cobandit.live.evaluators.scorers import ScorerOptions
from cobandit.live.instances import Columns


def find_names(template: str, place: str) -> set[str]:
    """Return the names in braces in a template; ``{{`` and ``}}`` are literal braces.

    Raises
    ------
    TableError
        If a brace is unmatched, or a pair of braces does not enclose a name.

    Examples
    --------
    >>> sorted(find_names("{question} Answer with {what}, as {{x}}.", "prompt"))
    ['question', 'what']
    >>> find_names("Answer as {} or {x}", "prompt")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: prompt: not all braces of 'Answer as {} or {x}' hold a \
name -> write {name}, and {{ }} for other braces
    """
    with suppress(ValueError):
        parts = {
            (name, form or conversion)
            for _, name, form, conversion in string.Formatter().parse(template)
            if name is not None
        }
        if not any(
            form or not name.strip() or set(name) & set(".[") for name, form in parts
        ):
            return {name for name, _ in parts}

    problem = f"not all braces of {template!r} hold a name"
    remedy = "write {name}, and {{ }} for other braces"
    raise_fault(place, problem, remedy, "bad-template")


#: Settings that are sent as fields of the request.
REQUEST_SETTINGS = (
    "model",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "reasoning_effort",
    "verbosity",
)


class Turn(EvaluatorOptions):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="choose system, developer, user or assistant"
    )
    content: str = Field(description="write a template such as '{question}'")


def _as_turns(written: Any) -> Any:
    return (
        ({"role": "user", "content": written},) if isinstance(written, str) else written
    )


#: A prompt: a text, which becomes the user's message, or a list of messages.
Turns = Annotated[tuple[Turn, ...], BeforeValidator(_as_turns), Field(min_length=1)]


class OpenAIOptions(ScorerOptions):
    """Options of ``evaluate: {openai: ...}``: endpoint, key, prompts and scorer."""

    base_url: str | None = Field(
        None,
        description=(
            "give the URL of the endpoint, ending in /v1, here or as a setting"
        ),
    )
    key: str | None = Field(
        None,
        description=(
            "name the environment variable with the key; do not write the key itself"
        ),
    )
    prompt: dict[str, Turns] = Field(
        description=(
            "write a template such as '{question}', a list of turns {role: ...,"
            " content: ...}, or a mapping of several prompts by name; the setting"
            " 'prompt' then names one"
        )
    )
    body: dict[str, JsonValue] = Field(
        {},
        description=(
            "give further fields of the request; settings of the same name take"
            " precedence"
        ),
    )
    prices: str | None = Field(
        None, description="name a file of prices, or leave this option out"
    )

    @field_validator("prompt", mode="before")
    @classmethod
    def _by_name(cls, written: Any) -> Any:
        return written if isinstance(written, Mapping) else {"": written}

    @cached_property
    def names(self) -> dict[str, set[str]]:
        """Names in the braces of each prompt."""
        return {
            name: (
                set[str]().union(
                    *(find_names(turn.content, f"prompt {name}") for turn in turns)
                )
            )
            for name, turns in self.prompt.items()
        }

    def check(
        self,
        configurations: Sequence[Mapping[str, Any]],
        instances: Mapping[str, Columns],
    ) -> None:
        """Check that a request can be made for each configuration and instance.

        Raises
        ------
        TableError
            If a template is wrong, a configuration has no prompt or no model, or a
            setting has no effect on the request.
        """
        names = self.names
        columns = set.intersection(*map(set, instances.values()))
        for configuration in configurations:
            place = f"configuration {dict(configuration)}"
            if self.model(configuration) is None:
                remedy = (
                    "give each configuration a setting 'model', or write a model for"
                    " all into body"
                )
                raise_fault(
                    place, "this configuration has no model", remedy, "no-model"
                )
            prompt = self._choose(configuration)
            if prompt not in names:
                problem = f"there is no prompt {prompt!r}"
                otherwise = "set 'prompt' to one of the prompts' names"
                remedy = suggest(str(prompt), names, otherwise)
                raise_fault(place, problem, remedy, "no-prompt")
            for name in names[prompt]:
                if name in configuration and name in columns:
                    problem = f"{{{name}}} in the prompt is both a setting and a column"
                    remedy = (
                        "rename the setting, or the column in the file of instances"
                    )
                    raise_fault(place, problem, remedy, "unknown-name")
                if name not in configuration and name not in columns:
                    problem = (
                        f"{{{name}}} in the prompt is neither a setting nor a column of"
                        " every instance"
                    )
                    remedy = suggest(name, {*configuration, *columns})
                    raise_fault(place, problem, remedy, "unknown-name")
            useful = {*REQUEST_SETTINGS, *ADDRESS_SETTINGS, *self.body, *names[prompt]}
            useful |= {"prompt"} if prompt else set()
            for setting in configuration:
                if setting not in useful:
                    problem = f"the setting {setting!r} has no effect on the request"
                    otherwise = "use it in the prompt, or give its default in body"
                    remedy = suggest(setting, useful, otherwise)
                    raise_fault(place, problem, remedy, "idle-setting")

    def _choose(self, configuration: Mapping[str, Any]) -> Any:
        """Return the name of a configuration's prompt; '' if the plan has only one."""
        return "" if "" in self.prompt else configuration.get("prompt", "")

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """Return the model of a configuration."""
        return configuration.get("model", self.body.get("model"))

    def request(
        self, configuration: Mapping[str, Any], columns: Columns
    ) -> dict[str, Any]:
        """Return the body of the request for a configuration and an instance.

        Fields without a value (None) are left out.
        """
        request_fields = {*REQUEST_SETTINGS, *self.body}
        settings = {
            name: value
            for name, value in configuration.items()
            if name in request_fields
        }
        fields = {**self.body, **settings}
        request = {name: value for name, value in fields.items() if value is not None}

        turns = self.prompt[self._choose(configuration)]
        values = {**columns, **configuration}
        messages = [
            {"role": turn.role, "content": turn.content.format_map(values)}
            for turn in turns
        ]
        return request | {"messages": messages}
