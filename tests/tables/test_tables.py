"""Evaluation tables: what a reader of a sound table gets."""

import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import toy
from support.faults import fault
from support.strategies import examples

from cobandit.errors import TableError
from cobandit.tables import Card, EvaluationTable, read
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.measured_columns import ColumnRule
from cobandit.tables.profiling import profiling_mask
from cobandit.tables.transforms import TRANSFORMS, Transform, inverse_percentile

SPEED = toy.CARD["objectives"][1] | {"low": 0, "high": 100}
CARD = toy.CARD | {
    "objectives": [toy.CARD["objectives"][0], SPEED],
    "arms": ["model", "temperature"],
}


def card(**changes):
    return Card.model_validate(CARD | changes)


def frame(arms=3, instances=6, seed=0):
    """A sound table in shuffled order, with a column that no card names."""
    rng = np.random.default_rng(seed)
    n = arms * instances
    return (
        pd.DataFrame(
            {
                "config": np.repeat([f"arm{i}" for i in range(arms)], instances),
                "instance": np.tile([f"q{q}" for q in range(instances)], arms),
                "usd": rng.uniform(0.5, 2.0, n),
                "correct": rng.random(n) < 0.5,
                "seconds": rng.uniform(1.0, 9.0, n),
                "model": np.repeat([f"m{i % 2}" for i in range(arms)], instances),
                "temperature": np.repeat(np.arange(arms) / 2, instances),
                "remark": "-",
            }
        )
        .sample(frac=1, random_state=seed)
        .reset_index(drop=True)
    )


def test_small_table_matches_a_hand_calculation():
    # the permutation of four ids by seed 0 is 2, 0, 1, 3: profiling are q2 and q0
    assert np.random.default_rng(0).permutation(4).tolist() == [2, 0, 1, 3]
    rows = pd.DataFrame(
        [
            # config, instance, usd, correct, seconds
            ("b", "q0", 1.0, 1, 1.0),
            ("b", "q1", 9.0, 0, 2.0),
            ("b", "q2", 3.0, 1, 4.0),
            ("b", "q3", 9.0, 1, 8.0),
            ("a", "q0", 2.0, 0, 2.0),
            ("a", "q1", 7.0, 0, 0.5),
            ("a", "q2", 4.0, 0, 2.0),
            ("a", "q3", 7.0, 1, 4.0),
        ],
        columns=["config", "instance", "usd", "correct", "seconds"],
    )
    table = EvaluationTable.from_records(rows, card(arms=[]))
    assert table.configs == ("a", "b")
    assert table.objectives == ("accuracy", "speed")
    assert (table.n_arms, table.n_objectives) == (2, 2)
    assert table.costs.tolist() == [3.0, 2.0]
    assert table.cost_range == (1.0, 4.0)
    assert table.limits["speed"] == (1.0, 4.0)
    # speed = (1/t - 1/4) / (1 - 1/4): t = 2 gives 1/3; faster than 1 and slower than 4
    # are clipped
    assert table.feedback.rewards.tolist() == [
        [0, 1],
        [1, 0],
        [0, pytest.approx(1 / 3)],
        [1, 0],
    ]
    assert table.feedback.costs.tolist() == [7, 7, 9, 9]
    assert table.feedback.offsets.tolist() == [0, 2, 4]
    np.testing.assert_allclose(table.means, [[0.5, 0.5], [0.5, 1 / 6]])
    np.testing.assert_allclose(
        table.problem.costs, [7 / 4, 9 / 4]
    )  # of evaluation, over the largest in profiling
    np.testing.assert_allclose(table.truth("profiling").costs, [3 / 4, 2 / 4])
    assert table.problem.names == ("a", "b")
    summary = table.summary()
    assert summary.index.tolist() == ["a", "b"]
    assert summary["cost"].tolist() == [5.0, 5.5]
    np.testing.assert_allclose(
        summary["speed"], [(1 / 3 + 1 + 1 / 3 + 0) / 4, (1 + 1 / 3 + 0 + 0) / 4]
    )
    assert summary["instances"].tolist() == [4, 4]
    assert (
        table.summary("evaluation")["on_front"].tolist()
        == table.problem.pareto_mask.tolist()
    )


def test_table_is_immutable():
    table = EvaluationTable.from_records(frame(), card())
    with pytest.raises(AttributeError):
        table.notes = ()
    for array in (table.means, table.costs, table.n_instances, *table.feedback):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    rows, arms = table.rows, table.arms
    rows["cost"] = 0.0
    rows.loc[0, "accuracy"] = 0.5
    arms["model"] = "other"
    assert table.rows["cost"].min() > 0
    assert set(table.rows["accuracy"]) <= {0.0, 1.0}
    assert set(table.arms["model"]) == {"m0", "m1"}


