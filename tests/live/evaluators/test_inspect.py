"""Tasks of Inspect AI as evaluators, with a model that a test makes up."""

import anyio
import pandas as pd
import pytest
from pydantic import ValidationError
from support.evaluating import opened
from support.faults import fault
from support.runs import PLAN

from cobandit import live
from cobandit.errors import CobanditError
from cobandit.live.evaluators import Failure, find_evaluator
from cobandit.tables.importers import import_logs

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.slow  # to import it takes seconds

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes, match, mean, scorer, Score
from inspect_ai.solver import generate

@scorer(metrics={"length": [mean()], "words": [mean()]})
def shape():
    async def score(state, target):
        length = len(state.output.completion) / 100
        return Score(value={"length": length, "words": "many"})
    return score

def samples(ids):
    return MemoryDataset([Sample(id=i, input=f"Say {i}", target=str(i)) for i in ids])

@task
def sums(n: int = 12, scorers: str = "match"):
    number = match(location="any")
    scorer = {"match": number, "both": [number, shape()]}[scorers]
    dataset = samples(range(1, n + 1))
    return Task(dataset=dataset, solver=generate(), scorer=scorer, epochs=3)

@task
def odd_names():
    ids = ["a:b", "odd_names:c", "d[1]*", "dx", "7", "007", "e/f"]
    return Task(dataset=samples(ids), solver=generate(), scorer=match(location="any"))
