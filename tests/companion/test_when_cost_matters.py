"""Random problems by their properties, the map of who leads, tails."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.strategies import examples

import cobandit as cb
from cobandit.companion.known_arms import random_arms
from cobandit.companion.regions import guidance, maps, winners
from cobandit.companion.regions.tails import tails, worst_mean
from cobandit.companion.regions.traits import Traits, traits
from cobandit.companion.stored import results
from cobandit.errors import CobanditError
from cobandit.testing import table_of


# ----------------------------------------------------------------------------- problems
@pytest.mark.slow
@examples(40)
@given(st.integers(0, 50), st.integers(3, 40), st.floats(1, 200), st.floats(-1, 1), st.integers(1, 5))
def test_costs_have_the_ratio_that_was_asked_for(number, n_arms, ratio, tau, n_objectives):
    arms = random_arms(number, n_arms, ratio, tau, n_objectives=n_objectives)
    problem, costs = arms.problem, arms.rows[:, 0]
    assert problem.costs.max() / problem.costs.min() == pytest.approx(ratio)
    assert costs.max() == pytest.approx(1) and costs.min() == pytest.approx(arms.cost_ratio)
    assert problem.means.shape == (n_arms, n_objectives)
    same = random_arms(number, n_arms, 7.0, -tau, n_objectives=n_objectives).problem
    assert (same.means == problem.means).all()  # only the costs depend on ratio and dependence


@pytest.mark.slow
@pytest.mark.parametrize("tau", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_dependence_is_on_average_what_was_asked_for(tau):
    """A mean over 80 problems of 30 arms; five standard errors, so a sound one fails once in a million."""
    seen = [traits(random_arms(n, 30, 10, tau).problem, 1).dependence for n in range(80)]
    expected = 6 / np.pi * np.arcsin(tau / 2)
    assert (
        abs(np.mean(seen) - expected) < 5 * np.std(seen) / np.sqrt(80) + 0.02
    )  # 30 ranks, not infinitely many


def test_traits_by_hand():
    problem = cb.Problem([[0.9], [0.5], [0.1]], [1.0, 4.0, 2.0])
    assert traits(problem, 5) == Traits(4.0, pytest.approx(-0.5), 3, 5.0)
    assert traits(cb.Problem([[0.9], [0.5]], [1.0, 1.0]), 5).dependence == 0
    table = table_of([[[1.0, 0.25]] * 2, [[2.0, 0.5]] * 2])
    assert traits(table, 3) == Traits(2.0, pytest.approx(1.0), 2, 3.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dependence": 1.5}, "dependence is 1.5"),
        ({"cost_ratio": 0.5}, "cost_ratio is 0.5"),
        ({"n_arms": 1}, "n_arms"),
    ],
)
def test_bad_properties_are_refused(wrong, said):
    with pytest.raises(CobanditError, match=said):
        random_arms(**{"number": 0, "n_arms": 8, "cost_ratio": 10.0, "dependence": 0.0} | wrong)


# ----------------------------------------------------------------------------- the map
@pytest.mark.parametrize("selection", maps.METHODS)
@pytest.mark.slow
def test_a_part_is_what_replays_of_a_table_of_the_same_rows_give(selection, monkeypatch):
    """The map plays kernels on arms; the same rows as a table, replayed, lose exactly the same."""
    monkeypatch.setattr(maps, "PROBLEMS", 2)
    part = maps.part(selection, 10, 0.5, 8)
    arms = random_arms(1, 8, 10, 0.5)
    groups = np.split(arms.rows, arms.offsets[1:-1])
    seen = [[float(c) for c in (own[:, 0].min(), own[:, 0].max())] for own in groups]
    table = table_of([own.tolist() for own in groups], costs_seen=seen)
    budgets = maps.BUDGETS[selection]
    runs = maps.on_table(table, selection, budgets, 2 * maps.REPLICATIONS, maps.SEED)
    runs = runs[runs["replication"] >= maps.REPLICATIONS]  # those of problem 1
    expected = runs.groupby(["rho", "name"])["loss"].mean()
    own = part[part["problem"] == 1].set_index(["rho", "name"])["loss"]
    pd.testing.assert_series_equal(own.sort_index(), expected.sort_index(), rtol=1e-9, check_names=False)


def test_a_budget_that_is_too_small_loses_everything(monkeypatch):
    monkeypatch.setattr(maps, "PROBLEMS", 1)
    monkeypatch.setitem(maps.BUDGETS, "identification", (1,))
    part = maps.part("identification", 100, 0.0, 8).set_index("name")
    assert part.loc["CoPSI", "loss"] == 1 and np.isnan(part.loc["CoPSI", "strict"])
    assert part.loc["Uniform", "loss"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("online", 100, 1.0, 8), ("identification", 3, 0.0, 24)])
def test_stored_parts_are_what_the_code_gives(arguments):
    assert len(results.recompute("regions", *arguments))


@pytest.mark.slow
def test_every_cell_of_the_map_is_stored():
    stored = results.read_result("regions")
    cells = stored.groupby(["selection", "cost_ratio", "dependence", "n_arms"])
    assert len(cells) == len(maps.parts()) and stored["loss"].between(-0.2, 1).all()
    assert set(stored["name"]) == {name for methods in maps.METHODS.values() for name in methods}


# ----------------------------------------------------------------------------- winners
def made(losses, **cell):
    """Rows of one cell from the losses of each method by problem."""
    at = {"selection": "online", "cost_ratio": 10.0, "dependence": 0.0, "n_arms": 8, "rho": 4.0} | cell
    return pd.DataFrame(
        [
            at | {"name": name, "problem": problem, "loss": loss}
            for name, each in losses.items()
            for problem, loss in enumerate(each)
        ]
    )


def test_leader_and_level_by_hand():
    losses = {"a": [0.2, 0.4, 0.3], "b": [0.3, 0.5, 0.4], "c": [0.1, 1.0, 0.2]}
    row = winners.standings(made(losses), maps.CELL).iloc[0]
    assert (row["best"], row["second"], row["margin"]) == ("a", "b", pytest.approx(0.1))
    assert row["level"] == ("a", "c")  # b is always 0.1 worse, c is worse by chance


@pytest.mark.slow
@examples(40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 30))
def test_intervals_are_students_of_the_paired_differences(seed, methods, n):
    losses = pd.DataFrame(np.random.default_rng(seed).random((n, methods)))
    found = winners.paired_differences(losses)
    best = found.index[0]
    assert found["loss"].is_monotonic_increasing and found["loss"].iloc[0] == losses.mean().min()
    for name in found.index[1:]:
        expected = stats.ttest_rel(losses[name], losses[best]).confidence_interval()
        assert (found.loc[name, "low"], found.loc[name, "high"]) == pytest.approx(tuple(expected))


@pytest.mark.slow
def test_two_equal_methods_are_level_nineteen_times_in_twenty():
    """Two of equal mean: the interval misses zero in 2.5 %, at one end; 400 trials, limits at 1e-6."""
    rng = np.random.default_rng(0)
    alone = sum(
        not winners.paired_differences(pd.DataFrame(rng.normal(size=(16, 2))))["level"].iloc[1]
        for _ in range(400)
    )
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], 400, 0.05)  # either of the two may be the lower one
    assert low <= alone <= high


def test_incomplete_losses_are_refused():
    with pytest.raises(CobanditError, match="two or more complete rows"):
        winners.standings(made({"a": [0.2, 0.4], "b": [0.3]}), maps.CELL)


def test_decisions_pool_cells_by_problem():
    """Two cells of one class; the same problems, so that there are three pairs and not six."""
    losses = {"a": [0.2, 0.4, 0.3], "b": [0.3, 0.5, 0.4]}
    both = pd.concat([made(losses, cost_ratio=30.0), made(losses, cost_ratio=100.0)])
    row = winners.decisions(both, "online").iloc[0]
    assert (row["costs"], row["quality"], row["best"]) == ("20 or more", "no clear order", "a")
    one = winners.decisions(made(losses, cost_ratio=30.0), "online").iloc[0]
    assert (row["low"], row["high"]) == (pytest.approx(one["low"]), pytest.approx(one["high"]))
    with pytest.raises(CobanditError, match="no rows for 'identification'"):
        winners.decisions(both, "identification")


@pytest.mark.parametrize(
    ("tau", "ratio", "words"),
    [
        (-0.26, 2.0, ("2 to 5", "better is cheaper")),
        (0.0, 5.0, ("5 to 20", "no clear order")),
        (0.25, 20.0, ("20 or more", "better often costs more")),
        (0.75, 4.9, ("2 to 5", "better always costs more")),
        (1.0, 1.9, ("equal (below 2)", "any")),
    ],
)
def test_classes_of_dependence_and_cost(tau, ratio, words):
    cells = made({"a": [0, 0], "b": [1, 1]}, dependence=tau, cost_ratio=ratio)
    row = winners.decisions(cells, "online").iloc[0]
    assert (row["costs"], row["quality"]) == words
    looked_up = guidance.decision_for(cells, "online", Traits(ratio, tau, 50, 9.0))
    assert looked_up.equals(row)


@pytest.mark.slow
def test_advice_is_that_of_the_nearest_cell():
    cells = [
        made({"a": [0, 0], "b": [1, 1]}, cost_ratio=3.0),
        made({"a": [1, 1], "b": [0, 0]}, cost_ratio=30.0),
    ]
    outcomes = pd.concat(cells)
    for ratio, best in ((1.0, "a"), (9.0, "a"), (10.0, "b"), (1000.0, "b")):  # sqrt(90) = 9.49
        assert winners.nearest_standing(outcomes, "online", Traits(ratio, 0.9, 100, 500.0))["best"] == best
    with pytest.raises(CobanditError, match="no rows for 'identification'"):
        winners.nearest_standing(outcomes, "identification", Traits(3.0, 0.0, 8, 4.0))


@pytest.mark.slow
def test_the_decision_table_does_not_hide_where_cost_awareness_does_not_pay():
    """Equal costs, and mild ones where better always costs more, are rows of their own, led by HV-UCB."""
    stored = results.read_result("regions")
    for at in (Traits(1.0, 0.0, 24, 4.0), Traits(3.0, 1.0, 24, 4.0), Traits(3.0, 1.0, 24, 64.0)):
        assert guidance.decision_for(stored, "online", at)["best"] == "HV-UCB"
    assert guidance.decision_for(stored, "online", Traits(3.0, 0.0, 24, 4.0))["best"] == "CoHV-UCB"


@pytest.mark.slow
def test_each_way_of_advice_loses_what_its_method_loses():
    near, far = {"a": [0.1, 0.1], "b": [0.2, 0.3], "c": [0.4, 0.4]}, {"a": [0.9, 0.9], "b": [0.2, 0.2]}
    outcomes = pd.concat(
        [
            made(near, cost_ratio=5.0),  # the nearest cell: a
            made(far | {"c": [0.1, 0.1]}, cost_ratio=10.0),  # pooled with it: b or c
            made(far | {"c": [0.1, 0.1]}, cost_ratio=100.0),
        ]
    )
    losses = {"a": [0.5, 0.4], "b": [0.2, 0.2], "c": [0.3, 0.4]}
    runs = pd.DataFrame(
        [
            {"rho": 4.0, "replication": replication, "name": name, "loss": loss}
            for name, each in losses.items()
            for replication, loss in enumerate(each)
        ]
    )
    found = guidance.compare_guidance(outcomes, "online", Traits(5.5, 0.0, 9, 1.0), runs).set_index("way")
    assert found["takes"].to_dict() == {"cell": "a", "row": "b", "always": "c"}
    assert found["worse"].to_numpy() == pytest.approx([0.25, 0.0, 0.15])
    assert (found["best"] == "b").all() and found["best_loss"].to_numpy() == pytest.approx(0.2)
    assert found["random"].to_numpy() == pytest.approx((0.25 + 0 + 0.15) / 3)
    expected = stats.ttest_rel(losses["a"], losses["b"]).confidence_interval()
    assert (found.loc["cell", "low"], found.loc["cell", "high"]) == pytest.approx(tuple(expected))


@pytest.mark.slow
def test_one_method_for_all_serves_tables_better_than_the_map_does():
    """What the page `your-data` says of the three ways, on the bundled tables."""
    outcomes = results.read_result("regions")
    tables = [cb.load(name) for name in ("gsm8k", "piqa", "synthetic-24")]
    worse = {}
    for selection, budgets in maps.BUDGETS.items():
        runs = [(table, maps.on_table(table, selection, budgets, 12, 0)) for table in tables]
        found = pd.concat(
            [guidance.compare_guidance(outcomes, selection, traits(t, 1), own) for t, own in runs]
        )
        worse[selection] = found.groupby("way")["worse"].mean()
    assert worse["online"]["always"] < 0.5 * worse["online"][["cell", "row"]].min()
    assert np.ptp(worse["identification"]) < 0.02


def test_an_interval_for_many_cells_at_once_is_wider():
    rows = made({"a": [0.1, 0.2, 0.3, 0.2], "b": [0.2, 0.5, 0.5, 0.3]})
    one, many = (winners.standings(rows, maps.CELL, confidence=c).iloc[0] for c in (0.95, 0.999))
    assert one["level"] == ("a",) and many["level"] == ("a", "b") and one["margin"] == many["margin"]


# ----------------------------------------------------------------------------- tails
@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0.01, 1))
def test_worst_mean_by_brute_force(values, share):
    kept = sorted(values, reverse=True)[: int(np.ceil(share * len(values) * (1 - 1e-9)))]
    assert worst_mean(values, share) == pytest.approx(np.mean(kept))
    assert worst_mean(values, 1.0) == pytest.approx(np.mean(values))


def test_tails_are_ordered_and_inside_their_intervals():
    rng = np.random.default_rng(0)
    runs = pd.DataFrame({"rho": np.repeat([4, 8], 200), "loss": rng.random(400) ** 3})
    found = tails(runs, "loss", ["rho"])
    assert found["rho"].tolist() == [4, 8] and (found["runs"] == 200).all()
    assert (found["median"] < found["q95"]).all() and (found["q95"] < found["worst"]).all()
    for name in ("mean", "median", "q95", "worst"):
        assert found[f"{name}_low"].le(found[name]).all() and found[f"{name}_high"].ge(found[name]).all()
    with pytest.raises(CobanditError, match="at least one"):
        worst_mean([])


def test_from_which_spread_of_costs_dividing_pays():
    """As the page's first lines say, as differences of two standard errors over problems."""
    outcomes = results.read_result("regions").query("selection == 'online'")
    cell = ["cost_ratio", "dependence", "n_arms"]
    lost = outcomes.pivot_table(index=[*cell, "rho", "problem"], columns="name", values="loss")
    gained = (lost["HV-UCB"] - lost["CoHV-UCB"]).groupby(cell).agg(["mean", "sem"])
    pays = (gained["mean"] > 2 * gained["sem"]).unstack("cost_ratio")  # noqa: PD010 - nothing twice
    assert (pays == pays.cummax(axis=1)).all(axis=None)  # once it pays, it pays at every larger spread
    from_on = pays.idxmax(axis=1)
    dearer = from_on.xs(1.0, level="dependence")  # the better configurations always cost more
    assert dearer.to_dict() == {8: 10, 24: 10, 72: 30}
    assert set(from_on.drop(1.0, level="dependence")) == {3}
    assert (gained["mean"].xs(1.0, level="cost_ratio") < 0).all()
