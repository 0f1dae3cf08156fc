"""Result files as common tools write them are read correctly."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from cobandit.errors import TableError
from cobandit.tables.importers import import_logs as import_new

import_logs = partial(import_new, "csv", output="t.parquet", force=True)

#: What three models got right on eight questions.
CORRECT = {
    "gpt-4.1": [1, 1, 1, 0, 1, 1, 0, 1],
    "gpt-4.1-mini": [1, 0, 1, 0, 0, 1, 0, 1],
    "org/m_t0.5": [0, 0, 1, 0, 0, 1, 0, 0],
}
MEANS = {model: sum(scores) / 8 for model, scores in CORRECT.items()}
PLAIN = {model.replace("/", "-"): mean for model, mean in MEANS.items()}
CELLS = [
    (model, i, score)
    for model, scores in CORRECT.items()
    for i, score in enumerate(scores)
]
EACH = {
    model.replace("/", "-"): list(enumerate(scores))
    for model, scores in CORRECT.items()
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, value):
    """Write JSON, JSON Lines or text, as the suffix says."""
    path = Path("files", path)
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".json":
            path.write_text(json.dumps(value))
        case ".jsonl":
            path.write_text("".join(f"{json.dumps(line)}\n" for line in value))
        case _:
            path.write_text(value, "utf-8")


def write_csv(path, rows):
    path = Path("files", path)
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)


def openai_evals():
    for model, scores in EACH.items():
        events = [
            {"spec": {"completion_fns": [model], "eval_name": "sums"}, "run_id": 1}
        ]
        for i, score in scores:
            event = {"run_id": 1, "sample_id": f"sums.{i}"}
            events.append(
                event
                | {
                    "type": "sampling",
                    "data": {"sampled": ["4"], "usage": {"tokens": 3}},
                }
            )
            events.append(
                event
                | {
                    "type": "match",
                    "data": {"correct": bool(score), "picked": "4"},
                }
            )
        write(f"{model}.jsonl", [*events, {"final_report": {"accuracy": 0.5}}])


def deepeval():
    for model, scores in EACH.items():
        cases = [
            {
                "name": f"test_{i}",
                "success": True,
                "metricsData": [
                    {
                        "name": "Correctness [GEval]",
                        "score": float(score),
                        "reason": "so",
                    },
                    {"name": "Relevancy", "score": 0.9, "reason": "so"},
                ],
            }
            for i, score in scores
        ]
        metrics = [{"metric": "Relevancy", "passes": 8}]
        hyper = {"model": model}
        write(
            f"{model}.json",
            {"testCases": cases, "metricsScores": metrics, "hyperparameters": hyper},
        )


def json_in_cells():
    """As Langfuse, LangSmith and Braintrust export."""
    rows = [
        {
            "id": f"{model}-{i}",
            "input": json.dumps({"question": i}),
            "metadata": json.dumps({"model": model}),
            "scores": (
                json.dumps({"exact": [score]})
                if i
                else json.dumps({"exact": score, "more": None})
            ),
            "metrics": json.dumps({"tokens": 5 + i}),
        }
        for model, i, score in CELLS
    ]
    write_csv("export.csv", rows)


def langsmith():
    for model, scores in EACH.items():
        rows = [
            {
                "inputs.q": f"q{i}",
                "outputs.a": "4",
                "feedback.right": score,
                "execution_time": 1.5,
            }
            for i, score in scores
        ]
        write_csv(f"{model}.csv", rows)


def evalplus():
    for model, scores in EACH.items():
        records = {
            f"HumanEval/{i}": [
                {
                    "task_id": f"HumanEval/{i}",
                    "plus_status": "pass" if score else "fail",
                }
            ]
            for i, score in scores
        }
        write(
            f"{model}.json",
            {"date": "2024", "eval": records, "pass_at_k": {"base": {"pass@1": 1.0}}},
        )


def swe_bench_report():
    for model, scores in EACH.items():
        names = [f"repo-{i}" for i, _ in scores]
        resolved = [f"repo-{i}" for i, score in scores if score]
        ids = {"submitted_ids": names, "resolved_ids": resolved, "error_ids": []}
        write(f"{model}.json", {"total_instances": 8, **ids, "schema_version": 2})


def swe_bench_logs():
    for model, scores in EACH.items():
        for i, score in scores:
            report = {
                "patch_exists": True,
                "resolved": bool(score),
                "tests": {"pass": {"success": ["a"]}},
            }
            write(f"{model}/repo-{i}/report.json", {f"repo-{i}": report})


def lighteval():
    for model, scores in EACH.items():
        folder = Path("files", "details", model, "2026-08-10T17-22-11.3")
        folder.mkdir(parents=True)
        rows = [
            {
                "doc": {"id": str(i), "choices": ["a", "b"]},
                "metric": {"match": float(score)},
                "model_response": {"output_tokens": [[1, 2, 3]], "text": ["4"]},
            }
            for i, score in scores
        ]
        pd.DataFrame(rows).to_parquet(
            folder / "details_gsm8k|0_2026-08-10T17-22-11.3.parquet"
        )


def opencompass():
    for model, scores in EACH.items():
        details = {
            str(i): {"prompt": "?", "correct": bool(score)} for i, score in scores
        }
        write(
            f"results/{model}/gsm8k.json",
            {"accuracy": 60.0, "details": {"type": "GEN", **details}},
        )


def mteb():
    for model, scores in EACH.items():
        for i, score in scores:
            test = [{"main_score": score, "hf_subset": "default", "languages": ["eng"]}]
            write(
                f"{model}/rev/Task{i}.json",
                {"task_name": f"Task{i}", "scores": {"test": test}},
            )
        write(f"{model}/rev/model_meta.json", {"name": model, "revision": "rev"})


def routerbench():
    rows = []
    for i in range(8):
        models = {model: float(scores[i]) for model, scores in CORRECT.items()}
        costs = {f"{model}|total_cost": 0.001 * (1 + i) for model in CORRECT}
        texts = {f"{model}|model_response": "4" for model in CORRECT}
        rows.append(
            {
                "sample_id": f"q{i}",
                "prompt": "?",
                **models,
                **texts,
                **costs,
                "oracle": "none",
            }
        )
    write_csv("wide.csv", rows)


def alpaca_eval():
    for model, scores in EACH.items():
        rows = [
            {
                "instruction": f"q{i}",
                "generator_1": "base",
                "generator_2": model,
                "preference": 1.0 + score,
            }
            for i, score in scores
        ]
        write(f"{model}/judge/annotations.json", rows)


def mt_bench():
    rows = [
        {
            "question_id": i,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "score": 10 if score else 1,
        }
        | {"turn": turn}
        for model, i, score in CELLS
        for turn in (1, 2)
    ]
    failed = rows[0] | {"score": -1, "turn": 3}
    write("gpt-4_single.jsonl", [*rows, failed])


def ragas():
    for model, scores in EACH.items():
        rows = [
            {"user_input": f"q{i}", "contexts": "['a']", "faithfulness": score}
            for i, score in scores
        ]
        write_csv(f"{model}.csv", [*rows, {"user_input": "q8", "contexts": "[]"}])


COLUMNS = ["model", "q", "ok", "tokens"]
ROWS = [[model, f"q{i}", bool(score), 5 + i] for model, i, score in CELLS]


def table_of_rows():
    """As tables of Weights & Biases and MLflow."""
    write(
        "p.table.json",
        {
            "columns": COLUMNS,
            "data": ROWS,
            "ncols": 4,
            "column_types": {"wb_type": "x"},
        },
    )


def pandas_frame(orient):
    write(
        "frame.json",
        json.loads(pd.DataFrame(ROWS, columns=COLUMNS).to_json(orient=orient)),
    )


def records_in_a_service():
    """As Azure's evaluation writes."""
    for model, scores in EACH.items():
        rows = [
            {"inputs.q": f"q{i}", "outputs.g.g": 5 if score else 1}
            for i, score in scores
        ]
        write(
            f"{model}.json", {"rows": rows, "metrics": {"g.g": 3.1}, "studio_url": None}
        )