"""


@pytest.fixture(scope="module", autouse=True)
def stub_model():
    """Define a provider ``stub``, which repeats the last word, fails or charges."""
    from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

    @modelapi("stub")
    class Stub(ModelAPI):
        async def generate(self, input, tools, tool_choice, config):
            word = input[-1].text.split()[-1]
            if self.model_name == "failing" and word in "258":
                raise RuntimeError(f"no answer to {word}")
            # Inspect rounds seconds to thousandths; a latency that is constant is
            # refused as an objective.
            await anyio.sleep(30 if self.model_name == "slow" else 0.01 * len(word))
            message = word if config.temperature == 0 else "nothing"
            output = ModelOutput.from_content(self.model_name, message)
            output.usage = ModelUsage(
                input_tokens=10,
                output_tokens=3 + len(word),
                total_tokens=20,
                input_tokens_cache_read=6,
            )
            return output


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tasks.py").write_text(TASK)
    (tmp_path / "free.yml").write_text("stub/small: {input: 0, output: 0}")
    (tmp_path / "prices.yml").write_text(
        "stub/small: {input: 1, cached: 0.1, output: 10}\n"
    )
    return tmp_path


def run(
    folder,
    configurations,
    instances=("3", "1"),
    use=None,
    ids=None,
    columns=(),
    cost="tokens",
    **options,
):
    async def evaluate(evaluator):
        return [
            await evaluator.evaluate(settings, list(instances))
            for settings in configurations
        ]

    context = {
        "folder": folder,
        "configurations": configurations,
        "instances": ids or instances,
    }
    context |= {"cost": cost, "objectives": columns}
    return opened(
        "inspect", {"task": "tasks.py@sums"} | options, use or evaluate, **context
    )


def test_evaluator_and_importer_read_the_same_log_values(
    folder,
):
    configurations = [
        {"model": "stub/small", "temperature": t, "n": 12} for t in (0, 1)
    ]
    ids = ("12", "1", "3", "7")
    right, wrong = run(folder, configurations, ids, prices="prices.yml")
    for id_, row in zip(ids, right, strict=True):
        tokens = 3 + len(id_)
        assert row["cost_usd"] == pytest.approx((10 + 0.1 * 6 + 10 * tokens) / 1e6)
        assert 0 < row["seconds"] < 20
        counts = {
            "prompt_tokens": 16,
            "cached_tokens": 6,
            "tokens": tokens,
            "truncated": 0,
            "empty": 0,
        }
        assert row.items() >= (counts | {"score": 1, "match": 1}).items()
    assert [row["score"] for row in wrong] == [0] * 4
    paid = {
        "cost": "usd",
        "prices": folder / "prices.yml",
        "latency": "working_time",
        "profiling": 2,
    }
    table = import_logs(
        "inspect", [folder / "run" / "inspect"], folder / "again.parquet", **paid
    ).table
    measured = ("score", "cost_usd", "seconds")
    reimported = pd.read_parquet(folder / "again.parquet").set_index(
        ["config", "instance"]
    )
    for config, rows in zip(table.configs, (right, wrong), strict=True):
        for id_, row in zip(ids, rows, strict=True):
            expected_row = reimported.loc[(config, id_)]
            assert {name: expected_row[name] for name in measured} == {
                name: row[name] for name in measured
            }


def test_only_requested_samples_are_evaluated(folder):
    ids = ["a:b", "odd_names:c", "d[1]*", "7", "007", "e/f"]
    configuration = {"model": "stub/small", "temperature": 0}
    (rows,) = run(folder, [configuration], ids, task="tasks.py@odd_names")
    assert [row["score"] for row in rows] == [1] * len(ids)
    (alone,) = run(
        folder, [configuration], ["d[1]*"], task="tasks.py@odd_names", ids=ids
    )
    assert len(alone) == 1
    from inspect_ai.log import list_eval_logs, read_eval_log

    logs = [
        read_eval_log(info) for info in list_eval_logs(str(folder / "run" / "inspect"))
    ]
    assert sorted(len(log.samples) for log in logs) == [1, len(ids)]


def test_sample_errors_are_failures_with_their_cost(folder):
    (rows,) = run(
        folder, [{"model": "stub/failing", "temperature": 0}], ("1", "2", "3", "5")
    )
    assert [isinstance(row, Failure) for row in rows] == [False, True, False, True]
    assert "no answer to 2" in str(rows[1])
    assert rows[1].retry
    assert rows[1].cost is None


def test_several_scorers_become_columns(folder):
    configuration = {"model": "stub/small", "temperature": 0, "scorers": "both"}
    with fault("several-scorers", names=["match, shape"]):
        run(folder, [configuration])
    (rows,) = run(
        folder,
        [configuration],
        scorer="shape.length",
        columns=["match", "shape.length"],
    )
    assert rows[0]["score"] == rows[0]["shape.length"] == 0.01
    assert rows[0]["match"] == 1
    assert "shape.words" not in rows[0]
    (rows,) = run(folder, [configuration], scorer="matsch")
    assert "without a score of matsch" in str(rows[0])
    assert not rows[0].retry


def test_eval_is_aborted_and_the_next_one_runs(folder):
    async def use(evaluator):
        with anyio.move_on_after(3) as scope:
            await evaluator.evaluate({"model": "stub/slow"}, ["1"])
        assert scope.cancelled_caught
        return await evaluator.evaluate(
            {"model": "stub/small", "temperature": 0}, ["1"]
        )

    rows = run(
        folder,
        [{"model": "stub/slow"}, {"model": "stub/small", "temperature": 0}],
        ["1"],
        use,
    )
    assert rows[0]["score"] == 1


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"model": None}, {}, "has no model"),
        ({"temperature": "hot"}, {}, "temperature: Input should be a valid number"),
        ({"temprature": 0}, {}, "the task takes no argument 'temprature'"),
        (
            {"model": "nobody/small"},
            {},
            "tasks.py@sums: Inspect cannot run this task: ",
        ),
        (
            {},
            {"task": "tasks.py@summs"},
            "tasks.py@summs: Inspect cannot run this task: ",
        ),
        (
            {},
            {"task": "nowhere.py@sums"},
            "nowhere.py@sums: Inspect cannot run this task: ",
        ),
        ({}, {"task": "nowhere/sums"}, "nowhere/sums: Inspect cannot run this task: "),
        ({}, {"ids": ["1", "13"]}, "the task has no sample '13'"),
        ({"n": 2}, {}, "the task has no sample '3'"),
        ({}, {"generate": {"temprature": 0}}, "temprature"),
        ({}, {"columns": ["mach"]}, "no column 'mach' -> did you mean 'match'?"),
        (
            {},
            {"cost": "cost_usd", "prices": "free.yml"},
            "the price of 'stub/small' is zero",
        ),
        ({}, {"cost": "cost_eur"}, "measures no column 'cost_eur'"),
        ({}, {"prices": "nowhere.yml"}, "there is no such file of prices"),
    ],
)
def test_faults_are_reported_on_opening(folder, settings, arguments, message):
    with pytest.raises(CobanditError) as caught:
        run(
            folder,
            [{"model": "stub/small"}, {"model": "stub/small"} | settings],
            **arguments,
        )
    assert message in str(caught.value) and not (folder / "run").exists()


def test_block_size_follows_the_options():
    options = find_evaluator("inspect").options
    assert options(task="t").block == 20
    with pytest.raises(ValidationError) as caught:
        options(task="tasks.py")
    (detail,) = caught.value.errors()
    assert (detail["loc"], detail["type"]) == (("task",), "string_pattern_mismatch")


def test_silent_model_stops_the_run_and_is_named(folder):
    """What its service says is said, and Inspect does not try for ever."""
    plan = PLAN | {
        "configurations": {
            "list": [{"model": "stub/failing"}, {"model": "stub/small"}]
        },
        "instances": ["2", "5"],
        "pilot": 2,
        "budget": 1,
        "objectives": [{"name": "accuracy", "column": "score"}],
        "evaluate": {
            "inspect": {
                "task": f"{folder}/tasks.py@sums",
                "generate": {"temperature": 0},
            }
        },
        "patience": 0.2,
    }
    with fault("silent-service") as caught:
        live.run(plan, folder / "run")
    message = str(caught.value)
    assert "'stub/failing'" in message
    assert "no answer to 2" in message or "no answer to 5" in message
