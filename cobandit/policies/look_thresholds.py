"""Critical values of the repeated comparisons of `ParetoRace`, in standard errors."""

from functools import cache
from math import log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cobandit.policies.look_depths import FIRST_LOOK, list_looks

#: Growth of log n that is assumed for the first look, when the error is divided among
#: the looks.
FIRST_GROWTH = 0.3


def find_crossing_chances(
    thresholds: ArrayLike, n_instances: int
) -> NDArray[np.float64]:
    r"""Return, per comparison, the probability of a first false difference of two arms.

    A difference is false if it exceeds the threshold although the two means are equal.

    .. math::

        P_1 = 1 - \Phi(z_1), \qquad
        P_t = z_t\, \varphi(z_t)\, \frac{\Delta_t}{2}\,
            e^{-0.583\, z_t \sqrt{\Delta_t}}, \qquad
        \Delta_t = \log \frac{n_t\, (N - n_{t-1})}{(N - n_t)\, n_{t-1}}

    A look is a comparison of all arms; look t uses the first :math:`n_t` of N
    instances. For two arms with equal means, the mean difference over its standard
    error is a standardised Brownian bridge, because the population is finite. In the
    time :math:`\log(n / (N - n))`, this is a stationary Gaussian process. The formula
    is Siegmund's approximation of the first passage of this process, observed at the
    looks below N. If the sum of the probabilities is at most 5 %, it agrees with
    simulations to within 20 %.

    Parameters
    ----------
    thresholds : array_like, shape (L, ...)
        Thresholds in standard errors, one row per look before the last.
    n_instances : int
        N.

    Returns
    -------
    ndarray
        Probabilities, in the shape of the thresholds.

    Examples
    --------
    >>> constant = np.full(len(list_looks(300)) - 1, 2.69)
    >>> find_crossing_chances(constant, 300).sum().round(4).item()
    0.0504
    """
    z = np.asarray(thresholds, dtype=np.float64)
    looks = list_looks(n_instances)[:-1]
    steps = np.diff(np.log(looks / (n_instances - looks)))
    steps = steps.reshape(-1, *[1] * (z.ndim - 1))

    chances = np.empty_like(z)
    chances[:1] = special.ndtr(-z[:1])
    density = np.exp(-(z[1:] ** 2) / 2) / sqrt(2 * pi)
    chances[1:] = z[1:] * density * steps / 2 * np.exp(-0.583 * z[1:] * np.sqrt(steps))
    return chances


@cache
def find_thresholds(n_instances: int, most: int, error: float) -> NDArray[np.float64]:
    r"""Return the thresholds of `ParetoRace`, per look and number m of tied pairs.

    A look is a comparison of all arms. The probability that any of the m differences
    ever exceeds its threshold is about ``error``.

    .. math::

        P_t(z_{mt}) = \frac{\text{error}}{m}\, \frac{s_t}{\sum_u s_u}, \qquad
        s_t = \log\frac{n_t}{n_{t-1}}\, \sqrt{n_t}\,
            \Bigl(1 - \frac{n_t}{N}\Bigr), \qquad
        s_1 = 0.3\, \sqrt{n_1}\, \Bigl(1 - \frac{n_1}{N}\Bigr)

    Here :math:`n_t` is the number of instances at look t. The error is divided among
    the looks in proportion to the growth of :math:`\sqrt n`, because early looks can
    distinguish few arms at any threshold. Late looks receive less, because few
    evaluations remain to be saved.

    Returns
    -------
    ndarray, shape (L, most)
        Thresholds in standard errors, one row per look before the last (`list_looks`)
        and one column per m. :math:`P_t` is `find_crossing_chances`.

    Examples
    --------
    >>> find_thresholds(300, 4, 0.05)[[0, 20, 40]].round(2)
    array([[2.65, 2.87, 3.  , 3.09],
           [2.55, 2.83, 2.99, 3.09],
           [2.51, 2.79, 2.95, 3.05]])
    """
    looks = list_looks(n_instances)[:-1]
    growth = np.diff(np.log(looks), prepend=log(FIRST_LOOK) - FIRST_GROWTH)
    spent = growth * np.sqrt(looks) * (1 - looks / n_instances)
    allowed = (spent / spent.sum())[:, None] * error / np.arange(1, most + 1)

    # bisection, since above 1 the probability falls as the threshold grows
    low = np.ones(allowed.shape)
    high = np.full(allowed.shape, 10.0)
    for _ in range(50):
        middle = (low + high) / 2
        too_low = find_crossing_chances(middle, n_instances) > allowed
        low = np.where(too_low, middle, low)
        high = np.where(too_low, high, middle)

    # read-only, because the cache gives the same array to all races of this size
    high.flags.writeable = False
    return high


def widen(threshold: float, depth: int, n_instances: int) -> float:
    """Return a threshold that is enlarged because variances are estimated.

    If the threshold is a normal quantile, the result is Student's quantile to first
    order. The increase is proportional to the share of unseen instances, because only
    the variance on these instances matters.

    Examples
    --------
    >>> round(widen(3.0, 20, 10**9), 3), round(widen(3.0, 200, 400), 3)
    (3.375, 3.019)
    """
    unseen = 1 - depth / n_instances
    return threshold * (1 + unseen * (threshold * threshold + 1) / (4 * depth))
