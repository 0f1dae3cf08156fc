"""Bad evaluation tables give one error with its place and a remedy."""

import json
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml
from support.faults import fault
from support.toy import CARD, write_frame

from cobandit.errors import MAX_LISTED, TableError
from cobandit.tables import Card, EvaluationTable, open_table, read, record_files
from cobandit.tables.card import read_card
from cobandit.tables.storage import file_sha256


def frame():
    """Rows 1-4 are configuration a, rows 5-8 configuration b."""
    return pd.DataFrame(
        {
            "config": list("aaaabbbb"),
            "instance": ["q1", "q2", "q3", "q4"] * 2,
            "usd": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            "correct": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
            "seconds": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            "model": ["small"] * 4 + ["large"] * 4,
        }
    )


def with_cell(row, column, value):
    changed = frame().astype({column: object})
    changed.loc[row - 1, column] = value
    return changed.infer_objects()


def message(given_frame, card=CARD):
    with pytest.raises(TableError) as error:
        EvaluationTable.from_records(given_frame, Card.model_validate(card), "my.csv")
    assert isinstance(error.value, ValueError)
    return str(error.value)


def objectives(**changes):
    return CARD | {
        "objectives": [CARD["objectives"][0] | changes, CARD["objectives"][1]]
    }


ROWS = [
    (with_cell(3, "correct", 1.2), ["row 3", "'correct'", "1.2", "[0, 1]", "rescale"]),
    (with_cell(3, "correct", 1 + 1e-15), ["row 3", "1.000000000000001"]),
    (
        with_cell(2, "correct", np.nan),
        ["row 2", "'correct'", "missing", "evaluation again"],
    ),
    (with_cell(2, "correct", np.inf), ["row 2", "'correct'", "inf is not finite"]),
    (
        with_cell(5, "usd", 0.0),
        ["row 5", "'usd'", "0.0 is not positive", "smallest_cost"],
    ),
    (
        with_cell(5, "usd", 1e300),
        ["row 5", "'usd'", "1e+300 is not between 1e-30 and 1e+30"],
    ),
    (
        with_cell(5, "usd", 1e-300),
        ["row 5", "'usd'", "1e-300 is not between", "another unit"],
    ),
    (with_cell(8, "usd", -np.inf), ["row 8", "'usd'", "-inf is not finite"]),
    (with_cell(4, "seconds", 0.0), ["row 4", "'seconds'", "0.0 is not positive"]),
    (
        with_cell(6, "usd", "n/a"),
        ["row 6", "'usd'", "'n/a'", "not a number", "as numbers"],
    ),
    (with_cell(6, "usd", None).assign(usd=[[1]] * 8), ["row 1", "[1]", "7 more rows"]),
    (frame().astype({"usd": str}), ["row 1", "'usd'", "'1.0'", "7 more rows"]),
    (frame().astype({"usd": complex}), ["row 1", "'usd'", "not a number"]),
    (
        frame().assign(usd=pd.Timestamp("2025-01-01")),
        ["row 1", "'usd'", "not a number"],
    ),
    (
        with_cell(3, "instance", "q1"),
        ["row 3", "'instance'", "('a', 'q1')", "keep one"],
    ),
    (
        with_cell(2, "instance", 1).pipe(
            lambda f: f.assign(instance=["1", *f["instance"][1:]])
        ),
        ["row 2", "('a', '1')"],
    ),
    (
        with_cell(7, "config", None),
        ["row 7", "'config'", "missing", "write a value of config into every row"],
    ),
    (with_cell(7, "config", " "), ["row 7", "'config'", "missing"]),
    (frame().assign(instance=[[1]] * 8), ["'instance'", "nested"]),
    (
        frame().assign(correct=[{"value": 1}] * 8),
        ["'correct'", "row 1", "json_normalize"],
    ),
    (frame()[:4], ["'config'", "only one configuration, 'a'", "at least two"]),
    (
        frame().assign(instance=["q1", "q2", "q3", "q4", "q1", "q2", "q3", "q9"])[:7],
        ["'instance'", "'b'", "profiling and", "2 of each", "on more instances"],
    ),
    (with_cell(3, "model", "medium"), ["row 3", "'medium'", "'a'", "one value"]),
    (frame().assign(model=[{"a": 1}] * 8), ["'model'", "nested"]),
    (frame().assign(seconds=3.0), ["'seconds'", "constant", "3", "another column"]),
    (frame()[:0], ["no rows", "export the table again"]),
    (frame().drop(columns="usd"), ["'usd'", "missing", "add it"]),
    (
        frame().rename(columns={"seconds": "second"}),
        ["'seconds'", "did you mean 'second'"],
    ),
    (
        pd.concat([frame(), frame()[["usd"]]], axis=1),
        ["'usd'", "more than once", "all but one"],
    ),
]

