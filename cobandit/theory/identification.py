r"""Theorem 2, its constants and complexity; by differences of means and with random costs (ours).

*Differences.*  Active arms have equal numbers of pulls, and gap elimination reads nothing but differences of
their means.  For two independent arms the difference of one reward in [0, 1] each has
:math:`\mathrm E\, e^{s(X - \mathrm E X)} \le e^{s^2/8 + s^2/8} = e^{s^2/4}`.  It has twice the variance proxy
of one reward, and may err by twice as much as each of two means: that doubles the exponent.  By Ville's
inequality, for every N, not only whole ones,

.. math:: \Pr\bigl[\exists n \ge N:\ |\hat D_n - D| \ge x\bigr] \le 2 e^{-N x^2} .

Arms that are evaluated on the same instances are not independent; for them there is `sharpened_error_bound`.

*Random costs.*  The paper's Algorithm 2 charges every pull its known mean cost.  Where a pull costs anything
in [lambda, 1], the plan is made for :math:`(1 - \delta) B`.  A cost of mean c has a variance of at most
:math:`(1 - c)(c - \lambda) \le (1 - \sqrt\lambda)^2 c`: what a plan may vary by is in proportion to what it
is planned to cost, however many pulls it has.

*What can be reached.*  The complexity :math:`H_{\mu,c}` lets any k arms be the ones that are still active.
But before the first phase whose means are too far off, arms leave in an order that the true means nearly fix:
expensive arms that are easy to classify are gone by the time that gaps are small.
"""

from collections.abc import Callable
from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance
from cobandit.errors import CobanditError
from cobandit.problem import check_gaps


def allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Normaliser of CoPSI, :math:`L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}`.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1]: the smallest cost over the largest.

    Returns
    -------
    float
        Between the harmonic number H_K (equal costs) and K.  Time O(K).

    Examples
    --------
    >>> allocation_constant(3, 1.0)  # 1 + 1/2 + 1/3
    1.8333333333333333
    """
    others = np.arange(1, _check.count(n_arms, "n_arms", 2))
    return float(1 + (1 / (1 + others * _check.positive(cost_ratio, "cost_ratio", 1.0))).sum())


def needed_allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Not the paper's: what its proof uses of its normaliser, :math:`L_{K,\lambda} - 1/(1+\lambda)`.

    Step 2 of the proof of Theorem 2 needs one term for each removal that more sampling follows, which leave
    active sets of K, ..., 3 arms.  The term of :math:`\ell = 2` is never used.  At equal costs what is left
    is :math:`\frac12 + \sum_{i=2}^K \frac1i`, the normaliser of PSI-SR.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1].

    Returns
    -------
    float
        A constant with which no run spends more than B, whatever the costs in [lambda, 1].  Time O(K).

    Examples
    --------
    >>> needed_allocation_constant(3, 1.0)  # 1 + 1/3
    1.3333333333333333
    """
    return allocation_constant(n_arms, cost_ratio) - 1 / (1 + cost_ratio)


def exact_allocation_constant(costs: ArrayLike) -> float:
    r"""Not the paper's: the smallest normaliser that always fits the budget, for costs that are known.

    .. math::

        L^\star(c) = 1 + \max_{e} \sum_{r=1}^{K-2} \frac{c_{e_r}}{C_r}
                   = 1 + \sum_{r=1}^{K-2} \frac{c^{[r]}}{c^{[r]} + \dots + c^{[K]}},
        \qquad c^{[1]} \ge \dots \ge c^{[K]} .

    The maximum is over orders of elimination; the most expensive arm first attains it, because exchanging two
    neighbours in the order so that the more expensive one leaves first raises the sum.  It is at most
    :math:`L_{K,\lambda} - 1/(1+\lambda)` and at most :math:`1 + \log(C_1 / (c^{[K-1]} + c^{[K]}))`.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Costs in any unit, K >= 2.

    Returns
    -------
    float
        Between 1 (two arms) and `needed_allocation_constant`.  Time O(K log K).

    Raises
    ------
    CobanditError
        If a cost is not positive.

    Examples
    --------
    >>> exact_allocation_constant([1.0, 2.0, 1.0])  # 1 + 2 / 4
    1.5
    """
    descending = np.sort(_check.costs(costs))[::-1]
    left = np.cumsum(descending[::-1])[::-1]
    return float(1 + (descending / left)[:-2].sum())


