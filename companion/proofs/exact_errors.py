r"""Exact errors of CoPSI on Bernoulli arms with one objective and unit costs.

If all arms but the best have the same classification gap :math:`\gamma`, the complexity
is :math:`H = K / \gamma^2`. In the first phase, each arm is pulled :math:`\lfloor B /
(L K) \rfloor` times, where B is the budget and L the allocation constant. In the paper,
L is the harmonic number :math:`H_K`; `cobandit.theory.exact_allocation_constant` gives
:math:`H_K - \tfrac12`.
"""

from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from cobandit import _budget
from cobandit.errors import CobanditError
from companion import bounds


def least_informative_rounds(n_arms: int, n_objectives: int, least_gap: float) -> float:
    r"""Return a number of pulls per arm below which Theorem 2 is always vacuous.

    At least two arms have the smallest gap, and :math:`H_{\mu,c}` pairs the smallest
    gaps with the largest costs. Therefore :math:`H_{\mu,c}` is at least the summed cost
    of the two most expensive arms over :math:`\gamma_{(1)}^2`. These two arms account
    for at least 2 / K of all costs. Since :math:`L_{K,\lambda}` is at least the
    harmonic number, the bound exceeds one while :math:`\rho = B / \sum_i c_i` is below
    the returned value.

    Parameters
    ----------
    n_arms, n_objectives : int
    least_gap : float
        Smallest classification gap.

    Returns
    -------
    float

    Examples
    --------
    >>> round(least_informative_rounds(2, 1, 1.0))  # 256 * 1.5 * log(8)
    799
    """
    needed = bounds.identification_budget(
        1.0,
        n_arms=n_arms,
        n_objectives=n_objectives,
        cost_ratio=1.0,
        complexity=2 / least_gap**2,
    )
    return needed / n_arms


def two_arm_error(
    better: float, worse: float, budget: float, *, allocation: float = 1.5
) -> float:
    r"""Return the exact error probability of CoPSI on two Bernoulli arms.

    Each arm is pulled :math:`n = \lfloor B / (2L) \rfloor` times. The returned set is
    wrong unless the better arm has strictly more successes.

    Parameters
    ----------
    better, worse : float
        Means in [0, 1], the first larger.
    budget : float
        At least 2 L.
    allocation : float
        L: 3/2 for CoPSI as printed, 1 if the whole budget is spent.

    Returns
    -------
    float

    Examples
    --------
    >>> two_arm_error(1.0, 0.5, budget=9)  # the worse arm has three successes
    0.125
    """
    pulls, successes = _first_phase(better, worse, 2 * allocation, budget)
    # probability that the worse arm has at least as many successes
    tail = stats.binom.sf(successes - 1, pulls, worse)
    return float(stats.binom.pmf(successes, pulls, better) @ tail)


def first_phase_error(
    better: float, worse: float, n_arms: int, budget: float, *, allocation: float
) -> float:
    r"""Return the exact probability that the best arm is last after the first phase.

    This is a lower bound on the error of CoPSI. All other arms are equal. If the best
    arm has strictly fewer successes than each other arm, its empirical classification
    gap is the largest. The best arm is then rejected, and the returned set is wrong.

    Parameters
    ----------
    better, worse : float
        Means in [0, 1], the first larger.
    n_arms : int
        K >= 2.
    budget, allocation : float
        B >= L K, and L.

    Returns
    -------
    float

    Examples
    --------
    With one pull per arm, the best arm fails and both others succeed.

    >>> first_phase_error(0.75, 0.5, 3, budget=6, allocation=11 / 6)
    0.0625
    """
    pulls, successes = _first_phase(better, worse, n_arms * allocation, budget)
    # sum in logarithms, since the powers of the tails underflow
    log_terms = stats.binom.logpmf(successes, pulls, better)
    log_terms += (n_arms - 1) * stats.binom.logsf(successes, pulls, worse)
    return exp(special.logsumexp(log_terms))


def first_phase_rate(
    better: float, worse: float, n_arms: int, *, allocation: float
) -> float:
    r"""Return the exponential rate at which `first_phase_error` falls in B / H.

    .. math::

        -\frac{K}{L \gamma^2} \log\Bigl(
            \bigl(p\, q^{K-1}\bigr)^{1/K} + \bigl((1-p)(1-q)^{K-1}\bigr)^{1/K} \Bigr),
        \qquad \gamma = p - q

    By Cramér's theorem, this is the rate of the event that all K empirical means agree.
    For means near 1/2 and small gaps, it is about :math:`2 (K-1) / (K L)`.

    Parameters
    ----------
    better, worse : float
        p > q in (0, 1).
    n_arms : int
        K >= 2.
    allocation : float
        L.

    Returns
    -------
    float
        A rate below one shows that the error is not of order :math:`e^{-B/H}`.

    Examples
    --------
    >>> round(first_phase_rate(0.55, 0.45, 2, allocation=1.0), 3)
    1.005
    """
    # probabilities of a success, and of a failure
    chances = (better, worse), (1 - better, 1 - worse)
    together = sum((p * q ** (n_arms - 1)) ** (1 / n_arms) for p, q in chances)
    return -n_arms * log(together) / (allocation * (better - worse) ** 2)


def _first_phase(
    better: float, worse: float, round_: float, budget: float
) -> tuple[int, NDArray[np.int64]]:
    """Return the pulls per arm in the first phase, and all counts of successes."""
    pulls = _budget.floor(budget / round_)
    if not 0 <= worse < better <= 1 or pulls < 1:
        raise CobanditError(
            f"the means are {better} and {worse}, and the budget is {budget}; the means"
            " must be in [0, 1], the first larger, and the budget must be at least"
            f" {round_:g}",
            argument="means",
            code="out-of-range",
        )
    return pulls, np.arange(pulls + 1)


def shared_error(only_better: float, only_worse: float, pulls: int) -> float:
    """Return the exact error on two arms that are evaluated on the same instances.

    The instances are independent draws. An error occurs if the better arm has at most
    as many right answers as the other arm.

    Parameters
    ----------
    only_better, only_worse : float
        Probabilities that only the better arm, or only the worse arm, answers an
        instance right.
    pulls : int
        Number of instances.

    Examples
    --------
    >>> round(shared_error(0.5, 0.25, pulls=1), 6)  # only the better is right
    0.5
    """
    differing = np.arange(pulls + 1)  # instances on which the arms differ
    share = only_better / (only_better + only_worse)
    chances = stats.binom.pmf(differing, pulls, only_better + only_worse)
    return float(chances @ stats.binom.cdf(differing // 2, differing, share))
