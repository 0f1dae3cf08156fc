"""Comparison and rounding of budgets, with allowance for rounding errors."""

import math
from decimal import ROUND_CEILING, Context

from cobandit.errors import CobanditError

#: Relative slack of every comparison with a budget. Budgets are computed as rho * K *
#: mean(c), and without slack, a rounding error of one part in 10^16 would cost a pull.
#: Policies and kernels use the same value.
SLACK = 1e-9


def add_slack(x: float) -> float:
    """Return ``x (1 + 1e-9)``, so that rounding errors do not exceed a budget ``x``."""
    return x * (1.0 + SLACK)


def floor(x: float) -> int:
    """Round down, ignoring a rounding error just below a whole number."""
    return math.floor(add_slack(x))


def ceil(x: float) -> int:
    """Round up, ignoring a rounding error just above a whole number."""
    return math.ceil(x * (1.0 - SLACK))


def round_up(x: float) -> str:
    """Return a budget as text, rounded up to six digits so that it stays sufficient.

    Examples
    --------
    >>> round_up(123.4561), round_up(0.1 + 0.2)
    ('123.457', '0.3')
    """
    rounded = Context(prec=6, rounding=ROUND_CEILING).create_decimal(
        x * (1.0 - SLACK / 2)
    )
    return f"{float(rounded):g}"


#: Largest number of pulls of a run, so that 64-bit counters do not overflow.
MOST_PULLS = 2**62


def pulls_within(budget: float, cost: float) -> float:
    """Return ``budget / cost``, or raise if this exceeds `MOST_PULLS`."""
    pulls = float(budget) / float(cost)
    if pulls > MOST_PULLS:
        raise CobanditError(
            f"budget is {budget:g}, which pays for more than 2^62 pulls at a cost of"
            f" {cost:g}: give a smaller budget",
            argument="budget",
            code="too-large",
        )
    return pulls