def summed_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Not the paper's: :math:`\sum_i c_i / \gamma_i^2`, which charges each arm its own cost.

    The paper's :math:`H_{\mu,c}` sorts gaps and costs apart from each other, so that it does not see which
    arm is the expensive one; this sum does.

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        Classification gaps >= 0, and costs in any unit.

    Returns
    -------
    float
        ``inf`` if a gap is zero.  Time O(K).

    Raises
    ------
    CobanditError
        If the lengths differ, a gap is negative or a cost is not positive.

    Examples
    --------
    >>> summed_complexity([0.5, 0.25], [1.0, 2.0]), summed_complexity([0.5, 0.25], [2.0, 1.0])
    (36.0, 24.0)
    """
    gaps, costs = check_gaps(gaps, costs)
    return float((costs / gaps**2).sum()) if gaps.all() else inf


def checked_problem(n_arms: int, n_objectives: int, complexity: float) -> tuple[int, int, float]:
    """Check what the bounds read of a problem; a complexity of ``inf`` is one with a gap of zero."""
    if complexity != np.inf:
        complexity = _check.positive(complexity, "complexity")
    return _check.count(n_arms, "n_arms", 2), _check.count(n_objectives, "n_objectives", 1), complexity


def decay_budget(n_arms: int, cost_ratio: float, complexity: float) -> float:
    r"""Budget that divides the bound of Theorem 2 by e, :math:`256\, L_{K,\lambda} H_{\mu,c}`."""
    return 256 * allocation_constant(n_arms, cost_ratio) * complexity


def identification_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, cost_ratio: float, complexity: float
) -> float:
    r"""Theorem 2: :math:`2K^2 D \exp\bigl(-B / (256\, L_{K,\lambda} H_{\mu,c})\bigr)`.

    Parameters
    ----------
    budget : float
        B > 0.  The theorem asks for B >= 2 L H; below that the formula exceeds one anyway.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    cost_ratio : float
        lambda in (0, 1].
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed (a gap of zero).

    Returns
    -------
    float
        As stated: it may exceed one, and then says nothing.

    Examples
    --------
    >>> identification_error_bound(1e5, n_arms=3, n_objectives=2, cost_ratio=1.0, complexity=10.0) < 1e-7
    True
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return 2 * n_arms**2 * n_objectives * exp(-_check.positive(budget, "budget") / scale)


def sharpened_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, allocation: float, complexity: float
) -> float:
    r"""Not the paper's: Theorem 2 by its own proof, without what that gives away.

    .. math:: 2K(K-1)D \exp\Bigl(\frac{1}{32} - \frac{B}{32\, L H_{\mu,c}}\Bigr)

    Three steps are tightened.  Lemma 2 holds for margins that err by less than :math:`\gamma_{(k)}/4`, hence
    for means that err by less than :math:`\gamma_{(k)}/8`; a target loses at most one pull to its floor, not
    half of them; there are K - 1 phases, not K.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    allocation : float
        L >= 1, the constant that the targets :math:`\lfloor B / (L C_r) \rfloor` divide by:
        `allocation_constant` for CoPSI as published, `exact_allocation_constant` for what known costs allow.
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "complexity": 10.0}
    >>> sharper = sharpened_error_bound(1e4, allocation=allocation_constant(3, 1.0), **how)
    >>> sharper < identification_error_bound(1e4, cost_ratio=1.0, **how)
    True

    At a budget of L times the complexity the exponent is zero:

    >>> sharpened_error_bound(20.0, allocation=2.0, **how)
    24.0
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    budget = _check.positive(budget, "budget")
    scale = 32 * _check.positive(allocation, "allocation") * complexity
    return 2 * n_arms * (n_arms - 1) * n_objectives * exp(1 / 32 - budget / scale)


def identification_budget(
    error: float, *, n_arms: int, n_objectives: int, cost_ratio: float, complexity: float
) -> float:
    r"""Budget at which Theorem 2 promises an error of at most p.

    .. math:: B = 256\, L_{K,\lambda} H_{\mu,c} \log(2K^2 D / p)

    Parameters
    ----------
    error : float
        p in (0, 1]; at 1 the budget from which on the theorem says anything.
    n_arms, n_objectives, cost_ratio, complexity
        As in `identification_error_bound`.

    Returns
    -------
    float
        B, in the unit of the complexity; ``inf`` where that is.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 1.0, "complexity": 10.0}
    >>> round(identification_error_bound(identification_budget(0.05, **how), **how), 6)
    0.05
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return scale * log(2 * n_arms**2 * n_objectives / _check.positive(error, "error", 1.0))


