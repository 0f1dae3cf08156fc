"""What an import counted per configuration, and costs that are made up."""

import json

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit.advice import doctor
from cobandit.tables.importers import import_logs


@pytest.fixture
def frame():
    """Return a table of two paid configurations and an equally good local, free one."""
    rng = np.random.default_rng(0)
    rows = [
        (
            config,
            instance,
            cost * (1 + 0.1 * rng.random()),
            float(rng.random() < chance),
        )
        for config, cost, chance in (
            ("local", 0.0, 0.5),
            ("small", 0.01, 0.6),
            ("large", 0.5, 0.9),
        )
        for instance in range(60)
    ]
    return pd.DataFrame(rows, columns=["config", "instance", "usd", "ok"])


def free_table(frame):
    return cb.EvaluationTable.from_frame(
        frame, cost="usd", unit="USD", objectives={"accuracy": "ok"}, smallest_cost=1e-5
    )


def test_default_costs_give_no_factor_and_no_ratio(frame):
    advice = cb.recommend(free_table(frame))
    assert advice.made_up == ["local"] and advice.most_efficient is None
    assert advice.front.loc["small", "times"] != advice.front.loc["small", "times"]
    assert advice.front.loc["large", "times"] > 10
    assert np.isnan(advice.arms.loc["local", "hypervolume_per_cost"])
    text = str(advice)
    assert "No factor and no ratio is made of the cost of local" in text
    plain = json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert plain["most_efficient"] is None


@pytest.mark.slow
def test_smallest_cost_changes_only_its_own_sentence(frame):
    texts = [
        str(
            cb.recommend(
                cb.EvaluationTable.from_frame(
                    frame,
                    cost="usd",
                    unit="USD",
                    objectives={"accuracy": "ok"},
                    smallest_cost=smallest,
                )
            )
        )
        for smallest in (1e-5, 1e-3)
    ]
    assert texts[0].replace("0.00001", "*") == texts[1].replace("0.001", "*")


def test_some_free_evaluations_keep_the_cost_factor(frame):
    """One free evaluation in sixty hardly changes the mean cost."""
    frame = frame[frame["config"] != "local"].copy()
    frame.loc[frame.index[0], "usd"] = 0.0
    advice = cb.recommend(free_table(frame))
    assert advice.made_up == [] and advice.most_efficient is not None


def write(path, answers):
    entries = [
        {
            "provider": {"id": provider},
            "vars": {"question": f"q{number}"},
            "response": {
                "output": "4",
                "tokenUsage": {"prompt": 9, "completion": 30},
                **response,
            },
            "score": number % 2,
            "latencyMs": 100 + number,
        }
        for provider, responses in answers.items()
        for number, response in enumerate(responses)
    ]
    path.write_text(json.dumps({"results": {"results": entries}}))


@pytest.mark.slow
def test_configurations_with_truncated_answers_are_named(tmp_path):
    cut = [{"finishReason": "length"}] * 16 + [{}] * 24
    cached = [{"cached": True}] * 30 + [{}] * 10
    write(tmp_path / "r.json", {"large": cut, "small": cached, "tiny": [{}] * 40})
    imported = import_logs(
        "promptfoo", [tmp_path / "r.json"], tmp_path / "r.parquet", latency="none"
    )
    matches = {
        finding.problem.partition(":")[0]: finding for finding in doctor(imported.table)
    }
    assert (
        matches["Answers cut off"].number == 16
        and "16 of large" in matches["Answers cut off"].problem
    )
    (unmeasured,) = [
        finding
        for name, finding in matches.items()
        if name.startswith("Cost not measured")
    ]
    assert (
        unmeasured.number == 30
        and "30 of small" in unmeasured.problem
        and "tiny" not in unmeasured.problem
    )
    text = str(cb.recommend(imported.table))
    assert "answers cut off, 16 of large" in text
    assert (
        "answers cut off: 16 of 40 evaluations of large"
        in (tmp_path / "r.yml").read_text()
    )
    restored = cb.read(tmp_path / "r.parquet")
    assert restored.card.counts["large"] == {"answers cut off": 16}


@pytest.mark.slow
def test_many_values_at_the_best_end_are_reported():
    rng = np.random.default_rng(1)
    rows = [
        (
            config,
            instance,
            float(rng.random() < 0.5),
            0.0 if instance < refused else 1 + rng.random(),
        )
        for config, refused in (("a", 0), ("b", 20), ("c", 0))
        for instance in range(50)
    ]
    frame = pd.DataFrame(rows, columns=["config", "instance", "ok", "seconds"])
    objectives = {"accuracy": "ok", "speed": ("seconds", "negate-minmax")}
    table = cb.EvaluationTable.from_frame(frame, objectives=objectives)
    (finding,) = [entry for entry in doctor(table) if entry.name == "best_end"]
    assert finding.number == pytest.approx(0.4) and "40 % of b" in finding.problem
    frame["seconds"] += 1.5 * rng.random(len(frame))
    assert not [
        entry
        for entry in doctor(cb.EvaluationTable.from_frame(frame, objectives=objectives))
        if entry.name == "best_end"
    ]
