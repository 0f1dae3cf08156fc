"""Limits of logarithmic axes: no decade is empty in all panels that share an axis."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from companion.figures.experiment_figures import SETS, draw_cells
from companion.figures.log_limits import fit_log_axis


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def limits(ax):
    return np.log10(ax.get_ylim())


def test_limits_enclose_lines_narrowly(ax):
    ax.plot([1, 2, 3], [0.2, 0.0, np.nan])
    ax.axhline(0.05)
    fit_log_axis(ax)
    low, high = limits(ax)
    assert np.log10(0.05) - 0.1 < low < np.log10(0.05)
    assert np.log10(0.2) < high < np.log10(0.2) + 0.1


@pytest.mark.parametrize(("band", "shown"), [(0.05, 0.05), (1e-9, 1 / 30), (0.0, 0.1)])
def test_bands_are_cut_below_the_lines(ax, band, shown):
    ax.plot([1, 2], [1.0, 0.1])
    ax.fill_between([1, 2], [1.0, band], [1.0, 0.2])
    fit_log_axis(ax)
    assert limits(ax)[0] == pytest.approx(np.log10(shown), abs=0.1)


def test_smaller_values_are_cut(ax):
    ax.plot([1, 2], [1.0, 1e-30])
    fit_log_axis(ax, lowest=1e-6)
    assert limits(ax)[0] == pytest.approx(-6, abs=0.4)


@pytest.mark.parametrize("values", [[], [0.0], [np.nan]])
def test_panel_without_values_has_an_axis(ax, values):
    ax.plot(values, values)
    fit_log_axis(ax)
    assert ax.get_yscale() == "log"


def test_panels_of_shares_have_one_axis_per_row():
    """One table has errors of 0.1 to 1, and the other of 0.001 to 1."""
    means = {("few", "error"): [1, 0.1], ("many", "error"): [1, 0.001]}
    means |= {("few", "f1"): [0.1, 0.4], ("many", "f1"): [0.2, 0.9]}
    cells = pd.DataFrame(
        {
            "dataset": dataset,
            "quantity": quantity,
            "experiment": SETS[quantity][0][0],
            "method": "CoPSI",
            "against": None,
            "rho": rho,
            "mean": mean,
            "low": mean,
            "high": mean,
        }
        for (dataset, quantity), pair in means.items()
        for rho, mean in zip((10, 100), pair, strict=True)
    )
    figure = draw_cells(cells, SETS, {"few": "few", "many": "many"})
    few, many, left, right = figure.axes
    low, high = limits(many)
    assert few.get_ylim() == many.get_ylim() and 3 < high - low < 3.6
    assert left.get_ylim() == right.get_ylim()
    assert left.get_ylim()[0] < 0.1 and left.get_ylim()[1] > 0.9
    plt.close(figure)
