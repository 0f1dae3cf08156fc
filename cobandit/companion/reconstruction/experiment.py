"""The paper's experiments on a table: what the paper would print about it, used and predicted.

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
    PAPER_IDENTIFICATION,
    PAPER_ONLINE,
    Landscape,
    Pulls,
    judge_pulls,
    play_identification,
    pull,
    subset_of,
    uniform_fronts,
    uniform_online,
)
from cobandit.companion.reconstruction.hierarchy import SETTINGS
from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError
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
    "A6 equal, max": "PSI-SR is CoPSI with equal costs, the largest",
    "A6 equal, mean": "PSI-SR is CoPSI with equal costs, their mean",
    "A9": "standard regret against ν*(B + 1)",
    "A10": "true costs are those of the evaluation split",
    "A11": "F1 against the front of all instances",
}
"""Readings of what the paper leaves open, by the numbers of ``notebooks/claims.md``."""
FEWEST_RHO = {"error": 1000, "f1": 200}
"""Other readings are played at the largest budget alone, which the contrasts are about."""


def play(name: str, land: Landscape, seed: int) -> Values:
    """Play the paper's experiments on a table, by the book's readings.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    land : Landscape
    seed : int
        Of the replays; one that nothing else has used.

    Returns
    -------
    dict
        By `cobandit.companion.paper.predictive.played_key`: regrets and moving averages at the largest
        budget, errors, F1.
    """
    pulls = {method: pull(land, method, PAPER_ONLINE, seed) for method in INDICES}
    return _online(name, land, pulls) | _errors(name, land, seed) | _f1(name, land, seed)


def read(name: str, land: Landscape, seed: int) -> dict[str, Values]:
    """Play what other readings of the paper change, on the same seed.

    Returns
    -------
    dict of dict
        By reading, and by key as in `play`; NaN where a reading leaves no pull.
    """
    pulls = {method: pull(land, method, PAPER_ONLINE, seed) for method in INDICES}
    charged = Problem(land.means, land.scene.mean_spent / land.range[1])
    standard = {
        key: value + float(land.problem.efficiency.max())
        for key, value in _online(name, land, pulls).items()
        if key.endswith("standard_regret")
    }
    found = {"A9": standard, "A10": _online(name, land, pulls, charged)}
    changed: dict[str, dict[str, Any]] = {"A1": {"alpha": 1.0}, "A4": {"selection": "all"}}
    for reading, options in changed.items():
        found[reading] = _online(
            name, land, {m: pull(land, m, PAPER_ONLINE, seed, **options) for m in INDICES}
        )
    found["A11"] = _f1(name, land, seed, pareto_mask(land.all_means))
    arms = subset_of(SETTINGS[name])
    few, every = _identification_options(land, arms), _identification_options(land, slice(None))
    for reading in few:
        (method, options), (_, of_all) = few[reading], every[reading]
        found[reading] = _errors(name, land, seed, (method,), FEWEST_RHO["error"], **options)
        found[reading] |= _f1(name, land, seed, None, (method,), FEWEST_RHO["f1"], **of_all)
    return found


def _identification_options(land: Landscape, arms: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """By reading: the method that it changes, and its options on some arms."""
    costs = land.costs[arms]
    return {
        "A5": ("CoPSI", {"min_cost": float(costs.min() * costs.max() / land.range[1])}),
        "A6 max": ("PSISR", {"rounds": "max"}),
        "A6 mean": ("PSISR", {"rounds": "mean"}),
        "A6 equal, max": ("PSISR", {"equal": float(costs.max())}),
        "A6 equal, mean": ("PSISR", {"equal": float(costs.mean())}),
    }


def _online(name: str, land: Landscape, pulls: dict[str, Pulls], problem: Problem | None = None) -> Values:
    problem, found = problem or land.problem, {}
    for method in (*INDICES, "UniformAllocation"):
        if method == "UniformAllocation":
            values = uniform_online(land, problem.costs)
        else:
            values = np.array([x.mean() for x in judge_pulls(land, pulls[method], problem)])
        for quantity, value in zip(ONLINE_QUANTITIES, values, strict=True):
            place = "trajectory" if quantity == "moving_average" else "online"
            found[f"{name}-{place}-32-{method}-{quantity}"] = float(value)
    return found


def _errors(
    name: str,
    land: Landscape,
    seed: int,
    methods: tuple[str, ...] = IDENTIFICATION,
    fewest: float = 0,
    **options: Any,
) -> Values:
    found, rng = {}, np.random.default_rng(seed)
    arms = subset_of(SETTINGS[name])
    for rho, method in product((rho for rho in ERROR_RHO[name] if rho >= fewest), methods):
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
    fewest: float = 0,
    **options: Any,
) -> Values:
    found = {}
    for rho, method in product((rho for rho in ALL_RHO if rho >= fewest), methods):
        key = f"{name}-full-set-{rho}-{method}-f1-declared"
        try:
            f1, _ = play_identification(land, method, rho, PAPER_ONLINE, seed, truth=truth, **options)
            found[key] = float(f1.mean())
        except BudgetError:  # the reading leaves no pull, where the paper prints a value
            found[key] = np.nan
    return found
