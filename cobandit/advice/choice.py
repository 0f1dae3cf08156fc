r"""The configuration that meets what is asked, and how sure it is that it does.

Conditions on means are tested with limits that hold for any number of instances
(`cobandit.stats.limits`): that a mean is at least a number, on the scores of one
configuration; that it is within a margin of the best, on its differences from each
other configuration on the instances that both were evaluated on.
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

    at_least: dict[str, float]  #: least mean
    within: dict[str, float]  #: largest distance below the best mean
    #: weights of the objectives; without any, the cheapest is chosen
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
    """The configuration that is chosen by the means; None where none meets the conditions."""

    wishes: Wishes
    configuration: str | None
    confidence: float  #: that it meets the conditions
    sure: str | None  #: the same choice among those that meet the conditions surely
    next: str | None  #: the second best by the weighted mean
    ahead: float  #: difference of the weighted means of these two
    #: of the redrawn tables in which the choice is ahead of all that meet the
    #: conditions
    share: float
    closest: str  #: the configuration that comes closest to the conditions

    @property
    def asked(self) -> str:
        """The wishes in words."""
        return str(self.wishes)

    @property
    def conditional(self) -> bool:
        """True if a condition was given, and not only a preference."""
        return bool(self.wishes.at_least or self.wishes.within)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"asked": self.asked, **self._asdict(), "wishes": self.wishes._asdict()}


def read_wishes(
    objectives: tuple[str, ...],
    at_least: Mapping[str, float] | None = None,
    within: Mapping[str, float] | None = None,
    prefer: Mapping[str, float] | None = None,
) -> Wishes | None:
    """Check the requirements; None if there are none.

    Raises
    ------
    CobanditError
        If an objective is none of the table's, or a number is out of range.

    Examples
    --------
    >>> str(read_wishes(("accuracy", "speed"), {"accuracy": 0.7}, prefer={"accuracy": 3, "speed": 1}))
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
            "prefer", "every weight is zero", "give one that is not", code="no-weight"
        )
    return wishes if any(wishes) else None


def _check_wish(
    place: str,
    wish: Mapping[str, float] | None,
    objectives: tuple[str, ...],
    limit: float,
    remedy: str,
) -> dict[str, float]:
    """Return the numbers of a wish by objective, each from zero to below the limit."""
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
    r"""Choose a configuration by the means, with the confidence that it meets the conditions.

    That a configuration meets all conditions is one intersection-union test: its
    confidence is the least of those of the single conditions, against each threshold
    and against each configuration that could be the best.  *Sure* is the first that
    meets them at ``1 - (1 - level) / K``, so that the statement holds for whichever is
    chosen.

    Parameters
    ----------
    wishes : Wishes
    compared : Paired
    redrawn : ndarray, shape (R, K, D)
        Means of the redrawn tables.
    level : float
    among : ndarray of bool, shape (K,)
        Those to choose from.
    seed : int
        Of the order in which scores are bet on, about a benchmark with missing
        evaluations.

    Returns
    -------
    Choice
    """
    names = compared.table.configs
    weights = np.array(
        [wishes.prefer.get(name, 0.0) for name in compared.table.objectives]
    )
    weights /= weights.sum() or 1.0
    preferred = compared.means @ weights
    order = np.lexsort((compared.costs, -preferred))
    slack = _find_slack(wishes, compared)
    closest = names[int(np.where(among, slack, -np.inf).argmax())]
    meets = order[(slack >= -TIE)[order] & among[order]]
    if not len(meets):
        return Choice(wishes, None, 0.0, None, None, 0.0, 0.0, closest)

    needed = (1 - level) / among.sum()
    doubt = ConditionDoubt(wishes, compared, needed, seed)
    sure = next((arm for arm in meets if doubt.is_at_most(needed, arm)), None)
    first, *others = meets if wishes.prefer else meets[:1]
    return Choice(
        wishes,
        names[first],
        1 - doubt.of(first),
        None if sure is None else names[sure],
        names[others[0]] if others else None,
        float(preferred[first] - preferred[others[0]]) if others else 0.0,
        float(((redrawn[:, meets] @ weights).argmax(axis=1) == 0).mean()),
        closest,
    )


def _find_slack(wishes: Wishes, compared: Paired) -> Floats:
    """Find by how much each configuration meets all conditions, by the means: shape (K,)."""
    slack = np.full(len(compared.costs), np.inf)
    for name, least in wishes.at_least.items():
        means = compared.means[:, compared.table.objectives.index(name)]
        slack = np.minimum(slack, means - least)
    for name, most in wishes.within.items():
        slack = np.minimum(
            slack, most - compared.fall_behind(compared.table.objectives.index(name))
        )
    return slack


