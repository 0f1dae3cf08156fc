"""What each method loses on random problems over a grid of their properties, and on tables next to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.companion.known_arms import feedback_source, random_arms
from cobandit.companion.paper import experiments
from cobandit.errors import BudgetError
from cobandit.problem import Problem
from cobandit.replay import Spec, replay_identification, replay_online, spec
from cobandit.replay.grid import GridCell, Source, make_policy
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


class Traits(NamedTuple):
    """What is known of a problem before any method runs on it.

    ``cost_ratio`` is the largest over the smallest mean cost, ``dependence`` Spearman's rank correlation of
    mean cost and hypervolume: 1 if better arms always cost more.  ``rho``, evaluations per configuration,
    is the budget.
    """

    cost_ratio: float
    dependence: float
    n_arms: int
    rho: float


def traits(problem: Problem | EvaluationTable, rho: float) -> Traits:
    """Properties of a problem, or of a table, by which its place on the map is found.

    Parameters
    ----------
    problem : Problem or EvaluationTable
        Of a table the truth of its replays.
    rho : float
        Budget over the cost of one evaluation of each arm.

    Returns
    -------
    Traits
        Without differences in cost or in hypervolume the dependence is 0.

    Examples
    --------
    >>> traits(Problem([[0.2], [0.4], [0.8]], [1.0, 2.0, 4.0]), rho=10)
    Traits(cost_ratio=4.0, dependence=1.0, n_arms=3, rho=10.0)
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    problem = problem if isinstance(problem, Problem) else problem.problem
    costs, quality = problem.costs, problem.hypervolume
    flat = np.ptp(costs) == 0 or np.ptp(quality) == 0
    dependence = 0.0 if flat else float(stats.spearmanr(costs, quality).statistic)
    ratio = float(costs.max() / costs.min())
    return Traits(ratio, dependence, problem.n_arms, _check.positive(rho, "rho"))


_TUNED = experiments.RADII
_WIDER = {"reward_scale": 0.1, "cost_scale": 0.1}

#: What is compared: method and options by the name that pages use, the paper's first.
METHODS: dict[str, dict[str, Spec]] = {
    "online": {
        "CoHV-UCB": spec("CoHVUCB", **_TUNED),
        "HV-UCB": spec("HVUCB", **_TUNED),
        "Accuracy-Cost-UCB": spec("AccuracyCostUCB", **_TUNED),
        "Uniform": spec("UniformAllocation"),
        "Greedy": spec("CoHVUCB", **dict.fromkeys(_WIDER, 0.0), eta=_TUNED["eta"]),
        "CoHV-UCB (s = 0.1)": spec("CoHVUCB", **_WIDER),
        "CoHV-UCB (s = 1)": spec("CoHVUCB"),
    },
    "identification": {
        "CoPSI": spec("CoPSI"),
        "CoPSI (exact L*)": spec("CoPSIExact"),
        "CoPSI (adaptive L*)": spec("CoPSIAdaptive"),
        "PSI-SR": spec("PSISR"),
        "PSI-SR (mean cost)": spec("PSISR", rounds="mean"),
        "Uniform": spec("UniformIdentification"),
    },
}

RATIOS = (1, 3, 10, 30, 100)
DEPENDENCES = (-1.0, -0.5, 0.0, 0.5, 1.0)
ARMS = (8, 24, 72)
BUDGETS = {"online": (4, 16, 64), "identification": (20, 100, 500)}
PROBLEMS, REPLICATIONS = 24, 5
SEED = 0

#: Columns that make a cell of the map.
CELL = ["selection", *Traits._fields]


def parts() -> list[tuple[str, int, float, int]]:
    """Arguments of `part`, all over the grid."""
    return list(product(METHODS, RATIOS, DEPENDENCES, ARMS))


