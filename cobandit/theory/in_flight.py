"""The exploration constant for several evaluations in flight (ours)."""

from math import log, sqrt

from cobandit import _validation
from cobandit.theory.online import horizon


def alpha_in_flight(
    at_once: int, n_init: int, *, budget: float, cost_ratio: float, alpha: float = 2.0
) -> float:
    r"""Return the exploration constant for m evaluations in flight (ours).

    .. math::

        \alpha_m = \kappa \alpha, \qquad
        \kappa = \Bigl(1 + \frac{m - 1}{n_0}\Bigr)^2
                 \Bigl(1 + \frac{m - 1}{\sqrt{\alpha\, n_0 \log T_B}}\Bigr)^2

    Radii count evaluations in flight, and are therefore too narrow: of the n
    evaluations of an arm that were begun, s = n - p have returned, with :math:`p \le m
    - 1`, and
    :math:`s \ge n_0` when the index decides.  On the event of Theorem 1 at
    :math:`\alpha` the sum over all n is within :math:`\sqrt{\alpha\, n \log T_B}` of
    its mean, and any p of them change it by at most p.  So the mean over the s returned
    evaluations is within

    .. math::

        \frac ns \Bigl(\sqrt{\frac{\alpha \log T_B}{n}} + \frac pn\Bigr)
        \le \sqrt{\frac{\alpha_m \log T_B}{n}}

    of the truth, and optimism holds with radii at :math:`\alpha_m`.

    If the order of results is independent of their values, :math:`\kappa = 1 + (m - 1)
    / n_0` is enough: results are then independent draws in the order of arrival, and
    :math:`n / s` is the only loss.  They are dependent if fast answers come first and
    speed is an objective.

    Parameters
    ----------
    at_once : int
        m >= 1, largest number of evaluations in flight.
    n_init : int
        :math:`n_0 \ge 1`, returned evaluations of each arm before the index decides.
    budget, cost_ratio, alpha : float
        B, lambda, and the alpha for which the event of Theorem 1 is stated.

    Returns
    -------
    float
        alpha itself for one evaluation at a time.

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
