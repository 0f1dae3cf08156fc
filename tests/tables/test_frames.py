"""Tables made of a data frame or of arrays: what a pandas user has, in one call."""

import numpy as np
import pandas as pd
import pytest
from support.faults import fault

import cobandit as cb
from cobandit import EvaluationTable, TableError

COLUMNS = {"config": "model", "instance": "question", "cost": "usd", "unit": "USD"}
OBJECTIVES = {"accuracy": "correct", "speed": ("latency", "negate-minmax")}


def evaluations(models=3, questions=8, seed=0):
    """Return a frame like a log: shuffled rows, a meaningless index, unused columns."""
    rng = np.random.default_rng(seed)
    n = models * questions
    frame = pd.DataFrame(
        {
            "model": np.repeat([f"m{k}" for k in range(models)], questions),
            "size": np.repeat(np.arange(models) % 2, questions),
            "question": np.tile(np.arange(questions), models),
            "usd": (
                rng.uniform(0.1, 0.4, n)
                * np.repeat(np.arange(1, models + 1), questions)
            ),
            "correct": (
                rng.random(n) < np.repeat(np.linspace(0.4, 0.8, models), questions)
            ),
            "latency": rng.uniform(1, 9, n),
            "answer": None,
        }
    )
    return frame.sample(frac=1, random_state=seed)


def table(frame=None, **changes):
    frame = evaluations() if frame is None else frame
    return EvaluationTable.from_frame(
        frame, **{**COLUMNS, "objectives": OBJECTIVES, **changes}
    )


def test_one_call_replaces_a_card():
    built = table()
    assert built.configs == ("m0", "m1", "m2") and built.objectives == (
        "accuracy",
        "speed",
    )
    assert (
        built.card.cost.unit == "USD"
        and built.kind == "measured"
        and built.card.arms == ()
    )
    by_hand = evaluations().groupby("model")["usd"].mean()
    rows = built.rows
    assert np.allclose(rows.groupby("config", observed=True)["cost"].mean(), by_hand)
    known = rows["split"] == "profiling"
    assert np.allclose(
        built.costs, rows[known].groupby("config", observed=True)["cost"].mean()
    )
    assert np.allclose(
        built.raw_means["latency"], evaluations().groupby("model")["latency"].mean()
    )


@pytest.mark.parametrize(
    ("questions", "profiling"), [(4, 2), (5, 2), (7, 2), (8, 2), (13, 3), (100, 20)]
)
def test_default_split_keeps_two_instances_per_part(questions, profiling):
    built = table(evaluations(questions=questions))
    assert built.card.split.profiling == profiling
    assert (built.n_instances == questions).all() and len(built.feedback.costs) == 3 * (
        questions - profiling
    )


def test_several_columns_name_and_describe_a_configuration():
    frame = evaluations(4).assign(model="m", size=np.repeat([0.5, 1.0, 2.0, 4.0], 8))
    frame["size"] = evaluations(4)["model"].str[1].astype(int).to_numpy() / 2
    built = table(frame, config=["model", "size"])
    assert built.configs == ("m 0.0", "m 0.5", "m 1.0", "m 1.5")
    assert built.subset("size > 0.5").configs == ("m 1.0", "m 1.5")
    assert table(arms=["size"]).subset("size == 0").configs == ("m0", "m2")


@pytest.mark.parametrize(
    ("cost", "costs", "unit"),
    [
        (1.0, [1, 1, 1], "evaluations"),
        (0.25, [0.25] * 3, "evaluations"),
        ({"m2": 3, "m0": 1, "m1": 2}, [1, 2, 3], "evaluations"),
        ("latency", None, "latency"),
    ],
)
def test_cost_is_a_column_a_number_or_per_configuration(cost, costs, unit):
    built = table(cost=cost, unit=None)
    assert built.card.cost.unit == unit
    assert costs is None or built.costs.tolist() == costs


def test_objective_accepts_the_cost_or_card_fields():
    limits = {"column": "usd", "transform": "negate-minmax", "limits": [0.0, 2.0]}
    built = table(objectives={"accuracy": "correct", "thrift": limits})
    assert built.limits["thrift"] == (0.0, 2.0)
    assert built.rows["thrift"].tolist() == pytest.approx(
        (1 - built.rows["cost"] / 2).clip(0, 1).tolist()
    )
    assert table(objectives=["correct"]).objectives == ("correct",)


