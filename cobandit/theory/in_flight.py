"""The exploration constant for concurrent evaluations (ours)."""

from math import log, sqrt

from cobandit import _validation
from cobandit.theory.online import horizon


def alpha_in_flight(
    at_once: int, n_init: int, *, budget: float, cost_ratio: float, alpha: float = 2.0
) -> float:
    r"""Return the exploration constant for up to m concurrent evaluations (ours).

    .. math::

        \alpha_m = \kappa \alpha, \qquad
        \kappa = \Bigl(1 + \frac{m - 1}{n_0}\Bigr)^2
                 \Bigl(1 + \frac{m - 1}{\sqrt{\alpha\, n_0 \log T_B}}\Bigr)^2

    Radii count evaluations in flight (requested, but without a result), and are
    therefore too narrow. Of n requested evaluations of an arm, p are in flight and s =
    n - p have returned. Here :math:`p \le m - 1`, and :math:`s \ge n_0` when the index
    decides. On the event of Theorem 1 at :math:`\alpha`, the sum of all n evaluations
    is within :math:`\sqrt{\alpha\, n \log T_B}` of its mean, and leaving out p
    evaluations changes this sum by at most p. The mean of the s returned evaluations is
    therefore within

    .. math::

        \frac ns \Bigl(\sqrt{\frac{\alpha \log T_B}{n}} + \frac pn\Bigr)
        \le \sqrt{\frac{\alpha_m \log T_B}{n}}

    of the true mean, so indices with radii at :math:`\alpha_m` are optimistic.

    If the order of results is independent of their values, :math:`\kappa = 1 + (m - 1)
    / n_0` is enough: results are then independent draws in the order of arrival, and
    only the factor :math:`n / s` remains. The order depends on the values if, for
    example, speed is an objective, because fast answers arrive first.

    Parameters
    ----------
    at_once : int
        m >= 1, the largest number of evaluations in flight.
    n_init : int
        :math:`n_0 \ge 1`, the number of returned evaluations of each arm before the
        index decides.
    budget, cost_ratio, alpha : float
        B, lambda, and the exploration constant for one evaluation at a time.

    Returns
    -------
    float
        :math:`\alpha_m`, which equals alpha for one evaluation at a time.

    Examples
    --------
    >>> round(alpha_in_flight(4, n_init=30, budget=999, cost_ratio=1.0), 3)
    3.186
    """
    others = _validation.count(at_once, "at_once", 1) - 1
    n_init = _validation.count(n_init, "n_init", 1)
    alpha = _validation.positive(alpha, "alpha")
    spread = others / sqrt(alpha * n_init * log(horizon(budget, cost_ratio)))
    return alpha * ((1 + others / n_init) * (1 + spread)) ** 2
