"""Losses of methods on random problems, by cost ratio and cost-quality dependence."""

from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.errors import BudgetError
from cobandit.replay import Spec, spec
from cobandit.replay.grid import Source
from cobandit.replay.paper_settings import RADII
from cobandit.stats import contrasts, metrics, summaries
from companion.proofs.known_arms import feedback_source, play_on, random_arms

_WIDER = {"reward_scale": 0.1, "cost_scale": 0.1}

#: Compared methods by their name on the pages. The paper's method comes first.
METHODS: dict[str, dict[str, Spec]] = {
    "online": {
        "CoHV-UCB": spec("CoHVUCB", **RADII),
        "HV-UCB": spec("HVUCB", **RADII),
        "Accuracy-Cost-UCB": spec("AccuracyCostUCB", **RADII),
        "Uniform": spec("UniformAllocation"),
        "Greedy": spec("CoHVUCB", **dict.fromkeys(_WIDER, 0.0), eta=RADII["eta"]),
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
PROBLEMS = 24
REPLICATIONS = 5
SEED = 0

#: Columns that identify a cell, which is a kind of problems at one budget.
#: ``cost_ratio`` is the largest mean cost over the smallest. ``dependence`` sets the
#: rank correlation of mean cost and hypervolume; at 1, better arms always cost more
#: (see `random_arms`). ``rho`` is the budget in evaluations per arm.
CELL = ["selection", "cost_ratio", "dependence", "n_arms", "rho"]


def parts() -> list[tuple[str, int, float, int]]:
    """Return the arguments of all calls of `part` that compute the whole grid."""
    return list(product(METHODS, RATIOS, DEPENDENCES, ARMS))


def part(
    selection: str, cost_ratio: float, dependence: float, n_arms: int
) -> pd.DataFrame:
    r"""Run every method at every budget on random problems of one kind.

    Parameters
    ----------
    selection : {"online", "identification"}
    cost_ratio, dependence, n_arms
        As in `random_arms`.

    Returns
    -------
    DataFrame, one row per cell, method and problem
        The columns of `CELL`; ``name`` of the method; ``problem``; and two means over
        `REPLICATIONS` runs, ``loss`` and ``strict``. In online selection, they are the
        lost share of :math:`\nu_{i^\star} B` and the efficiency regret. In
        identification, they are 1 - F1 and the share of wrong sets. If the budget is
        too small for the method, ``loss`` is 1, and ``strict`` is NaN.
    """
    rows = []
    for problem in range(PROBLEMS):
        source = feedback_source(
            random_arms(problem, n_arms, cost_ratio, dependence, seed=SEED)
        )
        # different random streams for different problems
        streams = np.arange(REPLICATIONS) + problem * REPLICATIONS
        for rho, (name, method) in product(
            BUDGETS[selection], METHODS[selection].items()
        ):
            try:
                loss, strict = _play(
                    source, method, rho * float(source.costs.sum()), streams, selection
                )
            except BudgetError:
                loss = 1.0
                strict = np.nan
            cell = (selection, float(cost_ratio), dependence, n_arms, float(rho))
            rows.append((*cell, name, problem, loss, strict))

    return pd.DataFrame(rows, columns=[*CELL, "name", "problem", "loss", "strict"])


def _play(
    source: Source,
    method: Spec,
    budget: float,
    streams: NDArray[np.int64],
    selection: str,
) -> tuple[float, float]:
    """Return the means of ``loss`` and ``strict`` over the replications."""
    online = selection == "online"
    problem = source.problem
    runs = play_on(source, method, budget, streams, SEED, realised=online)
    if online:
        n_cost_units = budget / source.cost_range[1]
        loss = metrics.standard_regret(problem, runs.pulls, n_cost_units) / (
            problem.efficiency.max() * n_cost_units
        )
        strict = metrics.efficiency_regret(problem, runs.pulls)
    else:
        loss = 1 - metrics.f1_score(runs.returned, problem.pareto_mask)
        strict = (runs.returned != problem.pareto_mask).any(axis=1)
    return float(loss.mean()), float(strict.mean())


#: Classes of cost ratios in the table of leading methods: name and excluded upper end.
COST_CLASSES = {
    "equal (below 2)": 2.0,
    "2 to 5": 5.0,
    "5 to 20": 20.0,
    "20 or more": np.inf,
}
#: Classes of the dependence of cost on quality: name and excluded upper end.
QUALITY_CLASSES = {
    "better is cheaper": -0.25,
    "no clear order": 0.25,
    "better often costs more": 0.75,
    "better always costs more": np.inf,
}
#: Class of dependence for problems whose costs are equal, or nearly equal.
ANY = "any"


def tabulate_leaders(outcomes: pd.DataFrame, selection: str) -> pd.DataFrame:
    """Tabulate the best methods by cost ratio, dependence and budget.

    A row pools all cells with one class of cost ratios, one class of dependence and one
    budget, over all numbers of arms. Methods are compared on the same problems. Within
    a row, all results on one problem count as one observation.

    Parameters
    ----------
    outcomes : DataFrame
        Rows of `part`.
    selection : {"online", "identification"}

    Returns
    -------
    DataFrame
        One row per ``costs``, ``quality`` and ``rho``, with the columns of
        `cobandit.stats.leaders`. ``costs`` and ``quality`` are the names of the class
        of cost ratios and of the class of dependence.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1])
    >>> leaders = tabulate_leaders(rows.assign(loss=[0.1, 0.2, 0.1, 0.3]), "online")
    >>> leaders[["costs", "quality", "leader", "level"]].iloc[0].tolist()
    ['5 to 20', 'no clear order', 'a', ()]
    """
    chosen = outcomes[outcomes["selection"] == selection]
    keys = ["costs", "quality", "rho"]

    costs, quality = (
        pd.cut(
            chosen[name],
            [-np.inf, *classes.values()],
            right=False,
            labels=list(classes),
        )
        for name, classes in (
            ("cost_ratio", COST_CLASSES),
            ("dependence", QUALITY_CLASSES),
        )
    )
    quality = quality.cat.add_categories(ANY).mask(
        costs == next(iter(COST_CLASSES)), ANY
    )
    classified = chosen.rename(columns={"name": "method"}).assign(
        costs=costs, quality=quality, status="ok"
    )
    pooled = classified.groupby(
        [*keys, "n_arms", "problem", "method", "status"], observed=True
    )["loss"].mean()
    runs = pooled.reset_index()
    runs["replication"] = runs.groupby(["n_arms", "problem"]).ngroup()
    return contrasts.leaders(
        runs.astype(dict.fromkeys(keys[:2], str)), "loss", tuple(keys)
    )


def count_best(outcomes: pd.DataFrame, method: str) -> tuple[int, int]:
    """Count the cells in which a method has the smallest mean loss.

    Parameters
    ----------
    outcomes : DataFrame
        Rows of `part` for the compared methods.
    method : str

    Returns
    -------
    (int, int)
        The number of cells in which the method is best, and the number of all cells. A
        cell is a combination of the columns of `CELL`.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 2, columns=CELL)
    >>> count_best(rows.assign(name=["a", "b"], loss=[0.1, 0.2]), "a")
    (1, 1)
    """
    means = outcomes.pivot_table(index=CELL, columns="name", values="loss")
    is_best = means[method] <= means.min(axis=1)
    return int(is_best.sum()), len(means)


def describe_leader(row: pd.Series) -> str:
    """Describe a row of `tabulate_leaders`: the best method, its loss, and the next.

    The text names all methods that cannot be distinguished from the best, if any.

    Examples
    --------
    >>> row = {"leader": "a", "mean": 0.1, "level": (), "next": "b", "next_mean": 0.15}
    >>> describe_leader(pd.Series(row))
    'a, 10.0 %; next b, 15.0 %'
    >>> describe_leader(pd.Series(row | {"level": ("b", "c")}))
    'a, 10.0 %; level: b, c'
    """
    best = f"{row['leader']}, {100 * row['mean']:.1f} %"
    if row["level"]:
        return f"{best}; level: {', '.join(row['level'])}"
    return f"{best}; next {row['next']}, {100 * row['next_mean']:.1f} %"


def excess_losses(outcomes: pd.DataFrame, selection: str) -> pd.DataFrame:
    """Return the excess loss of each method over the best method of each cell.

    A cell is one kind of problems at one budget. The result has one row per cell and
    one column per method. If nothing is known about the problem, choose the method with
    the smallest mean excess loss.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 2, columns=CELL)
    >>> rows = rows.assign(name=["a", "b"], loss=[0.1, 0.25])
    >>> excess_losses(rows, "online").round(2).iloc[0].tolist()
    [0.0, 0.15]
    """
    chosen = outcomes[outcomes["selection"] == selection]
    wide = chosen.pivot_table(index=CELL, columns="name", values="loss")
    return wide.sub(wide.min(axis=1), axis=0)


def advantage_of_dividing(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the mean loss of HV-UCB minus that of CoHV-UCB on random problems.

    HV-UCB does not divide its index by the cost.

    Parameters
    ----------
    outcomes : DataFrame
        Rows of `part`.

    Returns
    -------
    DataFrame
        By ``cost_ratio`` and ``dependence``: ``mean`` of the paired difference, as a
        share of the best possible reward, and ``low`` and ``high``, its bootstrap 95 %
        interval over problems.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=["CoHV-UCB", "HV-UCB"] * 2, problem=[0, 0, 1, 1])
    >>> rows = rows.assign(loss=[0.1, 0.2, 0.1, 0.3])
    >>> advantage_of_dividing(rows)["mean"].round(2).tolist()
    [0.15]
    """
    online = outcomes[outcomes["selection"] == "online"]
    losses = online.pivot_table(
        index=[*CELL[1:], "problem"], columns="name", values="loss"
    )
    # average over budgets, because runs on the same problem are not independent
    gain = (losses["HV-UCB"] - losses["CoHV-UCB"]).groupby(level=[0, 1, 2, 4]).mean()
    runs = gain.rename("gained").reset_index().assign(status="ok")
    summary = summaries.summarise(runs, "gained", ("cost_ratio", "dependence"))
    return summary.set_index(["cost_ratio", "dependence"])[["mean", "low", "high"]]
