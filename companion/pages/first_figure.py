"""Data of the book's interactive first figure: pulls and results of methods by budget.

Every method is replayed at every budget. The figure shows the pulls and the returned
set of one run, and the share of all runs that return exactly the front. The JavaScript
of the page only draws these data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError
from cobandit.figures.style import FAINT, INK, LOOKS, follow_theme, method_label
from cobandit.replay import play, replay_identification, spec

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Methods of the figure. They evaluate each instance at most once per configuration,
#: in the same random orders.
METHODS = ("UniformOnce", "CoPSIPrintedOnce", "CoPSIOnce", "ParetoRace")
FEEDBACK = "once"
#: Options by method, so that all methods identify the front of the objectives, without
#: the cost.
OPTIONS = {"ParetoRace": {"front": "objectives"}}
#: Budgets as shares of the cost of evaluating everything.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def _show_run(
    table: EvaluationTable, method: str, budget: float, seed: int
) -> dict[str, Any]:
    """Run a method, and return its spent budget, its pulls and the returned set.

    The result is empty if the budget is too small for the method.
    """
    shape = {
        "n_objectives": table.n_objectives,
        "n_instances": int(np.diff(table.feedback.offsets).min()),
    }
    try:
        policy: Any = spec(method, **OPTIONS.get(method, {})).make(
            1.0, costs=table.costs, budget=budget, **shape
        )
    except BudgetError:
        return {}

    play(policy, table, seed=seed, charge="declared")
    return {
        "spent": round(policy.spent / budget, 4),
        "pulls": " ".join(map(str, policy.pulls)),
        "returned": " ".join(map(str, policy.recommend())),
    }


def play_states(
    table: EvaluationTable, method: str, replications: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Replay a method at all budgets of the figure, and describe its first run.

    Each pull is charged the mean cost of its arm.

    Parameters
    ----------
    table : EvaluationTable
    method : str
        One of `METHODS`.
    replications : int
        Number of runs per budget.
    seed : int

    Returns
    -------
    DataFrame
        One row per budget: ``method``; ``share``, the budget as a share of the cost of
        evaluating everything; ``runs``, the number of runs; ``exact``, the number of
        runs that returned exactly the front. Three columns describe the first run:
        ``spent``, the spent share of the budget; ``pulls``, the pulls per arm, and
        ``returned``, the returned arms, both as text. These three columns are missing
        values if the budget is too small.

    Examples
    --------
    >>> import cobandit as cb
    >>> states = play_states(cb.load("synthetic-24"), "UniformOnce", replications=2)
    >>> int(states["exact"].iloc[-1])
    2
    """
    everything = float(np.diff(table.feedback.offsets) @ table.costs)
    asked = spec(method, **OPTIONS.get(method, {}))
    runs = replay_identification(
        table, asked, None, replications, seed, share=SHARES, feedback=FEEDBACK
    )
    exact = runs.groupby("share")["correct"].sum()
    rows = [
        {
            "method": method,
            "share": share,
            "runs": replications,
            "exact": int(exact.loc[share]),
        }
        | _show_run(table, method, share * everything, seed)
        for share in SHARES
    ]
    return pd.DataFrame(rows)


def describe_states(table: EvaluationTable, states: pd.DataFrame) -> dict[str, Any]:
    """Return the data of the interactive figure as a dict that JSON can represent.

    Parameters
    ----------
    table : EvaluationTable
        Table whose first two objectives are drawn.
    states : DataFrame
        Results of `play_states` for all methods.

    Returns
    -------
    dict
        The configurations with their means and costs, and ``methods`` by name. The
        entry of a method has ``front``, the front to identify, and ``states``, one per
        share. A state has ``exact`` and, unless the budget is too small, ``spent``,
        ``pulls`` and ``returned``.
    """
    policies: Any = {method: spec(method).policy for method in METHODS}
    return {
        "objectives": list(table.objectives[:2]),
        "unit": table.card.cost.unit,
        "instances": int(np.diff(table.feedback.offsets).min()),
        "everything": round(float(np.diff(table.feedback.offsets) @ table.costs)),
        "replications": int(states["runs"].iloc[0]),
        "shares": list(SHARES),
        "configurations": list(table.configs),
        "costs": [float(f"{cost:.3g}") for cost in table.costs],
        "means": table.means[:, :2].round(4).tolist(),
        "methods": {
            str(method): {
                "label": method_label(str(method)),
                "color": LOOKS[str(method)].light,
                "themed": follow_theme(LOOKS[str(method)].light),
                # a run is judged by the kind of front that its method returns
                "front": (
                    np.flatnonzero(
                        pareto_mask(table.means, policies[method].dominance)
                    ).tolist()
                ),
                "states": [_state(row) for row in own.to_dict("records")],
            }
            for method, own in states.groupby("method", sort=False)
        },
    }


def _state(row: dict[Any, Any]) -> dict[str, Any]:
    state: dict[str, Any] = {"exact": int(row["exact"])}
    if isinstance(row.get("pulls"), str):
        arms = {
            name: [int(number) for number in row[name].split()]
            for name in ("pulls", "returned")
        }
        state |= {"spent": row["spent"]} | arms
    return state


def draw_states(data: dict[str, Any], share: float) -> Figure:
    """Draw the first figure at one budget, as a static figure with a panel per method.

    The static figure is for print and for browsers without scripts.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> states = play_states(table, "UniformOnce", replications=2)
    >>> len(draw_states(describe_states(table, states), share=0.5).axes)
    1
    """
    figure, axes = plt.subplots(
        1,
        len(data["methods"]),
        figsize=(9, 2.6),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    place, (x, y) = data["shares"].index(share), np.transpose(data["means"])
    for ax, method in zip(axes[0], data["methods"].values(), strict=True):
        state = method["states"][place]
        evaluated = np.minimum(
            1.0, np.array(state.get("pulls", 0 * x)) / data["instances"]
        )
        returned = np.isin(np.arange(len(x)), state.get("returned", []))
        ax.scatter(
            x,
            y,
            s=28 * evaluated,
            c=np.where(returned, method["color"], FAINT),
            linewidths=0,
        )
        ax.scatter(
            x[method["front"]],
            y[method["front"]],
            s=60,
            facecolors="none",
            edgecolors=INK,
            linewidths=0.8,
        )
        ax.set(
            title=(
                f"{method['label']}:\nexact in"
                f" {state['exact'] / data['replications']:.0%}"
            )
        )
        ax.set(xlabel=data["objectives"][0])

    axes[0, 0].set(ylabel=data["objectives"][1])
    return figure


def figure_html(data: dict[str, Any], fallback: str) -> str:
    """Return the HTML of the interactive figure, with its data and a fallback.

    The page's JavaScript replaces the fallback by the interactive figure.

    Examples
    --------
    >>> figure_html({"table": "</script><b>"}, "<p>a picture</p>").count("</script>")
    1
    """
    # "</script>" inside the data would end the element
    packed = json.dumps(data, separators=(",", ":"), allow_nan=False).replace(
        "</", "<\\/"
    )
    return (
        f'<div id="argument">{fallback}</div>\n'
        f'<script type="application/json" id="argument-data">{packed}</script>'
    )
