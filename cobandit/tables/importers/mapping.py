"""Says which column of a table is what: the options of ``cobandit import csv``, or a YAML file with them."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from cobandit.faults import stop, suggest
from cobandit.tables.card import Objective
from cobandit.tables.fields import load_yaml
from cobandit.tables.importers.safe_reading import first_fault
from cobandit.tables.importers.sources import RepeatOptions
from cobandit.tables.transforms import TRANSFORMS


class TidyOptions(RepeatOptions):
    """Options of ``cobandit import csv``; a YAML mapping has the same keys."""

    mapping: Path | None = Field(
        None, description="A YAML file with the options below; the command line wins."
    )
    config: tuple[str, ...] = Field(
        (), description="The column that names the configuration; repeat to join several."
    )
    instance: str | None = Field(None, description="The column that names the instance.")
    cost: tuple[str, ...] = Field(
        (),
        description="The cost: a column (in a wide file, a field); a number that every evaluation costs; or "
        "CONFIG=NUMBER, repeated for each configuration. Without it, each costs 1.",
    )
    unit: str | None = Field(None, description="The unit of the cost, such as tokens or USD.")
    text: tuple[str, ...] = Field(
        (),
        description="In place of --cost: a column of text whose tokens are counted, such as the answer; "
        "repeat to add the prompt.",
    )
    tokenizer: Path | None = Field(
        None, description="A tokenizer.json to count tokens with (default: characters / 4)."
    )
    objective: tuple[Objective, ...] = Field(
        (),
        description=f"NAME=COLUMN or NAME=COLUMN:TRANSFORM ({', '.join(TRANSFORMS)}); repeat. NAME alone is "
        "NAME=NAME.",
    )
    arm: tuple[str, ...] = Field(
        (), description="A column that describes the configuration; repeat for more."
    )
    wide: str | None = Field(
        None,
        description="The file is wide, with columns named by this pattern, such as {config}_{field}, or just "
        "{config} where each configuration has one column, its score.",
    )
    where: str | None = Field(
        None, description="Take only rows that fulfil this, such as \"lang == 'en' and shots > 0\"."
    )

    @field_validator("config", "arm", "text", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("cost", mode="before")
    @classmethod
    def _priced(cls, value: Any) -> Any:
        """Take a number, or ``{CONFIG: NUMBER}``, as well as what the command line takes."""
        if isinstance(value, dict):
            return [f"{name}={number}" for name, number in value.items()]
        items = value if isinstance(value, (list, tuple)) else [value]
        return [str(item) if type(item) in (int, float) else item for item in items]

    @field_validator("objective", mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        """Take ``NAME=COLUMN:TRANSFORM`` for an objective, as well as what a card has; one or several."""
        value = [value] if isinstance(value, (str, dict)) else value
        return [_objective(item) for item in value] if isinstance(value, (list, tuple)) else value

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (wide.count("{config}") != 1 or wide.count("{field}") > 1):
            raise ValueError(f"{wide!r} needs {{config}} once, and {{field}} at most once")
        return wide

    @property
    def fields(self) -> bool:
        """Whether a wide file has several columns for each configuration."""
        return self.wide is not None and "{field}" in self.wide


def _objective(item: Any) -> Any:
    if not isinstance(item, str):
        return item
    name, equals, rest = item.partition("=")
    column, colon, transform = rest.rpartition(":")
    if not equals:
        return {"name": item, "column": item}
    if colon and transform in TRANSFORMS:
        return {"name": name, "column": column, "transform": transform}
    return {"name": name, "column": rest}


def complete_options(options: TidyOptions) -> TidyOptions:
    """Take what the command line leaves open from the YAML file, and check that nothing is open then.

    Raises
    ------
    TableError
        If the file is no mapping, or something is missing or contradicts something else.

    Examples
    --------
    >>> complete_options(TidyOptions(instance="q", objective=["accuracy"]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the mapping: it does not say --config -> give it, or ...
    """
    if options.mapping is not None:
        options = _with_mapping(options, options.mapping)
    needed = ["instance", *(["unit"] if options.cost else [])]
    needed += ["config"] if options.wide is None else []
    needed += ["objective"] if options.wide is None or options.fields else []
    missing = [f"--{name}" for name in needed if not getattr(options, name)]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        problem = f"it does not say {', '.join(missing)}"
        stop("the mapping", problem, f"give {them}, or a YAML file with --mapping")
    if options.cost and options.text:
        stop("the mapping", "the cost is given as --cost and as --text", "leave one of them out")
    if options.wide is not None and (options.config or options.arm):
        problem = "a wide file names its configurations in its columns"
        stop("the mapping", problem, "leave out --config and --arm")
    if options.wide is None or options.fields:
        return options
    if options.text or len(options.objective) > 1:
        problem = "a wide file with one column for each configuration has nothing but a score"
        stop("the mapping", problem, "leave out --text and further objectives, or use {field} in --wide")
    return options.model_copy(
        update={"objective": options.objective or (Objective(name="accuracy", column="score"),)}
    )


def _with_mapping(options: TidyOptions, path: Path) -> TidyOptions:
    given = load_yaml(path, "mapping")
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        problem = "the mapping is not a list of 'option: value'"
        stop(path, problem, "write 'config: ...', 'instance: ...' and so on")
    # a condition is evaluated, so it is for the user to give, not for a file that came from elsewhere
    known = [name for name in TidyOptions.model_fields if name not in ("mapping", "where")]
    unknown = sorted(set(given) - set(known))
    if unknown:
        remedy = suggest(unknown[0], known, f"known keys: {', '.join(known)}")
        if unknown[0] == "where":
            remedy = "give --where on the command line"
        stop(path, f"unknown key {unknown[0]!r}", remedy)
    try:
        return TidyOptions.model_validate(given | options.model_dump(exclude_unset=True))
    except ValidationError as error:
        stop(path, first_fault(error), "correct the mapping")


def read_cost(given: Sequence[str], known: Container[str]) -> str | float | dict[str, float]:
    """Read what ``--cost`` says: a column that is known, a number, or a number for each configuration.

    Raises
    ------
    TableError
        If it is given several times and some are not as ``CONFIG=NUMBER``.

    Examples
    --------
    >>> read_cost(["tokens"], {"tokens"}), read_cost(["0.5"], {"tokens"}), read_cost([], {"tokens"})
    ('tokens', 0.5, 1.0)
    >>> read_cost(["small=1", "t=0.7=20"], {"tokens"})
    {'small': 1.0, 't=0.7': 20.0}
    """
    if not given:
        return 1.0
    if len(given) == 1 and given[0] in known:
        return given[0]
    if len(given) == 1 and (number := _number(given[0])) is not None:
        return number
    pairs = [(name, _number(number)) for name, _, number in (item.rpartition("=") for item in given)]
    each = {name: number for name, number in pairs if name and number is not None}
    if len(each) == len(given):
        return each
    if len(given) > 1:
        remedy = "repeat it as CONFIG=NUMBER, once for each configuration, or name one column"
        stop("--cost", f"of {', '.join(given)} not each is a configuration and its cost", remedy)
    return given[0]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None
