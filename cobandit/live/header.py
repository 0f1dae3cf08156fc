"""What identifies a run: the first line of its journal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell

#: Of the lines; part of the first one.
FORMAT = 2


def header_of(policy: AskTell, names: Sequence[str] | None) -> dict[str, Any]:
    """Return what identifies a run, as it looks after a way through JSON."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != policy.n_arms:
            raise CobanditError(f"names: {policy.n_arms} are needed, one an arm, got {len(names)}")
    options = {name: plain(value, f"option {name}") for name, value in policy.options.items()}
    return {"journal": FORMAT, "policy": type(policy).__qualname__, "names": names, "options": options}


def differences(written: dict[str, Any], header: dict[str, Any]) -> list[str]:
    """In what the run of a file differs from that of a policy, option by option."""
    there, here = (head | head.get("options", {}) | {"options": None} for head in (written, header))
    return [
        f"{key} is {there.get(key)!r} there and {here.get(key)!r} here"
        for key in here | there
        if there.get(key) != here.get(key)
    ]


def plain(value: Any, what: str) -> Any:
    """A value as JSON gives it back."""
    try:
        return json.loads(json.dumps(value, default=lambda x: np.asarray(x).tolist(), allow_nan=False))
    except (TypeError, ValueError):
        raise CobanditError(
            f"{what} is {value!r}: a journal needs numbers, text or arrays of them (a seed, not a generator)"
        ) from None
