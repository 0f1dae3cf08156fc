r"""Errors of CoPSI on Bernoulli arms of one objective at unit costs, exactly.

Where K arms are equal but for the best, :math:`H = K / \gamma^2`, and the first phase gives each
:math:`\lfloor B / (L K) \rfloor` pulls: :math:`L = H_K`, the harmonic number, in the paper, and
:math:`H_K - \tfrac12` with `cobandit.theory.exact_allocation_constant`.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError


def two_arm_error(better: float, worse: float, budget: float, *, allocation: float = 1.5) -> float:
    r"""Error probability on two arms.

    Both get :math:`n = \lfloor B / (2L) \rfloor` pulls, and the set is wrong unless the better arm has
    strictly more successes.

    Parameters
    ----------
    better, worse : float
        Means in [0, 1], the first larger.
    budget : float
        At least 2 L.
    allocation : float
        L: 3/2 in CoPSI as printed, 1 if all of the budget is spent.

    Returns
    -------
    float

    Examples
    --------
    >>> two_arm_error(1.0, 0.5, budget=9)  # the worse arm succeeds three times of three
    0.125
    """
    from scipy import stats

    pulls = _pulls(better, worse, 2, budget, allocation)
    successes = np.arange(pulls + 1)
    tail = stats.binom.sf(successes - 1, pulls, worse)  # the other arm has as many or more
    return float(stats.binom.pmf(successes, pulls, better) @ tail)


def first_phase_error(better: float, worse: float, n_arms: int, budget: float, *, allocation: float) -> float:
    r"""Probability that the best of K arms, all others equal, is strictly the last after the first phase.

    Then its empirical gap is the largest, it is rejected, and the set is wrong: a lower bound of the error.

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
    One pull each: the best fails, both others succeed.

    >>> first_phase_error(0.75, 0.5, 3, budget=6, allocation=11 / 6)
    0.0625
    """
    from scipy import special, stats

    n_arms = _check.count(n_arms, "n_arms", 2)
    pulls = _pulls(better, worse, n_arms, budget, allocation)
    successes = np.arange(pulls + 1)
    # logarithms: powers of tails would be lost long before the sum is
    each = stats.binom.logpmf(successes, pulls, better)
    each += (n_arms - 1) * stats.binom.logsf(successes, pulls, worse)
    return exp(special.logsumexp(each))


def first_phase_rate(better: float, worse: float, n_arms: int, *, allocation: float) -> float:
    r"""Rate at which `first_phase_error` falls, of its -log per B / H.

    .. math::

        -\frac{K}{L \gamma^2} \log\Bigl(
            \bigl(p\, q^{K-1}\bigr)^{1/K} + \bigl((1-p)(1-q)^{K-1}\bigr)^{1/K} \Bigr),
        \qquad \gamma = p - q

    It is the rate of the cheapest way in which all K means come to agree (Cramér); for small gaps near 1/2
    it is :math:`2 (K-1) / (K L)`.

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
        Below one, the error is not of order :math:`e^{-B/H}`.

    Examples
    --------
    >>> round(first_phase_rate(0.55, 0.45, 2, allocation=1.0), 3)
    1.005
    """
    n_arms = _check.count(n_arms, "n_arms", 2)
    _means(better, worse)
    together = sum(
        (p * q ** (n_arms - 1)) ** (1 / n_arms) for p, q in ((better, worse), (1 - better, 1 - worse))
    )
    return -n_arms * log(together) / (_check.positive(allocation, "allocation") * (better - worse) ** 2)


def _means(better: float, worse: float) -> None:
    if not 0 <= worse < better <= 1:
        raise CobanditError(f"means {better} and {worse}: two in [0, 1] are needed, the first larger")


def _pulls(better: float, worse: float, n_arms: int, budget: float, allocation: float) -> int:
    """Check the arms; pulls of each in the first phase."""
    _means(better, worse)
    round_ = _check.positive(allocation, "allocation") * n_arms
    pulls = _check.floor(_check.positive(budget, "budget") / round_)
    if pulls < 1:
        raise CobanditError(f"budget {budget}: at least {round_:g} is needed")
    return pulls
