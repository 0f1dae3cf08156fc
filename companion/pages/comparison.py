"""Marks for the paper's values, and for our predictions of these values, in figures."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from cobandit import figures
from companion import paper


def printed_points(dataset: str, quantity: str, *experiments: str) -> pd.DataFrame:
    """Return the values of a quantity that the paper prints, by method and budget.

    Parameters
    ----------
    dataset : str
        ``"gsm8k"`` or ``"piqa"``. For another name, the result is empty.
    quantity : str
        Quantity, such as ``"efficiency_regret"``.
    *experiments : str
        Experiments, such as ``"online"`` and ``"trajectory"``. If several print a
        value, the first one is used.

    Returns
    -------
    DataFrame
        ``method``, ``rho``, ``value`` and ``key``, the key of the printed number.

    Examples
    --------
    >>> points = printed_points("gsm8k", "efficiency_regret", "online", "trajectory")
    >>> points["method"].tolist()
    ['UniformAllocation', 'CoHVUCB', 'AccuracyCostUCB', 'HVUCB']
    """
    frame = paper.as_frame()
    matches = (
        (frame["dataset"] == dataset)
        & (frame["quantity"] == quantity)
        & frame["method"].notna()
    )
    frame = frame[matches & frame["operation"].isna() & (frame["costs"] != "realised")]
    points = pd.concat(
        [frame[frame["experiment"] == experiment] for experiment in experiments]
    )
    return points.drop_duplicates(["method", "rho"])[["method", "rho", "value", "key"]]


def mark_printed(
    ax: Axes, points: pd.DataFrame, predicted: pd.DataFrame | None = None
) -> None:
    """Mark printed values by crosses, and our predictions of them by bars.

    The x axis is the budget.

    Parameters
    ----------
    ax : Axes
    points : DataFrame
        Result of `printed_points`.
    predicted : DataFrame, optional
        Result of `companion.stored.results.predict_printed`. Bars show its 95 %
        intervals.
    """
    cross: dict[str, Any] = {"ls": "", "marker": "x", "ms": 8, "mew": 2, "zorder": 3}
    for number, point in enumerate(points.to_dict("records")):
        color = figures.method_style(point["method"])["color"]
        label = None if number else "the paper's value"
        ax.plot([point["rho"]], [point["value"]], color=color, label=label, **cross)

    predictions = (
        points[:0] if predicted is None else points.join(predicted, on="key").dropna()
    )
    bar: dict[str, Any] = {
        "lw": 6,
        "alpha": 0.35,
        "solid_capstyle": "butt",
        "zorder": 2.5,
    }

    # used values have no prediction, because the reconstruction is fitted to them
    for number, point in enumerate(predictions.to_dict("records")):
        color = figures.method_style(point["method"])["color"]
        label = None if number else "predicted, 95 %"
        ends = [point["predicted_low"], point["predicted_high"]]
        ax.plot([point["rho"]] * 2, ends, color=color, label=label, **bar)


def describe_key(key: str) -> str:
    """Describe a number by its quantity, method, budget and experiment.

    ``key`` is the key of the number, from `companion.paper.predictive.played_key`.

    Examples
    --------
    >>> describe_key("gsm8k-full-set-200-CoPSI-f1-declared")
    'F1, CoPSI, ρ = 200 (full set)'
    """
    run, *_ = _split_key(key)
    experiment = run.partition("-")[2].replace("-", " ")
    return f"{name_number(key)} ({experiment})"


def name_number(key: str) -> str:
    """Describe a number by its quantity, method and budget.

    ``key`` is the key of the number, as in `describe_key`.

    Examples
    --------
    >>> name_number("gsm8k-full-set-200-CoPSI-f1-declared")
    'F1, CoPSI, ρ = 200'
    """
    _, rho, method, quantity = _split_key(key)
    name = {"f1": "F1"}.get(quantity, quantity.replace("_", " "))
    return f"{name}, {figures.method_label(method)}, ρ = {rho}"


def _split_key(key: str) -> list[str]:
    """Split a key into data set with experiment, rho, method and quantity."""
    return key.removesuffix("-declared").rsplit("-", 3)
