"""Tables written as records of Every Eval Ever, and read back."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import call
from support.strategies import examples

import cobandit as cb
from cobandit.tables.every_eval_export import export_every_eval_ever
from cobandit.tables.importers import import_logs

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8
)


@st.composite
def tables(draw):
    """Tables with any unit and objectives, holes, odd names and numeric settings."""
    configs = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    instances = draw(st.lists(NAMES, min_size=5, max_size=7, unique=True))
    unit = draw(st.sampled_from(["tokens", "USD"]))
    is_integer = draw(st.booleans())
    rows = []
    for number, config in enumerate(configs):
        missing = draw(st.sampled_from([None, *instances]))
        for instance in instances:
            if instance == missing:
                continue
            cost = draw(st.integers(1, 900)) * (1 if is_integer else 0.001)
            row = {
                "config": config,
                "instance": instance,
                "paid": cost,
                "t": 0.5 * (number % 2),
            }
            row |= {"code": f"00{number}", "model": f"maker/{number // 2}"}
            row |= {"ok": draw(st.integers(0, 1)), "tone": draw(st.floats(0, 1))}
            rows.append(
                row
                | {
                    "seconds": draw(st.floats(0.01, 90)),
                    "steps": draw(st.integers(1, 9)),
                }
            )
    frame = pd.DataFrame(rows)
    frame.loc[0, ["seconds", "steps"]] = [100, 20]
    objectives = {"right": "ok"}
    if draw(st.booleans()):
        objectives |= {"tone": "tone", "brevity": ("steps", "negate-minmax")}
    if draw(st.booleans()):
        objectives["efficiency"] = ("seconds", "inverse-percentile")
    arms = ["model", "t", "code"] if draw(st.booleans()) else []
    named = {
        "name": "made-up",
        "arms": arms,
        "profiling": 2,
        "seed": draw(st.integers(0, 3)),
    }
    return cb.EvaluationTable.from_frame(
        frame, cost="paid", unit=unit, objectives=objectives, **named
    )


def read_back(folder, table, output):
    split = {"profiling": table.card.split.profiling, "seed": table.card.split.seed}
    return import_logs("every-eval-ever", [folder], output, force=True, **split).table


@pytest.mark.slow
@examples(40)
@given(table=tables())
def test_records_are_read_back_as_the_same_table(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("records")
    export_every_eval_ever(table, folder)
    back = read_back(folder, table, folder / "back.parquet")
    assert back.configs == table.configs and back.objectives == table.objectives
    assert back.card.cost.unit == table.card.cost.unit
    pd.testing.assert_frame_equal(
        back.rows, table.rows, rtol=1e-9, check_categorical=False
    )
    for name in table.card.arms:
        if len(set(table.arms[name])) > 1:
            assert back.arms[name].tolist() == table.arms[name].tolist()


@pytest.mark.slow
def test_records_satisfy_the_schema(tmp_path):
    table = cb.load("synthetic-24").subset("temperature > 0")
    written = export_every_eval_ever(
        table, tmp_path, organization="us", relationship="third_party", timestamp=7
    )
    assert len(written.files) == table.n_arms and any(
        "prompts" in line for line in written.report
    )
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    identifiers = set()
    for path in written.files:
        evaluation = json.loads(path.read_text())
        place = path.relative_to(tmp_path).as_posix()
        assert re.fullmatch(
            rf"data/synthetic-24/unknown/[\w.+=,@-]+/{uuid}\.json", place
        )
        samples = tmp_path / evaluation["detailed_evaluation_results"]["file_path"]
        assert samples == path.with_name(f"{path.stem}_samples.jsonl")
        content = samples.read_bytes()
        assert (
            evaluation["detailed_evaluation_results"]["checksum"]
            == hashlib.sha256(content).hexdigest()
        )
        lines = [json.loads(line) for line in content.splitlines()]
        assert evaluation["detailed_evaluation_results"]["total_rows"] == len(lines)
        required = {
            "evaluation_id",
            "model_id",
            "evaluation_name",
            "sample_id",
            "interaction_type",
        }
        required |= {
            "schema_version",
            "input",
            "output",
            "answer_attribution",
            "evaluation",
        }
        assert all(required <= line.keys() for line in lines)
        assert {line["evaluation_id"] for line in lines} == {
            evaluation["evaluation_id"]
        }
        assert {line["model_id"] for line in lines} == {evaluation["model_info"]["id"]}
        assert (
            evaluation["retrieved_timestamp"] == "7"
            and evaluation["schema_version"] == "0.3.0"
        )
        metric, *_ = evaluation["evaluation_results"]
        assert {"lower_is_better", "score_type", "min_score", "max_score"} <= metric[
            "metric_config"
        ].keys()
        scores = [
            line["evaluation"]["score"]
            for line in lines
            if line["evaluation_result_id"] == metric["evaluation_result_id"]
        ]
        assert metric["score_details"]["score"] == pytest.approx(np.mean(scores))
        details = evaluation["model_info"]["additional_details"]
        assert all(isinstance(value, str) for value in details.values())
        identifiers.add(evaluation["evaluation_id"])
    assert len(identifiers) == table.n_arms


@pytest.mark.slow
def test_exported_records_can_be_imported(tmp_path):
    done = call("export", "every-eval-ever", "synthetic-24", "-o", tmp_path)
    assert done.exit_code == 0 and "wrote 24 evaluations" in done.output, done.output
    back = call("import", "every-eval-ever", tmp_path, "-o", tmp_path / "a.parquet")
    assert back.exit_code == 0 and "24 configurations" in back.output, back.output
    assert len(list(Path(tmp_path).rglob("*_samples.jsonl"))) == 24
