"""Importers: whatever the files hold, there is a table or one clear message, and no half-written file."""

import gzip
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import pytest
from support import log_writers as logs

from cobandit.cli import app as cli
from cobandit.errors import CobanditError
from cobandit.tables import fields
from cobandit.tables.importers import import_logs, safe_reading, tidy
from cobandit.tables.importers.sources import Notes

DATE = logs.DATE
LM = ["lm-eval", "lm", "--filter", "strict-match"]
INSPECT, EVAL = ["inspect", "json"], ["inspect", "eval"]
HELM = ["helm", "helm", "--metric", "exact_match"]
MAPPED = ["--instance", "question", "--cost", "tokens", "--unit", "tokens", "--objective", "accuracy=correct"]
TIDY = ["csv", "tidy.csv", "--config", "model", *MAPPED]
WIDE = ["csv", "wide.csv", "--wide", "{config}_{field}", *MAPPED]
YAML = ["csv", "tidy.csv", "--mapping", "map.yml"]


def one(pattern):
    """The first file that fits."""
    return sorted(Path().rglob(pattern))[0]


SAMPLES, RESULTS, LOG, ARCHIVE = "samples_*.jsonl", "results_*.json", "json/*.json", "*.eval"
STATS, SPEC = "per_instance_stats.json", "run_spec.json"


