"""Consequences of the printed numbers: derived numbers, contradictions, constants."""

from collections.abc import Callable
from itertools import combinations, pairwise, product
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit import theory
from companion.paper.numbers import Published, published

#: Operations by which the paper derives a number from a method's value and the value of
#: the method it is compared with. Each is monotone in both, so that over two intervals
#: its extremes are at the ends.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda value, against: value - against,
    "ratio": lambda value, against: value / against,
    "relative_gain": lambda value, against: value / against - 1,
    "relative_reduction": lambda value, against: 1 - value / against,
}

#: Tolerance of comparisons between sums of decimals.
TINY = 1e-12


class DerivedValue(NamedTuple):
    """A mean, or a printed number, with its interval."""

    mean: float
    low: float
    high: float


#: Results of the two comparing operations on equal numbers.
EQUAL = {
    "difference": DerivedValue(0.0, 0.0, 0.0),
    "ratio": DerivedValue(1.0, 1.0, 1.0),
}


def derive(operation: str, first: DerivedValue, second: DerivedValue) -> DerivedValue:
    """Derive a number from two numbers, with the range that their intervals allow.

    The two numbers may depend on each other in any way. A quotient of zeros bounds
    nothing.
    """
    ends = [(first.mean, second.mean), *product(first[1:], second[1:])]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, *corners = (
            float(OPERATIONS[operation](*np.array(pair))) for pair in ends
        )
    return DerivedValue(
        mean, float(np.fmin.reduce(corners)), float(np.fmax.reduce(corners))
    )


def round_off(number: Published) -> DerivedValue:
    """Return the interval of a number before it was rounded."""
    return DerivedValue(
        number.value, number.value - number.half_unit, number.value + number.half_unit
    )


