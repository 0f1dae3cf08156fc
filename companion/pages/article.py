"""Numbers and three figures of the article on the first page of the book.

Its Figure 1 is in `companion.pages.first_figure`, and its figures of the experiments
are in `companion.figures.experiment_figures`.

The sentences of the article are written by hand. A test compares their numbers with
the numbers that this module computes.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import cobandit as cb
from cobandit import theory
from cobandit._text import amount
from cobandit.advice.words import percent
from cobandit.figures.runs import gap_plane
from cobandit.figures.style import INK, LINES, method_style, name_rows
from companion import bounds
from companion.pages import claim_row, regions
from companion.paper import experiments
from companion.paper.examples import IDENTIFICATION, ONLINE
from companion.paper.judge import FAILS, HOLDS, NOT_SEPARATED, UNKNOWN
from companion.paper.numbers import published
from companion.proofs import exact_errors, known_arms, pulls, simulated_errors
from companion.stored import results


def compare_on_measured(replications: int = 200) -> pd.DataFrame:
    """Replay identification methods on the measured tables, and average the results.

    Returns
    -------
    DataFrame
        Means of ``correct``, ``f1`` and ``used`` (the spent share of the budget), by
        table, ``budget_name`` and method. If instances are drawn with replacement, the
        budget is ``"200"`` evaluations per configuration. If they are drawn without
        replacement, it is ``"half"`` or ``"all"`` of the cost of evaluating everything.
    """
    frames = []
    for name in results.MEASURED:
        table = cb.load(name)
        methods = ["CoPSI", "CoPSIAdaptive", "PSISR", "UniformIdentification"]
        with_replacement = cb.replay_identification(
            table, methods, rho=200, replications=replications
        )
        once = cb.replay_identification(
            table,
            ["CoPSIPrintedOnce", "CoPSIOnce", "UniformOnce"],
            share=[0.5, 1.0],
            replications=replications,
            feedback="once",
        )
        budget_names = once["share"].map({0.5: "half", 1.0: "all"})
        runs = pd.concat(
            [
                with_replacement.assign(budget_name="200"),
                once.assign(budget_name=budget_names),
            ]
        )
        frames.append(runs.assign(table=name, used=runs["spent"] / runs["budget"]))

    runs = pd.concat(frames)
    return runs.groupby(["table", "budget_name", "method"])[
        ["correct", "f1", "used"]
    ].mean()


def race_on_word_sums() -> pd.DataFrame:
    """Return the cost and the errors of `cobandit.ParetoRace`, from stored results.

    The races have no budget, and run on the table ``word-sums``.

    Returns
    -------
    DataFrame
        Results by ``tolerance``, over 300 orders of the instances. ``share`` is the
        spent share of the cost of evaluating everything. ``off`` is the share of runs
        whose front is wrong by more than the tolerance
        (`cobandit.stats.metrics.beyond_tolerance`).
    """
    stored = results.read_result("race")
    races = stored[
        (stored["dataset"] == "word-sums") & (stored["method"] == "ParetoRace")
    ]
    return races.assign(off=races["off"] / races["runs"]).set_index("tolerance")[
        ["share", "off"]
    ]


def climb_ladders(seed: int = 0) -> dict[str, dict[str, float]]:
    """Return the bound of each theorem, sharper bounds, and the simulated value.

    Returns
    -------
    dict
        ``"pulls"`` has bounds on the expected pulls of the worse of two arms, and the
        mean over eight simulated runs. The arms have two objectives, lambda = 1/2 and
        an efficiency gap of 1/2. The budget is large enough for a nontrivial Theorem 1.
        ``"budget"`` has the budgets that suffice to classify three arms, whose
        classification gaps are .15, with an error of at most 5 %.
    """
    arms = known_arms.two_arms(2, 0.5, 0.5)
    budget = 265_401.0
    problem = arms.problem
    setting: dict[str, Any] = {"cost_ratio": 0.5, "budget": budget}

    gap = problem.efficiency_gaps[1]
    cost = problem.costs[1]
    best = problem.efficiency.max()
    pull_bounds = {
        "Theorem 1": theory.pull_bound(gap, n_arms=2, n_objectives=2, **setting),
        "by the arm's own cost": bounds.instance_pull_bound(
            gap, cost, best, n_objectives=2, **setting
        ),
        "without certainty": bounds.split_pull_bound(
            problem.means[1], cost, best, **setting
        ),
        "measured": float(
            pulls.run_cohv(arms, budget, 8, seed=seed).pulls[:, 1].mean()
        ),
    }

    easy = cb.Problem([[0.8, 0.2], [0.2, 0.8], [0.05, 0.05]], [1.0, 0.5, 0.2])
    setting_of_three: dict[str, Any] = {
        "n_arms": 3,
        "n_objectives": 2,
        "complexity": easy.complexity,
    }
    constants = (
        theory.allocation_constant(3, 0.2),
        theory.exact_allocation_constant(easy.costs),
    )
    budgets = {
        "Theorem 2": bounds.identification_budget(
            0.05, cost_ratio=0.2, **setting_of_three
        ),
        "by differences": bounds.difference_error_budget(
            0.05, allocation=constants[0], **setting_of_three
        ),
        "and the exact constant": bounds.difference_error_budget(
            0.05, allocation=constants[1], **setting_of_three
        ),
        "measured": simulated_errors.budget_for_error(easy, 0.05, 4000, seed),
    }
    return {"pulls": pull_bounds, "budget": budgets}


def name_numbers(
    compared: pd.DataFrame,
    advantage: pd.DataFrame,
    ladders: dict[str, dict[str, float]],
    races: pd.DataFrame,
) -> dict[str, str]:
    """Return the numbers in the article's sentences as text, by name.

    The arguments are the results of `compare_on_measured`,
    `companion.pages.regions.advantage_of_dividing`, `climb_ladders` and
    `race_on_word_sums`.
    """
    texts: dict[str, str] = {}
    cells: dict[Any, dict[str, float]] = compared.to_dict("index")  # type: ignore[assignment]
    for table, label in zip(results.MEASURED, ("sums", "piqa"), strict=True):
        texts |= {
            f"{label}_spent": percent(cells[table, "200", "CoPSI"]["used"]),
            f"{label}_f1": f"{cells[table, '200', 'CoPSI']['f1']:.2f}",
            f"{label}_uniform_f1": (
                f"{cells[table, '200', 'UniformIdentification']['f1']:.2f}"
            ),
            f"{label}_adaptive_f1": f"{cells[table, '200', 'CoPSIAdaptive']['f1']:.2f}",
            f"{label}_exact_for_all": percent(
                cells[table, "all", "CoPSIPrintedOnce"]["correct"]
            ),
            f"{label}_once_half": percent(cells[table, "half", "CoPSIOnce"]["correct"]),
            f"{label}_subset_half": percent(
                cells[table, "half", "UniformOnce"]["correct"]
            ),
        }

    for name in ("gsm8k", "piqa", *results.MEASURED):
        costs = cb.load(name).costs
        texts[f"{name}_costs"] = f"{costs.max() / costs.min():.1f}"

    for number in published():
        # the smallest gap of the fourteen arms in the paper's Appendix A
        if number.quantity == "gap_min":
            rounds = exact_errors.least_informative_rounds(14, 2, number.value)
            name = str(number.dataset).upper()
            texts[f"{name}_rounds"] = f"{rounds / 1e6:.0f} million"
            texts[f"{name}_rounds_times"] = (
                f"{rounds / max(experiments.IDENTIFICATION_RHO):,.0f}"
            )

    race_cells: dict[Any, dict[str, float]] = races.to_dict("index")  # type: ignore[assignment]
    for tolerance, name in {0.0: "exact_race", 0.02: "race"}.items():
        texts[f"{name}_share"] = percent(race_cells[tolerance]["share"])
        texts[f"{name}_off"] = percent(race_cells[tolerance]["off"])

    outcomes = results.read_result("regions")
    identified = outcomes[outcomes["selection"] == "identification"]
    n_best, n_kinds = regions.count_best(identified, "CoPSI")
    texts["copsi_best"] = str(n_best or "none")
    texts["copsi_kinds"] = str(n_kinds)

    pulls_ladder = ladders["pulls"]
    budgets = ladders["budget"]
    texts["theorem1_times"] = (
        f"{pulls_ladder['Theorem 1'] / pulls_ladder['measured']:,.0f}"
    )
    texts["split_times"] = (
        f"{pulls_ladder['without certainty'] / pulls_ladder['measured']:.1f}"
    )
    texts["theorem2_times"] = f"{budgets['Theorem 2'] / budgets['measured']:,.0f}"
    texts["differences_times"] = (
        f"{budgets['by differences'] / budgets['measured']:,.0f}"
    )

    texts["exact_times"] = (
        f"{budgets['and the exact constant'] / budgets['measured']:,.0f}"
    )
    gains: dict[Any, dict[str, float]] = (100 * advantage).to_dict("index")  # type: ignore[assignment]
    for key, name in {
        (3, 0): "three",
        (10, 0): "ten",
        (3, 1): "three_dear",
        (10, 1): "ten_dear",
    }.items():
        # the sentences state losses as positive numbers
        low, high = sorted((abs(gains[key]["low"]), abs(gains[key]["high"])))
        texts[f"pays_{name}"] = (
            f"{abs(gains[key]['mean']):.1f} points ({low:.1f} to {high:.1f})"
        )

    return texts


def count_orderings(statuses: Iterable[str]) -> str:
    """Return a sentence that counts how many orderings of the paper hold or fail.

    An ordering is a statement that one method is better than another.

    Parameters
    ----------
    statuses : iterable of str
        Statuses of `companion.pages.claim_rows.ordering_rows`.

    Examples
    --------
    >>> statuses = ["holds", "holds on reconstructions", "fails", "not separated"]
    >>> statuses = [*statuses, "divided"]
    >>> count_orderings(statuses).partition("; ")[2]
    '1 fail, 1 are divided, and 1 cannot be decided.'
    """
    counts = Counter(statuses)
    failed = sum(count for status, count in counts.items() if status.startswith(FAILS))
    undecided = counts[NOT_SEPARATED] + counts[UNKNOWN]
    return (
        f"{counts[HOLDS]} of its {counts.total()} orderings hold on both kinds of"
        f" tables, {counts[f'{HOLDS} {claim_row.DRAWN_ONLY}']} on the reconstructions"
        f" alone and {counts[f'{HOLDS} {claim_row.MEASURED_ONLY}']} on the measured"
        f" tables alone; {failed} fail, {counts[claim_row.DIVIDED]} are divided, and"
        f" {undecided} cannot be decided."
    )


def count_on_measured(verdicts: Iterable[str]) -> str:
    """Return a sentence that counts the verdicts of the measured tables alone.

    Parameters
    ----------
    verdicts : iterable of str
        Column ``measured`` of `companion.pages.claim_rows.ordering_rows`. A verdict in
        parentheses is about tables that only replace the paper's data set, and a
        comparison of the two data sets has no verdict.

    Examples
    --------
    >>> sentence = count_on_measured(["holds", "(fails)", "(not separated)", ""])
    >>> sentence.partition(", ")[2]
    '1 hold, 1 fail, 1 are not separated, and 1 cannot be judged.'
    """
    counts = Counter(verdict.strip("()") for verdict in verdicts)
    judged = counts[HOLDS] + counts[FAILS] + counts[NOT_SEPARATED]
    return (
        f"On the measured tables alone, {counts[HOLDS]} hold, {counts[FAILS]} fail,"
        f" {counts[NOT_SEPARATED]} are not separated, and {counts.total() - judged}"
        " cannot be judged."
    )


def draw_steps() -> Figure:
    """Draw the indices of three arms before each pull in a run of CoHV-UCB.

    Rewards have no noise. A mark shows the pulled arm.
    """
    table = ONLINE.table()
    policy = cb.CoHVUCB(
        3,
        2,
        ONLINE.budget,
        table.cost_range,
        expected_costs=table.costs,
        **ONLINE.options,
    )
    steps: list[tuple[int, np.ndarray]] = []

    def watch(policy: cb.CoHVUCB, arm: int) -> None:
        if policy.pulls.min() > 0:
            steps.append((arm, np.where(policy.affordable, policy.index(), np.nan)))

    cb.play(policy, table, watch=watch)
    pull_numbers = np.arange(len(steps)) + len(ONLINE.names) + 1
    pulled, index = map(np.array, zip(*steps, strict=True))
    figure, ax = plt.subplots(figsize=(5.0, 2.7))
    # colours stand for methods, so the lines of arms differ in their dashes
    for name, line, values in zip(ONLINE.names, LINES, index.T, strict=False):
        ax.plot(
            pull_numbers,
            values,
            line,
            color=INK,
            drawstyle="steps-mid",
            lw=1,
            label=f"arm {name}",
        )
    ax.plot(
        pull_numbers,
        index[range(len(pull_numbers)), pulled],
        "o",
        ms=7,
        color=method_style("CoHVUCB")["color"],
    )
    ax.set(xlabel="pull", ylabel="index", xticks=pull_numbers)
    ax.legend(fontsize="medium")
    return figure


def draw_gaps() -> Figure:
    """Draw the classification gaps of three arms as arrows, with one panel per arm."""
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 2.9), sharex=True, sharey=True)
    for arm, ax in enumerate(axes):
        gap_plane(
            IDENTIFICATION.rewards,
            arm,
            IDENTIFICATION.names,
            ("first score", "second score"),
            ax,
        )
    return figure


def draw_ladders(ladders: dict[str, dict[str, float]]) -> Figure:
    """Draw the results of `climb_ladders`, from the paper's bound to the simulation."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 2.3))
    labels = "pulls of the worse of two arms", "budget that holds the error below 5 %"
    for ax, steps, label in zip(axes, ladders.values(), labels, strict=True):
        rungs = list(steps)
        values = list(steps.values())
        ax.hlines(range(len(rungs)), values[-1], values, color=INK, lw=0.8)
        ax.plot(values[:-1], range(len(rungs) - 1), "o", color=INK, mfc="none")
        ax.plot(values[-1], len(rungs) - 1, "o", color=INK)
        for row, value in enumerate(values[:-1]):
            factor = value / values[-1]
            times = f"{amount(round(factor, 1 if factor < 9 else 0))} times"
            ax.annotate(
                times, (value, row), (8, 0), textcoords="offset points", va="center"
            )
        name_rows(ax, rungs)
        ax.set(xscale="log", xlabel=label, xlim=(values[-1] / 2, values[0] * 30))

    return figure
