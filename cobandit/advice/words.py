"""Numbers and names in sentences, and a recommendation in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit._text import amount, some_names
from cobandit.dominance import TIE
from cobandit.policies.cost_comparison import read_cost_tolerance
from cobandit.stats.pairwise import cost_aware_front
from cobandit.tables.card import FREE

if TYPE_CHECKING:
    from cobandit.advice.recommendation import Recommendation

#: Names in a sentence, at most; the table has all.
FEW = 3
#: Who is on the front in fewer of the resampled sets of instances is not named as a possible member.
LIKELY = 0.05


def percent(share: float) -> str:
    """Write a share in percent, near its ends to a tenth.

    Examples
    --------
    >>> percent(0.296), percent(0.995), percent(0.015), percent(0.9996)
    ('30 %', '99.5 %', '1.5 %', '>99.9 %')
    """
    digits = 1 if 0 < share < 0.02 or 0.98 < share < 1 else 0
    written = f"{100 * share:.{digits}f}".removesuffix(".0")
    return f"{'>99.9' if written == '100' and share < 1 else written} %"


def interval(low: float, high: float) -> str:
    """Write the interval of a mean score, which is hardly ever as long on one side as on the other.

    Examples
    --------
    >>> interval(0.9484, 1.0), interval(0.0, 0.25)
    ('.948–1', '0–.250')
    """
    ends = (f"{end:.3f}" for end in (low, high))
    short = {"0.000": "0", "1.000": "1"}
    return "–".join(short.get(end, end.removeprefix("0")) for end in ends)


def three_digits(value: float) -> str:
    """Write a measured value to three digits.

    Examples
    --------
    >>> three_digits(0.41234), three_digits(1234.5)
    ('0.412', '1,230')
    """
    return amount(float(f"{value:.3g}"))


def describe_free(free: int, total: int, smallest: float, unit: str) -> str:
    """Say how many evaluations count as the smallest cost since they cost nothing.

    Examples
    --------
    >>> describe_free(144, 480, 0.5, "USD")
    '144 of 480 evaluations cost 0.5 USD or less, which is what one that cost nothing counts as'
    """
    counted = f"{free:,} of {total:,} evaluations cost {amount(smallest)} {unit} or less"
    return f"{counted}, which is what one that cost nothing counts as"


class Answer(NamedTuple):
    """A recommendation in words, to be read around the table of its front."""

    headline: str
    warnings: list[str]  # what has to be known before the table is read
    lines: dict[str, str]  # what goes below it, by what each is about


def answer(advice: Recommendation, ratio: bool = False) -> Answer:
    """Put a recommendation into words.

    Parameters
    ----------
    advice : Recommendation
    ratio : bool
        Whether the paper's ratio, hypervolume over cost, is given too.

    Returns
    -------
    Answer

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> texts = answer(recommend(load("synthetic-24"), about="benchmark"))
    >>> texts.headline  # doctest: +NORMALIZE_WHITESPACE
    '6 of 24 configurations are worth their cost (accuracy, efficiency, tokens); each of the other 18 is
    beaten by one of them.'
    >>> texts.lines["Sure"]
    'all of this, which is exact: every configuration is evaluated on all 400 instances.'
    """
    warnings = [*_describe_dependence(advice), *_describe_free(advice), *_describe_counts(advice)]
    lines = {
        "Sure": _describe_certainty(advice),
        "Compared": _describe_comparison(advice),
        "You asked": _describe_choice(advice),
        "Also": _describe_cheaper(advice),
        "Ratio": _describe_ratio(advice) if ratio else "",
        "Next": _describe_next(advice),
    }
    return Answer(_describe_front(advice), warnings, {topic: line for topic, line in lines.items() if line})


def describe(advice: Recommendation) -> list[str]:
    """Return the headline, the warnings and the lines of an `answer`, one text each.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> describe(recommend(load("synthetic-24")))[-1]
    'Next: every configuration is evaluated on every instance; only new instances would add to this.'
    """
    texts = answer(advice)
    lines = [f"{topic}: {line}" for topic, line in texts.lines.items()]
    return [texts.headline, *texts.warnings, *lines]


def _describe_dependence(advice: Recommendation) -> list[str]:
    """Say why nothing is settled, if evaluations are missing where instances are of another kind."""
    if not advice.dependence:
        return []
    first, others = advice.dependence[0].found, len(advice.dependence) - 1
    more = f" ({others} more of this kind: cobandit doctor)" if others else ""
    return [
        f"Nothing is settled, since evaluations are missing where instances are different. {first}{more}. "
        "Evaluate what is missing, and ask again."
    ]


def _describe_comparison(advice: Recommendation) -> str:
    """Say what is compared where that is not every instance of the table."""
    texts = []
    if advice.adjusted:
        texts.append(
            "in pairs, on the instances that both have; means are adjusted where a configuration is missing"
        )
    if advice.cluster is not None:
        texts.append(f"by clusters, the values of {advice.cluster}, and not by instances")
    return f"{'; '.join(texts)}." if texts else ""


def _describe_front(advice: Recommendation) -> str:
    """Return the headline: how many configurations are on the front, and of which kind it is."""
    n_front = int(advice.arms["on_front"].sum())
    n_arms = len(advice.arms)
    count = f"{n_front} of {n_arms} configurations"
    if advice.returned and advice.ignores_cost:
        return f"The method returned {count}."
    if advice.dominance == "strict":
        verb = "is" if n_front == 1 else "are"
        return (
            f"{count} {verb} on the paper's front: not beaten in every objective, whatever the cost "
            f"({', '.join(advice.objectives)})."
        )
    n_beaten = n_arms - n_front
    verb = "is worth its" if n_front == 1 else "are worth their"
    winner = "it" if n_front == 1 else "one of them"
    compared = ", ".join([*advice.objectives, advice.unit])
    if n_beaten == 0:
        headline = f"All {n_arms} configurations are worth their cost ({compared}): none is beaten."
    elif n_beaten == 1:
        headline = f"{count} {verb} cost ({compared}); the other one is beaten by {winner}."
    else:
        headline = f"{count} {verb} cost ({compared}); each of the other {n_beaten} is beaten by {winner}."
    n_kept = len(advice.front)
    if advice.returned and _within(advice):
        headline = f"{headline.removesuffix('.')} within {_within(advice)}."
    elif n_kept < n_front:
        headline += f" Within {_within(advice)} they are matched by {n_kept} of them."
    return headline


def _within(advice: Recommendation) -> str:
    return describe_tolerance(advice.tolerance, advice.cost_tolerance, advice.unit)


def describe_tolerance(tolerance: ArrayLike, cost_tolerance: float | str, unit: str) -> str:
    """Write a tolerance of scores and of costs; nothing where there is none.

    Examples
    --------
    >>> describe_tolerance(0.02, "10%", "USD"), describe_tolerance([0.02, 0.1], 0.5, "USD")
    ('0.02 and 10 % of the cost', '0.02, 0.1 and 0.5 USD')
    >>> describe_tolerance(0.0, "0%", "USD")
    ''
    """
    share, fixed = read_cost_tolerance(cost_tolerance)
    tolerances = np.atleast_1d(np.asarray(tolerance, dtype=float))
    texts = [f"{each:g}" for each in dict.fromkeys(tolerances.tolist())] if tolerances.any() else []
    if share:
        texts.append(f"{100 * share:g} % of the cost")
    elif fixed:
        texts.append(f"{amount(fixed)} {unit}")
    return some_names(texts, len(texts))


def describe_steps(advice: Recommendation, with_intervals: bool = True) -> list[str]:
    """Return what each member of the front adds to its cheaper neighbour, in points.

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
        gains = [_describe_gain(name, row, with_intervals) for name in advice.objectives]
        steps.append(", ".join(gains))
    return steps


