"""What the paper says in words about its tables, on tables made so that it holds or fails."""

import numpy as np
import pytest

from cobandit.companion.paper import remarks
from cobandit.companion.paper.remarks import judge_remarks
from cobandit.tables import EvaluationTable


def table(name, means, costs, instances=2000):
    """Two scores, each 1 on the first instances and else 0, at constant costs."""
    place = np.arange(instances)[:, None]
    scores = 1.0 * (place < instances * np.array(means)[:, None])
    about = {"name": name, "kind": "synthetic", "profiling": instances // 2}
    return EvaluationTable.from_arrays(scores, costs, **about)


@pytest.fixture(scope="module")
def tables():
    """Equal costs and arms far apart; and costs that turn the order round, arms within a hair."""
    far = [(0.9, 0.9), (0.5, 0.5), (0.1, 0.1)]
    near = [(0.52, 0.52), (0.51, 0.51), (0.5, 0.5)]
    return table("gsm8k", far, [10.0] * 3), table("piqa", near, [30.0, 20.0, 10.0])


def renamed(of, name):
    return EvaluationTable.from_records(of.rows, of.card.model_copy(update={"name": name}))


@pytest.mark.slow
def test_remarks_hold_where_they_are_true_and_fail_on_the_tables_exchanged(tables):
    held = judge_remarks(tables)["verdict"]
    assert (held == "holds").all(), held
    exchanged = judge_remarks([renamed(tables[0], "piqa"), renamed(tables[1], "gsm8k")])
    failed = exchanged["verdict"].drop(["same-estimate", "averages-not-monotone", "poor-arms-avoided"])
    assert (failed == "fails").all(), failed


def test_measures(tables):
    gsm8k, piqa = tables
    assert remarks.best_of_all(gsm8k) == 1
    efficiency = np.array([0.52, 0.51, 0.5]) ** 2 / [30, 20, 10]
    assert remarks.best_of_all(piqa) == pytest.approx(efficiency[0] / efficiency[2], rel=0.05)
    assert (remarks.alignment(gsm8k), remarks.alignment(piqa)) == (1, -1)
    assert (remarks.cost_range(gsm8k), remarks.cost_range(piqa)) == (1, 3)
    assert (remarks.near_boundary(gsm8k), remarks.near_boundary(piqa)) == (0, 1)


def test_remarks_about_runs_fail_where_they_are_false():
    """A worthless arm that comes first is left at once and for good; arms that are alike are not avoided."""
    plain = table("gsm8k", [(0.0, 0.0), (1.0, 1.0)], [10.0] * 2)
    alike = table("piqa", [(0.5, 0.5), (0.499, 0.499), (0.498, 0.498)], [10.0] * 3)
    assert remarks.rising_average(plain) == 0 < remarks.rising_average(alike)
    assert remarks.pulls_of_poor_arms(plain) < 0.1 and remarks.pulls_of_poor_arms(alike) > 0.5
    rises, avoids = (remarks.RULES[key][1] for key in ("averages-not-monotone", "poor-arms-avoided"))
    assert not rises(0, 0.5) and rises(0.1, 0)
    assert not avoids(0.1, 0.5) and avoids(0.1, 0.2)
