"""From logs to a table: what each importer takes, counts, chooses and reports."""

import json
import re
import shlex
import shutil
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from support import logs
from support.commands import call
from support.faults import fault
from support.toy import write_frame

import cobandit as cb
from cobandit.tables.catalogue import data_directory
from cobandit.tables.importers import IMPORTERS
from cobandit.tables.importers import import_logs as import_new
from cobandit.tables.importers.log_settings import name_configurations
from cobandit.tables.token_counts import make_token_counter

import_logs = partial(import_new, force=True)  # the same name again and again

CSV = {
    "instance": "question",
    "cost": "tokens",
    "unit": "tokens",
    "objective": ["accuracy=correct"],
}
TIDY = CSV | {"config": ["model", "temperature"], "arm": ["model", "temperature"]}
WIDE = CSV | {"wide": "{config}_{field}"}
NAMES = ["example/heron-large temperature=0.7", "example/sparrow-mini temperature=0.0"]


def each_row(instance="{}", first=0):
    """Rows of the table that was written, each with what was said."""
    frame = pd.read_parquet("my.parquet").set_index(["config", "instance"])
    for config, message in logs.answers().items():
        for i, one in enumerate(message, first):
            yield frame.loc[(config, instance.format(i))], one


FORMATS = {
    "inspect": ("json", {"latency": "total_time"}, "{}", 1),
    "inspect, archives": ("eval", {"latency": "total_time"}, "{}", 1),
    "helm": ("helm", {"metric": "exact_match"}, "id{}", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_imported_numbers_equal_logged_numbers(workspace, name):
    folder, options, instance, first = FORMATS[name]
    imported = import_logs(name.split(",")[0], [folder], "my.parquet", **options)
    table = imported.table
    assert list(table.configs) == NAMES and table.objectives == (
        "accuracy",
        "efficiency",
    )
    assert list(table.arms["temperature"]) == [0.7, 0.0]
    for row, one in each_row(instance, first):
        assert row["score"] == one.correct and row["tokens"] == one.tokens
        assert row["seconds"] == pytest.approx(one.seconds, rel=1e-12)


def test_zstandard_archives_of_inspect_are_read(workspace):
    for path in Path("eval").iterdir():
        logs.zip_with_zstandard(path, logs.members(path))
    import_logs("inspect", ["eval"], "new.parquet")
    import_logs("inspect", ["json"], "json.parquet")
    assert Path("json.parquet").read_bytes() == Path("new.parquet").read_bytes()


@pytest.mark.slow
def test_lm_eval_uses_one_filter_and_counts_tokens(workspace):
    imported = import_logs("lm-eval", ["lm"], "my.parquet", filter="strict-match")
    assert imported.table.objectives == ("accuracy",)
    assert (
        "characters / 4" in imported.table.card.cost.unit
        and "strict-match" in imported.table.card.source
    )
    for row, one in each_row():
        assert row["score"] == one.correct and row["tokens"] == -(-len(one.text) // 4)
    assert any(
        "24 lines of the filter 'flexible-extract'" in line for line in imported.report
    )
    lenient = import_logs("lm-eval", ["lm"], "my.parquet", filter="flexible-extract")
    assert (lenient.table.means == 1).all()


def multiple_choice(lines):
    """Return lines of a task that rates given answers, whose only filter is "none"."""
    lines = logs.unfiltered(lines)
    for line in lines:
        choices = {
            f"gen_args_{i}": {"arg_0": "ab" * 10, "arg_1": " no!"} for i in range(2)
        }
        line |= {
            "arguments": choices,
            "resps": [[["-1.5", "False"]], [["-0.5", "True"]]],
        }
        line |= {
            "metrics": ["acc", "acc_norm"],
            "acc": line.pop("exact_match"),
            "acc_norm": 1.0,
        }
    return lines


def test_pooled_tasks_need_one_metric_each(workspace):
    """Each task takes the first of the metrics named that it has."""
    logs.write_lm_eval(workspace / "mc", "choices", multiple_choice)
    shared_options = {
        "task": ["sums", "choices"],
        "filter": "strict-match",
        "count": "all",
    }
    names = "acc, acc_norm, exact_match"
    with fault("several-to-choose", "the logs", [names], "--metric"):
        import_logs("lm-eval", ["lm", "mc"], "my.parquet", **shared_options)
    names = ["'choices'", "acc, acc_norm", "exact_match"]
    with fault("needs-choice", "the logs", names, "--metric"):
        import_logs(
            "lm-eval",
            ["lm", "mc"],
            "my.parquet",
            metric="exact_match",
            **shared_options,
        )
    imported = import_logs(
        "lm-eval",
        ["lm", "mc"],
        "my.parquet",
        metric=["acc", "exact_match"],
        **shared_options,
    )
    assert (
        "exact_match of sums" in imported.report[1]
        and "acc of choices" in imported.report[1]
    )
    rows = pd.read_parquet("my.parquet")
    assert set(rows["instance"].str.partition("/")[0]) == {"sums", "choices"}


def test_lm_eval_multiple_choice_costs_its_input(workspace):
    logs.write_lm_eval(workspace / "mc", function=multiple_choice)
    rated = import_logs("lm-eval", ["mc"], "my.parquet", metric="acc")
    assert rated.table.card.cost.unit == "evaluations"
    assert any(
        line.startswith("cost: 2 of 2 logs") and "--count all" in line
        for line in rated.report
    )
    table = import_logs(
        "lm-eval", ["mc"], "my.parquet", metric="acc", count="all"
    ).table
    assert np.allclose(table.costs, 2 * (20 / 4 + 1))


def write_two_tasks(first=list, second=list, **results):
    """Runs of two tasks that share one results file, as those of one command do."""
    logs.write_lm_eval(Path("two"), "sums", first)
    logs.write_lm_eval(Path("two"), "sums_cot", second)
    for place in Path("two").rglob("results_*.json"):
        for part in ("configs", "n-shot"):
            logs.change(
                place,
                lambda run, part=part: run[part].update(sums=run[part]["sums_cot"]),
            )
        logs.change(place, lambda run: run.update(results))


@pytest.mark.slow
def test_lm_eval_prompts_may_be_compared_as_tasks_or_pooled(workspace):
    write_two_tasks()
    for options, arms, instances in (
        ({"compare_tasks": True}, 4, 12),
        ({"task": ["sums", "sums_cot"]}, 2, 24),
        ({"task": ["sums_cot"]}, 2, 12),
        ({"task": ["sums*"]}, 2, 24),
    ):
        table = import_logs(
            "lm-eval", ["two"], "my.parquet", filter="strict-match", **options
        ).table
        assert (table.n_arms, int(table.n_instances[0])) == (arms, instances)


def test_lm_eval_uses_the_only_filter(workspace):
    write_two_tasks(logs.unfiltered)
    shared_options = {"filter": "strict-match", "task": ["sums", "sums_cot"]}
    imported = import_logs("lm-eval", ["two"], "my.parquet", **shared_options)
    assert list(imported.table.n_instances) == [24, 24]
    assert (
        "filters: none of sums, strict-match of sums_cot" in imported.table.card.source
    )
    for place in Path("two").rglob("samples_sums_2*.jsonl"):
        place.write_text("")
    rest = import_logs("lm-eval", ["two"], "other.parquet", **shared_options)
    assert (
        list(rest.table.n_instances) == [12, 12]
        and "filters: strict-match;" in rest.table.card.source
    )


def test_different_settings_of_pooled_tasks_are_reported(workspace):
    write_two_tasks(**{"n-shot": {"sums": 0, "sums_cot": 5}})
    shared_options = {"filter": "strict-match", "task": ["sums", "sums_cot"]}
    names = ["(model, num_fewshot, temperature)"]
    with fault("no-common-instance", "the logs", names, "--by"):
        import_logs("lm-eval", ["two"], "my.parquet", **shared_options)
    table = import_logs(
        "lm-eval", ["two"], "my.parquet", by=["temperature"], **shared_options
    ).table
    assert list(table.configs) == NAMES and list(table.n_instances) == [24, 24]


def test_empty_response_costs_one_token_and_is_reported(workspace):
    def silent(lines):
        lines = logs.unfiltered(lines)
        lines[3]["resps"] = [[""]]
        return lines

    logs.write_lm_eval(workspace / "silent", function=silent)
    imported = import_logs("lm-eval", ["silent"], "my.parquet")
    assert any(
        line.startswith("note: 2 of 24 evaluations were free")
        for line in imported.report
    )
    assert pd.read_parquet("my.parquet")["tokens"].min() == 1


def test_tokenizer_needs_its_package_and_file(tmp_path, monkeypatch):
    file = tmp_path / "tokenizer.json"
    with fault("no-file", "tokenizer.json"):
        make_token_counter(file)
    file.write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with fault("missing-package", remedy="pip install tokenizers"):
        make_token_counter(file)


def test_tokenizer_counts_tokens(workspace):
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"the": 0, "sum": 1, "?": 2}, unk_token="?")
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    model.save("tokenizer.json")
    imported = import_logs(
        "lm-eval",
        ["lm"],
        "my.parquet",
        filter="strict-match",
        tokenizer="tokenizer.json",
    )
    assert all(row["tokens"] == len(one.text.split()) for row, one in each_row())
    assert imported.table.card.cost.unit == "tokens (tokenizer.json)"
    Path("tokenizer.json").write_text("[1, 2]")
    with fault("bad-tokenizer", "tokenizer.json"):
        make_token_counter(Path("tokenizer.json"))


# Inspect AI.


def report(**options):
    return "\n".join(import_logs("inspect", ["json"], "my.parquet", **options).report)


def test_inspect_skips_and_reports_failed_samples(workspace):
    def fail(i, sample):
        if i < 2:
            sample["error"] = {"message": "no"}
        elif i == 2:
            sample["invalidation"] = {"author": "me"}
        elif i == 3:
            sample["scores"]["match"]["value"] = float("nan")

    logs.change_samples(fail, logs.HEADS)
    text = report()
    assert "took: 20 evaluations" in text
    assert "left out: 2 samples that ended in an error" in text
    assert "left out: 1 samples that were invalidated" in text
    assert (
        "samples that ended in an error: 2 of 12 evaluations of example/sparrow-mini"
        in text
    )
    assert "no score, left out: 1 of 9 evaluations of example/sparrow-mini" in text
    assert text.replace("\n", " ") in " ".join(
        line.removeprefix("# ") for line in Path("my.yml").read_text().splitlines()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "score"),
    [
        *[("C", 1), ("I", 0), ("P", 0.5), ("N", 0), ("yes", 1), ("No", 0)],
        *[(True, 1), (0.25, 0.25), ("0.25", 0.25)],
    ],
)
def test_inspect_scores_are_numbers_or_letters(workspace, value, score):
    logs.change_samples(
        lambda i, sample: sample["scores"]["match"].update(value=value), logs.HEADS
    )
    report()
    frame = pd.read_parquet("my.parquet").query(
        "config.str.startswith('example/sparrow')"
    )
    assert (frame["score"] == score).all()


