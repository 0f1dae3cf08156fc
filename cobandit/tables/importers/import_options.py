"""Options of importers: each field is an option of the command."""

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
    """Return one value, several or none as a list."""
    return (
        value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    )


#: One name or several.
Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Options(BaseModel):
    """Options of every importer; descriptions of fields are the command's help."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    scale: Positive = Field(
        1.0, description="Divide every score by this: 10 for a judge's 0 to 10."
    )
    smallest_cost: Positive | None = Field(
        None,
        description=(
            "What a free evaluation counts as (default: 1, or a thousandth of the"
            " median)."
        ),
    )


class ScoreOptions(Options):
    """Options on reading scores as numbers."""

    range: Names = Field(
        (),
        description=(
            "The range of an objective's scores, larger being better: NAME=LOW:HIGH;"
            " repeat."
        ),
    )
    no_score: Names = Field(
        (),
        description=(
            "A value that means no score, such as -1, or NAME=VALUE for one objective;"
            " repeat."
        ),
    )
    word: Names = Field(
        (), description="The number of a score that is a word: WORD=NUMBER; repeat."
    )
    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "leave-out",
        description="Evaluations without a score: left out, counted as 0, or an error.",
    )


class CostOptions(Options):
    """Options on evaluations whose cost was not measured."""

    unmeasured: Literal["leave-out", "mean"] = Field(
        "leave-out",
        description=(
            "Evaluations whose cost was not measured, such as answers from a cache:"
            " left out, or the mean of the configuration's own other ones."
        ),
    )


class LogOptions(ScoreOptions, CostOptions):
    """Options of every importer of evaluation logs."""

    metric: Names = Field(
        (),
        description=(
            "The score that is the accuracy; repeat for several objectives, or one a"
            " task."
        ),
    )
    task: tuple[str, ...] = Field(
        (),
        description=(
            "The task to take, or a pattern such as 'mmlu_*'; repeat to take several."
        ),
    )
    compare_tasks: bool = Field(
        False,
        description=(
            "The tasks are variants of one (say, prompts): they are part of the"
            " configuration."
        ),
    )
    by: tuple[str, ...] = Field(
        (),
        description=(
            "A setting that, with the model, makes a configuration (default: all that"
            " differ)."
        ),
    )
    count: Literal["generated", "all"] = Field(
        "generated",
        description="Tokens that cost: those generated, or all, with the prompt's.",
    )
    where: str | None = Field(
        None,
        description=(
            "Take only samples that fulfil this, such as \"difficulty == 'hard'\": a"
            " condition on settings, scores, seconds and fields of samples."
        ),
    )
    cluster: str | None = Field(
        None,
        description=(
            "A field of samples that says what instances have in common, such as a"
            " passage that questions are about: what is settled then counts its values."
        ),
    )
    cost: Literal["tokens", "usd", "seconds", "none"] = Field(
        "tokens",
        description=(
            "Cost: tokens; money (usd), as it was logged or by prices of today; the"
            " seconds of --latency; or none, so that every evaluation costs 1."
        ),
    )
    prices: Path | None = Field(
        None,
        description=(
            "For --cost usd: a file of USD per million tokens, before known prices."
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
        """Return the choices that distinguish imports with these options."""
        return {
            "cost": self.count if self.cost == "tokens" else self.cost,
            "latency": latency,
        }

    def note_unpriced(self, models: Iterable[str], notes: Notes) -> None:
        """Report models without a price, whose evaluations therefore have no cost."""
        if names := sorted(set(models)):
            remedy = "give it with --prices, or count tokens with --cost tokens"
            notes.logs.append(f"{', '.join(names)}: no price is known -> {remedy}")

    def known_prices(self) -> Prices:
        """Read the file of prices, which take precedence over known prices."""
        if self.prices and self.cost != "usd":
            problem = f"prices mean nothing where the cost is {self.cost}"
            raise_fault(
                "--prices",
                problem,
                "add --cost usd, or leave it out",
                "needless-prices",
            )
        return read_prices(self.prices)


class RepeatOptions(Options):
    """Options of importers of logs with repeated evaluations of an instance."""

    repeats: Literal["mean", "separate"] = Field(
        "mean",
        description=(
            "Repeats of an instance (epochs, trials): their mean, or each an instance"
            " itself."
        ),
    )
