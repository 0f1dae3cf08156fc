"""Shared behaviour of log importers: stated means, repeats, conditions, clusters."""

import json
import shutil
from pathlib import Path

import pytest
from support import logs
from support.faults import fault
from support.logs import HEADS, TAILS

from cobandit.tables.importers import import_logs as import_new

HERON, SPARROW = (
    "example/heron-large temperature=0.7",
    "example/sparrow-mini temperature=0.0",
)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    for name in ("json", "eval", "lm", "helm"):
        shutil.copytree(logs.STORED / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def take(source="inspect", folder="json", **options):
    return import_new(source, [folder], "my.parquet", force=True, **options)


def remarks(imported, start):
    return [line for line in imported.report if line.startswith(start)]


# Stated values.


def say(path, value, reducer=None, **results):
    scored = {
        "name": "match",
        "scorer": "match",
        "reducer": reducer,
        "metrics": {"accuracy": {"value": value}},
    }
    logs.change(path, lambda log: log["results"].update(scores=[scored], **results))


def test_stated_mean_is_compared(workspace):
    means = take().table.summary()["accuracy"]
    say(HEADS, means[SPARROW])
    say(TAILS, means[HERON] - 0.25, "mode")
    (line,) = remarks(take(), "differs: ")
    assert "heron-large" in line and "mode" in line and f"{means[HERON]:.4g}" in line


def test_harness_states_a_mean_per_filter(workspace):
    own_names = {"exact_match,strict-match": 0.123, "exact_match,flexible-extract": 1.0}
    for results in Path("lm").rglob("results_*.json"):
        logs.change(
            results, lambda content: content.update(results={"sums": own_names})
        )
    assert len(remarks(take("lm-eval", "lm", filter="strict-match"), "differs: ")) == 2
    assert not remarks(take("lm-eval", "lm", filter="flexible-extract"), "differs: ")


def total(mean, **name):
    return {
        "name": {"name": "exact_match", "split": "test"} | name,
        "count": 1,
        "mean": mean,
    }


def test_helm_means_are_read_from_their_file(workspace):
    means = take("helm", "helm", metric=["exact_match"]).table.summary()["accuracy"]
    runs = {path.parent: path for path in Path("helm").rglob("run_spec.json")}
    for folder in runs:
        name = HERON if "heron" in str(folder) else SPARROW
        wrong = 0.25 if name == HERON else 0.0
        perturbed = total(0.0, perturbation={"name": "robustness"})
        (folder / "stats.json").write_text(
            json.dumps([total(means[name] - wrong), perturbed])
        )
    (line,) = remarks(take("helm", "helm", metric=["exact_match"]), "differs: ")
    assert "heron-large" in line and f"{means[HERON]:.4g}" in line


@pytest.mark.parametrize(
    "totals", [[total("n/a")], [total(0.1), total(0.2, split="valid")], []]
)
def test_incomparable_helm_means_are_ignored(workspace, totals):
    for spec in Path("helm").rglob("run_spec.json"):
        spec.with_name("stats.json").write_text(json.dumps(totals))
    assert not remarks(take("helm", "helm", metric=["exact_match"]), "differs: ")


@pytest.mark.parametrize("value", [None, "n/a", float("nan"), {"mean": 1}])
def test_incomparable_means_refuse_no_log(workspace, value):
    say(HEADS, value, total_samples="many")
    logs.change_samples(
        lambda i, sample: sample.update(metadata=None, output=None), HEADS
    )
    imported = take()
    assert imported.table.n_arms == 2 and not remarks(imported, "differs: ")


@pytest.mark.parametrize("counted", [12, 24])
def test_repeated_samples_count_once(workspace, counted):
    before = take().table
    logs.change(HEADS, lambda log: log.update(samples=log["samples"] * 2))
    say(HEADS, 0, total_samples=counted)
    imported = take()
    assert (imported.table.rows["accuracy"] == before.rows["accuracy"]).all()
    assert remarks(imported, "duplicates in") and not remarks(imported, "incomplete")


def test_repeated_harness_lines_count_once(workspace):
    for path in Path("lm").rglob("samples_*.jsonl"):
        path.write_text(path.read_text() + path.read_text())
    imported = take("lm-eval", "lm", filter="strict-match")
    assert (
        imported.table.n_instances.tolist() == [12, 12]
        and len(remarks(imported, "duplicates in")) == 2
    )


def test_log_with_surplus_samples_is_reported(workspace):
    say(HEADS, 0, total_samples=7)
    assert any("its run counted 7" in line for line in remarks(take(), "differs: "))


# Questions.


def pairs(imported):
    """Both scores of each question, in no order."""
    rows = imported.table.rows.sort_values("config")
    return sorted(rows.groupby("instance", observed=True)["accuracy"].agg(tuple))


def test_reordered_questions_are_matched(workspace):
    """Tasks are compared on the same questions, though their numbers are others."""
    before = take().table.summary()

    def turn(log):
        log["eval"]["task"] = "sums_cot"
        log["samples"] = [
            sample | {"id": number}
            for number, sample in enumerate(reversed(log["samples"]), 1)
        ]

    logs.change(TAILS, turn)
    imported = take(compare_tasks=True, by=["model"])
    assert (
        remarks(imported, "another order")
        and "heron" in remarks(imported, "another order")[0]
    )
    logs.change(
        TAILS,
        lambda log: [sample.update(id=13 - sample["id"]) for sample in log["samples"]],
    )
    repeated = take(compare_tasks=True, by=["model"])
    assert not remarks(repeated, "another order") and pairs(repeated) == pairs(imported)
    assert sorted(imported.table.summary()["accuracy"]) == sorted(before["accuracy"])


def test_different_questions_are_different_instances(workspace):
    logs.change_samples(
        lambda i, sample: i < 2 and sample.update(input="What is 1 + 1?", target=i),
        HEADS,
    )
    imported = take()
    assert "2 of 12 questions" in remarks(imported, "another version")[0]
    assert imported.table.n_instances.tolist() == [12, 12]
    assert len(set(imported.table.rows["instance"])) == 14


def test_prompts_in_questions_do_not_change_names(workspace):
    logs.change_samples(
        lambda i, sample: sample.update(input=f"Think. {sample['input']}"), HEADS
    )
    imported = take()
    assert "12 of 12" in remarks(imported, "other questions")[0]
    assert len(set(imported.table.rows["instance"])) == 12


# Conditions and clusters.


def tag(i, sample):
    sample["metadata"] = {"passage": f"p{i // 3}", "hard": i % 2 == 0}


def test_condition_reads_fields_of_samples(workspace):
    logs.change_samples(tag)
    imported = take(where="hard and seconds < 100")
    assert imported.table.n_instances.tolist() == [6, 6]
    assert "left out: 12 evaluations that --where leaves out" in imported.report
    assert set(take(where="match == 'C'").table.rows["accuracy"]) == {1.0}
    with fault("bad-condition", "--where", names=["'hrad' is not defined"]):
        take(where="hrad")


def test_condition_reads_harness_documents(workspace):
    for path in Path("lm").rglob("samples_*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(
            "\n".join(
                json.dumps(line | {"doc": {"n": line["doc_id"]}}) for line in lines
            )
        )
    imported = take("lm-eval", "lm", filter="strict-match", where="n < 8")
    assert imported.table.n_instances.tolist() == [8, 8]


def test_field_gives_the_cluster_of_instances(workspace):
    logs.change_samples(tag)
    table = take(cluster="passage").table
    assert table.card.cluster == "passage" and len(set(table.clusters)) == 4
    with fault("no-group-column", "--cluster", remedy="did you mean 'passage'"):
        take(cluster="pasage")


# Costs, and doubtful answers.


def test_folder_with_unlogged_usage_is_imported_completely(workspace):
    logs.change_samples(lambda i, sample: sample.update(model_usage={}), HEADS)
    imported = take()
    assert imported.table.card.cost.unit == "evaluations" and imported.table.n_arms == 2
    (line,) = remarks(imported, "cost: 1 of 2 logs")
    assert "--cost seconds" in line and "--cost tokens" in line
    assert take(cost="seconds").table.card.cost.unit == "seconds"
    with fault("one-configuration"):
        take(cost="tokens")


def test_usage_of_other_models_is_offered(workspace):
    usage = {"else": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}}
    logs.change_samples(lambda i, sample: sample.update(model_usage=usage), HEADS)
    (line,) = remarks(take(), "cost: 1 of 2 logs")
    assert "--usage all" in line and take(usage="all").table.card.cost.unit == "tokens"