#: Code, row, column and offending value of the fault of each.
FAULTS = [
    ("out-of-range", 3, "correct", "1.2"),
    ("out-of-range", 3, "correct", "1.000000000000001"),
    ("missing-value", 2, "correct", ""),
    ("not-finite", 2, "correct", "inf"),
    ("cost-not-positive", 5, "usd", "0.0"),
    ("cost-too-extreme", 5, "usd", "1e+300"),
    ("cost-too-extreme", 5, "usd", "1e-300"),
    ("not-finite", 8, "usd", "-inf"),
    ("latency-not-positive", 4, "seconds", "0.0"),
    ("not-a-number", 6, "usd", "'n/a'"),
    ("not-a-number", 1, "usd", "[1]"),
    ("not-a-number", 1, "usd", "'1.0'"),
    ("not-a-number", 1, "usd", ""),
    ("not-a-number", 1, "usd", ""),
    ("duplicate-row", 3, "instance", "('a', 'q1')"),
    ("duplicate-row", 2, "instance", "('a', '1')"),
    ("missing-name", 7, "config", ""),
    ("missing-name", 7, "config", ""),
    ("nested-names", None, "instance", ""),
    ("not-a-number", 1, "correct", ""),
    ("one-configuration", None, "config", "'a'"),
    ("few-instances", None, "instance", "'b'"),
    ("two-descriptions", 3, "model", "'medium'"),
    ("nested-names", None, "model", ""),
    ("no-scale", None, "seconds", "3"),
    ("no-rows", None, None, ""),
    ("missing-column", None, "usd", ""),
    ("missing-column", None, "seconds", ""),
    ("repeated-column", None, "usd", ""),
]


@pytest.mark.parametrize(
    ("given_frame", "words", "fault"),
    [(*row, fault) for row, fault in zip(ROWS, FAULTS, strict=True)],
    ids=[
        f"{code}, {' '.join(words)}"
        for (code, *_), (_, words) in zip(FAULTS, ROWS, strict=True)
    ],
)
def test_bad_rows_are_reported(given_frame, words, fault):
    with pytest.raises(TableError) as error:
        EvaluationTable.from_records(given_frame, Card.model_validate(CARD), "my.csv")
    text = str(error.value)
    (result,) = error.value.faults
    assert (result.file, result.code, result.row, result.column) == (
        "my.csv",
        *fault[:3],
    )
    assert fault[3] in result.problem and result.remedy
    assert "\n" not in text, "one fault, one line"
    for word in ["my.csv", "->", *words]:
        assert word in text


def test_several_faults_are_listed_together():
    bad = frame().assign(usd=[0.0, -1.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan], extra=1)
    bad["correct"] = bad["correct"].astype(object)
    bad.loc[5, "correct"] = "yes"
    bad.loc[6, "correct"] = 7.0
    bad.loc[3, "instance"] = "q1"
    bad = bad.drop(columns="seconds")

    with pytest.raises(TableError) as error:
        EvaluationTable.from_records(bad, Card.model_validate(CARD), "my.csv")

    first, *lines = str(error.value).splitlines()
    assert "6 faults" in first and "row 1 is the first data row" in first
    assert len(lines) == 6
    assert {
        (fault.code, fault.column, fault.row, fault.more)
        for fault in error.value.faults
    } == {
        ("missing-column", "seconds", None, 0),
        ("cost-not-positive", "usd", 1, 1),
        ("missing-value", "usd", 8, 0),
        ("not-a-number", "correct", 6, 0),
        ("out-of-range", "correct", 7, 0),
        ("duplicate-row", "instance", 4, 0),
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"transform": "negate-minmax"},
        {"transform": "negate-minmax", "limits": [2, 1]},
        {"transform": "inverse-percentile", "limits": [0, 4]},
        {"transform": "inverse-percentile", "limits": [1, -4]},
    ],
)
def test_objective_without_scale_is_refused(changes):
    constant = objectives(column="usd", name="thrift", **changes)
    text = message(frame().assign(usd=1.0), constant)
    assert "constant" in text or "the smaller one first" in text


