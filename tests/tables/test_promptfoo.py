"""Results of promptfoo."""

import json
from pathlib import Path

import pytest
from support.faults import fault

import cobandit as cb
from cobandit.tables.importers import import_logs

QUESTIONS = [f"What is {n} + {n}?" for n in range(12)]


def entry(provider, question, score, **fields):
    return {
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": "{{question}}", "label": "plain"},
        "vars": {"question": question},
        "response": {
            "output": "4",
            "tokenUsage": {"total": 30, "prompt": 20, "completion": 10},
        },
        "score": score,
        "success": score == 1,
        "namedScores": {"tone": score / 2},
        "latencyMs": 500,
        "cost": 0.001,
        "failureReason": 0,
        "error": None if score else "Expected output to equal 4",
        **fields,
    }


def write(entries, name="results.json", **extra):
    stats = {"successes": len(entries), "failures": 0, "errors": 0}
    results = {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00Z",
        "results": entries,
        "stats": stats,
        **extra,
    }
    Path(name).write_text(json.dumps({"evalId": "e", "results": results, "config": {}}))


@pytest.fixture
def entries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return [
        entry(provider, question, (n + shift) % 2, latencyMs=400 + 10 * n)
        for shift, provider in enumerate(("openai:small", "openai:large"))
        for n, question in enumerate(QUESTIONS)
    ]


def test_scores_costs_and_times_are_read(entries):
    write(entries)
    done = import_logs("promptfoo", ["results.json"], "a.parquet")
    assert done.table.configs == ("openai:large", "openai:small")
    assert done.table.objectives == ("accuracy", "efficiency")
    assert (
        set(done.table.rows["cost"]) == {10.0} and done.table.card.cost.unit == "tokens"
    )
    assert "What is 3 + 3?" in set(done.table.rows["instance"])
    assert (cb.read("a.parquet").means == done.table.means).all(axis=None)
    money = import_logs(
        "promptfoo", ["results.json"], "b.parquet", cost="usd", metric=["score", "tone"]
    )
    assert money.table.objectives == ("score", "tone", "efficiency")
    assert set(money.table.rows["cost"]) == {0.001}


def test_cached_answers_are_not_free(entries):
    for number in range(3):
        usage = {"total": 30, "cached": 30}
        entries[number]["response"] = {
            "output": "4",
            "cached": True,
            "tokenUsage": usage,
        }
        entries[number]["cost"] = 0
    write(entries)
    done = import_logs("promptfoo", ["results.json"], "a.parquet")
    assert done.table.n_instances.tolist() == [12, 9]
    assert done.table.objectives == ("accuracy",)  # a cached answer's time is none
    assert any("3 of 12 evaluations of openai:small" in line for line in done.report)
    filled = import_logs("promptfoo", ["results.json"], "b.parquet", unmeasured="mean")
    assert filled.table.n_instances.tolist() == [12, 12] and set(
        filled.table.rows["cost"]
    ) == {10.0}


def test_failed_assertions_are_answers_but_errors_are_not(entries):
    entries[0] |= {"score": 0, "failureReason": 1}
    entries[1] |= {"response": None, "failureReason": 2, "error": "API error: 500"}
    write(entries)
    done = import_logs("promptfoo", ["results.json"], "a.parquet")
    assert done.table.n_instances.tolist() == [12, 11]
    assert any("1 results without an answer" in line for line in done.report)


def test_repeats_are_averaged_and_prompts_are_configurations(entries):
    repeated = [item | {"score": 1} for item in entries]
    write(entries + repeated)
    table = import_logs("promptfoo", ["results.json"], "a.parquet").table
    assert table.n_instances.tolist() == [12, 12] and set(table.rows["accuracy"]) == {
        0.5,
        1.0,
    }
    others = [
        item | {"prompt": {"raw": "Think. {{question}}", "label": "think"}}
        for item in entries
    ]
    write(entries + others)
    table = import_logs("promptfoo", ["results.json"], "b.parquet").table
    assert "openai:small prompt=think" in table.configs and table.n_arms == 4


def test_unrecognised_file_is_named(entries):
    Path("other.json").write_text('{"results": {"outputs": []}}')
    with fault("no-usable-log", "the logs") as caught:
        import_logs("promptfoo", ["other.json"], "a.parquet")
    assert "other.json: results.results" in str(caught.value)


def prompt_of(provider, score, passed, failed, errors=0):
    counts = {
        "testPassCount": passed,
        "testFailCount": failed,
        "testErrorCount": errors,
    }
    return {
        "provider": provider,
        "raw": "{{question}}",
        "label": "plain",
        "metrics": {"score": score} | counts,
    }


def test_stated_sums_are_compared_with_entries(entries):
    write(
        entries,
        prompts=[
            prompt_of("openai:small", 6, 6, 6),
            prompt_of("openai:large", 9, 9, 3),
        ],
    )
    (line,) = [
        line
        for line in import_logs("promptfoo", ["results.json"], "a.parquet").report
        if line.startswith("differs: ")
    ]
    assert "score of 0.75" in line and "is 0.5" in line


def test_missing_counted_entries_are_reported(entries):
    write(
        entries,
        prompts=[
            prompt_of("openai:small", 6, 6, 8),
            prompt_of("openai:large", 6, 6, 6),
        ],
    )
    report = import_logs("promptfoo", ["results.json"], "a.parquet").report
    assert [line for line in report if "12 of the 14 evaluations" in line]


@pytest.mark.parametrize(
    "metrics", [None, [], {"score": "six", "testPassCount": {}}, {"score": 1}]
)
def test_unreadable_sums_refuse_no_file(entries, metrics):
    write(
        entries,
        prompts=[
            prompt_of("openai:small", 6, 6, 6) | {"metrics": metrics},
            {"raw": "other"},
        ],
    )
    assert import_logs("promptfoo", ["results.json"], "a.parquet").table.n_arms == 2
