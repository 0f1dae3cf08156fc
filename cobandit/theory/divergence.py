r"""Kullback-Leibler divergences of an arm's means from other means (ours).

`CoHVKLUCB` uses these. Rewards are D binary variables, the cost is lambda or 1, and all
are independent. The divergence of an arm from mean rewards x and a mean cost y is

.. math:: \mathcal D(x, y) = \sum_d \mathrm{kl}(\mu^{(d)}, x^{(d)})
    + \mathrm{kl}\Bigl(\frac{\mu^c - \lambda}{1 - \lambda},
    \frac{y - \lambda}{1 - \lambda}\Bigr) ,

where kl is the divergence of binary variables. The most efficient point (x, y) within a
given divergence satisfies, for some :math:`\eta > 0`,

.. math::

    x^{(d)} = \frac{1 + \eta \mu^{(d)}}{1 + \eta}, \qquad
    (1 - \lambda)\, z (1 - z) = \eta\, (q - z)\, y,
    \quad q = \frac{\mu^c - \lambda}{1 - \lambda},\ y = \lambda + (1 - \lambda) z .
"""

from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError


def bernoulli_divergence(mean: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    r"""Return the Kullback-Leibler divergence kl(p, q) of binary variables.

    .. math:: p \log\frac pq + (1 - p) \log\frac{1 - p}{1 - q}

    Parameters
    ----------
    mean, other : array_like
        p and q in [0, 1], of shapes that broadcast.

    Returns
    -------
    ndarray
        Divergence, ``inf`` if q is 0 or 1 and p differs from q.

    Examples
    --------
    >>> bernoulli_divergence(0.5, [0.5, 0.75, 1.0]).round(4)
    array([0.    , 0.1438,    inf])
    """
    from scipy.special import rel_entr

    p = np.asarray(mean, dtype=np.float64)
    q = np.asarray(other, dtype=np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def cheapest(share: float, multiplier: float, cost_ratio: float) -> float:
    """Return the cost of the most efficient point, scaled from [lambda, 1] to [0, 1].

    The scaled cost is z, the root in [0, q] of the quadratic equation in the module's
    docstring, where q is ``share`` and eta is ``multiplier``.
    """
    span = 1 - cost_ratio
    constant = multiplier * share * cost_ratio
    if constant == 0:
        return 0.0

    square = span * (multiplier - 1)
    linear = span * (1 - multiplier * share) + multiplier * cost_ratio
    root = sqrt(max(0.0, linear**2 + 4 * square * constant))

    # of two equal forms of the root, use the one without cancellation
    if linear < 0:
        return min(share, (root - linear) / (2 * square))
    return min(share, 2 * constant / (linear + root))


def least_divergence(
    means: ArrayLike, mean_cost: float, best_efficiency: float, *, cost_ratio: float
) -> float:
    r"""Return the smallest divergence of an arm from means of higher efficiency (ours).

    .. math::

        \mathcal K_{\inf} = \inf \Bigl\{ \mathcal D(x, y) :\
            \frac{\prod_d x^{(d)}}{y} > \nu_{i^\star} \Bigr\}

    Here :math:`\mathcal D(x, y)` is the Kullback-Leibler divergence of the arm from
    mean rewards x and a mean cost y (see the module).

    Parameters
    ----------
    means : array_like, shape (D,)
        :math:`\mu_i` in (0, 1).
    mean_cost, best_efficiency, cost_ratio : float
        :math:`\mu_i^c` in [lambda, 1], :math:`\nu_{i^\star}` and lambda.

    Returns
    -------
    float
        Divergence. It is zero if the arm itself is at least as efficient as
        ``best_efficiency``, and ``inf`` if no means are more efficient.

    Examples
    --------
    With one objective and equal costs, the result is the divergence of two binary
    variables.

    >>> round(least_divergence([0.5], 1.0, 0.75, cost_ratio=1.0), 6)
    0.143841
    """
    mu = _validation.numbers(means, "means", 1)
    ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    cost = _validation.positive(mean_cost, "mean_cost", 1.0)
    if (mu <= 0).any() or (mu >= 1).any() or cost < ratio:
        raise CobanditError(
            "means must be inside of (0, 1), and mean_cost in [cost_ratio, 1]",
            argument="means",
            code="out-of-range",
        )
    aim = log(_validation.positive(best_efficiency, "best_efficiency"))

    span = 1 - ratio
    q = (cost - ratio) / span if span else 0.0

    def best_point(log_multiplier: float) -> tuple[NDArray[np.float64], float]:
        eta = exp(log_multiplier)
        return (1 + eta * mu) / (1 + eta), cheapest(q, eta, cost_ratio=ratio)

    def excess(log_multiplier: float) -> float:
        """Return the log efficiency minus its target; it falls as eta grows."""
        x, z = best_point(log_multiplier)
        return float(np.log(x).sum()) - log(ratio + span * z) - aim

    if np.log(mu).sum() - log(cost) >= aim:
        return 0.0
    if excess(-50.0) <= 0:
        return inf
    from scipy.optimize import brentq

    x, z = best_point(brentq(excess, -50.0, 50.0, xtol=1e-13))
    return float(bernoulli_divergence(mu, x).sum() + bernoulli_divergence(q, z))
