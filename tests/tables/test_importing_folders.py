"""Folders of logs: failed runs, reruns, unusable logs, free evaluations."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import logs
from support.commands import call
from support.faults import fault
from support.logs import HEADS, TAILS, change_samples

from cobandit.tables.importers import import_logs as import_new

import_logs = partial(import_new, force=True)
SPARROW = "example/sparrow-mini temperature=0.0"


def rerun(
    path, repeated, created="2026-02-01T10:20:30+00:00", status="success", **tokens
):
    """Another run of the same, later, in which every answer has its tokens."""
    shutil.copy(path, repeated)

    def later(log):
        log["eval"]["created"], log["status"] = created, status
        for sample in log["samples"]:
            for usage in sample["model_usage"].values():
                usage.update(tokens)

    logs.change(repeated, later)


def set_stat(path, name, value, *instances):
    """Give a statistic of HELM another value, of the named instances or of all."""

    def change(entries):
        for entry in entries:
            if entry["instance_id"] in instances or not instances:
                stats = {stat["name"]["name"]: stat for stat in entry["stats"]}
                stats.get(name, {}).update(mean=value)

    logs.change(path, change)


def lines(imported, start):
    return [line for line in imported.report if line.startswith(start)]


def tokens(config, path="my.parquet"):
    frame = pd.read_parquet(path)
    return set(frame[frame["config"].str.contains(config)]["tokens"])


@pytest.mark.slow
def test_newest_of_two_runs_counts(workspace):
    imported_whole = import_logs("inspect", ["json"], "my.parquet")
    # the time zone matters: this is later than the first, whatever its digits say
    rerun(HEADS, "json/a.json", "2026-01-15T09:20:31-02:00", output_tokens=777)
    imported_again = import_logs("inspect", ["json"], "my.parquet")
    assert (
        tokens("sparrow") == {777}
        and imported_again.table.configs == imported_whole.table.configs
    )
    assert lines(imported_again, "rerun: ") == [
        f"rerun: 12 evaluations of json/a.json replace those of {HEADS}"
    ]
    assert "from 2 logs" in imported_again.report[2]
    rerun(HEADS, "json/a.json", "2026-01-15T10:20:29", output_tokens=777)
    assert 777 not in tokens(
        "sparrow", import_logs("inspect", ["json"], "my.parquet").records
    )


@pytest.mark.parametrize(("began", "counts"), [("30.950", True), ("30.100", False)])
def test_first_sample_orders_runs_of_one_second(workspace, began, counts):
    """A sample reused by a retry does not make the retry an earlier run."""

    def begin(seconds):
        times = ["2026-01-15T10:19:00+00:00"] + [
            f"2026-01-15T10:20:{seconds}+00:00"
        ] * 11
        return lambda log: [
            s.update(started_at=t) for s, t in zip(log["samples"], times, strict=True)
        ]

    rerun(HEADS, "json/a.json", "2026-01-15T10:20:30+00:00", output_tokens=777)
    logs.change("json/a.json", begin(began))
    logs.change(HEADS, begin("30.500"))
    import_logs("inspect", ["json"], "my.parquet")
    assert (tokens("sparrow") == {777}) == counts


def test_runs_of_different_instances_are_merged(workspace):
    """With ``--limit 0-8`` and ``6-12``, shared instances use the newer run."""
    rerun(HEADS, "json/a.json", output_tokens=777)
    logs.change(HEADS, lambda log: log.update(samples=log["samples"][:8]))
    logs.change("json/a.json", lambda log: log.update(samples=log["samples"][6:]))
    imported = import_logs("inspect", ["json"], "my.parquet")
    frame = pd.read_parquet("my.parquet").query("config.str.contains('sparrow')")
    assert set(frame[frame["tokens"] == 777]["instance"]) == {
        str(i) for i in range(7, 13)
    }
    assert len(frame) == 12 and "2 evaluations" in lines(imported, "rerun: ")[0]


def test_instance_has_its_epochs_from_one_run(workspace):
    def twice(log):
        wrong = {"scores": {"match": {"value": 0.0}}}
        log["samples"] = [
            entry | wrong | {"epoch": epoch}
            for entry in log["samples"]
            for epoch in (1, 2)
        ]

    rerun(HEADS, "json/a.json")
    change_samples(
        lambda i, sample: sample.update(scores={"match": {"value": 1.0}}), "json/a.json"
    )
    logs.change(HEADS, twice)
    import_logs("inspect", ["json"], "my.parquet")
    assert set(
        pd.read_parquet("my.parquet").query("config.str.contains('sparrow')")["score"]
    ) == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_unfinished_run_is_skipped(workspace, status):
    rerun(HEADS, "json/later.json", status=status, output_tokens=777)
    imported = import_logs("inspect", ["json"], "my.parquet")
    (line,) = lines(imported, "left out: ")
    assert "later.json: the run ended with the status" in line and repr(status) in line
    assert "--unfinished" in line and line in "\n".join(
        text.removeprefix("# ") for text in Path("my.yml").read_text().splitlines()
    )
    # what finished stands above what did not, however new
    taken = import_logs("inspect", ["json"], "my.parquet", unfinished=True)
    assert 777 not in tokens("sparrow") and lines(taken, "left out") == [
        "left out: nothing"
    ]
    logs.change(HEADS, lambda log: log.update(samples=log["samples"][3:]))
    import_logs("inspect", ["json"], "my.parquet", unfinished=True)
    frame = pd.read_parquet("my.parquet").query("tokens == 777")
    assert sorted(frame["instance"]) == ["1", "2", "3"]


X = Path("json/x.json")
USELESS = {
    "empty": lambda: X.write_text(""),
    "empty archive": lambda: X.rename("json/x.eval").write_bytes(b""),
    "cut short": lambda: X.write_text(Path(HEADS).read_text()[:900]),
    "of another kind": lambda: X.write_text('{"learning_rate": 0.1}'),
    "a list": lambda: X.write_text("[]"),
    "cancelled": lambda: logs.change(
        X, lambda log: log.update(status="cancelled", samples=[])
    ),
    "without samples": lambda: logs.change(X, lambda log: log.update(samples=None)),
    "older": lambda: logs.change(X, lambda log: log.update(version=1)),
    "not scored": lambda: change_samples(lambda i, sample: sample.pop("scores"), X),
    "scored otherwise": lambda: change_samples(
        lambda i, s: s.update(scores={"f1": {"value": 0.5}}), X
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", ["sums", "products"])
@pytest.mark.parametrize("how", USELESS)
def test_unusable_log_among_good_ones_is_skipped(workspace, how, task):
    """A log of another task and configuration changes only the report."""
    options = {"metric": "match", "task": ["sums"]}
    before = import_logs("inspect", ["json"], "before.parquet", **options)
    shutil.copy(logs.THIRD, X)
    logs.change(X, lambda log: log["eval"].update(task=task))
    USELESS[how]()
    after = import_logs("inspect", ["json"], "my.parquet", **options)
    assert Path("before.parquet").read_bytes() == Path("my.parquet").read_bytes()
    extra = sorted(set(after.report) - set(before.report))
    assert len(extra) == 1 and extra[0].startswith("left out: ")
    other_task = task == "products" and how == "scored otherwise"
    assert (
        "x." in extra[0] or extra[0] == "left out: 1 logs of other tasks" or other_task
    )
    assert " -> " in extra[0] or task == "products"


def test_skipped_logs_are_listed_below_an_error(workspace):
    logs.change(HEADS, lambda log: log.update(status="error"))
    result = call("import", "inspect", "json", "-o", "my.parquet")
    with fault("one-configuration", column="config") as caught:
        import_logs("inspect", ["json"], "my.parquet")
    left_out = str(caught.value).partition("\nleft out: ")[2]
    assert "sparrow" in left_out and "'error'" in left_out
    assert result.exit_code and not Path("my.parquet").exists()


def test_many_unusable_logs_are_counted(workspace):
    for i in range(50):
        Path(f"json/x{i:02}.json").write_text("{}")
    imported = import_logs("inspect", ["json"], "my.parquet")
    assert len(lines(imported, "left out: ")) == 3 and lines(
        imported, "and 47 more of these"
    )


def test_newest_finished_rerun_counts(workspace):
    later = "2026-01-15T10-20-31.123456"
    run = next(path for path in Path("lm").rglob("samples_*") if "sparrow" in str(path))
    better = [
        json.loads(line) | {"exact_match": 1.0} for line in run.read_text().splitlines()
    ]
    (run.parent / f"samples_sums_{later}.jsonl").write_text(
        "\n".join(map(json.dumps, better))
    )
    results = next(run.parent.glob("results_*"))
    shutil.copy(results, run.parent / f"results_{later}.json")
    # of a third run there is only what it wrote before it was stopped
    (run.parent / "samples_sums_2026-01-16T10-20-30.123456.jsonl").write_text(
        run.read_text()
    )
    imported = import_logs("lm-eval", ["lm"], "my.parquet", filter="strict-match")
    assert imported.table.summary().loc[SPARROW, "accuracy"] == 1
    (message,) = lines(imported, "rerun: ")
    assert message.startswith(
        f"rerun: 12 evaluations of {run.parent}/samples_sums_{later}.jsonl replace"
    )
    assert "but there are 0" in lines(imported, "left out: lm")[0]


def test_helm_run_without_statistics_is_skipped(workspace):
    runs = sorted(Path("helm/runs/v1").iterdir())
    for number, suite in enumerate(("v0", "v2")):
        copy = Path("helm/runs") / suite / runs[0].name
        shutil.copytree(runs[0], copy)
        stats = copy / "per_instance_stats.json"
        set_stat(stats, "exact_match", number)
        os.utime(stats, (1e9 + 3e9 * number, 1e9 + 3e9 * number))
    broken = Path("helm/runs/v3") / runs[1].name
    broken.mkdir(parents=True)
    shutil.copy(runs[1] / "run_spec.json", broken)
    imported = import_logs("helm", ["helm"], "my.parquet", metric="exact_match")
    assert imported.table.summary()["accuracy"].iloc[0] == 1
    reruns = lines(imported, "rerun: ")
    assert len(reruns) == 2
    assert all("evaluations of helm/runs/v2/" in line for line in reruns)
    assert "v3" in lines(imported, "left out")[0]


# Free evaluations.


def without_tokens(path, *which, **usage):
    def free(log):
        for i in which:
            log["samples"][i]["model_usage"] = {
                model: used | (usage or {"output_tokens": 0, "total_tokens": 0})
                for model, used in log["samples"][i]["model_usage"].items()
            }

    logs.change(path, free)


@pytest.mark.slow
def test_answer_without_tokens_costs_one(workspace):
    """In importers alike: leaving the answer out would make the means too good."""
    without_tokens(HEADS, 0, 3, 5)
    for path in Path("helm").rglob("per_instance_stats.json"):
        if "sparrow" in str(path):
            set_stat(path, "num_output_tokens", 0.0, "id0", "id3", "id5")
    costs = []
    for source, path, options in (
        ("inspect", "json", {}),
        ("helm", "helm", {"metric": "exact_match"}),
    ):
        imported = import_logs(source, [path], "my.parquet", **options)
        (line,) = lines(imported, "note: ")
        assert (
            line == "note: 3 of 24 evaluations were free; each counts as 1 tokens"
            " (--smallest-cost)"
        )
        assert line in Path("my.yml").read_text()
        costs.append(sorted(imported.table.rows["cost"]))
        own = import_logs(source, [path], "my.parquet", smallest_cost=0.25, **options)
        assert (np.sort(own.table.rows["cost"])[:3] == 0.25).all()
    assert costs[0] == costs[1] and costs[0][:3] == [1, 1, 1]


@pytest.mark.parametrize("unmeasured", ["leave-out", "mean"])
def test_answer_without_usage_is_not_free(workspace, unmeasured):
    """As one that came from a cache."""
    logs.change(
        HEADS, lambda log: [log["samples"][i].update(model_usage={}) for i in (0, 3)]
    )
    imported = import_logs("inspect", ["json"], "my.parquet", unmeasured=unmeasured)
    record = 12 if unmeasured == "mean" else 10
    assert sorted(imported.table.n_instances.tolist()) == [record, 12]
    assert len(lines(imported, "cost not measured, ")) == 1 and not lines(
        imported, "note: "
    )


@pytest.mark.slow
@pytest.mark.parametrize("cost", ["none", "seconds"])
def test_logs_without_usage_use_other_costs(workspace, cost):
    for path in (HEADS, TAILS):
        logs.change(
            path,
            lambda log: [sample.update(model_usage={}) for sample in log["samples"]],
        )
    (line,) = lines(import_logs("inspect", ["json"], "my.parquet"), "cost: 2 of 2 logs")
    assert (
        "each evaluation costs 1" in line
        and "--cost seconds" in line
        and "--cost tokens" not in line
    )
    table = import_logs("inspect", ["json"], "my.parquet", cost=cost).table
    assert table.n_instances.tolist() == [12, 12]
    assert table.card.cost.unit == {"none": "evaluations", "seconds": "seconds"}[cost]
    assert (len(set(table.rows["cost"])) == 1) == (cost == "none")


def test_partly_missing_times_are_handled(workspace):
    logs.change(
        HEADS,
        lambda log: [sample.update(working_time=None) for sample in log["samples"]],
    )
    imported = import_logs("inspect", ["json"], "my.parquet")
    assert (
        imported.table.objectives == ("accuracy",)
        and len(lines(imported, "note: ")) == 1
    )


def test_free_evaluation_costs_a_thousandth_of_the_median(workspace):
    for path in (HEADS, TAILS):
        without_tokens(path, *range(12), total_cost=0.25)
    without_tokens(HEADS, 2, total_cost=0.0)
    imported = import_logs("inspect", ["json"], "my.parquet", cost="usd")
    assert imported.table.rows["cost"].min() == 0.00025
    assert (
        "1 of 24 evaluations were free; each counts as 0.00025 USD"
        in lines(imported, "note: ")[0]
    )


@pytest.mark.slow
def test_free_epoch_is_not_a_free_evaluation(workspace):
    """The rule holds for evaluations, before they are averaged."""
    change_samples(lambda i, sample: sample.update(id=i // 2, epoch=1 + i % 2))
    before = import_logs("inspect", ["json"], "my.parquet").table.rows
    without_tokens(HEADS, 0)
    after = import_logs("inspect", ["json"], "my.parquet").table.rows
    gone = (before["cost"] - after["cost"]).abs().max()
    first = json.loads(Path(HEADS).read_text())["samples"][1]["model_usage"].popitem()[
        1
    ]["output_tokens"]
    assert (
        after["cost"][(before["cost"] != after["cost"])].tolist() == [(1 + first) / 2]
        and gone > 0
    )
