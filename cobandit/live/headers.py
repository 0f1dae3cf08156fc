"""The first line of a journal (its header), and comparison of nested values."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cobandit._text import ellipsize
from cobandit.errors import raise_fault
from cobandit.policies.asktell import AskTell

#: Version of the journal's format, stored in its first line.
FORMAT = 2

#: Options that old journals lack, with the values that describe the behaviour of
#: policies before these options existed. Only options with a different default are
#: listed.
BEFORE = {"front": "objectives"}

#: Largest number of characters of a value in a message.
LONGEST_VALUE = 80


def make_header(policy: AskTell, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the first line of a journal: the policy, its options and the arms' names.

    All values are unchanged by writing and reading them as JSON.
    """
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != policy.n_arms:
            problem = f"there are {len(names)} names for {policy.n_arms} arms"
            raise_fault("names", problem, "give one name per arm", "wrong-shape")

    values = policy.options
    if values.get("budget") == np.inf:  # JSON has no infinity
        values["budget"] = None
    options = {
        name: copy_plain(value, f"option {name}") for name, value in values.items()
    }
    return {
        "journal": FORMAT,
        "policy": type(policy).__qualname__,
        "names": names,
        "options": options,
    }


def add_defaults(header: dict[str, Any], policy: AskTell) -> dict[str, Any]:
    """Add options that did not exist yet when a journal's header was written.

    The added values describe the behaviour of the policy at that time.

    Examples
    --------
    >>> from cobandit.policies import ParetoRace
    >>> header = add_defaults({"options": {"error": 0.1}}, ParetoRace([1, 1], 1, 10))
    >>> [header["options"][name] for name in ("error", "certified", "front")]
    [0.1, False, 'objectives']
    """
    parameters = inspect.signature(type(policy)).parameters.values()
    defaults = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not parameter.empty
    }
    defaults |= {name: value for name, value in BEFORE.items() if name in defaults}
    return header | {"options": defaults | header.get("options", {})}


def compare_nested(
    old: Any, new: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and a description of each difference between two nested values.

    In a description, "there" is the old value and "here" the new one. Only the first
    difference within a list is reported.

    Examples
    --------
    >>> old, new = {"ids": ["a", "b"], "n": [1]}, {"ids": ["b", "a"], "n": [1, 2]}
    >>> [words for _, words in compare_nested(old, new)]
    ["ids.0 is 'a' there, but 'b' here", 'n has 1 entries there, but 2 here']
    """
    name = ".".join(path)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict(old) | dict(new):
            yield from compare_nested(old.get(key), new.get(key), (*path, str(key)))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield path, f"{name} has {len(old)} entries there, but {len(new)} here"
            return
        for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
            yield from compare_nested(old_item, new_item, (*path, str(index)))
            if old_item != new_item and not isinstance(new_item, Mapping):
                return
    elif old != new:
        old_text = ellipsize(repr(old), LONGEST_VALUE)
        new_text = ellipsize(repr(new), LONGEST_VALUE)
        yield path, f"{name} is {old_text} there, but {new_text} here"


def copy_plain(value: Any, name: str) -> Any:
    """Return a value as JSON stores it, with arrays as lists; raise if JSON cannot."""
    try:
        return json.loads(
            json.dumps(value, default=lambda x: np.asarray(x).tolist(), allow_nan=False)
        )
    except (TypeError, ValueError):
        problem = f"{name} is {value!r}, which a journal cannot store"
        remedy = "give numbers, text or arrays of them (a seed, not a generator)"
        raise_fault("the journal", problem, remedy, "not-plain")
