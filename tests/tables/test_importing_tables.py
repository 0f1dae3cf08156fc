"""CSV files of users: accepted layouts, and faults that name rows and columns."""

import gzip
import json
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support import logs
from support.commands import call
from support.faults import fault
from support.strategies import examples
from support.toy import write_frame

import cobandit as cb
from cobandit.errors import CobanditError, TableError
from cobandit.tables import record_files
from cobandit.tables.importers import import_logs as import_new

import_logs = partial(import_new, force=True)
TIDY = {"config": ["model"], "instance": "question", "objective": ["accuracy=correct"]}
PAID = TIDY | {"cost": "tokens", "unit": "tokens"}


def said(imported, start):
    return [line for line in imported.report if line.startswith(start)]


def run(file, *words):
    """The command on a tidy file, into b.parquet."""
    named = [
        "--config",
        "model",
        "--instance",
        "question",
        "--objective",
        "accuracy=correct",
    ]
    result = call("import", "csv", file, "-o", "b.parquet", *named, *words)
    assert result.exit_code == 0, result.output
    return result.output


def tidy(**columns):
    """The tidy table with other columns, in a file of its own."""
    frame = pd.read_csv("tidy.csv", dtype={"question": str})
    frame = frame.assign(
        **{
            name: column_options(frame) if callable(column_options) else column_options
            for name, column_options in columns.items()
        }
    )
    frame.to_csv("my.csv", index=False)
    return frame


# Repeats.


@pytest.mark.slow
def test_repeats_are_averaged_like_in_other_importers(workspace):
    pd.concat([tidy(), tidy()]).to_csv("my.csv", index=False)
    twice = import_logs("csv", ["my.csv"], "b.parquet", **PAID)
    assert said(twice, "note: repeats of an instance are averaged")
    pd.concat([tidy(shots=0), tidy(shots=5)]).to_csv("my.csv", index=False)
    mixed = import_logs("csv", ["my.csv"], "b.parquet", **PAID)
    assert said(
        mixed,
        "note: repeats differ in shots; add a column that is a setting to --config",
    )
    apart = import_logs("csv", ["my.csv"], "c.parquet", repeats="separate", **PAID)
    assert list(apart.table.n_instances) == [24, 24] and "003, repeat 2" in set(
        apart.table.rows["instance"]
    )


