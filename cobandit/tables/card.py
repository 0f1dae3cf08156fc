"""The dataset card: a YAML file next to the records that says what their columns mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.safe_reading import Fields, Positive, check_fields, load_yaml
from cobandit.tables.transforms import TRANSFORMS

#: Columns of ``EvaluationTable.rows`` that an objective's name must leave alone.
RESERVED = ("config", "instance", "cost", "split")


#: Kinds of evaluations that a card counts per configuration.  A log's own reason for a
#: loss is one, too.
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
    """Which column holds the cost of one evaluation, and in what unit.

    Examples
    --------
    >>> Cost(column="cost_usd", unit="USD").unit
    'USD'
    """

    column: Text = Field(description="name the column that holds the cost")
    unit: Text = Field(
        description="name the unit of the cost, for example tokens or USD"
    )


class Objective(Fields):
    """One objective: its name, its column, and the transform that brings the column into [0, 1].

    ``transform`` is a key of :data:`~cobandit.tables.transforms.TRANSFORMS`; ``low``
    and ``high`` are the percentiles of ``inverse-percentile`` and belong to it alone.
    ``limits`` are the values of the column that score 1 and 0, where these are known
    and not to be taken from the profiling split.

    Examples
    --------
    >>> Objective(name="speed", column="seconds", transform="inverse-percentile").high
    95.0
    """

    name: Text = Field(description="give the objective a short name")
    column: Text = Field(description="name the column that holds the objective")
    transform: str = Field(
        default="none", description="name a transform, or leave it out"
    )
    low: float = Field(
        default=5.0, ge=0, le=100, description="give a percentile from 0 to 100"
    )
    high: float = Field(
        default=95.0, ge=0, le=100, description="give a percentile from 0 to 100"
    )
    limits: tuple[float, float] | None = Field(
        default=None, description="give the values that score 1 and 0"
    )

    @model_validator(mode="after")
    def _usable(self) -> Objective:
        if self.name in RESERVED:
            raise_fault(
                None,
                f"{self.name!r} is the name of another column of the table",
                "choose another name",
            )

        if self.transform not in TRANSFORMS:
            remedy = suggest(
                self.transform, TRANSFORMS, f"choose one of {', '.join(TRANSFORMS)}"
            )
            raise_fault(None, f"there is no transform {self.transform!r}", remedy)

        if self.low >= self.high:
            raise_fault(
                None,
                f"low is {self.low:g} and high is {self.high:g}",
                "make low the smaller one",
            )

        percentiles, limits = (self.low, self.high) != (5, 95), self.limits is not None
        if percentiles and (limits or not TRANSFORMS[self.transform].percentiles):
            problem = (
                f"low and high mean nothing with limits or transform {self.transform}"
            )
            raise_fault(None, problem, "leave them out")

        if limits and self.transform == "none":
            raise_fault(
                None,
                "limits mean nothing without a transform",
                "name one, or leave them out",
            )

        return self


def _check_names(objectives: tuple[Objective, ...]) -> tuple[Objective, ...]:
    names = [objective.name for objective in objectives]
    if not 0 < len(set(names)) == len(names):
        problem = "there is no objective, or two have the same name"
        raise_fault(
            None,
            problem,
            "list at least one, each of its own name: - {name: ..., column: ...}",
        )
    return objectives


#: One objective or several, of different names.
Objectives = Annotated[tuple[Objective, ...], AfterValidator(_check_names)]


class Split(Fields):
    """How many instances are for profiling, and the seed of the permutation that chooses them.

    ``instances`` names them where they were chosen before the table was made, as the
    pilot of a run is: a permutation of whatever else the run evaluated would choose
    others.

    Examples
    --------
    >>> Split(profiling=100).seed, Split(profiling=2, instances=["q7", "q3"]).instances
    (0, ('q7', 'q3'))
    """

    profiling: int = Field(
        ge=2, description="give the number of profiling instances, at least 2"
    )
    seed: int = Field(0, ge=0, description="give a seed, an integer from 0")
    instances: tuple[str, ...] | None = Field(
        None, description="name the profiling instances, as text"
    )


class Origin(Fields):
    """Where records that are not bundled come from, and which parser reads them.

    Examples
    --------
    >>> Origin(url="https://example.org/board.json", parser="swebench-bash-only").parser
    'swebench-bash-only'
    """

    url: str = Field(
        pattern=r"^https?://", description="give the http(s) address of the records"
    )
    parser: Literal["tidy", "swebench-bash-only"] = Field(
        "tidy", description="name the records' parser"
    )


class Card(Fields):
    """Description of an evaluation table and the meaning of its columns.

    Parameters
    ----------
    name, title, source, license : str
        Identity, origin (with a version) and terms of use. The title of a
        reconstruction has to say so.
    kind : {"measured", "reconstruction", "synthetic"}
        Where the numbers come from.
    records : str
        File name of the records, in the card's own directory.
    sha256 : str, optional
        Checksum of the records file; required where an ``origin`` is given.
    cost, objectives, split
        See :class:`Cost`, :class:`Objective`, :class:`Split`.
    arms : list of str
        Columns that describe the configuration and are constant within it.
    cluster : str, optional
        Column of what instances have in common, such as the passage that questions are
        about, and that is constant within an instance.  Instances of one cluster are no
        independent draws: intervals and what is settled then count clusters.
    smallest_cost : float, optional
        What an evaluation that cost nothing counts as, where an import gave such a
        cost.
    counts : mapping, optional
        By configuration, evaluations that an import counted because something is the
        matter with them, such as ``answers cut off``.
    n_instances : int, optional
        How many instances the benchmark has, where the records have fewer, as of a run
        that stopped.
    attribution : str, optional
        Whom to credit, as the licence asks.
    origin : Origin, optional
        Where to fetch records that are not bundled.

    Examples
    --------
    >>> card = Card(
    ...     name="toy", title="Toy", source="made up", license="CC0-1.0", kind="synthetic", records="toy.csv",
    ...     cost={"column": "usd", "unit": "USD"}, objectives=[{"name": "accuracy", "column": "ok"}],
    ...     split={"profiling": 2},
    ... )
    >>> card.columns
    ('config', 'instance', 'usd', 'ok')
    """

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", description="use a-z, 0-9, '.', '_' and '-'"
    )
    title: Text = Field(description="say in one line what the table holds")
    source: Text = Field(description="say where the table comes from, with a version")
    license: Text = Field(description="name the licence of the records")
    kind: Literal["measured", "reconstruction", "synthetic"] = Field(
        description="choose one of these"
    )
    records: str = Field(
        pattern=r"^[^/\\]*\.[^./\\]+$", description="name a file without a directory"
    )
    sha256: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="give 64 hexadecimal digits"
    )
    cost: Cost = Field(
        description=(
            "say which column holds the cost and its unit: {column: ..., unit: ...}"
        )
    )
    objectives: Objectives = Field(
        description="list at least one: - {name: ..., column: ...}"
    )
    split: Split = Field(
        description=(
            "say how many instances are for profiling: {profiling: ..., seed: 0}"
        )
    )
    arms: tuple[str, ...] = Field(
        (), description="list columns that describe a configuration"
    )
    cluster: Text | None = Field(
        None, description="name the column of what instances have in common"
    )
    smallest_cost: Positive | None = Field(
        None, description="give what a free evaluation counts as"
    )
    counts: dict[str, dict[str, Annotated[int, Field(ge=1)]]] = Field(
        default_factory=dict,
        description="give, by configuration, how many evaluations were what",
    )
    n_instances: int | None = Field(
        None, ge=1, description="say how many instances the benchmark has"
    )
    attribution: str | None = Field(
        None, description="say whom to credit, or leave it out"
    )
    origin: Origin | None = Field(
        None, description="give url and parser, or leave it out"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the records need to have, each once."""
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
            raise_fault(
                None, problem, "list each column that describes a configuration once"
            )
        return arms

    @model_validator(mode="after")
    def _honest(self) -> Card:
        if self.kind == "reconstruction" and "reconstruct" not in self.title.lower():
            raise_fault(
                None,
                f"{self.title!r} hides that this is a reconstruction",
                "say so in the title",
            )

        measured = {
            self.cost.column,
            *(objective.column for objective in self.objectives),
        }
        if self.cluster in {"config", "instance", *self.arms, *measured}:
            problem = f"the cluster {self.cluster!r} is a column of another kind"
            raise_fault(
                None, problem, "name a column that says what instances have in common"
            )

        if self.origin and not self.sha256:
            raise_fault(
                None,
                "records with an origin need a sha256",
                "add the sum of the file at that address",
            )

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
        If the file is missing, is not YAML (or deep, with aliases, or large, as no card
        is), or a field is missing, unknown or wrong; every fault is listed with its
        field and what to do.

    Examples
    --------
    >>> read_card("nowhere.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.yml: there is no such card -> make table and card ...
    """
    remedy = (
        "make table and card with cobandit import csv, or write a card (in Python also"
        " read(card=...))"
    )
    return check_fields(Card, load_yaml(Path(path), "card", remedy), str(path))
