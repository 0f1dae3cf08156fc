"""The first line of a journal, and differences between two nested values."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cobandit._text import ellipsize
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell

#: Format of the lines, which the first one names.
FORMAT = 2


#: Values of options that were added later, for headers without them, where they are not
#: the default.
BEFORE = {"front": "objectives"}


#: Letters of a value in a message, at most.
LONGEST_VALUE = 80


def make_header(policy: AskTell, names: Sequence[str] | None) -> dict[str, Any]:
    """Make the first line of a journal: the policy, its options and names, as JSON gives them back."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != policy.n_arms:
            raise CobanditError(
                f"names: {policy.n_arms} are needed, one per arm, got {len(names)}"
            )

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
    """Add the options that the class did not have when a header was written, with their effect then.

    Examples
    --------
    >>> from cobandit.policies import ParetoRace
    >>> header = add_defaults({"options": {"error": 0.1}}, ParetoRace([1, 1], 1, 10))
    >>> header["options"]["error"], header["options"]["certified"], header["options"]["front"]
    (0.1, False, 'objectives')
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
    there: Any, here: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Find where two nested values differ: the path, and both in words; of a list of ids the first only.

    Examples
    --------
    >>> there, here = {"ids": ["a", "b"], "n": [1]}, {"ids": ["b", "a"], "n": [1, 2]}
    >>> [words for _, words in compare_nested(there, here)]
    ["ids.0 is 'a' there and 'b' here", 'n has 1 entries there and 2 here']
    """
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for key in dict(there) | dict(here):
            yield from compare_nested(there.get(key), here.get(key), (*path, str(key)))
    elif isinstance(there, list) and isinstance(here, list):
        if len(there) != len(here):
            yield (
                path,
                f"{'.'.join(path)} has {len(there)} entries there and {len(here)} here",
            )
            return
        for place, (old, new) in enumerate(zip(there, here, strict=True)):
            yield from compare_nested(old, new, (*path, str(place)))
            if old != new and not isinstance(new, Mapping):
                return
    elif there != here:
        old_text, new_text = (
            ellipsize(repr(value), LONGEST_VALUE) for value in (there, here)
        )
        yield path, f"{'.'.join(path)} is {old_text} there and {new_text} here"


def copy_plain(value: Any, what: str) -> Any:
    """Copy a value as JSON gives it back."""
    try:
        return json.loads(
            json.dumps(value, default=lambda x: np.asarray(x).tolist(), allow_nan=False)
        )
    except (TypeError, ValueError):
        raise CobanditError(
            f"{what} is {value!r}: a journal needs numbers, text or arrays of them (a"
            " seed, not a generator)"
        ) from None
