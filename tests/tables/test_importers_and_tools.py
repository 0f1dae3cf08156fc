"""Importers compared with the tools themselves, on logs written by the tools.

Needs the packages ``inspect-ai`` and ``lm-eval``; models are made up and nothing is
fetched.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit.tables.importers import import_logs

pytestmark = pytest.mark.slow

QUESTIONS = 8
# by model: one is right and short, the other wordy, at times silent, and right every
# third time
ANSWERS = {
    "brief": [str(2 * i) for i in range(QUESTIONS)],
    "wordy": [
        "" if i == 3 else f"{2 * i if i % 3 == 0 else 0}{' and that is it' * i}"
        for i in range(QUESTIONS)
    ],
}


def rows(imported):
    frame = imported.table.rows
    return (
        frame.astype({"config": str, "instance": str})
        .set_index(["config", "instance"])
        .sort_index()
    )


# Inspect AI.


@pytest.fixture(scope="module")
def inspect_ai():
    return pytest.importorskip("inspect_ai", exc_type=ImportError)


def evaluate(inspect_ai, folder, name, epochs=1, kind="eval", solver=None, **options):
    """Ask a made-up model; it counts its words as tokens, and an empty answer as none.

    Inspect rounds seconds to thousandths, in which a made-up model on a fast machine
    takes as long for every question, and a latency that is constant is refused as an
    objective. So later questions wait longer.
    """
    import anyio
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate
    from inspect_ai.solver import solver as solver_

    @solver_
    def waits():
        async def solve(state, generate):
            await anyio.sleep(0.004 * (1 + int(state.sample_id[1:])))
            return state

        return solve

    outputs = []
    for text in ANSWERS[name] * epochs:
        output = ModelOutput.from_content(f"mockllm/{name}", text)
        words = len(text.split())
        output.usage = ModelUsage(
            input_tokens=10, output_tokens=words, total_tokens=10 + words
        )
        outputs.append(output)
    dataset = [
        Sample(id=f"q{i}", input=f"{i} + {i}?", target=str(2 * i))
        for i in range(QUESTIONS)
    ]
    task = inspect_ai.Task(
        dataset=dataset,
        solver=[waits(), *(solver or []), generate()],
        scorer=match(location="begin"),
        name="sums",
    )
    (log,) = inspect_ai.eval(
        task,
        model=get_model(f"mockllm/{name}", custom_outputs=outputs),
        epochs=epochs,
        log_dir=str(folder),
        log_format=kind,
        display="none",
        max_samples=1,
        max_connections=1,
        **options,
    )
    return log


def said_by_inspect(path):
    """Return score, tokens and seconds of every sample by Inspect's own reader."""
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import value_to_float

    log, number = read_eval_log(str(path)), value_to_float()
    return pd.DataFrame(
        [
            (
                log.eval.model,
                str(sample.id),
                number(sample.scores["match"].value),
                max(1, sample.model_usage[log.eval.model].output_tokens),
                sample.model_usage[log.eval.model].total_tokens,
                sample.working_time,
            )
            for sample in log.samples
        ],
        columns=["config", "instance", "score", "tokens", "all", "seconds"],
    )


@pytest.mark.parametrize(("kind", "epochs"), [("eval", 2), ("json", 1)])
def test_inspect_reads_the_same_values(inspect_ai, tmp_path, kind, epochs):
    logs = [
        evaluate(inspect_ai, tmp_path / "logs", name, epochs, kind) for name in ANSWERS
    ]
    imported = import_logs(
        "inspect", [tmp_path / "logs"], tmp_path / "my.parquet", profiling=4
    )
    theirs = (
        pd.concat([said_by_inspect(log.location) for log in logs])
        .groupby(["config", "instance"])
        .mean()
    )
    ours = pd.read_parquet(tmp_path / "my.parquet").set_index(["config", "instance"])[
        ["score", "tokens", "seconds"]
    ]
    pd.testing.assert_frame_equal(
        ours.sort_index(), theirs[list(ours)], check_dtype=False, rtol=1e-12
    )
    means = imported.table.summary()["accuracy"]
    # Inspect's own aggregate, over samples of which each is the mean of its epochs
    for log in logs:
        (score,) = log.results.scores
        assert means[log.eval.model] == pytest.approx(score.metrics["accuracy"].value)
    assert f"{epochs} of {2 * epochs * QUESTIONS} evaluations were free" in "\n".join(
        imported.report
    )
    everything = import_logs(
        "inspect",
        [tmp_path / "logs"],
        tmp_path / "all.parquet",
        profiling=4,
        count="all",
    )
    assert np.array_equal(rows(everything)["cost"], theirs["all"])