def test_zero_cost_is_replaced_by_smallest_cost():
    frame = evaluations()
    frame.loc[3, "usd"] = 0
    with fault(
        "cost-not-positive", "from_frame", ["0.0"], "smallest_cost", column="usd"
    ):
        table(frame)
    built = table(frame, smallest_cost=0.001)
    assert built.n_free == 1 and built.rows["cost"].min() == 0.001


@pytest.mark.slow
@pytest.mark.parametrize("part", ["whole", "subset", "ragged", "one objective"])
def test_saved_table_is_read_unchanged(part, tmp_path):
    frame = evaluations(6, 20)
    if part == "ragged":
        frame = frame[(frame["model"] != "m1") | (frame["question"] < 5)]
    built = table(frame, arms=["size"])
    parts = {
        "subset": built.subset("size == 1"),
        "one objective": built.select_objectives("speed"),
    }
    built = parts.get(part, built)
    card = cb.save(built, tmp_path / "mine.parquet")
    restored = cb.read(tmp_path / "mine.parquet")
    assert card == tmp_path / "mine.yml" and restored.card.records == "mine.parquet"
    pd.testing.assert_frame_equal(restored.rows, built.rows)
    pd.testing.assert_frame_equal(restored.summary(), built.summary())
    assert restored.limits == built.limits and restored.arms.equals(built.arms)


def test_part_with_unnameable_split_is_not_saved(tmp_path):
    frame = evaluations(6, 20)
    frame = frame[(frame["model"] != "m1") | (frame["question"] < 4)]
    few = table(frame, profiling=18).subset("config != 'm5'")
    for part in (few, few.take_profiling()):
        with fault("part-of-table", "a.parquet"):
            cb.save(part, tmp_path / "a.parquet")
    assert not list(tmp_path.iterdir())


def broken(column, value):
    frame = evaluations()
    frame[column] = frame[column].astype(object)
    frame.iloc[4, frame.columns.get_loc(column)] = value
    return frame


def percentil():
    return {"speed": ("latency", "inverse-percentil")}


#: Frame, arguments, and the code, place, row and column of the first fault.
WRONG = [
    (lambda: [1, 2], {}, ("missing-column", "from_frame", None, "model")),
    (evaluations, {"cost": "usdd"}, ("missing-column", "from_frame", None, "usdd")),
    (
        evaluations,
        {"config": "modle", "instance": "q"},
        ("missing-column", "from_frame", None, "modle"),
    ),
    (lambda: broken("model", None), {}, ("missing-name", "from_frame", 5, "model")),
    (
        lambda: broken("size", None),
        {"config": ["model", "size"]},
        ("missing-name", "from_frame", 5, "size"),
    ),
    (
        lambda: evaluations().rename(columns={"latency": "instance"}),
        {"objectives": {"speed": "instance"}},
        ("reserved-name", "from_frame", None, None),
    ),
    (evaluations, {"profiling": 1}, ("greater_than_equal", "profiling", None, None)),
    (evaluations, {"objectives": {}}, ("no-objective", "objectives", None, None)),
    (
        evaluations,
        {"objectives": percentil()},
        ("unknown-transform", "objectives['speed']", None, None),
    ),
    (
        evaluations,
        {"objectives": {"speed": 5}},
        ("string_type", "objectives['speed'], field 'column'", None, None),
    ),
    (
        evaluations,
        {"objectives": {"cost": "usd"}},
        ("reserved-name", "objectives['cost']", None, None),
    ),
    (evaluations, {"kind": "guess"}, ("literal_error", "kind", None, None)),
    (
        evaluations,
        {"name": "My Table"},
        ("string_pattern_mismatch", "name", None, None),
    ),
    (
        evaluations,
        {"cost": {"m9": 1}},
        ("unknown-configuration", "cost", None, None),
    ),
    (
        evaluations,
        {"cost": {"m0": 1, "m1": 1}},
        ("missing-cost", "cost", None, None),
    ),
]


