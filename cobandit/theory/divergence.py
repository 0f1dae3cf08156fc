r"""Lower bound on the pulls of online selection, and the divergence in it (ours).

Rewards are D coins and costs lie at lambda or 1, all independent.  Moving an arm to means x and mean cost y
costs

.. math:: \mathcal D(x, y) = \sum_d \mathrm{kl}(\mu^{(d)}, x^{(d)})
    + \mathrm{kl}\Bigl(\frac{\mu^c - \lambda}{1 - \lambda}, \frac{y - \lambda}{1 - \lambda}\Bigr) ,

kl being that of coins.  Of all points with this divergence the one of largest efficiency is, for some
:math:`\eta > 0`,

.. math::

    x^{(d)} = \frac{1 + \eta \mu^{(d)}}{1 + \eta}, \qquad
    (1 - \lambda)\, z (1 - z) = \eta\, (q - z)\, y,
    \quad q = \frac{\mu^c - \lambda}{1 - \lambda},\ y = \lambda + (1 - \lambda) z .
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.problem import Problem


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


def most_efficient(
    means: NDArray[np.float64], mean_cost: float, multiplier: float, *, cost_ratio: float
) -> tuple[NDArray[np.float64], float]:
    """Means x (D,) and mean cost y of largest efficiency at the divergence that belongs to eta."""
    rewards = (1 + multiplier * means) / (1 + multiplier)
    return rewards, float(cheapest(mean_cost, multiplier, cost_ratio=cost_ratio))


def cheapest(
    mean_costs: ArrayLike, multipliers: ArrayLike, *, cost_ratio: float
) -> NDArray[np.float64]:
    """Mean costs y that belong to eta, elementwise: the root in [0, q] of a quadratic in z."""
    costs, eta = np.asarray(mean_costs, dtype=np.float64), np.asarray(multipliers, dtype=np.float64)
    span = 1 - cost_ratio
    if span == 0:
        return np.broadcast_to(costs, np.broadcast_shapes(costs.shape, eta.shape)).copy()
    q = np.clip((costs - cost_ratio) / span, 0, 1)
    square, linear, constant = span * (eta - 1), span * (1 - eta * q) + eta * cost_ratio, eta * q * cost_ratio
    root = np.sqrt(np.maximum(0.0, linear**2 + 4 * square * constant))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(linear < 0, (root - linear) / (2 * square), 2 * constant / (linear + root))
    return cost_ratio + span * np.clip(z, 0, q)


def least_divergence(
    means: ArrayLike, mean_cost: float, best_efficiency: float, *, cost_ratio: float
) -> float:
    r"""Not the paper's: how far an arm is, in divergence, from being the best.

    .. math::

        \mathcal K_{\inf} = \inf \bigl\{ \mathcal D(x, y) :\ {\textstyle\prod_d} x^{(d)} / y > \nu_{i^\star} \bigr\}

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
    mu = _check.numbers(means, "means", 1)
    ratio = _check.positive(cost_ratio, "cost_ratio", 1.0)
    cost = _check.positive(mean_cost, "mean_cost", 1.0)
    if (mu <= 0).any() or (mu >= 1).any() or cost < ratio:
        raise CobanditError("means inside (0, 1) and a mean cost in [lambda, 1] are needed")
    aim = log(_check.positive(best_efficiency, "best_efficiency"))

    def short(log_multiplier: float) -> float:
        x, y = most_efficient(mu, cost, exp(log_multiplier), cost_ratio=ratio)
        return float(np.log(x).sum()) - log(y) - aim

    if np.log(mu).sum() - log(cost) >= aim:
        return 0.0
    if short(-50.0) <= 0:
        return inf
    from scipy.optimize import brentq

    x, y = most_efficient(mu, cost, exp(brentq(short, -50.0, 50.0, xtol=1e-13)), cost_ratio=ratio)
    total = float(bernoulli_divergence(mu, x).sum())
    if ratio < 1:
        total += float(bernoulli_divergence((cost - ratio) / (1 - ratio), (y - ratio) / (1 - ratio)))
    return total


def least_regret_slope(problem: Problem, *, cost_ratio: float) -> float:
    r"""Not the paper's: :math:`\sum_{i \ne i^\star} \Delta_i / \mathcal K_{\inf}(i)`, a lower bound.

    No method whose pulls of suboptimal arms are fewer than every power of B on all problems has an efficiency
    regret that grows more slowly than this times log B.

    Parameters
    ----------
    problem : Problem
        Means in (0, 1), mean costs in [lambda, 1].
    cost_ratio : float
        lambda.

    Returns
    -------
    float

    Examples
    --------
    >>> problem = Problem([[0.75], [0.5]], [1.0, 1.0])
    >>> round(least_regret_slope(problem, cost_ratio=1.0), 4)  # 0.25 / kl(0.5, 0.75)
    1.738
    """
    best, total = float(problem.efficiency.max()), 0.0
    for mean, cost, gap in zip(problem.means, problem.costs, problem.efficiency_gaps, strict=True):
        if gap > 0:
            total += float(gap) / least_divergence(mean, float(cost), best, cost_ratio=cost_ratio)
    return total
