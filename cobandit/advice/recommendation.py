r"""What to deploy and what to evaluate next, from the measured means, variances and costs of a table.

Two questions are asked: which arms are Pareto-optimal, and which arm is the most efficient.  Each has two
readings, and the user chooses.  About *this benchmark*, the instances of the table, the means decide, and
once every arm is evaluated on every instance they are exact.  About *instances like these* no benchmark is
ever enough.  An answer counts as *settled* where a gap exceeds its standard error by a factor large enough
for all answers to one question to be right together with the stated confidence; where a few evaluations carry
most of a mean cost, no standard error is to be trusted, and the answer is that one *cannot tell*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _check
from cobandit.advice.next_evaluations import allocate, missing_pairs
from cobandit.advice.paired import Paired, compare_pairs, redraw_means
from cobandit.advice.questions import (
    Question,
    Tails,
    efficiency_questions,
    find_levels,
    find_tails,
    front_questions,
)
from cobandit.dominance import pareto_mask
from cobandit.errors import CobanditError

if TYPE_CHECKING:
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
    level : float
        Confidence.
    budget : float or None
        What may be spent on further evaluations.
    about : {"instances", "benchmark"}
        What answers are about: instances like these, or those of the table.
    arms : DataFrame, K rows
        Indexed by configuration, best efficiency first: the mean of each objective with ``_low`` and
        ``_high`` (its interval at ``level``, one at a time), ``cost``, ``hypervolume_per_cost``,
        ``on_front`` and ``most_efficient`` (by the means), ``front_share`` and ``efficient_share`` (of the
        redrawn tables), ``front_settled``, ``efficient_settled`` (of the most efficient, that no other is
        more efficient; of any other, that it is not the most efficient), ``cost_carried_by`` (how many of its
        most expensive evaluations carry half of its mean cost), ``cost_unmet`` (share of the mean cost that
        the tail may hold beyond what was met), ``instances``, ``missing`` (instances of the benchmark on
        which it is not evaluated), ``next`` (how many of these evaluations to make now) and ``new``
        (evaluations on new instances that the rest of the budget would pay).
    questions : DataFrame
        What is not settled, cheapest first: ``kind``, ``configuration``, ``against``, ``ratio`` (gap over its
        standard error), ``factor`` (what it has to be), ``why`` (``"gap"``, an exact ``"tie"``, or a heavy
        ``"tail"`` of costs), ``evaluations`` and ``price`` to get there, and ``new_instances``, how many
        instances beyond the benchmark that takes, the same for all that are compared: infinite for a tie or a
        tail.
    evaluate_next : DataFrame
        The evaluations that ``next`` counts, in the order in which to make them: ``configuration``,
        ``instance``, none of them in the table.
    needed : float
        Price of settling everything but ties and tails; evaluations that two questions need are counted once.
    smallest_cost : float or None
        What an evaluation that cost nothing counts as, if the table's import made that up.
    free : int
        How many evaluations cost no more than that.
    """

    dataset: str
    unit: str
    level: float
    budget: float | None
    about: str
    arms: pd.DataFrame
    questions: pd.DataFrame
    evaluate_next: pd.DataFrame
    needed: float
    smallest_cost: float | None = None
    free: int = 0

    @property
    def best(self) -> str:
        """Most efficient configuration by the means."""
        return str(self.arms.index[self.arms["most_efficient"]][0])

    @property
    def exhausted(self) -> bool:
        """Whether every configuration is evaluated on every instance: the benchmark's means are exact."""
        return not self.arms["missing"].any()

    @property
    def exact(self) -> bool:
        """Whether all answers are exact: they are about the benchmark, and it is exhausted."""
        return self.about == "benchmark" and self.exhausted

    def price(self, evaluations: str) -> float:
        """What the evaluations cost that a column of `arms` counts, ``missing``, ``next`` or ``new``."""
        return float((self.arms[evaluations] * self.arms["cost"]).sum())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; what no budget settles is None.

        Examples
        --------
        >>> import cobandit as cb
        >>> sorted(cb.recommend(cb.load("synthetic-24")).to_dict())[:4]
        ['about', 'arms', 'best', 'best_is_settled']
        """
        frames = {
            "arms": self.arms.reset_index().to_dict("records"),
            "questions": self.questions.to_dict("records"),
            "evaluate_next": self.evaluate_next.to_dict("records"),
        }
        plain = {
            key: [{name: _plain(value) for name, value in row.items()} for row in rows]
            for key, rows in frames.items()
        }
        return {
            "dataset": self.dataset,
            "unit": self.unit,
            "level": self.level,
            "budget": self.budget,
            "about": self.about,
            "best": self.best,
            "best_is_settled": bool(self.arms.loc[self.best, "efficient_settled"]),
            "front": self.arms.index[self.arms["on_front"]].tolist(),
            "price_to_settle": self.needed,
            "ties": int((self.questions["why"] == "tie").sum()),
            "cannot_tell": int((self.questions["why"] == "tail").sum()),
            "exhausted": self.exhausted,
            "smallest_cost": self.smallest_cost,
            "free": self.free,
            **{f"price_of_{name}": self.price(name) for name in ("missing", "next", "new")},
            **plain,
        }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def recommend(
    table: EvaluationTable,
    budget: float | None = None,
    *,
    about: str = "instances",
    level: float = 0.95,
    replications: int = REDRAWS,
    seed: int = 0,
) -> Recommendation:
    r"""What to deploy, what is not settled, what settling it would cost, and what to evaluate next.

    Means, variances and covariances are over all instances of the table; configurations are compared on the
    instances that they share.  With confidence ``level`` all memberships in the Pareto set that are called
    settled are right, and, as a second statement of the same confidence, so is the most efficient
    configuration if it is called settled.

    Parameters
    ----------
    table : EvaluationTable
    budget : float, optional
        What may be spent on further evaluations, in the table's unit; never exceeded at the mean costs.  It
        goes to missing evaluations first, then to new instances.
    about : {"instances", "benchmark"}
        What is to be settled: answers about instances like these, or about those of the table, which are
        exact once every configuration is evaluated on every instance.  Shares and intervals are about
        instances like these in either case.
    level : float
        Confidence in (0, 1).
    replications, seed : int
        Of the redraws behind shares and intervals; the seed also of the draws behind critical values, and of
        the order in which instances are named.

    Returns
    -------
    Recommendation

    Raises
    ------
    CobanditError
        If the budget is not positive, the level not in (0, 1), or ``about`` neither of the two.

    Notes
    -----
    What is settled assumes that instances are independent draws of what the configurations will meet (or that
    missing evaluations are missing at random), and that means of them are about normal: critical values are
    Student's at levels that a step-down procedure finds (`cobandit.advice.questions`), and each variance
    counts one instance more that varies like the pooled arms.  Costs may be far from normal, so that the tail
    of the best configuration's is estimated, too.  Prices assume that gaps, variances and costs stay as
    measured, and are estimates; after the evaluations, ask again.  Time O(K^2 I D).

    Examples
    --------
    >>> import cobandit as cb
    >>> advice = recommend(cb.load("synthetic-24"), budget=5_000)
    >>> advice.best, advice.exhausted, advice.price("next"), 0 < advice.price("new") <= 5_000
    ('small-direct-t0.0', True, 0.0, True)
    """
    _check.table(table)
    level = _check.positive(level, "level")
    if level >= 1:
        raise CobanditError(f"level is {level}: a confidence below 1 is needed")
    budget = None if budget is None else _check.positive(budget, "budget")
    finite = _check.choice(about, "about", ("instances", "benchmark")) == "benchmark"
    compared = compare_pairs(table, finite)
    levels, tails = find_levels(compared, 1 - level, _check.seed(seed)), find_tails(compared)
    questions = front_questions(compared, levels) + efficiency_questions(compared, levels, tails)
    questions.sort(key=lambda question: question.price)
    redrawn = redraw_means(table, replications, seed)
    arms = _arms(table, compared, tails, questions, budget or 0.0, level, *redrawn)
    return Recommendation(
        table.name,
        table.card.cost.unit,
        level,
        budget,
        about,
        arms.sort_values("hypervolume_per_cost", ascending=False, kind="stable"),
        _asked(table, questions, compared.missing),
        missing_pairs(table, arms["next"].to_numpy(), seed),
        _price_of_all(questions, compared.costs),
        table.card.smallest_cost,
        table.n_free,
    )


def _arms(
    table: EvaluationTable,
    compared: Paired,
    tails: Tails,
    questions: list[Question],
    budget: float,
    level: float,
    means: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> pd.DataFrame:
    """What is known of each arm, in the table's order.

    ``means`` (R, K, D) and ``costs`` (R, K) are those of the redrawn tables.
    """
    n_arms, every = table.n_arms, table.summary()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    best = np.argmax(means.prod(axis=2) / costs, axis=1)
    open_ = {kind: {q.arm for q in questions if q.kind == kind} for kind in ("front", "efficiency")}
    leader, missing = int(compared.efficiency.argmax()), compared.missing
    bought = allocate(questions, compared.costs, budget, missing)
    if open_["efficiency"]:  # then it is not settled that the leader leads
        open_["efficiency"].add(leader)
    columns: dict[str, Any] = {}
    for d, name in enumerate(table.objectives):
        columns |= {name: every[name], f"{name}_low": low[:, d], f"{name}_high": high[:, d]}
    columns |= {
        "cost": every["cost"],
        "hypervolume_per_cost": compared.efficiency,
        "on_front": every["on_front"],
        "most_efficient": np.arange(n_arms) == leader,
        "front_share": np.mean([pareto_mask(each) for each in means], axis=0),
        "efficient_share": np.bincount(best, minlength=n_arms) / len(best),
        "front_settled": [i not in open_["front"] for i in range(n_arms)],
        "efficient_settled": [i not in open_["efficiency"] for i in range(n_arms)],
        "cost_carried_by": tails.carried_by,
        "cost_unmet": tails.unmet,
        "instances": every["instances"],
        "missing": missing,
        "next": np.minimum(bought, missing),
        "new": np.maximum(bought - missing, 0),
    }
    return pd.DataFrame(columns, index=every.index)


def _asked(table: EvaluationTable, questions: list[Question], missing: NDArray[np.int64]) -> pd.DataFrame:
    """The questions by names of configurations."""
    names = table.configs
    rows = [
        (
            *(q.kind, names[q.arm], names[q.against], q.why),
            *(q.ratio, q.factor, q.extra.sum(), q.new(missing), q.price),
        )
        for q in questions
    ]
    text = ["kind", "configuration", "against", "why"]
    numbers = ["ratio", "factor", "evaluations", "new_instances", "price"]
    return pd.DataFrame(rows, columns=text + numbers).astype(dict.fromkeys(numbers, float))


def _price_of_all(questions: list[Question], costs: NDArray[np.float64]) -> float:
    """Price of settling everything but ties and tails; what two questions need is bought once."""
    needed = np.zeros(len(costs))
    for question in questions:
        if np.isfinite(question.price):
            needed[question.arms] = np.maximum(needed[question.arms], question.extra)
    return float(needed @ costs)
