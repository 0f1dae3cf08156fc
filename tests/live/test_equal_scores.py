"""A pilot with equal scores stops, shows an answer, and resumes after a correction."""

import json
import os

import pandas as pd
import pytest
from support.runs import PLAN, Fake, asking
from support.stub_endpoint import completion, stub_endpoint

from cobandit import live
from cobandit.errors import TableError
from cobandit.live.lines import Lines, read_entries
from cobandit.live.run_files import RunFiles

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_flush(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda fd: None)


class Wrong(Fake):
    """Scores every answer 0."""

    async def evaluate(self, configuration, instances):
        rows = await super().evaluate(configuration, instances)
        return [row | {"correct": 0.0} for row in rows]


def write_questions(folder, answer="2"):
    lines = [
        {
            "instance": f"q{n}",
            "question": f"{n}?",
            "answer": answer,
            "gold": f"{1 + n % 2}",
        }
        for n in range(8)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))


def write_plan(folder, address, scorer="exact", **options):
    plan = asking(address, scorer=scorer, **options) | {"budget": 1}
    (folder / "plan.yml").write_text(json.dumps(plan))
    return folder / "plan.yml"


def answer(body):
    """Every other answer of the small model is right, but never the target alone."""
    number = int(body["messages"][0]["content"].rstrip("?"))
    right = "large" in body["model"] or number % 2
    return completion(f"It is {2 if right else 3}", (9, 1 + number % 3))


def stopped(call):
    with pytest.raises(TableError) as caught:
        call()
    (fault,) = caught.value.faults
    assert fault.code == "equal-scores", fault
    return fault


def test_equal_scores_stop_the_run_and_show_an_answer_with_its_target(tmp_path):
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address)
        fault = stopped(lambda: live.run(plan, tmp_path / "run"))
        assert len(address.requests) == 6  # the pilot alone
    assert fault.file == str(tmp_path / "run")
    assert (
        "', where '2' is right" in fault.problem and "answered 'It is " in fault.problem
    )
    assert (
        "equal_scores: true" in fault.remedy and "without new requests" in fault.remedy
    )


def test_corrected_scorer_rescores_stored_answers_without_calls(tmp_path):
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        stopped(lambda: live.run(write_plan(tmp_path, address), tmp_path / "run"))
        before = read_entries(tmp_path / "run" / "pilot.journal")
        done = live.run(write_plan(tmp_path, address, "number"), tmp_path / "run")
        assert len(address.requests) == len(pd.read_parquet(done.table)) > 6
        full_run = live.run(tmp_path / "plan.yml", tmp_path / "whole")
    after = read_entries(tmp_path / "run" / "pilot.journal")
    # the same evaluations at the same costs, other scores
    assert [entry.get("cost") for entry in before] == [
        entry.get("cost") for entry in after
    ]
    assert before != after
    columns = ["config", "instance", "score", "tokens"]
    tables = [pd.read_parquet(result.table)[columns] for result in (done, full_run)]
    pd.testing.assert_frame_equal(*tables)
    assert (
        done.recommendation == full_run.recommendation and done.spent == full_run.spent
    )
    rows = live.read_answers(tmp_path / "run").set_index(["config", "instance"])["row"]
    assert all(
        rows[result.config, result.instance]["score"] == result.score
        for result in tables[0].itertuples()
    )


def test_incomplete_last_line_is_kept_by_rescoring(tmp_path):
    """As a process leaves it that died right then."""
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        stopped(lambda: live.run(write_plan(tmp_path, address), tmp_path / "run"))
        journal = tmp_path / "run" / "pilot.journal"
        lines = journal.read_bytes().splitlines(keepends=True)
        last = max(n for n, line in enumerate(lines) if b'"tell"' in line)
        journal.write_bytes(b"".join(lines[: last + 1]).removesuffix(b"\n"))
        done = live.run(write_plan(tmp_path, address, "number"), tmp_path / "run")
        assert len(address.requests) == len(pd.read_parquet(done.table))


