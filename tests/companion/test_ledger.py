"""The ledger: one row per printed number, verdicts by the stated rule, cells found by coordinates."""

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit.companion import paper
from cobandit.companion.paper import experiments
from cobandit.stats.metrics import proportion_interval

NUMBERS = [n for n in paper.published() if n.role in paper.RESULT_ROLES]


def cells_at(shift, half):
    """A cell for every printed number that is not derived: its own value times 1 + shift, +- half."""
    rows = []
    for number in NUMBERS:
        if number.operation is None:
            mean = number.value * (1 + shift)
            names = ("dataset", "experiment", "quantity", "method", "rho", "costs")
            row = {name: getattr(number, name) for name in names}
            rows.append(row | {"mean": mean, "low": mean - half * mean, "high": mean + half * mean})
    return pd.DataFrame(rows).drop_duplicates(["dataset", "experiment", "quantity", "method", "rho", "costs"])


def test_every_number_of_these_roles_has_one_row():
    rows = paper.ledger(cells_at(0.0, 0.1))
    assert rows["key"].tolist() == [n.key for n in NUMBERS] and rows["key"].is_unique


def test_the_papers_own_numbers_replicate_themselves():
    """Means as printed, with intervals of 1 %: all agree but where the paper contradicts itself."""
    rows = paper.ledger(cells_at(0.0, 0.01))
    assert (rows["verdict"] == "replicated").mean() > 0.97
    assert "cannot be checked" not in set(rows["verdict"])


@pytest.mark.parametrize(
    ("shift", "half", "verdict"),
    [
        (0.05, 0.06, "replicated"),
        (0.05, 0.0340, "consistent"),  # 1.40 half widths away: within sqrt 2
        (0.05, 0.0331, "differs"),  # 1.44 half widths away
        (0.5, 0.04, "differs"),
        (-0.5, 0.04, "differs"),
    ],
)
def test_rule_for_means(shift, half, verdict):
    number = next(n for n in NUMBERS if n.printed == "1097.75")
    rows = paper.ledger(cells_at(shift, half), (number,))
    assert rows["verdict"].tolist() == [verdict]


def test_rule_for_error_probabilities_uses_the_papers_own_count():
    number = next(n for n in NUMBERS if n.key == "gsm8k-identification-5000-CoPSI-error-declared")
    top = proportion_interval(2, 500)[1]
    for mean, verdict in ((top * 0.99, "consistent"), (top * 1.2, "differs")):
        cells = cells_at(0, 0.0).assign(mean=mean, low=mean, high=mean + 1e-9)
        assert paper.ledger(cells, (number,))["verdict"].tolist() == [verdict]


def test_no_cell_cannot_be_checked():
    rows = paper.ledger(cells_at(0.0, 0.1).head(0))
    assert set(rows["verdict"]) == {"cannot be checked"} and rows["ours"].isna().all()


def test_derived_numbers_follow_from_our_means():
    cells = cells_at(0.0, 0.0)
    rows = paper.ledger(cells).set_index("key")
    key = "piqa-online-32-CoHVUCB-vs-UniformAllocation-efficiency_regret-relative_reduction"
    assert rows.loc[key, "ours"] == pytest.approx(1 - 1097.75 / 6538.22)


def test_derived_numbers_take_the_paired_interval():
    """The ratio's interval turns into that of a reduction; without one both means' intervals allow more."""
    key = "piqa-online-32-CoHVUCB-vs-UniformAllocation-efficiency_regret-relative_reduction"
    number = next(n for n in NUMBERS if n.key == key)
    alone = cells_at(0.0, 0.1)
    pair = {name: getattr(number, name) for name in ("dataset", "experiment", "quantity", "method", "rho")}
    pair |= {"against": number.against, "measure": "ratio", "costs": None}
    pair |= {"mean": 1097.75 / 6538.22, "low": 0.16, "high": 0.18}
    paired = pd.concat([alone, pd.DataFrame([pair])], ignore_index=True)
    ours = ["ours", "low", "high"]
    assert paper.ledger(paired, (number,)).loc[0, ours].tolist() == pytest.approx(
        [1 - 1097.75 / 6538.22, 0.82, 0.84]
    )
    wider = paper.ledger(alone, (number,)).loc[0, ours].tolist()
    assert wider[1] < 0.8 and wider[2] > 0.86


def test_a_ratio_without_bounds_cannot_be_checked():
    number = next(n for n in NUMBERS if n.printed == "33.3%")
    names = ("dataset", "experiment", "quantity", "method", "rho", "costs", "against")
    pair = {name: getattr(number, name) for name in names} | {"measure": "ratio"}
    pair |= {"mean": 1.0, "low": 0.0, "high": np.inf}
    cells = pd.concat([cells_at(0.0, 0.1), pd.DataFrame([pair])], ignore_index=True)
    assert paper.ledger(cells, (number,))["verdict"].tolist() == ["cannot be checked"]