def arithmetic() -> pd.DataFrame:
    """Recompute the paper's derived numbers, as far as rounding of its inputs allows.

    Returns
    -------
    DataFrame
        One row per arithmetic entry: ``key``, ``place``, ``printed``, ``operation``,
        ``inputs`` (keys), ``value``; ``computed`` from the inputs as printed; ``low``
        and ``high``, its range over the inputs before rounding; ``inside``, whether the
        printed value, which is rounded too, is possible; ``direct``, whether
        ``computed`` rounds to the printed value.

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
    fields = ["key", "place", "printed", "operation", "inputs", "value"]
    for number in numbers.values():
        if number.operation is None:
            continue
        derived = derive(
            number.operation, *(round_off(numbers[key]) for key in number.inputs)
        )
        _, low, high = round_off(number)
        inside = derived.low <= high + TINY and derived.high >= low - TINY
        direct = low - TINY <= derived.mean <= high + TINY
        rows.append(
            [*(getattr(number, name) for name in fields), *derived, inside, direct]
        )

    return pd.DataFrame(
        rows, columns=[*fields, "computed", "low", "high", "inside", "direct"]
    )


def inconsistencies() -> pd.DataFrame:
    """List pairs of printed numbers on the same quantity that differ beyond rounding.

    Returns
    -------
    DataFrame
        ``first`` and ``second`` (keys), their ``printed`` values (a pair),
        ``difference`` (second minus first) and ``relative`` (to the first).

    Examples
    --------
    >>> table = inconsistencies()
    >>> ("1097.75", "1149.32") in set(table["printed"])
    True
    """
    rows = []
    for first, second in combinations(published(), 2):
        difference = second.value - first.value
        rounding = first.half_unit + second.half_unit
        if (
            first.coordinates == second.coordinates
            and abs(difference) > rounding + TINY
        ):
            printed = first.printed, second.printed
            rows.append(
                (first.key, second.key, printed, difference, difference / first.value)
            )

    return pd.DataFrame(
        rows, columns=["first", "second", "printed", "difference", "relative"]
    )


def theory_values() -> dict[str, float]:
    """Compute the constants of the theorems from `cobandit.theory`.

    Returns
    -------
    dict
        Constants by the ``quantity`` of the numbers with experiment ``"theory"``.
        Constants that no bound contains (conditions and constants inside proofs) are
        absent.

    Examples
    --------
    >>> round(theory_values()["error_bound_divisor"], 6)
    256.0
    """
    case: dict[str, Any] = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 0.5}
    online = case | {"budget": 99.0}
    constant = theory.index_constant(2, 0.5)
    pulls = theory.horizon(99.0, 0.5)

    leading = theory.pull_bound(1e-6, **online, alpha=2.0) / (
        2 * constant**2 * log(pulls) / 1e-12
    )
    failure = theory.failure_probability(**online, alpha=2.0) / (
        3 * 3 * float(pulls) ** -3
    )
    # with this gap and alpha = 1, the bound is 2 plus the term of the failures
    failures = theory.pull_bound(1e9, **online, alpha=1.0) - 2

    without = theory.identification_error_bound(1.0, **case, complexity=inf)
    error = theory.identification_error_bound(1e3, **case, complexity=1.0)
    fluid: dict[str, Any] = {"n_objectives": 2, "cost_ratio": 0.5, "budget": 99.0}
    gaps = [0.0, 0.5]
    unit_costs = [1.0, 1.0]
    standard = theory.standard_regret_bound(gaps, unit_costs, 1.0, **fluid)
    efficiency = theory.efficiency_regret_bound(gaps, **fluid)
    return {
        "index_constant_reward": (
            theory.index_constant(2, 1.0) - theory.index_constant(1, 1.0)
        ),
        "index_constant_cost": (
            2 * theory.index_constant(1, 1.0) - theory.index_constant(2, 1.0)
        ),
        "pull_bound_leading": leading,
        "pull_bound_failure": failure,
        "pull_bound_exponent": log(failures / (failure * 3 * 3)) / log(pulls) + 2,
        "error_bound_leading": without / (3**2 * 2),
        "error_bound_divisor": (
            -1e3 / (theory.allocation_constant(3, 0.5) * log(error / without))
        ),
        "standard_regret_extra": standard - efficiency,
    }


def least_target_ratio(n_arms: int, low: float, high: float) -> float:
    r"""Return the least ratio of PSI-SR's target to CoPSI's, for any costs in a range.

    Up to rounding PSI-SR's worst-case rounds fit the budget exactly: :math:`n_k = B /
    ((K + 1 - k) W)` with :math:`W = \sum_k w_k c_{(k)}`, :math:`w_k = 1 / (K + 1 - k)`
    and :math:`w_K = 1/2`, the costs sorted upwards.  CoPSI's target is :math:`B /
    (L_{K,\lambda} C_k)`, so with m active arms the ratio is

    .. math::

        \frac{L_{K,\lambda}}{W} \frac{C_k}{m} \ge
        \frac{L_{K,\lambda}}{W} \cdot \text{mean of the m smallest costs}.

    *Proof of the bound.* With the largest cost 1 and all costs at least
    :math:`\lambda`, the fraction without :math:`L_{K,\lambda}` is a ratio of two
    positive linear functions of the sorted costs. It is therefore least at a corner of
    their range: some arms at :math:`\lambda`, all others at 1. This least value does
    not fall as :math:`\lambda` rises, since fewer costs are allowed, and
    :math:`L_{K,\lambda}` does not rise. So on a cell :math:`a \le \lambda \le b`, the
    ratio is at least :math:`L_{K,b}` times the least value at a. The smallest of these
    values, over cells that cover all :math:`\lambda`, is returned.

    Parameters
    ----------
    n_arms : int
        K >= 3.
    low, high : float
        Range of all costs.

    Returns
    -------
    float
        A lower bound, for all costs in the range and all phases, from 1,000 cells.

    Notes
    -----
    Time O(K^2) per cell. The least ratio is attained with the two cheapest arms at the
    lower end and all others at the upper end: 1.0747 and 0.9598 in the examples. Fewer
    cells give smaller values (1.064 and 0.936 with twelve). Round a bound down.

    Examples
    --------
    >>> printed = (118.37, 147.21), (95.01, 152.16)
    >>> [int(1000 * least_target_ratio(14, *ends)) / 1000 for ends in printed]
    [1.074, 0.959]
    """
    weights = 1 / np.append(np.arange(n_arms, 1, -1), 2.0)
    cheap = (
        np.arange(n_arms)[None, :] < np.arange(n_arms)[:, None]
    )  # one row per corner

    ends = np.linspace(low / high, 1.0, 1001)
    smallest_ratio = np.inf
    for a, b in pairwise(ends):
        costs = np.where(cheap, a, 1.0)
        smallest = np.cumsum(costs, axis=1)[:, 1:] / np.arange(2, n_arms + 1)
        ratios = smallest / (costs @ weights)[:, None]
        smallest_ratio = min(
            smallest_ratio, float(theory.allocation_constant(n_arms, b) * ratios.min())
        )

    return smallest_ratio