# ----------------------------------------------------------------------------- by differences of means
def difference_error_rate(*, allocation: float, complexity: float) -> float:
    r"""Not the paper's: rate at which `difference_error_bound` falls, :math:`1 / (16\, L H_{\mu,c})`.

    Parameters
    ----------
    allocation : float
        L >= 1, as in `difference_error_bound`.
    complexity : float
        :math:`H_{\mu,c}`; ``inf`` is allowed.

    Returns
    -------
    float
        Of -log(error), per unit of budget.

    Examples
    --------
    >>> difference_error_rate(allocation=1.5, complexity=2.0) == 1 / 48
    True
    """
    _, _, complexity = checked_problem(2, 1, complexity)
    return 1 / (16 * _check.positive(allocation, "allocation") * complexity)


def difference_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, allocation: float, complexity: float
) -> float:
    r"""Not the paper's: Theorem 2 for independent arms, by the differences of their means.

    .. math:: K(K-1)^2 D \exp\Bigl(\frac{1}{16} - \frac{B}{16\, L H_{\mu,c}}\Bigr)

    Lemma 2 holds while differences err by less than :math:`x = \gamma_{(k)}/4`, and with k active arms
    :math:`N x^2 \ge (B / (L H_{\mu,c}) - 1) / 16`.  There are K - 1 phases, K (K - 1) / 2 pairs, D
    objectives, and two sides.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    allocation : float
        L >= 1, the constant that the targets :math:`\lfloor B / (L C_r) \rfloor` divide by:
        `allocation_constant` for CoPSI as published, `exact_allocation_constant` for what known costs allow.
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    >>> round(difference_error_bound(48, n_arms=2, n_objectives=1, allocation=1.5, complexity=2.0), 6)
    0.783211
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    rate = difference_error_rate(allocation=allocation, complexity=complexity)
    pairs = n_arms * (n_arms - 1) ** 2 * n_objectives
    return pairs * exp(1 / 16 - rate * _check.positive(budget, "budget"))


def difference_error_budget(
    error: float, *, n_arms: int, n_objectives: int, allocation: float, complexity: float
) -> float:
    r"""Not the paper's: budget at which `difference_error_bound` promises an error of at most p.

    .. math:: B = 16\, L H_{\mu,c} \Bigl( \frac{1}{16} + \log \frac{K(K-1)^2 D}{p} \Bigr)

    Parameters
    ----------
    error : float
        p in (0, 1]; at 1 the budget from which on the bound says anything.
    n_arms, n_objectives, allocation, complexity
        As in `difference_error_bound`.

    Returns
    -------
    float
        B, in the unit of the complexity; ``inf`` where that is.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "allocation": 1.5, "complexity": 10.0}
    >>> round(difference_error_bound(difference_error_budget(0.05, **how), **how), 6)
    0.05
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    pairs = n_arms * (n_arms - 1) ** 2 * n_objectives
    scale = 16 * _check.positive(allocation, "allocation") * complexity
    return scale * (1 / 16 + log(pairs / _check.positive(error, "error", 1.0)))


def variance_complexity(gaps: ArrayLike, costs: ArrayLike, variance: float) -> float:
    r"""Not the paper's: complexity of arms that are evaluated on shared instances.

    .. math::

        H_\sigma = \max_{\emptyset \ne A \subseteq [K]}
            C(A)\, \frac{32 \sigma^2 + \frac{16}3 \gamma_{(|A|)}}{\gamma_{(|A|)}^2}

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        As in `cost_complexity`.
    variance : float
        :math:`\sigma^2`: the largest variance, over pairs and objectives, of the difference of two rewards on
        one instance.  Independent rewards in [0, 1] may reach 1/2, where :math:`32 \sigma^2` is the 16 of
        `difference_error_bound`; configurations that answer alike have little.

    Returns
    -------
    float
        In the unit of the costs; ``inf`` if a gap is zero.

    Examples
    --------
    >>> round(variance_complexity([0.1, 0.1], [1.0, 1.0], variance=0.05), 6)  # 2 (1.6 + 8 / 15) / 0.01
    426.666667
    """
    gaps, costs = check_gaps(gaps, costs)
    if not gaps.all():
        return inf
    gaps = np.sort(gaps)
    needed = (32 * _check.non_negative(variance, "variance") + 16 / 3 * gaps) / gaps**2
    return float((np.cumsum(np.sort(costs)[::-1]) * needed).max())


