"""Options of ``cobandit import csv``, which give the meaning of a table's columns."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BeforeValidator, Field, field_validator

from cobandit._text import LONGEST, ellipsize
from cobandit.errors import raise_fault
from cobandit.tables.card import Objective
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.importers.file_columns import SourceFile
from cobandit.tables.importers.import_options import (
    Names,
    RepeatOptions,
    ScoreOptions,
    as_list,
)
from cobandit.tables.plain_yaml import load_yaml
from cobandit.tables.transforms import TRANSFORMS

#: Default column for the scores of a wide file.
SCORE = "score"

#: Columns that have text of more than this number of characters are listed last in
#: messages, because they probably have prompts or answers.
LONG_TEXT = 60


def _read_objectives(value: Any) -> list[Any]:
    """Read objectives: NAME, NAME=COLUMN, NAME=COLUMN:TRANSFORM, or a dictionary."""
    return [
        _read_objective(objective) if isinstance(objective, str) else objective
        for objective in as_list(value)
    ]


def _read_objective(text: str) -> dict[str, str]:
    name, equals, column = text.partition("=")
    start, colon, transform = column.rpartition(":")
    if colon and transform in TRANSFORMS:
        return {"name": name, "column": start, "transform": transform}
    return {"name": name, "column": column if equals else name}


class TidyMapping(RepeatOptions, ScoreOptions):
    """Options of ``cobandit import csv`` that may be in the file of ``--mapping``."""

    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "refuse",
        description=(
            "Treatment of rows without a score: they are left out, count as 0, or are"
            " an error."
        ),
    )

    config: Names = Field(
        (),
        description=(
            "The column that names the configuration; repeat the option to join"
            " several columns. Unless a column has this name, 'file' is the name of"
            " the file, and 'folder1' the first folder below the common folder."
        ),
    )
    instance: str | None = Field(
        None,
        description=(
            "The column that names the instance. Unless a column has this name,"
            " 'row' is the number of the record in its file."
        ),
    )
    cost: Names = Field(
        (),
        description=(
            "The cost of an evaluation: a column (in a wide file, a field); a number"
            " for all evaluations; or CONFIG=NUMBER, repeated for each configuration"
            " (default: 1)."
        ),
    )
    unit: str | None = Field(
        None, description="The unit of the cost, such as tokens or USD."
    )
    text: Names = Field(
        (),
        description=(
            "Instead of --cost: a column of text whose number of tokens is the cost;"
            " repeatable, to add the tokens of several columns."
        ),
    )
    tokenizer: Path | None = Field(
        None,
        description="A tokenizer.json to count tokens with (default: characters / 4).",
    )
    objective: Annotated[tuple[Objective, ...], BeforeValidator(_read_objectives)] = (
        Field(
            (),
            description=(
                "An objective: NAME=COLUMN or NAME=COLUMN:TRANSFORM"
                f" ({', '.join(TRANSFORMS)}); repeatable. NAME alone means NAME=NAME."
            ),
        )
    )
    arm: Names = Field(
        (),
        description=(
            "A column that describes the configuration; repeatable (default: the"
            " columns of --config, if there are several)."
        ),
    )
    cluster: str | None = Field(
        None,
        description=(
            "A column that groups instances, such as the passage that questions are"
            " about. Decisions then treat groups, not instances, as independent."
        ),
    )
    separator: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description="The separator of columns in text files (default: recognised).",
    )
    decimal: Literal[".", ","] | None = Field(
        None, description="The decimal mark of numbers in text (default: recognised)."
    )
    encoding: str | None = Field(
        None, description="The encoding of text, such as cp1252 (default: recognised)."
    )
    records: str | None = Field(
        None,
        description=(
            "In a JSON file, the keys that lead to the records, such as results.rows"
            " (default: recognised)."
        ),
    )
    wide: str | None = Field(
        None,
        description=(
            "The pattern of a wide file's columns, such as {config}_{field}, or only"
            " {config} if each configuration has one column, its score. Without"
            " --objective, that column is the score."
        ),
    )

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (
            wide.count("{config}") != 1 or wide.count("{field}") > 1
        ):
            raise ValueError(
                f"{wide!r} must contain {{config}} once, and {{field}} at most once"
            )
        return wide


class TidyOptions(TidyMapping):
    """All options of ``cobandit import csv``.

    ``where`` is not possible in the file of ``--mapping``, because a condition is
    evaluated as code, and the file may be from somebody else.
    """

    mapping: Path | None = Field(
        None,
        description=(
            "A YAML file with these options, except --where; the command line takes"
            " precedence."
        ),
    )
    where: str | None = Field(
        None,
        description=(
            "Import only rows that satisfy this condition, such as"
            " \"lang == 'en' and shots > 0\"."
        ),
    )


def complete_options(
    options: TidyOptions, read_first: Callable[[], SourceFile] | None = None
) -> TidyOptions:
    """Add the options of the YAML file, and check that the options are complete.

    Parameters
    ----------
    options : TidyOptions
    read_first : callable, optional
        Reads the first file, so that messages can list its columns.

    Raises
    ------
    TableError
        If the file is not a mapping, or options are missing or contradict each other.

    Examples
    --------
    >>> complete_options(TidyOptions(instance="q", objective=["accuracy"]))
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the options: --config is missing -> give it, or a ...
    """
    if options.mapping is not None:
        mapping = check_fields(
            TidyMapping, load_yaml(options.mapping, "mapping"), str(options.mapping)
        )
        left_open = mapping.model_fields_set - options.model_fields_set
        options = options.model_copy(
            update={name: getattr(mapping, name) for name in left_open}
        )

    if options.no_score and "missing" not in options.model_fields_set:
        # the option tells that some rows have no score
        options = options.model_copy(update={"missing": "leave-out"})

    wide = options.wide
    cost = options.cost
    text = options.text
    objectives = options.objective
    scores_only = wide is not None and "{field}" not in wide
    needed = {
        "config": wide is None,
        "instance": True,
        "objective": wide is None,
        "unit": cost,
    }
    if missing := [
        f"--{name}" for name in needed if needed[name] and not getattr(options, name)
    ]:
        remedy = "give it, or a YAML file of options with --mapping"
        if missing == ["--unit"]:
            remedy = "name the unit of the cost, such as --unit USD"
        elif read_first is not None:
            remedy = _offer_columns(read_first())
        verb = "is" if len(missing) == 1 else "are"
        raise_fault(
            "the options",
            f"{', '.join(missing)} {verb} missing",
            remedy,
            "incomplete-mapping",
        )

    for clash, problem in (
        (cost and text, "--cost and --text both give the cost"),
        (
            wide and (options.config or options.arm),
            "--config or --arm is given with --wide, which gives the configurations",
        ),
        (
            scores_only and (text or objectives[1:]),
            "--wide without {field} allows one objective, and no --text",
        ),
    ):
        if clash:
            raise_fault(
                "the mapping", problem, "leave one of them out", "contradictory-options"
            )

    # if several columns name the configuration, they also describe it
    arm = options.arm or (options.config if len(options.config) > 1 else ())
    objectives = objectives or (Objective(name="accuracy", column=SCORE),)
    return options.model_copy(update={"arm": arm, "objective": objectives})


def _offer_columns(source: SourceFile) -> str:
    """Return a message's remedy for missing options, which lists the file's columns."""
    path, frame, _, places = source
    long = [name for name in frame.columns if _is_long(frame[name])]
    short = [name for name in frame.columns if name not in long]
    names = list(dict.fromkeys([*short, *places, *long]))
    offer = "name them among the file's columns, such as --objective accuracy=COLUMN: "
    offer += f"{ellipsize(path.name, LONGEST // 4)} has "
    n_letters = LONGEST - len(offer) - 20
    for number, name in enumerate(names):
        n_letters -= len(repr(name)) + 2
        if n_letters < 0:
            return f"{offer}and {len(names) - number} more"
        offer += f"{name!r}, "
    return offer.removesuffix(", ")


def _is_long(column: pd.Series | pd.DataFrame) -> bool:
    """Return whether a column has long text, lists or objects."""
    values = column.iloc[:20].to_numpy().ravel().tolist()
    return any(
        isinstance(value, (list, dict)) or len(str(value)) > LONG_TEXT
        for value in values
    )


def read_cost(
    values: Sequence[str], known: Container[str]
) -> str | float | dict[str, float]:
    """Return what ``--cost`` names: a column, one number, or a number by configuration.

    Raises
    ------
    TableError
        If the text is none of these.

    Examples
    --------
    >>> [read_cost(values, {"tokens"}) for values in (["tokens"], ["0.5"], [])]
    ['tokens', 0.5, 1.0]
    >>> read_cost(["small=1", "t=0.7=20"], {"tokens"})
    {'small': 1.0, 't=0.7': 20.0}
    """
    if len(values) == 1 and values[0] in known:
        return values[0]

    try:
        if len(values) == 1 and "=" not in values[0]:
            return float(values[0])
        pairs = [text.rpartition("=") for text in values]
        return {config: float(number) for config, _, number in pairs} or 1.0
    except ValueError:
        problem = f"{', '.join(values)} is neither a column, a number nor CONFIG=NUMBER"
        raise_fault(
            "--cost",
            problem,
            "give one column, one number, or CONFIG=NUMBER for each configuration",
            "bad-cost",
        )
