"""What the printed numbers say about each other: derived numbers, contradictions, constants of the theory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import inf, log
from typing import Any

import pandas as pd

from cobandit import theory
from cobandit.companion.paper.numbers import Published, published

#: How the paper derives one number from two: of the method's value and that of the method it is held against.
#: Each is monotone in both, so that over two intervals it is extreme at their ends.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda value, against: value - against,
    "ratio": lambda value, against: value / against,
    "relative_gain": lambda value, against: value / against - 1,
    "relative_reduction": lambda value, against: 1 - value / against,
}

#: Slack of comparisons between sums of decimals.
TINY = 1e-12


def _ends(number: Published) -> tuple[float, float]:
    return number.value - number.half_unit, number.value + number.half_unit


def arithmetic() -> pd.DataFrame:
    """Recompute what the paper derives from its own numbers, as far as their rounding allows.

    Returns
    -------
    DataFrame
        One row per arithmetic entry: ``key``, ``place``, ``printed``, ``operation``, ``inputs`` (keys),
        ``value``; ``computed`` from the inputs as printed; ``low`` and ``high``, between which it lies
        whatever the inputs were before they were rounded; ``inside``, whether the printed value, which is
        rounded too, can come from there; ``direct``, whether ``computed`` rounds to what is printed.

    Examples
    --------
    >>> table = arithmetic().set_index("printed")
    >>> table.loc["83.2%", ["low", "high"]].astype(float).round(5).tolist()
    [0.8321, 0.8321]
    >>> bool(table.loc["83.2%", "inside"])
    True
    """
    numbers = {number.key: number for number in published()}
    rows = []
    for number in published():
        if number.operation is None:
            continue
        operation, inputs = OPERATIONS[number.operation], [numbers[key] for key in number.inputs]
        corners = [operation(*corner) for corner in product(*map(_ends, inputs))]
        computed = operation(inputs[0].value, inputs[1].value)
        low, high = _ends(number)
        rows.append(
            {
                "key": number.key,
                "place": number.place,
                "printed": number.printed,
                "operation": number.operation,
                "inputs": number.inputs,
                "value": number.value,
                "computed": computed,
                "low": min(corners),
                "high": max(corners),
                "inside": min(corners) <= high + TINY and max(corners) >= low - TINY,
                "direct": low - TINY <= computed <= high + TINY,
            }
        )
    return pd.DataFrame(rows)


def inconsistencies() -> pd.DataFrame:
    """Pairs of printed numbers that are about the same thing and differ by more than rounding.

    Returns
    -------
    DataFrame
        ``first`` and ``second`` (keys), their ``places`` and ``printed`` values (pairs), ``difference``
        (second minus first), ``relative`` (to the first) and ``rounding``, the most that rounding explains.

    Examples
    --------
    >>> table = inconsistencies()
    >>> ("1097.75", "1149.32") in set(table["printed"])
    True
    """
    rows = []
    for first, second in combinations(published(), 2):
        rounding = first.half_unit + second.half_unit
        difference = second.value - first.value
        if first.coordinates == second.coordinates and abs(difference) > rounding + TINY:
            rows.append(
                {
                    "first": first.key,
                    "second": second.key,
                    "places": (first.place, second.place),
                    "printed": (first.printed, second.printed),
                    "difference": difference,
                    "relative": difference / first.value,
                    "rounding": rounding,
                }
            )
    columns = ["first", "second", "places", "printed", "difference", "relative", "rounding"]
    return pd.DataFrame(rows, columns=columns)


def theory_values() -> dict[str, float]:
    """Read the constants of the theorems back out of `cobandit.theory`.

    Returns
    -------
    dict
        By the ``quantity`` of the numbers whose experiment is ``"theory"``; those that no bound contains (the
        conditions and the constants inside proofs) are absent.

    Examples
    --------
    >>> round(theory_values()["error_bound_divisor"], 6)
    256.0
    """
    case: dict[str, Any] = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 0.5}
    online = case | {"budget": 99.0}
    constant, pulls = theory.index_constant(2, 0.5), theory.horizon(99.0, 0.5)

    leading = theory.pull_bound(1e-6, **online, alpha=2.0) / (2 * constant**2 * log(pulls) / 1e-12)
    failure = theory.failure_probability(**online, alpha=2.0) / (3 * 3 * float(pulls) ** -3)
    # with a gap so large, and alpha = 1, the bound is 1 + 1 and the term of the failures
    failures = theory.pull_bound(1e9, **online, alpha=1.0) - 2

    without = theory.identification_error_bound(1.0, **case, complexity=inf)
    error = theory.identification_error_bound(1e3, **case, complexity=1.0)
    fluid: dict[str, Any] = {"n_objectives": 2, "cost_ratio": 0.5, "budget": 99.0}
    gaps, unit_costs = [0.0, 0.5], [1.0, 1.0]
    standard = theory.standard_regret_bound(gaps, unit_costs, 1.0, **fluid)
    efficiency = theory.efficiency_regret_bound(gaps, **fluid)
    return {
        "index_constant_reward": theory.index_constant(2, 1.0) - theory.index_constant(1, 1.0),
        "index_constant_cost": 2 * theory.index_constant(1, 1.0) - theory.index_constant(2, 1.0),
        "pull_bound_leading": leading,
        "pull_bound_failure": failure,
        "pull_bound_exponent": log(failures / (failure * 3 * 3)) / log(pulls) + 2,
        "error_bound_leading": without / (3**2 * 2),
        "error_bound_divisor": -1e3 / (theory.allocation_constant(3, 0.5) * log(error / without)),
        "standard_regret_extra": standard - efficiency,
    }
