r"""The choice of a configuration that meets given requirements, with its confidence.

A requirement is a smallest mean, or a largest distance below the best mean. The tests
are valid for any number of instances (`cobandit.stats.limits`). A smallest mean is
tested on the scores of one configuration. A distance below the best mean is tested on
the paired differences from every other configuration, over shared instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cobandit import _validation
from cobandit.dominance import TIE
from cobandit.errors import raise_fault
from cobandit.stats.evaluations import Bools, Floats, Ints
from cobandit.stats.finite_limits import finite_threshold_p_values
from cobandit.stats.limits import threshold_p_values
from cobandit.stats.pairwise import Paired


class Wishes(NamedTuple):
    """Joint requirements on a configuration, per objective."""

    at_least: dict[str, float]  #: smallest mean
    within: dict[str, float]  #: largest distance below the best mean
    #: weights of the objectives; without weights, the cheapest is chosen
    prefer: dict[str, float]

    def __str__(self) -> str:
        """Write the requirements as a phrase."""
        weighted = " + ".join(
            f"{weight:g} x {name}" for name, weight in self.prefer.items()
        )
        chosen = f"best by {weighted}" if weighted else "cheapest"
        conditions = [
            f"{name} of at least {value:g}" for name, value in self.at_least.items()
        ]
        conditions += [
            f"{name} within {value:g} of the best"
            for name, value in self.within.items()
        ]
        return f"{chosen} with {' and '.join(conditions)}" if conditions else chosen


class Choice(NamedTuple):
    """The best, or cheapest, of all configurations whose means meet the conditions."""

    wishes: Wishes  #: the requirements
    configuration: str | None  #: None if no configuration meets the conditions
    confidence: float  #: confidence that it meets the conditions
    #: the choice among the configurations that meet the conditions with certainty
    sure: str | None
    #: configuration with the second largest weighted mean, if there are weights
    next: str | None
    #: lead of the chosen configuration's weighted mean over the second largest
    ahead: float
    #: share of bootstrap replicates in which the chosen configuration has the largest
    #: weighted mean of those that meet the conditions
    share: float
    closest: str  #: the configuration that comes closest to the conditions

    @property
    def asked(self) -> str:
        """The requirements as a phrase."""
        return str(self.wishes)

    @property
    def conditional(self) -> bool:
        """Whether a condition was given, and not only a preference."""
        return bool(self.wishes.at_least or self.wishes.within)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"asked": self.asked, **self._asdict(), "wishes": self.wishes._asdict()}


def read_wishes(
    objectives: tuple[str, ...],
    at_least: Mapping[str, float] | None = None,
    within: Mapping[str, float] | None = None,
    prefer: Mapping[str, float] | None = None,
) -> Wishes | None:
    """Check the requirements, and return them; None if there are none.

    Raises
    ------
    CobanditError
        If the table does not have an objective, or a number is out of range.

    Examples
    --------
    >>> objectives = ("accuracy", "speed")
    >>> prefer = {"accuracy": 3, "speed": 1}
    >>> str(read_wishes(objectives, {"accuracy": 0.7}, prefer=prefer))
    'best by 3 x accuracy + 1 x speed with accuracy of at least 0.7'
    """
    score = "give a score from 0 to 1"
    wishes = Wishes(
        at_least=_check_wish("at_least", at_least, objectives, 1 + 1e-12, score),
        within=_check_wish("within", within, objectives, 1 + 1e-12, score),
        prefer=_check_wish(
            "prefer", prefer, objectives, np.inf, "give a weight of zero or more"
        ),
    )
    if wishes.prefer and not any(wishes.prefer.values()):
        raise_fault(
            "prefer", "every weight is zero", "give a positive weight", code="no-weight"
        )
    return wishes if any(wishes) else None


def _check_wish(
    place: str,
    wish: Mapping[str, float] | None,
    objectives: tuple[str, ...],
    limit: float,
    remedy: str,
) -> dict[str, float]:
    """Return a requirement's number per objective; raise if not in [0, limit)."""
    numbers = {}
    for name, value in (wish or {}).items():
        _validation.choice(name, f"objective of {place}", objectives)
        numbers[name] = float(value)
        if not 0 <= numbers[name] < limit:
            raise_fault(place, f"{name} is {value:g}", remedy, code="wish-range")
    return numbers