@pytest.mark.slow
@examples(25)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(0, 3),
            st.integers(0, 4),
            st.integers(1, 9),
        ),
        max_size=20,
    )
)
def test_means_of_repeats_match_a_loop(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("repeats")
    rows = rows + [(config, instance, 2, 3) for config in "ab" for instance in range(4)]
    path = folder / "my.csv"
    path.write_text("c,i,s,t\n" + "".join(f"{c},{i},{s},{t}\n" for c, i, s, t in rows))
    mapping = {
        "config": ["c"],
        "instance": "i",
        "cost": "t",
        "unit": "tokens",
        "objective": ["s"],
    }
    table = import_logs(
        "csv", [path], folder / "my.parquet", profiling=2, scale=4, **mapping
    ).table
    for row in table.rows.itertuples():
        mine = [
            (s, t) for c, i, s, t in rows if (c, str(i)) == (row.config, row.instance)
        ]
        assert row.s == pytest.approx(np.mean([s / 4 for s, _ in mine]))
        assert row.cost == pytest.approx(np.mean([t for _, t in mine]))


def test_rows_with_other_descriptions_are_duplicates(workspace):
    frame = tidy()
    pd.concat([frame, frame.assign(temperature=0.1)]).to_csv("my.csv", index=False)
    with pytest.raises(TableError) as error:
        import_logs("csv", ["my.csv"], "a.parquet", arm=["temperature"], **PAID)
    faults = {fault.code: fault for fault in error.value.faults}
    assert set(faults) == {"two-descriptions", "duplicate-row"}
    duplicate = faults["duplicate-row"]
    assert (duplicate.file, duplicate.row) == ("my.csv", 25)
    assert duplicate.column == "question"


# Scores.


def test_scores_are_divided_by_their_scale(workspace):
    tidy(rating=lambda f: f["correct"] * 9 + 1)
    options = PAID | {
        "objective": ["quality=rating", "speed=seconds:inverse-percentile"]
    }
    with fault("out-of-range", "my.csv", ["0 to 1"], "--range", column="rating", row=1):
        import_logs("csv", ["my.csv"], "a.parquet", **options)
    with fault("out-of-range", names=["the objective 10.0 is outside 0 to 5"]):
        import_logs("csv", ["my.csv"], "a.parquet", scale=5, **options)
    table = import_logs("csv", ["my.csv"], "a.parquet", scale=10, **options).table
    assert (
        set(table.rows["quality"]) == {0.1, 1.0}
        and table.card.objectives[0].column == "rating / 10"
    )
    plain = import_logs(
        "csv",
        ["my.csv"],
        "b.parquet",
        **(PAID | {"objective": options["objective"][1:]}),
    ).table
    assert np.array_equal(table.rows["speed"], plain.rows["speed"])


# Costs.


def test_default_cost_is_one_evaluation(workspace):
    imported = import_logs("csv", ["tidy.csv"], "a.parquet", **TIDY)
    assert (
        imported.table.rows["cost"] == 1
    ).all() and imported.table.card.cost.unit == "evaluations"
    (line,) = said(imported, "cost: ")
    assert "costs 1 (evaluations)" in line and "see no difference in cost" in line
    assert len(cb.recommend(imported.table).arms) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ("0.25", {0.25}),
        (0.25, {0.25}),
        (["example/sparrow-mini=0.5", "example/heron-large=2"], {0.5, 2}),
    ],
)
def test_costs_may_be_constant_or_per_configuration(workspace, cost, expected):
    Path("map.yml").write_text(yaml.safe_dump(TIDY | {"cost": cost, "unit": "USD"}))
    table = import_logs("csv", ["tidy.csv"], "a.parquet", mapping="map.yml").table
    assert set(table.rows["cost"]) == expected and table.card.cost.unit == "USD"
    if len(expected) == 2:
        assert table.summary()["cost"].to_dict() == {
            "example/sparrow-mini": 0.5,
            "example/heron-large": 2,
        }
    cost_options = cost if isinstance(cost, list) else [str(cost)]
    run(
        "tidy.csv",
        "--unit",
        "USD",
        *(word for one in cost_options for word in ("--cost", one)),
    )
    assert set(cb.read("b.parquet").rows["cost"]) == expected


def test_numeric_column_name_precedes_constant_cost(workspace):
    tidy().rename(columns={"tokens": "17"}).to_csv("my.csv", index=False)
    table = import_logs(
        "csv", ["my.csv"], "a.parquet", cost="17", unit="tokens", **TIDY
    ).table
    assert table.rows["cost"].nunique() > 2


def test_length_of_text_may_be_the_cost(workspace):
    said_ = [answer.text for message in logs.answers().values() for answer in message][
        ::-1
    ]
    said_[0] = None  # which is free
    tidy(answer=said_, prompt=lambda f: "Add: " + f["question"]).to_parquet(
        "texts.parquet"
    )
    columns = {"instance": "question", "config": ["model"]}
    options = columns | {"objective": ["accuracy=correct"]}
    imported = import_logs(
        "csv", ["texts.parquet"], "a.parquet", text=["answer"], **options
    )
    table = imported.table
    assert table.card.cost.unit == "tokens (characters / 4)"
    assert "1 of 24 evaluations were free" in said(imported, "note")[0]
    assert sorted(table.rows["cost"]) == sorted(
        max(1, -(-len(text or "") // 4)) for text in said_
    )
    imported_both = import_logs(
        "csv", ["texts.parquet"], "b.parquet", text=["answer", "prompt"], **options
    ).table
    assert np.allclose(imported_both.costs - table.costs, 2)
    assert "answer" not in pd.read_parquet("a.parquet") and "tokens" in pd.read_parquet(
        "a.parquet"
    )


# Conditions and compression.


@pytest.mark.slow
def test_condition_counts_excluded_rows(workspace):
    tidy(split=lambda f: np.where(f["question"] < "006", "test", "train"))
    imported = import_logs(
        "csv", ["my.csv"], "a.parquet", where="split == 'test'", **PAID
    )
    assert list(imported.table.n_instances) == [6, 6]
    assert said(imported, "left out: ") == ["left out: 12 rows that --where leaves out"]
    run("my.csv", "--where", "split.str.startswith('te') and temperature >= 0")
    assert list(cb.read("b.parquet").n_instances) == [6, 6]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "CSV"])
