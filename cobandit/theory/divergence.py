r"""How far an arm is, in divergence, from being the most efficient: the index of `CoHVKLUCB` (ours).

The divergence is for rewards that are D coins and costs at lambda or 1, all
independent.  Moving an arm to means x and mean cost y costs

.. math:: \mathcal D(x, y) = \sum_d \mathrm{kl}(\mu^{(d)}, x^{(d)})
    + \mathrm{kl}\Bigl(\frac{\mu^c - \lambda}{1 - \lambda}, \frac{y - \lambda}{1 - \lambda}\Bigr) ,

kl being that of coins.  Of all points with this divergence the one of largest
efficiency is, for some :math:`\eta > 0`,

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
    r"""kl(p, q) of coins, :math:`p \log\frac pq + (1 - p) \log\frac{1 - p}{1 - q}`.

    Parameters
    ----------
    mean, other : array_like
        p and q in [0, 1], of shapes that broadcast.

    Returns
    -------
    ndarray
        ``inf`` where q is 0 or 1 and p is not.

    Examples
    --------
    >>> bernoulli_divergence(0.5, [0.5, 0.75, 1.0]).round(4)
    array([0.    , 0.1438,    inf])
    """
    from scipy.special import rel_entr

    p, q = np.asarray(mean, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def cheapest(share: float, multiplier: float, cost_ratio: float) -> float:
    """Share z that belongs to the share q and to eta: the root in [0, q] of a quadratic."""
    span, constant = 1 - cost_ratio, multiplier * share * cost_ratio
    if constant == 0:
        return 0.0

    square, linear = (
        span * (multiplier - 1),
        span * (1 - multiplier * share) + multiplier * cost_ratio,
    )
    root = sqrt(max(0.0, linear**2 + 4 * square * constant))

    # of two forms, the one that subtracts nothing
    return min(
        share,
        (
            (root - linear) / (2 * square)
            if linear < 0
            else 2 * constant / (linear + root)
        ),
    )


def least_divergence(
    means: ArrayLike, mean_cost: float, best_efficiency: float, *, cost_ratio: float
) -> float:
    r"""Not the paper's: how far an arm is, in divergence, from being the best.

    .. math::

        \mathcal K_{\inf} = \inf \Bigl\{ \mathcal D(x, y) :\
            \frac{\prod_d x^{(d)}}{y} > \nu_{i^\star} \Bigr\}

    Parameters
    ----------
    means : array_like, shape (D,)
        :math:`\mu_i` in (0, 1).
    mean_cost, best_efficiency, cost_ratio : float
        :math:`\mu_i^c` in [lambda, 1], :math:`\nu_{i^\star}` and lambda.

    Returns
    -------
    float
        Zero for an arm that is as good; ``inf`` if no means and cost are better.

    Examples
    --------
    With one objective at unit cost it is the divergence of two coins.

    >>> round(least_divergence([0.5], 1.0, 0.75, cost_ratio=1.0), 6)
    0.143841
    """
    mu = _validation.numbers(means, "means", 1)
    ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    cost = _validation.positive(mean_cost, "mean_cost", 1.0)
    if (mu <= 0).any() or (mu >= 1).any() or cost < ratio:
        raise CobanditError(
            "means inside (0, 1) and a mean cost in [lambda, 1] are needed"
        )
    aim = log(_validation.positive(best_efficiency, "best_efficiency"))

    span = 1 - ratio
    q = (cost - ratio) / span if span else 0.0

    def moved(log_multiplier: float) -> tuple[NDArray[np.float64], float]:
        eta = exp(log_multiplier)
        return (1 + eta * mu) / (1 + eta), cheapest(q, eta, cost_ratio=ratio)

    def short(log_multiplier: float) -> float:
        x, z = moved(log_multiplier)
        return float(np.log(x).sum()) - log(ratio + span * z) - aim

    if np.log(mu).sum() - log(cost) >= aim:
        return 0.0
    if short(-50.0) <= 0:
        return inf
    from scipy.optimize import brentq

    x, z = moved(brentq(short, -50.0, 50.0, xtol=1e-13))
    return float(bernoulli_divergence(mu, x).sum() + bernoulli_divergence(q, z))