def test_corrected_targets_are_rescored(tmp_path):
    write_questions(tmp_path, answer="#### two")
    with stub_endpoint(answer) as address:
        plan = write_plan(tmp_path, address, "contains")
        stopped(lambda: live.run(plan, tmp_path / "run"))
        stopped(lambda: live.run(plan, tmp_path / "run"))
        write_questions(tmp_path)
        done = live.run(plan, tmp_path / "run")
        assert len(address.requests) == len(pd.read_parquet(done.table))
    assert pd.read_parquet(done.table)["score"].nunique() == 2


def test_another_target_column_is_rescored(tmp_path):
    write_questions(tmp_path, answer="none of these")
    with stub_endpoint(answer) as address:
        stopped(
            lambda: live.run(
                write_plan(tmp_path, address, "contains"), tmp_path / "run"
            )
        )
        done = live.run(
            write_plan(tmp_path, address, "contains", answer="gold"), tmp_path / "run"
        )
        assert len(address.requests) == len(pd.read_parquet(done.table))


def test_scorer_cannot_change_after_the_pilot(tmp_path):
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        live.run(write_plan(tmp_path, address, "number"), tmp_path / "run")
        with pytest.raises(TableError) as caught:
            live.run(write_plan(tmp_path, address, "exact"), tmp_path / "run")
    assert caught.value.faults[0].code == "other-plan"


def test_answers_to_other_prompts_are_not_rescored(tmp_path):
    """Results of both would be mixed."""
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        stopped(lambda: live.run(write_plan(tmp_path, address), tmp_path / "run"))
        lines = (tmp_path / "questions.jsonl").read_text().replace("?", " ?")
        (tmp_path / "questions.jsonl").write_text(lines)
        with pytest.raises(TableError) as caught:
            live.run(write_plan(tmp_path, address, "number"), tmp_path / "run")
        assert len(address.requests) == 6
    assert caught.value.faults[0].code == "other-plan"


def test_run_survives_a_killed_rescoring(tmp_path, monkeypatch):
    write_questions(tmp_path)
    with stub_endpoint(answer) as address:
        stopped(lambda: live.run(write_plan(tmp_path, address), tmp_path / "run"))
        mended = write_plan(tmp_path, address, "number")
        with monkeypatch.context() as patched:
            patched.setattr(
                Lines,
                "replace",
                lambda self, entries: self.close() or exec("raise OSError"),
            )
            with pytest.raises(OSError):
                live.run(mended, tmp_path / "run")
        done = live.run(mended, tmp_path / "run")
        assert len(address.requests) == len(pd.read_parquet(done.table))
    assert len(live.read_answers(tmp_path / "run")) == len(pd.read_parquet(done.table))


def test_small_pilot_of_right_answers_continues(tmp_path):
    class Right(Fake):
        async def evaluate(self, configuration, instances):
            rows = await super().evaluate(configuration, instances)
            return [row | {"correct": 1.0} for row in rows]

    done = live.run(PLAN, tmp_path / "run", evaluator=Right())

    assert (pd.read_parquet(done.table)["correct"] == 1.0).all()


def test_equal_scores_continue_if_the_plan_allows_them(tmp_path):
    fault = stopped(lambda: live.run(PLAN, tmp_path / "run", evaluator=Wrong()))
    assert "--folder" in fault.remedy
    done = live.run(PLAN | {"equal_scores": True}, tmp_path / "run", evaluator=Wrong())
    full_run = live.run(
        PLAN | {"equal_scores": True}, tmp_path / "whole", evaluator=Wrong()
    )
    pd.testing.assert_frame_equal(
        pd.read_parquet(done.table), pd.read_parquet(full_run.table)
    )


def test_run_past_its_pilot_continues(tmp_path):
    """As one of an earlier version, which did not stop."""
    plan = PLAN | {"equal_scores": True, "budget": 0.4}
    live.run(plan, tmp_path / "run", evaluator=Wrong())
    live.run(PLAN | {"budget": 0.5}, tmp_path / "run", evaluator=Wrong())
    assert RunFiles(tmp_path / "run").table.exists()
