"""Bounds on the probability that means leave their confidence intervals (ours)."""

from math import ceil, log, sqrt

import numpy as np

from cobandit import _validation
from cobandit.theory.online import horizon


def one_sided_failure_probability(
    *, n_objectives: int, cost_ratio: float, budget: float, alpha: float = 2.0
) -> float:
    r"""Return a bound on the probability that concentration fails for one arm (ours).

    The bound is :math:`2(D+1)\,T_B^{1-2\alpha}`. The argument for one suboptimal arm
    needs only 2(D + 1) one-sided statements of the paper's event, about this arm and
    the best arm (see `companion.bounds.pull_counts`).

    Parameters
    ----------
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float
        The bound, which is vacuous above one.

    Examples
    --------
    >>> how = {"n_objectives": 2, "cost_ratio": 0.5}
    >>> bound = one_sided_failure_probability(**how, budget=4.5, alpha=2)
    >>> round(bound, 6)  # 6 / 10^3
    0.006
    """
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    exponent = 1 - 2 * _validation.positive(alpha, "alpha")
    return 2 * (n_objectives + 1) * float(horizon(budget, cost_ratio)) ** exponent


def leaving_bound(pulls: int, alpha: float) -> float:
    r"""Return a bound on the probability that a mean ever exceeds its radius (ours).

    A mean exceeds its radius if, for some s <= T, the empirical mean of s pulls is
    above the true mean by more than the confidence radius.

    .. math::

        \Pr\Bigl(\exists s \le T:\ \hat\mu_s - \mu > \sqrt{\alpha \log T / s}\Bigr)
            \le \min_{m \ge 1} m\, T^{-2\alpha / \cosh^2(\log T / (4m))}
            \le \sqrt e\,
                \Bigl\lceil \tfrac12 \sqrt\alpha\, (\log T)^{3/2} \Bigr\rceil\,
                T^{-2\alpha}

    Theorem 1 uses a union bound over sample sizes, and has T instead of :math:`(\log
    T)^{3/2}`. If the concentration event fails, a run loses at most T. The
    expected loss from failures is therefore at most :math:`2K(D+1)\,T` times this
    probability. For every alpha > 1/2, this loss vanishes as T grows.

    *Proof, by peeling.* Cut 1, ..., T into m blocks of ratio :math:`\beta = T^{1/m}`.
    Let :math:`S_s` be the sum of the first s deviations, and :math:`a = \alpha \log T`.
    Then :math:`e^{\theta S_s - \theta^2 s / 8}` is a supermartingale (Hoeffding). On
    the block [u, beta u], choose
    :math:`\theta = 8 \sqrt{a} / (\sqrt u + \sqrt{\beta u})`.
    If :math:`S_s > \sqrt{a s}`, the logarithm of the supermartingale is above
    :math:`\theta \sqrt{a s} - \theta^2 s / 8`. This is concave in s, and has the same
    value at both ends of the block, :math:`8 a \sqrt\beta / (1 + \sqrt\beta)^2 = 2a /
    \cosh^2(\tfrac14 \log \beta)`. By Ville's inequality, the event therefore has a
    probability of at most :math:`e^{-2a / \cosh^2(\log \beta / 4)}` on each block. The
    last form follows from :math:`m = \lceil \frac12 \sqrt\alpha (\log T)^{3/2} \rceil`
    and :math:`1 / \cosh^2 y \ge 1 - y^2`.

    Parameters
    ----------
    pulls : int
        T >= 2, such as the paper's :math:`T_B`.
    alpha : float
        Exploration constant, > 0.

    Returns
    -------
    float
        The first form, minimised over m up to four times the m of the last form.

    Examples
    --------
    >>> alpha, T = 0.6, 1000
    >>> round(T * leaving_bound(T, alpha), 2), round(T * T ** (1 - 2 * alpha), 1)
    (2.86, 251.2)
    """
    pulls = _validation.count(pulls, "pulls", 2)
    alpha = _validation.positive(alpha, "alpha")
    log_pulls = log(pulls)
    m = np.arange(1, 4 * ceil(sqrt(alpha) * log_pulls**1.5 / 2) + 1)
    return float(
        (m * np.exp(-2 * alpha * log_pulls / np.cosh(log_pulls / (4 * m)) ** 2)).min()
    )
