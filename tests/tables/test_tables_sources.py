"""Where tables come from: the leaderboard's parser and the synthetic generator."""

import json

import numpy as np
import pandas as pd
import pytest

from cobandit.faults import TableError
from cobandit.tables import load, swebench, synthetic
from cobandit.tables.card import read_card
from cobandit.tables.catalogue import data_directory

# --- the parser -----------------------------------------------------------------------------------------


def entry(name, outcomes, published, **changes):
    details = {f"q{i}": {"resolved": r, "cost": 0.5, "api_calls": 3 + i} for i, r in enumerate(outcomes)}
    return {
        "name": name,
        "resolved": published,
        "tags": [f"Model: {name.lower()}", "Org: Somebody"],
        "os_model": False,
        "mini-swe-agent_version": "1.0",
        "date": "2025-01-01",
        "per_instance_details": details,
    } | changes


def write_board(path, *entries):
    boards = [{"name": "Lite", "results": []}, {"name": "bash-only", "results": list(entries)}]
    path.write_text(json.dumps({"leaderboards": boards}))
    return path


def test_entries_are_dropped_by_rule(tmp_path):
    half = [True, False]
    path = write_board(
        tmp_path / "x.json",
        entry("Good", half, 50.9),
        entry("Off", half, 51.1),
        entry("Bare", half, 50.0, per_instance_details=None),
    )
    frame, notes = swebench.parse(path)
    assert frame["config"].tolist() == ["Good", "Good"]
    assert frame["instance"].tolist() == ["q0", "q1"]
    assert frame["resolved"].tolist() == half
    assert frame["cost_usd"].tolist() == [0.5, 0.5]
    assert frame["api_calls"].tolist() == [3, 4]
    assert len(notes) == 2 and "'Off'" in notes[0] and "Bare" in notes[1]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ("[]", "no single board"),
        ('{"leaderboards": [{"name": "Lite"}]}', "no single board"),
        ('{"leaderboards": [{"name": "bash-only"}]}', "no single board"),
        ('{"leaderboards": [{"name": "bash-only", "results": []}]}', "no entry"),
    ],
)
def test_another_layout_is_refused(tmp_path, text, word):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(TableError, match=word):
        swebench.parse(tmp_path / "x.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"per_instance_details": {"q0": {"resolved": True, "cost": 1.0}}},
        {"per_instance_details": {"q0": {"resolved": 1, "cost": 1.0, "api_calls": 3}}},
        {"per_instance_details": [1, 2]},
        {"tags": ["Org: Somebody"]},
        {"tags": None},
        {"resolved": "50 %"},
    ],
)
def test_an_entry_of_another_layout_is_refused(tmp_path, changes):
    path = write_board(tmp_path / "x.json", entry("Odd", [True, False], 50.0, **changes))
    with pytest.raises(TableError, match=r"x\.json: entry 'Odd'"):
        swebench.parse(path)


# --- the synthetic table --------------------------------------------------------------------------------


def test_regenerating_the_synthetic_table_gives_the_same_content(tmp_path):
    synthetic.write(tmp_path)
    bundled = data_directory()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "synthetic-24.parquet"), pd.read_parquet(bundled / "synthetic-24.parquet")
    )
    # another version of the Parquet writer may pack the same content into other bytes
    made, kept = (
        read_card(d / "synthetic-24.yml").model_dump(exclude={"sha256"}) for d in (tmp_path, bundled)
    )
    assert made == kept


def test_synthetic_is_what_the_catalogue_promises():
    table = load(synthetic.NAME)
    problem = synthetic.true_problem()
    assert (table.n_arms, table.n_objectives, set(table.n_instances)) == (24, 2, {400})
    assert table.configs == problem.names
    assert problem.costs.max() / problem.costs.min() == pytest.approx(10)
    assert problem.pareto_mask.sum() == 6
    assert problem.best_arm != np.argmax(problem.hypervolume), "cost awareness has to matter"
    costs = table.rows.groupby("config", observed=True)["cost"].agg(["min", "max"])
    assert (costs["min"] >= np.floor(0.5 * problem.costs)).all()
    assert (costs["max"] <= np.ceil(1.5 * problem.costs)).all()


def test_the_synthetic_means_are_the_true_ones():
    drawn = synthetic.generate(n_instances=40_000, seed=1).groupby("config")
    true = synthetic.parameters()
    for column, name in (("correct", "accuracy"), ("efficiency", "efficiency"), ("tokens", "tokens")):
        error = drawn[column].std() / np.sqrt(40_000)
        # 72 means at 4.5 standard errors: one run in two thousand would fail by chance, and the seed is fixed
        assert ((drawn[column].mean() - true[name]).abs() < 4.5 * error).all()


def test_synthetic_instances_are_correlated():
    efficiency = load(synthetic.NAME).rows["efficiency"].to_numpy().reshape(24, 400)  # arm after arm
    assert np.corrcoef(efficiency).min() > 0.3
