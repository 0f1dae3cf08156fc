"""What an endpoint is asked: templates of a plan, filled with settings and the fields of an instance."""

from __future__ import annotations

import csv
import io
import json
import string
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, HttpUrl, JsonValue, ValidationError, field_validator

from cobandit.faults import stop, suggest
from cobandit.live.evaluators import WHERE, EvaluatorOptions
from cobandit.live.evaluators.scorers import ScorerOptions

Columns = Mapping[str, Any]
"""What a file says of an instance, by column."""


class InstancesFile(EvaluatorOptions):
    """A file of instances, CSV or JSON lines, and its column of ids."""

    file: str = Field(description="name a .csv or .jsonl file; a relative path starts where the plan is")
    column: str = Field("instance", description="name the column of the ids")


Instances = Annotated[
    InstancesFile, BeforeValidator(lambda given: {"file": given} if isinstance(given, str) else given)
]
"""The file alone, or with its column: the same that a plan's own ``instances`` may be."""


def read_instances(source: InstancesFile, folder: Path, wanted: Sequence[str]) -> dict[str, Columns]:
    """Read the columns of the wanted instances.

    Parameters
    ----------
    source : InstancesFile
    folder : Path
        Where a relative path starts.
    wanted : sequence of str
        Their ids.

    Returns
    -------
    dict
        Columns by id; what a CSV file holds is text.

    Raises
    ------
    TableError
        If the file cannot be read, repeats an id, or lacks one that is wanted.
    """
    path = folder / source.file
    rows: dict[str, Columns] = {}
    for where, row in _rows(path):
        if row.get(source.column) is None:
            remedy = suggest(source.column, row, "name the column of the ids with column")
            stop(where, f"there is no {source.column!r}, but {', '.join(row)}", remedy)
        name = str(row[source.column])
        if name in rows:
            stop(where, f"the instance {name!r} was there before", "give each instance one line")
        rows[name] = row
    missing = [name for name in wanted if name not in rows]
    if missing:
        remedy = "add it, or leave it out of the plan's instances"
        stop(path, f"there is no instance {missing[0]!r}, of {len(missing)} that the plan names", remedy)
    return {name: rows[name] for name in wanted}


def _rows(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    from cobandit.tables.importers.safe_reading import read_bytes, read_lines  # pandas takes its time

    if not path.is_file():
        stop(path, "there is no such file", "check the path, which starts where the plan is")
    if path.suffix.lower() == ".jsonl":
        for where, line in read_lines(path):
            try:
                row = json.loads(line)
            except ValueError as error:
                stop(where, f"this is not JSON: {error}", "write one object a line")
            if not isinstance(row, dict):
                stop(where, "this is no object", 'write one a line: {"instance": ..., ...}')
            yield where, row
        return
    if path.suffix.lower() != ".csv":
        stop(path, "only .csv and .jsonl files are read here", "write the instances as one of them")
    try:
        reader = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True)
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                stop(where, "it has more or fewer values than there are columns", "correct it")
            yield where, row
    except (csv.Error, UnicodeDecodeError) as error:
        stop(path, f"this is no CSV file in UTF-8: {error}", "export it again")


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
    instances: Instances | None = Field(
        None,
        description="name a .csv or .jsonl file of instances, or write {file: ..., column: that of the ids}; "
        "by default it is the file of the plan's own instances",
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
