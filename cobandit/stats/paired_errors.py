"""What counts of errors in paired replays can support.

Two methods err ``first`` and ``second`` times in the same ``replays``.  A paired test
sees only the replays in which exactly one of them errs, so it also depends on ``both``,
the replays in which both do.
"""

from bisect import bisect_left
from math import inf, sqrt

import numpy as np
import pandas as pd
import scipy  # which loads its parts when they are first asked for
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError

#: Level of the tests.
LEVEL = 0.05
#: Power that is asked for.
POWER = 0.8


def joint_errors(runs: pd.DataFrame, first: str = "CoPSI") -> pd.DataFrame:
    """Count in how many replays one method errs, another one does, and both do.

    Parameters
    ----------
    runs : DataFrame
        As `cobandit.replay_identification` returns it.
    first : str
        The method that all others are compared with; budgets at which it cannot run are
        left out.

    Returns
    -------
    DataFrame
        One row per budget and rival: ``rho``, ``method`` and ``options`` of the rival,
        ``n`` replays, ``first``, ``second`` and ``both`` (errors of the first, of the
        rival, of both in one replay), ``first_spends`` and ``second_spends`` (mean
        share of the budget).

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = cb.replay_identification(cb.load("synthetic-24"), ["CoPSI", "PSISR"], 500, replications=50)
    >>> joint_errors(runs)[["rho", "method", "n"]].to_numpy().tolist()
    [[500.0, 'PSISR', 50]]
    """
    rows = []
    for rho, at in runs[runs["status"] == "ok"].groupby("rho"):
        ran = dict(
            iter(at.set_index("replication").groupby(["method", "options"], sort=False))
        )
        if (first, "") not in ran:
            continue
        ours = ran.pop((first, ""))
        for (method, options), theirs in ran.items():
            theirs = theirs.loc[ours.index]
            wrong, also = ~ours["correct"].astype(bool), ~theirs["correct"].astype(bool)
            counts = (
                len(ours),
                int(wrong.sum()),
                int(also.sum()),
                int((wrong & also).sum()),
            )
            spends = [(one["spent"] / one["budget"]).mean() for one in (ours, theirs)]
            rows.append((rho, method, options, *counts, *spends))

    columns = [
        "rho",
        "method",
        "options",
        "n",
        "first",
        "second",
        "both",
        "first_spends",
        "second_spends",
    ]
    return pd.DataFrame(rows, columns=columns)


def mcnemar(only_first: ArrayLike, only_second: ArrayLike) -> NDArray[np.float64]:
    """McNemar's exact test, two-sided, of whether either method is the likelier to err alone.

    Parameters
    ----------
    only_first, only_second : array_like of int
        Replays in which only the first, and only the second, method errs.

    Returns
    -------
    ndarray
        1 where they never disagree.

    Examples
    --------
    >>> mcnemar([0, 0, 62], [1, 8, 70]).round(4)
    array([1.    , 0.0078, 0.5425])
    """
    fewer = np.minimum(only_first, only_second)
    total = np.add(only_first, only_second)
    return np.minimum(1.0, 2 * scipy.stats.binom.cdf(fewer, total, 0.5))


def couplings(first: int, second: int, replays: int) -> pd.DataFrame:
    """Every joint count that two counts of errors in the same replays allow, with its p-value.

    Parameters
    ----------
    first, second : int
        Errors of the two methods.
    replays : int

    Returns
    -------
    DataFrame
        ``both``, ``only_first``, ``only_second`` and ``p`` of `mcnemar`, by growing
        ``both``.

    Examples
    --------
    >>> couplings(2, 3, 500)[["only_first", "only_second", "p"]].to_numpy().tolist()
    [[2.0, 3.0, 1.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    """
    replays = _validation.count(replays, "replays", 1)
    first, second = (
        _validation.count(errors, "errors", 0) for errors in (first, second)
    )
    if max(first, second) > replays:
        raise CobanditError(
            f"{max(first, second)} errors do not fit into {replays} replays"
        )
    both = np.arange(max(0, first + second - replays), min(first, second) + 1)
    frame = pd.DataFrame(
        {"both": both, "only_first": first - both, "only_second": second - both}
    )
    return frame.assign(p=mcnemar(frame["only_first"], frame["only_second"]))


def compare(first: int, second: int, replays: int) -> dict[str, float]:
    """Test two counts of errors in the same replays when the joint count is unknown.

    Parameters
    ----------
    first, second, replays : int
        As in `couplings`.

    Returns
    -------
    dict
        ``best`` and ``worst``, smallest and largest exact McNemar p-value over all
        joint counts that give these errors; ``independent``, the same if errors
        coincide as often as they would in independent replays (rounded); ``needed``,
        the fewest replays in which both must err for a p-value of at most `LEVEL`,
        there and with any larger overlap, NaN if no overlap is enough; ``fisher`` and
        ``score``, p-values that ignore the pairing: Fisher's exact test and the score
        test with pooled variance.

    Examples
    --------
    >>> result = compare(74, 82, 500)
    >>> {name: round(value, 4) for name, value in result.items() if name in ("best", "needed", "fisher")}
    {'best': 0.0078, 'needed': 72, 'fisher': 0.5419}
    """
    table = couplings(first, second, replays)
    enough = table["p"].to_numpy() <= LEVEL

    # the overlaps at the upper end that are all enough
    run = len(enough) if enough.all() else int(np.argmin(enough[::-1]))
    overlap = int(
        np.clip(
            round(first * second / replays),
            table["both"].iloc[0],
            table["both"].iloc[-1],
        )
    )
    pooled = (first + second) / (2 * replays)
    spread = sqrt(2 * pooled * (1 - pooled) / replays)
    unpaired = [[first, replays - first], [second, replays - second]]
    return {
        "best": float(table["p"].min()),
        "worst": float(table["p"].max()),
        "independent": float(table.loc[table["both"] == overlap, "p"].iloc[0]),
        "needed": int(table["both"].iloc[-run]) if run else np.nan,
        "fisher": float(scipy.stats.fisher_exact(unpaired).pvalue),
        "score": (
            float(2 * scipy.stats.norm.sf(abs(first - second) / replays / spread))
            if spread
            else 1.0
        ),
    }