def part(selection: str, cost_ratio: float, dependence: float, n_arms: int) -> pd.DataFrame:
    r"""Play every method at every budget on `PROBLEMS` problems of one kind.

    Parameters
    ----------
    selection : {"online", "identification"}
    cost_ratio, dependence, n_arms
        As in `random_arms`.

    Returns
    -------
    DataFrame, one row per cell, method and problem
        ``selection`` and `Traits`; ``name`` of the method, ``problem``, and means over `REPLICATIONS` runs:
        ``loss``, online the share of :math:`\nu_{i^\star} B` that was lost, else one less F1; and ``strict``,
        online the efficiency regret, else the share of wrong sets.  With a budget that is too small nothing
        is returned: the loss is 1, and ``strict`` is NaN.
    """
    play = {"online": _online, "identification": _identification}
    once = play[_check.choice(selection, "selection", METHODS)]
    rows = []
    for problem in range(PROBLEMS):
        source = feedback_source(random_arms(problem, n_arms, cost_ratio, dependence, seed=SEED))
        replications = np.arange(REPLICATIONS) + problem * REPLICATIONS  # streams of its own
        for rho, (name, method) in product(BUDGETS[selection], METHODS[selection].items()):
            cell = GridCell(method, rho, rho * float(source.costs.sum()), replications, SEED)
            try:
                loss, strict = once(source, cell)
            except BudgetError:
                loss, strict = 1.0, np.nan
            at = (selection, float(cost_ratio), dependence, n_arms, float(rho))
            rows.append((*at, name, problem, loss, strict))
    return pd.DataFrame(rows, columns=[*CELL, "name", "problem", "loss", "strict"])


def _online(source: Source, cell: GridCell) -> tuple[float, float]:
    """Share of the fluid optimum that is lost, and efficiency regret; means over replications."""
    policy = make_policy(source, cell)
    pulls, _ = run_kernel(policy, source.feedback, cell.seed, cell.replications)
    most = cell.budget / source.cost_range[1]
    lost = metrics.standard_regret(source.problem, pulls, most) / (source.problem.efficiency.max() * most)
    return float(lost.mean()), float(metrics.efficiency_regret(source.problem, pulls).mean())


def _identification(source: Source, cell: GridCell) -> tuple[float, float]:
    """One less F1, and share of wrong sets."""
    policy = make_policy(source, cell)
    *_, returned = run_kernel(policy, source.feedback, cell.seed, cell.replications, realised=False)
    truth = source.problem.pareto_mask
    wrong = (returned != truth).any(axis=1)
    return float(1 - metrics.f1_score(returned, truth).mean()), float(wrong.mean())


def on_table(
    table: EvaluationTable,
    selection: str,
    rhos: Iterable[float],
    replications: int,
    seed: int,
    **parallel: Any,
) -> pd.DataFrame:
    """Play the same methods on a table.

    Parameters
    ----------
    table : EvaluationTable
    selection : {"online", "identification"}
    rhos : iterable of float
    replications, seed : int
    **parallel
        As `replay_online` takes it.

    Returns
    -------
    DataFrame
        As the replay's, with the columns ``name`` and ``loss`` of `part`.

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = on_table(cb.load("synthetic-24"), "online", [4], replications=2, seed=0)
    >>> len(runs) == 2 * len(METHODS["online"]), bool(runs["loss"].between(-0.1, 1).all())
    (True, True)
    """
    methods = METHODS[_check.choice(selection, "selection", METHODS)]
    replay: Callable[..., pd.DataFrame] = replay_online if selection == "online" else replay_identification
    runs = replay(table, list(methods.values()), rhos, replications, seed, **parallel)
    named = {(method.name, method.options): name for name, method in methods.items()}
    runs["name"] = [named[pair] for pair in zip(runs["method"], runs["options"], strict=True)]
    if selection == "online":
        most = table.problem.efficiency.max() * runs["budget"] / table.cost_range[1]
        return runs.assign(loss=(runs["standard_regret"] / most).fillna(1.0))
    return runs.assign(loss=(1 - runs["f1"]).fillna(1.0))
