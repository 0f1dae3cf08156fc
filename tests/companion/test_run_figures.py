"""Pictures of single runs: the ruler of the budget, phases with ghosts."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Rectangle

import cobandit as cb
from companion.figures.run_figures import draw_phase, draw_ruler, spent_by_phase
from companion.paper.examples import IDENTIFICATION, ONLINE


def test_only_the_pull_beyond_the_budget_is_dashed():
    figure = draw_ruler(ONLINE, {"printed": "abcbcbaba", "fits": "abcbcbab"})
    blocks = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    dashed = [block for block in blocks if block.get_linestyle() == "--"]
    assert len(blocks) == 17
    assert [(block.get_x(), block.get_width()) for block in dashed] == [(5.0, 1.0)]
    assert figure.axes[0].get_xlim()[1] > 6
    plt.close(figure)


@pytest.fixture
def finder():
    policy = cb.CoPSI(IDENTIFICATION.costs, IDENTIFICATION.budget, n_objectives=2)
    cb.play(policy, IDENTIFICATION.table())
    return policy


def draw(finder, place):
    ax = plt.subplots()[1]
    shares = spent_by_phase(finder.phases, IDENTIFICATION.costs) / finder.budget
    front = IDENTIFICATION.table().problem.pareto_mask
    labels = ("first", "second")
    draw_phase(finder.phases, place, "abc", labels, shares, front=front, ax=ax)
    plt.close(ax.figure)
    return ax


def test_phases_share_their_axes_and_keep_removed_arms(finder):
    first = draw(finder, 0)
    second = draw(finder, 1)
    assert first.get_xlim() == second.get_xlim()
    assert first.get_ylim() == second.get_ylim()
    assert [text.get_text() for text in first.texts] == ["a", "b", "c"]
    assert [text.get_text() for text in second.texts] == ["a", "c", "b"]


def test_the_bar_is_the_share_of_the_budget(finder):
    assert np.isclose(spent_by_phase(finder.phases, IDENTIFICATION.costs)[-1], 24)
    (bar,) = draw(finder, 1).child_axes
    assert bar.patches[0].get_width() == 0.6
    assert bar.texts[0].get_text() == "60 % of the budget spent"
