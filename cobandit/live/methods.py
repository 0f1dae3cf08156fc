"""The method that a plan names, and the policy that it makes of what the pilot found."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from cobandit.errors import CobanditError
from cobandit.faults import stop, suggest
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.registry import SUPPLIED, Policy, get_kind, list_methods


def find(written: Any) -> tuple[str, dict[str, Any]]:
    """Read a method as a plan has it, ``NAME`` or ``{NAME: {option: value}}``, and check its options.

    Raises
    ------
    TableError
        With problem and remedy.

    Examples
    --------
    >>> find({"CoPSIOnce": {"confidence": 0.95}})
    ('CoPSIOnce', {'confidence': 0.95})
    >>> find("CoPSIOnse")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: there is no method 'CoPSIOnse' -> did you mean 'CoPSIOnce'? ...
    """
    if isinstance(written, str):
        written = {written: {}}
    if not isinstance(written, Mapping) or len(written) != 1:
        stop(None, f"{written!r} is no method", "write CoPSIOnce, or {CoPSIOnce: {confidence: 0.95}}")
    ((name, options),) = written.items()
    methods = list_methods()
    if name not in methods:
        remedy = suggest(name, sorted(methods))
        stop(None, f"there is no method {name!r}", remedy)
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        stop(None, f"the options of {name} are {options!r}", "write them as a mapping")
    takes = sorted(set(inspect.signature(methods[name]).parameters) - SUPPLIED)
    for option in options:
        if option not in takes:
            remedy = suggest(option, takes, f"it has {', '.join(takes) or 'none'}")
            stop(None, f"{name} has no option {option!r} that a plan can set", remedy)
    try:  # whether the values are right, only the class knows; costs are above any smallest cost
        make(
            methods[name], dict(options), costs=[1e9, 1e9], cost_range=(1e9, 1e9), budget=1e15, n_objectives=2
        )
    except CobanditError as error:
        stop(None, f"{name} refuses its options: {error}", "correct them")
    return str(name), dict(options)


def make(
    method: type[Policy],
    options: Mapping[str, Any],
    *,
    costs: Sequence[float],
    cost_range: tuple[float, float],
    budget: float | None,
    n_objectives: int,
    n_instances: int = 2,
    largest_costs: Sequence[float] | None = None,
) -> Policy:
    """Make a fresh policy from what a pilot found; costs and budget are in the unit of the run.

    Examples
    --------
    >>> CoPSI = list_methods()["CoPSI"]
    >>> make(CoPSI, {}, costs=[1.0, 2.0], cost_range=(0.5, 3.0), budget=20.0, n_objectives=2)
    CoPSI(2 arms, 2 objectives, spent 0 of 20 in 0 pulls)
    """
    given = dict(options)
    if issubclass(method, OnlinePolicy):
        assert budget is not None  # only a race stops by itself
        low, high = min(cost_range[0], *costs), max(cost_range[1], *(largest_costs or costs))
        # what an evaluation may cost, not its mean, has to fit into what is left: the last is paid, too
        given |= {"cost_range": (low, high), "expected_costs": largest_costs or [high] * len(costs)}
        return method(len(costs), n_objectives, budget, **given)
    if largest_costs is not None:
        given["largest_costs"] = largest_costs
    if get_kind(method) == "once":
        given["n_instances"] = n_instances
    given["budget"] = budget  # None for a race alone
    return method(costs=costs, n_objectives=n_objectives, **given)
