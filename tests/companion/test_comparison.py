"""Pages show the paper's printed values, and none for other tables."""

import matplotlib.pyplot as plt
import pandas as pd

from companion.pages import comparison


def test_crosses_mark_printed_values_and_bars_predictions():
    points = comparison.printed_points(
        "piqa", "efficiency_regret", "online", "trajectory"
    )
    values = points.set_index("method")["value"]

    # Section 5.2 before the appendix
    assert (values["CoHVUCB"], values["HVUCB"]) == (1097.75, 2179.81)
    ends = {"predicted_low": [905.0], "predicted_high": [1095.0]}
    predicted = pd.DataFrame(
        ends, index=[points.set_index("method").loc["CoHVUCB", "key"]]
    )

    # what is used is not predicted
    for known, bars in ((None, []), (predicted, [[905.0, 1095.0]])):
        ax = plt.subplots()[1]
        comparison.mark_printed(ax, points, known)
        lines = [
            (list(line.get_xdata()), list(line.get_ydata())) for line in ax.get_lines()
        ]
        assert sorted(y for x, y in lines if x == [32.0]) == [
            [value] for value in sorted(values)
        ]
        assert [y for x, y in lines if len(x) == 2] == bars
        labels = ["the paper's value", *["predicted, 95 %"] * len(bars)]
        assert ax.get_legend_handles_labels()[1] == labels

    plt.close("all")


def test_nothing_is_printed_about_other_tables():
    assert comparison.printed_points("mine", "efficiency_regret", "online").empty
