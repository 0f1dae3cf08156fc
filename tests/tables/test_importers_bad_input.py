"""Importers give a table or one clear message for any file, and no partial file."""

import gzip
import json
import re
import struct
import zipfile
from pathlib import Path

import pytest
from support import logs
from support.faults import fault

from cobandit.errors import CobanditError
from cobandit.tables import archives, bounded_files, importers, plain_yaml
from cobandit.tables.importers import import_logs, table_files

LM = ["lm-eval", "lm", "--filter", "strict-match"]
INSPECT, EVAL = ["inspect", "json"], ["inspect", "eval"]
HELM = ["helm", "helm", "--metric", "exact_match"]
MAPPED = [
    "--instance",
    "question",
    "--cost",
    "tokens",
    "--unit",
    "tokens",
    "--objective",
    "accuracy=correct",
]
TIDY = ["csv", "tidy.csv", "--config", "model", *MAPPED]
WIDE = ["csv", "wide.csv", "--wide", "{config}_{field}", *MAPPED]
BARE = ["csv", "wide.csv", "--wide", "{config}", "--instance", "question"]
WARM = [*TIDY, "--config", "temperature"]
UNPAID = [*TIDY[:4], *MAPPED[:2], *MAPPED[4:]]
YAML = ["csv", "tidy.csv", "--mapping", "map.yml"]


def tidy_of(*files):
    return ["csv", *files, *TIDY[2:]]


def one(pattern):
    """The first file that fits."""
    return sorted(Path().rglob(pattern))[0]


MORE = "model,temperature,question,correct,tokens\nother,0,1,1,5\nother,0,2,1,-1\n"
FALLING = "question,a_correct,a_tokens,b_correct,b_tokens\n"
FALLING += "".join(f"{i},1,5,1,{i - 1}\n" for i in range(9, -1, -1))
BOMB = {"header.json": b" " * 10**8}
SAMPLES, RESULTS, LOG, ARCHIVE = (
    "samples_*.jsonl",
    "results_*.json",
    "json/*.json",
    "*.eval",
)
STATS, SPEC = "per_instance_stats.json", "run_spec.json"


def alter(pattern, change):
    return lambda: one(pattern).write_bytes(change(one(pattern).read_bytes()))