def trials():
    """As tau-bench and Terminal-Bench write."""
    for model, scores in EACH.items():
        rows = [
            {
                "task_id": i,
                "reward": float(score),
                "info": {"cost": 0.1},
                "trial": trial,
            }
            for trial in (0, 1)
            for i, score in scores
        ]
        write(f"{model}.json", {"id": "u", "results": rows, "accuracy": 0.4})


def spreadsheet():
    rows = [
        f"{model};Frage {i};{'ja' if score else 'nein'};1.0{i}0,50 €"
        for model, i, score in CELLS
    ]
    write(
        "tabelle.csv",
        "\n".join(
            ["Ergebnisse im März;;;", ";;;", "Modell;Frage;Richtig;Kosten", *rows]
        ),
    )


def dollars():
    rows = [f'{model},{i},{100 * score}%,"$1,20{i}.50"' for model, i, score in CELLS]
    write("sheet.csv", "\n".join(["model,q,score,cost", *rows]))


def marks():
    rows = [
        ",".join(
            [f"q{i}", *("✓✗"[1 - scores[i]] for scores in CORRECT.values()), f"n{i}"]
        )
        for i in range(8)
    ]
    write("marks.csv", "\n".join([",".join(["q", *CORRECT, "notes"]), *rows]))


MODEL = {
    "config": ["model"],
    "instance": "q",
    "objective": ["accuracy=ok"],
    "cost": ["tokens"],
    "unit": "t",
}
PER_FILE = {"config": ["file"]}
PER_FOLDER = {"config": ["folder1"]}
PASS = {"word": ["pass=1", "fail=0"]}

