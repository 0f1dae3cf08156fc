"""The SWE-bench leaderboard as a table: what its parser takes, drops and refuses."""

import json

import pytest
from support.faults import fault

from cobandit.tables import swebench


def entry(name, outcomes, published, **changes):
    details = {
        f"q{i}": {"resolved": r, "cost": 0.5, "api_calls": 3 + i}
        for i, r in enumerate(outcomes)
    }
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
    boards = [
        {"name": "Lite", "results": []},
        {"name": "bash-only", "results": list(entries)},
    ]
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
    frame, notes = swebench.read_submissions(path)
    assert frame["config"].tolist() == ["Good", "Good"]
    assert frame["instance"].tolist() == ["q0", "q1"]
    assert frame["resolved"].tolist() == half
    assert frame["cost_usd"].tolist() == [0.5, 0.5]
    assert frame["api_calls"].tolist() == [3, 4]
    assert len(notes) == 2 and "'Off'" in notes[0] and "Bare" in notes[1]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        *(
            f'{{"leaderboards": [{{"name": "{name}"}}]}}'
            for name in ("Lite", "bash-only")
        ),
    ],
)
def test_unknown_layout_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with fault("bad-record", "x.json"):
        swebench.read_submissions(tmp_path / "x.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"per_instance_details": None},
        {"per_instance_details": {"q0": {"resolved": True, "cost": 1.0}}},
        {"per_instance_details": [1, 2]},
        {"tags": ["Org: Somebody"]},
        {"tags": None},
        {"resolved": "50 %"},
    ],
)
def test_entry_of_unknown_layout_is_refused(tmp_path, changes):
    path = write_board(
        tmp_path / "x.json", entry("Odd", [True, False], 50.0, **changes)
    )
    with fault("bad-record", "x.json"):
        swebench.read_submissions(path)