def test_text_may_be_compressed(workspace, suffix):
    write_frame(tidy(), f"t.{suffix}")
    plain = Path(f"t.{suffix}")
    Path(f"t.{suffix}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    a, b = (
        import_logs("csv", [f"t.{suffix}{end}"], "a.parquet", **PAID).table.rows
        for end in ("", ".gz")
    )
    assert a.equals(b)


@pytest.mark.slow
def test_decompression_bomb_is_refused(workspace, monkeypatch):
    monkeypatch.setattr(record_files, "MAX_EXPANDED_TEXT", 10**6)
    Path("t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10**6))
    with fault("too-large", "t.csv.gz", names=["1,000,000 bytes"]):
        import_logs("csv", ["t.csv.gz"], "a.parquet", **PAID)


# Wide files.


def test_wide_file_may_have_only_configurations(workspace):
    wide = pd.DataFrame({"id": [f"q{i}" for i in range(10)], "category": "maths"})
    for number, name in enumerate(("[0-shot] gpt", "b.c|d")):
        wide[name] = [(i + number) % 3 / 2 for i in range(10)]
    wide.loc[3, "b.c|d"] = None
    wide.to_csv("scores.csv", index=False)
    imported = import_logs(
        "csv", ["scores.csv"], "a.parquet", wide="{config}", instance="id"
    )
    table = imported.table
    assert table.configs == ("[0-shot] gpt", "b.c|d") and table.objectives == (
        "accuracy",
    )
    assert list(table.n_instances) == [10, 9] and (table.rows["cost"] == 1).all()
    assert said(
        imported, "left out: 1 column without a number: 'category' in scores.csv"
    )
    assert table.summary()["accuracy"].iloc[0] == wide["[0-shot] gpt"].mean()
    options = {
        "cost": ["[0-shot] gpt=3", "b.c|d=1"],
        "unit": "USD",
        "objective": ["quality=cells"],
    }
    files = ["scores.csv"]
    priced = import_logs(
        "csv", files, "a.parquet", wide="{config}", instance="id", **options
    ).table
    assert list(priced.summary()["cost"]) == pytest.approx(
        [3, 1]
    ) and priced.objectives == ("quality",)


def test_faults_of_a_wide_file_name_its_rows_and_columns(workspace):
    rows = [
        "question,a_correct,a_tokens,b_correct,b_tokens",
        *(f"q{i},1,5,0,4" for i in range(9)),
    ]
    rows[4] = "q3,1,5,0,-4"
    rows[8] = "q7,3,5,,4"
    Path("wide.csv").write_text("\n".join(rows))
    options = {
        "wide": "{config}_{field}",
        "instance": "question",
        "objective": ["accuracy=correct"],
    }
    with pytest.raises(CobanditError) as error:
        import_logs(
            "csv", ["wide.csv"], "a.parquet", cost="tokens", unit="tokens", **options
        )
    message = str(error.value)
    assert "wide.csv, row 4, column 'b_tokens': the cost -4.0 is negative" in message
    assert (
        "wide.csv, row 8, column 'a_correct': the objective 3.0 is outside" in message
    )
    assert "wide.csv, row 8, column 'b_correct': the value is missing" in message
    assert "melted" not in message and "card" not in message


def test_faults_of_later_files_name_their_rows(workspace):
    """Rows are the file's, though a condition excludes some and repeats merge."""
    tidy(temperature=lambda f: np.where(f.index == 20, 0.1, f["temperature"]))
    with pytest.raises(TableError) as error:
        import_logs(
            "csv",
            ["tidy.csv", "my.csv"],
            "a.parquet",
            where="question != '003'",
            arm=["temperature"],
            **PAID,
        )
    first = error.value.faults[0]
    assert (first.file, first.row, first.column) == ("my.csv", 21, "temperature")
    assert first.code == "two-descriptions"


# Words.


def test_title_is_the_name_of_the_file(workspace):
    assert (
        import_logs(
            "csv", ["tidy.csv"], "My Evals, May.parquet", **PAID
        ).table.card.title
        == "My Evals, May"
    )


def test_numbers_are_written_in_full(workspace):
    tidy(characters=lambda f: f["tokens"] * 113)
    output = run("my.csv", "--cost", "characters", "--unit", "characters")
    assert "e+0" not in output
    low, high = cb.read("b.parquet").cost_range
    assert f"costs {low:,.0f} to {high:,.0f} characters" in output and high > 1000


@pytest.mark.slow
def test_remedies_do_not_name_a_missing_card(workspace):
    """Or advises to leave rows out, which would bias the means."""
    objectives = [
        "speed=temperature:inverse-percentile",
        "speed=one:inverse-percentile",
    ]
    objectives += [
        "speed=one:negate-minmax",
        "accuracy=tokens",
        "accuracy=holes",
        "accuracy=model",
    ]
    wrong = [{"objective": [entry]} for entry in [*objectives, "cost=correct"]]
    wrong += [{"profiling": 11}, {"profiling": 1}, {"cost": "minus"}, {"cost": "holes"}]
    wrong += [{"arm": ["question"]}, {"name": "A B"}]
    for options in wrong:
        tidy(one=1.5, minus=-1, holes=lambda f: f["tokens"].where(f.index > 3))
        with pytest.raises(CobanditError) as error:
            import_logs("csv", ["my.csv"], "a.parquet", **PAID | options)
        remedies = str(error.value).lower()
        forbidden = ["the card's", "of the card", "in the card", "the card,"]
        for word in [*forbidden, "drop the row", "leave out rows", "leave the row"]:
            assert word not in remedies, (options, remedies)


# Layouts and names of files.


EXAMPLE = [
    (config, f"q{i}", (i + len(config)) % 2 / 2, 10 + i)
    for config in ("a", "bb")
    for i in range(8)
]


def test_spreadsheet_with_semicolons_and_decimal_commas(workspace):
    lines = ["modèle;frage;score;usd"]
    lines += [f"{c};{q};{str(s).replace('.', ',')};{usd},5" for c, q, s, usd in EXAMPLE]
    Path("t.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    columns = {"config": "modèle", "instance": "frage", "objective": "accuracy=score"}
    done = import_logs("csv", ["t.csv"], "a.parquet", cost="usd", unit="USD", **columns)
    assert done.table.rows["cost"].min() == 10.5
    assert any("decimal comma, encoding cp1252" in line for line in done.report)
    Path("t.csv").write_text("\n".join(lines).replace(";", "|"), "utf-16")
    imported_again = import_logs(
        "csv", ["t.csv"], "b.parquet", cost="usd", unit="USD", **columns
    )
    assert imported_again.table.rows.equals(done.table.rows)


def test_configuration_may_be_the_name_of_the_file(workspace):
    for config in ("a", "bb"):
        rows = [
            {"q": q, "score": s, "usd": usd} for c, q, s, usd in EXAMPLE if c == config
        ]
        Path(f"{config}.json").write_text(json.dumps({"results": {"rows": rows}}))
    columns = {
        "config": "file",
        "instance": "q",
        "objective": "score",
        "cost": "usd",
        "unit": "USD",
    }
    files = ["a.json", "bb.json"]

    explicit = import_logs("csv", files, "a.parquet", records="results.rows", **columns)
    inferred = import_logs("csv", files, "b.parquet", **columns)

    assert explicit.table.configs == ("a", "bb")
    assert explicit.table.n_instances.tolist() == [8, 8]
    remarks = said(inferred, "records: ")
    assert remarks == ["records: those at 'results.rows' (--records)"]
    assert inferred.table.rows.equals(explicit.table.rows)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "json"])
