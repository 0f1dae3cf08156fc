"""Options of importers; each field of a class is an option of a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cobandit.errors import raise_fault
from cobandit.tables.card import Cost
from cobandit.tables.checked_json import Positive
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.prices import Prices, read_prices


def as_list(value: Any) -> Any:
    """Return a single value as a list, None as an empty list, and a list unchanged."""
    return (
        value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    )


#: One name or several.
Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Options(BaseModel):
    """Options of every importer.

    The description of a field is the help of the option.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    scale: Positive = Field(
        1.0,
        description=(
            "Divide every score by this number, such as 10 if a judge gives 0 to 10."
        ),
    )
    smallest_cost: Positive | None = Field(
        None,
        description=(
            "The cost that replaces zero (default: 1 for whole numbers, otherwise a"
            " thousandth of the median cost)."
        ),
    )


class ScoreOptions(Options):
    """Options on reading scores as numbers."""

    range: Names = Field(
        (),
        description=(
            "The range of an objective's scores (larger is better), as"
            " NAME=LOW:HIGH; repeatable."
        ),
    )
    no_score: Names = Field(
        (),
        description=(
            "A value that marks a missing score, such as -1, or NAME=VALUE for one"
            " objective; repeatable."
        ),
    )
    word: Names = Field(
        (),
        description=(
            "The number for a score that is a word, as WORD=NUMBER; repeatable."
        ),
    )
    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "leave-out",
        description=(
            "Treatment of evaluations without a score: they are left out, count as 0,"
            " or are an error."
        ),
    )


class CostOptions(Options):
    """Options on evaluations whose cost was not measured."""

    unmeasured: Literal["leave-out", "mean"] = Field(
        "leave-out",
        description=(
            "Treatment of evaluations without a measured cost, such as answers from a"
            " cache: they are left out, or cost the mean of their configuration."
        ),
    )


class LogOptions(ScoreOptions, CostOptions):
    """Options of every importer of evaluation logs."""

    metric: Names = Field(
        (),
        description=(
            "The score to use as accuracy; repeatable, for several objectives or for"
            " one score per task."
        ),
    )
    task: tuple[str, ...] = Field(
        (),
        description="The task to import, or a pattern such as 'mmlu_*'; repeatable.",
    )
    compare_tasks: bool = Field(
        False,
        description=(
            "Treat the tasks as variants of one task, such as different prompts. The"
            " name of the variant is then part of the configuration."
        ),
    )
    by: tuple[str, ...] = Field(
        (),
        description=(
            "A setting that defines a configuration, together with the model;"
            " repeatable (default: all settings that differ)."
        ),
    )
    count: Literal["generated", "all"] = Field(
        "generated",
        description=(
            "Tokens that count as cost: generated tokens, or all tokens including"
            " the prompt."
        ),
    )
    where: str | None = Field(
        None,
        description=(
            "Import only samples that satisfy this condition on settings, scores,"
            " seconds and fields of samples, such as \"difficulty == 'hard'\"."
        ),
    )
    cluster: str | None = Field(
        None,
        description=(
            "A field of samples that groups instances, such as the passage that"
            " questions are about. Decisions then treat groups, not instances, as"
            " independent."
        ),
    )
    cost: Literal["tokens", "usd", "seconds", "none"] = Field(
        "tokens",
        description=(
            "The cost: tokens; usd, as logged or by current prices; seconds, the"
            " time of --latency; or none, so that every evaluation costs 1."
        ),
    )
    prices: Path | None = Field(
        None,
        description=(
            "For --cost usd: a YAML file of prices in USD per million tokens, which"
            " take precedence over known prices."
        ),
    )

    @property
    def charged(self) -> Cost:
        """The column of the cost, and its unit."""
        column, unit = {
            "tokens": ("tokens", "tokens"),
            "usd": ("cost_usd", "USD"),
            "seconds": ("cost_seconds", "seconds"),
            "none": ("cost", "evaluations"),
        }[self.cost]
        return Cost(column=column, unit=unit)

    def identify(self, latency: str) -> dict[str, str]:
        """Return the cost and time options that imports into one table must share."""
        return {
            "cost": self.count if self.cost == "tokens" else self.cost,
            "latency": latency,
        }

    def note_unpriced(self, models: Iterable[str], notes: Notes) -> None:
        """Report models without a price, whose evaluations therefore have no cost."""
        if names := sorted(set(models)):
            remedy = "give the price with --prices, or count tokens with --cost tokens"
            notes.logs.append(f"{', '.join(names)}: the price is unknown -> {remedy}")

    def known_prices(self) -> Prices:
        """Return the known prices; prices in the user's file take precedence."""
        if self.prices and self.cost != "usd":
            problem = f"--prices has no effect with --cost {self.cost}"
            raise_fault(
                "--prices",
                problem,
                "add --cost usd, or leave --prices out",
                "needless-prices",
            )
        return read_prices(self.prices)


class RepeatOptions(Options):
    """Options of importers of logs with repeated evaluations of an instance."""

    repeats: Literal["mean", "separate"] = Field(
        "mean",
        description=(
            "Treatment of repeated evaluations of an instance (epochs, trials): they"
            " are averaged, or each counts as an instance."
        ),
    )
