"""The paper's experiments, where a run has nothing to count yet."""

import numpy as np
import pytest

import cobandit as cb
from cobandit.companion.paper import experiments


@pytest.mark.slow
def test_a_run_without_an_average_yet_does_not_count():
    """On SWE-bench a first evaluation may cost more than the budget spent so far."""
    paths = experiments.play("trajectory", cb.load("synthetic-24"), replications=2)
    first = paths["spent"].min()
    paths.loc[(paths["spent"] == first) & (paths["replication"] == 0), "moving_average"] = np.nan
    cells = experiments.trajectory_cells(paths, points=2)
    cells = cells[(cells["quantity"] == "moving_average") & cells["against"].isna()]
    assert cells.groupby(cells["spent"] == first)["runs"].unique().map(list).to_dict() == {
        False: [2],
        True: [1],
    }