#: The writer, the options, and the means.
KINDS = {
    "OpenAI Evals": (
        openai_evals,
        PER_FILE
        | {
            "instance": "sample_id",
            "objective": ["accuracy=data.correct"],
            "where": "`data.correct`.notna()",
        },
        PLAIN,
    ),
    "DeepEval": (
        deepeval,
        {"config": ["file.hyperparameters.model"], "instance": "name"}
        | {"objective": ["accuracy=metricsData.Correctness [GEval].score"]},
        PLAIN,
    ),
    "JSON in cells": (
        json_in_cells,
        {
            "config": ["metadata.model"],
            "instance": "input.question",
            "objective": ["accuracy=scores.exact"],
        }
        | {"cost": ["metrics.tokens"], "unit": "tokens"},
        MEANS,
    ),
    "LangSmith": (
        langsmith,
        PER_FILE | {"instance": "inputs.q", "objective": ["a=feedback.right"]},
        PLAIN,
    ),
    "EvalPlus": (
        evalplus,
        PER_FILE | PASS | {"instance": "task_id", "objective": ["a=plus_status"]},
        PLAIN,
    ),
    "SWE-bench report": (
        swe_bench_report,
        PER_FILE | {"instance": "key", "objective": ["a=resolved_ids"]},
        PLAIN,
    ),
    "SWE-bench logs": (
        swe_bench_logs,
        PER_FOLDER | {"instance": "key", "objective": ["a=resolved"]},
        PLAIN,
    ),
    "lighteval": (
        lighteval,
        PER_FOLDER | {"instance": "doc.id", "objective": ["a=metric.match"]},
        PLAIN,
    ),
    "OpenCompass": (
        opencompass,
        PER_FOLDER | {"instance": "key", "objective": ["a=correct"]},
        PLAIN,
    ),
    "MTEB": (
        mteb,
        PER_FOLDER | {"instance": "file.task_name", "objective": ["a=main_score"]},
        PLAIN,
    ),
    "RouterBench": (
        routerbench,
        {
            "wide": "{config}|{field}",
            "instance": "sample_id",
            "cost": ["total_cost"],
            "unit": "USD",
        },
        MEANS,
    ),
    "AlpacaEval": (
        alpaca_eval,
        {
            "config": ["generator_2"],
            "instance": "instruction",
            "objective": ["wins=preference"],
        }
        | {"range": ["wins=1:2"]},
        PLAIN,
    ),
    "MT-bench": (
        mt_bench,
        {"config": ["model"], "instance": "question_id", "objective": ["rating=score"]}
        | {"range": ["rating=1:10"], "no_score": ["-1"]},
        MEANS,
    ),
    "ragas": (
        ragas,
        PER_FILE
        | {
            "instance": "user_input",
            "objective": ["faithfulness"],
            "missing": "leave-out",
        },
        PLAIN,
    ),
    "rows under names of columns": (table_of_rows, MODEL, MEANS),
    **{
        f"pandas, {orient}": (partial(pandas_frame, orient), MODEL, MEANS)
        for orient in ("columns", "index", "split", "table", "records")
    },
    "a service": (
        records_in_a_service,
        PER_FILE
        | {
            "instance": "inputs.q",
            "objective": ["g=outputs.g.g"],
            "range": ["g=1:5"],
        },
        PLAIN,
    ),
    "trials": (
        trials,
        PER_FILE | {"instance": "task_id", "objective": ["accuracy=reward"]},
        PLAIN,
    ),
    "spreadsheet": (
        spreadsheet,
        {
            "config": ["Modell"],
            "instance": "Frage",
            "objective": ["a=Richtig"],
            "cost": ["Kosten"],
        }
        | {"unit": "EUR", "word": ["ja=1", "nein=0"]},
        MEANS,
    ),
    "dollars": (
        dollars,
        {
            "config": ["model"],
            "instance": "q",
            "objective": ["a=score"],
            "cost": ["cost"],
            "unit": "USD",
        }
        | {"range": ["a=0:100"]},
        MEANS,
    ),
    "marks": (
        marks,
        {"wide": "{config}", "instance": "q", "word": ["✓=1", "✗=0"]},
        MEANS,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_files_of_common_tools_are_read_correctly(kind):
    write_files, options, means = KINDS[kind]
    write_files()
    done = import_logs(paths=["files"], **options)
    frame = done.table.rows
    accuracy = frame.groupby("config", observed=True)[done.table.objectives[0]].mean()
    assert accuracy.to_dict() == pytest.approx(means)
    assert done.table.n_instances.tolist() == [8, 8, 8]


@pytest.mark.parametrize(
    ("kind", "costs"),
    [
        ("spreadsheet", [1000.5 + 10 * i for i in range(8)]),
        ("dollars", [1200.5 + i for i in range(8)]),
    ],
)
def test_costs_with_currency_and_thousands_are_read(kind, costs):
    write_files, options, _ = KINDS[kind]
    write_files()
    done = import_logs(paths=["files"], **options)
    assert sorted(set(done.table.rows["cost"])) == pytest.approx(costs)
    assert any("as numbers without" in line for line in done.report)


def test_numbers_with_different_units_are_refused():
    rows = [
        f"{model},q{i},{score},{1 + i}{'ms' if i else 's'}" for model, i, score in CELLS
    ]
    write("t.csv", "\n".join(["model,q,ok,latency", *rows]))
    with pytest.raises(TableError) as caught:
        import_logs(paths=["files"], **MODEL | {"cost": ["latency"]})
    (fault,) = caught.value.faults
    assert (fault.code, fault.row, fault.column) == ("not-a-number", 1, "latency")


def test_file_names_keep_their_dots():
    langsmith()
    done = import_logs(paths=["files"], **KINDS["LangSmith"][1])
    assert set(done.table.configs) == {"gpt-4.1", "gpt-4.1-mini", "org-m_t0.5"}


def test_equal_file_names_are_not_configurations():
    opencompass()
    with pytest.raises(TableError) as caught:
        import_logs(paths=["files"], **KINDS["OpenCompass"][1] | {"config": ["file"]})
    (fault,) = caught.value.faults
    assert fault.code == "equal-file-names" and fault.remedy.endswith(
        "--config folder1"
    )


def test_equally_long_lists_of_records_are_not_guessed_at():
    write("t.json", {"a": [{"q": 1}, {"q": 2}], "b": [{"p": 1}, {"p": 2}]})
    with pytest.raises(TableError) as caught:
        import_logs(paths=["files"], **MODEL)
    (fault,) = caught.value.faults
    assert fault.code == "no-records" and fault.remedy.endswith("--records a or b")


@pytest.mark.slow
def test_files_without_the_named_columns_are_skipped():
    mteb()
    done = import_logs(paths=["files"], **KINDS["MTEB"][1])
    first, *_ = [line for line in done.report if "model_meta.json" in line]
    assert first.startswith("left out: ")


def test_file_without_records_is_skipped():
    opencompass()
    write("settings.json", {"a": [{"q": 1}, {"q": 2}], "b": [{"p": 1}, {"p": 2}]})
    done = import_logs(
        paths=["files"], **KINDS["OpenCompass"][1] | {"config": ["folder2"]}
    )
    assert any(
        line.startswith("left out: ") and "settings.json" in line
        for line in done.report
    )
    assert len(done.table.configs) == 3


def test_incomplete_lists_of_names_are_not_records():
    """Where only what was resolved is listed, every model would be right everywhere."""
    for model, scores in EACH.items():
        resolved = [f"repo-{i}" for i, score in scores if score]
        write(f"{model}.json", {"resolved": resolved, "no_logs": ["repo-9"]})
    with pytest.raises(TableError) as caught:
        import_logs(
            paths=["files"], config=["file"], instance="key", objective=["a=resolved"]
        )
    assert {fault.code for fault in caught.value.faults} == {"missing-column"}


def test_long_numbers_in_json_stay_names():
    rows = [
        {"meta": json.dumps({"run": 2**62 + k, "ok": 1}), "q": i, "cost": 1}
        for k in range(3)
        for i in range(8)
    ]
    write_csv("t.csv", [*rows, {"meta": None, "q": 9, "cost": 1}])
    condition = "`meta.run`.notna()"
    done = import_logs(
        paths=["files"],
        config=["meta.run"],
        instance="q",
        objective=["a=meta.ok"],
        where=condition,
    )
    assert done.table.configs == tuple(str(2**62 + k) for k in range(3))