def variance_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, allocation: float, complexity: float
) -> float:
    r"""Not the paper's: Theorem 2 where the n-th evaluation of every arm is on the same instance.

    .. math:: K(K-1)^2 D \exp\Bigl(\frac3{16} - \frac{B}{L H_\sigma}\Bigr)

    Instances are independent draws; rewards on one of them may depend on each other in any way.  Bernstein's
    exponential moment is that of a supermartingale, so that by Ville's inequality a difference of variance
    :math:`\sigma^2`, within 2 of its mean, is ever off by x from N pulls on with probability at most
    :math:`2 \exp(-N x^2 / (2 \sigma^2 + \frac43 x))`.  At :math:`x = \gamma_{(k)} / 4` the exponent is
    :math:`N \gamma_{(k)}^2 / (32 \sigma^2 + \frac{16}3 \gamma_{(k)})`; with :math:`N \ge B / (L C) - 1`
    it is at least :math:`B / (L H_\sigma) - \frac3{16}`.  Statements are counted as in
    `difference_error_bound`.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives, allocation
        As in `difference_error_bound`.
    complexity : float
        :math:`H_\sigma`, `variance_complexity`; ``inf`` is allowed.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    Two arms that differ on few instances; at a variance of 1/2 the exponent would be 7.75 times smaller.

    >>> how = {"n_arms": 2, "n_objectives": 1, "allocation": 1.0}
    >>> alike = variance_complexity([0.1, 0.1], [1.0, 1.0], variance=0.05)
    >>> round(variance_error_bound(3000.0, complexity=alike, **how), 5)
    0.00213
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    rate = 1 / (_check.positive(allocation, "allocation") * complexity)
    return n_arms * (n_arms - 1) ** 2 * n_objectives * exp(3 / 16 - rate * _check.positive(budget, "budget"))


# ----------------------------------------------------------------------------- single costs are random
def overspend_bound(budget: float, margin: float, *, cost_ratio: float) -> float:
    r"""Not the paper's: bound on the probability that a plan for :math:`(1 - \delta) B` costs more than B.

    .. math::

        \exp\Bigl( - \frac{\delta^2 B}{2 (1 - \sqrt\lambda)^2 (1 - \delta)
            + \frac23 (1 - \lambda)\, \delta} \Bigr)

    By Freedman's inequality.  Azuma's, with the range :math:`1 - \lambda` and the at most
    :math:`(1 - \delta) B / \lambda` pulls that there may be, gives
    :math:`\exp(-2 \delta^2 \lambda B / ((1 - \lambda)^2 (1 - \delta)))`: for small margins its exponent is
    smaller by a factor of :math:`(1 + \sqrt\lambda)^2 / (4 \lambda)`.

    Parameters
    ----------
    budget : float
        B, over the largest single cost.
    margin : float
        delta in (0, 1).
    cost_ratio : float
        lambda in (0, 1]: the smallest single cost over the largest.

    Returns
    -------
    float
        Zero if lambda is 1.

    Examples
    --------
    >>> round(overspend_bound(1000.0, 0.1, cost_ratio=0.25), 10)
    2.1e-09
    """
    margin = _check.positive(margin, "margin", 1.0)
    cost_ratio = _check.positive(cost_ratio, "cost_ratio", 1.0)
    budget = _check.positive(budget, "budget")
    if cost_ratio == 1:
        return 0.0
    variance = (1 - sqrt(cost_ratio)) ** 2 * (1 - margin)
    return exp(-(margin**2) * budget / (2 * variance + 2 / 3 * (1 - cost_ratio) * margin))


def planning_margin(*, allocation: float, complexity: float, cost_ratio: float) -> float:
    r"""Not the paper's: the margin at which `overspend_bound` falls as fast as the bound on errors.

    It solves

    .. math::

        \frac{\delta^2}{2 (1 - \sqrt\lambda)^2 (1 - \delta) + \frac23 (1 - \lambda)\, \delta}
            = \frac{1 - \delta}{16\, L H},
        \qquad \delta \approx \frac{1 - \sqrt\lambda}{\sqrt{8\, L H}} .

    Parameters
    ----------
    allocation, complexity : float
        L and H, as in `difference_error_bound`.
    cost_ratio : float
        lambda.

    Returns
    -------
    float
        delta in [0, 1).

    Examples
    --------
    >>> round(planning_margin(allocation=2.0, complexity=200.0, cost_ratio=0.25), 4)
    0.0088
    """
    rate = difference_error_rate(allocation=allocation, complexity=complexity)
    cost_ratio = _check.positive(cost_ratio, "cost_ratio", 1.0)
    variance, step = 2 * (1 - sqrt(cost_ratio)) ** 2 * rate, 2 / 3 * (1 - cost_ratio) * rate
    square, linear = 1 - variance + step, 2 * variance - step
    root = sqrt(linear**2 + 4 * square * variance)
    # the coefficient of the square vanishes at some L H below one, but then the linear one is positive
    return 2 * variance / (root + linear) if linear > 0 else (root - linear) / (2 * square)


def pilot_failure_bound(pulls: int, accuracy: float, *, n_arms: int, cost_ratio: float) -> float:
    r"""Not the paper's: bound on the probability that a pilot misses a mean cost by a share of eta or more.

    .. math::

        2 K \exp\Bigl( - \frac{m \lambda \eta^2}
            {\frac12 (1 - \lambda)^2 + \frac23 (1 - \lambda)\, \eta} \Bigr)

    By Bernstein's inequality; the variance of a cost over its squared mean is at most
    :math:`(1 - \lambda)^2 / (4 \lambda)`.

    Parameters
    ----------
    pulls : int
        m >= 1, of each arm.
    accuracy : float
        eta in (0, 1).
    n_arms : int
        K.
    cost_ratio : float
        lambda.

    Returns
    -------
    float
        Zero if lambda is 1.

    Examples
    --------
    >>> round(pilot_failure_bound(500, 0.2, n_arms=5, cost_ratio=0.25), 6)
    2e-05
    """
    pulls, n_arms = _check.count(pulls, "pulls", 1), _check.count(n_arms, "n_arms", 2)
    accuracy = _check.positive(accuracy, "accuracy", 1.0)
    cost_ratio = _check.positive(cost_ratio, "cost_ratio", 1.0)
    if cost_ratio == 1:
        return 0.0
    spread = 1 - cost_ratio
    return 2 * n_arms * exp(-pulls * cost_ratio * accuracy**2 / (spread**2 / 2 + 2 / 3 * spread * accuracy))


#: From (means of the active arms, what margins err by) to which of them may be the next to leave.
LeaveRule = Callable[[NDArray[np.float64], float], NDArray[np.bool_]]

#: Sets of one size up to which they are enumerated: of K arms there are 2^K sets, but few can be reached.
MOST_SETS = 5_000


def may_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Not the paper's: arms whose empirical gap may be the largest while margins err by less than ``slack``.

    Every empirical gap is :math:`\max\{\Delta_i^-, \Delta_i^+\}`, which grows with each margin in it.  So it
    lies between what it is with all of them lowered and with all of them raised by the slack; an arm may
    leave if its upper end is above every lower one.  No arm is missed that can leave, but one may be named
    that cannot: one error of a mean moves several margins, not all of them the same way.

    Parameters
    ----------
    means : array_like, shape (k, D)
        True means of the active arms.
    slack : float
        Positive; twice that which a mean may err by.

    Returns
    -------
    ndarray of bool, shape (k,)
        Time and memory O(k^2 D).

    Examples
    --------
    >>> may_leave([[0.9], [0.8], [0.2]], 0.05)
    array([False, False,  True])
    """
    slack = _check.positive(slack, "slack")
    m, M = dominance.margins_of_others(means)
    dominated_by = m.max(axis=1)

    def gaps(error: float) -> NDArray[np.float64]:
        needed = np.maximum(M.T + error, 0) + np.maximum(dominated_by + error, 0)
        plus: NDArray[np.float64] = np.minimum(M + error, needed).min(axis=1)
        return np.maximum(dominated_by + error, plus)

    # ends that are equal, but for rounding, would need the whole slack
    return gaps(slack) > gaps(-slack).max() + 1e-12


