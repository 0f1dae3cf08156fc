"""Tables made of a data frame or of arrays: what a pandas user has, in one call."""

import numpy as np
import pandas as pd
import pytest

import cobandit as cb
from cobandit import EvaluationTable, TableError

COLUMNS = {"config": "model", "instance": "question", "cost": "usd", "unit": "USD"}
OBJECTIVES = {"accuracy": "correct", "speed": ("latency", "negate-minmax")}


def evaluations(models=3, questions=8, seed=0):
    """As logs are, in shuffled order, with an index that says nothing and columns that nobody asks for."""
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


def test_one_call_says_what_a_card_would():
    made = table()
    assert made.configs == ("m0", "m1", "m2") and made.objectives == (
        "accuracy",
        "speed",
    )
    assert (
        made.card.cost.unit == "USD"
        and made.kind == "measured"
        and made.card.arms == ()
    )
    by_hand = evaluations().groupby("model")["usd"].mean()
    rows = made.rows
    assert np.allclose(rows.groupby("config", observed=True)["cost"].mean(), by_hand)
    known = rows["split"] == "profiling"
    assert np.allclose(
        made.costs, rows[known].groupby("config", observed=True)["cost"].mean()
    )
    assert np.allclose(
        made.raw_means["latency"], evaluations().groupby("model")["latency"].mean()
    )


@pytest.mark.parametrize(
    ("questions", "profiling"), [(4, 2), (5, 2), (7, 2), (8, 2), (13, 3), (100, 20)]
)
def test_the_default_split_leaves_two_instances_in_either_part(questions, profiling):
    made = table(evaluations(questions=questions))
    assert made.card.split.profiling == profiling
    assert (made.n_instances == questions).all() and len(made.feedback.costs) == 3 * (
        questions - profiling
    )


def test_several_columns_name_and_describe_a_configuration():
    frame = evaluations(4).assign(model="m", size=np.repeat([0.5, 1.0, 2.0, 4.0], 8))
    frame["size"] = evaluations(4)["model"].str[1].astype(int).to_numpy() / 2
    made = table(frame, config=["model", "size"])
    assert made.configs == ("m 0.0", "m 0.5", "m 1.0", "m 1.5")
    assert made.subset("size > 0.5").configs == ("m 1.0", "m 1.5")
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
    made = table(cost=cost, unit=None)
    assert made.card.cost.unit == unit
    assert costs is None or made.costs.tolist() == costs


def test_objective_accepts_the_cost_or_card_fields():
    limits = {"column": "usd", "transform": "negate-minmax", "limits": [0.0, 2.0]}
    made = table(objectives={"accuracy": "correct", "thrift": limits})
    assert made.limits["thrift"] == (0.0, 2.0)
    assert made.rows["thrift"].tolist() == pytest.approx(
        (1 - made.rows["cost"] / 2).clip(0, 1).tolist()
    )
    assert table(objectives=["correct"]).objectives == ("correct",)


def test_what_cost_nothing_counts_as_what_the_user_says():
    frame = evaluations()
    frame.loc[3, "usd"] = 0
    with pytest.raises(
        TableError, match=r"^from_frame, row .* 'usd': the cost 0.0 .* smallest_cost"
    ):
        table(frame)
    made = table(frame, smallest_cost=0.001)
    assert made.n_free == 1 and made.rows["cost"].min() == 0.001


@pytest.mark.parametrize("part", ["whole", "subset", "ragged", "one objective"])
def test_what_is_saved_is_read_as_the_same_table(part, tmp_path):
    frame = evaluations(6, 20)
    if part == "ragged":
        frame = frame[(frame["model"] != "m1") | (frame["question"] < 5)]
    made = table(frame, arms=["size"])
    parts = {
        "subset": made.subset("size == 1"),
        "one objective": made.select_objectives("speed"),
    }
    made = parts.get(part, made)
    card = cb.save(made, tmp_path / "mine.parquet")
    again = cb.read(tmp_path / "mine.parquet")
    assert card == tmp_path / "mine.yml" and again.card.records == "mine.parquet"
    pd.testing.assert_frame_equal(again.rows, made.rows)
    pd.testing.assert_frame_equal(again.summary(), made.summary())
    assert again.limits == made.limits and again.arms.equals(made.arms)


def test_a_part_whose_split_no_card_can_name_is_not_saved(tmp_path):
    frame = evaluations(6, 20)
    frame = frame[(frame["model"] != "m1") | (frame["question"] < 4)]
    few = table(frame, profiling=18).subset("config != 'm5'")
    for part in (few, few.take_profiling()):
        with pytest.raises(
            TableError, match=r"part of another table -> save the whole"
        ):
            cb.save(part, tmp_path / "a.parquet")
    assert not list(tmp_path.iterdir())


def broken(column, value):
    frame = evaluations()
    frame[column] = frame[column].astype(object)
    frame.iloc[4, frame.columns.get_loc(column)] = value
    return frame


def percentil():
    return {"speed": ("latency", "inverse-percentil")}