def test_too_many_profiling_instances_are_refused():
    text = message(frame(), CARD | {"split": {"profiling": 100}})
    assert "4 profiling and 0 evaluation" in text and "now 100" in text


def limited(**changes):
    """A speed whose limits are given, changed."""
    speed = {
        "name": "speed",
        "column": "seconds",
        "transform": "negate-minmax",
        "limits": [2, 4],
    }
    return {"objectives": [speed | changes]}


#: Changes of a good card, and the code, field and further words of the fault.
CARDS = [
    (objectives(transform="inverse-percentile", low=96), "low-above-high", "96"),
    ({"licence": "MIT"}, "extra_forbidden", "field 'licence'", "'license'"),
    (
        objectives(transfrom="none"),
        "extra_forbidden",
        "field 'objectives.0.transfrom'",
        "did you mean 'transform'",
    ),
    ({"kind": "real"}, "literal_error", "field 'kind'", "'reconstruction'", "'real'"),
    (
        objectives(transform="log"),
        "unknown-transform",
        "field 'objectives.0'",
        "'log'",
        "inverse-percentile",
    ),
    ({"objectives": []}, "no-objective", "field 'objectives'"),
    (
        {"objectives": [CARD["objectives"][0]] * 2},
        "repeated-name",
        "field 'objectives'",
    ),
    (objectives(name="cost"), "reserved-name", "field 'objectives.0'", "'cost'"),
    (objectives(low=10), "needless-percentiles", "field 'objectives.0'"),
    ({"split": {"profiling": 1}}, "greater_than_equal", "field 'split.profiling'"),
    ({"records": "../toy.csv"}, "string_pattern_mismatch", "field 'records'"),
    ({"sha256": "abc"}, "string_pattern_mismatch", "field 'sha256'", "64"),
    ({"kind": "reconstruction"}, "hidden-reconstruction", "'Toy'", "title"),
    (
        {
            "origin": {
                "url": "https://example.org/x.json",
                "parser": "swebench-bash-only",
            }
        },
        "missing-checksum",
        "sha256",
    ),
    (limited(transform="none"), "needless-limits", "field 'objectives.0'"),
    (
        limited(transform="inverse-percentile", low=10),
        "needless-percentiles",
        "field 'objectives.0'",
    ),
    ({"arms": ["config"]}, "repeated-column", "field 'arms'"),
    ({"arms": ["model", "model"]}, "repeated-column", "field 'arms'"),
    ({"arms": [1]}, "string_type", "field 'arms.0'"),
    ({"cluster": "correct"}, "column-in-use", "'correct'"),
]


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [(changes, code, words) for changes, code, *words in CARDS],
    ids=[f"{code} {words[0]}" for _, code, *words in CARDS],
)
def test_bad_cards_are_reported(changes, code, words, tmp_path):
    path = tmp_path / "toy.yml"
    path.write_text(json.dumps(CARD | changes))  # YAML too, and without aliases

    with pytest.raises(TableError) as error:
        read_card(path)

    (fault,) = error.value.faults
    assert fault.code == code and fault.file.startswith(str(path)) and fault.remedy
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_all_faults_of_a_card_are_listed(tmp_path):
    path = tmp_path / "toy.yml"
    bad = {key: value for key, value in CARD.items() if key != "title"} | {
        "kind": "real",
        "extra": 1,
    }
    path.write_text(yaml.safe_dump(bad))
    with pytest.raises(TableError) as error:
        read_card(path)
    codes = {entry.file.rpartition(" ")[2]: entry.code for entry in error.value.faults}
    assert codes == {
        "'title'": "missing",
        "'kind'": "literal_error",
        "'extra'": "extra_forbidden",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("", "empty-file", ""),
        ("- a\n", "model_type", "['a']"),
        ("a: [", "not-yaml", ""),
        ("name: a\nname: b\n", "not-yaml", "'name'"),
        ("source: 2025-13-45\n", "not-yaml", ""),
        ("name: !!python/object/apply:os.getcwd []\n", "not-yaml", ""),
        ("name: &a b\ntitle: *a\n", "not-yaml", "aliases"),
        ("? [a]\n: b\n", "not-yaml", ""),
        ("name: \xe9", "not-yaml", ""),
        ("[" * 10_000, "not-yaml", "32"),
        ("- " * 10_000, "not-yaml", "32"),
        ("? " * 10_000, "not-yaml", "32"),
        ("name: " + "a" * 65_536, "file-too-large", "65,536"),
    ],
    ids=range(13),
)
def test_file_other_than_a_card_is_refused(tmp_path, text, code, word):
    path = tmp_path / "toy.yml"
    path.write_text(text, encoding="latin-1")
    began = time.process_time()
    with fault(code, str(path), [word]):
        read_card(path)
    assert time.process_time() - began < 10  # ten thousand brackets once took 41 s


