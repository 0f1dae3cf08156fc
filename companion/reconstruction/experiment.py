"""The paper's experiments on a randomly drawn table (a reconstruction).

Results have the keys of `companion.paper.numbers.run_key`. Numbers of replays are the
paper's, so a result has the same noise as a printed number. In a replay, all methods
receive the same evaluations, as in the paper, except for uniform identification at the
largest budget. The paper leaves some choices open. `READINGS` lists alternatives to the
book's defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError
from cobandit.problem import Problem
from cobandit.replay import spec
from cobandit.replay.kernels import record
from cobandit.replay.paper_settings import RADII
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from companion.paper.experiments import IDENTIFICATION
from companion.paper.numbers import run_key
from companion.reconstruction.facts import (
    RHO,
    WINDOW,
    Landscape,
    fronts,
    subset_of,
    uniform_online,
)
from companion.reconstruction.hierarchy import ONLINE_QUANTITIES, Floats

Values = dict[str, float]

#: Number of replays behind a printed regret or F1.
PAPER_ONLINE = 100
#: Number of replays behind a printed error.
PAPER_IDENTIFICATION = 500

INDICES = ("CoHVUCB", "HVUCB", "AccuracyCostUCB")
#: Budgets at which the paper prints errors.
ERROR_RHO = {"gsm8k": (20, 5000), "piqa": (5000,)}
#: Budgets at which the paper prints F1.
F1_RHO = (10, 200)
#: Budget above which uniform identification is not replayed, because it would take
#: long. Its means are drawn from a normal distribution instead.
MOST_UNIFORM = 1000

DEFAULT = "default"
#: Readings of the paper, each of which changes one choice that the paper leaves open.
#: Keys are the numbers of these choices in the book.
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
#: Readings that concern one identification method: the method, and its options as a
#: function of the arms' costs and the largest single cost. Such a reading runs only at
#: the largest budget, at which `companion.paper.contrasts` compares methods.
OF_METHOD: dict[str, tuple[str, Callable[[Floats, float], dict[str, Any]]]] = {
    "A5": (
        "CoPSI",
        lambda costs, largest: {"min_cost": float(costs.min() * costs.max() / largest)},
    ),
    "A6 max": ("PSISR", lambda *_: {"rounds": "max"}),
    "A6 mean": ("PSISR", lambda *_: {"rounds": "mean"}),
    "A6 equal, max": ("PSISR", lambda costs, _: {"equal": float(costs.max())}),
    "A6 equal, mean": ("PSISR", lambda costs, _: {"equal": float(costs.mean())}),
}


def play(name: str, land: Landscape, seed: int) -> Values:
    """Run the paper's experiments on a random table, with the book's default choices.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    land : Landscape
        The drawn table.
    seed : int
        Seed of the replays.

    Returns
    -------
    dict
        Regrets and moving averages at the largest budget, errors, and F1. Keys are
        those of `companion.paper.numbers.run_key`.
    """
    values = _online(name, land, _pull(land, seed))
    for experiment in ("identification", "full-set"):
        values |= _identify(name, land, seed, experiment)
    return values


def read(name: str, land: Landscape, seed: int) -> dict[str, Values]:
    """Run the paper's experiments on a random table under each reading of `READINGS`.

    A reading changes one choice that the paper leaves open.

    The default reading is left out. Only results that a reading changes are computed.

    Returns
    -------
    dict of dict
        Results by reading, and by key as in `play`. A result is NaN if the budget
        allows no pull under the reading.
    """
    pulls = _pull(land, seed)
    best_efficiency = float(land.problem.efficiency.max())
    charged = Problem(land.means, land.scene.mean_spent / land.range[1])
    online = _online(name, land, pulls).items()
    by_reading = {
        "A9": {
            key: value + best_efficiency
            for key, value in online
            if key.endswith("standard_regret")
        }
    }
    by_reading["A10"] = _online(name, land, pulls, charged)
    by_reading["A1"] = _online(name, land, _pull(land, seed, alpha=1.0))
    by_reading["A4"] = _online(name, land, _pull(land, seed, selection="all"))
    by_reading["A11"] = _identify(
        name, land, seed, "full-set", truth=pareto_mask(land.all_means)
    )
    for reading in OF_METHOD:
        by_reading[reading] = _identify(name, land, seed, "identification", reading)
        by_reading[reading] |= _identify(name, land, seed, "full-set", reading)

    return by_reading


def _pull(land: Landscape, seed: int, **options: Any) -> dict[str, Pulls]:
    return {
        method: pull(land, method, PAPER_ONLINE, seed, **options) for method in INDICES
    }


def _online(
    name: str, land: Landscape, pulls: dict[str, Pulls], problem: Problem | None = None
) -> Values:
    problem = problem or land.problem
    values = {
        method: judge_pulls(land, played, problem).mean(axis=1)
        for method, played in pulls.items()
    }
    values["UniformAllocation"] = uniform_online(land, problem.costs)
    return {
        run_key(name, "online", RHO, method, quantity): float(value)
        for method, measures in values.items()
        for quantity, value in zip(ONLINE_QUANTITIES, measures, strict=True)
    }


def _identify(
    name: str,
    land: Landscape,
    seed: int,
    experiment: str,
    reading: str | None = None,
    truth: Any = None,
) -> Values:
    """Return the errors of methods on the 14 arms, or their F1 on all arms.

    ``truth`` is the mask of the true Pareto set, by default the set of the evaluation
    split.
    """
    errors = experiment == "identification"
    by_key = {}
    rng = np.random.default_rng(seed)
    arms = subset_of(land.setting) if errors else slice(None)
    budgets, replays = (
        (ERROR_RHO[name], PAPER_IDENTIFICATION) if errors else (F1_RHO, PAPER_ONLINE)
    )
    truth = pareto_mask(land.means[arms]) if truth is None else truth
    methods: tuple[str, ...] = IDENTIFICATION
    options_of_reading: dict[str, Any] = {}
    if reading is not None:
        method, options = OF_METHOD[reading]
        methods = (method,)
        budgets = budgets[-1:]
        options_of_reading = options(land.costs[arms], land.range[1])

    for rho, method in product(budgets, methods):
        value = np.nan
        # under some readings the budget allows no pull; the value then remains NaN
        with suppress(BudgetError):
            if method == "UniformIdentification" and rho > MOST_UNIFORM:
                returned = uniform_fronts(land.rewards[arms], rho, replays, rng)
            else:
                returned = find_sets(
                    land, method, rho, replays, seed, arms, **options_of_reading
                )
            is_right = (returned == truth).all(axis=1)
            value = (
                1 - is_right.mean()
                if errors
                else metrics.f1_score(returned, truth).mean()
            )
        by_key[run_key(name, experiment, rho, method, "error" if errors else "f1")] = (
            float(value)
        )

    return by_key


#: Numbers of pulls by an online method at the largest budget, (R, K), and the arms of
#: the last pulls, (R, WINDOW).
Pulls = tuple[NDArray[np.int64], NDArray[np.int64]]


def pull(
    land: Landscape, method: str, replays: int, seed: int, **options: Any
) -> Pulls:
    """Replay an online method with the paper's radii, and return its pulls.

    The budget is the paper's largest.
    """
    n_arms = len(land.costs)
    budget = RHO * float(land.costs.sum())
    policy: Any = spec(method, **(RADII | options)).make(
        RHO,
        n_arms=n_arms,
        n_objectives=2,
        budget=budget,
        cost_range=land.range,
        expected_costs=land.costs,
    )

    recorded = record(replays, int(budget / land.costs.min() * 1.1))
    counts = run_kernel(
        policy, land.feedback(), seed, np.arange(replays), recorded
    ).pulls
    ends = counts.sum(axis=1)[:, None] - 1 - np.arange(WINDOW)
    return counts, recorded.arms[np.arange(replays)[:, None], ends]


def judge_pulls(land: Landscape, pulls: Pulls, problem: Problem) -> Floats:
    """Return efficiency regret, standard regret and moving average per run, (3, R).

    All three are computed with the true means of ``problem``.
    """
    counts, last = pulls
    standard = metrics.standard_regret(
        problem, counts, RHO * float(land.costs.sum()) / land.range[1]
    )
    average = problem.efficiency_gaps[last].mean(axis=1)
    return np.stack([metrics.efficiency_regret(problem, counts), standard, average])


def find_sets(
    land: Landscape,
    method: str,
    rho: float,
    replays: int,
    seed: int,
    arms: Any = slice(None),
    equal: float | None = None,
    **options: Any,
) -> NDArray[np.bool_]:
    """Replay an identification method on some arms, and return its sets, (R, k).

    If ``equal`` is given, the method is CoPSI, which plans as if all arms had this
    cost. This plan leaves so much of the budget unspent that no run is truncated.
    """
    costs = land.costs[arms]
    budget = rho * float(costs.sum())
    if equal is not None:  # with equal costs, CoPSI plans numbers of rounds
        method = "CoPSI"
        costs = np.full(len(costs), equal)
    policy: Any = spec(method, **options).make(
        rho, costs=costs, budget=budget, n_objectives=2
    )
    return run_kernel(
        policy, land.feedback(arms), seed, np.arange(replays), realised=False
    ).returned


def uniform_fronts(
    rewards: Floats, n: int, replays: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw the Pareto sets (R, k) of empirical means of n pulls per arm.

    The empirical means are drawn from their normal approximation, so n must be large.
    """
    truth = rewards.mean(axis=1)
    x, y = np.moveaxis(rewards - truth[:, None], 2, 0)
    # y is a multiple of x plus a remainder that is uncorrelated with x
    slope = (x * y).mean(axis=1) / np.maximum(x.var(axis=1), 1e-12)
    deviations = np.stack([x.std(axis=1), (y - slope[:, None] * x).std(axis=1)])
    by_x, by_rest = (
        rng.standard_normal((2, replays, len(rewards))) * deviations[:, None]
    )
    return fronts(
        truth + np.stack([by_x, slope * by_x + by_rest], axis=-1) / np.sqrt(n)
    )
