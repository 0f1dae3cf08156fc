"""The result of `recommend`, and its display as text, HTML and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobandit._text import as_html
from cobandit.advice.choice import Choice
from cobandit.advice.next_evaluations import NextEvaluations
from cobandit.stats.missingness import Dependence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Recommendation:
    """Result of `recommend`, with displays as text, HTML, a figure and JSON.

    Attributes
    ----------
    dataset, unit : str
        Name of the table, and unit of its costs.
    objectives : tuple of str
        Names of the objectives.
    level : float
        Confidence.
    budget : float or None
        Budget of further evaluations.
    about : {"instances", "benchmark"}
        Whether answers are about the population from which the table's instances are
        drawn, or only about these instances.
    dominance : {"standard", "strict"}
        Kind of dominance. In the standard order, a configuration dominates another if
        it is at least as good in every objective and in cost, and better in one of
        them. In the paper's strict order, it dominates if it is better in every
        objective, whatever the cost.
    arms : DataFrame, K rows
        All configurations, cheapest first, with the columns

        * mean of each objective, and ``_low`` and ``_high``, the ends of its interval
          at ``level`` (not joint over configurations),
        * ``cost`` and ``hypervolume_per_cost``,
        * ``on_front``: whether it is on the front of the means, or was returned by the
          method; and ``front_settled``: whether its membership is certain,
        * ``front_share`` and ``efficient_share``: shares of bootstrap replicates in
          which it is on the front, and in which it has the most hypervolume per cost,
        * ``instances``, and ``missing``, the number of the benchmark's instances
          without an evaluation,
        * ``has_made_up_cost``: whether 1 % or more of its cost comes from free
          evaluations. The hypervolume per cost is then NaN.

        Means are over all instances of the table, adjusted if some are missing
        (`cobandit.tables.adjusted`).  A score that is computed from a measured column,
        such as a latency, also has ``_p50`` and ``_p95``, the median and the 95th
        percentile of that column.
    measured : mapping of str to str
        Name of the measured column, for each objective that is computed from one.
    front : DataFrame
        The front, cheapest first: ``instances``, ``cost`` and all objectives. Each
        member is compared with the next cheaper one, on the instances that the two
        share: ``times`` is the ratio of the costs, and ``more_OBJECTIVE`` the gain,
        with ``_low`` and ``_high``, the ends of its paired interval at ``level`` (not
        joint). These values are NaN if the two share no instance, and ``times`` also if
        a cost is made up. Members that a cheaper one matches within the tolerance are
        left out.
    adjusted : bool
        Whether means are adjusted, because not all configurations are evaluated on the
        same instances.
    cluster : str or None
        Column whose values are the independent units; None for instances.
    dependence : list of Dependence
        Evaluations that are missing systematically, for example on hard instances.
        If there are any, nothing is settled.
    questions : DataFrame
        Unsettled memberships of the front, cheapest to settle first: ``configuration``,
        ``against`` (the rival), ``ratio`` (gap over its standard error), ``factor``
        (critical value of the ratio), ``evaluations`` and ``price`` (number and cost of
        the evaluations until the ratio is critical), and ``new_instances`` (number of
        instances needed beyond the benchmark). ``new_instances`` is infinite if the gap
        is zero.
    returned : bool
        Whether a method returned the front; otherwise it is the front of the means.
    choice : Choice or None
        Configuration that meets the requirements.
    tolerance : float or tuple of float
        Largest difference of scores that does not matter.
    cost_tolerance : float or str
        Largest difference of costs that does not matter.
    ignores_cost : bool
        Whether the returned front and the planned evaluations ignore the cost.
    certified : bool
        Whether ``next`` is planned for a certified race, whose error bound is proved.
    next : NextEvaluations
        Evaluations that `cobandit.ParetoRace` would make next.
    smallest_cost : float or None
        Positive cost that replaces the zero cost of a free evaluation; None if the
        table has no such cost.
    free : int
        Number of free evaluations, whose cost is made up.
    counts : mapping
        Numbers of flawed evaluations, by configuration and kind of flaw. An answer that
        was cut off, for example, is a flaw. The numbers are from the table's card
        (`cobandit.tables.Card`).
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
        """Names of configurations with at least 1 % of their cost made up."""
        return [str(name) for name in self.arms.index[self.arms["has_made_up_cost"]]]

    @property
    def most_efficient(self) -> str | None:
        """Name of the front member with the most hypervolume per cost, by the means.

        None if a cost on the front is made up.
        """
        ratios = self.arms.loc[self.arms["on_front"], "hypervolume_per_cost"]
        return None if ratios.isna().any() else str(ratios.idxmax())

    @property
    def exhausted(self) -> bool:
        """Whether every configuration is evaluated on every instance."""
        return not self.arms["missing"].any()

    @property
    def exact(self) -> bool:
        """Whether the answer is about the benchmark, and no evaluation is missing."""
        return self.about == "benchmark" and self.exhausted

    def plot(self) -> Figure:
        """Draw the front: certain members, tolerance, conditions, and the choice.

        See Also
        --------
        cobandit.figures.front

        Examples
        --------
        >>> import cobandit as cb
        >>> advice = cb.recommend(cb.load("synthetic-24"), at_least={"accuracy": 0.7})
        >>> figure = advice.plot()
        """
        from cobandit import figures

        return figures.front(self)

    def _repr_html_(self) -> str:
        """Write headline, figure, front and lines as HTML, for a notebook."""
        import matplotlib.pyplot as plt

        from cobandit import figures
        from cobandit.advice.answer import answer_lines
        from cobandit.advice.answer_table import write_answer_table

        headline, *lines = answer_lines(self)
        figure = self.plot()
        picture = figures.described(figures.panels(figure), headline)
        plt.close(figure)
        members = self.arms.loc[self.front.index]
        front = write_answer_table(self, members, step_intervals=False).rename_axis(
            index=None
        )
        return as_html(headline, front, lines, picture)

    def __repr__(self) -> str:
        """Show the name of the table and the size of its front."""
        return (
            f"Recommendation({self.dataset!r}, {len(self.front)} of {len(self.arms)}"
            " configurations)"
        )

    def __str__(self) -> str:
        """Write headline, warnings and lines of the answer, one paragraph each."""
        from cobandit.advice.answer import answer_lines

        return "\n".join(answer_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; infinite and missing numbers are None.

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
            **{
                name: value
                for name, value in vars(self).items()
                if name not in ("next", "returned")
            },
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