def test_arms_may_have_different_instances():
    ragged = frame(arms=3, instances=12).query(
        "not (config == 'arm1' and instance in ['q1', 'q2', 'q3'])"
    )
    table = EvaluationTable.from_records(ragged, card(split={"profiling": 5}))
    assert table.n_instances.tolist() == [12, 9, 12]
    assert "9-12 instances" in repr(table)
    offsets = table.feedback.offsets
    rows = table.rows
    for i, config in enumerate(table.configs):
        rows_of_config = rows[
            (rows["config"] == config) & (rows["split"] == "evaluation")
        ]
        part = slice(offsets[i], offsets[i + 1])
        assert table.feedback.costs[part].tolist() == rows_of_config["cost"].tolist()
        assert (
            table.feedback.rewards[part].tolist()
            == rows_of_config[["accuracy", "speed"]].to_numpy().tolist()
        )
        np.testing.assert_allclose(
            table.means[i], rows_of_config[["accuracy", "speed"]].mean()
        )
    # an instance is in one split, whichever arm it belongs to
    assert (
        not rows[["instance", "split"]].drop_duplicates()["instance"].duplicated().any()
    )


def test_names_are_text_and_sorted_as_text():
    numbered = frame(arms=2, instances=12).assign(
        instance=lambda f: f["instance"].str[1:].astype(int)
    )
    table = EvaluationTable.from_records(numbered, card())
    assert table.rows["instance"].iloc[:4].tolist() == ["0", "1", "10", "11"]


@pytest.mark.slow
@examples(30)
@given(
    st.integers(0, 10**6), st.integers(2, 5), st.integers(4, 15), st.integers(0, 10**6)
)
def test_order_of_rows_changes_nothing(seed, arms, instances, shuffle):
    given_frame = frame(arms, instances, seed)
    before = given_frame.copy(deep=True)
    one = EvaluationTable.from_records(given_frame, card())
    pd.testing.assert_frame_equal(given_frame, before)
    two = EvaluationTable.from_records(
        given_frame.sample(frac=1, random_state=shuffle), card()
    )
    pd.testing.assert_frame_equal(one.rows, two.rows)
    pd.testing.assert_frame_equal(one.arms, two.arms)


@pytest.mark.slow
@examples(15)
@given(seed=st.integers(0, 10**6), arms=st.integers(2, 5), instances=st.integers(4, 15))
def test_every_format_gives_the_same_table(tmp_path_factory, seed, arms, instances):
    directory = tmp_path_factory.mktemp("formats")
    given_frame = frame(arms, instances, seed)
    direct = EvaluationTable.from_records(given_frame, card())
    for suffix in ("csv", "parquet", "jsonl"):
        toy.write_frame(given_frame, directory / f"toy.{suffix}")
        table = read(directory / f"toy.{suffix}", card())
        pd.testing.assert_frame_equal(
            table.rows, direct.rows, check_exact=suffix != "jsonl", rtol=1e-13
        )
        pd.testing.assert_frame_equal(table.arms, direct.arms)


def test_text_resembling_other_types_stays_text(tmp_path):
    odd = frame(arms=2, instances=4)
    odd["config"] = odd["config"].map({"arm0": "NA", "arm1": "007"})
    odd["instance"] = odd["instance"].str.replace("q", "2025-01-0")
    odd["model"] = odd["config"].map({"NA": "2024-05-13", "007": "2024-11-20"})
    odd.to_csv(tmp_path / "toy.csv", index=False)
    odd.to_json(tmp_path / "toy.jsonl", orient="records", lines=True)
    for name in ("toy.csv", "toy.jsonl"):
        table = read(tmp_path / name, card())
        assert table.configs == ("007", "NA")
        assert table.rows["instance"].iloc[0] == "2025-01-00"
        assert table.arms["model"].tolist() == ["2024-11-20", "2024-05-13"]


def test_json_lines_may_be_blank(tmp_path):
    frame().to_json(
        tmp_path / "toy.jsonl", orient="records", lines=True, double_precision=15
    )
    text = (tmp_path / "toy.jsonl").read_text().replace("\n", "\n\n", 3)
    (tmp_path / "toy.jsonl").write_text("\ufeff" + text)
    direct = EvaluationTable.from_records(frame(), card())
    pd.testing.assert_frame_equal(
        read(tmp_path / "toy.jsonl", card()).rows, direct.rows
    )