def reachable_sets(means: ArrayLike, leaves: LeaveRule = may_leave) -> list[NDArray[np.bool_]]:
    r"""Not the paper's: active sets that gap elimination may come to while no phase has erred too much.

    All arms are one; if A is one, of size k > 2, so is every :math:`A \setminus \{e\}` whose e may leave A
    while the means of active arms err by less than :math:`\gamma_{(k)} / 8`, and hence margins by less than
    :math:`\gamma_{(k)} / 4`.

    Parameters
    ----------
    means : array_like, shape (K, D)
        True means.
    leaves : callable
        Who may leave; the default errs on the side of too many.

    Returns
    -------
    list of ndarray of bool, shape (number of sets, K)
        The sets of K, K - 1, ..., 2 arms.

    Raises
    ------
    CobanditError
        If a gap is zero, or more than 5,000 sets of one size can be reached.

    Notes
    -----
    Time O(K^2 D) for each set.

    Examples
    --------
    >>> [len(sets) for sets in reachable_sets([[0.9], [0.8], [0.5], [0.45], [0.2]])]
    [1, 3, 2, 1]
    """
    means = _check.means(means)
    n_arms = len(means)
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        raise CobanditError("means: a classification gap is zero, and no error is small enough for that")
    found = [np.ones((1, n_arms), dtype=bool)]
    for size in range(n_arms, 2, -1):
        smaller = []
        for active in found[-1]:
            for arm in np.flatnonzero(active)[leaves(means[active], gaps[size - 1] / 4)]:
                smaller.append(active & (np.arange(n_arms) != arm))
        found.append(np.unique(np.array(smaller), axis=0))
        if len(found[-1]) > MOST_SETS:
            raise CobanditError(f"means: {len(found[-1]):,} sets can be reached: take fewer arms")
    return found


