"""A bandit problem with known means and costs: efficiencies, gaps and complexity."""

from collections.abc import Sequence
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation, dominance
from cobandit._text import as_html
from cobandit.errors import CobanditError


def hypervolume(means: ArrayLike) -> NDArray[np.float64]:
    r"""Return the hypervolume of each point, with the origin as reference point.

    .. math:: H(\mu) = \prod_d \mu^{(d)}

    Parameters
    ----------
    means : array_like, shape (..., D)
        Points with D >= 1 non-negative coordinates.

    Returns
    -------
    ndarray, shape (...)
        The paper's H_i (Section 3.1). Time O(D) per point.

    Raises
    ------
    CobanditError
        If an entry is not finite or is negative, or if there is no coordinate.

    Examples
    --------
    >>> hypervolume([[0.5, 0.5], [1.0, 0.25]])
    array([0.25, 0.25])
    """
    array = _validation.numbers(means, "means", None)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise CobanditError(
            "means: the last dimension must have the objectives, but the shape is"
            f" {array.shape}",
            argument="means",
            code="wrong-shape",
        )
    if (array < 0).any():
        raise CobanditError(
            f"means: every mean must be at least 0, but one is {array.min():g}",
            argument="means",
            code="out-of-range",
        )
    product: NDArray[np.float64] = np.prod(array, axis=-1)
    return product


def cost_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Return the cost-aware complexity :math:`H_{\mu,c}` (paper, Section 3.2).

    .. math::

        H_{\mu,c} = \max_{\emptyset \ne A \subseteq [K]} \frac{C(A)}{\gamma_{(|A|)}^2}
                  = \max_k \frac{c^{(1)} + \dots + c^{(k)}}{\gamma_{(k)}^2}

    Here C(A) is the total cost of a set A of arms, gaps are in ascending order, and
    costs in descending order. Among the sets of size k, the k most expensive arms have
    the largest total cost, so only K sets matter.

    Parameters
    ----------
    gaps : array_like, shape (K,)
        Classification gaps, >= 0.
    costs : array_like, shape (K,)
        Costs, in any unit.

    Returns
    -------
    float
        Complexity, in the unit of the costs. It is ``inf`` if a gap is zero, which the
        paper excludes.

    Raises
    ------
    CobanditError
        If the lengths differ, a gap is negative or a cost is not positive.

    Notes
    -----
    The value is exact. Time O(K log K).

    Examples
    --------
    >>> cost_complexity([0.5, 0.25], [1.0, 2.0])  # max(2 / 0.25^2, 3 / 0.5^2)
    32.0
    """
    gaps, costs = check_gaps(gaps, costs)
    if not gaps.all():
        return inf
    largest_costs = np.cumsum(np.sort(costs)[::-1])
    return float((largest_costs / np.sort(gaps) ** 2).max())


def check_gaps(
    gaps: ArrayLike, costs: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return classification gaps and costs as arrays, or raise if they are invalid."""
    gaps = _validation.numbers(gaps, "gaps", 1)
    if not len(gaps) or gaps.min() < 0:
        raise CobanditError(
            "gaps: one gap for each arm is needed, and none may be negative",
            argument="gaps",
            code="bad-gaps",
        )
    return gaps, _validation.costs(costs, n_arms=len(gaps))