def test_failed_inspect_run_and_retry_are_merged(inspect_ai, tmp_path):
    from inspect_ai.solver import solver

    state = {"left": 1}

    @solver
    def breaks_once():
        async def solve(state_, generate):
            if state_.sample_id == "q5" and state["left"]:
                state["left"] -= 1
                raise RuntimeError("the machine is tired")
            return state_

        return solve

    evaluate(inspect_ai, tmp_path / "logs", "brief")
    failed = evaluate(inspect_ai, tmp_path / "logs", "wordy", solver=[breaks_once()])
    assert failed.status == "error"
    second_run = evaluate(
        inspect_ai, tmp_path / "logs", "wordy", solver=[breaks_once()]
    )
    assert second_run.status == "success"
    imported = import_logs(
        "inspect", [tmp_path / "logs"], tmp_path / "my.parquet", profiling=4
    )
    assert list(imported.table.n_instances) == [QUESTIONS] * 2
    assert any(
        "the status 'error'" in line and Path(failed.location).name in line
        for line in imported.report
    )
    imported_both = import_logs(
        "inspect",
        [tmp_path / "logs"],
        tmp_path / "two.parquet",
        profiling=4,
        unfinished=True,
    )
    assert rows(imported_both).equals(rows(imported))
    assert any(line.startswith("rerun: ") for line in imported_both.report)


def test_unscored_inspect_log_is_reported(inspect_ai, tmp_path):
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.scorer import match

    for name in ANSWERS:
        evaluate(inspect_ai, tmp_path / "logs", name)
    before = import_logs(
        "inspect", [tmp_path / "logs"], tmp_path / "my.parquet", profiling=4
    )
    bare = evaluate(inspect_ai, tmp_path / "logs", "wordy", score=False)
    assert bare.status == "success"
    after = import_logs(
        "inspect", [tmp_path / "logs"], tmp_path / "two.parquet", profiling=4
    )
    (line,) = set(after.report) - set(before.report)
    assert "no samples with scores" in line and rows(after).equals(rows(before))
    scored = inspect_ai.score(
        read_eval_log(bare.location), match(location="begin"), display="none"
    )
    write_eval_log(scored, bare.location)
    newest = import_logs(
        "inspect", [tmp_path / "logs"], tmp_path / "three.parquet", profiling=4
    )
    reruns = [line for line in newest.report if line.startswith("rerun: ")]
    assert any(f"evaluations of {bare.location} replace" in line for line in reruns)
    assert rows(newest)["accuracy"].equals(rows(before)["accuracy"])


# Lm-evaluation-harness.

TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/documents.jsonl}}}}
test_split: test
doc_to_text: "{{{{question}}}}"
metadata: {{version: 1.0}}
"""
GENERATED = """
output_type: generate_until
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["."], temperature: 0.0}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - name: number
    filter: [{function: regex, regex_pattern: "([0-9]+)"}, {function: take_first}]
