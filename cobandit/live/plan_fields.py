"""Parts of a plan: methods and evaluators by name, and `ParetoRace`'s stopping rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from cobandit.errors import CobanditError, raise_fault
from cobandit.policies.cost_comparison import read_cost_tolerance
from cobandit.tables.checked_fields import Fields

#: The default method.
RACE = "ParetoRace"

#: Unit of a budget that is a share of the cost of evaluating everything.
SHARE_UNIT = "share"

#: Costs that a plan may write by a short name.
COSTS = {
    "usd": {"column": "cost_usd", "unit": "USD"},
    "tokens": {"column": "tokens", "unit": "tokens"},
    "seconds": {"column": "seconds", "unit": "seconds"},
}


class Named(Fields):
    """A method or an evaluator, written ``NAME`` or ``{NAME: {option: value}}``.

    Examples
    --------
    >>> Named.model_validate({"CoPSIOnce": {"confidence": 0.95}})
    Named(name='CoPSIOnce', options={'confidence': 0.95})
    """

    name: str
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: Any) -> Any:
        if isinstance(written, str):
            return {"name": written}
        if not isinstance(written, Mapping) or len(written) != 1 or "name" in written:
            return written  # the plan in a run folder is written in this form
        ((name, options),) = written.items()
        return {"name": name, "options": {} if options is None else options}


class Stop(Fields):
    """Stopping rule of `ParetoRace`: the front is decided within a tolerance.

    A run of `cobandit.ParetoRace` is called a race. When a race stops, it states the
    following:

    * Every configuration that is not returned is at most the tolerance better than some
      returned configuration, in each objective and in cost.
    * No returned configuration is dominated by another returned one by more than the
      tolerance, or by any configuration by more than twice the tolerance.

    The error is the largest share of runs in which a statement may be wrong. For a
    certified race, which takes longer, this limit is proved for any table. Otherwise,
    the limit was only tested on tables.

    Examples
    --------
    >>> stop = Stop(tolerance=0.02, cost="10%")
    >>> stop.error, stop.options["cost_tolerance"]
    (0.05, '10%')
    """

    tolerance: float | tuple[float, ...] = Field(
        0.0, description="give one number, or a number per objective"
    )
    error: float = Field(
        0.05, gt=0, lt=1, description="give the share of runs that may be wrong"
    )
    certified: bool | None = Field(None, description="write true, or leave it out")
    cost: float | str | None = Field(
        None,
        description="write a share such as '10%', or an amount in the unit of the cost",
    )
    front: Literal["objectives and cost", "objectives"] | None = Field(
        None,
        description="write objectives to ignore the cost, or leave it out",
    )

    @field_validator("cost")
    @classmethod
    def _check_cost(cls, written: float | str | None) -> float | str | None:
        if written is not None:
            try:
                read_cost_tolerance(written)
            except CobanditError:
                problem = f"{written!r} is not a valid tolerance of the cost"
                remedy = "write a share such as '10%', or an amount in the cost's unit"
                raise_fault(None, problem, remedy, "bad-tolerance")
        return written

    @property
    def options(self) -> dict[str, Any]:
        """The rule as options of `cobandit.ParetoRace`."""
        options = self.model_dump(mode="json", exclude_none=True)
        if "cost" in options:
            options["cost_tolerance"] = options.pop("cost")
        return options
