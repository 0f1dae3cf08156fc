"""A recommendation in words: a headline, warnings, and one line per topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cobandit._text import amount, some_names
from cobandit.advice.answer_table import SURE, likely_others, standings, worth_besides
from cobandit.advice.words import (
    describe_dependence,
    describe_free,
    describe_tolerance,
    name_counts,
    percent,
)

if TYPE_CHECKING:
    from cobandit.advice.recommendation import Recommendation


#: Largest number of next evaluations that a line names.
NAMED_PAIRS = 3


class WordedAnswer(NamedTuple):
    """A recommendation in words: the texts above and below the table of its front."""

    headline: str  #: the number of configurations on the front
    warnings: list[str]  #: cautions to read before the table
    lines: dict[str, str]  #: lines to read below the table, by topic


def answer(advice: Recommendation, ratio: bool = False) -> WordedAnswer:
    """Describe a recommendation in words.

    Parameters
    ----------
    advice : Recommendation
    ratio : bool
        Whether to add the paper's ratio, hypervolume over cost.

    Returns
    -------
    WordedAnswer

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> texts = answer(recommend(load("synthetic-24"), about="benchmark"))
    >>> print(texts.headline)  # doctest: +NORMALIZE_WHITESPACE
    6 of 24 configurations are worth their cost (accuracy, efficiency, tokens); each of
    the other 18 is beaten by one of them.
    >>> print(texts.lines["Sure"])  # doctest: +NORMALIZE_WHITESPACE
    all of this, which is exact: every configuration is evaluated on all 400
    instances.
    """
    warnings = [
        *_describe_dependence(advice),
        *_describe_free(advice),
        *_describe_counts(advice),
    ]

    lines = {
        "Sure": _describe_certainty(advice),
        "Compared": _describe_comparison(advice),
        "You asked": _describe_choice(advice),
        "Also": _describe_cheaper(advice),
        "Ratio": _describe_ratio(advice) if ratio else "",
        "Next": _describe_next(advice),
    }
    return WordedAnswer(
        _describe_front(advice),
        warnings,
        {topic: line for topic, line in lines.items() if line},
    )


def answer_lines(advice: Recommendation) -> list[str]:
    """Return the headline, warnings and lines of an `answer`, as a list of texts.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> print(answer_lines(recommend(load("synthetic-24")))[-1])
    ... # doctest: +NORMALIZE_WHITESPACE
    Next: every configuration is evaluated on every instance; only new instances would
    add to this.
    """
    texts = answer(advice)
    lines = [f"{topic}: {line}" for topic, line in texts.lines.items()]
    return [texts.headline, *texts.warnings, *lines]


def _describe_dependence(advice: Recommendation) -> list[str]:
    """Warn, if evaluations are missing systematically, that no decision is certain."""
    if not advice.dependence:
        return []
    first, *others = advice.dependence
    further = f" ({len(others)} more such cases: cobandit doctor)" if others else ""
    return [
        "Nothing is settled, because evaluations are missing on a particular kind of"
        f" instance. {describe_dependence(first)}{further}. Make the missing"
        " evaluations, and run this again."
    ]


def _describe_comparison(advice: Recommendation) -> str:
    """Describe comparisons in pairs or by clusters as text; '' if neither is used."""
    texts = []
    if advice.adjusted:
        texts.append(
            "in pairs, on shared instances; means are adjusted for missing evaluations"
        )
    if advice.cluster is not None:
        texts.append(
            f"by clusters, the values of {advice.cluster}, and not by instances"
        )
    return f"{'; '.join(texts)}." if texts else ""


def _describe_front(advice: Recommendation) -> str:
    """Return the headline: the size and the kind of the front."""
    n_front = int(advice.arms["on_front"].sum())
    n_arms = len(advice.arms)
    count = f"{n_front} of {n_arms} configurations"
    if advice.returned and advice.ignores_cost:
        return f"The method returned {count}."
    if advice.dominance == "strict":
        verb = "is" if n_front == 1 else "are"
        return (
            f"{count} {verb} on the paper's front: not beaten in every objective,"
            f" whatever the cost ({', '.join(advice.objectives)})."
        )

    verb = "is worth its" if n_front == 1 else "are worth their"
    compared = ", ".join([*advice.objectives, advice.unit])
    within = _within(advice)
    tolerated = f" within {within}" if advice.returned and within else ""
    n_beaten = n_arms - n_front
    if n_beaten == 0:
        headline = (
            f"All {n_arms} configurations are worth their cost ({compared}): none is"
            f" beaten{tolerated}."
        )
    else:
        beaten = "the other one" if n_beaten == 1 else f"each of the other {n_beaten}"
        winner = "it" if n_front == 1 else "one of them"
        headline = (
            f"{count} {verb} cost ({compared}); {beaten} is beaten by"
            f" {winner}{tolerated}."
        )

    n_kept = len(advice.front)
    if n_kept < n_front and not tolerated:
        headline += f" Within {within} they are matched by {n_kept} of them."
    return headline


def _within(advice: Recommendation) -> str:
    return describe_tolerance(advice.tolerance, advice.cost_tolerance, advice.unit)


def _show(advice: Recommendation, name: str) -> str:
    """Return a configuration's name, means and cost as text."""
    row = advice.arms.loc[name].to_dict()
    means = ", ".join(
        f"{objective} {row[objective]:.3f}" for objective in advice.objectives
    )
    cost = "free" if row["has_made_up_cost"] else f"{amount(row['cost'])} {advice.unit}"
    return f"{name} ({means}, {cost})"


