"""The configurations of a plan: a grid of settings, or a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_serializer, model_validator

from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import ADDRESS_SETTINGS
from cobandit.live.evaluators.rows import quote_value
from cobandit.tables.checked_fields import Fields

#: Columns of every table; a setting cannot have one of these names.
TABLE_COLUMNS = ("config", "instance", "failed")


def _check_value(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, int, float)):
        problem = f"the value {quote_value(value)} of a setting is nested"
        raise_fault(None, problem, "give text, a number, true or false", "nested-value")
    return value


#: Remedy with the two forms of configurations.
WRITE = (
    "write {grid: {model: [a, b], temperature: [0, 1]}} or {list: [{model: a}, {model:"
    " b}]}"
)
SettingName = Annotated[str, Field(pattern=r"\S")]
Value = Annotated[Any, BeforeValidator(_check_value)]
#: A configuration: plain values of its settings, by name.
Settings = dict[SettingName, Value]


class Configurations(Fields):
    """Configurations of a plan: a grid of settings, or a list.

    The last setting of a grid varies fastest.

    Examples
    --------
    >>> grid = {"model": ["a", "b"], "shots": [2], "heat": [0, 0.5]}
    >>> configurations = Configurations(grid=grid)
    >>> configurations.all[1], configurations.names[:2]
    ({'model': 'a', 'shots': 2, 'heat': 0.5}, ('a heat=0', 'a heat=0.5'))
    >>> Configurations(grid={"shots": [0, 2]}).names
    ('shots=0', 'shots=2')
    """

    grid: dict[SettingName, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(
        {}, description=WRITE
    )
    list: tuple[Annotated[Settings, Field(min_length=1)], ...] = Field(
        (), description=WRITE
    )

    @cached_property
    def all(self) -> tuple[Settings, ...]:
        """All configurations, in the plan's order: arm i is at position i."""
        combinations = product(*self.grid.values())
        return self.list or tuple(
            dict(zip(self.grid, values, strict=True)) for values in combinations
        )

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple(dict.fromkeys(name for settings in self.all for name in settings))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the configurations: the model, then the settings that differ."""
        differing = [
            name for name in self.settings if name != "model" and self._differs(name)
        ]
        # the address is part of a name only if nothing else distinguishes
        # configurations
        short = [name for name in differing if name not in ADDRESS_SETTINGS]
        names = tuple(self._label(settings, short) for settings in self.all)
        if len(set(names)) == len(names):
            return names
        return tuple(self._label(settings, differing) for settings in self.all)

    def _differs(self, name: str) -> bool:
        """Whether a setting has several values; 1, 1.0 and true are different."""
        values = [settings.get(name) for settings in self.all]
        return len({(type(value), value) for value in values}) > 1

    def _label(self, settings: Settings, names: Sequence[str]) -> str:
        """Name a configuration by its model and some of its settings."""
        model = [str(settings["model"])] if "model" in settings else []
        others = [f"{name}={settings[name]}" for name in names if name in settings]
        return " ".join([*model, *others]) or "no settings"

    @model_validator(mode="before")
    @classmethod
    def _take_list(cls, written: Any) -> Any:
        # the plan in a run folder is written as a list
        is_list = isinstance(written, Sequence) and not isinstance(written, str)
        return {"list": written} if is_list else written

    @model_validator(mode="after")
    def _differ(self) -> Configurations:
        if bool(self.grid) == bool(self.list):
            problem = "configurations must be either a grid or a list"
            raise_fault(None, problem, WRITE, "grid-or-list")

        if len(self.all) < 2:
            problem = "there is only one configuration"
            raise_fault(
                None, problem, "give at least two configurations", "one-configuration"
            )

        twice = [name for name, number in Counter(self.names).items() if number > 1]
        if twice:
            problem = f"two configurations have the name {twice[0]!r}"
            remedy = "remove one of them, or change one of its settings"
            raise_fault(None, problem, remedy, "equal-configurations")

        return self

    @model_serializer
    def _dump(self) -> list[Settings]:  # type: ignore[valid-type]
        return [dict(settings) for settings in self.all]
