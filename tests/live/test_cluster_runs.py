"""Plans with clusters of instances: whole clusters are evaluated and recorded."""

import os

import numpy as np
import pandas as pd
import pytest
from support.faults import bad_argument, fault
from support.runs import PLAN, Fake

import cobandit as cb
from cobandit import live
from cobandit.errors import CobanditError
from cobandit.live.plan import check_plan

SIZES = [1, 4, 2, 5] * 10
RACE = {
    key: value for key, value in PLAN.items() if key not in ("budget", "unit", "method")
} | {
    "stop": {"tolerance": 0.2},
    "instances": {"file": "questions.csv", "cluster": "passage"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a file of instances; nothing waits for the disk."""
    passages = [f"passage {number}" for number in np.repeat(np.arange(40), SIZES)]
    frame = pd.DataFrame({"instance": np.arange(120), "passage": passages})
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "questions.csv", index=False)
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    return tmp_path


def test_clusters_are_shuffled_as_units(folder):
    plan, other = (
        check_plan(RACE | {"seed": seed}, "plan.yml", folder) for seed in (0, 1)
    )
    assert (
        sorted(plan.order) == sorted(map(str, range(120))) and plan.order != other.order
    )
    starts = [a != b for a, b in zip(plan.cluster, ["", *plan.cluster], strict=False)]
    assert sum(starts) == 40 and len(plan.cluster) == 120
    # as a run keeps it, without the file
    restored = check_plan(plan.model_dump(mode="json"), "plan.json")
    assert restored.cluster == plan.cluster and not restored.differences(
        plan.model_dump(mode="json")
    )


@pytest.mark.parametrize(
    ("changes", "code", "names", "remedy"),
    [
        (
            {"instances": {"file": "questions.csv", "cluster": "pasage"}},
            "no-cluster",
            ["questions.csv"],
            "'passage'?",
        ),
        (
            {"method": "CoPSIOnce", "stop": None, "budget": 0.5, "unit": "share"},
            "cluster-method",
            ["CoPSIOnce"],
            "ParetoRace",
        ),
        ({"ordered": True}, "method-options", ["ParetoRace", "cluster"], ""),
        (
            {"cost": {"column": "passage", "unit": "tokens"}},
            "equal-columns",
            ["'passage'"],
            "",
        ),
    ],
)
def test_bad_clusters_are_refused(folder, changes, code, names, remedy):
    with fault(code, "plan.yml", names, remedy):
        check_plan(RACE | changes, "plan.yml", folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "certified",
    [{}, {"certified": True, "front": "objectives"}],
    ids=["measured", "certified"],
)
def test_run_evaluates_whole_clusters(folder, certified):
    plan = RACE | {"stop": {"tolerance": 0.2, **certified}}
    (folder / "plan.yml").write_text(str(plan))  # YAML reads what Python writes

    def stop_half_way(configuration, instance, tried):
        if len(half.evaluated) > 150:
            raise CobanditError("stopped here", code="stopped")

    half = Fake(fail=stop_half_way)
    with bad_argument("stopped"):
        live.run(folder / "plan.yml", folder / "run", evaluator=half)
    done = live.run(folder / "plan.yml", folder / "run", evaluator=Fake())
    policy, order = done.policy, done.plan.order
    ends = (
        np.flatnonzero(
            [a != b for a, b in zip(done.plan.cluster, [*done.plan.cluster[1:], ""])]
        )
        + 1
    )
    assert policy.status == "settled" and np.isin(policy.pulls, ends).all()
    table = cb.read(done.table)
    assert table.card.cluster == "passage" and len(np.unique(table.clusters)) <= 40
    measurements = pd.read_parquet(done.table)
    of = dict(zip(order, done.plan.cluster, strict=True))
    assert (measurements["passage"] == measurements["instance"].map(of)).all()
    (folder / "questions.csv").unlink()  # what is looked at later needs no file
    assert live.read_progress(folder / "run").stage.plan.cluster == done.plan.cluster
