"""The card of a table, a YAML file that describes its columns and its origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.checked_fields import Fields, check_fields
from cobandit.tables.checked_json import Positive
from cobandit.tables.plain_yaml import load_yaml
from cobandit.tables.transforms import TRANSFORMS

#: Columns of ``EvaluationTable.rows``, whose names an objective cannot have.
RESERVED = ("config", "instance", "cost", "split")


# Kinds of flawed evaluations that a card counts per configuration. Other kinds are
# reasons for missing evaluations, in the words of a log.
CUT_OFF = "answers cut off"
EMPTY = "answers empty"
FAILURES = "evaluations that failed"
FREE = "cost nothing"
UNMEASURED = "cost not measured"
NO_SCORE = "no score"
OUT_OF_RANGE = "score out of range"
STATIC = "repeats never differ"

Text = Annotated[str, Field(min_length=1)]


class Cost(Fields):
    """Column and unit of the cost of an evaluation.

    Examples
    --------
    >>> Cost(column="cost_usd", unit="USD").unit
    'USD'
    """

    column: Text = Field(description="name the column of the cost")
    unit: Text = Field(
        description="name the unit of the cost, for example tokens or USD"
    )


class Objective(Fields):
    """An objective: its name, its column, and how scores are computed from the column.

    Parameters
    ----------
    name, column : str
        Name of the objective, and of the column with its values.
    transform : str
        Key of :data:`~cobandit.tables.transforms.TRANSFORMS`, which turns the values of
        the column into scores in [0, 1].
    low, high : float
        Percentiles whose values have the scores 1 and 0, for the transform
        ``inverse-percentile`` only.
    limits : tuple of float, optional
        Values of the column whose scores are 1 and 0. By default, they are computed
        from the profiling split.

    Examples
    --------
    >>> Objective(name="speed", column="seconds", transform="inverse-percentile").high
    95.0
    """

    name: Text = Field(description="give the objective a short name")
    column: Text = Field(description="name the column of the objective")
    transform: str = Field(
        default="none", description="name a transform, or leave this field out"
    )
    low: float = Field(
        default=5.0, ge=0, le=100, description="give a percentile from 0 to 100"
    )
    high: float = Field(
        default=95.0, ge=0, le=100, description="give a percentile from 0 to 100"
    )
    limits: tuple[float, float] | None = Field(
        default=None, description="give two values, whose scores are 1 and 0"
    )

    @model_validator(mode="after")
    def _usable(self) -> Objective:
        if self.name in RESERVED:
            problem = f"{self.name!r} is the name of another column of the table"
            raise_fault(None, problem, "choose another name", "reserved-name")

        if self.transform not in TRANSFORMS:
            remedy = suggest(
                self.transform, TRANSFORMS, f"choose one of {', '.join(TRANSFORMS)}"
            )
            problem = f"there is no transform {self.transform!r}"
            raise_fault(None, problem, remedy, "unknown-transform")

        if self.low >= self.high:
            problem = f"low ({self.low:g}) is not below high ({self.high:g})"
            raise_fault(
                None, problem, "make low the smaller percentile", "low-above-high"
            )

        has_limits = self.limits is not None
        has_percentiles = (self.low, self.high) != (5, 95)
        takes_percentiles = TRANSFORMS[self.transform].percentiles and not has_limits
        if has_percentiles and not takes_percentiles:
            problem = (
                f"low and high have no effect with limits or transform {self.transform}"
            )
            raise_fault(None, problem, "leave low and high out", "needless-percentiles")

        if has_limits and self.transform == "none":
            problem = "limits have no effect without a transform"
            remedy = "name a transform, or leave limits out"
            raise_fault(None, problem, remedy, "needless-limits")

        return self


def _check_names(objectives: tuple[Objective, ...]) -> tuple[Objective, ...]:
    names = [objective.name for objective in objectives]
    if not names:
        remedy = "list at least one objective: - {name: ..., column: ...}"
        raise_fault(None, "the list of objectives is empty", remedy, "no-objective")
    if len(set(names)) < len(names):
        problem = "two objectives have the same name"
        raise_fault(None, problem, "rename one of them", "repeated-name")
    return objectives


#: One or several objectives with different names.
Objectives = Annotated[tuple[Objective, ...], AfterValidator(_check_names)]


class Split(Fields):
    """The profiling split: number and choice of its instances.

    The profiling split only estimates costs and scales; replays use the other
    instances.

    Parameters
    ----------
    profiling : int
        Number of instances in the profiling split.
    seed : int
        Seed of the random choice.
    instances : tuple of str, optional
        The instances, if they are not chosen at random, for example because they are
        the pilot of a live run.

    Examples
    --------
    >>> Split(profiling=100).seed, Split(profiling=2, instances=["q7", "q3"]).instances
    (0, ('q7', 'q3'))
    """

    profiling: int = Field(
        ge=2, description="give a number of profiling instances, at least 2"
    )
    seed: int = Field(0, ge=0, description="give a seed: an integer of at least 0")
    instances: tuple[str, ...] | None = Field(
        None, description="name the profiling instances, as text"
    )


class Origin(Fields):
    """Address and file format of records that are downloaded.

    Examples
    --------
    >>> Origin(url="https://example.org/board.json", parser="swebench-bash-only").parser
    'swebench-bash-only'
    """

    url: str = Field(
        pattern=r"^https?://", description="give the http(s) address of the records"
    )
    parser: Literal["tidy", "swebench-bash-only"] = Field(
        "tidy", description="name the parser for the records, or leave this field out"
    )


class Card(Fields):
    """The card of a table: its origin, and the meaning of its columns.

    Parameters
    ----------
    name, title, source, license : str
        Identifier, title, source (with a version) and licence. The title of a
        reconstruction must contain the word "reconstruction".
    kind : {"measured", "reconstruction", "synthetic"}
        How the numbers were obtained.
    records : str
        Name of the file with the evaluations, in the same folder as the card.
    sha256 : str, optional
        Checksum of the records file; required with an ``origin``.
    cost, objectives, split
        See :class:`Cost`, :class:`Objective`, :class:`Split`.
    arms : list of str
        Columns that describe the configuration; each has one value per configuration.
    cluster : str, optional
        Column that groups instances, such as the passage that questions are about; it
        has one value per instance. Instances of one cluster are not independent, so
        intervals and decisions count clusters instead of instances.
    smallest_cost : float, optional
        Positive cost that replaces zero, if evaluations are free.
    counts : mapping, optional
        Numbers of flawed evaluations by configuration and kind, such as ``answers cut
        off``. Importers count them.
    n_instances : int, optional
        Number of instances of the benchmark, if the records have fewer, for example
        because a run stopped early.
    attribution : str, optional
        Attribution that the licence requires.
    origin : Origin, optional
        Address of records that are not bundled with the package.

    Examples
    --------
    >>> card = Card(
    ...     name="toy", title="Toy", source="made up", license="CC0-1.0",
    ...     kind="synthetic", records="toy.csv", split={"profiling": 2},
    ...     cost={"column": "usd", "unit": "USD"},
    ...     objectives=[{"name": "accuracy", "column": "ok"}],
    ... )
    >>> card.columns
    ('config', 'instance', 'usd', 'ok')
    """

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", description="use a-z, 0-9, '.', '_' and '-'"
    )
    title: Text = Field(description="describe the table in one line")
    source: Text = Field(description="name the source of the table, with a version")
    license: Text = Field(description="name the licence of the records")
    kind: Literal["measured", "reconstruction", "synthetic"] = Field(
        description="choose measured, reconstruction or synthetic"
    )
    records: str = Field(
        pattern=r"^[^/\\]*\.[^./\\]+$",
        description="name a file with a suffix, without its folder",
    )
    sha256: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="give 64 hexadecimal digits"
    )
    cost: Cost = Field(
        description=(
            "name the column and the unit of the cost: {column: ..., unit: ...}"
        )
    )
    objectives: Objectives = Field(
        description="list at least one: - {name: ..., column: ...}"
    )
    split: Split = Field(
        description=(
            "give the number of profiling instances: {profiling: ..., seed: 0}"
        )
    )
    arms: tuple[str, ...] = Field(
        (), description="list columns that describe a configuration"
    )
    cluster: Text | None = Field(
        None, description="name the column that groups instances"
    )
    smallest_cost: Positive | None = Field(
        None, description="give a positive cost that replaces zero"
    )
    counts: dict[str, dict[str, Annotated[int, Field(ge=1)]]] = Field(
        default_factory=dict,
        description="give numbers of evaluations by configuration and kind",
    )
    n_instances: int | None = Field(
        None, ge=1, description="give the number of instances of the benchmark"
    )
    attribution: str | None = Field(
        None, description="name the people to credit, or leave this field out"
    )
    origin: Origin | None = Field(
        None, description="give url and parser, or leave this field out"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the records must have, without duplicates."""
        measured = (self.cost.column, *(o.column for o in self.objectives))
        shared = () if self.cluster is None else (self.cluster,)
        return tuple(
            dict.fromkeys(("config", "instance", *measured, *self.arms, *shared))
        )

    @field_validator("arms")
    @classmethod
    def _describes(cls, arms: tuple[str, ...]) -> tuple[str, ...]:
        if len({*arms, "config", "instance"}) < len(arms) + 2:
            problem = "a column is listed twice, or is 'config' or 'instance'"
            remedy = "list each column that describes a configuration once"
            raise_fault(None, problem, remedy, "repeated-column")
        return arms

    @model_validator(mode="after")
    def _honest(self) -> Card:
        if self.kind == "reconstruction" and "reconstruct" not in self.title.lower():
            problem = f"the title {self.title!r} hides that this is a reconstruction"
            remedy = "add the word reconstruction to the title"
            raise_fault(None, problem, remedy, "hidden-reconstruction")

        measured = {
            self.cost.column,
            *(objective.column for objective in self.objectives),
        }
        if self.cluster in {"config", "instance", *self.arms, *measured}:
            problem = (
                f"the column {self.cluster!r} is named as cluster, but has another use"
            )
            remedy = "name a different column, which groups instances, as cluster"
            raise_fault(None, problem, remedy, "column-in-use")

        if self.origin and not self.sha256:
            problem = "the card has an origin but no sha256"
            remedy = "add the SHA-256 checksum of the file at that address"
            raise_fault(None, problem, remedy, "missing-checksum")

        return self


def read_card(path: str | Path) -> Card:
    """Read and check a card.

    Parameters
    ----------
    path : str or Path
        The YAML file.

    Returns
    -------
    Card

    Raises
    ------
    TableError
        If the file is missing or not plain YAML, or if a field is missing, unknown or
        wrong. The error lists every fault with its field and a remedy.

    Examples
    --------
    >>> read_card("nowhere.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.yml: there is no such card -> make table and ...
    """
    remedy = (
        "make table and card with cobandit import csv, or write a card (in Python,"
        " a card can also be passed as read(..., card=...))"
    )
    return check_fields(Card, load_yaml(Path(path), "card", remedy), str(path))