def test_inspect_scores_may_be_a_dictionary(workspace):
    logs.change_samples(
        lambda i, sample: sample["scores"]["match"].update(value={"f1": 0.5, "em": 1})
    )
    with fault("several-to-choose", "the logs", ["scorer", "match.em, match.f1"]):
        report()
    assert "metrics: match.f1" in report(metric="match.f1")
    assert (pd.read_parquet("my.parquet")["score"] == 0.5).all()


def test_judge_scores_are_scaled_on_request(workspace):
    logs.change_samples(
        lambda i, sample: sample["scores"]["match"].update(value=i % 11)
    )
    with fault("out-of-range", names=["outside 0 to 1"], remedy="--range"):
        report()
    report(scale=10)
    assert pd.read_parquet("my.parquet")["score"].max() == 1


@pytest.mark.slow
def test_inspect_counts_graders_on_request(workspace):
    def graded(i, sample):
        sample["model_usage"]["example/grader"] = {
            "output_tokens": 1000,
            "total_tokens": 1500,
        }

    logs.change_samples(graded, logs.HEADS)
    assert (
        "note: the cost excludes the usage of example/grader (--usage all includes it)"
        in report()
    )
    alone = import_logs("inspect", ["json"], "a.parquet").table.costs
    together = import_logs("inspect", ["json"], "b.parquet", usage="all").table.costs
    assert np.allclose(together - alone, [0, 1000])