def choose_configuration(
    wishes: Wishes,
    compared: Paired,
    redrawn: Floats,
    level: float,
    among: Bools,
    seed: int = 0,
) -> Choice:
    """Choose a configuration by the means, and test that it meets the conditions.

    The conditions are tested jointly by an intersection-union test: its confidence is
    the smallest over the tests of single conditions. A distance below the best mean is
    tested against every other configuration. The *sure* choice is the first
    configuration that meets the conditions with confidence ``1 - (1 - level) / K``,
    where K is the number of configurations to choose from (Bonferroni).

    Parameters
    ----------
    wishes : Wishes
    compared : Paired
    redrawn : ndarray, shape (R, K, D)
        Bootstrap replicates of the means.
    level : float
    among : ndarray of bool, shape (K,)
        Configurations to choose from.
    seed : int
        Seed of the order of the scores in a betting test. This test is used for answers
        about the benchmark itself, if evaluations are missing.

    Returns
    -------
    Choice
    """
    names = compared.table.configs
    objectives = compared.table.objectives
    weights = np.array([wishes.prefer.get(name, 0.0) for name in objectives])
    weights /= weights.sum() or 1.0
    preferred = compared.means @ weights
    order = np.lexsort((compared.costs, -preferred))
    slack = _find_slack(wishes, compared)
    closest = names[int(np.where(among, slack, -np.inf).argmax())]
    meets = order[(slack >= -TIE)[order] & among[order]]
    if not len(meets):
        return Choice(
            wishes,
            configuration=None,
            confidence=0.0,
            sure=None,
            next=None,
            ahead=0.0,
            share=0.0,
            closest=closest,
        )

    # Bonferroni correction: any of the K configurations may be chosen
    alpha = (1 - level) / among.sum()
    tests = ConditionTests(wishes, compared, alpha, seed)
    sure = next((names[arm] for arm in meets if tests.meets_all(arm)), None)

    best = meets[0]
    second = None
    ahead = 0.0
    if wishes.prefer and len(meets) > 1:
        second = names[meets[1]]
        ahead = float(preferred[best] - preferred[meets[1]])
    is_best = (redrawn[:, meets] @ weights).argmax(axis=1) == 0
    return Choice(
        wishes,
        configuration=names[best],
        confidence=1 - tests.p_value(best),
        sure=sure,
        next=second,
        ahead=ahead,
        share=float(is_best.mean()),
        closest=closest,
    )


def _find_slack(wishes: Wishes, compared: Paired) -> Floats:
    """Return the margin by which the means of each arm meet all conditions: (K,)."""
    objectives = compared.table.objectives
    slack = np.full(len(compared.costs), np.inf)
    for name, threshold in wishes.at_least.items():
        means = compared.means[:, objectives.index(name)]
        slack = np.minimum(slack, means - threshold)
    for name, margin in wishes.within.items():
        behind = compared.fall_behind(objectives.index(name))
        slack = np.minimum(slack, margin - behind)
    return slack


