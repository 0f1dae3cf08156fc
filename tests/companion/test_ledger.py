"""The ledger: one row per printed number, cells found by coordinates."""

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from companion import paper
from companion.paper import experiment_cells, experiments, tuning

NUMBERS = [n for n in paper.published() if n.role in paper.RESULT_ROLES]


def cells_at(shift, half):
    """Return a cell per underived printed number: its shifted value, +- half."""
    rows = []
    for number in NUMBERS:
        if number.operation is None:
            mean = number.value * (1 + shift)
            names = ("dataset", "experiment", "quantity", "method", "rho", "costs")
            row = {name: getattr(number, name) for name in names}
            rows.append(
                row
                | {
                    "mean": mean,
                    "low": mean - half * mean,
                    "high": mean + half * mean,
                }
            )

    return pd.DataFrame(rows).drop_duplicates(
        ["dataset", "experiment", "quantity", "method", "rho", "costs"]
    )


def test_predictions_are_in_their_rows():
    number, other_number = NUMBERS[10:12]
    predicted = pd.DataFrame(
        {"predicted_low": [1.0], "predicted_high": [2.0]}, index=[number.key]
    )
    rows = paper.ledger(
        cells_at(0.0, 0.1), (number, other_number), predicted
    ).set_index("key")
    assert rows.loc[number.key, ["predicted_low", "predicted_high"]].tolist() == [
        1.0,
        2.0,
    ]
    assert np.isnan(rows.loc[other_number.key, "predicted_low"])


def test_number_without_cell_has_no_computed_value():
    rows = paper.ledger(cells_at(0.0, 0.1).head(0))
    assert rows["ours"].isna().all() and rows["predicted_low"].isna().all()


def test_derived_numbers_use_the_paired_interval():
    """A reduction uses the ratio's interval, which is narrower than the means allow."""
    key = "piqa-online-32-CoHVUCB-vs-UniformAllocation-efficiency_regret"
    key += "-relative_reduction"
    number = next(n for n in NUMBERS if n.key == key)
    alone = cells_at(0.0, 0.1)
    pair = {
        name: getattr(number, name)
        for name in ("dataset", "experiment", "quantity", "method", "rho")
    }
    pair |= {"against": number.against, "measure": "ratio", "costs": None}
    pair |= {"mean": 1097.75 / 6538.22, "low": 0.16, "high": 0.18}
    paired = pd.concat([alone, pd.DataFrame([pair])], ignore_index=True)
    ours = ["ours", "low", "high"]
    assert paper.ledger(paired, (number,)).loc[0, ours].tolist() == pytest.approx(
        [1 - 1097.75 / 6538.22, 0.82, 0.84]
    )
    wider = paper.ledger(alone, (number,)).loc[0, ours].tolist()
    assert wider[1] < 0.8 and wider[2] > 0.86


def test_unbounded_ratio_cannot_be_checked():
    number = next(n for n in NUMBERS if n.printed == "33.3%")
    names = ("dataset", "experiment", "quantity", "method", "rho", "costs", "against")
    pair = {name: getattr(number, name) for name in names} | {"measure": "ratio"}
    pair |= {"mean": 1.0, "low": 0.0, "high": np.inf}
    cells = pd.concat([cells_at(0.0, 0.1), pd.DataFrame([pair])], ignore_index=True)
    rows = paper.ledger(cells, (number,))
    assert not np.isfinite(rows[["low", "high"]].to_numpy()).all()


@pytest.mark.slow
def test_experiments_match_printed_numbers_by_coordinates():
    """All numbers but tuning, latencies and infeasible budgets find a cell."""
    table = cb.load("synthetic-24")
    cells = pd.concat(
        [experiments.summary(table, scale=0.02), experiments.facts(table)],
        ignore_index=True,
    )
    combined = pd.concat(
        [cells.assign(dataset=name) for name in ("gsm8k", "piqa")], ignore_index=True
    )
    printed = tuple(n for n in NUMBERS if n.operation is None)
    rows = paper.ledger(combined, printed)
    missing = rows[rows["ours"].isna()]
    missing = missing[missing["experiment"] != "tuning"]

    # CoPSI has no budget for 24 arms at rho = 10
    expected = {"latency_min", "latency_max", "f1"}
    assert set(missing["quantity"]) == expected and set(missing["method"].dropna()) == {
        "CoPSI"
    }


@pytest.mark.slow
def test_summary_agrees_with_its_experiments():
    table = cb.load("synthetic-24")
    cells = experiments.summary(table, scale=0.05)
    cells = cells[cells["against"].isna()]
    runs = experiments.play("online", table, replications=5)
    cell = cells[
        (cells["experiment"] == "online") & (cells["quantity"] == "standard_regret")
    ]
    means = runs.groupby(["method", "rho"])["standard_regret"].mean()
    for row in cell.itertuples():
        assert row.mean == pytest.approx(means[row.method, row.rho])
    ends = cells[
        (cells["experiment"] == "trajectory")
        & (cells["quantity"] == "efficiency_regret")
    ]
    final = runs[runs["rho"] == 32].groupby("method")["efficiency_regret"].mean()
    assert dict(zip(ends["method"], ends["mean"], strict=True)) == pytest.approx(
        final.to_dict()
    )


@pytest.mark.slow
def test_tuning_uses_only_the_profiling_split():
    """Changing every evaluation row changes nothing."""
    table = cb.load("synthetic-24")
    rows = table.rows
    held_out = rows["split"] == "evaluation"
    changed = rows.assign(
        accuracy=np.where(held_out, 1 - rows["accuracy"], rows["accuracy"])
    )
    card = table.card.model_copy(
        update={
            "cost": table.card.cost.model_copy(update={"column": "cost"}),
            "objectives": [
                o.model_copy(update={"column": o.name}) for o in table.card.objectives
            ],
            "arms": [],
        }
    )
    changed_table = cb.EvaluationTable.from_records(changed.drop(columns="split"), card)
    ours, theirs = (tuning.tuning(t, replications=2) for t in (table, changed_table))
    assert ours["efficiency_regret"].tolist() == pytest.approx(
        theirs["efficiency_regret"].tolist()
    )


@pytest.mark.slow
def test_run_without_average_is_not_counted():
    """On SWE-bench a first evaluation may cost more than the budget spent so far."""
    paths = experiments.play("trajectory", cb.load("synthetic-24"), replications=2)
    first = paths["spent"].min()
    paths.loc[
        (paths["spent"] == first) & (paths["replication"] == 0), "moving_average"
    ] = np.nan
    cells = experiment_cells.trajectory_cells(paths, points=2)
    cells = cells[(cells["quantity"] == "moving_average") & cells["against"].isna()]
    assert cells.groupby(cells["spent"] == first)["runs"].unique().map(
        list
    ).to_dict() == {
        False: [2],
        True: [1],
    }