@pytest.mark.slow
def test_card_of_many_unknown_keys_is_refused(tmp_path):
    path = tmp_path / "toy.yml"
    path.write_text("".join(f"{i}:\n" for i in range(9_000)))
    began = time.process_time()
    with pytest.raises(TableError) as error:
        read_card(path)
    assert time.process_time() - began < 10
    assert len(error.value.faults) == 9_009
    assert str(error.value).count("\n- ") == MAX_LISTED


def file_message(path, card=None):
    with pytest.raises(TableError) as error:
        read(path, card or Card.model_validate(CARD))
    assert str(path) in str(error.value) and "->" in str(error.value)
    return str(error.value)


def test_missing_file_and_card_are_reported(tmp_path):
    assert "no such file" in file_message(tmp_path / "toy.csv")
    frame().to_csv(tmp_path / "toy.csv", index=False)
    with fault("no-file", "toy.yml", ["card"], "cobandit import csv"):
        read(tmp_path / "toy.csv")
    with fault("no-file", "other.yml", names=["card"]):
        read(tmp_path / "toy.csv", card=tmp_path / "other.yml")


def test_card_or_folder_in_place_of_a_table_is_refused(tmp_path, monkeypatch):
    """The message is not about a differing checksum or a missing catalogue entry."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.yml").write_text(yaml.safe_dump(CARD))
    with fault("is-a-card", "toy.yml"):
        read("toy.yml")
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    named = str(Path("runs/mine/table.parquet"))
    with fault("is-a-folder", "mine", remedy=named):
        open_table("runs/mine")
    (tmp_path / "synthetic-24").mkdir()
    assert open_table("synthetic-24").name == "synthetic-24"


CSV, JSONL = frame().to_csv(index=False), frame().to_json(orient="records", lines=True)
PARQUET, OTHER = frame().to_parquet(), pd.DataFrame({"konfig": ["a"], "x": [1]})
ROW, LINES = "a,q3,3.0,1.0,3.0,small", JSONL.splitlines(keepends=True)
HOLES = JSONL.replace('"usd":6.0', '"usd":"n/a"').replace(
    '3.0,"correct":1.0', '3.0,"correct":null'
)
FILES = [
    ("csv", "", ["the file is empty"]),
    ("parquet", "", ["the file is empty"]),
    ("jsonl", "", ["the file is empty"]),
    ("xlsx", "x", ["'.xlsx'", ".parquet, .csv, .tsv, .jsonl or .json"]),
    *[
        (
            "parquet",
            PARQUET[: int(kept * len(PARQUET))],
            ["the file is damaged", "export it again"],
        )
        for kept in (0.02, 0.5, 0.99)
    ],
    (
        "csv",
        CSV.replace(ROW, f"{ROW},more"),
        ["Row #4: Expected 6 columns, got 7: a,q3"],
    ),
    ("csv", CSV.replace(ROW, "a,q3"), ["Row #4: Expected 6 columns, got 2: a,q3"]),
    ("csv", CSV.replace(",", ";"), ["columns ['config;instance;usd;"]),
    (
        "csv",
        CSV.encode().replace(b"usd", b"us\x80d", 1),
        ["does not parse: 'utf-8' codec"],
    ),
    *[
        ("csv", CSV.replace("6.0", cell, 1), ["row 6", "'usd'", repr(cell)])
        for cell in ("NA", "0x10")
    ],
    ("csv", CSV.replace("6.0", "", 1), ["row 6", "'usd'", "missing"]),
    ("csv", CSV.replace("6.0", "nan", 1), ["row 6", "'usd'", "missing"]),
    ("csv", CSV.replace("6.0", "inf", 1), ["row 6", "'usd'", "not finite"]),
    ("csv", CSV.partition("\n")[0] + "\n", ["no rows"]),
    (
        "csv",
        CSV.replace("seconds", "usd", 1),
        ["'usd': the column exists more than once"],
    ),
    ("csv", OTHER.to_csv(index=False), ["did you mean 'konfig'", "6 faults"]),
    (
        "jsonl",
        OTHER.to_json(orient="records", lines=True),
        ["did you mean 'konfig'", "6 faults"],
    ),
    (
        "jsonl",
        "".join([*LINES[:2], "{\n", *LINES[2:]]),
        ["line 3 is not a JSON object: Expecting"],
    ),
    (
        "jsonl",
        "".join([*LINES[:2], "[1]\n", *LINES[2:]]),
        ["line 3 is a JSON value, but not an object"],
    ),
    (
        "jsonl",
        HOLES,
        ["row 6, column 'usd'", "row 3, column 'correct': the value is missing"],
    ),
    ("jsonl", b'{"config": "\xff"}\n', ["utf-8"]),
]


@pytest.mark.parametrize(
    ("suffix", "content", "words"), FILES, ids=[" ".join(words) for *_, words in FILES]
)
def test_bad_files_are_reported(tmp_path, suffix, content, words):
    path = tmp_path / f"toy.{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = file_message(path)
    for word in words:
        assert word in text


def not_utf8(values):
    """Text of Arrow with a byte in it that is no UTF-8."""
    latin = pa.array([b"\xff" + str(value).encode() for value in values], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(latin), latin.buffers())


@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_parquet_text_must_be_utf8(tmp_path, encoded, column="config"):
    """Readers of Parquet do not look; what comes later would end in a traceback."""
    table = pa.Table.from_pandas(frame())
    bad = not_utf8(frame()[column])
    if encoded:
        bad = pa.DictionaryArray.from_arrays(pa.array(range(len(bad)), pa.int32()), bad)
    table = table.set_column(table.column_names.index(column), column, bad)
    pa.parquet.write_table(table, tmp_path / "toy.parquet")
    text = file_message(tmp_path / "toy.parquet")
    assert "Column" in text and "Invalid UTF8" in text


def test_wrong_checksum_reports_both_sums(tmp_path):
    path = tmp_path / "toy.csv"
    frame().to_csv(path, index=False)
    text = file_message(path, Card.model_validate(CARD | {"sha256": "0" * 64}))
    assert "0" * 64 in text and "restore the file" in text
    result = text.split("sha256 is ")[1][:64]
    assert read(path, Card.model_validate(CARD | {"sha256": result})).n_arms == 2


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_table_larger_than_memory_is_refused(suffix, tmp_path, monkeypatch):
    """The required memory is reported before it is used; with half more, it is read."""
    many = pd.concat(
        [frame().assign(instance=f"{i}-" + frame()["instance"]) for i in range(200)]
    )
    path = tmp_path / f"toy.{suffix}"
    write_frame(many, path)
    card = Card.model_validate(
        CARD | {"records": path.name, "sha256": file_sha256(path)}
    )
    monkeypatch.setattr(record_files, "SMALL", 0)
    needed = record_files.BYTES_PER_VALUE * len(many) * len(card.columns)
    for free, fits in ((0.8 * needed, False), (1.2 * needed, True)):
        monkeypatch.setattr(
            psutil,
            "virtual_memory",
            lambda free=free: SimpleNamespace(available=free),
        )
        if fits:
            assert len(read(path, card).rows) == len(many)
        else:
            with fault("memory", path.name, ["1,60", "0.0 GB"]):
                read(path, card)
