"""Recommendations from a table: the front, a choice, and evaluations to make.

Configurations worth their cost are the Pareto front of the objectives and the cost: no
other configuration is at least as good in every objective and at most as expensive, and
better or cheaper in one of these. The user chooses the population of the answers.
Answers about *this benchmark*, the instances of the table, are exact once every
configuration is evaluated on every instance. Answers about *instances like these* are
never exact, because the benchmark is a sample. The membership of a configuration is
*settled* if it is statistically certain: all settled memberships are right together
with the stated confidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.advice.choice import choose_configuration, read_wishes
from cobandit.advice.front_frames import (
    RedrawnTables,
    measured_columns,
    tabulate_arms,
    tabulate_steps,
    thin_out,
)
from cobandit.advice.next_evaluations import plan_next
from cobandit.advice.questions import find_questions
from cobandit.advice.recommendation import Recommendation
from cobandit.errors import raise_fault
from cobandit.policies.cost_comparison import FRONTS
from cobandit.stats.missingness import find_dependence
from cobandit.stats.pairwise import Paired
from cobandit.stats.redrawn_means import redraw_means
from cobandit.stats.simultaneous import find_levels

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Default number of bootstrap replicates.
REDRAWS = 1000


def recommend(
    table: EvaluationTable,
    budget: float | None = None,
    *,
    at_least: Mapping[str, float] | None = None,
    within: Mapping[str, float] | None = None,
    prefer: Mapping[str, float] | None = None,
    tolerance: ArrayLike = 0.0,
    cost_tolerance: float | str = 0.0,
    certified: bool = False,
    returned: Collection[str] | None = None,
    ignores_cost: bool = False,
    about: str = "instances",
    dominance: str = "standard",
    cluster: str | None = None,
    level: float = 0.95,
    replications: int = REDRAWS,
    seed: int = 0,
) -> Recommendation:
    """Recommend the configurations worth their cost, and evaluations to make next.

    Means, variances and covariances are over all instances of the table, and
    configurations are compared on the instances that they share. With probability
    ``level``, all settled memberships of the front are right together.

    Parameters
    ----------
    table : EvaluationTable
    budget : float, optional
        Budget of further evaluations, in the table's unit. Each evaluation is expected
        to cost the mean cost of its configuration.
    at_least : mapping of str to float, optional
        Smallest mean, by objective. The cheapest configuration that meets these
        conditions and those in `within` is chosen.
    within : mapping of str to float, optional
        Largest distance below the best mean, by objective.
    prefer : mapping of str to float, optional
        Weights of objectives. Among the configurations that meet the conditions, the
        one with the largest weighted mean is then chosen, instead of the cheapest.
    tolerance : float or array_like, shape (D,)
        Largest difference that does not matter, in the unit of the objectives. A member
        of the front is removed if another member is at most this much worse in every
        objective and at most ``cost_tolerance`` more expensive. The most expensive
        members are removed first. Next evaluations are planned for this smaller front.
    cost_tolerance : float or str
        Largest difference of costs that does not matter: an amount in their unit, or a
        share such as ``"10%"``.
    certified : bool
        Whether to plan missing evaluations for a certified race
        (`cobandit.ParetoRace`). The bound on its error is proved for any table, but it
        needs more evaluations.
    returned : collection of str, optional
        Configurations that a method returned. In the answer, these configurations
        replace the front of the means. A `cobandit.ParetoRace` with a tolerance also
        returns the configurations that were undecided when it stopped. Such a race may
        therefore return more than the front of the means.
    ignores_cost : bool
        Whether the returned configurations are the front of the objectives without the
        cost, as for the paper's methods. Missing evaluations are then planned for this
        front, as with strict dominance.
    about : {"instances", "benchmark"}
        Population of the answers: instances like these, or the instances of the table.
        Answers about the instances of the table are exact once every configuration is
        evaluated on every instance. Shares and intervals are always about instances
        like these.
    dominance : {"standard", "strict"}
        Kind of dominance. Standard: a configuration is off the front if another one is
        at least as good in every objective and in cost, and better in one of them.
        Strict, as in the paper: it is off the front if another one is better in every
        objective, whatever the cost.
    cluster : str, optional
        Column whose values group related instances, such as the passage that questions
        are about. Groups, instead of instances, are then the independent units of all
        intervals and tests. The default is the cluster column that the table declares.
    level : float
        Confidence in (0, 0.9999].
    replications, seed : int
        Number of bootstrap replicates, and seed of all random numbers: bootstrap,
        critical values, and the order of instances.

    Returns
    -------
    Recommendation

    Raises
    ------
    CobanditError
        If the budget is not positive, the level is not in (0, 0.9999], an option has an
        unknown value, or an objective is not in the table.

    Notes
    -----
    Intervals of means, and the certainty that a configuration meets a condition, are
    valid for any number of bounded scores (`cobandit.stats.limits`), if the table's
    instances are independent draws from the population. Settled memberships also assume
    that evaluations are missing at random, and that means are approximately normal. If
    `cobandit.stats.missingness` rejects the first assumption, nothing is settled.
    Critical values are Student's, at levels of a step-down procedure
    (`cobandit.stats.simultaneous`). The variance of each arm includes one additional
    instance, whose variance is pooled over all arms, because a few equal scores would
    have a variance of zero. Costs may be far from normal; `cobandit.advice.doctor`
    reports tails that are too heavy. Next evaluations are those that
    `cobandit.ParetoRace` would make for the same front. The number of these evaluations
    is estimated under the assumption that gaps between means, and variances, stay the
    same. Time O(K^2 I D) for I instances.

    Examples
    --------
    >>> import cobandit as cb
    >>> advice = recommend(cb.load("synthetic-24"), within={"accuracy": 0.06})
    >>> advice.choice.configuration, advice.choice.sure, len(advice.front)
    ('frontier-direct-t0.0', 'frontier-cot-t0.5', 6)
    """
    _validation.table(table)
    table = table if cluster is None else table.cluster_by(cluster)
    level = _validation.positive(level, "level", 0.9999)
    budget = None if budget is None else _validation.positive(budget, "budget")
    _validation.choice(about, "about", ("instances", "benchmark"))
    _validation.choice(dominance, "dominance", ("standard", "strict"))
    strict = dominance == "strict"
    wishes = read_wishes(table.objectives, at_least, within, prefer)
    tolerances = np.asarray(tolerance, dtype=float)
    ignores_cost = ignores_cost or strict
    _check_returned(returned, table)

    compared = Paired(table, finite=about == "benchmark", strict=strict)
    levels = find_levels(compared, 1 - level, _validation.seed(seed))
    questions = find_questions(compared, levels)
    dependence = find_dependence(table, seed)
    is_open = np.isin(np.arange(table.n_arms), questions["arm"])
    settled = ~is_open & (not dependence)
    front = compared.on_front
    if returned is not None:
        front = np.isin(table.configs, [*returned])

    redrawn = RedrawnTables(*redraw_means(table, replications, seed))
    arms = tabulate_arms(compared, front, settled, level, redrawn)
    members = [table.configs.index(name) for name in arms.index[arms["on_front"]]]
    if returned is None:
        members = thin_out(compared, members, tolerances, cost_tolerance)

    choice = None
    if wishes is not None:
        among = np.ones(table.n_arms, dtype=bool) if returned is None else front
        choice = choose_configuration(
            wishes, compared, redrawn.means, level, among, seed
        )
        if dependence:
            choice = choice._replace(confidence=0.0, sure=None)

    plan = plan_next(
        table,
        budget,
        tolerance,
        error=1 - level,
        seed=seed,
        at_random=not dependence,
        certified=certified,
        front=FRONTS[ignores_cost],
        cost_tolerance=cost_tolerance,
    )
    return Recommendation(
        dataset=table.name,
        unit=table.card.cost.unit,
        objectives=table.objectives,
        level=level,
        budget=budget,
        about=about,
        dominance=dominance,
        arms=arms,
        front=tabulate_steps(compared, arms, members, level),
        questions=_name_arms(questions, table.configs),
        returned=returned is not None,
        choice=choice,
        tolerance=(
            float(tolerances) if tolerances.ndim == 0 else tuple(tolerances.tolist())
        ),
        cost_tolerance=cost_tolerance,
        ignores_cost=ignores_cost,
        next=plan,
        adjusted=not compared.complete,
        cluster=table.card.cluster,
        dependence=dependence,
        certified=certified,
        smallest_cost=table.card.smallest_cost,
        free=table.n_free,
        counts={
            name: counts
            for name, counts in table.card.counts.items()
            if name in table.configs
        },
        measured=measured_columns(table),
    )


def _check_returned(returned: Collection[str] | None, table: EvaluationTable) -> None:
    """Raise unless there are returned configurations, and the table has all of them."""
    if returned is None:
        return
    if len(returned) == 0:
        raise_fault(
            "returned",
            "the list of returned configurations is empty",
            "name at least one configuration, or leave this argument out",
            code="nothing-returned",
        )
    for name in returned:
        _validation.choice(name, "returned: configuration", table.configs)


def _name_arms(questions: pd.DataFrame, configs: Sequence[str]) -> pd.DataFrame:
    """Return the unsettled memberships with names of arms instead of numbers."""
    names = pd.Index(configs)
    named = questions.drop(columns="arm").assign(against=names[questions["against"]])
    named.insert(0, "configuration", names[questions["arm"]])
    return named
