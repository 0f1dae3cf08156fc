"""Numbers and names in sentences; a recommendation in words and as a small picture of letters."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobandit.advice.paired import find_worth
from cobandit.dominance import TIE
from cobandit.faults import amount

if TYPE_CHECKING:
    from cobandit.advice.recommendation import Recommendation

#: Configurations of a front, and other things, that a sentence names; the table has all.
NAMED, FEW = 8, 3
#: Most new instances that are told as a number.
MANY = 1_000_000
#: Who is on the front in fewer of the resampled sets of instances is not named as a possible member.
LIKELY = 0.05
#: What stands for the members of a front in a picture, cheapest first; then all are alike.
MARKS = "123456789" + string.ascii_lowercase


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


def join_names(names: Sequence[str]) -> str:
    """Join names by commas, and the last by *and*.

    Examples
    --------
    >>> join_names(["accuracy", "speed", "cost"]), join_names(["accuracy"]), join_names([])
    ('accuracy, speed and cost', 'accuracy', '')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some_names(names: Sequence[str], most: int = FEW) -> str:
    """Name a few, and count the rest.

    Examples
    --------
    >>> some_names(["a", "b", "c", "d", "e"]), some_names(["a", "b"])
    ('a, b, c and 2 more', 'a and b')
    """
    return join_names([*names[:most], f"{len(names) - most} more"] if len(names) > most else names)


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
    '6 of 24 configurations are worth their cost, by their means over 400 instances: every other one is
    matched by one of these in accuracy, efficiency and cost, and beaten in one of them.'
    >>> said[2]
    'On this benchmark that is exact: every configuration is evaluated on all 400 instances.'
    """
    return [
        _describe_front(advice),
        f"{'Cheapest first: ' * (len(advice.front) > 1)}{'; '.join(_name_steps(advice))}.",
        *_describe_certainty(advice),
        *_describe_best(advice),
        *_describe_choice(advice),
        *_describe_cheaper(advice),
        _describe_ratio(advice),
        *_describe_free(advice),
        *_describe_next(advice),
    ]


def _count(number: float, what: str) -> str:
    return f"{number:,.0f} {what}{'s' * (round(number) != 1)}"


def _count_instances(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return _count(high, "instance") if low == high else f"{low:,} to {high:,} instances each"


def _describe_front(advice: Recommendation) -> str:
    """Say how many are on the front, and why the others are not."""
    arms, on = advice.arms, int(advice.arms["on_front"].sum())
    of = f"{on} of {len(arms)} configurations"
    means = f"by their means over {_count_instances(arms['instances'])}"
    objectives = join_names(list(advice.objectives))
    if advice.returned:
        shown = _count_instances(arms["instances"][arms["on_front"]])
        said = f"The method returned {of}, evaluated on {shown}."
    elif advice.dominance == "strict":
        said = (
            f"The paper's front, whatever the cost, has {of}, {means}: of these none is beaten in "
            f"{objectives} at once."
        )
    elif on < len(arms):
        worth, these = ("is worth its cost", "it") if on == 1 else ("are worth their cost", "one of these")
        said = (
            f"{of} {worth}, {means}: every other one is matched by {these} in "
            f"{join_names([*advice.objectives, 'cost'])}, and beaten in one of them."
        )
    else:
        every = "Both" if on == 2 else f"All {on}"
        said = (
            f"{every} configurations are worth their cost, {means}: for none is another at least as good in "
            f"{join_names([*advice.objectives, 'cost'])}, and better in one of them."
        )
    if (kept := len(advice.front)) < on:
        said += f" Within {_within(advice)}, {kept} of them stand{'s' * (kept == 1)} for all."
    return said


def _within(advice: Recommendation) -> str:
    tolerances = np.atleast_1d(advice.tolerance)
    return " and ".join(f"{each:g}" for each in dict.fromkeys(tolerances.tolist()))


def describe_steps(advice: Recommendation) -> list[str]:
    """Say of each member of the front, cheapest first, what it adds to the one before and for how much.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> describe_steps(recommend(load("synthetic-24")))[1]
    '+13.2 points in accuracy, -14.6 in efficiency for 1.49 times the cost'
    """
    front, steps = advice.front, [""]
    for row in front[1:].to_dict("records"):
        told = [f"{100 * row[f'more_{name}']:+.1f} in {name}" for name in advice.objectives]
        steps.append(f"{', '.join(told).replace(' in', ' points in', 1)} for {_times_the_cost(row['times'])}")
    return steps


def _times_the_cost(ratio: float) -> str:
    times = f"{ratio:.3g}"
    return "about the same cost" if times == "1" else f"{times} times the cost"


def _name_steps(advice: Recommendation) -> list[str]:
    """Name the members of the front with their steps; of a long one the first, and the last."""
    front, steps = advice.front, describe_steps(advice)
    said = [f"{front.index[0]} ({_show_means(advice, front.index[0])} per evaluation)"]
    said += [f"{name}, {step}" for name, step in zip(front.index[1:], steps[1:], strict=True)]
    if len(said) <= NAMED + 1:  # one more takes no more words than that there is one
        return said
    left = "" if np.any(advice.tolerance) else "; a tolerance shortens the list"
    last = f"{front.index[-1]} ({_show_means(advice, front.index[-1])})"
    return [*said[: NAMED - 1], f"and {len(said) - NAMED} more{left}; the most expensive is {last}"]


def _show_means(advice: Recommendation, name: str) -> str:
    """Give the means of a configuration, and its cost."""
    row = advice.arms.loc[name].to_dict()
    means = ", ".join(f"{each} {row[each]:.3f}" for each in advice.objectives)
    return f"{means}; {amount(row['cost'])} {advice.unit}"


def _describe_certainty(advice: Recommendation) -> list[str]:
    """Say what is exact, or how many memberships are settled and who else could be a member."""
    arms, total = advice.arms, int(advice.arms[["instances", "missing"]].iloc[0].sum())
    if advice.returned:
        return []
    if advice.exact:
        return [
            f"On this benchmark that is exact: every configuration is evaluated on all {total:,} instances."
        ]
    on, settled = arms["on_front"], arms.index[arms["on_front"] & arms["front_settled"]]
    where = "On this benchmark" if advice.about == "benchmark" else "On other instances like these"
    sure = f"at {percent(advice.level)} confidence in all answers together"
    if on.sum() == 1:
        said = f"{where}, it is {'' if len(settled) else 'not '}sure to be worth its cost, {sure}"
    else:
        every = "both" if on.sum() == 2 else f"all {int(on.sum())}"
        who = every if len(settled) == on.sum() else f"{len(settled) or 'none'} of the {int(on.sum())}"
        if 0 < len(settled) <= FEW and len(settled) < on.sum():
            who += f" ({join_names(list(settled))})"
        said = f"{where}, {who} {'is' if len(settled) < 2 else 'are'} sure to be among them, {sure}"
    likely = likely_others(advice)
    if not len(likely):
        return [f"{said}." if on.all() else f"{said}; no other is likely to be."]
    named = [f"{name} ({percent(share)})" for name, share in likely["front_share"].items()]
    return [f"{said}; {len(likely)} other{'s' * (len(likely) > 1)} may be: {some_names(named)}."]


def likely_others(advice: Recommendation) -> pd.DataFrame:
    """Give those who are not on the front and may be, most likely first."""
    arms = advice.arms
    open_ = arms[~arms["on_front"] & ~arms["front_settled"] & (arms["front_share"] >= LIKELY)]
    return open_.sort_values("front_share", ascending=False, kind="stable")


def _describe_best(advice: Recommendation) -> list[str]:
    """With one objective, say who is best in it, and by how much."""
    best = advice.best
    if best is None:
        return []
    (name,), arms = advice.objectives, advice.arms
    times = arms["cost"][best.next] / arms["cost"][best.configuration]
    gap, low, high = (round(100 * value, 1) + 0.0 for value in (best.gap, best.low, best.high))
    where = "on this benchmark" if advice.about == "benchmark" else "on instances like these"
    interval = f" ({percent(advice.level)} interval {where}: {low} to {high})"
    return [
        f"Best {name}: {best.configuration}, {arms[name][best.configuration]:.3f}; next {best.next}, "
        f"{arms[name][best.next]:.3f}, for {_times_the_cost(times)}. The gap is {gap} points"
        f"{interval * (low < high)}{', so that they are not told apart' * (best.low <= 0)}."
    ]


def _describe_choice(advice: Recommendation) -> list[str]:
    """Say which configuration meets what was asked, and how sure that is."""
    choice, arms = advice.choice, advice.arms
    if choice is None:
        return []

    def show(name: str) -> str:
        return f"{name} ({_show_means(advice, name)}; n = {arms['instances'][name]:,})"

    asked = choice.asked[0].upper() + choice.asked[1:]
    if choice.configuration is None:
        return [f"{asked}: no configuration. {show(choice.closest)} comes closest."]
    said = f"{asked}: {show(choice.configuration)}."
    if choice.next is not None:
        said += (
            f" Next is {show(choice.next)}, {100 * choice.ahead:.1f} points behind; the first is ahead in "
            f"{percent(choice.share)} of the sets of instances resampled from these."
        )
    if " with " in choice.asked:
        sure = f"{percent(advice.level)} confidence"
        said += f" Taken by itself it meets this with {percent(choice.confidence)} confidence; "
        among = int(arms["on_front"].sum()) if advice.returned else len(arms)
        if choice.sure == choice.configuration:
            last = f"it does so with {sure}"
        elif choice.sure:
            last = f"the first to do so with {sure} is {show(choice.sure)}"
        else:
            last = f"none does so with {sure}"
        said += f"allowing for the choice among {among}, {last}."
    return [said]


def _describe_ratio(advice: Recommendation) -> str:
    """Say who has the most hypervolume per cost, and whether that is settled."""
    arms, name = advice.arms, advice.most_efficient
    best, product = arms.loc[name].to_dict(), " x ".join(advice.objectives)
    whose = "Of what was returned, the" if advice.returned else "The"
    among = arms[arms["on_front"]] if advice.returned else arms
    level = list(among.index[among["hypervolume_per_cost"] >= best["hypervolume_per_cost"] * (1 - TIE)])
    said = (
        f"{whose} paper's ratio, {product} over cost in {advice.unit}, is largest for {some_names(level)} "
        f"({amount(best['hypervolume_per_cost'])}"
    )
    open_ = advice.questions[advice.questions["kind"] == "efficiency"]
    open_ = open_[open_["configuration"].isin(among.index)]
    if open_.empty:
        return f"{said}; {'exact' if advice.exact else f'settled at {percent(advice.level)}'})."
    others = f"{len(open_)} other{'s' if len(open_) > 1 else ''} could have a larger one"
    if not (open_["why"] == "tail").any():
        return f"{said}); {others}."
    return (
        f"{said}), but one cannot tell: {best['cost_carried_by']:,} of its {best['instances']:,} evaluations "
        f"carry half of its mean cost, and of so heavy a tail {percent(best['cost_unmet'])} may "
        f"not have been met; {others}."
    )


def _describe_cheaper(advice: Recommendation) -> list[str]:
    """Say who is worth its cost besides what a method returned, which does not weigh costs."""
    others = worth_besides(advice)
    if others.empty:
        return []
    named = [
        f"{name} ({_show_means(advice, name)}; n = {others['instances'][name]:,})" for name in others.index
    ]
    return [f"For less money, by the means of what was evaluated: {some_names(named)}."]


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
        idle = f"There is nothing left to buy for {amount(advice.budget or 0)} {advice.unit} here."
        new = [] if advice.about == "benchmark" else _describe_new_instances(advice)
        return [*new, *[idle] * (advice.budget is not None)]
    plan, n_arms, unit = advice.next, len(advice.arms), advice.unit
    within = f" within {_within(advice)}" if np.any(advice.tolerance) else ""
    said = (
        f"Which trade-offs of {join_names(list(advice.objectives))} are best"
        if len(advice.objectives) > 1
        else f"Which has the best {advice.objectives[0]}"
    )
    said += f" on this benchmark, whatever the cost, is settled{within} for {plan.settled} of {n_arms}"
    if plan.settled == n_arms:
        return [f"{said}: nothing more has to be evaluated for that."]
    if plan.compared:
        more = _count(plan.evaluations, "more evaluation")
        said += f"; the rest takes about {more}, {amount(plan.price)} {unit}."
    else:
        said += (
            "; what the rest takes cannot be told before all are evaluated on some instances that they "
            f"share, at most {_count(plan.evaluations, 'more evaluation')}, {amount(plan.price)} {unit}."
        )
    first = [
        f"{pair.configuration} on instance {pair.instance}" for pair in plan.pairs.head(FEW).itertuples()
    ]
    if advice.budget is None:
        return [f"{said} Evaluate next: {', then '.join(first)}."] if first else [said]
    budget = f"{amount(advice.budget)} {unit}"
    if not first:
        settles = "can be expected to settle nothing more" if plan.compared else "does not pay for these"
        step = "the least that can" if plan.compared else "the first of them, after which one can say more,"
        price = f"{step} is about {amount(plan.step)} {unit}"
        return [f"{said} Do not spend {budget} on it: that {settles}; {price}."]
    bought = len(plan.pairs)
    if not plan.compared:
        return [f"{said} First make {bought:,} of them, and ask again: {', then '.join(first)}, and so on."]
    return [
        f"{said} For {budget} make {bought:,} of them, after which {plan.would_be_settled} of {n_arms} can "
        f"be expected to be settled: {', then '.join(first)}, and so on."
    ]


def _describe_new_instances(advice: Recommendation) -> list[str]:
    """Say what the easiest open question would take, where the benchmark is used up."""
    open_ = advice.questions[np.isfinite(advice.questions["new_instances"])].sort_values("new_instances")
    if np.any(advice.tolerance):  # who is as good within it as a cheaper one need not be told from that
        open_ = open_[(open_["kind"] != "front") | open_["configuration"].isin(advice.front.index)]
    if open_.empty:
        return []
    easiest, kinds = open_.iloc[0], {"front": "is worth its cost", "efficiency": "has the largest ratio"}
    which = "one open question" if len(open_) == 1 else f"easiest of {len(open_)} open questions"
    new = easiest["new_instances"]
    many = f"about {_count(new, 'more instance')}" if new <= MANY else "more than a million instances"
    return [
        "Every configuration is evaluated on every instance here, so that only new instances tell more. The "
        f"{which}, whether {easiest['configuration']} {kinds[easiest['kind']]}, takes {many}, for it and for "
        f"{easiest['against']}, if gaps stay as they are."
    ]


def worth_showing(advice: Recommendation) -> pd.DataFrame:
    """Give the configurations worth showing: on the front, cheapest first, and then who else could be."""
    others = worth_besides(advice) if advice.returned else likely_others(advice)
    return pd.concat([advice.arms.loc[advice.front.index], others])


def draw_front(advice: Recommendation, width: int = 66, height: int = 12) -> list[str]:
    r"""Draw the first objective against the cost, on a logarithmic axis, in letters.

    Members of the front have the numbers of the table, all others a dot.

    Examples
    --------
    >>> from cobandit import load, recommend
    >>> print(*draw_front(recommend(load("synthetic-24")), 40, 6), sep="\n")  # doctest: +ELLIPSIS
    accuracy
    ...
    """
    name, arms = advice.objectives[0], advice.arms
    x, y = np.log(arms["cost"].to_numpy()), arms[name].to_numpy()
    column = np.rint((x - x.min()) / (np.ptp(x) or 1.0) * (width - 9)).astype(int)
    row = np.rint((y.max() - y) / (np.ptp(y) or 1.0) * (height - 1)).astype(int)
    canvas = [[" "] * (width - 8) for _ in range(height)]
    marks = dict(zip(advice.front.index, MARKS.ljust(len(advice.front), "*"), strict=False))
    for place in sorted(range(len(arms)), key=lambda place: (arms.index[place] in marks, -place)):
        canvas[row[place]][column[place]] = marks.get(arms.index[place], "·")
    low, high = amount(arms["cost"].min()), f"{amount(arms['cost'].max())} {advice.unit}"
    labels = {0: f"{y.max():.3f}", height - 1: f"{y.min():.3f}"}
    lines = [f"{labels.get(number, ''):>6} |{''.join(cells).rstrip()}" for number, cells in enumerate(canvas)]
    return [
        name,
        *lines,
        f"{'':>6} +{'-' * (width - 8)}",
        f"{'':>8}{low}{high:>{max(1, width - 8 - len(low))}}",
    ]