def cut(pattern):
    """Keep the first half of a file."""
    return lambda: one(pattern).write_bytes(one(pattern).read_bytes()[: one(pattern).stat().st_size // 2])


def write(pattern, content):
    return lambda: one(pattern).write_bytes(content if isinstance(content, bytes) else content.encode())


def swap(pattern, old, new, count=-1):
    def change():
        text = one(pattern).read_text()
        assert old in text
        one(pattern).write_text(text.replace(old, new, count))

    return change


def edit(pattern, change):
    """Change a JSON file's content in place."""

    def apply():
        content = json.loads(one(pattern).read_text())
        change(content)
        one(pattern).write_text(json.dumps(content))

    return apply


def each_line(change):
    def apply():
        lines = [json.loads(line) for line in one(SAMPLES).read_text().splitlines()]
        for line in lines:
            change(line)
        one(SAMPLES).write_text("\n".join(map(json.dumps, lines)))

    return apply


def each_sample(**changes):
    return edit(LOG, lambda log: [sample.update(changes) for sample in log["samples"]])


def each_usage(**changes):
    return edit(
        LOG, lambda log: [u.update(changes) for s in log["samples"] for u in s["model_usage"].values()]
    )


def stat(name, value):
    def change(entries):
        for entry in entries:
            for entry_stat in entry["stats"]:
                if entry_stat["name"]["name"] == name:
                    entry_stat["mean"] = value

    return edit(STATS, change)


def copy(pattern, name):
    return lambda: one(pattern).with_name(name).write_bytes(one(pattern).read_bytes())


def drop(pattern):
    return lambda: one(pattern).unlink()


def archive(**members):
    def write_zip():
        with zipfile.ZipFile(one(ARCHIVE), "a") as file:
            for name, content in members.items():
                file.writestr(name, content)

    return write_zip


def climbing(name):
    return archive(**{name: "{}"})


def claiming(size):
    """Let the directory of the archive claim that each member expands to so many bytes."""

    def lie():
        content = bytearray(one(ARCHIVE).read_bytes())
        for found in re.finditer(b"PK\x01\x02", bytes(content)):
            content[found.start() + 24 : found.start() + 28] = struct.pack("<I", size)
        one(ARCHIVE).write_bytes(content)

    return lie


def both_logs(change):
    """Change the first of the logs in JSON, and then the other."""

    def apply():
        change()
        one(LOG).rename("json/z.json")
        change()

    return apply


def nothing():
    pass


BAD = {
    # lm-evaluation-harness
    "lm-eval: cut short": (cut(SAMPLES), LM, "cut short"),
    "lm-eval: results cut short": (cut(RESULTS), LM, "cut short"),
    "lm-eval: empty": (write(SAMPLES, ""), LM, "the file is empty"),
    "lm-eval: blank": (write(SAMPLES, "\n\n  \n"), LM, "the file is empty"),
    "lm-eval: not text": (write(SAMPLES, b"\xff\xfe\x00"), LM, "not JSON"),
    "lm-eval: of something else": (write(SAMPLES, '{"a": 1}\n'), LM, "line 1: the field 'doc_id' is missing"),
    "lm-eval: a list": (write(SAMPLES, "[1]\n"), LM, "line 1: "),
    "lm-eval: no results": (drop(RESULTS), LM, f"results_{DATE}.json next to it, of which there is none"),
    "lm-eval: two results": (copy(RESULTS, f"x_{DATE}.json"), LM, "next to it, of which there is results_"),
    "lm-eval: results of something else": (write(RESULTS, "{}"), LM, "does not name the model"),
    "lm-eval: wrong file": (nothing, ["lm-eval", "tidy.csv"], "not named as samples"),
    "lm-eval: wrong folder": (nothing, ["lm-eval", "json"], "there are no samples of the harness"),
    "lm-eval: nothing there": (nothing, ["lm-eval", "nowhere"], "no such file or folder"),
    "lm-eval: no such metric": (nothing, [*LM, "--metric", "exact"], "did you mean 'exact_match'"),
    "lm-eval: no such filter": (nothing, [*LM[:2], "--filter", "strict"], "did you mean 'strict-match'"),
    "lm-eval: several filters": (nothing, LM[:2], "more than one filter: flexible-extract, strict-match"),
    "lm-eval: no such task": (nothing, [*LM, "--task", "sum"], "no task 'sum' -> did you mean 'sums'"),
    "lm-eval: text as score": (
        each_line(lambda x: x.update(exact_match="high")),
        LM,
        "is 'high', not a finite",
    ),
    "lm-eval: NaN as score": (each_line(lambda x: x.update(exact_match=float("nan"))), LM, "not a finite"),
    "lm-eval: pairs as score": (each_line(lambda x: x.update(exact_match=[1, 2])), LM, "not a finite number"),
    "lm-eval: score above 1": (each_line(lambda x: x.update(exact_match=55)), LM, "score 55, outside 0 to 1"),
    "lm-eval: no metrics at all": (
        lambda: [
            path.write_text('{"doc_id": 1, "filter": "strict-match"}') for path in Path().rglob(SAMPLES)
        ],
        LM,
        "there is no metric",
    ),
    "lm-eval: one log without the metric": (
        each_line(lambda x: x.update(metrics=[])),
        LM,
        "none of its evaluations can be used",
    ),
    "lm-eval: no responses": (each_line(lambda x: x.update(resps=[])), LM, "resps are not text"),
    "lm-eval: no arguments": (each_line(lambda x: x.pop("arguments")), LM, "nothing was generated"),
    "lm-eval: lower is better": (
        edit(RESULTS, lambda r: r["higher_is_better"]["sums"].update(exact_match=False)),
        LM,
        "a lower exact_match is better",
    ),
    "lm-eval: one configuration": (
        nothing,
        ["lm-eval", "lm/sparrow-mini-t0", *LM[2:]],
        "only one configuration",
    ),
    "lm-eval: a line twice": (each_line(lambda x: x.update(doc_id=1)), LM, "repeat an instance"),
    "lm-eval: blank id": (each_line(lambda x: x.update(doc_id=" ")), LM, "the doc_id is blank"),
    "lm-eval: no such tokenizer": (nothing, [*LM, "--tokenizer", "no.json"], "no such tokenizer"),
    "lm-eval: unknown way of counting": (nothing, [*LM, "--count", "some"], "--count: "),
    "lm-eval: no such setting": (nothing, [*LM, "--by", "temprature"], "did you mean 'temperature'"),
    "lm-eval: other documents": (
        each_line(lambda x: x.update(doc_hash="1")),
        LM,
        "12 documents differ under the same doc_id",
    ),
    # Inspect AI
    "inspect: encrypted": (
        lambda: one(ARCHIVE).write_bytes(
            re.sub(
                rb"(PK\x01\x02....)\x00",
                lambda found: found[1] + b"\x01",
                one(ARCHIVE).read_bytes(),
                flags=re.DOTALL,
            )
        ),
        EVAL,
        "the archive is encrypted",
    ),
    "inspect: an epoch twice": (
        edit(LOG, lambda log: log["samples"].extend([log["samples"][0], log["samples"][1] | {"epoch": 2}])),
        INSPECT,
        "1 of its evaluations repeat an instance",
    ),
    "inspect: cut short": (cut(LOG), INSPECT, "cut short"),
    "inspect: archive cut short": (cut(ARCHIVE), EVAL, "not a complete zip archive"),
    "inspect: empty": (write(LOG, ""), INSPECT, "the file is empty"),
    "inspect: archive empty": (write(ARCHIVE, ""), EVAL, "not a complete zip archive"),
    "inspect: archive of nothing": (write(ARCHIVE, b"PK\5\6" + bytes(18)), EVAL, "no header.json"),
    "inspect: archive of something else": (write(ARCHIVE, "{}"), EVAL, "not a complete zip archive"),
    "inspect: of something else": (write(LOG, '{"a": 1}'), INSPECT, "the field 'eval' is missing"),
    "inspect: no samples": (edit(LOG, lambda log: log.update(samples=[])), INSPECT, "holds no samples"),
    "inspect: a later version": (edit(LOG, lambda log: log.update(version=3)), INSPECT, "version 3"),
    "inspect: wrong file": (nothing, ["inspect", "tidy.csv"], "not named as Inspect logs"),
    "inspect: every sample failed": (
        each_sample(error={"message": "no"}),
        INSPECT,
        "none of its evaluations can be used: 12 samples that ended in an error",
    ),
    "inspect: no such scorer": (nothing, [*INSPECT, "--metric", "includes"], "no scorer 'includes'"),
    "inspect: text as score": (
        each_sample(scores={"match": {"value": "splendid"}}),
        INSPECT,
        "neither a number nor one of C, I, P, N",
    ),
    "inspect: list as score": (each_sample(scores={"match": {"value": [1]}}), INSPECT, "neither a number"),
    "inspect: infinite score": (each_sample(scores={"match": {"value": 1e999}}), INSPECT, "not a finite"),
    "inspect: text as tokens": (each_usage(output_tokens="many"), INSPECT, "not 'many'"),
    "inspect: numerals as tokens": (each_usage(output_tokens="12"), INSPECT, "not '12'"),
    "inspect: negative tokens": (each_usage(output_tokens=-5), INSPECT, "greater than or equal to 0"),
    "inspect: no tokens at all": (
        lambda: [
            each_usage(output_tokens=0)(),
            one(LOG).rename("json/z.json"),
            each_usage(output_tokens=0)(),
        ],
        INSPECT,
        "every evaluation costs 0 tokens -> take another cost",
    ),
    "inspect: text as time": (each_sample(working_time="long"), INSPECT, "not 'long'"),
    "inspect: time of zero": (each_sample(working_time=0), INSPECT, "took 0 seconds, which has no inverse"),
    "inspect: negative time": (each_sample(working_time=-1.5), INSPECT, "took -1.5 seconds"),
    "inspect: NaN as time": (each_sample(working_time=float("nan")), INSPECT, "took nan seconds"),
    "inspect: some without time": (
        each_sample(working_time=None),
        INSPECT,
        "12 of 24 evaluations have no time",
    ),
    "inspect: no prices": (nothing, [*INSPECT, "--cost", "usd"], "no total_cost is logged"),
    "inspect: price below zero": (
        each_usage(total_cost=-1.0),
        [*INSPECT, "--cost", "usd"],
        "its total_cost is -1, below zero",
    ),
    "inspect: smallest cost of zero": (nothing, [*INSPECT, "--smallest-cost", "0"], "--smallest-cost: "),
    "inspect: usage of another model": (
        each_sample(model_usage={"example/other": {"output_tokens": 3, "total_tokens": 4}}),
        INSPECT,
        "there is example/other -> count every model with --usage all",
    ),
    "inspect: no usage": (each_sample(model_usage={}), INSPECT, "no usage of any model is logged"),
    "inspect: an older version": (edit(LOG, lambda log: log.update(version=1)), INSPECT, "version 1"),
    "inspect: cancelled": (
        edit(LOG, lambda log: log.update(status="cancelled")),
        INSPECT,
        "ended as 'cancelled', with 12 of 12 samples -> finish it (inspect eval-retry), or take these",
    ),
    "inspect: not scored": (
        each_sample(scores=None),
        INSPECT,
        "its samples are not scored -> score them: inspect score json/heron-large-t0.7.json",
    ),
    "inspect: nothing that can be used": (
        lambda: [path.write_text("[]") for path in Path("json").iterdir()],
        INSPECT,
        "none of the 2 logs can be used",
    ),
    "inspect: half a character": (each_sample(id="\ud800"), INSPECT, "not JSON"),
    "inspect: logs that differ in more than what is asked for": (
        lambda: [
            copy(LOG, "again.json")(),
            edit("json/again.json", lambda log: log["plan"]["config"].update(seed=3))(),
        ],
        [*INSPECT, "--by", "temperature"],
        "which differs in seed -> name what tells them apart with --by, or give only one",
    ),
    "inspect: several tasks": (
        edit(LOG, lambda log: log["eval"].update(task="other")),
        INSPECT,
        "more than one task: other, sums",
    ),
    "inspect: climbing out": (climbing("../../evil.json"), EVAL, "leads out of the archive"),
    "inspect: climbing out, backwards": (climbing("samples\\..\\..\\evil.json"), EVAL, "leads out"),
    "inspect: absolute name": (climbing("/etc/evil.json"), EVAL, "leads out"),
    "inspect: name of a drive": (climbing("C:/evil.json"), EVAL, "leads out"),
    "inspect: claims a terabyte": (
        lambda: (archive(**{f"x{i}.json": "0" for i in range(260)})(), claiming(2**32 - 2)()),
        EVAL,
        "claims to expand to 1,",
    ),
    "inspect: claims less than it holds": (claiming(10), EVAL, "not a complete zip archive"),
    "inspect: damaged inside": (
        lambda: one(ARCHIVE).write_bytes(one(ARCHIVE).read_bytes().replace(b"\x00\x00\x00", b"\x00\x01\x00")),
        EVAL,
        "not a complete zip archive",
    ),
    "inspect: bomb of zstandard": (
        lambda: logs.zip_with_zstandard(one(ARCHIVE), {"header.json": b" " * 10**8}, claim=100),
        EVAL,
        "not a complete zip archive",
    ),
    # HELM
    "helm: cut short": (cut(STATS), HELM, "cut short"),
    "helm: empty": (write(STATS, ""), HELM, "the file is empty"),
    "helm: no instances": (write(STATS, "[]"), HELM, "there are no instances"),
    "helm: of something else": (write(STATS, '{"a": 1}'), HELM, "check that this is the right file"),
    "helm: no spec": (drop(SPEC), HELM, "there is no run_spec.json next to it"),
    "helm: spec of something else": (write(SPEC, "{}"), HELM, "the field 'name' is missing"),
    "helm: spec without model": (
        edit(SPEC, lambda s: [s["adapter_spec"].pop(key) for key in ("model", "model_deployment")]),
        HELM,
        "does not name the model",
    ),
    "helm: several metrics": (nothing, HELM[:2], "more than one metric: exact_match, quasi_exact_match"),
    "helm: no such metric": (nothing, [*HELM[:2], "--metric", "bleu_4"], "no metric 'bleu_4'"),
    "helm: bookkeeping as metric": (nothing, [*HELM[:2], "--metric", "batch_size"], "no metric 'batch_size'"),
    "helm: text as score": (stat("exact_match", "right"), HELM, "not 'right'"),
    "helm: two scores": (
        edit(STATS, lambda e: e[1]["stats"].append({"name": {"name": "exact_match"}, "mean": 0.123})),
        HELM,
        "two values of exact_match",
    ),
    "helm: a run that did not finish": (
        lambda: one(STATS).unlink(),
        HELM,
        "there is no per_instance_stats.json next to it: the run did not finish",
    ),
    "helm: negative tokens": (
        stat("num_output_tokens", -5),
        [*HELM, "--count", "all"],
        "used -5 tokens",
    ),
    "helm: tokens missing": (
        lambda: (stat("num_output_tokens", None)(), stat("num_completion_tokens", None)()),
        HELM,
        "numbers of tokens are missing",
    ),
    "helm: time of zero": (stat("inference_runtime", 0.0), HELM, "took 0 seconds"),
    "helm: batch of zero": (stat("batch_size", 0), HELM, "batch_size is 0"),
    "helm: wrong folder": (nothing, ["helm", "json"], "no per-instance statistics of HELM"),
    # CSV
    "csv: cut short": (
        lambda: Path("tidy.csv").write_text(Path("tidy.csv").read_text()[:-20]),
        TIDY,
        "tidy.csv, row 24: the CSV does not parse",
    ),
    "csv: empty": (write("tidy.csv", ""), TIDY, "the file is empty"),
    "csv: header alone": (write("tidy.csv", "model,question,correct,tokens\n"), TIDY, "has no rows"),
    "csv: not text": (write("tidy.csv", b"\xff\xfe\x00\x01,\n\xff"), TIDY, "tidy.csv"),
    "csv: no such column": (nothing, [*TIDY, "--arm", "temprature"], "did you mean 'temperature'"),
    "csv: a column twice": (swap("tidy.csv", "seconds", "tokens", 1), TIDY, "more than once"),
    "csv: text as cost": (swap("tidy.csv", ",21,", ",many,"), TIDY, "column 'tokens'"),
    "csv: cost below zero": (swap("tidy.csv", ",21,", ",-1,"), TIDY, "the cost -1.0 is below zero"),
    "csv: cost missing": (swap("tidy.csv", ",21,", ",,"), TIDY, "the value is missing"),
    "csv: configuration missing": (
        swap("tidy.csv", "example/sparrow-mini", ""),
        TIDY,
        "tidy.csv, row 1, column 'model': the name is blank (and 11 more rows)",
    ),
    "csv: a part of the configuration missing": (
        swap("tidy.csv", ",0.7,000", ",,000", 1),
        [*TIDY, "--config", "temperature"],
        "tidy.csv, row 13, column 'temperature': the name is blank -> ",
    ),
    "csv: a cost below zero in the second file": (
        lambda: Path("more.csv").write_text(
            "model,temperature,question,correct,tokens\nother,0,1,1,5\nother,0,2,1,-1\n"
        ),
        ["csv", "tidy.csv", "more.csv", *TIDY[2:]],
        "more.csv, row 2, column 'tokens': the cost -1.0 is below zero",
    ),
    "csv: cost below zero in a wide file": (
        lambda: Path("wide.csv").write_text(
            "question,a_correct,a_tokens,b_correct,b_tokens\n"
            + "".join(f"{i},1,5,1,{i - 1}\n" for i in range(9, -1, -1))
        ),
        WIDE,
        "wide.csv, row 10, column 'b_tokens': the cost -1.0 is below zero",
    ),
    "csv: a score above one in rows that a condition leaves": (
        swap("tidy.csv", ",001,", ",001,7", 1),
        [*TIDY, "--where", "question != '000'"],
        "tidy.csv, row 2, column 'correct': the objective 7",
    ),
    "csv: a condition that leaves nothing": (
        nothing,
        [*TIDY, "--where", "tokens < 0"],
        "--where leaves none of its rows",
    ),
    "csv: a condition on a column that is not there": (
        nothing,
        [*TIDY, "--where", "temprature > 0"],
        "did you mean 'temperature'",
    ),
    "csv: a condition that is none": (nothing, [*TIDY, "--where", "tokens + 1"], "not true or false"),
    "csv: a condition in a mapping": (
        lambda: Path("map.yml").write_text("where: question.to_csv('evil')"),
        YAML,
        "unknown key 'where' -> give --where on the command line",
    ),
    "csv: cost and text": (nothing, [*TIDY, "--text", "model"], "as --cost and as --text"),
    "csv: costs that are not of configurations": (
        nothing,
        [*TIDY[:-6], *MAPPED[4:], "--cost", "a", "--cost", "b"],
        "not each is a configuration and its cost",
    ),
    "csv: a configuration without cost": (
        nothing,
        [*TIDY[:4], *MAPPED[:2], *MAPPED[4:], "--cost", "example/sparrow-mini=1"],
        "none is given to example/heron-large -> give each configuration its own",
    ),
    "csv: a cost of a configuration that is not there": (
        nothing,
        [*TIDY[:4], *MAPPED[:2], *MAPPED[4:], "--cost", "sparrow-mini=1"],
        "no configuration 'sparrow-mini' -> did you mean 'example/sparrow-mini'",
    ),
    "csv: compressed and cut": (
        lambda: Path("t.csv.gz").write_bytes(gzip.compress(Path("tidy.csv").read_bytes())[:-20]),
        ["csv", "t.csv.gz", *TIDY[2:]],
        "t.csv.gz: the compressed file is truncated or damaged",
    ),
    "csv: compressed by name alone": (
        copy("tidy.csv", "t.jsonl.gz"),
        ["csv", "t.jsonl.gz", *TIDY[2:]],
        "t.jsonl.gz: the compressed file is truncated or damaged",
    ),
    "csv: wide with a text among scores": (
        lambda: Path("wide.csv").write_text("question,a,b\n1,1,0\n2,1,0\n3,n/a,1\n"),
        ["csv", "wide.csv", "--wide", "{config}", "--instance", "question"],
        "wide.csv, row 3, column 'a': 'n/a' is text",
    ),
    "csv: wide with one score and a column of costs": (
        nothing,
        [*WIDE[:3], "{config}", *MAPPED],
        "'tokens' is no column, no number and no CONFIG=NUMBER",
    ),
    "csv: wide with one score and more": (
        nothing,
        [*WIDE[:3], "{config}", *MAPPED, "--objective", "b=c"],
        "has nothing but a score",
    ),
    "csv: a description that changes": (
        nothing,
        [*TIDY, "--arm", "seconds"],
        "0.519 describes 'example/sparrow-mini', but 0.457 does in tidy.csv, row 1",
    ),
    "csv: time of zero": (
        nothing,
        [*TIDY, "--objective", "efficiency=temperature:inverse-percentile"],
        "the latency 0.0 is not positive",
    ),
    "csv: objective without column": (nothing, [*TIDY, "--objective", "speed"], "no column 'speed'"),
    "csv: nothing mapped": (
        nothing,
        TIDY[:2],
        "does not say --instance, --config, --objective -> give them",
    ),
    "csv: wrong kind of file": (
        copy("tidy.csv", "tidy.xlsx"),
        ["csv", "tidy.xlsx", *TIDY[2:]],
        "not named as",
    ),
    "csv: text for Parquet": (
        copy("tidy.csv", "t.parquet"),
        ["csv", "t.parquet", *TIDY[2:]],
        "the Parquet file is truncated or damaged",
    ),
    "csv: text for JSON Lines": (
        copy("tidy.csv", "t.jsonl"),
        ["csv", "t.jsonl", *TIDY[2:]],
        "t.jsonl: line 1 is not JSON",
    ),
    "csv: nested settings": (
        lambda: Path("t.jsonl").write_text(
            '{"model": {"name": "a"}, "question": 1, "correct": 1, "tokens": 5}\n'
        ),
        ["csv", "t.jsonl", *TIDY[2:]],
        "t.jsonl, column 'model': the names are nested values -> give each of its fields a column",
    ),
    "csv: columns of the table's names": (
        swap("tidy.csv", "temperature", "config", 1),
        [*TIDY, "--arm", "config"],
        "rename it",
    ),
    "csv: pattern without configuration": (nothing, [*WIDE[:3], "{field}", *MAPPED], "needs {config} once"),
    "csv: pattern that fits nothing": (nothing, [*WIDE[:3], "{config}/{field}", *MAPPED], "no column fits"),
    "csv: a field missing": (swap("wide.csv", "t0_tokens", "t0_token", 1), WIDE, "has no column"),
    "csv: wide with configurations": (nothing, [*WIDE, "--config", "model"], "leave out --config"),
    "csv: no mapping": (nothing, YAML, "there is no such mapping"),
    "csv: mapping of a list": (
        lambda: Path("map.yml").write_text("- 1"),
        YAML,
        "not a list of 'option: value'",
    ),
    "csv: mapping that is no YAML": (lambda: Path("map.yml").write_text("a: [1"), YAML, "not valid YAML"),
    "csv: mapping that is deep": (
        lambda: Path("map.yml").write_text("[" * 9999),
        YAML,
        "nested more than 5 deep",
    ),
    "csv: mapping with a tag": (
        lambda: Path("map.yml").write_text("cost: !!python/object/apply:os.system ['touch evil']"),
        YAML,
        "not valid YAML",
    ),
    "csv: mapping with aliases": (
        lambda: Path("map.yml").write_text("a: &a [1, 1]\nb: [*a, *a]\n"),
        YAML,
        "uses YAML aliases",
    ),
    "csv: mapping with an unknown key": (
        lambda: Path("map.yml").write_text("instnace: q"),
        YAML,
        "unknown key 'instnace' -> did you mean 'instance'",
    ),
    "csv: mapping with a key twice": (lambda: Path("map.yml").write_text("cost: a\ncost: b"), YAML, "twice"),
    "csv: mapping that names a mapping": (
        lambda: Path("map.yml").write_text("mapping: map.yml"),
        YAML,
        "unknown",
    ),
    "csv: mapping of the wrong types": (lambda: Path("map.yml").write_text("cost: [[1]]"), YAML, "cost.0: "),
    "csv: files that disagree on what a column is": (
        lambda: [
            Path("more.csv").write_text(
                Path("tidy.csv").read_text().replace(",0.7,", ",warm,").replace("/", "-")
            ),
        ],
        ["csv", "tidy.csv", "more.csv", *TIDY[2:], "--arm", "temperature"],
        "a column mixes kinds of values",
    ),
    "csv: configuration missing in JSON Lines": (
        lambda: Path("t.jsonl").write_text(
            '{"model": null, "question": 1, "correct": 1, "tokens": 2}\n'
            '{"model": "a", "question": 1, "correct": 1, "tokens": 2}\n'
        ),
        ["csv", "t.jsonl", *TIDY[2:]],
        "t.jsonl, row 1, column 'model': the name is blank -> ",
    ),
    "csv: JSON Lines that are no UTF-8": (
        lambda: Path("t.jsonl").write_bytes(
            b'{"model": "a\xff", "question": "1", "correct": 1, "tokens": 2}\n'
        ),
        ["csv", "t.jsonl", *TIDY[2:]],
        "t.jsonl: the file is not UTF-8 text",
    ),
    "csv: a whole number that no column holds": (
        lambda: Path("t.jsonl").write_text(
            "".join(
                f'{{"model": "{model}", "question": {i}, "correct": 1, "tokens": 2, "seed": 1{"0" * 400}}}\n'
                for model in "ab"
                for i in range(1, 5)
            )
        ),
        ["csv", "t.jsonl", *TIDY[2:], "--arm", "seed"],
        "numbers too large to store",
    ),
    "csv: a cost that no float holds": (
        lambda: Path("t.jsonl").write_text(
            f'{{"model": "a", "question": 1, "correct": 1, "tokens": 1{"0" * 400}}}\n'
        ),
        ["csv", "t.jsonl", *TIDY[2:]],
        "inf is not finite",
    ),
    "csv: output among the input": (
        copy("tidy.csv", "my.parquet"),
        ["csv", "my.parquet", *TIDY[2:]],
        "also what is to be imported",
    ),
    # the output
    "output is there already": (lambda: Path("my.yml").write_text("name: mine"), INSPECT, "already there"),
    "output of another kind": (nothing, [*INSPECT, "-o", "my.csv"], "end in .parquet"),
    "output nowhere": (nothing, [*INSPECT, "-o", "none/my.parquet"], "there is no folder"),
    "card is a folder": (lambda: Path("my.yml").mkdir(), INSPECT, "this is a folder"),
    "profiling of one": (nothing, [*INSPECT, "--profiling", "1"], "error: --profiling: "),
    "profiling of all": (nothing, [*INSPECT, "--profiling", "12"], "-> change --profiling, now 12"),
    "name in capitals": (nothing, [*INSPECT, "--name", "My Table"], "error: --name: "),
    "unknown kind": (nothing, [*INSPECT, "--kind", "guessed"], "error: --kind: "),
    "negative seed": (nothing, [*INSPECT, "--seed", "-1"], "error: --seed: "),
    "constant times": (
        lambda: [
            each_sample(working_time=1.5)(),
            one(LOG).rename("json/z.json"),
            each_sample(working_time=1.5)(),
        ],
        INSPECT,
        "--latency none",
    ),
    "new and more": (nothing, [*INSPECT, "--update", "--force"], "give one of them"),
    "update without card": (
        copy("tidy.csv", "my.parquet"),
        [*INSPECT, "--update"],
        "my.yml: this is missing",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "words", "message"), BAD.values(), ids=BAD)
def test_bad_input_gives_one_message_and_exit_code_2(here, spoil, words, message, monkeypatch, capfd):
    spoil()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    given = ["cobandit", "import", *words, *([] if "-o" in words else ["-o", "my.parquet"])]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    out, err = capfd.readouterr()
    said = " ".join(err.split())
    assert exit_.value.code == 2 and out == ""
    # the terminal's width may break the message anywhere
    assert message.replace(" ", "") in said.replace(" ", ""), said
    assert err.startswith("error: ") and " -> " in said and "Traceback" not in said and len(said) < 1000
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_an_earlier_table_survives_a_failed_import_and_a_failed_write(here, monkeypatch):
    import_logs("inspect", ["json"], "my.parquet")
    before = [Path(name).read_bytes() for name in ("my.parquet", "my.yml")]
    with pytest.raises(CobanditError, match="no scorer"):
        import_logs("inspect", ["json"], "my.parquet", metric="none", force=True)

    def full(self, *how, **more):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(CobanditError, match="no space left"):
            import_logs("inspect", ["json"], "my.parquet", seed=1, force=True)
    assert [Path(name).read_bytes() for name in ("my.parquet", "my.yml")] == before
    assert not list(Path().glob(".cobandit-*"))


@pytest.mark.parametrize(
    ("name", "source"), [("MAX_FILE", "json"), ("MAX_MEMBER", "eval"), ("MAX_EXPANDED", "eval")]
)
def test_sizes_are_bounded(here, monkeypatch, name, source):
    monkeypatch.setattr(safe_reading, name, 100)
    with pytest.raises(CobanditError, match="100"):
        import_logs("inspect", [source], "my.parquet")


def test_sizes_of_tables_and_mappings_are_bounded(here, monkeypatch):
    monkeypatch.setattr(tidy, "MAX_FILE", 100)
    with pytest.raises(CobanditError, match="more than the 100 that are read"):
        import_logs("csv", ["wide.csv"], "my.parquet", wide="{config}_{field}", **MEASURES)
    monkeypatch.setattr(fields, "MAX_BYTES", 10)
    Path("map.yml").write_text("cost: " + "x" * 10)
    with pytest.raises(CobanditError, match="more than the 10 bytes"):
        import_logs("csv", ["wide.csv"], "my.parquet", mapping="map.yml")


def test_a_file_that_may_not_be_read(here, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(CobanditError, match=r"cannot be read: Permission denied"):
        import_logs("inspect", ["json"], "my.parquet")


def test_unknown_source_and_unknown_option():
    with pytest.raises(CobanditError, match="choose one of"):
        import_logs("guess", ["."], "my.parquet")
    with pytest.raises(CobanditError, match="--flavour"):
        import_logs("inspect", ["."], "my.parquet", flavour="x")


MEASURES = {"instance": "question", "cost": "tokens", "unit": "tokens", "objective": ["accuracy=correct"]}


def test_notes_count():
    notes = Notes()
    assert notes.lines() == ["left out: nothing"]