def _describe_gain(name: str, row: Mapping[Hashable, Any], with_interval: bool) -> str:
    gain, low, high = (100 * row[f"more_{name}{end}"] for end in ("", "_low", "_high"))
    interval_text = f" ({low:+.1f} to {high:+.1f})" if with_interval and high - low > TIE else ""
    return f"{gain:+.1f} {name}{interval_text}"


def _show(advice: Recommendation, name: str) -> str:
    """Return the name of a configuration with its means and its cost."""
    row = advice.arms.loc[name].to_dict()
    means = ", ".join(f"{each} {row[each]:.3f}" for each in advice.objectives)
    cost = "free" if row["has_made_up_cost"] else f"{amount(row['cost'])} {advice.unit}"
    return f"{name} ({means}, {cost})"


def _describe_certainty(advice: Recommendation) -> str:
    """Say what is exact, or how many memberships are settled and how many others may be members."""
    if advice.returned or advice.dependence:
        return ""
    if advice.exact:
        total = advice.arms["instances"].iloc[0]
        return f"all of this, which is exact: every configuration is evaluated on all {total:,} instances."
    standing = standings(advice)
    n_front = len(advice.front)
    n_sure = int((standing.loc[advice.front.index] == SURE).sum())
    n_open = len(likely_others(advice))
    where = "on this benchmark" if advice.about == "benchmark" else "also on new instances like these"
    subject = "all" if n_sure == n_front else f"{n_sure or 'none'}"
    sentence = f"{subject} of the {n_front}"
    if n_front == 1:
        sentence = "that one" if n_sure else "not that one"
    elif n_front == 2 and n_sure == 2:
        sentence = "both"
    sentence += f", at {percent(advice.level)} for all answers together, {where}."
    if n_open == 1:
        sentence += " One that is beaten here may be worth its cost, too."
    elif n_open:
        sentence += f" {n_open} that are beaten here may be worth their cost, too."
    return sentence


