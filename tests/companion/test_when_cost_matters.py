"""Random problems by their properties, their leaders, and open choices."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit.testing.small_tables import table_of
from companion.pages import regions, sensitivity
from companion.paper import experiments
from companion.proofs.known_arms import random_arms
from companion.stored import results


@pytest.mark.slow
@examples(40)
@given(
    st.integers(0, 50),
    st.integers(3, 40),
    st.floats(1, 200),
    st.floats(-1, 1),
    st.integers(1, 5),
)
def test_costs_have_the_requested_ratio(number, n_arms, ratio, tau, n_objectives):
    arms = random_arms(number, n_arms, ratio, tau, n_objectives=n_objectives)
    problem = arms.problem
    costs = arms.rows[:, 0]
    assert problem.costs.max() / problem.costs.min() == pytest.approx(ratio)
    assert costs.max() == pytest.approx(1) and costs.min() == pytest.approx(
        arms.cost_ratio
    )
    assert problem.means.shape == (n_arms, n_objectives)
    same = random_arms(number, n_arms, 7.0, -tau, n_objectives=n_objectives).problem
    # only the costs depend on ratio and dependence
    assert (same.means == problem.means).all()


@pytest.mark.slow
@pytest.mark.parametrize("tau", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_mean_dependence_is_the_requested_one(tau):
    """A mean over 80 problems is within five standard errors."""
    problems = [random_arms(n, 30, 10, tau).problem for n in range(80)]
    observed = [
        stats.spearmanr(entry.costs, entry.hypervolume).statistic for entry in problems
    ]
    expected = 6 / np.pi * np.arcsin(tau / 2)
    assert (
        abs(np.mean(observed) - expected) < 5 * np.std(observed) / np.sqrt(80) + 0.02
    )  # 30 ranks, not infinitely many


GOOD = {"number": 0, "n_arms": 8, "cost_ratio": 10.0, "dependence": 0.0}


@pytest.mark.parametrize(
    ("wrong", "argument"), [({"cost_ratio": 0.5}, "costs"), ({"n_arms": 1}, "n_arms")]
)
def test_invalid_properties_are_refused(wrong, argument):
    with bad_argument("out-of-range", argument):
        random_arms(**GOOD | wrong)


def test_dependence_beyond_one_is_refused():
    with pytest.raises(ValueError, match=r"^math domain error$"):
        random_arms(**GOOD | {"dependence": 1.5})


@pytest.mark.parametrize("selection", regions.METHODS)
@pytest.mark.slow
def test_part_matches_replays_of_the_same_rows(selection, monkeypatch):
    """Kernels on arms and replays of the same rows have exactly the same loss."""
    monkeypatch.setattr(regions, "PROBLEMS", 2)
    part = regions.part(selection, 10, 0.5, 8)
    arms = random_arms(1, 8, 10, 0.5)
    groups = np.split(arms.rows, arms.offsets[1:-1])
    observed = [
        [float(c) for c in (group[:, 0].min(), group[:, 0].max())] for group in groups
    ]
    table = table_of([group.tolist() for group in groups], profiling_costs=observed)
    budgets = regions.BUDGETS[selection]
    methods = regions.METHODS[selection]
    replay = cb.replay_online if selection == "online" else cb.replay_identification
    runs = replay(
        table, list(methods.values()), budgets, 2 * regions.REPLICATIONS, regions.SEED
    )
    names = {(method.name, method.options): name for name, method in methods.items()}
    runs["name"] = [
        names[pair] for pair in zip(runs["method"], runs["options"], strict=True)
    ]
    if selection == "online":
        maximum = table.problem.efficiency.max() * runs["budget"] / table.cost_range[1]
        runs["loss"] = (runs["standard_regret"] / maximum).fillna(1.0)
    else:
        runs["loss"] = (1 - runs["f1"]).fillna(1.0)

    runs = runs[runs["replication"] >= regions.REPLICATIONS]  # those of problem 1
    expected = runs.groupby(["rho", "name"])["loss"].mean()
    losses = part[part["problem"] == 1].set_index(["rho", "name"])["loss"]
    pd.testing.assert_series_equal(
        losses.sort_index(), expected.sort_index(), rtol=1e-9, check_names=False
    )


def test_insufficient_budget_loses_everything(monkeypatch):
    monkeypatch.setattr(regions, "PROBLEMS", 1)
    monkeypatch.setitem(regions.BUDGETS, "identification", (1,))
    part = regions.part("identification", 100, 0.0, 8).set_index("name")
    assert part.loc["CoPSI", "loss"] == 1 and np.isnan(part.loc["CoPSI", "strict"])
    assert part.loc["Uniform", "loss"] < 1


@pytest.mark.slow
def test_every_cell_of_the_map_is_stored():
    stored = results.read_result("regions")
    cells = stored.groupby(["selection", "cost_ratio", "dependence", "n_arms"])
    assert len(cells) == len(regions.parts()) and stored["loss"].between(-0.2, 1).all()
    assert set(stored["name"]) == {
        name for methods in regions.METHODS.values() for name in methods
    }


def made(losses, **cell):
    """Rows of one cell from the losses of each method by problem."""
    at = {
        "selection": "online",
        "cost_ratio": 10.0,
        "dependence": 0.0,
        "n_arms": 8,
        "rho": 4.0,
    } | cell
    return pd.DataFrame(
        [
            at | {"name": name, "problem": problem, "loss": loss}
            for name, entry in losses.items()
            for problem, loss in enumerate(entry)
        ]
    )


def test_decisions_pool_cells_by_problem():
    """Two cells of one class share problems, so that there are three pairs."""
    losses = {"a": [0.2, 0.4, 0.3], "b": [0.3, 0.5, 0.4], "c": [0.1, 1.0, 0.2]}
    combined = pd.concat(
        [made(losses, cost_ratio=30.0), made(losses, cost_ratio=100.0)]
    )
    row = regions.tabulate_leaders(combined, "online").iloc[0]
    assert (row["costs"], row["quality"], row["leader"]) == (
        "20 or more",
        "no clear order",
        "a",
    )
    assert row["level"] == ("c",)  # b is always 0.1 worse, c is worse by chance
    assert row.equals(
        regions.tabulate_leaders(made(losses, cost_ratio=30.0), "online").iloc[0]
    )


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
    row = regions.tabulate_leaders(cells, "online").iloc[0]
    assert (row["costs"], row["quality"]) == words


@pytest.mark.slow
def test_decision_table_shows_where_cost_awareness_does_not_pay():
    """Rows with equal costs and mild cost ratios are led by HV-UCB."""
    decided = regions.tabulate_leaders(results.read_result("regions"), "online")
    leaders = decided.set_index(["costs", "quality", "rho"])["leader"]
    dearer = "better always costs more"
    for row in (
        ("equal (below 2)", "any", 4.0),
        ("2 to 5", dearer, 4.0),
        ("2 to 5", dearer, 64.0),
    ):
        assert leaders[row] == "HV-UCB"
    assert leaders["2 to 5", "no clear order", 4.0] == "CoHV-UCB"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0.01, 1))
def test_worst_mean_matches_brute_force(values, share):
    worst = sorted(values, reverse=True)[: int(np.ceil(share * len(values)))]
    assert sensitivity.worst_mean(values, share) == pytest.approx(np.mean(worst))
    assert sensitivity.worst_mean(values, 1.0) == pytest.approx(np.mean(values))


@pytest.mark.slow
def test_choices_match_replays():
    """The default is the replay itself, and an ineffective choice is at one."""
    table = cb.load("synthetic-24")
    choices = sensitivity.change_choices(table, 4).set_index("what")

    # CoPSI cannot run at the smallest budget
    assert len(choices) == 13 and "F1" not in set(choices["quantity"])
    regret = cb.replay_online(table, sensitivity.PAPER, sensitivity.RHO, 4)[
        "efficiency_regret"
    ].mean()
    for remark in ("A1: α = 1", "A2: λ of mean costs", "A4: the crossing pull counts"):
        assert choices.loc[remark, "default"] == pytest.approx(regret)
    assert choices.loc["A4: the crossing pull counts", "other"] >= regret
    is_larger = choices.loc["A9: against ν*(B + 1)", ["other", "default"]]
    assert is_larger["other"] - is_larger["default"] == pytest.approx(
        table.problem.efficiency.max()
    )
    assert choices.loc["A13: radii tuned here", "high"] < 1


@pytest.mark.slow
def test_wider_radii_protect_the_worst_runs_and_cost_on_average():
    radii = sensitivity.widen_radii(cb.load("synthetic-24"), 64, 40).set_index("radius")
    assert (radii["worst"] >= radii["mean"]).all() and (
        radii["mean_low"] <= radii["mean"]
    ).all()
    assert radii.loc["s = 1 (theory)", "mean"] > radii.loc["s = .1", "mean"]


@pytest.mark.slow
def test_redrawn_questions_widen_the_intervals():
    table = cb.load("piqa-small")
    spread = sensitivity.draw_again(
        experiments.summary(table, 0.05), [table], redraws=3
    )
    assert spread[["method", "against"]].to_numpy().tolist() == [
        ["CoHVUCB", "HVUCB"],
        ["CoHVUCB", "AccuracyCostUCB"],
        ["CoHVUCB", "UniformAllocation"],
        ["CoPSI", "PSISR"],
        ["CoPSI", "UniformIdentification"],
    ]
    assert (spread["least"] < spread["most"]).all()


@pytest.mark.slow
def test_dividing_pays_from_its_cost_ratio_on():
    """Check the page's first lines by differences of two standard errors."""
    outcomes = results.read_result("regions").query("selection == 'online'")
    cell = ["cost_ratio", "dependence", "n_arms"]
    lost = outcomes.pivot_table(
        index=[*cell, "rho", "problem"], columns="name", values="loss"
    )
    gained = (lost["HV-UCB"] - lost["CoHV-UCB"]).groupby(cell).agg(["mean", "sem"])
    pays = (gained["mean"] > 2 * gained["sem"]).unstack("cost_ratio")  # noqa: PD010 - nothing twice

    # once it pays, it pays at every larger spread
    assert (pays == pays.cummax(axis=1)).all(axis=None)
    from_on = pays.idxmax(axis=1)

    # the better configurations always cost more
    dearer = from_on.xs(1.0, level="dependence")
    assert dearer.to_dict() == {8: 10, 24: 10, 72: 30}
    assert set(from_on.drop(1.0, level="dependence")) == {3}
    assert (gained["mean"].xs(1.0, level="cost_ratio") < 0).all()
