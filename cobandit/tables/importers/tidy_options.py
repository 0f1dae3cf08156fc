"""Options of ``cobandit import csv``: the meaning of a table's columns."""

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

#: Column of the score of a wide file, where no other is named.
SCORE = "score"

#: Letters of a text from which on its column is offered last: it is an answer, or a
#: prompt.
LONG_TEXT = 60


def _read_objectives(value: Any) -> list[Any]:
    """Read objectives as NAME, NAME=COLUMN, NAME=COLUMN:TRANSFORM, or as on a card."""
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
    """Options of ``cobandit import csv``, which are the keys of its YAML file."""

    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "refuse",
        description="Rows without a score: left out, counted as 0, or an error.",
    )

    config: Names = Field(
        (),
        description=(
            "The column that names the configuration; repeat to join several. Where no"
            " column is called so, 'file' is the name of the file, and 'folder1' the"
            " folder below the one of all files."
        ),
    )
    instance: str | None = Field(
        None,
        description=(
            "The column that names the instance; 'row' is the number of the record in"
            " its file."
        ),
    )
    cost: Names = Field(
        (),
        description=(
            "The cost: a column (in a wide file, a field); a number that every"
            " evaluation costs; or CONFIG=NUMBER, repeated for each configuration."
            " Without it, each costs 1."
        ),
    )
    unit: str | None = Field(
        None, description="The unit of the cost, such as tokens or USD."
    )
    text: Names = Field(
        (),
        description="In place of --cost: text whose tokens are counted; repeat to add.",
    )
    tokenizer: Path | None = Field(
        None, description="A tokenizer.json (default: characters / 4)."
    )
    objective: Annotated[tuple[Objective, ...], BeforeValidator(_read_objectives)] = (
        Field(
            (),
            description=(
                f"NAME=COLUMN or NAME=COLUMN:TRANSFORM ({', '.join(TRANSFORMS)});"
                " repeat. NAME alone is NAME=NAME."
            ),
        )
    )
    arm: Names = Field(
        (),
        description=(
            "A column that describes the configuration; repeat (default: several"
            " --config)."
        ),
    )
    cluster: str | None = Field(
        None,
        description=(
            "A column of what instances have in common, such as a passage that"
            " questions are about: what is settled then counts its values."
        ),
    )
    separator: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description="What separates columns of text (default: recognised).",
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
            "The pattern of a wide file's columns, such as {config}_{field}, or just"
            " {config} where each configuration has one column, its score. Without"
            " --objective, the score is the column that is named as the configuration."
        ),
    )

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (
            wide.count("{config}") != 1 or wide.count("{field}") > 1
        ):
            raise ValueError(
                f"{wide!r} needs {{config}} once, and {{field}} at most once"
            )
        return wide


class TidyOptions(TidyMapping):
    """Options of ``cobandit import csv``.

    A condition is evaluated as code. Only the user may give one, not a file that came
    from elsewhere.
    """

    mapping: Path | None = Field(
        None,
        description=(
            "A YAML file with the other options but --where; the command line wins."
        ),
    )
    where: str | None = Field(
        None,
        description=(
            "Take only rows that fulfil this, such as \"lang == 'en' and shots > 0\"."
        ),
    )


def complete_options(
    options: TidyOptions, read_first: Callable[[], SourceFile] | None = None
) -> TidyOptions:
    """Complete the options from the YAML file, and check that none is missing.

    Parameters
    ----------
    options : TidyOptions
    read_first : callable, optional
        Reads the first file, whose columns are listed in messages.

    Raises
    ------
    TableError
        If the file is not a mapping, or options are missing or contradict each other.

    Examples
    --------
    >>> complete_options(TidyOptions(instance="q", objective=["accuracy"]))
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the mapping: it lacks --config -> give it, or a YAML ...
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
        # the user says that there are rows without a score
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
        remedy = "give it, or a YAML file with --mapping"
        if missing == ["--unit"]:
            remedy = "give it, such as --unit USD, or a YAML file with --mapping"
        elif read_first is not None:
            remedy = _offer_columns(read_first())
        raise_fault(
            "the mapping",
            f"it lacks {', '.join(missing)}",
            remedy,
            "incomplete-mapping",
        )

    for clash, problem in (
        (cost and text, "--cost and --text both say what an evaluation cost"),
        (
            wide and (options.config or options.arm),
            "--config and --arm are for files that are not wide",
        ),
        (
            scores_only and (text or objectives[1:]),
            "--wide without {field} takes one objective, no --text",
        ),
    ):
        if clash:
            raise_fault(
                "the mapping", problem, "leave one of them out", "contradictory-options"
            )

    # several columns that name a configuration together describe it, too
    arm = options.arm or (options.config if len(options.config) > 1 else ())
    objectives = objectives or (Objective(name="accuracy", column=SCORE),)
    return options.model_copy(update={"arm": arm, "objective": objectives})


def _offer_columns(source: SourceFile) -> str:
    """List the columns of a file for a user who has yet to map them."""
    path, frame, _, places = source
    long = [name for name in frame.columns if _is_long(frame[name])]
    short = [name for name in frame.columns if name not in long]
    names = list(dict.fromkeys([*short, *places, *long]))
    offer = "say which of its columns they are, such as --objective accuracy=COLUMN: "
    offer += f"{ellipsize(path.name, LONGEST // 4)} has "
    n_letters = LONGEST - len(offer) - 20
    for number, name in enumerate(names):
        n_letters -= len(repr(name)) + 2
        if n_letters < 0:
            return f"{offer}and {len(names) - number} more"
        offer += f"{name!r}, "
    return offer.removesuffix(", ")


def _is_long(column: pd.Series | pd.DataFrame) -> bool:
    """Whether a column holds long text, lists or objects."""
    values = column.iloc[:20].to_numpy().ravel().tolist()
    return any(
        isinstance(value, (list, dict)) or len(str(value)) > LONG_TEXT
        for value in values
    )


def read_cost(
    values: Sequence[str], known: Container[str]
) -> str | float | dict[str, float]:
    """Read ``--cost``: a known column, a number, or a number per configuration.

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
        problem = f"{', '.join(values)} is no column, no number and no CONFIG=NUMBER"
        raise_fault(
            "--cost",
            problem,
            "give one column, one number, or CONFIG=NUMBER for each configuration",
            "bad-cost",
        )