#: Standings of those whose membership of the front is settled.
SURE, NOT = "sure", "no"


def standings(advice: Recommendation) -> pd.Series[str]:
    """Return for each configuration, cheapest first, whether it is on the front.

    `SURE` and `NOT` where that is settled, and otherwise the share of the redrawn tables in which it is,
    which is never written as all of them or none: what is not settled is not certain.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> standings(recommend(load("synthetic-24"), about="benchmark")).unique().tolist()
    ['sure', 'no']
    """
    arms = advice.arms
    shares = arms["front_share"]
    written = shares.map(percent).mask(shares > 0.99, ">99 %").mask(shares < 0.01, "<1 %")
    # the front by the means, also where a method returned another one
    on = shares >= 0.5 if advice.returned else arms["on_front"]
    return written.mask(arms["front_settled"], on.map({True: SURE, False: NOT}))


def likely_others(advice: Recommendation) -> pd.DataFrame:
    """Give those who are not on the front and may be, most likely first."""
    arms = advice.arms
    open_ = arms[~arms["on_front"] & ~arms["front_settled"] & (arms["front_share"] >= LIKELY)]
    return open_.sort_values("front_share", ascending=False, kind="stable")


def _describe_choice(advice: Recommendation) -> str:
    """Say which configuration meets the wishes, and how sure that is."""
    choice = advice.choice
    if choice is None:
        return ""
    if choice.configuration is None:
        return f"{choice.asked}: none. {_show(advice, choice.closest)} comes closest."
    text = f"{choice.asked}: {_show(advice, choice.configuration)}"
    if choice.conditional and not advice.dependence:
        level = percent(advice.level)
        if choice.sure == choice.configuration:
            text += f", sure at {level}"
        else:
            text += f", with {percent(choice.confidence)} confidence by itself"
            text += f"; {choice.sure or 'none'} is sure at {level}"
    if choice.next is not None:
        text += (
            f". The next best, {choice.next}, is {100 * choice.ahead:.1f} points behind, and "
            f"{percent(choice.share)} of resampled sets of instances have the same best"
        )
    return f"{text}."


def _describe_ratio(advice: Recommendation) -> str:
    """Say which configuration has the most hypervolume per cost, and how often."""
    if advice.most_efficient is None:
        return f"none is made of the cost of {some_names(advice.made_up)}: what costs nothing has none."
    best = advice.arms.loc[advice.most_efficient].to_dict()
    ratio = f"{' x '.join(advice.objectives)} / {advice.unit}"
    text = f"{ratio} is largest for {advice.most_efficient} ({amount(best['hypervolume_per_cost'])})"
    if advice.returned or advice.dominance == "strict":  # others, which are not looked at, may have more
        return f"{text} among these."
    return f"{text}, and in {percent(best['efficient_share'])} of resampled sets of instances."


def _describe_cheaper(advice: Recommendation) -> str:
    """Name the configurations that are worth their cost and that a method did not return."""
    named = [_show(advice, name) for name in worth_besides(advice).index]
    return f"worth their cost by the means, and not returned: {some_names(named)}." if named else ""


def worth_besides(advice: Recommendation) -> pd.DataFrame:
    """Give those that a method did not return and that are worth their cost by the means, cheapest first."""
    arms = advice.arms
    worth = cost_aware_front(arms[list(advice.objectives)].to_numpy(), arms["cost"].to_numpy())
    return arms[worth & ~arms["on_front"] & bool(advice.returned and advice.ignores_cost)]


def _describe_free(advice: Recommendation) -> list[str]:
    """Say that some costs are made up, if they are."""
    if not advice.free or advice.smallest_cost is None:
        return []
    total = int(advice.arms["instances"].sum())
    text = f"{describe_free(advice.free, total, advice.smallest_cost, advice.unit)}."
    if advice.made_up:
        text += f" No factor and no ratio is made of the cost of {some_names(advice.made_up)}."
    return [text]


def _describe_counts(advice: Recommendation) -> list[str]:
    """Say of which configurations evaluations are not as they should be."""
    flaws = [f"{kind}, {some_names(names)}" for kind, names in name_counts(advice.counts).items()]
    return [f"Not as they should be: {'; '.join(flaws)}."] if flaws else []


