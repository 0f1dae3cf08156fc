"""A recommendation in words, for the terminal and the report."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from cobandit.advice.doctor import of_free
from cobandit.advice.recommendation import Recommendation

#: Configurations whose evaluations are named in a sentence; the table has all.
NAMED = 8
#: Pairs of configuration and instance that are named in a sentence.
PAIRS = 3
#: Columns that count evaluations to make, and what they count.
PURCHASES = {
    "missing": "instances of the benchmark on which it is not evaluated",
    "next": "missing evaluations to make now",
    "new": "evaluations on new instances that the rest of the budget would pay for",
}


def amount(value: float) -> str:
    """Write an amount to four digits, or whole.

    Examples
    --------
    >>> amount(26_880.4), amount(1.45504), amount(0.000123456), amount(4.5e20)
    ('26,880', '1.455', '0.0001235', '4.5e+20')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def decimals(values: pd.Series) -> str:
    """Give a format with four digits for the largest of the values, and as many decimals for all.

    Examples
    --------
    >>> decimals(pd.Series([2.5, 96.0])), decimals(pd.Series([0.0093, 0.0004]))
    (',.2f', ',.6f')
    """
    return f",.{max(0, 3 - math.floor(math.log10(values.max() or 1)))}f"


def sentences(advice: Recommendation) -> list[str]:
    """Say what was found, in words that hold whatever it is: on this benchmark, then on instances like these.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> said = sentences(recommend(load("synthetic-24"), budget=5_000))
    >>> said[1]  # doctest: +NORMALIZE_WHITESPACE
    'On this benchmark the answer is exact: all 24 configurations are evaluated on all 400 instances, and the
    Pareto set has 6 of them.'
    >>> said[4][:55]
    'Evaluate next: nothing, as the benchmark is exhausted. '
    """
    share = f"{advice.arms['efficient_share'][advice.best]:.0%}"
    return [
        f"Deploy {advice.best} if every cost counts: it has the most hypervolume for its cost, in {share} of "
        f"the redrawn tables; {_of_the_best(advice)}.",
        *_of_the_free(advice),
        _on_this_benchmark(advice),
        *_of_the_front(advice),
        _to_settle(advice),
        *([_next(advice)] if advice.budget is not None and len(advice.questions) else []),
    ]


def _of_the_best(advice: Recommendation) -> str:
    """Say whether the best is settled, or why not."""
    best, level = advice.arms.loc[advice.best], f"{advice.level:.0%}"
    about = "on this benchmark" if advice.about == "benchmark" else "for instances like these"
    open_ = advice.questions[advice.questions["kind"] == "efficiency"]
    if open_.empty:
        return f"{about} exact" if advice.exact else f"{about} settled at {level}"
    rivals = f"{len(open_)} other{'s' if len(open_) > 1 else ''} could be more efficient"
    if not (open_["why"] == "tail").any():
        return f"{about} not settled at {level}: {rivals}"
    return (
        f"{about} one cannot tell: {best['cost_carried_by']:,} of its {best['instances']:,} evaluations "
        f"carry half of its mean cost, and of so heavy a tail {best['cost_unmet']:.0%} may not have been "
        f"met; {rivals}"
    )


def _of_the_free(advice: Recommendation) -> list[str]:
    """Say that some costs are made up, if they are."""
    if not advice.free or advice.smallest_cost is None:
        return []
    total = int(advice.arms["instances"].sum())
    return [f"{of_free(advice.free, total, advice.smallest_cost, advice.unit)}."]


def _of_the_front(advice: Recommendation) -> list[str]:
    """Say how many memberships are settled."""
    if advice.exact:
        return []
    on, sure = advice.arms["on_front"], advice.arms["front_settled"]
    counted = (
        f"Settled at {advice.level:.0%}: {int((on & sure).sum())} of these {int(on.sum())}; of the others "
        f"{int((~on & ~sure).sum())} could be Pareto-optimal."
    )
    lead = "" if advice.about == "benchmark" else "On instances like these it is never exact. "
    return [lead + counted]


