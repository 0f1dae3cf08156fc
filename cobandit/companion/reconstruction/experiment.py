"""The paper's experiments on a state: what the paper would print about its table, used and predicted.

Values have the keys of `cobandit.companion.paper.published`, and replay counts are the paper's, so that a
value has the noise of a printed one.  All methods see the same evaluations in a replay, as in the paper, but
for uniform identification at the largest budget.  What the paper leaves open can be read in other ways than
the book's default (`READINGS`).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.companion.reconstruction.facts import (
    ALL_RHO,
    FACTS,
    PAPER_IDENTIFICATION,
    PAPER_ONLINE,
    Landscape,
    Pulls,
    from_means,
    judge_pulls,
    landscape,
    play_identification,
    pull,
    scene,
    subset_of,
    uniform_fronts,
    uniform_online,
)
from cobandit.companion.reconstruction.hierarchy import State
from cobandit.companion.reconstruction.settings import SETTINGS
from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError, CobanditError
from cobandit.problem import Problem

Values = dict[str, float]

ONLINE_QUANTITIES = ("efficiency_regret", "standard_regret", "moving_average")
INDICES = ("CoHVUCB", "HVUCB", "AccuracyCostUCB")
IDENTIFICATION = ("CoPSI", "PSISR", "UniformIdentification")
ERROR_RHO = {"gsm8k": (20, 5000), "piqa": (5000,)}
"""Budgets at which errors are printed."""
MOST_UNIFORM = 1000
"""Budget above which the means of uniform identification are drawn as normal: its replays cost most."""

DEFAULT = "default"
READINGS = {
    DEFAULT: "the book's defaults",
    "A1": "the index's α is 1, not 2",
    "A4": "Algorithm 1 as printed, which selects among all arms",
    "A5": "CoPSI's λ is over the largest single cost",
    "A6 max": "PSI-SR's rounds by the largest cost",
    "A6 mean": "PSI-SR's rounds by the mean cost",
    "A9": "standard regret against ν*(B + 1)",
    "A10": "true costs are those of the evaluation split",
    "A11": "F1 against the front of all instances",
}
"""Readings of what the paper leaves open, by the numbers of ``book/summary.md``."""


def play(name: str, state: State, seed: int) -> dict[str, Values]:
    """Play the paper's experiments on the table of a state.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    state : State
    seed : int
        Of the replays; one that nothing else has used.

    Returns
    -------
    dict of dict
        By reading, and by `cobandit.companion.paper.predictive.played_key`: regrets and moving averages at
        the largest budget, errors, F1; and the deviations that `from_means` begins with, as ``fact-NAME``.
        Of other readings than the default only what differs; NaN where a reading leaves no pull.
    """
    on = scene(name, state)
    if on is None:
        raise CobanditError(f"{name}: the state stands for no table")
    land = landscape(state, on)
    deviations = from_means(name, land)[: len(FACTS)]
    facts = {f"fact-{fact}": float(x) for fact, x in zip(FACTS, deviations, strict=True)}
    pulls = {method: pull(land, method, PAPER_ONLINE, seed) for method in INDICES}

    problem = land.problem
    charged = Problem(problem.means, land.scene.mean_spent / land.range[1])
    everywhere = pareto_mask(land.all_means)
    found = facts | _online(name, land, pulls, problem)
    return {
        DEFAULT: found | _errors(name, land, seed) | _f1(name, land, seed),
        "A1": _online(
            name, land, {m: pull(land, m, PAPER_ONLINE, seed, alpha=1.0) for m in INDICES}, problem
        ),
        "A4": _online(
            name, land, {m: pull(land, m, PAPER_ONLINE, seed, selection="all") for m in INDICES}, problem
        ),
        "A5": _errors(name, land, seed, ("CoPSI",), min_cost=_single(land, subset_of(SETTINGS[name])))
        | _f1(name, land, seed, None, ("CoPSI",), min_cost=_single(land)),
        "A6 max": _errors(name, land, seed, ("PSISR",), rounds="max")
        | _f1(name, land, seed, None, ("PSISR",), rounds="max"),
        "A6 mean": _errors(name, land, seed, ("PSISR",), rounds="mean")
        | _f1(name, land, seed, None, ("PSISR",), rounds="mean"),
        "A9": {
            key: value + float(problem.efficiency.max())
            for key, value in found.items()
            if key.endswith("standard_regret")
        },
        "A10": _online(name, land, pulls, charged),
        "A11": _f1(name, land, seed, everywhere),
    }


def _online(name: str, land: Landscape, pulls: dict[str, Pulls], problem: Problem) -> Values:
    found = {}
    for method in (*INDICES, "UniformAllocation"):
        if method == "UniformAllocation":
            values = uniform_online(land, problem)
        else:
            values = np.array([x.mean() for x in judge_pulls(land, pulls[method], problem)])
        for quantity, value in zip(ONLINE_QUANTITIES, values, strict=True):
            place = "trajectory" if quantity == "moving_average" else "online"
            found[f"{name}-{place}-32-{method}-{quantity}"] = float(value)
    return found


def _errors(
    name: str, land: Landscape, seed: int, methods: tuple[str, ...] = IDENTIFICATION, **options: Any
) -> Values:
    found, rng = {}, np.random.default_rng(seed)
    arms = subset_of(SETTINGS[name])
    for rho, method in product(ERROR_RHO[name], methods):
        if method == "UniformIdentification" and rho > MOST_UNIFORM:
            shown = uniform_fronts(land.rewards[arms], rho, PAPER_IDENTIFICATION, rng)
            correct = (shown == land.subset_front).all(axis=1)
        else:
            _, correct = play_identification(land, method, rho, PAPER_IDENTIFICATION, seed, arms, **options)
        found[f"{name}-identification-{rho}-{method}-error-declared"] = 1 - float(correct.mean())
    return found


def _f1(
    name: str,
    land: Landscape,
    seed: int,
    truth: NDArray[np.bool_] | None = None,
    methods: tuple[str, ...] = IDENTIFICATION,
    **options: Any,
) -> Values:
    found = {}
    for rho, method in product(ALL_RHO, methods):
        key = f"{name}-full-set-{rho}-{method}-f1-declared"
        try:
            f1, _ = play_identification(land, method, rho, PAPER_ONLINE, seed, truth=truth, **options)
            found[key] = float(f1.mean())
        except BudgetError:  # the reading leaves no pull, where the paper prints a value
            found[key] = np.nan
    return found


def _single(land: Landscape, arms: Any = slice(None)) -> float:
    """Smallest cost that makes lambda the smallest declared cost over the largest single one."""
    costs = land.costs[arms]
    return float(costs.min() * costs.max() / land.range[1])