def name_counts(counts: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    """Name the configurations of each count, the largest first, except of free evaluations.

    Examples
    --------
    >>> name_counts({"a": {"answers cut off": 2}, "b": {"answers cut off": 16, "answers empty": 1}})
    {'answers cut off': ['16 of b', '2 of a'], 'answers empty': ['1 of b']}
    """
    by_kind: dict[str, list[tuple[int, str]]] = {}
    for config, numbers in counts.items():
        for kind, number in numbers.items():
            if kind != FREE:
                by_kind.setdefault(kind, []).append((number, config))
    return {
        kind: [f"{number:,} of {config}" for number, config in sorted(pairs, key=lambda pair: -pair[0])]
        for kind, pairs in by_kind.items()
    }


def _describe_next(advice: Recommendation) -> str:
    """Say what to evaluate next, or why nothing."""
    if advice.returned:  # its method knows which instances there are besides those of the table
        return ""
    unit = advice.unit
    if advice.exhausted:
        text = "every configuration is evaluated on every instance; only new instances would add to this."
        if advice.budget is not None:
            text += f" There is nothing to spend {amount(advice.budget)} {unit} on."
        return text

    plan = advice.next
    within = f" within {_within(advice)}" if _within(advice) else ""
    n_open = len(advice.arms) - plan.settled
    settled = f"proved at {percent(advice.level)}" if advice.certified else "settled"
    if advice.ignores_cost:
        front = f"the front of {some_names(advice.objectives, 100)}{within} (whatever the cost)"
    else:
        front = f"the front of {some_names([*advice.objectives, 'cost'], 100)}{within}"
    if n_open == 0:
        return f"nothing on this benchmark: {front} is {settled}."
    evaluations = f"{plan.evaluations:,} evaluation{'' if plan.evaluations == 1 else 's'}"
    bound = "about" if plan.compared else "at most"
    open_question = (
        f"{n_open} of {len(advice.arms)} configurations may be on {front}, or not; until that is {settled} "
        f"on this benchmark, it takes {bound} {evaluations}, {amount(plan.price)} {unit}"
    )
    pairs = [" on instance ".join(pair) for pair in plan.pairs.head(FEW).to_numpy()]
    if not pairs:
        why = "the least that can settle one more" if plan.compared else "a first comparison of all"
        budget = f"{amount(advice.budget or 0)} {unit} is too little"
        return f"{open_question}. {budget}: {why} takes {amount(plan.step)} {unit}."
    then = f", to settle about {plan.would_be_settled}" if plan.compared else ""
    more = ", ..." if len(plan.pairs) > FEW else ""
    return f"{open_question}. Begin with {len(plan.pairs):,} of them{then}: {', '.join(pairs)}{more}."


#: Heads of columns that a table of the answer may have: factors of cost, standings, and steps.
TIMES, STANDING, STEP = "times", "on the front", "points over the next cheaper one"


def measured_head(column: str) -> str:
    """Return the head above the median and the 95th percentile of a measured column."""
    return f"{column} p50/p95"


def write_table(
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
        Whether intervals stand behind means, and behind steps, where these are not exact.
    measured : bool
        Whether a score that is made of a measured column is followed by the median and the 95th percentile
        of that column.

    Returns
    -------
    DataFrame
        Indexed by configuration: ``n``, the cost per evaluation, `TIMES`, each objective, `STANDING` and
        `STEP`; empty texts where a row is no step up.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> advice = recommend(load("synthetic-24"))
    >>> write_table(advice, advice.arms.head(1)).iloc[0].tolist()[:5]
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
            means += [f" {interval(low, high)}" if high - low > TIE else "" for low, high in ends]
        columns[name] = means
        if measured and name in advice.measured:
            percentiles = zip(shown[f"{name}_p50"], shown[f"{name}_p95"], strict=True)
            columns[measured_head(advice.measured[name])] = [
                f"{three_digits(median)}/{three_digits(slow)}" for median, slow in percentiles
            ]
    steps = pd.Series(describe_steps(advice, step_intervals), index=advice.front.index)
    columns[STANDING] = standings(advice).reindex(shown.index)
    columns[STEP] = steps.reindex(shown.index, fill_value="")
    return pd.DataFrame(columns)


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Return the configurations on the front, cheapest first, then others that may be on it."""
    others = worth_besides(advice) if advice.returned else likely_others(advice)
    return pd.concat([advice.arms.loc[advice.front.index], others])


def front_first(advice: Recommendation) -> pd.DataFrame:
    """Return all configurations: those that `worth_showing` returns, then the others, cheapest first."""
    likely = worth_showing(advice)
    return pd.concat([likely, advice.arms.drop(index=likely.index)])