def _on_this_benchmark(advice: Recommendation) -> str:
    """What the means of the table's own instances say, and what is missing of them."""
    arms, n_arms = advice.arms, len(advice.arms)
    n_instances, front = int(arms[["instances", "missing"]].iloc[0].sum()), int(arms["on_front"].sum())
    if advice.exhausted:
        return (
            f"On this benchmark the answer is exact: all {n_arms} configurations are evaluated on all "
            f"{n_instances:,} instances, and the Pareto set has {front} of them."
        )
    missing = int(arms["missing"].sum())
    return (
        f"On this benchmark of {n_instances:,} instances the Pareto set by the means has {front} of {n_arms} "
        f"configurations. It is exact once all {n_arms * n_instances:,} evaluations are made; {missing:,} "
        f"are missing, for about {amount(advice.price('missing'))} {advice.unit}."
    )


def _to_settle(advice: Recommendation) -> str:
    """What it takes to settle what is open, first in money and then in new instances."""
    if advice.exact:
        return "Nothing is open: on this benchmark every answer is exact."
    why = advice.questions["why"].value_counts()
    never = [
        f"Exact ties, which no number of new instances settles: {why['tie']}." if "tie" in why else "",
        f"Left open by the tail of the costs, whatever the gap: {why['tail']}." if "tail" in why else "",
    ]
    unpriced = " ".join(filter(None, never))
    new = advice.questions["new_instances"]
    new = new[np.isfinite(new)].sort_values()
    if new.empty:
        return unpriced or f"Every answer is settled at {advice.level:.0%}."
    total = (
        f"Settling everything{' else' if unpriced else ''} would take about {amount(advice.needed)} "
        f"{advice.unit} more, if gaps, variances and costs stay as measured"
    )
    if advice.about == "benchmark":
        here = f"all {advice.arms['missing'].sum():,} missing evaluations {amount(advice.price('missing'))}"
        return f"{total}; {here}. {unpriced}".strip()
    marks = new.iloc[sorted({0, (len(new) - 1) // 2, len(new) - 1})].unique()
    steps = ", ".join(
        f"{f'{most:,.0f}' if most else 'none'} would settle {(new <= most).sum()}" for most in marks
    )
    beyond = "" if advice.exhausted else ", after what is missing here"
    return (
        f"{total}. New instances, the same for all that are compared{beyond}: {steps} of {len(new)} open "
        f"answers. {unpriced}"
    ).strip()


def _next(advice: Recommendation) -> str:
    """How to spend the budget: evaluations that exist and are missing, then new instances."""
    arms, unit, pairs = advice.arms, advice.unit, advice.evaluate_next
    budget = f"{amount(advice.budget or 0)} {unit}"
    if not arms[["next", "new"]].any(axis=None) and np.isfinite(advice.questions["price"]).any():
        return f"Evaluate next: nothing, as {budget} buy none of what is needed."
    if len(pairs):
        first = [
            f"{pair.configuration} on instance {pair.instance}" for pair in pairs.head(PAIRS).itertuples()
        ]
        said = (
            f"Evaluate next: {_purchases(arms['next'])}; {len(pairs):,} of the missing evaluations for about "
            f"{amount(advice.price('next'))} of {budget}, first {', then '.join(first)}."
        )
    else:
        why = "the benchmark is exhausted" if advice.exhausted else "what is missing here settles nothing"
        said = f"Evaluate next: nothing, as {why}."
    if arms["new"].any():
        said += (
            f" On {int(arms['new'].max()):,} new instances, about {amount(advice.price('new'))} of {budget} "
            f"would pay for {_purchases(arms['new'])}."
        )
    return said


def _purchases(bought: pd.Series) -> str:
    """Name the evaluations to buy, most first, at most `NAMED` configurations."""
    bought = bought[bought > 0].sort_values(ascending=False, kind="stable")
    named = [f"{number:,} × {name}" for name, number in bought.head(NAMED).items()]
    more = [f"{len(bought) - NAMED} more configurations"] if len(bought) > NAMED else []
    return ", ".join([*named, *more])


def purchases(advice: Recommendation) -> list[str]:
    """Give the columns worth showing that count evaluations: what is missing, or what a budget buys."""
    names = ["missing"] if advice.budget is None else ["next", "new"]
    return [name for name in names if advice.arms[name].any()]


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Give the configurations worth showing: on the front, unsettled, most efficient, or to be evaluated."""
    arms = advice.arms
    worth = arms["on_front"] | ~arms["front_settled"] | ~arms["efficient_settled"] | arms["most_efficient"]
    return arms[worth | (arms["next"] + arms["new"] > 0)]