def test_long_numbers_with_a_gap_stay_different_names(workspace, suffix):
    first = 2**62
    rows = [
        {"run": first + k, "q": i, "usage": {"usd": 1 + i}, "ok": i % 2}
        for k in range(3)
        for i in range(6)
    ]
    rows.append({"run": None, "q": None, "usage": {"usd": 1}, "ok": 0})
    frame = pd.DataFrame(rows, dtype=object).astype(
        {"run": "Int64", "q": "Int64", "ok": int}
    )
    text = [json.dumps(row) for row in rows]
    match suffix:
        case "jsonl":
            Path("t.jsonl").write_text("\n".join(text))
        case "json":
            Path("t.json").write_text(f"[{', '.join(text)}]")
        case _:
            frame.to_parquet("t.parquet")
    done = import_logs(
        "csv",
        [f"t.{suffix}"],
        "a.parquet",
        config="run",
        instance="q",
        objective="ok",
        cost="usage.usd",
        unit="USD",
        where="run.notna()",
    )
    assert done.table.configs == tuple(str(first + k) for k in range(3))
    assert set(done.table.rows["instance"]) == set("012345")


def test_rounded_numbers_are_refused_as_names(workspace):
    frame = pd.DataFrame(
        {"run": [1e18, 1e18 + 200] * 4, "q": range(8), "ok": 1, "usd": 1}
    )
    frame.to_parquet("t.parquet")
    with pytest.raises(CobanditError) as caught:
        import_logs(
            "csv",
            ["t.parquet"],
            "a.parquet",
            config="run",
            instance="q",
            objective="ok",
        )
    assert (caught.value.faults[0].row, caught.value.faults[0].column) == (1, "run")