class Problem:
    r"""True means and costs of K arms: efficiencies, Pareto set, gaps and complexity.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Mean reward vectors in [0, 1]; K >= 2, D >= 1.
    costs : array_like, shape (K,)
        Mean cost of one pull of each arm, in any unit. Costs are not rescaled. For the
        paper's statements, divide them by the largest cost, so that they are in
        [lambda, 1].
    names : sequence of str, optional
        Names of the arms; by default ``"0"``, ``"1"``, ...

    Attributes
    ----------
    hypervolume : ndarray, shape (K,)
        :math:`H_i = \prod_d \mu_i^{(d)}`.
    efficiency : ndarray, shape (K,)
        :math:`\nu_i = H_i / \mu_i^c`, per unit of cost.
    best_arm : int
        :math:`i^\star = \arg\max_i \nu_i`, the lowest number among ties.
    efficiency_gaps : ndarray, shape (K,)
        :math:`\Delta_i = \nu_{i^\star} - \nu_i`.
    pareto_mask : ndarray of bool, shape (K,)
        Membership in :math:`\mathcal P^\star`.
    classification_gaps : ndarray, shape (K,)
        :math:`\gamma_i`.
    complexity : float
        :math:`H_{\mu,c}`, in the unit of the costs; ``inf`` if a gap is zero.

    Raises
    ------
    CobanditError
        If a mean is outside [0, 1], shapes disagree, or a cost is not positive.

    Examples
    --------
    >>> means = [[0.8, 0.5], [0.5, 0.8], [0.4, 0.4]]
    >>> p = Problem(means, costs=[1.0, 0.5, 0.25], names=["a", "b", "c"])
    >>> p.names[p.best_arm], p.efficiency
    ('b', array([0.4 , 0.8 , 0.64]))
    >>> p.pareto_mask, p.classification_gaps.round(3)
    (array([ True,  True, False]), array([0.1, 0.1, 0.1]))
    >>> round(p.complexity, 6)
    175.0
    """

    def __init__(
        self, means: ArrayLike, costs: ArrayLike, names: Sequence[str] | None = None
    ):
        self.means = _validation.means(means)
        if (self.means < 0).any() or (self.means > 1).any():
            arm, d = np.argwhere((self.means < 0) | (self.means > 1))[0]
            raise CobanditError(
                f"means[{arm}, {d}] is {self.means[arm, d]}: mean rewards lie in"
                " [0, 1]",
                argument="means",
                code="out-of-range",
            )

        self.costs = _validation.costs(costs, n_arms=len(self.means))
        self.names = tuple(map(str, range(self.n_arms) if names is None else names))
        if len(self.names) != self.n_arms or len(set(self.names)) != self.n_arms:
            raise CobanditError(
                f"names: {self.n_arms} different names are needed, got"
                f" {list(self.names)}",
                argument="names",
                code="bad-names",
            )

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.means)

    @property
    def n_objectives(self) -> int:
        """Number of objectives, D."""
        return int(self.means.shape[1])

    @cached_property
    def hypervolume(self) -> NDArray[np.float64]:
        """Hypervolume of each arm, the product of its means, shape (K,)."""
        return hypervolume(self.means)

    @cached_property
    def efficiency(self) -> NDArray[np.float64]:  # noqa: D102
        return self.hypervolume / self.costs

    @property
    def best_arm(self) -> int:  # noqa: D102
        return int(self.efficiency.argmax())

    @property
    def efficiency_gaps(self) -> NDArray[np.float64]:  # noqa: D102
        efficiency = self.efficiency
        gaps: NDArray[np.float64] = efficiency.max() - efficiency
        return gaps

    @cached_property
    def pareto_mask(self) -> NDArray[np.bool_]:  # noqa: D102
        return dominance.pareto_mask(self.means)

    @cached_property
    def classification_gaps(self) -> NDArray[np.float64]:  # noqa: D102
        return dominance.classification_gaps(self.means)

    @property
    def complexity(self) -> float:  # noqa: D102
        return cost_complexity(self.classification_gaps, self.costs)

    def __repr__(self) -> str:
        best = self.names[self.best_arm]
        return (
            f"Problem({self.n_arms} arms, {self.n_objectives} objectives, best arm"
            f" {best!r})"
        )

    def _repr_html_(self) -> str:
        """Return the arms as an HTML table for a notebook."""
        # imported here, since importing pandas takes a third of a second
        import pandas as pd

        names = [f"mean {d + 1}" for d in range(self.n_objectives)]
        arms = pd.DataFrame(self.means, columns=names, index=list(self.names))
        arms = arms.assign(
            cost=self.costs, efficiency=self.efficiency, front=self.pareto_mask
        )
        return as_html(repr(self), arms)