"""
CHOSEN = """
output_type: multiple_choice
doc_to_choice: ["{{answer}}", "{{answer}}1"]
doc_to_target: 0
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    """A folder with two tasks, and a function that evaluates a model on them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("harness")
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_DATASETS_OFFLINE", "1")
        patch.setenv("HF_HOME", str(folder / "home"))
        pytest.importorskip("lm_eval", exc_type=ImportError)
        from lm_eval import simple_evaluate
        from lm_eval.api.model import LM
        from lm_eval.api.registry import register_model
        from lm_eval.loggers import EvaluationTracker
        from lm_eval.tasks import TaskManager

        @register_model("made-up")
        class MadeUp(LM):
            def __init__(self, pretrained):
                super().__init__()
                self.said = ANSWERS[pretrained]

            @classmethod
            def create_from_arg_obj(cls, given, additional=None):
                return cls(given["pretrained"])

            def generate_until(self, requests, disable_tqdm=False):
                return [self.said[request.doc_id] for request in requests]

            def loglikelihood(self, requests, disable_tqdm=False):
                return [
                    (-float(request.idx == (len(self.said[request.doc_id]) > 3)), True)
                    for request in requests
                ]

            def loglikelihood_rolling(self, requests, disable_tqdm=False):
                raise NotImplementedError

        documents = [
            {"question": f"{i} + {i}?", "answer": str(2 * i)} for i in range(QUESTIONS)
        ]
        (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, documents)))
        for name, rest in (("sums", GENERATED), ("choice", CHOSEN)):
            (folder / f"{name}.yaml").write_text(
                TASK.format(name=name, folder=folder) + rest
            )

        tasks = TaskManager(include_path=str(folder), include_defaults=False)

        def run(output, name, *names, limit=None):
            """Run `lm_eval run --log_samples` without loading its 10,000 tasks."""
            tracker = EvaluationTracker(output_path=str(output))
            results = simple_evaluate(
                model="made-up",
                model_args={"pretrained": name},
                tasks=list(names),
                limit=limit,
                task_manager=tasks,
                evaluation_tracker=tracker,
                log_samples=True,
            )
            samples = results.pop("samples")
            tracker.save_results_aggregated(results=results, samples=samples)
            for task in results["configs"]:
                tracker.save_results_samples(task_name=task, samples=samples[task])
            return results["results"]

        yield run


def test_harness_reads_the_same_values(harness, tmp_path):
    results = {
        name: harness(tmp_path / "out", name, "sums", "choice") for name in ANSWERS
    }
    for name in ("strict", "number"):
        options = {"task": ["sums"], "filter": name, "profiling": 4, "force": True}
        imported = import_logs(
            "lm-eval", [tmp_path / "out"], tmp_path / "my.parquet", **options
        )
        means = imported.table.summary()["accuracy"]
        assert sorted(means.index) == sorted(ANSWERS)
        for model, result in results.items():
            assert means[model] == pytest.approx(result["sums"][f"exact_match,{name}"])
        tokens = rows(imported)["cost"]
        for model, texts in ANSWERS.items():
            assert list(tokens[model]) == [max(1, -(-len(text) // 4)) for text in texts]
        assert "1 of 16 evaluations were free" in "\n".join(imported.report)
    options = {"task": ["choice"], "count": "all", "profiling": 4}
    means = import_logs(
        "lm-eval", [tmp_path / "out"], tmp_path / "c.parquet", **options
    ).table.summary()
    for model, result in results.items():
        assert means["accuracy"][model] == pytest.approx(result["choice"]["acc,none"])


def test_harness_rerun_and_part_are_merged(harness, tmp_path):
    for name in ANSWERS:
        harness(tmp_path / "out", name, "sums")
    options = {"filter": "number", "profiling": 4}
    before = import_logs(
        "lm-eval", [tmp_path / "out"], tmp_path / "my.parquet", **options
    )
    harness(tmp_path / "out", "wordy", "sums", limit=3)
    after = import_logs(
        "lm-eval", [tmp_path / "out"], tmp_path / "two.parquet", **options
    )
    assert rows(after).equals(rows(before))
    (line,) = [line for line in after.report if line.startswith("rerun: ")]
    assert line.startswith("rerun: 3 evaluations of ")
    assert cb.recommend(after.table).most_efficient in ANSWERS