def test_every_named_score_is_an_objective(workspace):
    """Scorers of Inspect and metrics of HELM and the harness keep their names."""
    logs.change_samples(
        lambda i, s: s["scores"].update(kind={"value": i / 20}, cost={"value": 0.5})
    )
    imported = import_logs(
        "inspect",
        ["json"],
        "my.parquet",
        metric=["kind", "match", "cost"],
        latency="none",
    )
    assert imported.table.objectives == ("kind", "match", "cost_score")
    assert imported.table.raw_means["kind"].tolist() == pytest.approx(
        [np.mean(np.arange(12) / 20)] * 2
    )
    alone = import_logs(
        "inspect", ["json"], "alone.parquet", metric="match", latency="none"
    ).table
    assert (
        imported.table.summary()["match"].tolist()
        == alone.summary()["accuracy"].tolist()
    )
    logs.change_samples(lambda i, s: i == 3 and s["scores"].pop("kind"), logs.HEADS)
    fewer = import_logs("inspect", ["json"], "my.parquet", metric=["match", "kind"])
    assert any(
        "no score, left out: 1 of 12 evaluations of example/sparrow" in line
        for line in fewer.report
    )
    helm = import_logs(
        "helm", ["helm"], "h.parquet", metric=["quasi_exact_match", "exact_match"]
    ).table
    assert helm.objectives == ("quasi_exact_match", "exact_match", "efficiency")