AT_5 = "from_frame, row 5, column"
WRONG = [
    (lambda: [1, 2], {}, "'model': the column is missing"),
    (evaluations, {"cost": "usdd"}, "'usdd': the column is missing -> did you"),
    (
        evaluations,
        {"config": "modle", "instance": "q"},
        "2 faults\n- from_frame, column 'modle'",
    ),
    (lambda: broken("model", None), {}, f"{AT_5} 'model': the name is missing"),
    (
        lambda: broken("size", None),
        {"config": ["model", "size"]},
        f"{AT_5} 'size': the name",
    ),
    (evaluations, {"profiling": 1}, "from_frame, profiling: "),
    (evaluations, {"objectives": {}}, "from_frame, objectives: there is no objective"),
    (
        evaluations,
        {"objectives": percentil()},
        "objectives['speed']: there is no transform",
    ),
    (
        evaluations,
        {"objectives": {"speed": 5}},
        "'column': Input should be a valid string, not 5",
    ),
    (evaluations, {"objectives": {"cost": "usd"}}, "['cost']: 'cost' is the name"),
    (evaluations, {"kind": "guess"}, "from_frame, kind: "),
    (evaluations, {"name": "My Table"}, "from_frame, name: "),
    (evaluations, {"cost": {"m9": 1}}, "cost: there is no configuration 'm9'"),
    (
        evaluations,
        {"cost": {"m0": 1, "m1": 1}},
        "from_frame, cost: none is given to m2",
    ),
]


@pytest.mark.parametrize(
    ("frame", "changes", "message"), WRONG, ids=[case[-1] for case in WRONG]
)
def test_what_is_wrong_is_said_in_the_words_of_the_call(frame, changes, message):
    with pytest.raises(TableError) as caught:
        table(frame(), **changes)
    text = str(caught.value)
    assert message in text
    assert (
        "card" not in text
        and "pydantic" not in text
        and "Input should be a valid tuple" not in text
    )
    assert caught.value.__suppress_context__  # no traceback of what noticed it


def test_arrays_with_what_was_not_evaluated():
    rng = np.random.default_rng(1)
    rewards = rng.random((3, 6, 2))
    rewards[1, 4] = np.nan
    costs = rng.uniform(1, 2, (3, 6))
    made = EvaluationTable.from_arrays(
        rewards, costs, configs=["c", "a", "b"], objectives=["right", "kind"]
    )
    assert made.configs == ("a", "b", "c") and made.n_instances.tolist() == [5, 6, 6]
    assert made.summary().loc["b", ["right", "kind"]].tolist() == pytest.approx(
        rewards[2].mean(axis=0).tolist()
    )
    four = made.summary("all").loc["a", "cost"] / np.delete(costs[1], 4).mean()
    assert four == pytest.approx(
        costs[[0, 2]].mean() / np.delete(costs[[0, 2]], 4, axis=1).mean()
    )
    masked = np.ma.masked_invalid(rewards)
    same = EvaluationTable.from_arrays(
        masked, costs, configs=["c", "a", "b"], objectives=["right", "kind"]
    )
    pd.testing.assert_frame_equal(same.rows, made.rows)
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
ARRAYS = [
    (
        np.full((2, 5, 2), [0.5, 2.0]),
        [1, 2],
        {},
        "config0, instance0, column 'objective1': the objective 2.0",
    ),
    (
        np.dstack([HOLE, HALF]),
        [1, 2],
        {},
        "config1, instance2, column 'objective0': the value is missing",
    ),
    (
        HALF,
        [1, 0],
        {},
        (
            "config1, instance0, column 'cost': the cost 0.0 is not positive (and 4"
            " more rows)"
        ),
    ),
    (HALF, HOLE, {}, "config1, instance2, column 'cost': the value is missing"),
    (HALF, np.ones(5), {}, "costs: they have the shape (5,), the rewards (2, 5, 1)"),
    (HALF, HALF.T, {}, "costs: they have the shape (5, 2)"),
    (
        HALF.T,
        [1, 2],
        {"configs": ["a", "b"]},
        "configs: 2 names for 5 of them in the rewards",
    ),
    (HALF, [1, 2], {"objectives": ["cost"]}, "'cost' is the name of another column"),
    (np.ones(5), [1], {}, "rewards: they have the shape (5,)"),
    ([["a", "b"]], [1], {}, "could not convert string to float"),
    (HALF, [1, 2], {"configs": ["a", "a"]}, "there is only one configuration, 'a'"),
    (HALF[:1], [1], {}, "there is only one configuration"),
]


@pytest.mark.parametrize(
    ("rewards", "costs", "options", "message"),
    ARRAYS,
    ids=[case[-1] for case in ARRAYS],
)
def test_what_is_wrong_with_arrays_is_said_by_entry(rewards, costs, options, message):
    with pytest.raises(ValueError) as caught:
        EvaluationTable.from_arrays(rewards, costs, **options)
    assert message in str(caught.value)
