"""Tests and intervals for the numbers of errors of two methods in the same replays.

In ``replays`` simulated runs, one method errs ``first`` times, and the other errs
``second`` times. A paired test uses only the replays in which exactly one of them errs.
The test therefore also depends on ``both``, the number of replays in which both err.
"""

from bisect import bisect_left
from math import inf, sqrt

import numpy as np
import pandas as pd
import scipy  # loads its parts at their first use
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError

#: Level of the tests.
LEVEL = 0.05
#: Power that `replays_needed` requires.
POWER = 0.8
#: Columns of `joint_errors`.
JOINT_COLUMNS = [
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
#: Tolerance for rounding errors in sums of probabilities.
TINY = 1e-12
#: The search for a limit begins at this distance from the observed difference.
APART = 1e-9


def joint_errors(runs: pd.DataFrame, first: str = "CoPSI") -> pd.DataFrame:
    """Count the replays in which one method errs, another method errs, and both err.

    Parameters
    ----------
    runs : DataFrame
        Results of `cobandit.replay_identification`.
    first : str
        The method with which all others are compared. Budgets that are too small for
        this method are left out.

    Returns
    -------
    DataFrame
        One row per budget and other method, with columns ``rho``; ``method`` and
        ``options`` of the other method; ``n``, the number of replays; ``first``,
        ``second`` and ``both``, the numbers of replays in which the first method, the
        other method and both err; and ``first_spends`` and ``second_spends``, the mean
        shares of the budget that these methods spend.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> runs = cb.replay_identification(table, ["CoPSI", "PSISR"], 500, replications=50)
    >>> joint_errors(runs)[["rho", "method", "n"]].to_numpy().tolist()
    [[500.0, 'PSISR', 50]]
    """
    rows = []
    for rho, of_budget in runs[runs["status"] == "ok"].groupby("rho"):
        by_replication = of_budget.set_index("replication")
        by_method = dict(
            iter(by_replication.groupby(["method", "options"], sort=False))
        )
        if (first, "") not in by_method:
            continue

        ours = by_method.pop((first, ""))
        our_errors = ~ours["correct"].astype(bool)
        for (method, options), theirs in by_method.items():
            theirs = theirs.loc[ours.index]
            their_errors = ~theirs["correct"].astype(bool)
            rows.append(
                {
                    "rho": rho,
                    "method": method,
                    "options": options,
                    "n": len(ours),
                    "first": int(our_errors.sum()),
                    "second": int(their_errors.sum()),
                    "both": int((our_errors & their_errors).sum()),
                    "first_spends": (ours["spent"] / ours["budget"]).mean(),
                    "second_spends": (theirs["spent"] / theirs["budget"]).mean(),
                }
            )

    return pd.DataFrame(rows, columns=JOINT_COLUMNS)


def mcnemar(only_first: ArrayLike, only_second: ArrayLike) -> NDArray[np.float64]:
    """Return two-sided p-values of McNemar's exact test.

    The hypothesis is that both methods are equally likely to be the only one that errs.

    Parameters
    ----------
    only_first, only_second : array_like of int
        Numbers of replays in which only the first method errs, and in which only the
        second method errs.

    Returns
    -------
    ndarray
        p-values, 1 for methods that never differ.

    Examples
    --------
    >>> mcnemar([0, 0, 62], [1, 8, 70]).round(4)
    array([1.    , 0.0078, 0.5425])
    """
    fewer = np.minimum(only_first, only_second)
    total = np.add(only_first, only_second)
    one_sided: NDArray[np.float64] = scipy.stats.binom.cdf(fewer, total, 0.5)
    return np.minimum(1.0, 2 * one_sided)


def couplings(first: int, second: int, replays: int) -> pd.DataFrame:
    """Return all possible numbers of common errors of two methods, with p-values.

    Parameters
    ----------
    first, second : int
        Numbers of errors of the two methods.
    replays : int

    Returns
    -------
    DataFrame
        ``both``, ``only_first``, ``only_second`` and ``p`` of `mcnemar`, in ascending
        order of ``both``.

    Examples
    --------
    >>> couplings(2, 3, 500)[["only_first", "only_second", "p"]].to_numpy().tolist()
    [[2.0, 3.0, 1.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    """
    replays = _validation.count(replays, "replays", 1)
    first = _validation.count(first, "errors", 0)
    second = _validation.count(second, "errors", 0)
    more_errors = max(first, second)
    if more_errors > replays:
        raise CobanditError(
            f"{more_errors} errors are more than the {replays} replays",
            argument="errors",
            code="too-large",
        )

    both = np.arange(max(0, first + second - replays), min(first, second) + 1)
    frame = pd.DataFrame(
        {"both": both, "only_first": first - both, "only_second": second - both}
    )
    return frame.assign(p=mcnemar(frame["only_first"], frame["only_second"]))


def compare(first: int, second: int, replays: int) -> dict[str, float]:
    """Test two numbers of errors if the number of common errors is unknown.

    Parameters
    ----------
    first, second, replays : int
        As in `couplings`.

    Returns
    -------
    dict
        ``best`` and ``worst``, the smallest and the largest p-value of `mcnemar` over
        all possible numbers of common errors; ``independent``, the p-value if this
        number is its expectation for independent errors (rounded); ``needed``, the
        smallest number of common errors such that this and all larger numbers have
        p-values of at most `LEVEL`, or NaN if there is none; and ``fisher`` and
        ``score``, the p-values of Fisher's exact test and of the score test with pooled
        variance, which ignore the pairing.

    Examples
    --------
    >>> result = compare(74, 82, 500)
    >>> round(result["best"], 4), result["needed"], round(result["fisher"], 4)
    (0.0078, 72, 0.5419)
    """
    table = couplings(first, second, replays)
    both = table["both"].to_numpy()
    p_values = table["p"].to_numpy()

    # length of the last run of possible numbers that are all significant
    is_significant = p_values <= LEVEL
    n_enough = int(np.argmin(is_significant[::-1]))
    if is_significant.all():
        n_enough = len(both)
    needed = int(both[-n_enough]) if n_enough else np.nan

    by_chance = np.clip(round(first * second / replays), both[0], both[-1])
    independent = float(p_values[both == int(by_chance)][0])

    unpaired = [[first, replays - first], [second, replays - second]]
    pooled = (first + second) / (2 * replays)
    spread = sqrt(2 * pooled * (1 - pooled) / replays)
    score = 1.0
    if spread:
        z = abs(first - second) / replays / spread
        score = float(2 * scipy.stats.norm.sf(z))
    return {
        "best": float(p_values.min()),
        "worst": float(p_values.max()),
        "independent": independent,
        "needed": needed,
        "fisher": float(scipy.stats.fisher_exact(unpaired).pvalue),
        "score": score,
    }


def paired_difference(
    only_first: int, only_second: int, replays: int, level: float = 0.95
) -> tuple[float, float, float]:
    """Return the difference of two paired error probabilities, with Tango's interval.

    Tango's score interval for pairs corresponds to Wilson's for a single proportion.

    Parameters
    ----------
    only_first, only_second, replays : int
        Numbers of replays in which only the first method errs, and in which only the
        second method errs; and number of all replays.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    difference, low, high : float
        First error probability minus the second, and its limits.

    References
    ----------
    T. Tango (1998), Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design, Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> [round(x, 4) for x in paired_difference(62, 70, 500)]
    [-0.016, -0.0614, 0.0293]
    """
    n = _validation.count(replays, "replays", 1)
    only_first = _validation.count(only_first, "errors", 0)
    only_second = _validation.count(only_second, "errors", 0)
    n_differ = only_first + only_second
    if n_differ > n:
        raise CobanditError(
            f"{n_differ} replays with one error are more than the {n} replays",
            argument="errors",
            code="too-large",
        )

    difference = (only_first - only_second) / n
    z = float(scipy.stats.norm.isf((1 - level) / 2))

    def excess(delta: float, sign: int) -> float:
        """Return a value that is zero if ``delta`` is a limit of the interval.

        At the limits, the score statistic is ``sign * z``.
        """
        mle = constrained_mle(only_first, only_second, n, delta)
        spread = n * (2 * mle + delta * (1 - delta))
        distance = only_first - only_second - n * delta
        return float(distance - sign * z * sqrt(max(spread, 0.0)))

    # The observed difference is also a root if the methods never or always differ.
    # The search therefore begins at a small distance from it.
    low = -1.0
    if difference > -1:
        low = scipy.optimize.brentq(excess, -1.0, difference - APART, args=(1,))
    high = 1.0
    if difference < 1:
        high = scipy.optimize.brentq(excess, difference + APART, 1.0, args=(-1,))
    return difference, float(low), float(high)


def constrained_mle(
    only_first: int, only_second: int, replays: int, delta: float
) -> float:
    """Return the maximum-likelihood probability that only the second method errs.

    The constraint is that this probability plus ``delta`` is the probability that only
    the first method errs.

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


def paired_power(replays: int, first: float, second: float, both: float) -> float:
    """Return the exact power of McNemar's exact test for two methods.

    Parameters
    ----------
    replays : int
    first, second : float
        Error probabilities.
    both : float
        Probability that both err in the same replay. It is ``first * second`` if errors
        are independent, and at most ``min(first, second)``.

    Returns
    -------
    float
        Power, by a sum over the numbers of replays in which the methods differ. Time
        O(sqrt(replays)).

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
            f"both is {both}, but with error probabilities {first} and {second}, the"
            f" probability that both methods err must be from"
            f" {max(0.0, first + second - 1):.6g} to {min(first, second):.6g}",
            argument="both",
            code="out-of-range",
        )
    if differ <= 0:
        return 0.0

    ends = scipy.stats.binom.ppf([1e-13, 1 - 1e-13], replays, differ)
    disagreements = np.arange(int(ends[0]), int(ends[1]) + 1)

    # the test rejects if the rarer of the two kinds of replays with one error occurs
    # at most `critical` times; the binomial quantile is one too large if its p-value
    # exceeds the level
    critical = scipy.stats.binom.ppf(LEVEL / 2, disagreements, 0.5)
    critical -= mcnemar(critical, disagreements - critical) > LEVEL
    share = min(1.0, max(0.0, first - both) / differ)
    rejects = scipy.stats.binom.cdf(critical, disagreements, share)
    rejects += scipy.stats.binom.sf(disagreements - critical - 1, disagreements, share)
    chances = scipy.stats.binom.pmf(disagreements, replays, differ)
    return float(np.clip(chances @ rejects, 0, 1))


def replays_needed(first: float, second: float, both: float) -> float:
    """Return the number of replays that gives McNemar's exact test the power `POWER`.

    Parameters
    ----------
    first, second, both : float
        As in `paired_power`.

    Returns
    -------
    float
        The smallest sufficient number, found by doubling and bisection. It is infinite
        if the error probabilities are equal.

    Examples
    --------
    >>> replays_needed(0.148, 0.164, both=0.148)
    493.0
    >>> replays_needed(0.148, 0.164, both=0.148 * 0.164)  # independent errors
    8193.0
    """
    if first == second:
        return inf

    def is_enough(replays: int) -> bool:
        return paired_power(replays, first, second, both) >= POWER

    upper = 1
    while not is_enough(upper):
        upper *= 2
    return float(bisect_left(range(upper), True, upper // 2 + 1, key=is_enough))
