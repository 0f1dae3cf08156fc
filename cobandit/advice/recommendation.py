r"""Which configurations are worth their cost, which one meets what is asked, and what to evaluate next.

What is worth its cost is the Pareto front of the objectives and the cost: no other configuration is at
least as good in every objective and as cheap, and better or cheaper. Answers have two readings, and the
user chooses. About *this benchmark*, the instances of the table, the means decide, and once every
configuration is evaluated on every instance they are exact. About *instances like these* no benchmark is
ever enough. An answer counts as *settled* where a gap exceeds its standard error by a factor large enough
for all answers to be right together with the stated confidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit._text import as_html
from cobandit.advice.choice import Choice, choose_configuration, read_wishes
from cobandit.advice.front_frames import (
    RedrawnTables,
    measured_columns,
    tabulate_configurations,
    tabulate_steps,
    thin_out,
)
from cobandit.advice.missing import Dependence, find_dependence
from cobandit.advice.next_evaluations import NextEvaluations, plan_next
from cobandit.advice.questions import find_questions
from cobandit.errors import CobanditError
from cobandit.policies.cost_comparison import FRONTS
from cobandit.stats.pairwise import Paired
from cobandit.stats.redrawn_means import redraw_means
from cobandit.stats.simultaneous import find_levels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cobandit.tables import EvaluationTable


#: Redrawn tables behind shares and intervals, by default.
REDRAWS = 1000


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` found.

    Attributes
    ----------
    dataset, unit : str
        The table, and the unit of its costs.
    objectives : tuple of str
    level : float
        Confidence.
    budget : float or None
        What may be spent on further evaluations.
    about : {"instances", "benchmark"}
        What answers are about: instances like these, or those of the table.
    dominance : {"standard", "strict"}
        Of the front: at least as good in every objective and in cost, and better in one; or the paper's,
        better in every objective, whatever the cost.
    arms : DataFrame, K rows
        Indexed by configuration, cheapest first: the mean of each objective with ``_low`` and ``_high``
        (its interval at ``level``, one at a time), ``cost``, ``hypervolume_per_cost``, ``on_front`` (by the
        means), ``front_share`` and ``efficient_share`` (how often it is on the front, and has the most
        hypervolume per cost, in redrawn tables: other weights on the instances, the same for every
        configuration), ``front_settled``, ``instances``, ``missing`` (instances of the benchmark on which
        it is not evaluated), and ``has_made_up_cost`` (its evaluations cost nothing, and what that counts as
        is made up: its ratio is NaN).  Means are on all instances of the table, adjusted where some are
        missing (`cobandit.tables.adjusted`).  A score that is made of a measured column, such as a latency,
        also has ``_p50`` and ``_p95``: median and 95th percentile of that column.
    measured : mapping of str to str
        By objective that is made of a measured column, the name of that column.
    front : DataFrame
        The front, cheapest first: ``instances``, ``cost``, each objective, and what a step up changes.
        ``times`` is the cost over that of the one before, and ``more_OBJECTIVE`` the gain on it, with
        ``_low`` and ``_high`` (its paired interval at ``level``, one at a time), all on the instances that
        the two share; NaN where they share none, ``times`` also where a cost is made up.  What a cheaper one
        of these is within the tolerance of in every objective is left out.
    adjusted : bool
        Whether means are adjusted, since not all configurations are evaluated on the same instances.
    cluster : str or None
        Column whose values are the units that are counted as independent; None for instances.
    dependence : list of Dependence
        Why nothing is settled: evaluations that are missing where instances are harder, easier or dearer.
    questions : DataFrame
        Memberships of the front that are not settled, cheapest first: ``configuration``, ``against``,
        ``ratio`` (gap over its standard error), ``factor`` (what it has to be), ``evaluations`` and ``price``
        to get there, and ``new_instances``, how many instances beyond the benchmark that takes, the same for
        all that are compared: infinite for a tie.
    returned : bool
        Whether the front is what a method returned, and not what the means say.
    choice : Choice or None
        The configuration that meets what was asked.
    tolerance : float or tuple of float
        What is not worth telling apart.
    cost_tolerance : float or str
        The same of costs.
    ignores_cost : bool
        Whether what was returned, and what is planned, is the front of the objectives, whatever the cost.
    certified : bool
        Whether what the race calls settled is proved.
    next : NextEvaluations
        What a race has settled, and which evaluations it would go on with.
    smallest_cost : float or None
        What an evaluation that cost nothing counts as, if the table's import made that up.
    free : int
        How many evaluations cost no more than that.
    counts : mapping
        By configuration, evaluations that something is the matter with, such as answers that were cut off, as
        the card has them.
    """

    dataset: str
    unit: str
    objectives: tuple[str, ...]
    level: float
    budget: float | None
    about: str
    dominance: str
    arms: pd.DataFrame
    front: pd.DataFrame
    questions: pd.DataFrame
    returned: bool
    choice: Choice | None
    tolerance: float | tuple[float, ...]
    cost_tolerance: float | str
    ignores_cost: bool
    next: NextEvaluations
    adjusted: bool
    cluster: str | None
    dependence: list[Dependence]
    certified: bool = False
    smallest_cost: float | None = None
    free: int = 0
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    measured: Mapping[str, str] = field(default_factory=dict)

    @property
    def made_up(self) -> list[str]:
        """Configurations whose cost is made up, since their evaluations cost nothing."""
        return [str(name) for name in self.arms.index[self.arms["has_made_up_cost"]]]

    @property
    def most_efficient(self) -> str | None:
        """Configuration of the front with the most hypervolume per cost, by the means.

        None where a cost on the front is made up.
        """
        ratios = self.arms.loc[self.arms["on_front"], "hypervolume_per_cost"]
        return None if ratios.isna().any() else str(ratios.idxmax())

    @property
    def exhausted(self) -> bool:
        """Whether every configuration is evaluated on every instance: the benchmark's means are exact."""
        return not self.arms["missing"].any()

    @property
    def exact(self) -> bool:
        """Whether all answers are exact: they are about the benchmark, and it is exhausted."""
        return self.about == "benchmark" and self.exhausted

    def plot(self) -> Figure:
        """Draw the front, what is settled of it, and what was asked.

        See Also
        --------
        cobandit.figures.front

        Examples
        --------
        >>> import cobandit as cb
        >>> figure = cb.recommend(cb.load("synthetic-24"), at_least={"accuracy": 0.7}).plot()
        """
        from cobandit import figures

        return figures.front(self)

    def _repr_html_(self) -> str:
        """Write the headline, the picture, the front and the lines below it, for a notebook."""
        import matplotlib.pyplot as plt

        from cobandit import figures
        from cobandit.advice.answer import describe_answer
        from cobandit.advice.answer_table import write_answer_table

        headline, *lines = describe_answer(self)
        figure = self.plot()
        picture = figures.described(figures.panels(figure), headline)
        plt.close(figure)
        members = self.arms.loc[self.front.index]
        front = write_answer_table(self, members, step_intervals=False).rename_axis(index=None)
        return as_html(headline, front, lines, picture)

    def __repr__(self) -> str:
        """Name the table and count its front."""
        return f"Recommendation({self.dataset!r}, {len(self.front)} of {len(self.arms)} configurations)"

    def __str__(self) -> str:
        """What was found in words, a paragraph each."""
        from cobandit.advice.answer import describe_answer

        return "\n".join(describe_answer(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; what no number of evaluations settles is None.

        Examples
        --------
        >>> import cobandit as cb
        >>> sorted(cb.recommend(cb.load("synthetic-24")).to_dict())[:4]
        ['about', 'adjusted', 'arms', 'budget']
        """
        frames = {
            "arms": self.arms.reset_index(),
            "front": self.front.reset_index(),
            "questions": self.questions,
            "evaluate_next": self.next.pairs,
        }
        plain = {
            **{name: value for name, value in vars(self).items() if name not in ("next", "returned")},
            "choice": None if self.choice is None else self.choice.to_dict(),
            "dependence": [case._asdict() for case in self.dependence],
            "exhausted": self.exhausted,
            "most_efficient": self.most_efficient,
            "settled": self.next.settled,
            "would_be_settled": self.next.would_be_settled,
            "compared": self.next.compared,
            "evaluations_to_settle": self.next.evaluations,
            "price_to_settle": self.next.price,
            "price_of_next_step": self.next.step,
        }
        for key, frame in frames.items():
            is_finite = frame.replace(np.inf, np.nan).notna()
            plain[key] = frame.astype(object).where(is_finite, None).to_dict("records")
        return plain


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
    r"""What is worth its cost, which configuration meets what is asked, and what to evaluate next.

    Means, variances and covariances are over all instances of the table; configurations are compared on the
    instances that they share.  With confidence ``level`` all memberships in the front that are called settled
    are right.

    Parameters
    ----------
    table : EvaluationTable
    budget : float, optional
        What may be spent on further evaluations, in the table's unit; never exceeded at the mean costs.
    at_least : mapping of str to float, optional
        By objective, the mean that a configuration has to have; the cheapest that does is chosen.  Where
        several conditions are given, here and in `within`, all have to hold.
    within : mapping of str to float, optional
        By objective, by how much it may be below the best.
    prefer : mapping of str to float, optional
        Weights of objectives: of those that meet the conditions the one with the largest weighted mean is
        chosen, instead of the cheapest.
    tolerance : float or array_like, shape (D,)
        What is not worth telling apart, in the unit of the objectives: one member of the front stands for
        those that it comes so close to, the most expensive first, and missing evaluations are planned so.
    cost_tolerance : float or str
        The same of costs: an amount in their unit, or a share such as ``"10%"``.
    certified : bool
        Whether missing evaluations are planned for a certified race, whose error is proved on any table
        (`cobandit.ParetoRace`), and not only measured; that takes more of them.
    returned : collection of str, optional
        Configurations that a method returned, which are then taken as the front, whatever the means say.
        A race of the objectives and the cost returns this function's front of its table, exactly without a
        tolerance, and within it otherwise: it keeps what nothing was sure to stand for when it stopped.
    ignores_cost : bool
        Whether these are the front of the objectives, whatever the cost, as those of the paper's methods, and
        missing evaluations are planned for that front; so is the front of strict dominance.
    about : {"instances", "benchmark"}
        What is to be settled: answers about instances like these, or about those of the table, which are
        exact once every configuration is evaluated on every instance.  Shares and intervals are about
        instances like these in either case.
    dominance : {"standard", "strict"}
        Whether a configuration is off the front if another is at least as good in every objective and in
        cost, and better in one of them; or, as in the paper, better in every objective, whatever the cost.
    cluster : str, optional
        Column of what instances have in common, such as the passage that questions are about, which is then
        the unit of intervals and of what is settled; by default that of the table's card.
    level : float
        Confidence in (0, 0.9999].
    replications, seed : int
        Of the redraws behind shares; the seed also of the draws behind critical values, and of
        the order in which instances are named.

    Returns
    -------
    Recommendation

    Raises
    ------
    CobanditError
        If the budget is not positive, the level not in (0, 0.9999], a choice none of those that there are, or
        an objective none of the table's.

    Notes
    -----
    Intervals, and which configuration is sure to meet a condition, hold for any number of bounded scores
    (`cobandit.stats.limits`), if instances are independent draws of what the configurations will meet.
    What is settled assumes that, too, that missing evaluations are missing at random (where they visibly
    are not, nothing is settled: `cobandit.advice.missing`), and that means of them are about normal:
    critical values are Student's at levels that a step-down procedure finds (`cobandit.advice.questions`),
    and each variance counts one instance more that varies like the pooled arms. Costs may be far from
    normal: `cobandit.advice.doctor` says where their tail is too heavy for that. What to evaluate next is
    what `cobandit.ParetoRace` would, which looks for the same front; how much that is assumes that gaps and
    variances stay as measured. Time O(K^2 I D).

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
    finite = _validation.choice(about, "about", ("instances", "benchmark")) == "benchmark"
    strict = _validation.choice(dominance, "dominance", ("standard", "strict")) == "strict"
    wishes = read_wishes(table.objectives, at_least, within, prefer)
    tolerances = np.asarray(tolerance, dtype=float)
    ignores_cost = ignores_cost or strict
    _check_returned(returned, table)

    compared = Paired(table, finite, strict)
    levels = find_levels(compared, 1 - level, _validation.seed(seed))
    questions = find_questions(compared, levels)
    dependence = find_dependence(table, seed)
    is_open = np.isin(np.arange(table.n_arms), questions["arm"])
    settled = ~is_open & (not dependence)
    front = compared.on_front if returned is None else np.isin(table.configs, [*returned])

    redrawn = RedrawnTables(*redraw_means(table, replications, seed))
    arms = tabulate_configurations(compared, front, settled, level, redrawn)
    members = [table.configs.index(name) for name in arms.index[arms["on_front"]]]
    if returned is None:
        members = thin_out(compared, members, tolerances, cost_tolerance)

    choice = None
    if wishes is not None:
        among = np.ones(table.n_arms, dtype=bool) if returned is None else front
        choice = choose_configuration(wishes, compared, redrawn.means, level, among, seed)
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
        tolerance=float(tolerances) if tolerances.ndim == 0 else tuple(tolerances.tolist()),
        cost_tolerance=cost_tolerance,
        ignores_cost=ignores_cost,
        next=plan,
        adjusted=not compared.complete,
        cluster=table.card.cluster,
        dependence=dependence,
        certified=certified,
        smallest_cost=table.card.smallest_cost,
        free=table.n_free,
        counts={name: counts for name, counts in table.card.counts.items() if name in table.configs},
        measured=measured_columns(table),
    )


def _check_returned(returned: Collection[str] | None, table: EvaluationTable) -> None:
    """Raise unless what a method returned are configurations of the table, at least one."""
    if returned is None:
        return
    if len(returned) == 0:
        raise CobanditError("returned: name at least one configuration")
    for name in returned:
        _validation.choice(name, "returned: configuration", table.configs)


def _name_arms(questions: pd.DataFrame, configs: Sequence[str]) -> pd.DataFrame:
    """Return the questions with names of configurations in the place of their numbers."""
    names = pd.Index(configs)
    named = questions.drop(columns="arm").assign(against=names[questions["against"]])
    named.insert(0, "configuration", names[questions["arm"]])
    return named