class ConditionDoubt:
    """Tests of "does not meet all conditions", per configuration.

    Parameters
    ----------
    wishes : Wishes
    compared : Paired
    level : float
        The level at which the p-values will be used.
    seed : int
        Of the order in which scores are bet on.
    """

    def __init__(self, wishes: Wishes, compared: Paired, level: float, seed: int):
        self.wishes = wishes
        self.compared = compared
        self.level = level
        self.evaluations = compared.evaluations
        self.order = np.random.default_rng(seed).permutation(
            self.evaluations.n_instances
        )
        objectives = compared.table.objectives
        self.at_least = {
            objectives.index(name): least for name, least in wishes.at_least.items()
        }
        self.within = {
            objectives.index(name): most for name, most in wishes.within.items()
        }

        #: Who is the best by the means, by objective: who most often stands in the way.
        self.best = {d: compared.means[:, [d]].argmax(axis=0) for d in self.within}
        self.binary = {
            d: bool(np.isin(self.evaluations.values[d], (0.0, 1.0)).all())
            for d in self.within
        }

    def is_at_most(self, level: float, arm: int) -> bool:
        """Return whether a configuration meets all conditions at a level, the cheapest tests first."""
        if self._of_itself(arm) > level:
            return False
        if any(self._of_others(arm, d, best) > level for d, best in self.best.items()):
            return False
        return self.of(arm) <= level

    def of(self, arm: int) -> float:
        """Return the p-value of "does not meet all conditions".

        The largest of those of the conditions, and of those against each other
        configuration: one is the best, and not known which.
        """
        doubt = self._of_itself(arm)
        for d in self.within:
            for others in self.evaluations.blocks(np.arange(len(self.compared.costs))):
                doubt = max(doubt, self._of_others(arm, d, others))
        return doubt

    def _of_itself(self, arm: int) -> float:
        """Return the largest p-value of "the mean is below" what it has to be."""
        doubt = 0.0
        for d, least in self.at_least.items():
            scores, present = self._read([arm], d)
            (p_value,) = self._doubt(scores, present, least, low=0.0)
            doubt = max(doubt, float(p_value))
        return doubt

    def _of_others(self, arm: int, d: int, others: Ints) -> float:
        """Return the largest p-value of "another mean is higher by more than" what is allowed."""
        others = others[others != arm]
        if not len(others):
            return 0.0

        other_scores, other_present = self._read(others, d)
        scores, present = (row[0] for row in self._read([arm], d))
        if (
            self.binary[d]
            and not self.compared.finite
            and not self.evaluations.is_clustered
        ):
            # true or false scores have three differences, which are counted; absent
            # scores are zero
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
            p_values = self._doubt(
                differences, other_present & present, -self.within[d], low=-1.0
            )

        return float(p_values.max())

    def _read(self, arms: Ints | list[int], d: int) -> tuple[Floats, Bools]:
        """Read the scores of some configurations, and which instances they have, in random order."""
        values, present = self.evaluations.block(arms)
        return values[d][:, self.order], present[:, self.order]

    def _doubt(
        self, scores: Floats, present: Bools, threshold: float, low: float
    ) -> Floats:
        total = self.compared.n_instances
        if self.evaluations.is_clustered:
            exact = (
                present.sum(axis=1) == total
                if self.compared.finite
                else np.zeros(len(present), bool)
            )
            excess = np.where(present, scores - threshold, 0.0)
            met = excess.sum(axis=1) >= -TIE * total
            doubt = threshold_p_values(
                *self._pool(excess, present, threshold), threshold, low
            )
            return np.where(exact, np.where(met, 0.0, 1.0), doubt)
        if not self.compared.finite:
            return threshold_p_values(scores, present, threshold, low)

        return finite_threshold_p_values(
            scores, present, threshold, total, self.level, low
        )

    def _pool(
        self, excess: Floats, present: Bools, threshold: float
    ) -> tuple[Floats, Bools]:
        """Return one score per cluster, whose excess over the threshold is the sum over its instances.

        It is divided by the size of the largest, so that scores stay in their range.
        """
        back = np.argsort(self.order)
        sums = self.evaluations.gather(excess[:, back])
        sizes = self.evaluations.gather(present[:, back])
        largest = np.maximum(sizes.max(axis=1, keepdims=True), 1.0)
        return threshold + sums / largest, sizes > 0
