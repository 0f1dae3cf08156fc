"""The missing evaluations that would decide the front soonest, and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _budget
from cobandit.policies.cost_comparison import FRONTS
from cobandit.policies.look_depths import FIRST_LOOK
from cobandit.policies.pareto_race import ParetoRace
from cobandit.policies.race_order import arrange
from cobandit.stats.evaluations import Bools, Ints

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


@dataclass(frozen=True)
class NextEvaluations:
    """The next evaluations that `cobandit.ParetoRace` would make on a table.

    Attributes
    ----------
    settled : int
        Number of configurations that are settled now: surely on the front, or surely
        off it.
    would_be_settled : int
        Number of configurations that would be settled after the evaluations of
        ``pairs``, if means and variances stay the same.
    compared : bool
        Whether all configurations share enough instances to be compared, and
        evaluations are missing at random. If not, ``pairs`` has the evaluations for the
        first comparison, and ``evaluations`` is the number of all missing evaluations.
    evaluations : int
        Expected number of evaluations that settle all configurations.
    price : float
        Cost of these evaluations, in the table's unit.
    step : float
        Cost until one more configuration can be expected to be settled. If ``compared``
        is False, the cost until the first comparison.
    pairs : DataFrame
        ``configuration`` and ``instance`` of the evaluations to make, in order. A
        budget limits the number of these evaluations. The frame is empty if the
        affordable evaluations are not expected to settle another configuration.
    """

    settled: int
    would_be_settled: int
    compared: bool
    evaluations: int
    price: float
    step: float
    pairs: pd.DataFrame


def plan_next(
    table: EvaluationTable,
    budget: float | None = None,
    tolerance: ArrayLike = 0.0,
    error: float = 0.05,
    seed: int = 0,
    at_random: bool = True,
    certified: bool = False,
    *,
    front: str = FRONTS[0],
    cost_tolerance: float | str = 0.0,
) -> NextEvaluations:
    """Plan missing evaluations in the order in which `cobandit.ParetoRace` makes them.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.
    budget : float, optional
        Budget of the evaluations, in the table's unit.
    tolerance : float or array_like, shape (D,)
        Largest difference that does not matter, in the unit of each objective.
    error : float
        Error probability of the race (`cobandit.ParetoRace`), in (0, 1).
    seed : int
        Seed of the order of instances. Instances evaluated by more configurations come
        first; ties are broken at random.
    at_random : bool
        Whether evaluations are missing at random. If not, existing evaluations settle
        nothing, and the order of the instances is random.
    certified : bool
        Whether to plan for a certified race, whose error bound is proved for any table.
    front, cost_tolerance
        As in `cobandit.ParetoRace`.

    Returns
    -------
    NextEvaluations

    Examples
    --------
    >>> import cobandit as cb
    >>> plan = plan_next(cb.load("synthetic-24"))
    >>> plan.settled, plan.evaluations, len(plan.pairs)  # everything is evaluated
    (24, 0, 0)
    """
    costs = table.summary()["cost"].to_numpy()
    benchmark = _Benchmark(table, seed, at_random)
    race = ParetoRace(
        costs,
        table.n_objectives,
        len(benchmark.order),
        tolerance=np.minimum(np.asarray(tolerance, dtype=float), 1.0),
        error=error,
        certified=certified,
        front=front,
        cost_tolerance=cost_tolerance,
        cluster=None if table.clusters is None else benchmark.unit[benchmark.order],
    )
    race.know(benchmark.scores[benchmark.order], benchmark.paid[benchmark.order])

    looks = [
        PlannedLook(pulls, cost=float(pulls @ costs), n_settled=int(settled.sum()))
        for pulls, settled in race.foresee()
    ]
    limit = inf if budget is None else _budget.add_slack(budget)
    now = looks[0]
    last = looks[-1]
    compared = at_random and race.depth >= min(FIRST_LOOK, len(benchmark.units))
    if not at_random:
        # existing evaluations settle nothing, so all missing ones are needed
        pulls = benchmark.count_first(
            _reach(np.any(~benchmark.is_complete[benchmark.units], axis=1))
        )
        missing = benchmark.missing.sum(axis=0)
        now = PlannedLook(missing * 0, cost=0.0, n_settled=0)
        last = PlannedLook(missing, cost=float(missing @ costs), n_settled=table.n_arms)
        chosen = PlannedLook(pulls, cost=float(pulls @ costs), n_settled=0)
        step = chosen.cost
        is_worth_it = step <= limit
    elif compared:
        step = next(
            (look.cost for look in looks if look.n_settled > now.n_settled), 0.0
        )
        chosen = [look for look in looks if look.cost <= limit][-1]
        is_worth_it = chosen.n_settled > now.n_settled
    else:
        pulls = benchmark.count_first(FIRST_LOOK)
        chosen = PlannedLook(pulls, cost=float(pulls @ costs), n_settled=now.n_settled)
        step = chosen.cost
        is_worth_it = step <= limit

    pairs = benchmark.name_missing(chosen.pulls) if is_worth_it else []
    return NextEvaluations(
        settled=now.n_settled,
        would_be_settled=chosen.n_settled,
        compared=compared,
        evaluations=int(last.pulls.sum()),
        price=last.cost,
        step=step,
        pairs=pd.DataFrame(pairs, columns=["configuration", "instance"], dtype=str),
    )


class PlannedLook(NamedTuple):
    """A future comparison (look) of all configurations in a `cobandit.ParetoRace`."""

    pulls: Ints  #: shape (K,), further evaluations of each arm before this look
    cost: float  #: cost of these evaluations
    n_settled: int  #: number of configurations settled at this look


class _Benchmark:
    """Instances of a benchmark, in the order in which `ParetoRace` evaluates them.

    Attributes
    ----------
    scores, paid : ndarray, shapes (N, K, D) and (N, K)
        Scores and costs, NaN for missing evaluations. Instances are in the table's
        order, followed by instances of the benchmark without a row.
    unit : ndarray of int, shape (N,)
        Number of each instance's unit, which is its cluster or the instance itself.
    is_complete : ndarray of bool, shape (G, K)
        Whether a configuration is evaluated on all instances of a unit.
    units, order : ndarray of int
        Units, and their instances, in the order of the race.
    missing : ndarray of bool, shape (N, K)
        Mask of missing evaluations, with instances in the order of the race.
    """

    def __init__(self, table: EvaluationTable, seed: int, at_random: bool):
        rows = table.rows
        place = rows["instance"].cat.codes
        arm = rows["config"].cat.codes
        names = rows["instance"].cat.categories.tolist()
        n_absent = table.n_benchmark - len(names)
        absent = [
            f"{number} of {n_absent} that the table does not have"
            for number in range(1, n_absent + 1)
        ]
        self._configs = table.configs
        self._names = names + absent

        self.scores = np.full(
            (len(self._names), table.n_arms, table.n_objectives), np.nan
        )
        self.scores[place, arm] = rows[list(table.objectives)]
        self.paid = np.full(self.scores.shape[:2], np.nan)
        self.paid[place, arm] = rows["cost"]

        self.unit = _number_units(table, len(self._names))
        ends = np.cumsum(np.bincount(self.unit))[:-1]
        self._members = np.split(np.argsort(self.unit, kind="stable"), ends)
        missing = np.isnan(self.scores[:, :, 0])
        self.is_complete: Bools = np.array(
            [~missing[part].any(axis=0) for part in self._members]
        )
        # if evaluations are not missing at random, their number biases the order
        shown = self.is_complete if at_random else np.zeros(self.is_complete.shape)
        self.units = arrange(shown, seed)
        self.order = np.concatenate([self._members[unit] for unit in self.units])
        self.missing: Bools = missing[self.order]

    def count_first(self, n_units: int) -> Ints:
        """Count the missing evaluations of the first units, by configuration."""
        n_instances = sum(len(self._members[unit]) for unit in self.units[:n_units])
        lacking: Ints = self.missing[:n_instances].sum(axis=0)
        return lacking

    def name_missing(self, counts: Ints) -> list[tuple[str, str]]:
        """Return the configuration and instance of the first missing evaluations."""
        wanted = self.missing & (self.missing.cumsum(axis=0) <= counts)
        return [
            (self._configs[arm], self._names[self.order[place]])
            for place, arm in zip(*np.nonzero(wanted), strict=True)
        ]


def _number_units(table: EvaluationTable, n_instances: int) -> Ints:
    """Return a number per instance, equal for the instances of a cluster.

    Instances without a row in the table come last, each with a number of its own.
    """
    clusters = table.clusters
    if clusters is None:
        return np.arange(n_instances)
    _, unit = np.unique(clusters, return_inverse=True)
    return np.concatenate([unit, unit.max() + 1 + np.arange(n_instances - len(unit))])


def _reach(is_open: Bools) -> int:
    """Return how many units (clusters or instances) the first comparison needs.

    Units are evaluated in order. A unit is open if one of its evaluations is missing.
    The first comparison needs `FIRST_LOOK` open units, or all open units if there are
    fewer.
    """
    needed = min(FIRST_LOOK, int(is_open.sum()))
    return int(np.searchsorted(np.cumsum(is_open), needed)) + 1
