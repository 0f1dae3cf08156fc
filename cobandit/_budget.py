"""Arithmetic of budgets, with the one slack that every comparison carries."""

import math
from decimal import ROUND_CEILING, Context

from cobandit.errors import CobanditError

#: Relative slack of every comparison with a budget: budgets are built as rho * K *
#: mean(c), and without it a rounding error of one part in 10^16 would cost a pull.
#: Classes and kernels both read it from here.
SLACK = 1e-9


def add_slack(x: float) -> float:
    """``x (1 + 1e-9)``: the side of a comparison with a budget that gets the benefit of rounding."""
    return x * (1.0 + SLACK)


def floor(x: float) -> int:
    """``floor(x (1 + 1e-9))``, the integer part that forgives rounding."""
    return math.floor(add_slack(x))


def ceil(x: float) -> int:
    """``ceil(x (1 - 1e-9))``, the integer above that forgives rounding."""
    return math.ceil(x * (1.0 - SLACK))


def round_up(x: float) -> str:
    """``x`` in six digits, rounded up: whoever is told that so much is needed can give what is printed.

    Examples
    --------
    >>> round_up(123.4561), round_up(0.1 + 0.2)
    ('123.457', '0.3')
    """
    rounded = Context(prec=6, rounding=ROUND_CEILING).create_decimal(
        x * (1.0 - SLACK / 2)
    )
    return f"{float(rounded):g}"


#: More pulls than this no run makes, and no 64-bit counter holds.
MOST_PULLS = 2**62


def pulls_within(budget: float, cost: float) -> float:
    """``budget / cost``, the most pulls that it can hold: refused where no counter could hold them."""
    pulls = float(budget) / float(cost)
    if pulls > MOST_PULLS:
        raise CobanditError(
            f"budget is {budget:g}: at a cost of {cost:g} that is more than 2^62 pulls"
        )
    return pulls