# Scores.


@pytest.fixture
def judged(workspace):
    """Scores from -33 to 10, with three values of -999, which mean missing."""
    rows = [
        (config, f"q{i}", 10 - 4 * ((i + n) % 9))
        for n, config in enumerate("ab")
        for i in range(12)
    ]
    frame = pd.DataFrame(rows, columns=["model", "q", "score"])
    frame.loc[frame.index[-3:], "score"] = -999
    frame.to_csv("t.csv", index=False)
    return {
        "config": "model",
        "instance": "q",
        "objective": "quality=score",
        "range": "quality=-33:10",
    }


def test_scores_have_ranges_and_missing_values(judged):
    with fault("out-of-range", "t.csv", names=["-999"]):
        import_logs("csv", ["t.csv"], "a.parquet", **judged)
    judged["no_score"] = "-999"
    with pytest.raises(CobanditError) as caught:
        import_logs("csv", ["t.csv"], "a.parquet", missing="refuse", **judged)
    assert (caught.value.faults[0].row, caught.value.faults[0].column) == (22, "score")

    done = import_logs("csv", ["t.csv"], "a.parquet", **judged)
    assert done.table.n_instances.tolist() == [12, 9]
    assert (
        done.table.rows["quality"].between(0, 1).all()
        and done.table.rows["quality"].max() == 1
    )
    assert any("3 of 12 evaluations of b" in line for line in done.report)
    done = import_logs("csv", ["t.csv"], "a.parquet", missing="zero", **judged)
    assert done.table.n_instances.tolist() == [12, 12]
    assert (done.table.rows["quality"] == 0).sum() == 3


def test_words_become_the_given_numbers(workspace):
    frame = pd.DataFrame(
        {
            "model": list("ab") * 8,
            "q": np.arange(16) // 2,
            "side": ["left", "right"] * 8,
        }
    )
    frame.to_csv("t.csv", index=False)
    columns = {"config": "model", "instance": "q", "objective": "ok=side"}
    table = import_logs(
        "csv", ["t.csv"], "a.parquet", word=["left=1", "right=0"], **columns
    ).table
    assert table.raw_means.to_numpy().ravel().tolist() == [1.0, 0.0]
    with fault("bad-word", "--word"):
        import_logs("csv", ["t.csv"], "a.parquet", word="left", **columns)