@pytest.mark.slow
def test_categorical_and_nullable_columns_keep_values():
    plain = EvaluationTable.from_records(frame(), card())
    typed = frame().astype(
        {
            "config": "category",
            "model": "category",
            "correct": "boolean",
            "usd": "Float64",
        }
    )
    table = EvaluationTable.from_records(typed, card())
    pd.testing.assert_frame_equal(table.rows, plain.rows)
    pd.testing.assert_frame_equal(table.arms, plain.arms)


@given(
    st.lists(st.integers(1, 10**4).map(float), min_size=2, max_size=40, unique=True),
    st.integers(1, 10**4),
)
def test_inverse_percentile_matches_its_formula(profiling, latency):
    low, high = TRANSFORMS["inverse-percentile"].fit(np.array(profiling), 5, 95)
    # in steps of 5 %
    tau5, *_, tau95 = statistics.quantiles(profiling, n=20, method="inclusive")
    expected = min(max((1 / latency - 1 / tau95) / (1 / tau5 - 1 / tau95), 0.0), 1.0)
    assert inverse_percentile(np.array([latency]), low, high)[0] == pytest.approx(
        expected, abs=1e-6, rel=1e-9
    )


def test_new_transform_needs_one_entry(monkeypatch, tmp_path):
    """The number of decades below the largest profiling value, over their range."""

    def fit(profiling, low, high):
        return float(np.log10(profiling.min())), float(np.log10(profiling.max()))

    def apply(values, one, zero):
        return np.clip((zero - np.log10(values)) / (zero - one), 0, 1)

    rule = ColumnRule(
        lambda x: x <= 0, "{value} has no logarithm", "drop the row", "no-logarithm"
    )
    monkeypatch.setitem(TRANSFORMS, "decades", Transform(fit, apply, rule))
    objectives = [
        CARD["objectives"][0],
        {"name": "thrift", "column": "bytes", "transform": "decades"},
    ]
    described = card(objectives=objectives, arms=[])
    with fault("needless-percentiles", "field 'objectives.0'", ["decades"]):
        check_fields(Card, CARD | {"objectives": [objectives[1] | {"low": 10}]}, "card")
    rows = frame(arms=2, instances=4).assign(bytes=10.0)
    visible = EvaluationTable.from_records(rows, card(arms=[])).rows.query(
        "split == 'profiling'"
    )
    visible = rows["instance"].isin(set(visible["instance"]))
    rows.loc[visible & (rows["config"] == "arm0"), "bytes"] = 1000.0
    rows.loc[~visible, "bytes"] = np.where(
        rows.loc[~visible, "config"] == "arm0", 100.0, 1e6
    )
    rows.to_csv(tmp_path / "toy.csv", index=False)
    table = read(tmp_path / "toy.csv", described)
    assert table.limits["thrift"] == (1.0, 3.0)  # 10 bytes score 1, 1000 bytes 0
    assert table.means[:, 1] == pytest.approx([0.5, 0.0])
    with fault("no-logarithm", names=["0.0"], remedy="drop", column="bytes", row=1):
        EvaluationTable.from_records(rows.assign(bytes=0.0), described)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 10**6))
def test_split_follows_its_rule(n, n_profiling, seed):
    ids = sorted(f"q{i}" for i in range(n))
    chosen = set(np.random.default_rng(seed).permutation(ids)[:n_profiling].tolist())
    mask = profiling_mask(n, n_profiling, seed)
    assert {ids[i] for i in np.flatnonzero(mask)} == chosen


@pytest.mark.slow
@examples(30)
@given(st.integers(0, 2**32), st.integers(6, 15), st.integers(2, 13))
def test_both_splits_contain_every_configuration(seed, n, n_profiling):
    """Its profiling rows are the first in random order; few rows are moved."""
    rng, n_profiling = np.random.default_rng(seed), min(n_profiling, n - 2)
    whole = frame(arms=4, instances=n).sort_values(["config", "instance"])
    is_kept = np.concatenate(
        [rng.permutation(n) < rng.integers(4, n, endpoint=True) for _ in range(3)]
    )
    # the first has all, so that ids stay
    is_kept = np.concatenate([np.ones(n, dtype=bool), is_kept])
    table = EvaluationTable.from_records(
        whole[is_kept], card(split={"profiling": n_profiling, "seed": seed})
    )
    ids = sorted(f"q{i}" for i in range(n))
    place = {
        name: i
        for i, name in enumerate(np.random.default_rng(seed).permutation(ids).tolist())
    }
    moved = 0
    for _, rows in table.rows.groupby("config", observed=True):
        order = rows.sort_values(
            "instance", key=lambda names: names.map(place).astype(int)
        )
        known = order["split"] == "profiling"
        assert known.is_monotonic_decreasing and min(known.sum(), (~known).sum()) >= 2
        at_random = sum(place[name] < n_profiling for name in rows["instance"])
        minimum, maximum = 2, len(rows) - 2
        assert known.sum() == min(max(at_random, minimum), maximum)
        moved += abs(known.sum() - at_random)
    message = repr(table).replace("\n    ", " ")
    assert f"changed ({moved} of " in message if moved else table.notes == ()