def paired_difference(
    only_first: int, only_second: int, replays: int, level: float = 0.95
) -> tuple[float, float, float]:
    """Difference of two error probabilities on the same replays, with Tango's score interval.

    It is to pairs what Wilson's interval is to one proportion.

    Parameters
    ----------
    only_first, only_second, replays : int
        Replays in which only the first, and only the second, method errs, and all
        replays.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    difference, low, high : float
        Of the first error probability minus the second.

    References
    ----------
    T. Tango (1998), Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design, Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> [round(x, 4) for x in paired_difference(62, 70, 500)]
    [-0.016, -0.0614, 0.0293]
    """
    n = _validation.count(replays, "replays", 1)
    b, c = (
        _validation.count(errors, "errors", 0) for errors in (only_first, only_second)
    )
    if b + c > n:
        raise CobanditError(f"{b + c} disagreements do not fit into {n} replays")
    difference, z = (b - c) / n, float(scipy.stats.norm.isf((1 - level) / 2))

    def excess(delta: float, sign: int) -> float:
        """How far the score statistic at a difference ``delta`` is from ``sign * z``."""
        rest = constrained_mle(b, c, n, delta)
        spread = n * (2 * rest + delta * (1 - delta))
        distance = b - c - n * delta
        return float(distance - sign * z * sqrt(max(spread, 0.0)))

    # where nobody disagrees, or everybody does, the observed difference is a root too,
    # and not the one sought
    off = 1e-9
    low = (
        scipy.optimize.brentq(excess, -1.0, difference - off, args=(1,))
        if difference > -1
        else -1.0
    )
    high = (
        scipy.optimize.brentq(excess, difference + off, 1.0, args=(-1,))
        if difference < 1
        else 1.0
    )
    return difference, float(low), float(high)


def constrained_mle(
    only_first: int, only_second: int, replays: int, delta: float
) -> float:
    """Most likely probability that only the second errs, if the first errs by ``delta`` more often.

    Parameters
    ----------
    only_first, only_second, replays : int
        As in `paired_difference`.
    delta : float
        Difference of the error probabilities, in [-1, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> constrained_mle(3, 1, 10, delta=0.0)
    0.2
    """
    a = 2 * replays
    b = -only_first - only_second + (2 * replays - only_first + only_second) * delta
    c = -only_second * delta * (1 - delta)
    root = (sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    return max(root, 0.0, -delta)


#: Slack of sums of probabilities.
TINY = 1e-12


def paired_power(replays: int, first: float, second: float, both: float) -> float:
    """Probability that McNemar's exact test separates two methods, exactly.

    Parameters
    ----------
    replays : int
    first, second : float
        Error probabilities.
    both : float
        Probability that both err in the same replay: ``first * second`` if errors are
        independent, and ``min(first, second)``, the best case, if one method errs only
        where the other does.

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
    replays = _validation.count(replays, "replays", 1)
    for name, value in (("first", first), ("second", second), ("both", both)):
        _validation.non_negative(value, name)
    differ = first + second - 2 * both
    if both > min(first, second) or first + second - both > 1 + TINY:
        raise CobanditError(
            f"errors of {first} and {second} cannot coincide with probability {both}"
        )
    if differ <= 0:
        return 0.0

    ends = scipy.stats.binom.ppf([1e-13, 1 - 1e-13], replays, differ)
    disagreements = np.arange(int(ends[0]), int(ends[1]) + 1)

    # the test rejects with at most so many on the rarer side
    critical = scipy.stats.binom.ppf(LEVEL / 2, disagreements, 0.5)
    critical -= mcnemar(critical, disagreements - critical) > LEVEL
    share = min(1.0, max(0.0, first - both) / differ)
    rejects = scipy.stats.binom.cdf(critical, disagreements, share)
    rejects += scipy.stats.binom.sf(disagreements - critical - 1, disagreements, share)
    return float(
        np.clip(scipy.stats.binom.pmf(disagreements, replays, differ) @ rejects, 0, 1)
    )


def replays_needed(first: float, second: float, both: float) -> float:
    """Replays with which McNemar's exact test separates two methods with probability `POWER`.

    Parameters
    ----------
    first, second, both : float
        As in `paired_power`.

    Returns
    -------
    float
        A whole number, by doubling and bisection: one replay fewer is not enough.
        Infinite if the error probabilities are equal.

    Examples
    --------
    >>> replays_needed(0.148, 0.164, both=0.148), replays_needed(0.148, 0.164, both=0.148 * 0.164)
    (493.0, 8193.0)
    """
    if first == second:
        return inf

    def is_enough(replays: int) -> bool:
        return paired_power(replays, first, second, both) >= POWER

    most = 1
    while not is_enough(most):
        most *= 2
    return float(bisect_left(range(most), True, most // 2 + 1, key=is_enough))
