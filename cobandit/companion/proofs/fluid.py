"""What the best policy earns within a budget, exactly, when costs lie on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError


def optimal_utility(
    utilities: ArrayLike,
    costs: ArrayLike,
    probabilities: ArrayLike,
    budget: int,
    *,
    boundary: bool = False,
) -> NDArray[np.float64]:
    r"""Largest expected total utility :math:`R_b^\star` of any adaptive policy, for every budget b up to B.

    Bellman's equation over what is left: a pull of arm i costs :math:`c_{is}` with probability
    :math:`p_{is}` and, if it fits, earns :math:`u_{is}`,

    .. math::

        V(b) = \max_i \sum_s p_{is}\, \mathbb 1\{c_{is} \le b\} \bigl(u_{is} + V(b - c_{is})\bigr).

    With ``boundary`` the pull that crosses the budget still earns its utility and ends the run.
    A single arm gives the value of "always this arm"; utilities equal to the costs give the expected spend.

    Parameters
    ----------
    utilities : array_like, shape (K,) or (K, S)
        What a pull earns: :math:`H_i`, or one value for each of the S possible costs.
    costs : array_like of int, shape (K, S)
        Possible costs of each arm in steps of the grid, >= 1.
    probabilities : array_like, shape (K, S)
        Of these costs; each row sums to one.  Zeros fill up arms with fewer costs.
    budget : int
        B in steps of the grid.
    boundary : bool

    Returns
    -------
    ndarray, shape (B + 1,)
        V(0), ..., V(B).  Time O(B K S).

    Raises
    ------
    CobanditError
        If shapes disagree, a cost is not a positive whole number, or a row is not a distribution.

    Examples
    --------
    The dense arm leaves a remainder that only the other can use.

    >>> optimal_utility([3.0, 4.0], [[2], [3]], [[1.0], [1.0]], budget=5)
    array([0., 0., 3., 4., 6., 7.])
    """
    steps = _check.numbers(costs, "costs", 2)
    chances = _check.numbers(probabilities, "probabilities", 2)
    gains = np.asarray(utilities)
    gains = (
        _check.numbers(gains, "utilities", 1)[:, None]
        if gains.ndim == 1
        else _check.numbers(gains, "utilities", 2)
    )
    if chances.shape != steps.shape or gains.shape not in (steps.shape, (len(steps), 1)):
        raise CobanditError(
            f"utilities {gains.shape}, costs {steps.shape} and probabilities {chances.shape} are not "
            "about the same arms"
        )
    if (steps < 1).any() or (steps != np.floor(steps)).any():
        raise CobanditError("costs: whole numbers of grid steps, at least 1, are needed")
    if (chances < 0).any() or not np.allclose(chances.sum(axis=1), 1):
        raise CobanditError("probabilities: each row must be a distribution")
    budget, steps = _check.count(budget, "budget", 1), steps.astype(np.int64)
    value = np.zeros(budget + 1)
    for b in range(budget + 1):
        fits = steps <= b
        after = np.where(fits, value[np.where(fits, b - steps, 0)], 0.0)
        earned = np.where(fits | boundary, gains, 0.0)
        value[b] = (chances * (earned + after)).sum(axis=1).max()
    return value