def test_subset_keeps_transforms_and_split():
    whole = EvaluationTable.from_records(
        frame(arms=5, instances=12), card(split={"profiling": 4})
    )
    part = whole.subset("temperature > 0.5 and model == 'm0' or config == 'arm3'")
    assert part.configs == ("arm2", "arm3", "arm4")
    assert part.limits == whole.limits
    rows = whole.rows[whole.rows["config"].isin(part.configs)].reset_index(drop=True)
    for column in rows:
        assert part.rows[column].tolist() == rows[column].tolist()
    np.testing.assert_array_equal(part.means, whole.means[2:])
    np.testing.assert_array_equal(part.costs, whole.costs[2:])
    assert part.arms.index.tolist() == list(part.configs)
    assert part.feedback.offsets[-1] == len(part.feedback.costs)
    assert part.subset("config != 'arm3'").configs == ("arm2", "arm4")


@pytest.mark.parametrize(
    ("query", "words", "code"),
    [
        (
            "temprature > 0",
            ["'temprature'", "config, model, temperature"],
            "bad-condition",
        ),
        ("", ["cannot be evaluated"], "bad-condition"),
        ("temperature + 1", ["other than true and false"], "bad-condition"),
        ("@known == 1", ["subset"], "bad-condition"),
        ("__import__('os')", ["subset"], "bad-condition"),
        ("model > 3", ["cannot be evaluated"], "bad-condition"),
        ("config == 'arm1'", ["1 of 3", "at least 2"], "one-configuration"),
    ],
)
def test_impossible_subset_is_refused(query, words, code):
    table = EvaluationTable.from_records(frame(), card())
    with pytest.raises(TableError) as error:
        table.subset(query)
    assert [fault.code for fault in error.value.faults] == [code]
    for word in [*words, "->"]:
        assert word in str(error.value)


def test_profiling_view_contains_only_its_split(synthetic):
    table, inner = synthetic, synthetic.take_profiling()
    profiling = table.summary("profiling")
    assert inner.means == pytest.approx(profiling[list(table.objectives)].to_numpy())
    assert (inner.costs == table.costs).all() and inner.cost_range == table.cost_range
    rows = table.rows
    visible = rows[rows["split"] == "profiling"]
    assert inner.feedback.costs.tolist() == visible["cost"].tolist()
    assert (
        np.diff(inner.feedback.offsets).tolist()
        == visible.groupby("config", observed=True).size().tolist()
    )


def test_profiling_instances_can_be_named_and_limits_given():
    """As a run does, which chose them before it knew what else it would evaluate."""
    rows = [
        (c, f"q{n}", 1.0 + n, float(n + 1))
        for c in "ab"
        for n in range(6)
        if c == "a" or n < 3
    ]
    frame = pd.DataFrame(rows, columns=["config", "instance", "usd", "seconds"])
    speed = {
        "name": "speed",
        "column": "seconds",
        "transform": "negate-minmax",
        "limits": [2, 4],
    }

    def of_split(*named):
        return card(
            objectives=[speed],
            arms=[],
            split={"profiling": len(named), "instances": named},
        )

    table = EvaluationTable.from_records(frame, of_split("q0", "q2", "q1"))
    rows = table.rows
    assert set(rows[rows["split"] == "profiling"]["instance"]) == {"q0", "q1", "q2"}
    assert rows[rows["config"] == "a"]["speed"].tolist() == [1, 1, 0.5, 0, 0, 0]
    assert table.costs.tolist() == [2, 2] and table.limits == {"speed": (2, 4)}
    assert table.summary()["instances"].tolist() == [6, 3]
    with fault("few-instances", names=["'b'", "0 evaluation instances"]):
        _ = table.problem
    with fault("few-instances", names=["'b' has 1 profiling"]):
        EvaluationTable.from_records(frame, of_split("q2", "q5"))