def _describe_certainty(advice: Recommendation) -> str:
    """State how many arms are surely on the front, and how many others may be."""
    if advice.returned or advice.dependence:
        return ""
    if advice.exact:
        total = advice.arms["instances"].iloc[0]
        return (
            "all of this, which is exact: every configuration is evaluated on all"
            f" {total:,} instances."
        )

    standing = standings(advice)
    n_front = len(advice.front)
    n_sure = int((standing.loc[advice.front.index] == SURE).sum())
    n_open = len(likely_others(advice))
    where = (
        "on this benchmark"
        if advice.about == "benchmark"
        else "also on new instances like these"
    )
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


def _describe_choice(advice: Recommendation) -> str:
    """Describe the chosen configuration, and the confidence in it."""
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
            f". The next best, {choice.next}, is {100 * choice.ahead:.1f} points"
            f" behind, and {percent(choice.share)} of resampled sets of instances have"
            " the same best"
        )

    return f"{text}."


def _describe_ratio(advice: Recommendation) -> str:
    """Describe the arm with the most hypervolume per cost, and how certain this is."""
    if advice.most_efficient is None:
        return (
            f"none is made of the cost of {some_names(advice.made_up)}: what costs"
            " nothing has none."
        )

    best = advice.arms.loc[advice.most_efficient].to_dict()
    ratio = f"{' x '.join(advice.objectives)} / {advice.unit}"
    text = (
        f"{ratio} is largest for {advice.most_efficient}"
        f" ({amount(best['hypervolume_per_cost'])})"
    )

    # configurations off the front may have a larger ratio
    if advice.returned or advice.dominance == "strict":
        return f"{text} among these."

    return (
        f"{text}, and in {percent(best['efficient_share'])} of resampled sets of"
        " instances."
    )


def _describe_cheaper(advice: Recommendation) -> str:
    """Name the configurations that are worth their cost but were not returned."""
    named = [_show(advice, name) for name in worth_besides(advice).index]
    return (
        f"worth their cost by the means, but not returned: {some_names(named)}."
        if named
        else ""
    )


def _describe_free(advice: Recommendation) -> list[str]:
    """Warn if free evaluations count with a made-up, positive cost."""
    if not advice.free or advice.smallest_cost is None:
        return []
    total = int(advice.arms["instances"].sum())
    text = describe_free(advice.free, total, advice.smallest_cost, advice.unit) + "."
    if advice.made_up:
        text += (
            " No factor and no ratio is made of the cost of"
            f" {some_names(advice.made_up)}."
        )
    return [text]


def _describe_counts(advice: Recommendation) -> list[str]:
    """Warn of configurations with flawed evaluations, such as answers cut off."""
    flaws = [
        f"{kind}, {some_names(names)}"
        for kind, names in name_counts(advice.counts).items()
    ]
    return [f"Flawed evaluations: {'; '.join(flaws)}."] if flaws else []


def _describe_next(advice: Recommendation) -> str:
    """Describe the evaluations to make next, or why there are none."""
    # a method that returned the front plans its own evaluations
    if advice.returned:
        return ""
    unit = advice.unit
    if advice.exhausted:
        text = (
            "every configuration is evaluated on every instance; only new instances"
            " would add to this."
        )
        if advice.budget is not None:
            text += f" There is nothing to spend {amount(advice.budget)} {unit} on."
        return text

    plan = advice.next
    within = f" within {_within(advice)}" if _within(advice) else ""
    n_open = len(advice.arms) - plan.settled
    settled = f"proved at {percent(advice.level)}" if advice.certified else "settled"
    if advice.ignores_cost:
        front = (
            f"the front of {some_names(advice.objectives, 100)}{within} (whatever the"
            " cost)"
        )
    else:
        front = f"the front of {some_names([*advice.objectives, 'cost'], 100)}{within}"
    if n_open == 0:
        return f"nothing on this benchmark: {front} is {settled}."
    evaluations = (
        f"{plan.evaluations:,} evaluation{'' if plan.evaluations == 1 else 's'}"
    )
    bound = "about" if plan.compared else "at most"
    open_question = (
        f"{n_open} of {len(advice.arms)} configurations may be on {front}, or not;"
        f" until that is {settled} on this benchmark, it takes {bound} {evaluations},"
        f" {amount(plan.price)} {unit}"
    )
    pairs = [
        " on instance ".join(pair) for pair in plan.pairs.head(NAMED_PAIRS).to_numpy()
    ]
    if not pairs:
        why = (
            "the least that can settle one more"
            if plan.compared
            else "a first comparison of all"
        )
        budget = f"{amount(advice.budget or 0)} {unit} is too little"
        return f"{open_question}. {budget}: {why} takes {amount(plan.step)} {unit}."
    then = f", to settle about {plan.would_be_settled}" if plan.compared else ""
    ellipsis = ", ..." if len(plan.pairs) > NAMED_PAIRS else ""
    return (
        f"{open_question}. Begin with {len(plan.pairs):,} of them{then}:"
        f" {', '.join(pairs)}{ellipsis}."
    )
