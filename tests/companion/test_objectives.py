"""More objectives are the same arms with more of their rows, and the cost as one more."""

import numpy as np
import pytest

from cobandit.companion import objectives
from cobandit.errors import CobanditError


@pytest.mark.slow
def test_more_objectives_are_the_first_ones_and_the_cost(synthetic):
    for d in (1, 2, 3):
        table = objectives.with_cost_objective(synthetic, d)
        assert table.objectives == ("accuracy", "efficiency", "frugality")[:d]
        assert (table.costs == synthetic.costs).all() and table.configs == synthetic.configs
        assert table.means[:, : min(d, 2)] == pytest.approx(synthetic.means[:, : min(d, 2)])
    frugality = objectives.with_cost_objective(synthetic, 3).means[:, 2]
    assert np.argmax(frugality) == np.argmin(synthetic.costs)
    with pytest.raises(CobanditError, match="n_objectives is 4: the table gives at most 3"):
        objectives.with_cost_objective(synthetic, 4)


def test_problems_of_fewer_objectives_have_the_same_arms():
    found = objectives.by_objectives(4, 8, 4, rho=30, replications=5, seed=1)
    assert found.groupby("problem")["front"].apply(lambda own: own.is_monotonic_increasing).all()
    assert found["error"].between(0, 1).all() and found["f1"].between(0, 1).all()
