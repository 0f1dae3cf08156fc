"""Records of Every Eval Ever."""

import json
from pathlib import Path

import pytest
from support.faults import fault

from cobandit.tables.importers import import_logs


def line(model, sample, score, **fields):
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"sums/{model}/1",
        "model_id": model,
        "evaluation_name": "sums",
        "evaluation_result_id": "exact",
        "sample_id": f"q{sample}",
        "interaction_type": "single_turn",
        "input": {"raw": "1 + 1?", "reference": ["2"]},
        "output": {"raw": ["2"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score > 0},
        "token_usage": {
            "input_tokens": 20,
            "output_tokens": 5 + sample,
            "total_tokens": 25 + sample,
        },
        "performance": {"latency_ms": 400 + 10 * sample},
        **fields,
    }


def write(model, lines, **metric):
    Path(f"{model}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    metrics = [
        {
            "evaluation_result_id": name,
            "evaluation_name": "sums",
            "metric_config": {"metric_name": name, "lower_is_better": False, **metric},
            "score_details": {"score": 0.5},
            "generation_config": {"generation_args": {"temperature": 0.5}},
        }
        for name in ("exact", "tone")
    ]
    evaluation = {
        "schema_version": "0.3.0",
        "evaluation_id": f"sums/{model}/1",
        "model_info": {"name": model, "id": model},
        "evaluation_results": metrics,
    }
    Path(f"{model}.json").write_text(json.dumps(evaluation))


@pytest.fixture
def lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return {
        model: [line(model, sample, (sample + shift) % 2) for sample in range(8)]
        for shift, model in enumerate(("small", "large"))
    }


def test_scores_tokens_and_times_are_read(lines):
    for model in lines:
        write(model, lines[model])
    done = import_logs("every-eval-ever", ["."], "a.parquet")
    assert done.table.configs == ("large", "small") and done.table.objectives == (
        "accuracy",
        "efficiency",
    )
    assert done.table.rows["cost"].min() == 5 and done.table.n_instances.tolist() == [
        8,
        8,
    ]
    imported_both = import_logs(
        "every-eval-ever", ["."], "b.parquet", count="all"
    ).table
    assert imported_both.rows["cost"].min() == 25


def test_every_metric_has_its_own_line(lines):
    for model in lines:
        tones = [
            item
            | {
                "evaluation_result_id": "tone",
                "evaluation": {"score": 4.0, "is_correct": True},
            }
            for item in lines[model]
        ]
        exact = [
            item | {"evaluation": {"score": 5 * item["evaluation"]["score"]}}
            for item in lines[model]
        ]
        write(model, exact + tones, min_score=0, max_score=5)
    table = import_logs(
        "every-eval-ever", ["."], "a.parquet", metric=["exact", "tone"]
    ).table
    assert set(table.rows["exact"]) == {0.0, 1.0} and set(table.rows["tone"]) == {0.8}


def test_unknown_levels_and_missing_usage_are_not_zero(lines):
    lines["small"][0]["evaluation"]["score"] = -1
    lines["small"][1]["token_usage"] = None
    for model in lines:
        write(model, lines[model], has_unknown_level=True)
    done = import_logs("every-eval-ever", ["."], "a.parquet")
    assert done.table.n_instances.tolist() == [8, 6]
    assert sum("1 of " in text and "of small" in text for text in done.report) == 2


def test_lower_is_better_is_refused(lines):
    for model in lines:
        write(model, lines[model], lower_is_better=True)
    with fault("lower-is-better", names=["exact"]):
        import_logs("every-eval-ever", ["."], "a.parquet")