PROMPT = "Question: What is 11 + 22? Think aloud, then give the sum.\nAnswer:"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "folder", "options", "prompt"),
    [
        ("inspect", "json", {}, 21),
        ("inspect", "eval", {}, 21),
        ("helm", "helm", {"metric": "exact_match"}, 21),
        ("lm-eval", "lm", {"filter": "strict-match"}, -(-len(PROMPT) // 4)),
    ],
)
def test_count_all_adds_prompt_tokens(workspace, source, folder, options, prompt):
    generated, everything = (
        import_logs(source, [folder], f"{count}.parquet", count=count, **options)
        for count in ("generated", "all")
    )
    assert np.allclose(everything.table.costs - generated.table.costs, prompt)
    text = f"the cost excludes prompts, which would add {prompt} tokens"
    assert [
        any(line.startswith(text) for line in entry.report)
        for entry in (generated, everything)
    ] == [1, 0]


@pytest.mark.slow
def test_inspect_times_may_be_other_fields_or_none(workspace):
    total = import_logs(
        "inspect", ["json"], "a.parquet", latency="total_time"
    ).table.raw_means["seconds"]
    working = import_logs("inspect", ["json"], "b.parquet").table.raw_means["seconds"]
    assert np.allclose(working / total, 0.9, atol=1e-3)
    assert import_logs(
        "inspect", ["json"], "c.parquet", latency="none"
    ).table.objectives == ("accuracy",)


@pytest.mark.slow
def test_inspect_epochs_are_averaged(workspace):
    logs.change_samples(lambda i, sample: sample.update(id=i // 2, epoch=1 + i % 2))
    imported = import_logs("inspect", ["json"], "my.parquet", latency="total_time")
    assert list(imported.table.n_instances) == [6, 6]
    frame = pd.read_parquet("my.parquet").set_index(["config", "instance"])
    for config, message in logs.answers().items():
        for i in range(6):
            pair, row = message[2 * i : 2 * i + 2], frame.loc[(config, str(i))]
            assert row["score"] == np.mean([one.correct for one in pair])
            assert row["tokens"] == np.mean([one.tokens for one in pair])
            assert row["seconds"] == pytest.approx(
                np.mean([one.seconds for one in pair])
            )
    assert "are averaged" in Path("my.yml").read_text()
    apart = import_logs("inspect", ["json"], "my.parquet", repeats="separate")
    assert list(apart.table.n_instances) == [12, 12] and "0, epoch 2" in set(
        apart.table.rows["instance"]
    )
    assert any(
        line.startswith("note: repeats") and "not independent" in line
        for line in apart.report
    )


def test_unfinished_archive_gives_finished_samples(workspace):
    path = next(Path("eval").glob("sparrow*"))
    logs.pack(path, "header.json|summaries.json")
    with fault("one-configuration", column="config") as caught:
        import_logs("inspect", ["eval"], "my.parquet")
    left_out = str(caught.value).partition("\nleft out: ")[2]
    assert "'started'" in left_out and "--unfinished" in left_out
    imported = import_logs("inspect", ["eval"], "my.parquet", unfinished=True)
    assert list(imported.table.n_instances) == [12, 12]


# HELM.


def test_helm_skips_perturbed_instances(workspace):
    imported = import_logs("helm", ["helm"], "my.parquet", metric="quasi_exact_match")
    assert any("left out: 2 perturbed instances" in line for line in imported.report)


def test_white_space_distinguishes_settings(workspace):
    for suffix in ("\n", "\n\n", ""):
        place = Path("helm/runs/v1") / f"suffix{len(suffix)}"
        shutil.copytree("helm/runs/v1/sums_model=sparrow-mini-t0", place)
        setting = {"output_suffix": suffix, "temperature": 0.5}
        logs.change(
            place / "run_spec.json",
            lambda spec, new=setting: spec["adapter_spec"].update(new),
        )
    table = import_logs("helm", ["helm"], "my.parquet", metric="exact_match").table
    assert table.n_arms == 5 and list(table.arms.columns) == [
        "model",
        "output_suffix",
        "temperature",
    ]


def test_helm_trials_are_averaged_or_separate_instances(workspace):
    for file in Path("helm").rglob("per_instance_stats.json"):
        logs.change(
            file,
            lambda rows: rows.extend([row | {"train_trial_index": 1} for row in rows]),
        )
    table = import_logs("helm", ["helm"], "my.parquet", metric="exact_match").table
    assert list(table.n_instances) == [12, 12] and "id3" in set(table.rows["instance"])
    table = import_logs(
        "helm", ["helm"], "my.parquet", metric="exact_match", repeats="separate"
    ).table
    assert list(table.n_instances) == [24, 24] and "id3, trial 1" in set(
        table.rows["instance"]
    )


def test_helm_finish_reasons_are_not_metrics(workspace):
    for file in Path("helm").rglob("per_instance_stats.json"):
        entries = [
            entry for entry in json.loads(file.read_text()) if len(entry["stats"]) > 1
        ]
        for entry in entries:
            entry["stats"].append(
                {"name": {"name": "finish_reason_stop"}, "count": 1, "mean": 1}
            )
        file.write_text(json.dumps(entries))
    assert import_logs("helm", ["helm"], "my.parquet").table.n_arms == 2


# CSV.


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "CSV"])
def test_tidy_tables_of_every_format_are_read(workspace, suffix):
    frame = pd.read_csv("tidy.csv", dtype={"question": str})
    write_frame(frame, f"t.{suffix}")
    objective = ["accuracy=correct", "efficiency=seconds:inverse-percentile"]
    table = import_logs(
        "csv", [f"t.{suffix}"], "my.parquet", **(TIDY | {"objective": objective})
    ).table
    assert table.configs == ("example/heron-large 0.7", "example/sparrow-mini 0.0")
    assert table.objectives == ("accuracy", "efficiency") and "001" in set(
        table.rows["instance"]
    )
    second = import_logs(
        "inspect", ["json"], "other.parquet", seed=0, latency="total_time"
    ).table
    assert np.allclose(table.raw_means, second.raw_means)


def test_wide_tables_are_read(workspace):
    table = import_logs("csv", ["wide.csv"], "my.parquet", **WIDE).table
    assert table.configs == ("heron-large-t0.7", "sparrow-mini-t0")
    tidy = import_logs("csv", ["tidy.csv"], "other.parquet", **TIDY).table
    assert np.array_equal(table.means, tidy.means) and np.array_equal(
        table.costs, tidy.costs
    )


def test_missing_cells_of_a_wide_table_are_counted(workspace):
    lines = Path("wide.csv").read_text().splitlines()
    for i in (2, 5):
        lines[i] = ",".join([*lines[i].split(",")[:3], "", ""])
    Path("wide.csv").write_text("\n".join(lines))
    imported = import_logs("csv", ["wide.csv"], "my.parquet", profiling=6, **WIDE)
    assert any(line.startswith("left out: 2 empty cells") for line in imported.report)
    assert sorted(imported.table.n_instances) == [10, 12]


@pytest.mark.slow
def test_mapping_file_equals_options_and_options_win(workspace):
    """Also where it has an objective as a card has."""
    fast = {
        "name": "fast",
        "column": "seconds",
        "transform": "inverse-percentile",
        "low": 10,
        "high": 90,
    }
    options = TIDY | {"objective": [*TIDY["objective"], fast]}
    Path("map.yml").write_text(yaml.safe_dump(options))
    direct = import_logs("csv", ["tidy.csv"], "a.parquet", **options)
    mapped = import_logs("csv", ["tidy.csv"], "b.parquet", mapping="map.yml")
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()
    assert direct.report == mapped.report and direct.table.card.objectives[1].high == 90
    euros = import_logs("csv", ["tidy.csv"], "b.parquet", mapping="map.yml", unit="EUR")
    assert euros.table.card.cost.unit == "EUR"


# Written files.


def test_card_has_default_split_and_report(workspace):
    imported = import_logs(
        "inspect", [logs.THIRD.parent], "My Evals.parquet", license="MIT", title="Mine"
    )
    card = yaml.safe_load(Path("My Evals.yml").read_text())
    assert (
        card["name"] == "my-evals"
        and card["license"] == "MIT"
        and card["title"] == "Mine"
    )
    assert card["split"] == {"profiling": 8, "seed": 0} and card["kind"] == "measured"
    assert cb.read("My Evals.parquet").configs == imported.table.configs
    for path in Path("json").iterdir():
        logs.change(path, lambda log: log.update(samples=log["samples"][:4]))
    assert (
        import_logs(
            "inspect", ["json"], "x.parquet", latency="none"
        ).table.card.split.profiling
        == 2
    )


@pytest.mark.slow
def test_existing_files_are_replaced_only_on_request(workspace):
    Path("my.yml").write_text("name: mine  # by hand")
    with fault("file-exists", "my.yml", remedy="--force"):
        import_new("inspect", ["json"], "my.parquet")
    assert not Path("my.parquet").exists() and "by hand" in Path("my.yml").read_text()
    words = ["import", "inspect", "json", "-o", "my.parquet", "--force"]
    assert call(*words).exit_code == 0 and "by hand" not in Path("my.yml").read_text()
    with fault("file-exists", "my.parquet"):
        import_new("inspect", ["json"], "my.parquet")


@pytest.mark.parametrize("seeds", [(10**400, 1), (10**400, 0.5), (2**63, 2**63 + 1)])
def test_settings_may_be_long_integers(workspace, seeds):
    for path, seed in zip(sorted(Path("json").iterdir()), seeds, strict=True):
        logs.change(
            path,
            lambda log, seed=seed: log["eval"]["model_generate_config"].update(
                seed=seed
            ),
        )
    table = import_logs("inspect", ["json"], "my.parquet").table
    assert table.arms["seed"].nunique() == 2


def test_long_settings_are_shortened_and_stay_distinct():
    settings = [
        {"model": "m", "system": "Think step by step. " * 9 + end} for end in "ab"
    ]
    configs = name_configurations(settings, (), ())["config"]
    assert configs.nunique() == 2 and configs.str.len().max() < 60


# The command and the example.


def test_command_imports_reports_and_validates(workspace):
    result = call("import", "inspect", "eval", "-o", "my.parquet")
    assert result.exit_code == 0, result.output
    assert "took: 24 evaluations of 2 configurations" in result.stdout
    assert "left out: nothing" in result.stdout and result.stdout.endswith("valid\n")


@pytest.mark.slow
def test_commands_of_the_book_work(workspace):
    text = (Path(__file__).parents[2] / "book" / "data.md").read_text()
    section = (
        text.partition("(from-logs)=")[2]
        .partition("## The catalogue")[0]
        .replace("\\\n", " ")
    )
    (mapping,) = [part.partition("```")[0] for part in section.split("```yaml")[1:]]
    Path("map.yml").write_text(mapping)
    commands = re.findall(r"cobandit (import (?:csv|helm|lm-eval) [^`\n]+)", section)
    assert len(commands) == 5
    for command in commands:
        result = call(*shlex.split(command), "--force")
        assert result.exit_code == 0, (command, result.output)


@pytest.mark.slow
@pytest.mark.parametrize("source", IMPORTERS)
def test_every_option_has_help(source):
    text = call("import", source, "--help", columns=200).stdout
    for name in [
        *IMPORTERS[source].options.model_fields,
        "output",
        "license",
        "profiling",
    ]:
        assert f"--{name.replace('_', '-')}" in text


def test_bundled_logs_are_imported(tmp_path):
    imported = import_logs(
        "inspect",
        [data_directory() / "logs"],
        tmp_path / "sums.parquet",
        kind="synthetic",
    )
    assert sorted(imported.table.n_instances) == [38, 40, 40, 40]
    assert "left out: 2 samples that ended in an error" in imported.report
    fronts = [
        list(imported.table.summary(split)["on_front"])
        for split in ("all", "evaluation")
    ]
    assert fronts == [[True, True, True, False]] * 2


def test_incomplete_logs_are_reported(workspace):
    samples = sorted(Path("lm").rglob("samples_*.jsonl"))[0]
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:10]))
    logs.change(logs.HEADS, lambda log: log.update(samples=log["samples"][:10]))
    for imported in (
        import_logs("lm-eval", ["lm"], "a.parquet", filter="strict-match", profiling=6),
        import_logs("inspect", ["json"], "b.parquet", profiling=6),
    ):
        (line,) = (line for line in imported.report if line.startswith("incomplete: "))
        assert "of the " in line and line.endswith("evaluations of its run")


@pytest.mark.slow
@pytest.mark.parametrize("counted", [None, {}, {"sums": None}])
def test_runs_without_a_stated_count_are_accepted(workspace, counted):
    for path in Path("lm").rglob("results_*.json"):
        logs.change(path, lambda results: results.update({"n-samples": counted}))
    for path in Path("json").glob("*.json"):
        logs.change(path, lambda log: log.update(results=counted and {}))
    for imported in (
        import_logs("lm-eval", ["lm"], "a.parquet", filter="strict-match"),
        import_logs("inspect", ["json"], "b.parquet"),
    ):
        assert len(imported.table.configs) == 2 and "incomplete" not in "".join(
            imported.report
        )


def test_runs_counting_only_completions_use_these(workspace):
    def without_output(entries):
        for entry in entries:
            entry["stats"] = [
                statistic
                for statistic in entry["stats"]
                if statistic["name"]["name"] != "num_output_tokens"
            ]

    imported_whole = import_logs("helm", ["helm"], "a.parquet", metric="exact_match")
    for path in Path("helm").rglob("per_instance_stats.json"):
        logs.change(path, without_output)
    assert len(
        import_logs("helm", ["helm"], "b.parquet", metric="exact_match").table.rows
    ) == len(imported_whole.table.rows)
