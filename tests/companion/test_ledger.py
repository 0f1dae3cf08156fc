"""The ledger: one row per printed number, verdicts by the stated rule, cells found by coordinates."""

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit.companion import paper
from cobandit.companion.paper import experiments
from cobandit.companion.paper.predictive import played_key

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
    assert (rows["verdict"] == "differs").mean() < 0.03
    assert "cannot be checked" not in set(rows.loc[rows["experiment"] != "tuning", "verdict"])


@pytest.mark.parametrize(
    ("shift", "half", "verdict"),
    [
        (0.05, 0.0345, "replicated"),  # 1.38 half widths away: two samples differ by sqrt 2 of them
        (0.05, 0.0331, "differs"),  # 1.44 half widths away
        (0.0, 0.2, "consistent"),  # an interval of 57 % of the value
        (0.0, 0.4, "cannot tell"),  # of 113 %
        (-0.5, 0.04, "differs"),
    ],
)
def test_rule_on_a_table_that_is_taken_for_the_papers(shift, half, verdict):
    number = next(n for n in NUMBERS if n.printed == "1097.75")
    rows = paper.ledger(cells_at(shift, half), (number,))
    assert rows["verdict"].tolist() == [verdict]


@pytest.mark.parametrize(
    ("middle", "spread", "verdict"),
    [(1100, 100, "replicated"), (1000, 200, "consistent"), (1100, 400, "cannot tell"), (700, 100, "differs")],
)
def test_rule_by_predictions(middle, spread, verdict):
    """What our table gives has no say."""
    number = next(n for n in NUMBERS if n.printed == "1097.75")
    draws = pd.DataFrame({played_key(number): np.random.default_rng(0).normal(middle, spread, 4000)})
    rows = paper.ledger(cells_at(3.0, 0.01), (number,), draws)
    assert rows["verdict"].tolist() == [verdict]
    assert rows.loc[0, "predicted_low"] == pytest.approx(middle - 1.96 * spread, rel=0.1)


def test_used_numbers_get_no_verdict():
    number = next(n for n in NUMBERS if n.printed == "118.04")
    assert paper.ledger(cells_at(0.0, 0.1), (number,), pd.DataFrame())["verdict"].tolist() == ["used"]


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


@pytest.mark.parametrize(("low", "verdict"), [(2.0, "differs"), (-2.0, "replicated")])
def test_the_printed_point_of_the_grid_is_separated_from_the_best_or_not(low, verdict):
    number = next(n for n in NUMBERS if n.key == "gsm8k-tuning-cost_scale")
    cell = {"dataset": "gsm8k", "experiment": "tuning"}
    chosen = cell | {"quantity": "cost_scale", "mean": 0.003, "low": 0.003, "high": 0.003}
    gap = cell | {"quantity": "gap", "mean": 3.0, "low": low, "high": 8.0}
    for draws in (None, pd.DataFrame()):
        rows = paper.ledger(pd.DataFrame([chosen, gap]), (number,), draws)
        assert rows["verdict"].tolist() == [verdict]
    assert paper.ledger(pd.DataFrame([chosen]), (number,))["verdict"].tolist() == ["cannot be checked"]


@pytest.mark.slow
def test_independent_facts_count_once():
    rows = paper.ledger(cells_at(0.0, 0.01))
    counts = paper.tally(rows)
    tested = rows[rows["role"].isin(paper.TESTED_ROLES)]
    assert counts.loc["numbers", "total"] == len(tested)
    known = tested[tested["verdict"] != "cannot be checked"]
    assert counts.loc["groups", "total"] == known["group"].nunique() < 25
    # ten numbers that fail for one reason are one failure
    group = "piqa, CoHVUCB, online regret"
    failed = rows.assign(
        verdict=rows["verdict"].mask(rows["group"] == group, "differs"),
        p=rows["p"].mask(rows["group"] == group, 0.001),
    )
    before, after = (paper.tally(r).loc["groups", "differs"] for r in (rows, failed))
    assert after - before == 1


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


@pytest.mark.slow
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
    other = cb.EvaluationTable.from_records(changed.drop(columns="split"), card)
    ours, theirs = (experiments.tuning(t, replications=2) for t in (table, other))
    assert ours["efficiency_regret"].tolist() == pytest.approx(theirs["efficiency_regret"].tolist())
