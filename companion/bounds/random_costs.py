r"""CoPSI with random costs in [lambda, 1]: overspending, planning and pilots (ours).

The paper's Algorithm 2 charges every pull its known mean cost. If costs are random,
CoPSI plans its pulls for a smaller budget, :math:`(1 - \delta) B`. A cost of mean c has
a variance of at most :math:`(1 - c)(c - \lambda) \le (1 - \sqrt\lambda)^2 c`. The
variance of the total cost of any number of pulls is therefore at most :math:`(1 -
\sqrt\lambda)^2` times its mean.
"""

from math import exp, sqrt

from cobandit import _validation
from companion.bounds.differences import difference_error_rate


def overspend_bound(budget: float, margin: float, *, cost_ratio: float) -> float:
    r"""Return a bound on the probability that CoPSI overspends at random costs (ours).

    .. math::

        \exp\Bigl( - \frac{\delta^2 B}{2 (1 - \sqrt\lambda)^2 (1 - \delta)
            + \frac23 (1 - \lambda)\, \delta} \Bigr)

    CoPSI plans its pulls for :math:`(1 - \delta) B`. The bound follows from Freedman's
    inequality. Azuma's inequality, with the range :math:`1 - \lambda` and at most
    :math:`(1 - \delta) B / \lambda` pulls, gives :math:`\exp(-2 \delta^2 \lambda B /
    ((1 - \lambda)^2 (1 - \delta)))`. For small margins, the exponent of Azuma's
    inequality is smaller by a factor of :math:`(1 + \sqrt\lambda)^2 / (4 \lambda)`.

    Parameters
    ----------
    budget : float
        B, in units of the largest single cost.
    margin : float
        delta in (0, 1), the share of the budget that is held back.
    cost_ratio : float
        lambda in (0, 1]: the smallest single cost over the largest.

    Returns
    -------
    float
        The bound, zero if lambda is 1.

    Examples
    --------
    >>> round(overspend_bound(1000.0, 0.1, cost_ratio=0.25), 10)
    2.1e-09
    """
    margin = _validation.positive(margin, "margin", 1.0)
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    budget = _validation.positive(budget, "budget")
    if cost_ratio == 1:
        return 0.0
    variance = (1 - sqrt(cost_ratio)) ** 2 * (1 - margin)
    return exp(
        -(margin**2) * budget / (2 * variance + 2 / 3 * (1 - cost_ratio) * margin)
    )


def planning_margin(
    *, allocation: float, complexity: float, cost_ratio: float
) -> float:
    r"""Return the margin that equates the rates of overspending and of errors (ours).

    The margin is the share of the budget that is held back. At this margin, two bounds
    decrease at the same exponential rate as the budget grows: `overspend_bound`, and
    `difference_error_bound` at the planned budget. The margin solves

    .. math::

        \frac{\delta^2}
            {2 (1 - \sqrt\lambda)^2 (1 - \delta) + \frac23 (1 - \lambda)\, \delta}
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
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    variance = 2 * (1 - sqrt(cost_ratio)) ** 2 * rate
    step = 2 / 3 * (1 - cost_ratio) * rate
    square = 1 - variance + step
    linear = 2 * variance - step
    root = sqrt(linear**2 + 4 * square * variance)
    # the quadratic coefficient may be zero for L H below one; the linear coefficient is
    # then positive, and the first form of the root is defined
    if linear > 0:
        return 2 * variance / (root + linear)
    return (root - linear) / (2 * square)


def pilot_failure_bound(
    pulls: int, accuracy: float, *, n_arms: int, cost_ratio: float
) -> float:
    r"""Return a bound on the probability that a pilot misestimates a mean cost (ours).

    The pilot pulls every arm m times. It misestimates a mean cost if its estimate has a
    relative error of eta or more.

    .. math::

        2 K \exp\Bigl( - \frac{m \lambda \eta^2}
            {\frac12 (1 - \lambda)^2 + \frac23 (1 - \lambda)\, \eta} \Bigr)

    This is Bernstein's inequality. The variance of a cost is at most :math:`(1 -
    \lambda)^2 / (4 \lambda)` times its squared mean.

    Parameters
    ----------
    pulls : int
        m >= 1, the number of pulls per arm.
    accuracy : float
        eta in (0, 1).
    n_arms : int
        K.
    cost_ratio : float
        lambda.

    Returns
    -------
    float
        The bound, zero if lambda is 1.

    Examples
    --------
    >>> round(pilot_failure_bound(500, 0.2, n_arms=5, cost_ratio=0.25), 6)
    2e-05
    """
    pulls = _validation.count(pulls, "pulls", 1)
    n_arms = _validation.count(n_arms, "n_arms", 2)
    accuracy = _validation.positive(accuracy, "accuracy", 1.0)
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    if cost_ratio == 1:
        return 0.0

    spread = 1 - cost_ratio
    variance = spread**2 / 2 + 2 / 3 * spread * accuracy
    return 2 * n_arms * exp(-pulls * cost_ratio * accuracy**2 / variance)
