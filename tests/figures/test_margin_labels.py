"""Labels at the margin: each is joined to its own point, none overlaps another."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from companion.figures.margin_labels import label_at_margin


def test_labels_touch_their_points_and_do_not_overlap():
    points = np.array([[0.35, 0.0], [0.15, 0.102], [0.2, 0.07], [0.25, 0.0]])
    names = ["a", "b", "c", "d"]
    figure, ax = plt.subplots(figsize=(7.2, 4.4))
    ax.scatter(*points.T)

    label_at_margin(ax, points, names)
    figure.draw_without_rendering()

    assert {label.get_text(): tuple(label.xy) for label in ax.texts} == dict(
        zip(names, map(tuple, points), strict=True)
    )
    boxes = sorted(label.get_window_extent().intervaly.tolist() for label in ax.texts)
    assert all(low[1] <= high[0] for low, high in pairwise(boxes))
    plt.close(figure)