def test_doubtful_answers_are_counted_per_configuration(workspace):
    def spoil(i, sample):
        sample["output"] = {"choices": [{"message": {"content": "" if i < 3 else "4"}}]}
        if 2 <= i < 7:
            sample["output"]["choices"][0]["stop_reason"] = "max_tokens"
        if i == 11:
            sample["error"] = {"message": "no"}

    logs.change_samples(spoil, HEADS)
    imported = take()
    assert f"answers cut off: 5 of 11 evaluations of {SPARROW}" in imported.report
    assert f"answers empty: 3 of 11 evaluations of {SPARROW}" in imported.report
    assert (
        f"samples that ended in an error: 1 of 12 evaluations of {SPARROW}"
        in imported.report
    )
    counts = imported.table.card.counts[SPARROW]
    assert counts["answers cut off"] == 5 and HERON not in imported.table.card.counts


def test_repeats_that_never_differ_are_named(workspace):
    def repeat(log, differ):
        second = [sample | {"epoch": 2} for sample in log["samples"]]
        if differ:
            second[0] = second[0] | {"scores": {"match": {"value": 0.5}}}
        log["samples"] += second

    logs.change(HEADS, lambda log: repeat(log, differ=False))
    logs.change(TAILS, lambda log: repeat(log, differ=True))
    assert remarks(take(), "repeats never differ") == [
        f"repeats never differ: 12 of 12 evaluations of {SPARROW}"
    ]