class ConditionTests:
    """Tests of the hypothesis that a configuration does not meet all conditions.

    Parameters
    ----------
    wishes : Wishes
    compared : Paired
    level : float
        Error probability with which the p-values will be compared.
    seed : int
        Seed of the order of the scores in a betting test.
    """

    def __init__(self, wishes: Wishes, compared: Paired, level: float, seed: int):
        self.wishes = wishes
        self.compared = compared
        self.level = level
        self.evaluations = compared.evaluations
        rng = np.random.default_rng(seed)
        self.order = rng.permutation(self.evaluations.n_instances)

        objectives = compared.table.objectives
        self.at_least = {
            objectives.index(name): value for name, value in wishes.at_least.items()
        }
        self.within = {
            objectives.index(name): value for name, value in wishes.within.items()
        }

        #: Configuration with the best mean, per objective. The comparison with it is
        #: tested first, because most configurations that fail a comparison fail this
        #: one.
        self.best = {d: compared.means[:, [d]].argmax(axis=0) for d in self.within}
        self.binary = {
            d: bool(np.isin(self.evaluations.values[d], (0.0, 1.0)).all())
            for d in self.within
        }

    def meets_all(self, arm: int) -> bool:
        """Return whether the test rejects "does not meet all conditions"."""
        # fast tests are first, because most configurations fail one of them
        if self._threshold_p_value(arm) > self.level:
            return False
        for d, best in self.best.items():
            if self._margin_p_value(arm, d, best) > self.level:
                return False
        return self.p_value(arm) <= self.level

    def p_value(self, arm: int) -> float:
        """Return the p-value of "does not meet all conditions".

        This is the largest p-value over all conditions and over the comparisons with
        every other configuration, since the best configuration is unknown.
        """
        largest = self._threshold_p_value(arm)
        for d in self.within:
            for others in self.evaluations.blocks(np.arange(len(self.compared.costs))):
                largest = max(largest, self._margin_p_value(arm, d, others))
        return largest

    def _threshold_p_value(self, arm: int) -> float:
        """Return the largest p-value of "the mean is below its threshold"."""
        largest = 0.0
        for d, threshold in self.at_least.items():
            scores, present = self._read([arm], d)
            (p_value,) = self._p_values(scores, present, threshold, low=0.0)
            largest = max(largest, float(p_value))
        return largest

    def _margin_p_value(self, arm: int, d: int, others: Ints) -> float:
        """Return the largest p-value of "one of ``others`` is better by too much"."""
        others = others[others != arm]
        if not len(others):
            return 0.0

        other_scores, other_present = self._read(others, d)
        scores, present = (row[0] for row in self._read([arm], d))
        is_simple = not self.compared.finite and not self.evaluations.is_clustered
        if self.binary[d] and is_simple:
            # binary scores have only three possible differences, which are counted;
            # missing scores are stored as zero
            both_right = other_scores @ scores
            ahead = other_present @ scores - both_right
            behind = other_scores @ present.astype(float) - both_right
            n_shared = other_present @ present.astype(float)
            counts = np.column_stack([behind, n_shared - ahead - behind, ahead])
            p_values = threshold_p_values(
                np.array([-1.0, 0.0, 1.0]), counts, -self.within[d], low=-1.0
            )
        else:
            differences = scores - other_scores
            p_values = self._p_values(
                differences, other_present & present, -self.within[d], low=-1.0
            )

        return float(p_values.max())

    def _read(self, arms: Ints | list[int], d: int) -> tuple[Floats, Bools]:
        """Return scores with instances in random order, and which are present."""
        values, present = self.evaluations.block(arms)
        return values[d][:, self.order], present[:, self.order]

    def _p_values(
        self, scores: Floats, present: Bools, threshold: float, low: float
    ) -> Floats:
        """Return the p-values of "the mean is below the threshold"."""
        total = self.compared.n_instances
        if self.evaluations.is_clustered:
            excess = np.where(present, scores - threshold, 0.0)
            pooled, has_instances = self._pool(excess, present, threshold)
            p_values = threshold_p_values(pooled, has_instances, threshold, low)

            is_exact = np.zeros(len(present), dtype=bool)
            if self.compared.finite:
                is_exact = present.sum(axis=1) == total
            is_reached = excess.sum(axis=1) >= -TIE * total
            return np.where(is_exact, np.where(is_reached, 0.0, 1.0), p_values)

        if not self.compared.finite:
            return threshold_p_values(scores, present, threshold, low)

        return finite_threshold_p_values(
            scores, present, threshold, total, self.level, low
        )

    def _pool(
        self, excess: Floats, present: Bools, threshold: float
    ) -> tuple[Floats, Bools]:
        """Return one score per cluster of instances, and a mask of non-empty clusters.

        The excess of a score is its difference to the threshold. The excess of a
        cluster is the sum of the excesses of its instances, divided by the size of the
        largest cluster. Scores of clusters therefore stay in the range of scores.
        """
        back = np.argsort(self.order)
        sums = self.evaluations.gather(excess[:, back])
        sizes = self.evaluations.gather(present[:, back])
        largest = np.maximum(sizes.max(axis=1, keepdims=True), 1.0)
        return threshold + sums / largest, sizes > 0
