"""Scaling: what is timed is what runs, growth is measured rightly, more objectives are the same rows."""

import json

import numpy as np
import pytest

import cobandit as cb
from cobandit.companion import scaling
from cobandit.errors import CobanditError
from cobandit.tables.catalogue import data_directory


@pytest.mark.parametrize("front", [3, 10])
def test_kernel_and_class_return_the_front(front):
    run = scaling.Front(40, 200, front)
    truth = np.flatnonzero(cb.pareto_mask(run.means))
    assert np.flatnonzero(run.compiled()).tolist() == run.readable().tolist() == truth.tolist()


def test_a_run_spends_its_budget():
    run = scaling.Online(50, 2, rho=4)
    assert run.compiled(3) > 3 * 50
    assert run.readable(most=60) == 60


def test_memory_of_a_run_is_linear_in_arms():
    for make in (lambda K: scaling.Online(K, 2, rho=4), lambda K: scaling.Front(K, 200)):
        (table, run), (more, larger) = (make(K).megabytes() for K in (1024, 4096))
        assert more == pytest.approx(4 * table, rel=0.01) and larger == pytest.approx(4 * run)


def test_a_pull_is_timed_with_the_radii_that_were_asked_for():
    wider = scaling.Online(50, 2, rho=40, scales=scaling.WIDER)
    assert wider.policy().reward_scale == 0.1 and scaling.Online(50, 2, rho=40).policy().reward_scale == 0.01
    assert 0 < scaling.pull_seconds(50, 20_000, scales=scaling.WIDER) < 1e-3


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_exponent_of_a_power_with_noise(power):
    sizes = np.array([10, 100, 1000, 10_000])
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, 4))
    slope, error = scaling.exponent(sizes, 3 * sizes**power * noise)
    assert abs(slope - power) < 5 * max(error, 1e-9) and error < 0.05


def test_more_objectives_are_the_first_ones_and_the_cost(synthetic):
    for d in (1, 2, 3):
        table = scaling.with_cost_objective(synthetic, d)
        assert table.objectives == ("accuracy", "efficiency", "frugality")[:d]
        assert (table.costs == synthetic.costs).all() and table.configs == synthetic.configs
        assert table.means[:, : min(d, 2)] == pytest.approx(synthetic.means[:, : min(d, 2)])
    frugality = scaling.with_cost_objective(synthetic, 3).means[:, 2]
    assert np.argmax(frugality) == np.argmin(synthetic.costs)
    with pytest.raises(CobanditError, match="n_objectives is 4: the table gives at most 3"):
        scaling.with_cost_objective(synthetic, 4)


def test_problems_of_fewer_objectives_have_the_same_arms():
    found = scaling.by_objectives(4, 8, 4, rho=30, replications=5, seed=1)
    assert found.groupby("problem")["front"].apply(lambda own: own.is_monotonic_increasing).all()
    assert found["error"].between(0, 1).all() and found["f1"].between(0, 1).all()


def test_stored_timings_keep_the_promises():
    """Measured by tests/benchmarks/arms.py: what the book says of growth rests on this file."""
    stored = json.loads((data_directory() / "timings.json").read_text(encoding="utf-8"))
    for radii in ("kernel_pull", "kernel_pull_wider"):
        pull = {row["K"]: row[radii] for row in stored["online"]}
        assert pull[100_000] <= 4 * pull[100]
    runs = {(row["K"], row["front"]): row["kernel_run"] for row in stored["identification"]}
    assert runs[10_000, 30] < 300
    sizes = [K for K, front in runs if front == 30 and K >= 300 and K != 2000]
    assert scaling.exponent(sizes, [runs[K, 30] for K in sizes])[0] < 2.2
    assert {100, 300, 1000} <= {row["K"] for row in stored["identification"] if "class_run" in row}
