"""What a page sets next to its own results is what the paper prints, and nothing for other tables."""

import matplotlib.pyplot as plt
import pandas as pd

from cobandit.companion import comparison


def test_rings_stand_at_the_printed_values():
    points = comparison.printed_points("piqa", "efficiency_regret", "online", "trajectory")
    values = points.set_index("method")["value"]
    assert (values["CoHVUCB"], values["HVUCB"]) == (1097.75, 2179.81)  # Section 5.2 before the appendix
    ax = plt.subplots()[1]
    comparison.mark_printed(ax, points)
    drawn = {(*line.get_xdata(), *line.get_ydata()) for line in ax.get_lines()}
    assert drawn == {(32.0, value) for value in values}
    assert ax.get_legend_handles_labels()[1] == ["the paper's value"]
    plt.close("all")


def test_bars_stand_at_what_is_predicted():
    points = comparison.printed_points("piqa", "efficiency_regret", "online", "trajectory")
    keys = points.set_index("method")["key"]
    ends = {"predicted_low": [905.0], "predicted_high": [1095.0]}
    predicted = pd.DataFrame(ends, index=[keys["CoHVUCB"]])
    ax = plt.subplots()[1]
    comparison.mark_printed(ax, points, predicted)
    bars = [list(line.get_ydata()) for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert bars == [[905.0, 1095.0]]  # what is used is not predicted
    assert "predicted, 95 %" in ax.get_legend_handles_labels()[1]
    plt.close("all")


def test_nothing_is_printed_about_other_tables():
    assert comparison.printed_points("mine", "efficiency_regret", "online").empty
