"""Checks of the paper's printed numbers against each other and against its theorems."""

from collections.abc import Callable
from itertools import combinations, pairwise, product
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit import theory
from companion.paper.numbers import Published, published

#: Operations by which the paper derives a number from the values of two methods. They
#: are monotone in both arguments, so their range over two intervals follows from the
#: ends of the intervals.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda value, against: value - against,
    "ratio": lambda value, against: value / against,
    "relative_gain": lambda value, against: value / against - 1,
    "relative_reduction": lambda value, against: 1 - value / against,
}

#: Tolerance of comparisons between sums of decimals.
TINY = 1e-12


class DerivedValue(NamedTuple):
    """A mean or a printed number, with its interval."""

    mean: float
    low: float
    high: float


#: Results of a difference and a ratio of equal numbers.
EQUAL = {
    "difference": DerivedValue(0.0, 0.0, 0.0),
    "ratio": DerivedValue(1.0, 1.0, 1.0),
}


def derive(operation: str, first: DerivedValue, second: DerivedValue) -> DerivedValue:
    """Derive a number from two numbers, with its range over their intervals.

    The range is valid for any dependence between the two numbers. Ends of intervals at
    which the result is undefined are ignored.

    Parameters
    ----------
    operation : str
        Key of `OPERATIONS`.
    first, second : DerivedValue
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
    """Return a printed number with the interval of the values that round to it."""
    return DerivedValue(
        number.value, number.value - number.half_unit, number.value + number.half_unit
    )


def arithmetic() -> pd.DataFrame:
    """Recompute the numbers that the paper derives from other printed numbers.

    Returns
    -------
    DataFrame
        One row per derived number: ``key``, ``place``, ``printed``, ``operation``,
        ``value``; ``inputs``, the keys of the two inputs; ``computed``, the result for
        the printed inputs; ``low`` and ``high``, its range over the inputs before
        rounding; ``inside``, whether some result in this range rounds to the printed
        value; ``direct``, whether ``computed`` rounds to the printed value.

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
    """Return the pairs of printed values that contradict each other.

    The two values are about the same quantity, and differ by more than rounding allows.

    Returns
    -------
    DataFrame
        One row per pair: ``first`` and ``second``, the keys of the numbers;
        ``printed``, the two printed values;
        ``difference``, the second value minus the first; ``relative``, the difference
        over the first value.

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
    """Recompute the constants in the paper's theorems with `cobandit.theory`.

    Returns
    -------
    dict
        Constants by ``quantity``, as in the numbers of
        `companion.paper.numbers.published` whose experiment is ``"theory"``. Constants
        that occur only in conditions or inside proofs are absent.

    Examples
    --------
    >>> round(theory_values()["error_bound_divisor"], 6)
    256.0
    """
    case: dict[str, Any] = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 0.5}
    online = case | {"budget": 99.0}
    constant = theory.index_constant(2, 0.5)
    pulls = theory.horizon(99.0, 0.5)

    # each constant is isolated by arguments at which the other terms vanish
    leading = theory.pull_bound(1e-6, **online, alpha=2.0) / (
        2 * constant**2 * log(pulls) / 1e-12
    )
    failure = theory.failure_probability(**online, alpha=2.0) / (
        3 * 3 * float(pulls) ** -3
    )
    # with this gap and alpha = 1, the bound is 2 plus the failure term
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
    r"""Return a lower bound on the ratio of PSI-SR's targets to CoPSI's targets.

    The target of a phase is the number of pulls of each active arm by its end. Up to
    rounding, PSI-SR's worst case spends exactly the budget with the targets
    :math:`n_k = B / ((K + 1 - k) W)`. Here :math:`W = \sum_k w_k c_{(k)}` over
    ascending costs, with :math:`w_k = 1 / (K + 1 - k)` for k < K and :math:`w_K = 1/2`.
    CoPSI's target is :math:`B / (L_{K,\lambda} C_k)`. With m active arms, the ratio of
    the targets is

    .. math::

        \frac{L_{K,\lambda}}{W} \frac{C_k}{m} \ge
        \frac{L_{K,\lambda}}{W} \cdot \text{mean of the m smallest costs}.

    *Proof of the bound.* With the largest cost 1 and all costs at least
    :math:`\lambda`, the right-hand side without :math:`L_{K,\lambda}` is a ratio of two
    positive linear functions of the sorted costs. The minimum of this ratio is
    therefore at a corner of the range of costs: some costs are :math:`\lambda`, and all
    others are 1. As :math:`\lambda` increases, this minimum does not decrease, because
    fewer costs are allowed, and :math:`L_{K,\lambda}` does not increase. On an interval
    :math:`a \le \lambda \le b`, the ratio is therefore at least :math:`L_{K,b}` times
    the minimum at a. The function returns the smallest such product over intervals that
    cover all :math:`\lambda`.

    Parameters
    ----------
    n_arms : int
        K >= 3.
    low, high : float
        Smallest and largest cost.

    Returns
    -------
    float
        A bound for all costs in the range and all phases, from 1,000 intervals.

    Notes
    -----
    Time O(K^2) per interval. The ratio is smallest if the two cheapest arms cost
    ``low`` and all others ``high``. In the examples, the smallest ratios are 1.0747 and
    0.9598. Fewer intervals give looser bounds: 1.064 and 0.936 with twelve intervals.
    Round the bound down before you print it.

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