def test_remedy_for_a_missing_cost_works(workspace):
    frame = pd.DataFrame(
        {"model": list("ab") * 8, "q": np.arange(16) // 2, "ok": 1, "cost usd": 0.5}
    )
    frame.loc[3, "cost usd"] = None
    frame.to_csv("t.csv", index=False)
    columns = {
        "config": "model",
        "instance": "q",
        "objective": "ok",
        "cost": "cost usd",
        "unit": "USD",
    }
    with pytest.raises(CobanditError) as caught:
        import_logs("csv", ["t.csv"], "a.parquet", **columns)
    *_, option, condition = shlex.split(caught.value.faults[0].remedy)
    done = import_logs("csv", ["t.csv"], "a.parquet", where=condition, **columns)
    assert option == "--where" and done.table.n_instances.tolist() == [8, 7]


def test_misspelt_column_beside_an_unnamed_one_is_reported(workspace):
    Path("t.csv").write_text(
        ",model,q,ok\n" + "\n".join(f"{i},{'ab'[i % 2]},{i // 2},1" for i in range(16))
    )
    with pytest.raises(CobanditError) as caught:
        import_logs(
            "csv", ["t.csv"], "a.parquet", config="model", instance="q", objective="okk"
        )
    assert caught.value.faults[0].column == "okk"


def test_wide_file_has_a_cluster_column(workspace):
    frame = pd.read_csv("wide.csv", dtype={"question": str})
    frame.assign(passage=[f"p{i // 3}" for i in range(len(frame))]).to_csv(
        "my.csv", index=False
    )
    mapping = {
        "wide": "{config}_{field}",
        "instance": "question",
        "cost": "tokens",
        "unit": "tokens",
    }
    done = import_logs(
        "csv",
        ["my.csv"],
        "a.parquet",
        objective=["ok=correct"],
        cluster="passage",
        **mapping,
    )
    assert done.table.card.cluster == "passage" and len(set(done.table.clusters)) == 4
    with fault("missing-column", remedy="did you mean 'passage'"):
        import_logs(
            "csv",
            ["my.csv"],
            "b.parquet",
            objective=["ok=correct"],
            cluster="pasage",
            **mapping,
        )


def rows(**columns):
    """Two configurations on eight instances, with other columns."""
    frame = pd.DataFrame(
        {
            "model": list("ab") * 8,
            "id": np.repeat(np.arange(8), 2),
            "ok": [1, 0, 0, 1] * 4,
        }
    )
    return frame.assign(tokens=np.arange(1, 17), **columns)


def with_gap(column, gap):
    return (
        rows()
        .astype({column: object})
        .assign(**{column: lambda f: f[column].mask(f.index == 15, gap)})
    )


MENDABLE = {
    "blank cost": lambda: with_gap("tokens", None).to_csv("my.csv", index=False),
    "blank id": lambda: with_gap("id", None).to_csv("my.csv", index=False),
    "null id": (
        lambda: rows(id=pd.array([*range(8), *range(7), None], "Int64")).to_parquet(
            "my.parquet"
        )
    ),
    "blank score": lambda: with_gap("ok", None).to_csv("my.csv", index=False),
    "words": lambda: rows(ok=["right now", "no!"] * 8).to_csv("my.csv", index=False),
    "a judge": lambda: rows(ok=[-1, 7, 3, 9] * 4).to_csv("my.csv", index=False),
    "nested": (
        lambda: Path("my.json").write_text(
            json.dumps(
                {
                    "head": {"of": [1, 2]},
                    "run": {"rows": rows().to_dict("records"), "logs": [{"a": 1}] * 16},
                }
            )
        )
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MENDABLE)
def test_offered_remedies_work(workspace, what):
    """Where a number is asked for, any does."""
    MENDABLE[what]()
    file = next(Path().glob("my.*"))
    words = [
        "import",
        "csv",
        file,
        "-o",
        "t.parquet",
        "--config",
        "model",
        "--instance",
        "id",
    ]
    words += [
        "--objective",
        "ok",
        "--cost",
        "tokens",
        "--unit",
        "tokens",
        "--profiling",
        "2",
    ]
    with pytest.raises(CobanditError) as refused:
        import_logs(
            *("csv", [file], "u.parquet"),
            **{
                "config": ["model"],
                "instance": "id",
                "objective": ["ok"],
                "cost": ["tokens"],
            },
            unit="tokens",
        )
    offered = (
        str(refused.value)
        .partition(" -> ")[2]
        .partition(", or ")[0]
        .replace(", and values", " ")
    )
    offered = offered.partition(" or ")[0] if "--records" in offered else offered
    offered = offered.replace("LOW:HIGH", "1:9").replace("=NUMBER", "=1") + " -1" * (
        "--no-score" in offered
    )
    remedy = shlex.split(
        offered[offered.index("--") :].replace("that mark a missing score with", "")
    )
    done = call(*words, *remedy)
    assert done.exit_code == 0, (remedy, done.output, done.exception)


def test_missing_latency_is_not_counted_as_zero(workspace):
    rows(secs=[None, *np.linspace(1, 2, 15)]).to_csv("my.csv", index=False)
    mapping = {
        "config": ["model"],
        "instance": "id",
        "cost": "tokens",
        "unit": "tokens",
    }
    with fault("missing-value", "my.csv", remedy="--missing leave-out", column="secs"):
        import_logs(
            "csv",
            ["my.csv"],
            "t.parquet",
            objective=["ok", "s=secs:inverse-percentile"],
            **mapping,
        )
