"""A recommendation in words, for the terminal and the report."""

from __future__ import annotations

import math

import pandas as pd

from cobandit.advice.recommendation import Recommendation

#: Configurations whose evaluations are named in a sentence; the table has all.
NAMED = 8


def amount(value: float) -> str:
    """Write an amount to four digits, or whole.

    Examples
    --------
    >>> amount(26_880.4), amount(1.45504), amount(0.000123456)
    ('26,880', '1.455', '0.0001235')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def decimals(values: pd.Series) -> str:
    """Give a format with four digits for the largest of the values, and as many decimals for all.

    Examples
    --------
    >>> decimals(pd.Series([2.5, 96.0])), decimals(pd.Series([0.0093, 0.0004]))
    (',.2f', ',.6f')
    """
    return f",.{max(0, 3 - math.floor(math.log10(values.max() or 1)))}f"


def sentences(advice: Recommendation) -> list[str]:
    """Say what was found, in words that hold whatever it is.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> sentences(recommend(load("synthetic-24")))[0][:29]
    'Deploy small-direct-t0.0 if e'
    """
    arms, unit, level = advice.arms, advice.unit, f"{advice.level:.0%}"
    best = arms.loc[advice.best]
    rivals = int((~arms["efficient_settled"]).sum())
    sure = (
        f"settled at {level}"
        if not rivals
        else f"not settled at {level}: {rivals} other{'s' if rivals > 1 else ''} could be more efficient"
    )
    open_ = int((~arms["front_settled"]).sum())
    ties = int((advice.questions["price"] == float("inf")).sum())
    said = [
        f"Deploy {advice.best} if every cost counts: it has the most hypervolume for its cost, in "
        f"{best['efficient_share']:.0%} of the redrawn tables; {sure}.",
        f"Pareto set by the means: {int(arms['on_front'].sum())} of {len(arms)} configurations, "
        f"{int((arms['on_front'] & arms['front_settled']).sum())} of them settled at {level}; of the others "
        f"{int((~arms['on_front'] & ~arms['front_settled']).sum())} could belong to it.",
    ]
    if len(advice.questions):
        said.append(
            f"Settling everything{' else' if ties else ''} would take about {amount(advice.needed)} "
            f"{unit} more, if gaps, variances and costs stay as measured"
            + (f"; {ties} exact tie{'s' if ties > 1 else ''} no budget settles." if ties else ".")
        )
    else:
        said.append(f"Every membership is settled at {level}: nothing is left to evaluate.")
    if advice.budget is not None and open_ + rivals:
        said.append(
            f"Evaluate next: {_purchases(arms)}; {int(arms['next'].sum()):,} evaluations for about "
            f"{amount(advice.spent)} {unit} of {amount(advice.budget)}, on instances that all of these "
            "configurations are evaluated on."
            if advice.spent
            else f"Evaluate next: nothing, as {amount(advice.budget)} {unit} buy none of what is needed."
        )
    return said


def _purchases(arms: pd.DataFrame) -> str:
    """Name the evaluations to buy, most first, at most `NAMED` configurations."""
    bought = arms.loc[arms["next"] > 0, "next"].sort_values(ascending=False, kind="stable")
    named = [f"{number:,} × {name}" for name, number in bought.head(NAMED).items()]
    more = [f"{len(bought) - NAMED} more configurations"] if len(bought) > NAMED else []
    return ", ".join([*named, *more])


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Give the configurations worth showing: on the front, unsettled, most efficient, or to be evaluated."""
    arms = advice.arms
    worth = arms["on_front"] | ~arms["front_settled"] | ~arms["efficient_settled"] | arms["most_efficient"]
    return arms[worth | (arms["next"] > 0)]
