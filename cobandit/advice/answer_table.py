"""The table of an answer: configurations with their numbers as text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobandit._text import amount
from cobandit.advice.words import interval, percent, three_digits
from cobandit.dominance import TIE
from cobandit.stats.pairwise import cost_aware_front

if TYPE_CHECKING:
    from cobandit.advice.recommendation import Recommendation

#: An undecided configuration is shown as a possible member of the front if it is on the
#: front in at least this share of the bootstrap replicates.
LIKELY = 0.05
#: Texts for configurations that are certainly on the front, or certainly not.
SURE, NOT = "sure", "no"
#: Column headings: ratio of the cost to that of the next cheaper member of the front,
#: certainty of being on the front, and gain over the next cheaper member.
TIMES, STANDING, STEP = "times", "on the front", "points over the next cheaper one"


def write_answer_table(
    advice: Recommendation,
    shown: pd.DataFrame,
    intervals: bool = True,
    step_intervals: bool = True,
    measured: bool = True,
) -> pd.DataFrame:
    """Write the numbers of some configurations as text.

    Parameters
    ----------
    advice : Recommendation
    shown : DataFrame
        Rows of ``advice.arms``, such as `worth_showing` returns.
    intervals, step_intervals : bool
        Whether to append intervals to the means, and to the gains in `STEP`. Exact
        numbers have no interval.
    measured : bool
        Whether to add the median and 95th percentile of each measured column, such as
        seconds, from which a score is computed.

    Returns
    -------
    DataFrame
        Indexed by configuration: ``n``, the cost per evaluation, `TIMES`, each
        objective, `STANDING` and `STEP`. `TIMES` and `STEP` are empty for a row without
        a cheaper neighbour on the front.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> advice = recommend(load("synthetic-24"))
    >>> write_answer_table(advice, advice.arms.head(1)).iloc[0].tolist()[:5]
    ['400', '63.82', '', '0.440 .392–.489', '0.851 .842–.857']
    """
    costs = shown["cost"].map(amount).mask(shown["has_made_up_cost"], "free")

    factors = advice.front["times"].dropna().map("{:.3g}x".format).astype(object)
    columns: dict[str, pd.Series[Any] | list[str]] = {
        "n": shown["instances"].map("{:,}".format),
        f"{advice.unit}/eval": costs,
        TIMES: factors.reindex(shown.index, fill_value=""),
    }
    for name in advice.objectives:
        means = shown[name].map("{:.3f}".format)
        if intervals:
            ends = zip(shown[f"{name}_low"], shown[f"{name}_high"], strict=True)
            means += [
                f" {interval(low, high)}" if high - low > TIE else ""
                for low, high in ends
            ]
        columns[name] = means
        if measured and name in advice.measured:
            percentiles = zip(shown[f"{name}_p50"], shown[f"{name}_p95"], strict=True)
            columns[measured_head(advice.measured[name])] = [
                f"{three_digits(median)}/{three_digits(slow)}"
                for median, slow in percentiles
            ]

    steps = pd.Series(describe_steps(advice, step_intervals), index=advice.front.index)
    columns[STANDING] = standings(advice).reindex(shown.index)
    columns[STEP] = steps.reindex(shown.index, fill_value="")
    return pd.DataFrame(columns)


def measured_head(column: str) -> str:
    """Return the heading of the median and 95th percentile of a measured column."""
    return f"{column} p50/p95"


def standings(advice: Recommendation) -> pd.Series[str]:
    """Return, as text, how certainly each configuration is on the front.

    Configurations are in order of cost. The text is `SURE` or `NOT` if the membership
    is certain. Otherwise it is the share of bootstrap replicates with the configuration
    on the front, which is never written as 0 or 100 %.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> standings(recommend(load("synthetic-24"), about="benchmark")).unique().tolist()
    ['sure', 'no']
    """
    arms = advice.arms
    shares = arms["front_share"]
    written = (
        shares.map(percent).mask(shares > 0.99, ">99 %").mask(shares < 0.01, "<1 %")
    )
    # the front by the means, even if a method returned another front
    on = shares >= 0.5 if advice.returned else arms["on_front"]
    return written.mask(arms["front_settled"], on.map({True: SURE, False: NOT}))


def describe_steps(advice: Recommendation, with_intervals: bool = True) -> list[str]:
    """Return the gain of each front member over its cheaper neighbour, in points.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> describe_steps(recommend(load("synthetic-24")))[1]
    '+13.2 accuracy (+7.7 to +18.7), -14.6 efficiency (-15.9 to -13.2)'
    """
    steps = [""]
    for row in advice.front[1:].to_dict("records"):
        if np.isnan(row[f"more_{advice.objectives[0]}"]):
            steps.append("no instance shared with the next cheaper one")
            continue
        gains = [
            _describe_gain(name, row, with_intervals) for name in advice.objectives
        ]
        steps.append(", ".join(gains))
    return steps


def _describe_gain(name: str, row: Mapping[Hashable, Any], with_interval: bool) -> str:
    gain, low, high = (100 * row[f"more_{name}{end}"] for end in ("", "_low", "_high"))
    interval_text = (
        f" ({low:+.1f} to {high:+.1f})" if with_interval and high - low > TIE else ""
    )
    return f"{gain:+.1f} {name}{interval_text}"


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Return the rows of the front, then those of possible further members.

    If a method that ignores the cost returned the front, the possible further members
    are the configurations that are worth their cost but were not returned. If a method
    that considers the cost returned the front, there are none.
    """
    others = worth_besides(advice) if advice.returned else likely_others(advice)
    return pd.concat([advice.arms.loc[advice.front.index], others])


def front_first(advice: Recommendation) -> pd.DataFrame:
    """Return all configurations, the result of `worth_showing` first."""
    likely = worth_showing(advice)
    return pd.concat([likely, advice.arms.drop(index=likely.index)])


def shorten(advice: Recommendation, rows: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Return ``n_rows`` of the rows: the first ones, and always the chosen ones."""
    wished = (
        []
        if advice.choice is None
        else [advice.choice.configuration, advice.choice.sure]
    )
    further = rows.iloc[n_rows:].index.isin(wished).sum()
    is_shown = rows.index.isin(rows.index[: n_rows - further]) | rows.index.isin(wished)
    return rows[is_shown]


def likely_others(advice: Recommendation) -> pd.DataFrame:
    """Return undecided configurations off the front, most likely members first."""
    arms = advice.arms
    open_ = arms[
        ~arms["on_front"] & ~arms["front_settled"] & (arms["front_share"] >= LIKELY)
    ]
    return open_.sort_values("front_share", ascending=False, kind="stable")


def worth_besides(advice: Recommendation) -> pd.DataFrame:
    """Return the configurations that are worth their cost but missing from the front.

    The frame is empty, except if a method that ignores the cost returned the front.
    """
    arms = advice.arms
    worth = cost_aware_front(
        arms[list(advice.objectives)].to_numpy(), arms["cost"].to_numpy()
    )
    return arms[
        worth & ~arms["on_front"] & bool(advice.returned and advice.ignores_cost)
    ]