@pytest.mark.parametrize(
    ("frame", "changes", "expected"), WRONG, ids=[case[-1][0] for case in WRONG]
)
def test_fault_of_a_frame_has_code_and_place_in_the_call(frame, changes, expected):
    with pytest.raises(TableError) as caught:
        table(frame(), **changes)

    code, place, row, column = expected
    first = caught.value.faults[0]
    assert (first.code, first.row, first.column) == (code, row, column)
    assert first.file.startswith("from_frame") and place in first.file
    text = str(caught.value)
    assert "card" not in text and "pydantic" not in text and "valid tuple" not in text
    assert caught.value.__suppress_context__, "no chained traceback"


def test_arrays_may_have_missing_evaluations():
    rng = np.random.default_rng(1)
    rewards = rng.random((3, 6, 2))
    rewards[1, 4] = np.nan
    costs = rng.uniform(1, 2, (3, 6))
    built = EvaluationTable.from_arrays(
        rewards, costs, configs=["c", "a", "b"], objectives=["right", "kind"]
    )
    assert built.configs == ("a", "b", "c") and built.n_instances.tolist() == [5, 6, 6]
    assert built.summary().loc["b", ["right", "kind"]].tolist() == pytest.approx(
        rewards[2].mean(axis=0).tolist()
    )
    four = built.summary("all").loc["a", "cost"] / np.delete(costs[1], 4).mean()
    assert four == pytest.approx(
        costs[[0, 2]].mean() / np.delete(costs[[0, 2]], 4, axis=1).mean()
    )
    masked = np.ma.masked_invalid(rewards)
    same = EvaluationTable.from_arrays(
        masked, costs, configs=["c", "a", "b"], objectives=["right", "kind"]
    )
    pd.testing.assert_frame_equal(same.rows, built.rows)
    # what is measured has a transform; one objective needs no third axis
    seconds = EvaluationTable.from_arrays(
        costs, [1, 2, 3], objectives={"speed": "inverse-percentile"}, unit="s"
    )
    assert (
        seconds.costs.tolist() == [1, 2, 3]
        and seconds.card.cost.unit == "s"
        and seconds.means.max() <= 1
    )


HALF = np.full((2, 5), 0.5)
HOLE = np.where(np.arange(10).reshape(2, 5) == 7, np.nan, 1)
#: Rewards, costs, options, and the code, place, column and number of further rows of
#: the first fault.
ARRAYS = [
    (
        np.full((2, 5, 2), [0.5, 2.0]),
        [1, 2],
        {},
        ("out-of-range", "config0, instance0", "objective1", 9),
    ),
    (
        np.dstack([HOLE, HALF]),
        [1, 2],
        {},
        ("missing-value", "config1, instance2", "objective0", 0),
    ),
    (HALF, [1, 0], {}, ("cost-not-positive", "config1, instance0", "cost", 4)),
    (HALF, HOLE, {}, ("missing-value", "config1, instance2", "cost", 0)),
    (HALF, np.ones(5), {}, ("wrong-shape", "costs", None, 0)),
    (HALF, HALF.T, {}, ("wrong-shape", "costs", None, 0)),
    (HALF.T, [1, 2], {"configs": ["a", "b"]}, ("wrong-shape", "configs", None, 0)),
    (HALF, [1, 2], {"objectives": ["cost"]}, ("reserved-name", "objectives", None, 0)),
    (np.ones(5), [1], {}, ("wrong-shape", "rewards", None, 0)),
    (
        HALF,
        [1, 2],
        {"configs": ["a", "a"]},
        ("one-configuration", "from_frame", "config", 0),
    ),
    (HALF[:1], [1], {}, ("one-configuration", "from_frame", "config", 0)),
]


@pytest.mark.parametrize(
    ("rewards", "costs", "options", "expected"),
    ARRAYS,
    ids=[" ".join(case[-1][:2]) for case in ARRAYS],
)
def test_fault_of_arrays_has_code_and_entry(rewards, costs, options, expected):
    with pytest.raises(TableError) as caught:
        EvaluationTable.from_arrays(rewards, costs, **options)
    first = caught.value.faults[0]
    assert (first.code, first.file, first.column, first.more) == expected


def test_arrays_of_text_are_refused():
    with pytest.raises(ValueError, match="could not convert string to float"):
        EvaluationTable.from_arrays([["a", "b"]], [1])