def cut(pattern):
    """Keep the first half of a file."""
    return alter(pattern, lambda raw: raw[: len(raw) // 2])


def write(pattern, content, every=False):
    """Write the first file that fits, every one, or one of that name."""
    raw = content if isinstance(content, bytes) else content.encode()

    def apply():
        files = sorted(Path().rglob(pattern)) or [Path(pattern)]
        for path in files if every else files[:1]:
            path.write_bytes(raw)

    return apply


def swap(pattern, old, new, count=-1):
    def change():
        text = one(pattern).read_text()
        assert old in text
        one(pattern).write_text(text.replace(old, new, count))

    return change


def edit(pattern, change):
    """Change a JSON file's content in place."""
    return lambda: logs.change(one(pattern), change)


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
        LOG,
        lambda log: [
            u.update(changes) for s in log["samples"] for u in s["model_usage"].values()
        ],
    )


def stat(name, value):
    def change(entries):
        for entry in entries:
            for entry_stat in entry["stats"]:
                if entry_stat["name"]["name"] == name:
                    entry_stat["mean"] = value

    return edit(STATS, change)


def copy(pattern, name, change=bytes):
    return lambda: (
        one(pattern).with_name(name).write_bytes(change(one(pattern).read_bytes()))
    )


def shortened(raw):
    return gzip.compress(raw)[:-20]


def drop(pattern):
    return lambda: one(pattern).unlink()


def archive(then=None, **members):
    """Add members, and let the directory claim that each expands to so many bytes."""

    def change():
        path = one(ARCHIVE)
        with zipfile.ZipFile(path, "a") as file:
            for name, content in members.items():
                file.writestr(name, content)
        content = bytearray(path.read_bytes())
        for matched in re.finditer(b"PK\x01\x02", bytes(content) if then else b""):
            content[matched.start() + 24 : matched.start() + 28] = struct.pack(
                "<I", then
            )
        path.write_bytes(content)

    return change


def both_logs(change):
    """Change the first of the logs in JSON, and then the other."""

    def apply():
        change()
        one(LOG).rename("json/z.json")
        change()

    return apply


def nothing():
    pass


def line(model='"a"', question=1, tokens=2, seed=0):
    return (
        f'{{"model": {model}, "question": {question}, "correct": 1, "tokens": {tokens},'
        f' "seed": {seed}}}\n'
    )


BARE_LINE = (
    '{"doc_id": 1, "filter": "strict-match", "metrics": [], "doc_hash": "0",'
    ' "arguments": {}, "resps": []}'
)
LINES, HUGE = tidy_of("t.jsonl"), 10**400
SEEDS = "".join(
    line(model, i, seed=HUGE) for model in ('"a"', '"b"') for i in range(1, 5)
)

#: What spoils the files, the words of the command, and code and part of the message of
#: its first fault.
BAD = [
    (cut(SAMPLES), LM, "one-configuration", ".jsonl, line 13"),
    (write(SAMPLES, "\n\n  \n"), LM, "one-configuration", "the file is empty"),
    (
        write(SAMPLES, '{"a": 1}\n'),
        LM,
        "one-configuration",
        "line 1: doc_id: the field is missing",
    ),
    (drop(RESULTS), LM, "one-configuration", "but there are 0"),
    (
        copy(RESULTS, f"x_{logs.DATE}.json"),
        LM,
        "one-configuration",
        "but there are 2",
    ),
    (write(RESULTS, "{}"), LM, "one-configuration", "does not name the model"),
    (nothing, ["lm-eval", "tidy.csv"], "no-matching-file", "named samples"),
    (nothing, ["lm-eval", "nowhere"], "no-file", "no such file or folder"),
    (
        nothing,
        [*LM, "--metric", "exact"],
        "unknown-choice",
        "did you mean 'exact_match'",
    ),
    (
        nothing,
        [*LM[:2], "--filter", "strict"],
        "unknown-choice",
        "did you mean 'strict-match'",
    ),
    (
        nothing,
        LM[:2],
        "several-to-choose",
        "more than one filter: flexible-extract, strict-match",
    ),
    (
        nothing,
        [*LM, "--task", "sum"],
        "unknown-choice",
        "no task 'sum' -> did you mean 'sums'",
    ),
    (
        each_line(lambda x: x.update(exact_match="high")),
        LM,
        "one-configuration",
        "'high' (12): give each one with --word",
    ),
    (
        each_line(lambda x: x.update(exact_match=55)),
        LM,
        "out-of-range",
        "from 0 to 55",
    ),
    (
        lambda: [path.write_text(BARE_LINE) for path in Path().rglob(SAMPLES)],
        LM,
        "nothing-to-choose",
        "no metric",
    ),
    (
        each_line(lambda x: x.pop("doc_hash")),
        LM,
        "one-configuration",
        "doc_hash: the field is missing",
    ),
    (
        each_line(lambda x: x.update(metrics=[])),
        LM,
        "one-configuration",
        "can be used: 12 evaluations without exact_match",
    ),
    (
        each_line(lambda x: x["arguments"]["gen_args_0"].update(arg_1=" 7")),
        [*LM, "--cost", "tokens"],
        "one-configuration",
        "cost not measured, left out: 12 of 12 evaluations of example/heron-large",
    ),
    (
        swap(RESULTS, '"exact_match": true', '"exact_match": false'),
        LM,
        "lower-is-better",
        "exact_match",
    ),
    (
        nothing,
        ["lm-eval", "lm/sparrow-mini-t0", *LM[2:]],
        "one-configuration",
        "only one configuration",
    ),
    (
        each_line(lambda x: x.update(doc_id=" ")),
        LM,
        "one-configuration",
        "the doc_id is blank",
    ),
    (nothing, [*LM, "--tokenizer", "no.json"], "no-file", "no such tokenizer"),
    (
        nothing,
        [*LM, "--by", "temprature"],
        "unknown-choice",
        "did you mean 'temperature'",
    ),
    (
        alter(
            ARCHIVE, lambda raw: re.sub(rb"(?s)(PK\x01\x02....)\x00", b"\\1\x01", raw)
        ),
        EVAL,
        "one-configuration",
        "is encrypted",
    ),
    (cut(ARCHIVE), EVAL, "one-configuration", "not a complete zip archive"),
    (
        write(ARCHIVE, b"PK\5\6" + bytes(18)),
        EVAL,
        "one-configuration",
        "not a complete zip archive",
    ),
    (
        write(LOG, '{"a": 1}'),
        INSPECT,
        "one-configuration",
        "eval: the field is missing",
    ),
    (
        edit(LOG, lambda log: log.update(version=3)),
        INSPECT,
        "one-configuration",
        "version 3",
    ),
    (
        each_sample(error={"message": "no"}),
        INSPECT,
        "one-configuration",
        "can be used: 12 samples that ended in an error",
    ),
    (
        nothing,
        [*INSPECT, "--metric", "includes"],
        "unknown-choice",
        "no scorer 'includes'",
    ),
    (
        each_sample(scores={"match": {"value": "splendid"}}),
        INSPECT,
        "one-configuration",
        "'splendid' (12): give each one with",
    ),
    (
        each_usage(output_tokens=-5),
        INSPECT,
        "one-configuration",
        "greater than or equal to 0",
    ),
    (
        both_logs(each_usage(input_tokens=0, output_tokens=0, total_tokens=0)),
        INSPECT,
        "all-free",
        "every evaluation costs 0 tokens -> use another cost",
    ),
    (
        nothing,
        [*INSPECT, "--cost", "usd"],
        "no-cost",
        "the price is unknown -> give the price with --prices",
    ),
    (
        each_usage(total_cost=-1.0),
        [*INSPECT, "--cost", "usd"],
        "no-cost",
        "total_cost: Input should be greater",
    ),
    (nothing, [*INSPECT, "--smallest-cost", "0"], "greater_than", "--smallest-cost: "),
    (
        both_logs(each_sample(model_usage={})),
        [*INSPECT, "--cost", "tokens"],
        "no-cost",
        "--cost seconds",
    ),
    (
        each_sample(scores=None),
        INSPECT,
        "one-configuration",
        "with scores -> score the samples: inspect score json/heron-large-t0",
    ),
    (
        both_logs(write(LOG, "[]")),
        INSPECT,
        "no-usable-log",
        "the logs: none of the 2 logs can be used",
    ),
    (each_sample(id="\ud800"), INSPECT, "one-configuration", "not JSON"),
    (
        lambda: [
            copy(LOG, "again.json")(),
            edit("json/again.json", lambda log: log["plan"]["config"].update(seed=3))(),
        ],
        [*INSPECT, "--by", "temperature"],
        "same-configuration",
        (
            "which differs in seed -> name the settings that distinguish them with"
            " --by, or give only one"
        ),
    ),
    (
        edit(LOG, lambda log: log["eval"].update(task="other")),
        INSPECT,
        "several-to-choose",
        "more than one task: other, sums",
    ),
    (
        archive(**{"../../evil.json": "{}"}),
        EVAL,
        "one-configuration",
        "has a path outside the archive",
    ),
    (
        archive(**{"samples\\..\\..\\evil.json": "{}"}),
        EVAL,
        "one-configuration",
        "has a path outside",
    ),
    (
        archive(**{"C:/evil.json": "{}"}),
        EVAL,
        "one-configuration",
        "has a path outside",
    ),
    (
        archive(**{f"x{i}.json": "0" for i in range(260)}, then=2**32 - 2),
        EVAL,
        "one-configuration",
        "expanded size is 1,",
    ),
    (archive(then=10), EVAL, "one-configuration", "not a complete zip archive"),
    (
        lambda: logs.zip_with_zstandard(one(ARCHIVE), BOMB, claim=100),
        EVAL,
        "one-configuration",
        "not a complete zip archive",
    ),
    (
        write(STATS, "[]"),
        HELM,
        "one-configuration",
        "only perturbed instances",
    ),
    (
        drop(SPEC),
        HELM,
        "one-configuration",
        "the folder lacks per_instance_stats.json or run_spec.json",
    ),
    (write(SPEC, "{}"), HELM, "one-configuration", "name: the field is missing"),
    (
        edit(SPEC, lambda s: s.update(adapter_spec={})),
        HELM,
        "one-configuration",
        "does not name the model",
    ),
    (
        nothing,
        HELM[:2],
        "several-to-choose",
        "more than one metric: exact_match, quasi_exact_match",
    ),
    (
        nothing,
        [*HELM[:2], "--metric", "batch_size"],
        "unknown-choice",
        "no metric 'batch_size'",
    ),
    (stat("exact_match", "right"), HELM, "one-configuration", "not 'right'"),
    (
        drop(STATS),
        HELM,
        "one-configuration",
        "the folder lacks per_instance_stats.json",
    ),
    (
        stat("num_output_tokens", -5),
        HELM,
        "cost-not-positive",
        "the cost -5.0 is not positive",
    ),
    (
        stat("num_output_tokens", None),
        [*HELM, "--cost", "tokens"],
        "one-configuration",
        (
            "cost not measured, left out: 12 of 12 evaluations of example/heron-large"
            " temperature=0.7"
        ),
    ),
    (
        alter("tidy.csv", lambda raw: raw[:-20]),
        TIDY,
        "damaged-file",
        "does not parse: CSV parse error: Row #25",
    ),
    (
        write("tidy.csv", "model,question,correct,tokens\n"),
        TIDY,
        "no-rows",
        "there are no rows",
    ),
    (write("tidy.csv", b"\xff\xfe\x00\x01,\n\xff"), TIDY, "damaged-file", "tidy.csv"),
    (
        nothing,
        [*TIDY, "--arm", "temprature"],
        "missing-column",
        "did you mean 'temperature'",
    ),
    (
        swap("tidy.csv", "seconds", "tokens", 1),
        TIDY,
        "repeated-column",
        "more than once",
    ),
    (swap("tidy.csv", ",21,", ",many,"), TIDY, "not-a-number", "column 'tokens'"),
    (
        alter("tidy.csv", lambda raw: raw.replace(b",21,", b",\x80,")),
        TIDY,
        "not-a-number",
        "row 11, column 'tokens': '€' is text",
    ),
    (swap("tidy.csv", ",21,", ",,"), TIDY, "missing-value", "the value is missing"),
    (
        swap("tidy.csv", "example/sparrow-mini", ""),
        TIDY,
        "missing-name",
        "row 1, column 'model': the name is missing (and",
    ),
    (
        swap("tidy.csv", ",0.7,000", ",,000", 1),
        WARM,
        "missing-name",
        "row 13, column 'temperature': the name is missing -> ",
    ),
    (
        write("more.csv", MORE),
        tidy_of("tidy.csv", "more.csv"),
        "negative-cost",
        "more.csv, row 2, column 'tokens': the cost",
    ),
    (
        write("wide.csv", FALLING),
        WIDE,
        "negative-cost",
        "wide.csv, row 10, column 'b_tokens': the cost -1.0 is negative",
    ),
    (
        swap("tidy.csv", ",001,", ",001,7", 1),
        [*TIDY, "--where", "question != '000'"],
        "out-of-range",
        "row 2, column 'cor",
    ),
    (
        nothing,
        [*TIDY, "--where", "tokens < 0"],
        "no-rows",
        "no rows with a value that --where takes",
    ),
    (
        nothing,
        [*TIDY, "--where", "temprature > 0"],
        "bad-condition",
        "name 'temprature' is not defined -> write a condition",
    ),
    (
        nothing,
        [*TIDY, "--where", "tokens + 1"],
        "bad-condition",
        "other than true and false",
    ),
    (
        write("map.yml", "where: question.to_csv('evil')"),
        YAML,
        "extra_forbidden",
        "unknown key 'where'",
    ),
    (
        nothing,
        [*TIDY, "--text", "model"],
        "contradictory-options",
        "--cost and --text both give",
    ),
    (
        nothing,
        [*UNPAID, "--cost", "a", "--cost", "b"],
        "bad-cost",
        "a, b is neither a column, a number nor CONFIG=NUMBER",
    ),
    (
        nothing,
        [*UNPAID, "--cost", "example/sparrow-mini=1"],
        "missing-cost",
        "the cost of example/heron-large is missing -> give",
    ),
    (
        nothing,
        [*UNPAID, "--cost", "sparrow-mini=1"],
        "unknown-configuration",
        "did you mean 'example/sparrow-mini'",
    ),
    (
        copy("tidy.csv", "t.csv.gz", shortened),
        tidy_of("t.csv.gz"),
        "damaged-file",
        "t.csv.gz: the file is damaged",
    ),
    (
        write("wide.csv", "question,a,b\n1,1,0\n2,1,0\n3,n/a,1\n"),
        BARE,
        "not-a-number",
        "row 3, column 'a': 'n/a' is text",
    ),
    (
        nothing,
        [*WIDE[:3], "{config}", *MAPPED],
        "bad-cost",
        "tokens is neither a column, a number nor CONFIG=NUMBER",
    ),
    (
        nothing,
        [*WIDE[:3], "{config}", *MAPPED, "--objective", "b=c"],
        "contradictory-options",
        "allows one objective",
    ),
    (
        nothing,
        [*TIDY, "--arm", "seconds"],
        "two-descriptions",
        "the value '0.519' differs from the value of 'example/sparrow",
    ),
    (
        nothing,
        [*TIDY, "--objective", "speed=temperature:inverse-percentile"],
        "latency-not-positive",
        "latency 0.0 is not positive",
    ),
    (
        nothing,
        [*TIDY, "--objective", "speed"],
        "missing-column",
        "'speed': the column is missing",
    ),
    (
        nothing,
        [*TIDY, "--objective", "a=correct:invers-percentile"],
        "unknown-transform",
        "no transform 'invers-percentile' -> did you mean",
    ),
    (
        nothing,
        TIDY[:2],
        "incomplete-mapping",
        (
            "--instance, --objective are missing -> name them among the file's"
            " columns, such as --objective accuracy=COLUMN: tidy.csv has 'model', "
        ),
    ),
    (
        copy("tidy.csv", "t.parquet"),
        tidy_of("t.parquet"),
        "damaged-file",
        "the file is damaged",
    ),
    (
        copy("tidy.csv", "t.jsonl"),
        tidy_of("t.jsonl"),
        "not-an-object",
        "t.jsonl: line 1 is not a JSON object",
    ),
    (
        write("t.jsonl", line('{"name": "a"}')),
        LINES,
        "missing-column",
        "t.jsonl, column 'model': the column is missing -> did you mean 'model.name'",
    ),
    (
        swap("tidy.csv", "temperature", "config", 1),
        [*TIDY, "--arm", "config"],
        "reserved-name",
        "rename",
    ),
    (nothing, [*WIDE[:3], "{field}", *MAPPED], "value_error", "{config} once"),
    (
        nothing,
        [*WIDE[:3], "{config}/{field}", *MAPPED],
        "no-wide-column",
        "'{config}/{field}'",
    ),
    (
        swap("wide.csv", "t0_tokens", "t0_token", 1),
        WIDE,
        "missing-column",
        "has no column",
    ),
    (
        nothing,
        [*WIDE, "--config", "model"],
        "contradictory-options",
        "--wide",
    ),
    (nothing, YAML, "no-file", "there is no such mapping"),
    (
        write("map.yml", "- 1"),
        YAML,
        "model_type",
        "a mapping of fields to values is needed",
    ),
    (
        write("map.yml", "cost: !!python/object/apply:os.system ['touch evil']"),
        YAML,
        "not-yaml",
        "not valid YAML",
    ),
    (
        write("map.yml", "instnace: q"),
        YAML,
        "extra_forbidden",
        "unknown key 'instnace' -> did you mean 'instance'",
    ),
    (
        write("map.yml", "cost: [[1]]"),
        YAML,
        "string_type",
        "field 'cost.0': Input should be a valid string",
    ),
    (
        copy(
            "tidy.csv",
            "more.csv",
            lambda raw: raw.replace(b",0.7,", b",warm,").replace(b"/", b"-"),
        ),
        [*tidy_of("tidy.csv", "more.csv"), "--arm", "temperature"],
        "mixed-column",
        "a column mixes kinds of values",
    ),
    (
        write("t.jsonl", line("null") + line()),
        LINES,
        "missing-name",
        "t.jsonl, row 1, column 'model': the name is missing",
    ),
    (
        write("t.jsonl", line().encode().replace(b"a", b"a\xff", 1)),
        LINES,
        "damaged-file",
        "t.jsonl: the file is damaged",
    ),
    (
        write("t.jsonl", SEEDS),
        [*LINES, "--arm", "seed"],
        "mixed-column",
        "numbers too large to store",
    ),
    (write("t.jsonl", line(tokens=HUGE)), LINES, "not-finite", "inf is not finite"),
    (
        copy("tidy.csv", "my.parquet"),
        tidy_of("my.parquet"),
        "output-is-input",
        "also an input of the import",
    ),
    (write("my.yml", "name: mine"), INSPECT, "file-exists", "already exists"),
    (nothing, [*INSPECT, "-o", "my.csv"], "not-parquet", "the suffix .parquet"),
    (nothing, [*INSPECT, "-o", "none/my.parquet"], "no-folder", "there is no folder"),
    (
        lambda: Path("my.yml").mkdir(),
        [*INSPECT, "--force"],
        "is-a-folder",
        "my.yml: this is a folder -> choose another name",
    ),
    (
        write("my.yml", "name: mine"),
        [*INSPECT, "--update"],
        "missing-records",
        "my.yml",
    ),
    (
        nothing,
        [*INSPECT, "--profiling", "1"],
        "greater_than_equal",
        "error: --profiling: ",
    ),
    (
        nothing,
        [*INSPECT, "--profiling", "12"],
        "few-instances",
        "change the number of profiling instances, now 12",
    ),
    (
        nothing,
        [*INSPECT, "--name", "My Table"],
        "string_pattern_mismatch",
        "error: --name: ",
    ),
    (nothing, [*INSPECT, "--kind", "guessed"], "literal_error", "error: --kind: "),
    (nothing, [*INSPECT, "--seed", "-1"], "greater_than_equal", "error: --seed: "),
    (both_logs(each_sample(working_time=1.5)), INSPECT, "no-scale", "--latency none"),
    (
        nothing,
        [*INSPECT, "--update", "--force"],
        "force-and-update",
        "give only one of them",
    ),
    (
        copy("tidy.csv", "my.parquet"),
        [*INSPECT, "--update"],
        "no-file",
        "my.yml: there is no such card",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "words", "code", "message"),
    BAD,
    ids=[f"{words[0]}: {message}" for _, words, _, message in BAD],
)
def test_bad_input_gives_one_message_and_exit_code_2(
    workspace, spoil, words, code, message, refused, monkeypatch
):
    errors = []

    def recording(*arguments, **options):
        try:
            return import_logs(*arguments, **options)
        except CobanditError as error:
            errors.append(error)
            raise

    monkeypatch.setattr(importers, "import_logs", recording)
    spoil()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    err = refused("import", *words, *([] if "-o" in words else ["-o", "my.parquet"]))
    text = " ".join(err.split())
    (error,) = errors
    assert error.faults[0].code == code and error.faults[0].remedy
    # the terminal's width may break the message anywhere
    assert message.replace(" ", "") in text.replace(" ", ""), text
    assert err.startswith("error: ") and " -> " in text and len(text) < 1000
    assert {
        path: path.read_bytes() for path in Path().rglob("*") if path.is_file()
    } == before


def test_failed_import_keeps_the_earlier_table(workspace, monkeypatch):
    import_logs("inspect", ["json"], "my.parquet")
    before = [Path(name).read_bytes() for name in ("my.parquet", "my.yml")]
    with fault("unknown-choice", "the logs", names=["scorer 'none'"]):
        import_logs("inspect", ["json"], "my.parquet", metric="none", force=True)

    def full(self, *how, **more):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with fault("not-written", "my.parquet", names=["no space left"]):
            import_logs("inspect", ["json"], "my.parquet", seed=1, force=True)
    assert [Path(name).read_bytes() for name in ("my.parquet", "my.yml")] == before
    assert not list(Path().glob(".cobandit-*"))


@pytest.mark.parametrize(
    ("module", "name", "source"),
    [
        (bounded_files, "MAX_FILE", "json"),
        (archives, "MAX_MEMBER", "eval"),
        (archives, "MAX_EXPANDED", "eval"),
    ],
)
def test_sizes_of_logs_are_bounded(workspace, monkeypatch, module, name, source):
    monkeypatch.setattr(module, name, 100)
    with fault("no-usable-log", "the logs") as caught:
        import_logs("inspect", [source], "my.parquet")
    assert "100" in str(caught.value)


def test_sizes_of_tables_and_mappings_are_bounded(workspace, monkeypatch):
    monkeypatch.setattr(table_files, "MAX_FILE", 100)
    with fault("file-too-large", "wide.csv", names=["the limit is 100"]):
        import_logs(
            "csv", ["wide.csv"], "my.parquet", wide="{config}_{field}", **MEASURES
        )
    monkeypatch.setattr(plain_yaml, "MAX_BYTES", 10)
    Path("map.yml").write_text("cost: " + "x" * 10)
    with fault("file-too-large", "map.yml", names=["the limit is 10"]):
        import_logs("csv", ["wide.csv"], "my.parquet", mapping="map.yml")


def test_unreadable_file_is_reported(workspace, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with fault("no-usable-log", "the logs") as caught:
        import_logs("inspect", ["json"], "my.parquet")
    assert "Permission denied" in str(caught.value)


def test_unknown_source_and_option_are_refused():
    with fault("unknown-source", "the source", remedy="choose one of"):
        import_logs("guess", ["."], "my.parquet")
    with fault("extra_forbidden", "--flavour"):
        import_logs("inspect", ["."], "my.parquet", flavour="x")


MEASURES = {
    "instance": "question",
    "cost": "tokens",
    "unit": "tokens",
    "objective": ["accuracy=correct"],
}