def reachable_complexity(means: ArrayLike, costs: ArrayLike, leaves: LeaveRule = may_leave) -> float:
    r"""Not the paper's: the complexity of `cobandit.theory.cost_complexity` over `reachable_sets` alone.

    .. math::

        H_{\mathrm{reach}} = \max_{k \ge 2} \max_{A \in \mathcal A_k} \frac{C(A)}{\gamma_{(k)}^2}
            \le H_{\mu,c}

    It takes the place of :math:`H_{\mu,c}` in `difference_error_bound` and in `sharpened_error_bound`.

    Parameters
    ----------
    means : array_like, shape (K, D)
    costs : array_like, shape (K,)
        In any unit.
    leaves : callable
        As in `reachable_sets`.

    Returns
    -------
    float
        In the unit of the costs; ``inf`` if a gap is zero.

    Raises
    ------
    CobanditError
        If more than 5,000 sets of one size can be reached.

    Examples
    --------
    The paper's complexity is the same for both; the expensive arm is hard to classify, then easy.

    >>> means = [[0.9], [0.8], [0.1]]
    >>> [round(reachable_complexity(means, costs), 6) for costs in ([1, 0.5, 0.2], [0.5, 0.2, 1])]
    [150.0, 70.0]
    """
    means = _check.means(means)
    costs = _check.costs(costs, n_arms=len(means))
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        return float("inf")
    return largest_complexity(reachable_sets(means, leaves), costs, gaps)


def largest_complexity(
    sets: list[NDArray[np.bool_]], costs: NDArray[np.float64], gaps: NDArray[np.float64]
) -> float:
    """Largest aggregate cost over the square of the gap of that size; sets of an array are of one size."""
    return max(float((each @ costs).max() / gaps[each[0].sum() - 1] ** 2) for each in sets)


def least_error(budget: float, *, allocation: float, complexity: float) -> float:
    r"""Not the paper's: an error that no method can stay below on all problems of a hard family.

    .. math:: \frac14 \exp\Bigl( - \frac{18\, B}{(L^\star(c) - \frac12)\, H_{\mathrm{reach}}} \Bigr)

    For every cost vector and every p < K there are K - p + 1 problems with p arms on the front such that
    whoever spends at most B errs on the first with probability more than one half, or on one of the others
    with at least this, at that problem's own complexity; c holds the costs of K - p + 1 arms, of any.

    Parameters
    ----------
    budget : float
        B > 0, on average on the first problem.
    allocation : float
        :math:`L^\star(c)`, `exact_allocation_constant`, of the K - p + 1 arms that are contested.
    complexity : float
        `reachable_complexity`, whichever of the two rules says who may leave.

    Returns
    -------
    float
        In (0, 1/4].

    Examples
    --------
    >>> round(least_error(10.0, allocation=1.5, complexity=100.0), 4)
    0.0413
    """
    allocation = _check.positive(allocation, "allocation")
    if allocation < 1:
        raise CobanditError(f"allocation is {allocation}: the exact constant is at least 1")
    rate = 18 / ((allocation - 1 / 2) * _check.positive(complexity, "complexity"))
    return exp(-rate * _check.positive(budget, "budget")) / 4
