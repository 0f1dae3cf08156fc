"""Functions of pages on a reader's table, and the shapes of test tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobandit as cb
from companion.pages import own_table, replay_extent
from companion.paper import experiments
from companion.stored.races import race_table
from tests.support.table_shapes import SHAPES, save_shape


@settings(max_examples=40)
@given(st.lists(st.text("ab$ я模", max_size=60), max_size=9), st.integers(12, 40))
def test_short_names_fit_and_differ(names, most):
    short = own_table.short_names(names, most)
    assert all(len(name) <= most for name in short)
    assert len(set(short)) == len(names)


@pytest.mark.parametrize(
    "dataset, own",
    [([], False), (None, False), ((), False), ("mine.csv", True), (["gsm8k"], True)],
)
def test_only_the_default_is_not_own(dataset, own):
    assert own_table.is_own(dataset, default=[]) is own


@pytest.mark.parametrize(
    "fit", [replay_extent.fit_online, replay_extent.fit_identification]
)
def test_slow_tables_have_fewer_replays_and_a_note(fit):
    wanted = [200, 1000, 5000]
    replications = 2000
    easy = fit([1.0, 1.0], wanted, replications, methods=1)
    assert easy == (wanted, replications) and not easy.say_less(wanted, replications)

    hard = fit(np.geomspace(1e-6, 1, 150), wanted, replications, methods=5)
    assert hard.rho[0] >= 2 and replay_extent.FEWEST <= hard.replications < replications
    assert f"{hard.replications:,}" in hard.say_less(wanted, replications)


def test_replays_fit_into_their_seconds():
    costs = np.geomspace(1e-3, 1, 40)
    wanted = [32, 256]
    extent = replay_extent.fit_online(costs, wanted, 100, methods=5)
    pulls = extent.replications * sum(extent.rho) * costs.sum() / costs.min()
    assert 5 * replay_extent.PULL * pulls <= replay_extent.SECONDS * (1 + 1e-9)


@pytest.mark.slow
def test_any_table_is_raced_and_reductions_are_reported():
    table = SHAPES["four-objectives"]()
    raced = race_table(table, orders=4)
    assert {*zip(raced["tolerance"], raced["certified"], strict=True)} == {
        (tolerance, certified)
        for tolerance in (0.0, 0.02, 0.05)
        for certified in (False, True)
    }
    assert raced["share"].between(0, 1).all() and (raced["runs"] == 4).all()
    message = own_table.describe_races(raced, 50)
    assert (
        "0, 0.02 and 0.05" in message
        and "4 random orders" in message
        and "instead of 50" in message
    )
    assert "instead of" not in own_table.describe_races(raced, 4)
    assert replay_extent.fit_races(table, 50) == 50
    assert (
        replay_extent.FEWEST_ORDERS
        <= replay_extent.fit_races(SHAPES["wide"](), 50)
        < 50
    )


@pytest.mark.slow
def test_slow_tables_replay_less_of_the_paper_and_report_it():
    far = experiments.fit_extent(SHAPES["millionfold"]())
    assert not far.online and f"{far.evaluations:,.0f}" in far.say_less(100)
    wide = experiments.fit_extent(SHAPES["widest"](), SHAPES["two"]())
    assert (
        wide.online and wide.scale < 0.2 and " 16 replications " in wide.say_less(100)
    )

    easy = SHAPES["two"]()
    assert not experiments.fit_extent(easy).say_less(100)
    for online, extra in ((True, {"online", "trajectory"}), (False, set())):
        cells = experiments.summary(easy, scale=0.02, online=online)
        assert {*cells["experiment"]} == {
            "identification",
            "full-set",
            "stochastic",
        } | extra


@pytest.mark.slow
def test_shapes_match_their_names(tmp_path):
    tables = {
        name: make() for name, make in SHAPES.items() if name not in ("wide", "widest")
    }
    assert tables["two"].n_arms == 2 and tables["four-objectives"].n_objectives == 4
    assert len(set(tables["holes"].n_instances)) > 1 and tables["free"].n_free > 0
    assert (
        tables["all-front"].problem.pareto_mask.all()
        and tables["one-front"].problem.pareto_mask.sum() == 1
    )
    assert tables["equal-costs"].cost_range == (1, 1)
    low, high = tables["millionfold"].cost_range
    assert high / low > 1e6
    assert min(map(len, tables["long-names"].configs)) >= 80
    assert (
        cb.read(save_shape("ties", tmp_path)).means.tolist()
        == tables["ties"].means.tolist()
    )
