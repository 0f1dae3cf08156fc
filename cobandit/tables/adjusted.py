"""Means over all instances, for configurations with missing evaluations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Newton's method for the multiplicative model stops after this number of steps, or
#: when the change is below `SMALL`.
STEPS = 100
SMALL = 1e-12
#: Largest change of a log effect in one Newton step.
LONGEST_STEP = 2.0


class AdjustedMeans:
    r"""Estimated means over all instances, if some evaluations are missing.

    A mean over easy instances does not estimate the mean over all instances. Each value
    is therefore modelled by an effect of its configuration and an effect of its
    instance. The mean of configuration i is the model's average over all instances.
    Scores have an additive model, fitted by least squares. Costs have a multiplicative
    model, fitted so that the sums of each configuration and each instance match the
    data (quasi-Poisson):

    .. math::

        x_{is} = \alpha_i + \beta_s + e_{is}, \quad \mu_i = \alpha_i + \bar\beta
        \qquad\text{or}\qquad
        c_{is} = a_i b_s + e_{is}, \quad \mu_i = a_i \bar b .

    With two configurations, the difference (or ratio) of the two :math:`\mu` equals the
    difference (or ratio) of their means over shared instances. With more than two, the
    other configurations contribute to the effects of the instances. If nothing is
    missing, :math:`\mu_i` is the plain mean. If no chain of shared instances connects
    two configurations, they belong to different *parts* of the table, and each mean is
    over the instances of its part.

    Parameters
    ----------
    arm, instance : ndarray of int, shape (N,)
        Number of each row's configuration, and of its instance, from 0. Every number up
        to the largest one occurs.
    values : ndarray, shape (N,)
    multiplicative : bool
        Whether the multiplicative model is fitted. This model needs positive values.

    Attributes
    ----------
    means : ndarray, shape (K,)
    arm_effects, instance_effects : ndarray, shapes (K,) and (I,)
        :math:`\alpha` and :math:`\beta`, or :math:`a` and :math:`b`.

    Notes
    -----
    Time O(K^3 + K N) and memory O(K^2 + N).

    Examples
    --------
    The second configuration was evaluated only on the two easier of three questions,
    with a mean that is 0.1 below the mean of the first on these questions:

    >>> arm, instance = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    >>> AdjustedMeans(arm, instance, np.array([0.9, 0.9, 0.3, 0.8, 0.8])).means.round(3)
    array([0.7, 0.6])
    >>> costs = np.array([1, 3, 8, 2, 6.0])
    >>> AdjustedMeans(arm, instance, costs, multiplicative=True).means.round(3)
    array([4., 8.])
    """

    def __init__(
        self, arm: Ints, instance: Ints, values: Floats, multiplicative: bool = False
    ):
        self._arm = arm
        self._instance = instance
        self._multiplicative = multiplicative
        self._shape = n_arms, _ = int(arm.max()) + 1, int(instance.max()) + 1
        present = sparse.csr_array((np.ones(len(arm)), (arm, instance)), self._shape)
        _, part = connected_components(
            sparse.block_array([[None, present], [present.T, None]]), False
        )
        self._part = part[:n_arms]
        self._part_of_instance = part[n_arms:]
        same = self._part[:, None] == self._part
        #: Term added to the information matrix, which is singular: in each part, one
        #: direction has no information.
        self._same = same / same.sum(axis=1)

        if multiplicative:
            self._fit_product(values)
        else:
            self._fit_sum(values)
        levels = self._average(self.instance_effects)[self._part]
        self.means = (
            self.arm_effects * levels if multiplicative else self.arm_effects + levels
        )

    def _fit_sum(self, values: Floats) -> None:
        weights = np.ones_like(values)
        self._use(weights)
        self.arm_effects = self._solve(self._by_arm(values - self._share_out(values)))
        self.instance_effects = (
            self._by_instance(values - self.arm_effects[self._arm]) / self._totals
        )
        self._residuals = (
            values - self.arm_effects[self._arm] - self.instance_effects[self._instance]
        )

    def _fit_product(self, values: Floats) -> None:
        logarithms = np.log(self._by_arm(values) / np.bincount(self._arm))
        totals = self._by_instance(values)
        for _ in range(STEPS):
            effects = np.exp(logarithms)[self._arm]
            self.instance_effects = totals / self._by_instance(effects)
            fitted = effects * self.instance_effects[self._instance]
            self._use(fitted)
            self._residuals = values - fitted
            step = self._solve(self._by_arm(self._residuals))
            if np.abs(step).max() <= SMALL:
                break
            logarithms += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        self.arm_effects = np.exp(logarithms)

    def _use(self, weights: Floats) -> None:
        """Factorise the information matrix of the arm effects for these row weights."""
        self._weights = weights
        self._totals = self._by_instance(weights)
        rows = sparse.csr_array((weights, (self._arm, self._instance)), self._shape)
        information = (
            np.diag(self._by_arm(weights)) - ((rows / self._totals) @ rows.T).toarray()
        )
        scale = np.trace(information) / len(information) or 1.0
        self._factor = linalg.cho_factor(information + scale * self._same)

    def _solve(self, right: Floats) -> Floats:
        """Solve for arm effects with mean zero in each part; ``right`` is (K, ...)."""
        effects = linalg.cho_solve(self._factor, right)
        centred: Floats = effects - self._same @ effects
        return centred

    def _by_arm(self, values: Floats) -> Floats:
        return np.asarray(
            np.bincount(self._arm, values, self._shape[0]), dtype=np.float64
        )

    def _by_instance(self, values: Floats) -> Floats:
        return np.asarray(
            np.bincount(self._instance, values, self._shape[1]), dtype=np.float64
        )

    def _share_out(self, values: Floats) -> Floats:
        """Divide the sum of each instance among its rows, in proportion to weights."""
        shared: Floats = (self._by_instance(values) / self._totals)[
            self._instance
        ] * self._weights
        return shared

    def _average(self, by_instance: Floats) -> Floats:
        """Average over the instances of each part, on the last axis: (..., parts)."""
        counts = np.bincount(self._part_of_instance)
        members = self._part_of_instance == np.arange(len(counts))[:, None]
        averages: Floats = by_instance @ members.T / counts
        return averages

    def redraw(self, weights: Floats) -> Floats:
        r"""Return the means if instances have other weights, to first order.

        Parameters
        ----------
        weights : ndarray, shape (R, I)

        Returns
        -------
        ndarray, shape (R, K)
        """
        excess = weights / self._average(weights)[:, self._part_of_instance] - 1
        residuals = sparse.csr_array(
            (self._residuals, (self._arm, self._instance)), self._shape
        )
        moved = self._solve(residuals @ excess.T).T  # of the arms' effects

        levels = self._average(self.instance_effects)
        size = levels[self._part_of_instance] if self._multiplicative else 1.0
        deviations = (
            self.instance_effects / size - levels[self._part_of_instance] / size
        )
        moved_levels = self._average(excess * deviations)
        # the effect of an instance falls by the mean rise of its configurations'
        # effects
        of_instance = (
            self.instance_effects / size
            if self._multiplicative
            else np.ones(self._shape[1])
        )
        parts = (
            of_instance[self._instance] * self._weights / self._totals[self._instance]
        )
        counts = np.bincount(self._part_of_instance)[self._part]
        losses = moved * (self._by_arm(parts) / counts)
        moved_levels = moved_levels[:, self._part] - losses @ (
            self._part[:, None] == self._part
        )

        change = moved + moved_levels
        means: Floats = self.means + change
        if self._multiplicative:
            means = self.means * np.exp(change)
        return means
