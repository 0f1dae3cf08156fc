"""What the page `explorer` shows, computed beforehand: its script only draws it.

For every table, every choice of objectives, every method and budget: the front, how many pulls each
configuration gets, and the regret or the recovery of the front, each with a 95 % interval.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike

from cobandit.companion.allocation import allocation
from cobandit.companion.paper import experiments
from cobandit.figures.style import method_label, method_style, provenance
from cobandit.replay import replay_identification, replay_online
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Budgets that the reader may choose between.
ONLINE_RHO = experiments.ONLINE_RHO
IDENTIFICATION_RHO = (20, 100, 500)

#: What is shown of a run, its name on the page, and whether less is better.
MEASURES = {
    "online": {
        "efficiency_regret": ("hypervolume-efficiency regret", True),
        "standard_regret": ("standard hypervolume regret", True),
    },
    "identification": {
        "error": ("error probability of the returned set", True),
        "f1": ("F1 of the returned set", False),
    },
}

#: Half the width of a 95 % normal interval, in standard errors.
NORMAL = 1.96


def numbers(values: ArrayLike, digits: int = 4) -> list[float | None]:
    """Round to significant digits, for JSON: what is not finite becomes None.

    Examples
    --------
    >>> numbers([1234.56, 0.000123456, float("nan")])
    [1235.0, 0.0001235, None]
    """
    listed = np.asarray(values, dtype=float).tolist()
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in listed]


def _mean_and_half(frame: pd.DataFrame, by: str, column: str, size: int) -> dict[str, list[float | None]]:
    """Mean and half-width of its 95 % normal interval, by 0 ... size - 1."""
    grouped = frame.groupby(by, observed=True)[column].agg(["mean", "std", "count"]).reindex(range(size))
    half = NORMAL * grouped["std"] / np.sqrt(grouped["count"])
    return {"mean": numbers(grouped["mean"]), "half": numbers(half, 3)}


def _replays(
    table: EvaluationTable, task: str, replications: int, seed: int, **parallel: Any
) -> list[dict[str, Any]]:
    """Every method and budget of a task: its measures and its allocation."""
    if task == "online":
        methods: Sequence[Any] = experiments.online_methods()
        rho: Sequence[float] = ONLINE_RHO
        runs = replay_online(table, methods, rho, replications, seed, **parallel)
    else:
        methods, rho = experiments.IDENTIFICATION, IDENTIFICATION_RHO
        runs = replay_identification(table, methods, rho, replications, seed, **parallel)
        runs["error"] = ~runs["correct"]
    pulls = allocation(table, methods, task, rho, replications, seed, **parallel)
    by = ("method", "rho")
    summaries = {name: metrics.summarise(runs, name, by).set_index(list(by)) for name in MEASURES[task]}
    counted = dict(list(pulls.groupby(list(by))))
    cells = []
    groups: Any = runs.groupby(list(by), sort=False)
    for key, group in groups:
        cell: dict[str, Any] = {
            "method": key[0],
            "rho": key[1],
            "budget": numbers(group["budget"].iloc[:1])[0],
        }
        if key in counted:  # else no run of this cell was feasible
            for name, summary in summaries.items():
                cell[name] = numbers(summary[["mean", "low", "high"]].loc[key])
            cell["spent"] = numbers([(group["spent"] / group["budget"]).mean()])[0]
            cell["pulls"] = _mean_and_half(counted[key], "arm", "pulls", table.n_arms)
        cells.append(cell)
    return cells


def _described(table: EvaluationTable, replications: int, seed: int, **parallel: Any) -> dict[str, Any]:
    """One table with all choices of its objectives."""
    rows = table.rows
    rows = rows[rows["split"] == "evaluation"].assign(arm=lambda frame: frame["config"].cat.codes)
    views = []
    for size in range(table.n_objectives, 0, -1):
        for names in itertools.combinations(table.objectives, size):
            view = table.for_objectives(*names)
            problem = view.problem
            views.append(
                {
                    "objectives": list(names),
                    "front": np.flatnonzero(problem.pareto_mask).tolist(),
                    "best": problem.best_arm,
                    "replays": {
                        task: _replays(view, task, replications, seed, **parallel) for task in MEASURES
                    },
                }
            )
    return {
        "name": table.name,
        "shown": provenance(table),
        "kind": table.kind,
        "unit": table.card.cost.unit,
        "configurations": list(table.configs),
        "costs": numbers(table.costs),
        "means": {name: _mean_and_half(rows, "arm", name, table.n_arms) for name in table.objectives},
        "views": views,
    }


def precompute(
    tables: Iterable[EvaluationTable], replications: int = 20, seed: int = 0, **parallel: Any
) -> dict[str, Any]:
    """Replay every method on every table and choice of its objectives, for the page to show.

    Online methods take the paper's radii; identification is among all configurations, at declared costs.

    Parameters
    ----------
    tables : iterable of EvaluationTable
    replications : int
        Two or more, for the intervals.
    seed : int
    **parallel
        How the work is spread, as in `cobandit.replay_online`.

    Returns
    -------
    dict
        Fit for JSON: ``replications``, ``seed``, ``methods`` (label, colour, marker), ``measures`` and
        ``tables``, each with ``views`` (a choice of objectives) whose ``replays`` hold a cell for each method
        and budget: measures as mean, low, high; ``pulls`` as mean and half-width for each configuration.  A
        budget that is too small has neither.

    Examples
    --------
    >>> import cobandit as cb
    >>> data = precompute([cb.load("synthetic-24")], replications=2)
    >>> [view["objectives"] for view in data["tables"][0]["views"]]
    [['accuracy', 'efficiency'], ['accuracy'], ['efficiency']]
    >>> len(data["tables"][0]["views"][0]["replays"]["online"])  # 4 methods, 5 budgets
    20
    """
    names = {
        "online": [spec.name for spec in experiments.online_methods()],
        "identification": list(experiments.IDENTIFICATION),
    }
    return {
        "replications": replications,
        "seed": seed,
        "methods": {
            name: {
                "task": task,
                "label": method_label(name),
                "color": to_hex(method_style(name)["color"]),
                "marker": method_style(name)["marker"],
            }
            for task, members in names.items()
            for name in members
        },
        "measures": MEASURES,
        "tables": [_described(table, replications, seed, **parallel) for table in tables],
    }


def html(data: dict[str, Any]) -> str:
    """Element that the page's script fills, with the data in it; without the script, a sentence.

    Parameters
    ----------
    data : dict
        From `precompute`.

    Returns
    -------
    str

    Examples
    --------
    >>> "</script>" in html({"tables": []})
    True
    """
    packed = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return (
        '<div id="cobandit-explorer"><p class="explorer-fallback">The controls and pictures of this page are '
        "drawn by a script in the built book; where it does not run, the pages on results show the same "
        "kinds of replays.</p></div>\n"
        f'<script type="application/json" id="explorer-data">{packed}</script>'
    )