@pytest.mark.parametrize(("chosen", "verdict"), [(0.003, "differs"), (0.01, "replicated")])
def test_the_point_that_tuning_chooses_is_the_same_or_not(chosen, verdict):
    """Neither an interval nor the ensemble makes a neighbour on the grid the same point."""
    number = next(n for n in NUMBERS if n.key == "gsm8k-tuning-cost_scale")
    cell = {"dataset": "gsm8k", "experiment": "tuning", "quantity": "cost_scale"}
    cells = pd.DataFrame([cell | {"mean": chosen, "low": chosen, "high": chosen}])
    members = [cells.assign(member=m, mean=x) for m, x in enumerate((0.001, 0.01))]
    rows = paper.ledger(cells, (number,), pd.concat(members))
    assert rows["verdict"].tolist() == [verdict]


def test_results_printed_several_times_count_once():
    rows = paper.ledger(cells_at(0.0, 0.01))
    errors = rows[(rows["quantity"] == "error") & (rows["method"] == "CoPSI") & (rows["dataset"] == "piqa")]
    errors = errors[(errors["rho"] == 5000) & errors["against"].isna()]
    assert len(errors) == 3 and len(set(errors["result"])) == 1
    twice = rows[rows["printed"].isin(["1097.75", "1149.32"])]
    assert len(twice) == 2 and len(set(twice["result"])) == 1
    counts = paper.tally(rows)
    assert counts.drop(columns="numbers").sum().sum() == len(rows.drop_duplicates(["role", "result"]))
    worse = rows.assign(verdict=np.where(rows["printed"] == "1149.32", "differs", "replicated"))
    assert paper.tally(worse)["differs"].sum() == 1


@pytest.mark.slow
def test_the_ensembles_spread_is_split_into_tables_and_replays():
    """Means that differ by no more than their intervals say nothing about the tables."""
    number = next(n for n in NUMBERS if n.printed == "1097.75")
    rng, base = np.random.default_rng(0), cells_at(0.0, 0.1)
    for tables, replays, expected in ((100.0, 1.0, 1.0), (0.0, 20.0, 0.0), (20.0, 20.0, 0.5)):
        half = 1.959964 * replays
        members = []
        for member in range(400):
            mean = 1000 + rng.normal(0, tables) + rng.normal(0, replays)
            members.append(base.assign(member=member, mean=mean, low=mean - half, high=mean + half))
        row = paper.ledger(base, (number,), pd.concat(members)).iloc[0]
        assert row["between"] == pytest.approx(expected, abs=0.15)


@pytest.mark.slow
def test_experiments_meet_the_printed_numbers_by_their_coordinates():
    """On a stand-in table every number finds its cell, but tuning, latencies and an infeasible budget."""
    table = cb.load("synthetic-24")
    cells = pd.concat([experiments.summary(table, scale=0.02), experiments.facts(table)], ignore_index=True)
    both = pd.concat([cells.assign(dataset=name) for name in ("gsm8k", "piqa")], ignore_index=True)
    printed = tuple(n for n in NUMBERS if n.operation is None)
    rows = paper.ledger(both, printed)
    missing = rows[rows["verdict"] == "cannot be checked"]
    missing = missing[missing["experiment"] != "tuning"]
    expected = {"latency_min", "latency_max", "f1"}  # CoPSI has no budget for 24 arms at rho = 10
    assert set(missing["quantity"]) == expected and set(missing["method"].dropna()) == {"CoPSI"}


@pytest.mark.slow
def test_summary_agrees_with_the_experiments_it_runs():
    table = cb.load("synthetic-24")
    cells = experiments.summary(table, scale=0.05)
    cells = cells[cells["against"].isna()]
    runs = experiments.online(table, replications=5)
    cell = cells[(cells["experiment"] == "online") & (cells["quantity"] == "standard_regret")]
    means = runs.groupby(["method", "rho"])["standard_regret"].mean()
    for row in cell.itertuples():
        assert row.mean == pytest.approx(means[row.method, row.rho])
    ends = cells[(cells["experiment"] == "trajectory") & (cells["quantity"] == "efficiency_regret")]
    final = runs[runs["rho"] == 32].groupby("method")["efficiency_regret"].mean()
    assert dict(zip(ends["method"], ends["mean"], strict=True)) == pytest.approx(final.to_dict())


def test_tuning_sees_only_the_profiling_split():
    """Changing every evaluation row changes nothing."""
    table = cb.load("synthetic-24")
    rows = table.rows
    held_out = rows["split"] == "evaluation"
    changed = rows.assign(accuracy=np.where(held_out, 1 - rows["accuracy"], rows["accuracy"]))
    card = table.card.model_copy(
        update={
            "cost": table.card.cost.model_copy(update={"column": "cost"}),
            "objectives": [o.model_copy(update={"column": o.name}) for o in table.card.objectives],
            "arms": [],
        }
    )
    other = cb.EvaluationTable.from_frame(changed.drop(columns="split"), card)
    ours, theirs = (experiments.tuning(t, replications=2) for t in (table, other))
    assert ours["efficiency_regret"].tolist() == pytest.approx(theirs["efficiency_regret"].tolist())
