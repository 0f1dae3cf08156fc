"""The configurations of a plan: a grid or a list becomes settings with names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from cobandit.faults import nearest

#: Columns of a table that no setting may take.
RESERVED = ("config", "instance", "failed")

Settings = dict[str, Any]
"""One configuration: its settings by name, plain values."""


def expand(written: Any) -> tuple[Settings, ...]:
    """List the configurations that a plan means.

    Parameters
    ----------
    written : mapping
        ``{"grid": {setting: [value, ...], ...}}``, of which the product is taken, the last setting varying
        fastest; or ``{"list": [{setting: value, ...}, ...]}``.

    Returns
    -------
    tuple of dict
        At least two, all different.

    Raises
    ------
    ValueError
        With problem and remedy.

    Examples
    --------
    >>> expand({"grid": {"model": ["a", "b"], "shots": [0, 2]}})[1]
    {'model': 'a', 'shots': 2}
    >>> expand({"list": [{"model": "a"}, {"model": "b", "shots": 2}]})
    ({'model': 'a'}, {'model': 'b', 'shots': 2})
    """
    example = "write {grid: {model: [a, b], temperature: [0, 1]}} or {list: [{model: a}, {model: b}]}"
    if not isinstance(written, Mapping) or len(written) != 1:
        raise ValueError(
            f"a mapping with either 'grid' or 'list' is needed, not {_short(written)} -> {example}"
        )
    ((kind, content),) = written.items()
    if kind == "grid":
        found = _grid(content, example)
    elif kind == "list":
        found = _list(content, example)
    else:
        raise ValueError(
            f"there is no way {kind!r} to give them -> {nearest(kind, ('grid', 'list'))}{example}"
        )
    if len(found) < 2:
        raise ValueError(f"there is only {len(found)} configuration -> choosing needs two at least")
    twice = [name for name, n in Counter(names_of(found)).items() if n > 1]
    if twice:
        raise ValueError(f"two configurations are {twice[0]!r} -> keep one of them, or let a setting differ")
    return tuple(found)


def _grid(content: Any, example: str) -> list[Settings]:
    if not isinstance(content, Mapping) or not content:
        raise ValueError(f"the grid is {_short(content)}, not settings with their values -> {example}")
    for name, values in content.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise ValueError(
                f"setting {name!r} of the grid is {_short(values)}, not a list of values -> write "
                f"{name}: [...], with one value in it if it does not vary"
            )
    return [_settings(dict(zip(content, each, strict=True))) for each in product(*content.values())]


def _list(content: Any, example: str) -> list[Settings]:
    if not isinstance(content, Sequence) or isinstance(content, str):
        raise ValueError(f"the list is {_short(content)} -> {example}")
    for number, each in enumerate(content, 1):
        if not isinstance(each, Mapping) or not each:
            raise ValueError(
                f"configuration {number} of the list is {_short(each)}, no settings -> {example}"
            )
    return [_settings(dict(each)) for each in content]


def _settings(given: dict[Any, Any]) -> Settings:
    for name, value in given.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"the setting {name!r} has no name -> name settings by text")
        if name in RESERVED:
            raise ValueError(
                f"{name!r} is the name of another column of the table -> call the setting otherwise"
            )
        if value is not None and not isinstance(value, (str, int, float)):
            raise ValueError(
                f"the value {_short(value)} of {name!r} is nested -> give text, a number, true or false"
            )
    return given


def names_of(configurations: Sequence[Settings]) -> tuple[str, ...]:
    """Name configurations: the model first, if there is one, then the settings that differ.

    Examples
    --------
    >>> names_of(expand({"grid": {"model": ["a", "b"], "shots": [2], "temperature": [0, 0.5]}}))[:2]
    ('a temperature=0', 'a temperature=0.5')
    >>> names_of(expand({"grid": {"shots": [0, 2]}}))
    ('shots=0', 'shots=2')
    """
    settings = dict.fromkeys(name for each in configurations for name in each)
    differ = [
        name
        for name in settings
        if name != "model" and len({(type(c.get(name)), c.get(name)) for c in configurations}) > 1
    ]

    def label(each: Settings) -> str:
        model = [str(each["model"])] if "model" in each else []
        return " ".join([*model, *(f"{name}={each[name]}" for name in differ if name in each)])

    return tuple(label(each) or "no settings" for each in configurations)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
