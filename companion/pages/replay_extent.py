"""Reductions of budgets and numbers of runs that keep a page within a time limit.

The functions estimate the time of replays on a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cobandit import theory
from cobandit._text import enumerate_words
from cobandit.tables import EvaluationTable

#: Seconds on one core per pull of an online method.
PULL = 60e-9
#: Seconds on one core per pull of an identification method.
SAMPLE = 6e-9
#: Seconds on one core of the eliminations of one run, divided by K^3.
ELIMINATE = 1e-9
#: Seconds on one core per pair of configurations, shared instance and objective.
PAIR = 2e-9
#: Estimated seconds that the replays of one figure may take.
SECONDS = 15.0
#: Smallest number of replications of a figure.
FEWEST = 20
#: Estimated seconds that the replays of a figure in a report may take.
SECONDS_OF_REPORT = 45.0


class Replays(NamedTuple):
    """Budgets, in evaluations per configuration, and number of replications."""

    rho: list[float]
    replications: int

    def say_less(self, rho: Sequence[float], replications: int) -> str:
        """Return a sentence about the reductions, compared with requested values.

        The sentence is empty if nothing is reduced.

        Examples
        --------
        >>> Replays([20], 100).say_less([20], 400)
        '100 replications instead of 400: more would take minutes on this table.'
        """
        reductions = []
        if self.replications < replications:
            reductions.append(
                f"{self.replications:,} replications instead of {replications:,}"
            )
        if max(self.rho) < max(rho):
            largest = f"{max(self.rho):,.4g} instead of {max(rho):,.4g}"
            reductions.append(f"budgets up to {largest} evaluations per configuration")
        if not reductions:
            return ""
        text = f"{', and '.join(reductions)}: more would take minutes on this table."
        return text[0].upper() + text[1:]


def fit_online(
    costs: ArrayLike,
    rho: Sequence[float],
    replications: int,
    methods: int,
    seconds: float = SECONDS,
) -> Replays:
    """Reduce budgets and replications of online replays to fit a time limit.

    Time is proportional to the number of pulls. If costs differ by a factor of a
    thousand, the cost of one pull of each arm pays for thousands of pulls of the
    cheapest arm.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Mean costs.
    rho : sequence of float
        Requested budgets, in evaluations per configuration.
    replications : int
        Requested number of replications.
    methods : int
        Number of methods that are replayed.
    seconds : float
        Time that the replays may take on one core.

    Returns
    -------
    Replays
        The requested budgets and replications if they take less than ``seconds``.
        Otherwise, the largest budgets are dropped, and replications are reduced, but to
        no fewer than `FEWEST`.

    Examples
    --------
    >>> fit_online([1.0, 2.0], [2, 32], 100, methods=4)
    Replays(rho=[2, 32], replications=100)
    >>> fit_online([1e-6, 1.0], [2, 32], 100, methods=4).rho
    [2]
    """
    costs = np.asarray(costs, dtype=float)
    round_pulls = float(costs.sum() / costs.min())
    return _fit(
        lambda budget: methods * PULL * budget * round_pulls, rho, replications, seconds
    )


def fit_identification(
    costs: ArrayLike,
    rho: Sequence[float],
    replications: int,
    methods: int,
    seconds: float = SECONDS,
) -> Replays:
    """Reduce budgets and replications of identification replays to fit a time limit.

    The estimate includes the comparisons of all pairs of arms in each phase. It also
    assumes that expensive arms are removed first. The remaining budget then pays for
    many pulls of cheap arms.

    Parameters
    ----------
    costs, rho, replications, methods, seconds
        As in `fit_online`.

    Returns
    -------
    Replays

    Examples
    --------
    >>> fit_identification([1.0, 2.0], [20, 50], 500, methods=3)
    Replays(rho=[20, 50], replications=500)
    >>> costs = np.ones(150)
    >>> fit_identification(costs, [200, 5000], 2000, methods=3).replications < 500
    True
    """
    ordered = np.sort(np.asarray(costs, dtype=float))

    # pulls per unit of rho if the most expensive arms are removed first; in this order,
    # the last phases have the most pulls
    share = 1 / theory.exact_allocation_constant(ordered)
    per_round = len(ordered) + float(
        (share * ordered.sum() / np.cumsum(ordered)[1:]).sum()
    )
    elimination = estimate_elimination(len(ordered))
    return _fit(
        lambda budget: methods * (SAMPLE * budget * per_round + elimination),
        rho,
        replications,
        seconds,
    )


def estimate_elimination(n_arms: int) -> float:
    """Return the estimated seconds for all eliminations of an identification run.

    Examples
    --------
    >>> estimate_elimination(1000)
    1.0
    """
    return ELIMINATE * n_arms**3


def fit_once(table: EvaluationTable, replications: int, runs: int) -> int:
    """Reduce replications of replays without replacement to fit a time limit.

    In these replays, an instance is evaluated at most once per configuration.

    Parameters
    ----------
    table : EvaluationTable
    replications : int
        Requested number of replications.
    runs : int
        Number of runs per replication: one per method and budget.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_once(cb.load("synthetic-24"), 100, runs=10)
    100
    """
    pairs = table.n_arms**2 * table.n_objectives
    seconds = PAIR * pairs * (int(table.n_instances.max()) + table.n_arms)
    return min(replications, max(FEWEST, int(SECONDS / (runs * seconds))))


#: Number of evaluations of an online run above which `fit_runs` reduces the runs.
MANY_EVALUATIONS = 4.5e4


def fit_runs(evaluations: float, runs: int, min_runs: int = 2) -> int:
    """Reduce the number of runs if one online run makes many evaluations.

    Parameters
    ----------
    evaluations : float
        Largest number of evaluations of one online run.
    runs : int
        Requested number of runs.
    min_runs : int
        Smallest number of runs.

    Examples
    --------
    >>> fit_runs(1000, 120), fit_runs(90_000, 120), fit_runs(1e9, 120)
    (120, 60, 2)
    """
    return min(
        runs, max(min_runs, round(runs * MANY_EVALUATIONS / max(evaluations, 1.0)))
    )


def say_fewer(counts: Mapping[str, tuple[int, int]]) -> str:
    """Return a sentence about reduced numbers of runs, or '' if none is reduced.

    Parameters
    ----------
    counts : mapping
        Names of the runs, in the plural, with their number and the requested number.

    Examples
    --------
    >>> say_fewer({"runs per radius": (60, 120), "replications": (24, 24)})
    'So that the page takes a minute: 60 runs per radius instead of 120.'
    >>> say_fewer({"runs per radius": (120, 120)})
    ''
    """
    fewer = [
        f"{number:,} {name} instead of {requested:,}"
        for name, (number, requested) in counts.items()
        if number < requested
    ]
    return (
        f"So that the page takes a minute: {enumerate_words(fewer)}." if fewer else ""
    )


#: Smallest number of orders for races on a table.
FEWEST_ORDERS = 5
#: Seconds on one core per pair of configurations, instance and objective of a certified
#: race.
BETS = 3.5e-9


def fit_races(table: EvaluationTable, orders: int) -> int:
    """Reduce the number of races at each of three tolerances to fit a time limit.

    A race (`cobandit.ParetoRace`) runs once per random order of the instances.
    ``orders`` is the requested number of orders.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_races(cb.load("synthetic-24"), 50)
    50
    """
    bets = table.n_arms**2 * table.n_objectives * int(table.n_instances.max())
    return min(orders, max(FEWEST_ORDERS, int(SECONDS / (3 * BETS * bets))))


def _fit(
    seconds_of: Callable[[float], float],
    rho: Sequence[float],
    replications: int,
    seconds: float,
) -> Replays:
    """Drop the largest budgets, then reduce replications, to stay below ``seconds``."""
    budgets = sorted(rho)
    # drop budgets that are too long even with the fewest replications
    while len(budgets) > 1 and FEWEST * sum(map(seconds_of, budgets)) > seconds:
        budgets.pop()
    alone = FEWEST * seconds_of(budgets[0])
    if len(budgets) == 1 and alone > seconds:
        budgets = [max(2, int(budgets[0] * seconds / alone))]
    fitting = int(seconds / sum(map(seconds_of, budgets)))
    return Replays(budgets, min(replications, max(FEWEST, fitting)))
