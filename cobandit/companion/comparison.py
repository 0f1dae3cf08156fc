"""What a page sets next to its own results: the paper's values on the curves, its numbers, its claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from pandas.io.formats.style import Styler

from cobandit import figures
from cobandit.companion import paper
from cobandit.companion.stored import results
from cobandit.tables import EvaluationTable

#: Roles in the order in which they test the paper.
ORDER = {"predicted": 0, "arithmetic": 1, "used": 2}


def printed_points(dataset: str, quantity: str, *experiments: str) -> pd.DataFrame:
    """Values that the paper prints of a quantity, each once.

    Parameters
    ----------
    dataset : {"gsm8k", "piqa"}
        Of another table nothing is printed.
    quantity : str
        Such as ``"efficiency_regret"``.
    *experiments : str
        Such as ``"online"``, ``"trajectory"``; the first that has a value counts.

    Returns
    -------
    DataFrame
        ``method``, ``rho``, ``value`` and ``key``, by which predictions name it.

    Examples
    --------
    >>> printed_points("gsm8k", "efficiency_regret", "online", "trajectory")["method"].tolist()
    ['UniformAllocation', 'CoHVUCB', 'AccuracyCostUCB', 'HVUCB']
    """
    rows = [
        (number.method, number.rho, number.value, number.key)
        for experiment in experiments
        for number in paper.published()
        if (number.dataset, number.experiment, number.quantity) == (dataset, experiment, quantity)
        and number.operation is None
        and number.method is not None
        and number.costs in (None, "declared")
    ]
    return pd.DataFrame(rows, columns=["method", "rho", "value", "key"]).drop_duplicates(["method", "rho"])


def mark_printed(ax: Axes, points: pd.DataFrame, predicted: pd.DataFrame | None = None) -> None:
    """Mark printed values on a figure against the budget, as crosses, and what is predicted of them, as bars.

    Parameters
    ----------
    ax : Axes
    points : DataFrame
        As from `printed_points`.
    predicted : DataFrame, optional
        As from `cobandit.companion.stored.results.predictions_of`; the bars are 95 % intervals.
    """
    cross: dict[str, Any] = {"ls": "", "marker": "x", "ms": 8, "mew": 2, "zorder": 3}
    for number, point in enumerate(points.to_dict("records")):
        color = figures.method_style(point["method"])["color"]
        label = None if number else "the paper's value"
        ax.plot([point["rho"]], [point["value"]], color=color, label=label, **cross)
    known = points[:0] if predicted is None else points.join(predicted, on="key").dropna()
    bar: dict[str, Any] = {"lw": 6, "alpha": 0.35, "solid_capstyle": "butt", "zorder": 2.5}
    for number, point in enumerate(known.to_dict("records")):  # what is used is not predicted
        color = figures.method_style(point["method"])["color"]
        label = None if number else "predicted, 95 %"
        ends = [point["predicted_low"], point["predicted_high"]]
        ax.plot([point["rho"]] * 2, ends, color=color, label=label, **bar)


def next_to_paper(cells: pd.DataFrame, tables: Sequence[EvaluationTable]) -> Styler | None:
    """Table of the numbers that the paper prints about some results, and what is predicted of them.

    Parameters
    ----------
    cells : DataFrame
        With ``dataset``, as `cobandit.companion.paper.experiments.summary`.
    tables : sequence of EvaluationTable
        From which they come.

    Returns
    -------
    Styler or None
        None if the paper prints nothing about these tables.
    """
    rows = paper.ledger(cells, predicted=results.predictions_of(tables))
    for name in ("experiment", "dataset", "quantity"):
        rows = rows[rows[name].isin(cells[name])]
    if rows.empty:
        return None
    rows = rows.assign(order=rows["role"].map(ORDER)).sort_values(["order", "dataset"], kind="stable")
    shown = pd.DataFrame(
        {
            "dataset": rows["dataset"],
            "what": [_about(row) for row in rows.to_dict("records")],
            "ρ": rows["rho"],
            "role": rows["role"],
            "printed": rows["printed"],
            "ours": [_plain(value) for value in rows["ours"]],
            "95 % interval": _spans(rows["low"], rows["high"]),
            "predicted": _spans(rows["predicted_low"], rows["predicted_high"]),
        }
    )
    caption = f"Printed and computed: {figures.provenance(tables)}"
    formats: dict[str, Any] = {"ρ": "g"}
    return figures.show_table(shown, caption, **formats)


def in_words(key: str) -> str:
    """Say what a played number is, given its key from `cobandit.companion.paper.predictive.played_key`.

    Examples
    --------
    >>> in_words("gsm8k-full-set-200-CoPSI-f1-declared")
    'F1, CoPSI, ρ = 200 (full set)'
    """
    run, rho, method, quantity = key.removesuffix("-declared").rsplit("-", 3)
    experiment = run.partition("-")[2].replace("-", " ")
    name = {"f1": "F1"}.get(quantity, quantity.replace("_", " "))
    return f"{name}, {figures.method_label(method)}, ρ = {rho} ({experiment})"


def _about(row: dict[Any, Any]) -> str:
    """What a number of the ledger is about."""
    versus = f" against {figures.method_label(row['against'])}" if isinstance(row["against"], str) else ""
    charged = f", {row['costs']} costs" if isinstance(row["costs"], str) else ""
    return f"{row['quantity'].replace('_', ' ')}, {figures.method_label(row['method'])}{versus}{charged}"


def _spans(low: pd.Series, high: pd.Series) -> list[str]:
    return ["" if a != a else f"{_plain(a)} to {_plain(b)}" for a, b in zip(low, high, strict=True)]


def _plain(value: float) -> str:
    """Four digits without an exponent."""
    return "–" if value != value else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def claims_about(cells: pd.DataFrame, caption: str, *experiments: str) -> Styler:
    """Table of the orderings that the paper states about some experiments, each with its verdict.

    Parameters
    ----------
    cells : DataFrame
        As for `next_to_paper`.
    caption : str
    *experiments : str
    """
    found = paper.verdicts(cells)
    rows = [(c.says, found[c.key]) for c in paper.claims() if c.experiment in experiments]
    return figures.show_table(pd.DataFrame(rows, columns=["the paper says", "verdict"]), caption)
