"""The paper's experiments on a state: what the paper would print about its table, used and predicted.

Values have the keys of `cobandit.companion.paper.published`, and replay counts are the paper's, so that a
value has the noise of a printed one.  All methods see the same evaluations in a replay, as in the paper, but
for uniform identification at the largest budget.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from cobandit.companion.reconstruction.facts import (
    ALL_RHO,
    FACTS,
    PAPER_IDENTIFICATION,
    PAPER_ONLINE,
    Landscape,
    from_means,
    landscape,
    play_identification,
    play_online,
    scene,
    subset_of,
    uniform_fronts,
    uniform_online,
)
from cobandit.companion.reconstruction.hierarchy import State
from cobandit.companion.reconstruction.settings import SETTINGS
from cobandit.errors import CobanditError

ONLINE_QUANTITIES = ("efficiency_regret", "standard_regret", "moving_average")
IDENTIFICATION = ("CoPSI", "PSISR", "UniformIdentification")
ERROR_RHO = {"gsm8k": (20, 5000), "piqa": (5000,)}
"""Budgets at which errors are printed."""
MOST_UNIFORM = 1000
"""Budget above which the means of uniform identification are drawn as normal: its replays cost most."""


def play(name: str, state: State, seed: int) -> dict[str, float]:
    """Play the paper's experiments on the table of a state.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    state : State
    seed : int
        Of the replays; one that nothing else has used.

    Returns
    -------
    dict
        By `cobandit.companion.paper.predictive.played_key`: regrets and moving averages at the largest
        budget, errors, F1; and the deviations that `from_means` begins with, as ``fact-NAME``.
    """
    on = scene(name, state)
    if on is None:
        raise CobanditError(f"{name}: the state stands for no table")
    land = landscape(state, on)
    deviations = from_means(name, land)[: len(FACTS)]
    found = {f"fact-{fact}": float(x) for fact, x in zip(FACTS, deviations, strict=True)}
    return found | _online(name, land, seed) | _identification(name, land, seed)


def _online(name: str, land: Landscape, seed: int) -> dict[str, float]:
    found = {}
    for method in ("CoHVUCB", "HVUCB", "AccuracyCostUCB", "UniformAllocation"):
        if method == "UniformAllocation":
            values = uniform_online(land)
        else:
            values = np.array([x.mean() for x in play_online(land, method, PAPER_ONLINE, seed)])
        for quantity, value in zip(ONLINE_QUANTITIES, values, strict=True):
            place = "trajectory" if quantity == "moving_average" else "online"
            found[f"{name}-{place}-32-{method}-{quantity}"] = float(value)
    return found


def _identification(name: str, land: Landscape, seed: int) -> dict[str, float]:
    found, rng = {}, np.random.default_rng(seed)
    arms = subset_of(SETTINGS[name])
    for rho, method in product(ERROR_RHO[name], IDENTIFICATION):
        if method == "UniformIdentification" and rho > MOST_UNIFORM:
            shown = uniform_fronts(land.rewards[arms], rho, PAPER_IDENTIFICATION, rng)
            correct = (shown == land.subset_front).all(axis=1)
        else:
            _, correct = play_identification(land, method, rho, PAPER_IDENTIFICATION, seed, arms)
        found[f"{name}-identification-{rho}-{method}-error-declared"] = 1 - float(correct.mean())
    for rho, method in product(ALL_RHO, IDENTIFICATION):
        f1, _ = play_identification(land, method, rho, PAPER_ONLINE, seed)
        found[f"{name}-full-set-{rho}-{method}-f1-declared"] = float(f1.mean())
    return found
