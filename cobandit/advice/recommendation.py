"""What a table says about a choice, as fields that show themselves as text, HTML, a picture and JSON."""

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
    """An answer of `recommend`, which shows itself as text, HTML, a picture and JSON.

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
        Of the front: at least as good in every objective and in cost, and better in
        one; or the paper's, better in every objective, whatever the cost.
    arms : DataFrame, K rows
        Indexed by configuration, cheapest first: the mean of each objective with
        ``_low`` and ``_high`` (its interval at ``level``, one at a time), ``cost``,
        ``hypervolume_per_cost``, ``on_front`` (by the means), ``front_share`` and
        ``efficient_share`` (how often it is on the front, and has the most hypervolume
        per cost, in redrawn tables: other weights on the instances, the same for every
        configuration), ``front_settled``, ``instances``, ``missing`` (instances of the
        benchmark on which it is not evaluated), and ``has_made_up_cost`` (its
        evaluations cost nothing, and what that counts as is made up: its ratio is NaN).
        Means are on all instances of the table, adjusted where some are missing
        (`cobandit.tables.adjusted`).  A score that is made of a measured column, such
        as a latency, also has ``_p50`` and ``_p95``: median and 95th percentile of that
        column.
    measured : mapping of str to str
        By objective that is made of a measured column, the name of that column.
    front : DataFrame
        The front, cheapest first: ``instances``, ``cost``, each objective, and what a
        step up changes. ``times`` is the cost over that of the one before, and
        ``more_OBJECTIVE`` the gain on it, with ``_low`` and ``_high`` (its paired
        interval at ``level``, one at a time), all on the instances that the two share;
        NaN where they share none, ``times`` also where a cost is made up.  What a
        cheaper one of these is within the tolerance of in every objective is left out.
    adjusted : bool
        Whether means are adjusted, since not all configurations are evaluated on the
        same instances.
    cluster : str or None
        Column whose values are the units that are counted as independent; None for
        instances.
    dependence : list of Dependence
        Why nothing is settled: evaluations that are missing where instances are harder,
        easier or dearer.
    questions : DataFrame
        Memberships of the front that are not settled, cheapest first:
        ``configuration``, ``against``, ``ratio`` (gap over its standard error),
        ``factor`` (what it has to be), ``evaluations`` and ``price`` to get there, and
        ``new_instances``, how many instances beyond the benchmark that takes, the same
        for all that are compared: infinite for a tie.
    returned : bool
        Whether the front is what a method returned, and not what the means say.
    choice : Choice or None
        The configuration that meets what was asked.
    tolerance : float or tuple of float
        Largest difference of scores that does not matter.
    cost_tolerance : float or str
        The same of costs.
    ignores_cost : bool
        Whether what was returned, and what is planned, is the front of the objectives,
        whatever the cost.
    certified : bool
        Whether what the race calls settled is proved.
    next : NextEvaluations
        What a race has settled, and which evaluations it would go on with.
    smallest_cost : float or None
        What an evaluation that cost nothing counts as, if the table's import made that
        up.
    free : int
        How many evaluations cost no more than that.
    counts : mapping
        By configuration, evaluations that something is the matter with, such as answers
        that were cut off, as the card has them.
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
        """True if every configuration is evaluated on every instance: all means are exact."""
        return not self.arms["missing"].any()

    @property
    def exact(self) -> bool:
        """True if all answers are exact: they are about the benchmark, and it is exhausted."""
        return self.about == "benchmark" and self.exhausted

    def plot(self) -> Figure:
        """Draw the front, with the settled memberships, the tolerance, the condition and the choice.

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
        """Name the table and count its front."""
        return (
            f"Recommendation({self.dataset!r}, {len(self.front)} of {len(self.arms)}"
            " configurations)"
        )

    def __str__(self) -> str:
        """Write the headline, the warnings and the lines of the answer, one paragraph each."""
        from cobandit.advice.answer import answer_lines

        return "\n".join(answer_lines(self))

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
