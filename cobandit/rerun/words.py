"""A recommendation in words, for the terminal and the report."""

from __future__ import annotations

import math

import pandas as pd

from cobandit.recommendation import Recommendation


def amount(value: float) -> str:
    """Say what something costs with four digits, and never in powers of ten.

    Examples
    --------
    >>> amount(26880.4), amount(0.125)
    ('26,880', '0.125')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


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
            f"Settling {'everything else' if ties else 'everything'} would take about "
            f"{amount(advice.needed)} {unit} more, if gaps, variances and costs stay as measured"
            + (f"; {ties} exact tie{'s' if ties > 1 else ''} no budget settles." if ties else ".")
        )
    else:
        said.append(f"Every membership is settled at {level}: nothing is left to evaluate.")
    if advice.budget is not None and open_ + rivals:
        said.append(
            f"Next: {int(arms['next'].sum()):,} evaluations for about {amount(advice.spent)} {unit} of "
            f"{amount(advice.budget)}, on instances that all the configurations named are evaluated on."
        )
    return said


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Give the configurations worth showing: on the front, unsettled, most efficient, or to be evaluated."""
    arms = advice.arms
    worth = arms["on_front"] | ~arms["front_settled"] | ~arms["efficient_settled"] | arms["most_efficient"]
    return arms[worth | (arms["next"] > 0)]
