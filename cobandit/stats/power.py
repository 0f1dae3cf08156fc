"""How many paired replays a comparison of two error probabilities needs."""

from __future__ import annotations

from math import inf

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.stats.paired_errors import LEVEL, mcnemar

#: Slack of sums of probabilities.
TINY = 1e-12


def paired_power(replays: int, first: float, second: float, both: float, level: float = LEVEL) -> float:
    """Probability that McNemar's exact test separates two methods, exactly.

    Parameters
    ----------
    replays : int
    first, second : float
        Error probabilities.
    both : float
        Probability that both err in the same replay: ``first * second`` if errors are independent, and
        ``min(first, second)``, the best case, if one method errs only where the other does.
    level : float
        Of the test, in (0, 1].

    Returns
    -------
    float
        Sums over the possible numbers of disagreements; O(sqrt(replays)) terms.

    Examples
    --------
    >>> round(paired_power(500, 0.148, 0.164, both=0.148), 3)
    0.811
    >>> round(paired_power(500, 0.148, 0.164, both=0.148 * 0.164), 3)
    0.092
    """
    from scipy import stats

    replays, level = _check.count(replays, "replays", 1), _check.positive(level, "level", 1.0)
    for name, value in (("first", first), ("second", second), ("both", both)):
        _check.non_negative(value, name)
    differ = first + second - 2 * both
    if both > min(first, second) or first + second - both > 1 + TINY:
        raise CobanditError(f"errors of {first} and {second} cannot coincide with probability {both}")
    if differ <= 0:
        return 1.0 if level == 1 else 0.0
    ends = stats.binom.ppf([1e-13, 1 - 1e-13], replays, differ)
    disagreements = np.arange(int(ends[0]), int(ends[1]) + 1)
    # the test rejects with at most so many on the rarer side
    critical = stats.binom.ppf(level / 2, disagreements, 0.5)
    critical -= mcnemar(critical, disagreements - critical) > level
    share = min(1.0, max(0.0, first - both) / differ)
    rejects = np.where(
        2 * critical >= disagreements,  # either side will do
        1.0,
        stats.binom.cdf(critical, disagreements, share)
        + stats.binom.sf(disagreements - critical - 1, disagreements, share),
    )
    return float(np.clip(stats.binom.pmf(disagreements, replays, differ) @ rejects, 0, 1))


def replays_needed(
    first: float, second: float, both: float, power: float = 0.8, level: float = LEVEL
) -> float:
    """Replays with which McNemar's exact test separates two methods with a given probability.

    Parameters
    ----------
    first, second, both, level : float
        As in `paired_power`.
    power : float
        In (0, 1).

    Returns
    -------
    float
        A whole number, by doubling and bisection: one replay fewer is not enough.  Infinite if the error
        probabilities are equal.

    Examples
    --------
    >>> replays_needed(0.148, 0.164, both=0.148), replays_needed(0.148, 0.164, both=0.148 * 0.164)
    (493.0, 8193.0)
    """
    if first == second:
        return inf
    enough = 1
    while paired_power(enough, first, second, both, level) < power:
        enough *= 2
    short = enough // 2
    while enough - short > 1:
        middle = (short + enough) // 2
        if paired_power(middle, first, second, both, level) < power:
            short = middle
        else:
            enough = middle
    return float(enough)
