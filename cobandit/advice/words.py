"""Numbers and names in sentences, and a recommendation in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobandit.advice.paired import find_worth
from cobandit.faults import amount

if TYPE_CHECKING:
    from cobandit.advice.recommendation import Recommendation

#: Configurations of a front, and other things, that a sentence names; the table has all.
NAMED, FEW = 8, 3
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


def some_names(names: Sequence[str], most: int = FEW) -> str:
    """Name a few, and count the rest.

    Examples
    --------
    >>> some_names(["a", "b", "c", "d", "e"]), some_names(["a", "b"]), some_names([])
    ('a, b, c and 2 more', 'a and b', '')
    """
    shown = [*names[:most], f"{len(names) - most} more"] if len(names) > most else names
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def describe_free(free: int, total: int, smallest: float, unit: str) -> str:
    """Say how many evaluations count as the smallest cost since they cost nothing.

    Examples
    --------
    >>> describe_free(144, 480, 0.5, "USD")
    '144 of 480 evaluations cost 0.5 USD or less, which is what one that cost nothing counts as'
    """
    counted = f"{free:,} of {total:,} evaluations cost {amount(smallest)} {unit} or less"
    return f"{counted}, which is what one that cost nothing counts as"


def describe(advice: Recommendation) -> list[str]:
    """Say what was found, in words that hold whatever it is: the trade-offs first, then what was asked.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> said = describe(recommend(load("synthetic-24"), about="benchmark"))
    >>> said[0]  # doctest: +NORMALIZE_WHITESPACE
    'Worth their cost, by their means: 6 of 24 configurations, evaluated on 400 instances. For none of
    them is another at least as good in accuracy, efficiency and cost, and better in one of these.'
    >>> said[2]
    'On this benchmark that is exact: every configuration is evaluated on all 400 instances.'
    """
    return [
        *_describe_dependence(advice),
        _describe_front(advice),
        *_describe_adjustment(advice),
        *_describe_cluster(advice),
        f"Cheapest first: {'; '.join(_name_steps(advice))}.",
        *_describe_certainty(advice),
        *_describe_choice(advice),
        *_describe_cheaper(advice),
        _describe_ratio(advice),
        *_describe_free(advice),
        *_describe_next(advice),
    ]


def _describe_dependence(advice: Recommendation) -> list[str]:
    """Say why nothing is settled, if evaluations are missing where instances are of another kind."""
    if not advice.dependence:
        return []
    first, others = advice.dependence[0].found, len(advice.dependence) - 1
    more = f" ({others} more of this kind: cobandit doctor)" * (others > 0)
    return [
        f"Nothing is settled, since evaluations are missing where instances are different. {first}{more}. "
        "Evaluate what is missing, and ask again."
    ]


def _describe_adjustment(advice: Recommendation) -> list[str]:
    """Say what means and steps are of, where configurations were evaluated on different instances."""
    if not advice.adjusted:
        return []
    return [
        "Not all of them are evaluated on the same instances. They are compared in pairs, each step too, on "
        "the instances that both have; the means are adjusted for how hard and how expensive the instances "
        "are on which a configuration is missing."
    ]


def _describe_cluster(advice: Recommendation) -> list[str]:
    """Say that clusters are counted, and not instances."""
    if advice.cluster is None:
        return []
    return [f"What is sure counts clusters, which are the values of {advice.cluster}, and not instances."]


def _describe_front(advice: Recommendation) -> str:
    """Say how many are on the front, and what that means."""
    arms = advice.arms[advice.arms["on_front"]] if advice.returned else advice.arms
    low, high = arms["instances"].min(), arms["instances"].max()
    on, names = int(advice.arms["on_front"].sum()), some_names([*advice.objectives, "cost"], 100)
    title = "Worth their cost, by their means"
    subject = "For none of them is another" if on > 1 else "No other is"
    meaning = f"{subject} at least as good in {names}, and better in one of these."
    if advice.returned:
        title, meaning = "Returned by the method", ""
    elif advice.dominance == "strict":
        title, meaning = "The paper's front", "None of them is beaten in every objective, whatever the cost."
    over = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    said = f"{title}: {on} of {len(advice.arms)} configurations, evaluated on {over} instances."
    if (kept := len(advice.front)) < on:
        meaning += f" Within {_within(advice)}, all are matched by {kept} of them."
    return f"{said} {meaning}".strip()


def _within(advice: Recommendation) -> str:
    tolerances = np.atleast_1d(advice.tolerance)
    return " and ".join(f"{each:g}" for each in dict.fromkeys(tolerances.tolist()))


def describe_steps(advice: Recommendation) -> list[str]:
    """Say of each member of the front, cheapest first, what it adds to the one before and for how much.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> describe_steps(recommend(load("synthetic-24")))[1]  # doctest: +NORMALIZE_WHITESPACE
    '+13.2 points in accuracy (+7.7 to +18.7), -14.6 in efficiency (-15.9 to -13.2) for 1.49 times the
    cost'
    """
    steps = [""]
    for row in advice.front[1:].to_dict("records"):
        if row["times"] != row["times"]:
            steps.append("which shares no instance with the one before")
            continue
        told = [_describe_gain(name, row) for name in advice.objectives]
        times = f"{row['times']:.3g}"
        paid = "about the same cost" if times == "1" else f"{times} times the cost"
        steps.append(f"{', '.join(told).replace(' in', ' points in', 1)} for {paid}")
    return steps


def _describe_gain(name: str, row: Mapping[Hashable, Any]) -> str:
    """Say how much more of an objective a step up brings, with its interval, in points."""
    gain, low, high = (100 * row[f"more_{name}{end}"] for end in ("", "_low", "_high"))
    return f"{gain:+.1f} in {name} ({low:+.1f} to {high:+.1f})"


def _name_steps(advice: Recommendation) -> list[str]:
    """Name the members of the front with their steps; of a long one the first."""
    first, *others = advice.front.index
    said = [f"{first} ({_show_means(advice, first)} per evaluation)"]
    said += [f"{name}, {step}" for name, step in zip(others, describe_steps(advice)[1:], strict=True)]
    return said if len(said) <= NAMED else [*said[:NAMED], f"and {len(said) - NAMED} more"]


def _show_means(advice: Recommendation, name: str) -> str:
    """Give the means of a configuration, and its cost."""
    row = advice.arms.loc[name].to_dict()
    means = ", ".join(f"{each} {row[each]:.3f}" for each in advice.objectives)
    return f"{means}; {amount(row['cost'])} {advice.unit}"


def _show(advice: Recommendation, name: str | None) -> str:
    """Name a configuration with its means, cost and instances."""
    if name is None:
        return "no configuration"
    return f"{name} ({_show_means(advice, name)}; n = {advice.arms['instances'][name]:,})"


def _describe_certainty(advice: Recommendation) -> list[str]:
    """Say what is exact, or how many memberships are settled and who else could be a member."""
    arms = advice.arms
    if advice.returned or advice.dependence:
        return []
    if advice.exact:
        total = arms["instances"].iloc[0]
        return [
            f"On this benchmark that is exact: every configuration is evaluated on all {total:,} instances."
        ]
    where = "On this benchmark" if advice.about == "benchmark" else "On other instances like these"
    standing = standings(advice)
    on = standing.index.isin(advice.front.index)
    known = standing == SURE
    settled = list(standing.index[known])
    sure = f"{some_names(settled) or 'none'} {'are' if len(settled) > 1 else 'is'} sure to be among them"
    sentences = [f"{where}, {sure} ({percent(advice.level)} confidence in all answers together)."]
    if doubtful := _name_shares(standing[on & ~known]):
        sentences.append(f"Not sure: {some_names(doubtful)}.")
    others = some_names(_name_shares(standing[~on])) or "none is likely to be"
    sentences.append(f"Others that may be: {others}.")
    return [" ".join(sentences)]


def _name_shares(standing: pd.Series[str]) -> list[str]:
    return [f"{name} ({share})" for name, share in standing.items()]


#: Standings of those whose membership of the front is settled.
SURE, NOT = "sure", "no"


def standings(advice: Recommendation) -> pd.Series[str]:
    """Say of each configuration that is worth showing whether it is on the front.

    `SURE` and `NOT` where that is settled, and otherwise the share of the redrawn tables in which it is,
    which is never written as all of them or none: what is not settled is not certain.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> standings(recommend(load("synthetic-24"), about="benchmark")).unique().tolist()
    ['sure']
    """
    shown = worth_showing(advice)
    shares = shown["front_share"]
    written = shares.map(percent).mask(shares > 0.99, ">99 %").mask(shares < 0.01, "<1 %")
    # the front by the means, also where a method returned another one
    on = shares >= 0.5 if advice.returned else shown["on_front"]
    return written.mask(shown["front_settled"], on.map({True: SURE, False: NOT}))


def likely_others(advice: Recommendation) -> pd.DataFrame:
    """Give those who are not on the front and may be, most likely first."""
    arms = advice.arms
    open_ = arms[~arms["on_front"] & ~arms["front_settled"] & (arms["front_share"] >= LIKELY)]
    return open_.sort_values("front_share", ascending=False, kind="stable")


def _describe_choice(advice: Recommendation) -> list[str]:
    """Say which configuration meets what was asked, and how sure that is."""
    choice = advice.choice
    if choice is None:
        return []
    said = f"{choice.asked[0].upper()}{choice.asked[1:]}: {_show(advice, choice.configuration)}."
    if choice.configuration is None:
        return [f"{said} {_show(advice, choice.closest)} comes closest."]
    if choice.next is not None:
        said += (
            f" Next is {_show(advice, choice.next)}, {100 * choice.ahead:.1f} points behind; the first is "
            f"ahead in {percent(choice.share)} of the sets of instances resampled from these."
        )
    if " with " in choice.asked and not advice.dependence:
        said += (
            f" Taken by itself it meets this with {percent(choice.confidence)} confidence; allowing for the "
            f"choice, {choice.sure or 'no configuration'} does so with {percent(advice.level)}."
        )
    return [said]


def _describe_ratio(advice: Recommendation) -> str:
    """Say who has the most hypervolume per cost, and how often."""
    best = advice.arms.loc[advice.most_efficient].to_dict()
    of = f"paper's ratio, {' x '.join(advice.objectives)} over cost in {advice.unit}, is largest for "
    of += f"{advice.most_efficient} ({amount(best['hypervolume_per_cost'])})"
    if advice.returned or advice.dominance == "strict":  # others, of whom this does not tell, may have more
        return f"{'Of what was returned' if advice.returned else 'On this front'}, the {of}."
    return (
        f"The {of}, as in {percent(best['efficient_share'])} of the sets of instances resampled from these."
    )


def _describe_cheaper(advice: Recommendation) -> list[str]:
    """Say who is worth its cost besides what a method returned, which does not weigh costs."""
    named = [_show(advice, name) for name in worth_besides(advice).index]
    return [f"For less money, by the means of what was evaluated: {some_names(named)}."] if named else []


def worth_besides(advice: Recommendation) -> pd.DataFrame:
    """Give those that a method did not return and that are worth their cost by the means, cheapest first."""
    arms = advice.arms
    worth = find_worth(arms[list(advice.objectives)].to_numpy(), arms["cost"].to_numpy())
    return arms[worth & ~arms["on_front"] & bool(advice.returned)]


def _describe_free(advice: Recommendation) -> list[str]:
    """Say that some costs are made up, if they are."""
    if not advice.free or advice.smallest_cost is None:
        return []
    total = int(advice.arms["instances"].sum())
    return [f"{describe_free(advice.free, total, advice.smallest_cost, advice.unit)}."]


def _describe_next(advice: Recommendation) -> list[str]:
    """Say what to evaluate next, or why not to."""
    if advice.returned:  # whoever returned it knows which instances there are besides the table's
        return []
    if advice.exhausted:
        said = "Every configuration is evaluated on every instance here, and only new instances tell more."
        if advice.budget is not None:
            said += f" There is nothing to spend {amount(advice.budget)} {advice.unit} on."
        return [said]
    plan, unit = advice.next, advice.unit
    within = f" within {_within(advice)}" if np.any(advice.tolerance) else ""
    said = (
        f"Which are best in {some_names(advice.objectives, 100)} on this benchmark, whatever the cost, is "
        f"settled{within} for {plan.settled} of {len(advice.arms)} configurations."
    )
    if plan.settled == len(advice.arms):
        return [f"{said} Nothing more has to be evaluated for that."]
    takes = f"{plan.evaluations:,} evaluation{'s' * (plan.evaluations != 1)}, {amount(plan.price)} {unit}"
    if plan.compared:
        said += f" The rest takes about {takes}."
    else:
        said += f" The rest takes at most {takes}; how many shows once all share some instances."
    pairs = [" on instance ".join(pair) for pair in plan.pairs.head(FEW).to_numpy()]
    if not pairs:
        why = "that can be expected to settle nothing more; the least that can is"
        if not plan.compared:
            why = "the first comparison of all takes"
        return [
            f"{said} Do not spend {amount(advice.budget or 0)} {unit} on it: {why} about "
            f"{amount(plan.step)} {unit}."
        ]
    more = ", and so on" if len(plan.pairs) > FEW else ""
    then = f", after which {plan.would_be_settled} can be expected to be settled" if plan.compared else ""
    return [f"{said} Make {len(plan.pairs):,} of them now{then}: {', then '.join(pairs)}{more}."]


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Give the configurations worth showing: on the front, cheapest first, and then who else could be."""
    others = worth_besides(advice) if advice.returned else likely_others(advice)
    return pd.concat([advice.arms.loc[advice.front.index], others])
