"""The answer, on tables in the shapes that people bring: would one act on it?"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import shapes
from support.commands import call
from support.faults import bad_argument, fault

import cobandit as cb
from cobandit.advice.answer import answer
from cobandit.advice.answer_table import (
    describe_steps,
    shorten,
    standings,
    worth_besides,
    worth_showing,
)
from cobandit.advice.choice import read_wishes
from cobandit.advice.rivals import find_rivals

SHAPES = {
    "leaderboard": shapes.make_leaderboard,
    "two models": shapes.make_two_models,
    "short list": shapes.make_short_list,
    "jokers": shapes.make_jokers,
    "agents": shapes.make_agents,
}
BUNDLED = ("synthetic-24", "word-sums", "piqa-small", "gsm8k", "piqa")


def dominated_by_hand(table):
    """Whom another matches in everything, cost included, and beats in something."""
    every = table.summary()
    values = np.column_stack([every[list(table.objectives)], -every["cost"]])
    return {
        name
        for name, mine in zip(every.index, values, strict=True)
        if any((point >= mine).all() and (point > mine).any() for point in values)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHAPES, *BUNDLED])
def test_recommended_configurations_are_not_dominated(name):
    table = SHAPES[name]() if name in SHAPES else cb.load(name)
    advice = cb.recommend(
        table,
        within={table.objectives[0]: 0.3},
        prefer={table.objectives[0]: 1.0},
        replications=20,
    )
    dominated_arms = dominated_by_hand(table)
    front = advice.front
    assert (
        set(front.index) == set(table.configs) - dominated_arms
        and advice.most_efficient in front.index
    )
    assert front["cost"].is_monotonic_increasing
    n_front = "All" if len(front) == table.n_arms else f"{len(front)} of"
    assert answer(advice).headline.startswith(
        f"{n_front} {table.n_arms} configurations "
    )
    json.dumps(advice.to_dict(), allow_nan=False)


def test_steps_have_gains_intervals_and_cost_factors():
    advice = cb.recommend(shapes.make_short_list(), replications=2)
    front, steps = advice.front, describe_steps(advice)
    for place in range(1, len(front)):
        gain = 100 * (front["accuracy"].iloc[place] - front["accuracy"].iloc[place - 1])
        times = front["cost"].iloc[place] / front["cost"].iloc[place - 1]
        low, high = (
            100 * front[f"more_accuracy_{end}"].iloc[place] for end in ("low", "high")
        )
        assert low < gain < high and front["times"].iloc[place] == pytest.approx(times)
        assert steps[place] == f"{gain:+.1f} accuracy ({low:+.1f} to {high:+.1f})"
    assert steps[0] == ""


@pytest.mark.slow
def test_leaderboard_does_not_recommend_its_cheapest_model():
    """A model of low accuracy has the largest ratio, which is shown on demand."""
    advice = cb.recommend(
        shapes.make_leaderboard(400), at_least={"accuracy": 0.5}, replications=50
    )
    arms, choice = advice.arms, advice.choice
    assert arms.loc[advice.most_efficient, "accuracy"] < 0.25
    meets = arms[arms["accuracy"] >= 0.5]
    assert choice.configuration == meets.index[0] and 0.5 <= choice.confidence <= 1
    assert (
        choice.sure is None
        or arms.loc[choice.sure, "accuracy"]
        > arms.loc[choice.configuration, "accuracy"]
    )
    assert choice.configuration in answer(advice).lines["You asked"]
    assert "Ratio" not in answer(advice).lines
    assert advice.most_efficient in answer(advice, ratio=True).lines["Ratio"]


def test_more_expensive_of_equal_arms_is_off_the_front():
    advice = cb.recommend(shapes.make_jokers(), prefer={"accuracy": 1}, replications=20)
    assert "joker" in advice.front.index and "costly joker" not in advice.front.index
    assert (advice.choice.configuration, advice.choice.next, advice.choice.ahead) == (
        "joker",
        "costly joker",
        0,
    )


@pytest.mark.slow
def test_preference_chooses_the_largest_weighted_mean():
    table = shapes.make_two_models()
    for weights, chosen in (
        ({"accuracy": 3, "speed": 1}, "large"),
        ({"accuracy": 1, "speed": 3}, "small"),
    ):
        choice = cb.recommend(table, prefer=weights, replications=100).choice
        every = table.summary()
        score = sum(weight * every[name] for name, weight in weights.items()) / 4
        assert choice.configuration == chosen == score.idxmax() and choice.share > 0.9
        assert choice.ahead == pytest.approx(score.max() - score.min())


@pytest.mark.slow
def test_conditions_hold_together():
    table = shapes.make_two_models()
    combined = cb.recommend(
        table, at_least={"accuracy": 0.5, "speed": 0.7}, replications=2
    )
    assert combined.choice.configuration is None and combined.choice.sure is None
    assert combined.choice.closest in answer(combined).lines["You asked"]
    one = cb.recommend(
        table, at_least={"accuracy": 0.5}, within={"speed": 0.6}, replications=2
    ).choice
    assert one.configuration == "large" == one.sure and one.confidence > 0.99


def test_exhausted_benchmark_gives_exact_answers():
    advice = cb.recommend(
        shapes.make_short_list(),
        within={"accuracy": 0.1},
        about="benchmark",
        replications=2,
    )
    assert (
        advice.choice.configuration == advice.choice.sure
        and advice.choice.confidence == 1
    )


@pytest.mark.acceptance
def test_sure_choices_meet_their_condition():
    """On 200 tables at level 0.8, at most a fifth of the sure choices are wrong."""
    rng, wrong = np.random.default_rng(6), 0
    means = np.array([[0.45], [0.49], [0.499], [0.55], [0.65]])
    for _ in range(200):
        table = shapes.make_table(
            shapes.draw_scores(rng, means, 100), [1, 2, 3, 4, 5], list("abcde")
        )
        choice = cb.recommend(
            table, at_least={"accuracy": 0.5}, level=0.8, replications=1
        ).choice
        wrong += choice.sure in ("a", "b", "c")
    assert wrong <= 53  # more would come of chance once in 500 tests


@pytest.mark.slow
def test_tolerance_shortens_the_front_and_covers_it():
    table = cb.load("word-sums")
    full_table, short = (
        cb.recommend(table, tolerance=entry, replications=2) for entry in (0.0, 0.05)
    )
    assert len(short.front) < len(full_table.front) and set(short.front.index) <= set(
        full_table.front.index
    )
    for _, row in full_table.front.iterrows():
        rivals = short.front[short.front["cost"] <= row["cost"]]
        assert (
            (
                rivals[list(table.objectives)]
                >= row[list(table.objectives)] - 0.05 - 1e-9
            ).all(axis=1)
        ).any()


@pytest.mark.slow
def test_returned_configurations_replace_the_front():
    returned, table = ["large, direct", "small, direct"], shapes.make_short_list()
    options = {"at_least": {"accuracy": 0.45}, "replications": 2}
    advice = cb.recommend(table, returned=returned, ignores_cost=True, **options)
    assert advice.choice.configuration == "large, direct"
    cheaper = cb.recommend(
        table, at_least={"accuracy": 0.45}, replications=2
    ).choice.configuration
    assert cheaper == "medium, direct"
    assert list(advice.front.index) == ["small, direct", "large, direct"]
    assert answer(advice).headline == "The method returned 2 of 6 configurations."
    assert answer(advice).lines.keys() == {"You asked", "Also"}
    # of a race that compares costs it is the answer, and no second one is given
    advice = cb.recommend(
        table, returned=returned, tolerance=0.1, cost_tolerance="20%", **options
    )
    assert "2 of 6 configurations are worth their cost" in answer(advice).headline
    assert "within 0.1 and 20 % of the cost" in answer(advice).headline
    assert answer(advice).lines.keys() == {"You asked"}
    assert list(advice.front.index) == ["small, direct", "large, direct"]


@pytest.mark.parametrize(
    ("options", "code", "place"),
    [
        ({"at_least": {"accuracy": 70}}, "wish-range", "at_least"),
        ({"within": {"accuracy": -0.1}}, "wish-range", "within"),
        ({"within": {"speed": float("nan")}}, "wish-range", "within"),
        ({"prefer": {"accuracy": 0}}, "no-weight", "prefer"),
        ({"prefer": {"accuracy": -1}}, "wish-range", "prefer"),
    ],
)
def test_conditions_out_of_range_are_refused(options, code, place):
    with pytest.raises(cb.TableError) as caught:
        read_wishes(("accuracy", "speed"), **options)
    (fault,) = caught.value.faults
    assert (fault.code, fault.file) == (code, place)


def test_unknown_objectives_suggest_the_nearest():
    with bad_argument(
        "unknown-choice", "objective of at_least", ["'acuracy'", "'accuracy'?"]
    ):
        read_wishes(("accuracy", "speed"), at_least={"acuracy": 0.5})


@pytest.mark.slow
def test_names_are_complete_at_80_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = shapes.make_short_list()
    long = {
        name: f"provider/a-model-of-a-very-long-name-{name}-2026-11-24"
        for name in table.configs
    }
    rows = table.rows.drop(columns="split").assign(
        config=table.rows["config"].map(long)
    )
    named = cb.EvaluationTable.from_frame(
        rows, cost="cost", unit="USD", objectives=["accuracy"], name="my"
    )
    cb.save(named, "my.parquet")
    words = [
        "recommend",
        "my.parquet",
        "--replications",
        "5",
        "--within",
        "accuracy=0.05",
    ]
    done = call(*words, columns=80)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    full_output = json.loads(call(*words, "--json").output)
    front = [row["config"] for row in full_output["front"]]
    lines = done.output.splitlines()
    (head,) = (line for line in lines if line.startswith(" configuration"))
    # of the names, which are folded; then counts of instances
    width = head.index(" n ") + 2 - len("100")
    names = "".join(line[:width].replace(" ", "") for line in lines)
    assert (
        front
        and "…" not in done.output
        and all(name.replace(" ", "") in names for name in front)
    )
    assert {row["config"] for row in full_output["arms"]} == set(long.values())


def test_headline_and_certainty_count_the_front_and_its_rivals():
    table = shapes.make_short_list()
    advice = cb.recommend(table, tolerance=0.15, replications=50)
    texts = answer(advice)
    n_front = table.n_arms - len(dominated_by_hand(table))
    assert texts.headline.startswith(
        f"{n_front} of 6 configurations are worth their cost (accuracy, USD)"
    )
    assert (
        f"Within 0.15 they are matched by {len(advice.front)} of them" in texts.headline
    )
    n_settled = advice.arms.loc[advice.front.index, "front_settled"].sum()
    assert texts.lines["Sure"].startswith(
        f"{n_settled} of the {len(advice.front)}, at 95 %"
    )
    assert texts.lines["Sure"].endswith(
        "One that is beaten here may be worth its cost, too."
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_certainty_agrees_with_the_standings_of_the_table(some_advice, data):
    """Sure memberships are decided; every arm is sure, open or off the front."""
    arms = some_advice.arms
    booleans = st.lists(st.booleans(), min_size=len(arms), max_size=len(arms))
    share = st.sampled_from([0.0, 0.004, 0.03, 0.2, 0.7, 0.996, 1.0])
    shares = data.draw(st.lists(share, min_size=len(arms), max_size=len(arms)))
    fields = {
        "front_share": shares,
        "on_front": data.draw(booleans),
        "front_settled": data.draw(booleans),
    }
    fields["on_front"][0] = True
    arms = arms.assign(**fields)
    front = some_advice.front.reindex(arms.index[arms["on_front"]])
    advice = replace(some_advice, arms=arms, front=front)
    standing = standings(advice)
    settled = advice.arms["front_settled"][standing.index]
    assert list(standing.index) == list(arms.index)
    assert (standing.isin(["sure", "no"]) == settled).all()
    on_front = advice.arms["on_front"]
    assert ((standing == "sure") == (settled & on_front)).all() and not standing.isin(
        ["100 %", "0 %"]
    ).any()

    n_sure = int((settled & on_front).sum())
    certainty = answer(advice).lines["Sure"]
    if on_front.sum() > 2:
        word = "all" if n_sure == on_front.sum() else n_sure or "none"
        assert certainty.startswith(f"{word} of the {on_front.sum()}, ")


@pytest.fixture(scope="module")
def some_advice():
    table = shapes.make_short_list()
    return cb.recommend(table, replications=2)


def test_headline_names_the_front_of_the_paper():
    advice = cb.recommend(shapes.make_two_models(), dominance="strict", replications=2)
    assert (
        "the paper's front" in answer(advice).headline
        and "2 of 2" in answer(advice).headline
    )


@pytest.mark.slow
def test_preference_names_the_best_and_the_second_best():
    table = shapes.make_leaderboard(300)
    advice = cb.recommend(
        table, prefer={"accuracy": 1}, at_least={"accuracy": 0.5}, replications=50
    )
    every = table.summary()
    one, second = every["accuracy"].nlargest(2).items()
    line = answer(advice).lines["You asked"]
    assert (
        f"least 0.5: {one[0]} (accuracy {one[1]:.3f}, {every['cost'][one[0]]:.4g} USD),"
        " sure at 95" in line
    )
    assert f"{second[0]}, is {100 * (one[1] - second[1]):.1f} points behind" in line
    assert f"{100 * advice.choice.share:.0f} % of resampled" in line


def make_sparse():
    """A leaderboard of which only eight instances are evaluated by all."""
    return shapes.make_leaderboard(100, seen=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("make", [shapes.make_agents, make_sparse])
@pytest.mark.parametrize("budget", [None, 0.01, 30])
def test_next_evaluations_have_number_and_price(make, budget):
    advice = cb.recommend(make(), budget, replications=2)
    plan, line = advice.next, answer(advice).lines["Next"]
    assert f"{plan.evaluations:,} evaluations, {plan.price:.4g} USD" in line
    assert line.startswith(
        f"{len(advice.arms) - plan.settled} of {len(advice.arms)} configurations"
    )
    assert ("about" if plan.compared else "at most") in line
    if plan.pairs.empty:
        assert (
            f"{budget:g} USD is too little" in line
            and f"takes {plan.step:.4g} USD" in line
        )
    else:
        first = plan.pairs.iloc[0]
        assert f"{len(plan.pairs):,} of them" in line
        assert f"{first.configuration} on instance {first.instance}" in line


@pytest.mark.slow
def test_cheaper_unreturned_configurations_are_named():
    """A method that does not weigh the cost returns the best, and its reader pays."""
    table = shapes.make_short_list()
    best = table.summary()["accuracy"].idxmax()
    options = {"about": "benchmark", "replications": 2, "ignores_cost": True}
    advice = cb.recommend(table, returned=[best], **options)
    cheaper = worth_besides(advice).index
    assert set(cheaper) == {
        *cb.recommend(table, about="benchmark", replications=2).front.index
    } - {best}
    assert cheaper[0] in answer(advice).lines["Also"] and set(
        worth_showing(advice).index
    ) == {best, *cheaper}
    assert worth_besides(cb.recommend(table, replications=2)).empty


@pytest.mark.slow
def test_numbers_are_complete_for_any_number_of_objectives(tmp_path, monkeypatch):
    """Intervals leave before names do, and a table that is wider still is not cut."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for n_objectives in (2, 4, 6):
        names = [f"objective {d}" for d in range(n_objectives)]
        rewards, costs = (
            rng.random((4, 30, n_objectives)),
            1e5 * rng.random((4, 30)) + 1,
        )
        table = cb.EvaluationTable.from_arrays(rewards, costs, objectives=names)
        cb.save(table, f"{n_objectives}.parquet")
        shown = call(
            "recommend", f"{n_objectives}.parquet", "--replications", "5", columns=80
        ).output
        (head,) = (
            line
            for line in shown.splitlines()
            if " n " in line and "on the front" in line
        )
        assert "configuration" in head and all(name in head for name in names)
        assert "…" not in shown and ("intervals: 95 %" in shown) == (n_objectives == 2)


@pytest.mark.slow
def test_returned_set_has_no_share_of_redraws():
    table = cb.load("synthetic-24")
    dearest = table.summary()["cost"].nlargest(2).index
    ratio = answer(cb.recommend(table, returned=dearest), ratio=True).lines["Ratio"]
    assert ratio.endswith("among these.") and "%" not in ratio
    with fault("nothing-returned", "returned"):
        cb.recommend(table, returned=[])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["synthetic-24", "piqa-small"])
def test_rivals_are_the_dominating_arms(name):
    """Rivals match a brute-force search; a member of the front has none."""
    table = cb.load(name)
    every = table.summary()
    values = np.column_stack([every[list(table.objectives)], -every["cost"]])
    for arm in range(0, table.n_arms, 5):
        by_hand = {
            every.index[other]
            for other in range(table.n_arms)
            if (values[other] >= values[arm]).all()
            and (values[other] > values[arm]).any()
        }
        result = find_rivals(table, every.index[arm])
        assert result.beaten == bool(by_hand)
        assert (
            set(result.rivals.index) == by_hand if by_hand else len(result.rivals) == 3
        )


@pytest.mark.slow
def test_command_explains_excludes_and_shows_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = shapes.make_short_list()
    cb.save(table, "my.parquet")
    quick = ("--replications", "5")
    beaten = min(dominated_by_hand(table))
    why = call("recommend", "my.parquet", "--why", beaten)
    assert (
        why.exit_code == 0 and find_rivals(table, beaten).rivals.index[0] in why.output
    )
    best = table.summary()["accuracy"].idxmax()
    fewer = json.loads(
        call("recommend", "my.parquet", "--without", best, "--json", *quick).output
    )
    assert len(fewer["arms"]) == table.n_arms - 1 and best not in {
        row["config"] for row in fewer["arms"]
    }
    everything = call("recommend", "my.parquet", "--all", *quick, columns=200).output
    assert all(name in everything for name in table.configs)
    wrong = call("recommend", "my.parquet", "--without", "nobody")
    assert isinstance(wrong.exception, cb.CobanditError) and "nobody" in str(
        wrong.exception
    )


@pytest.mark.slow
def test_shortened_table_keeps_the_row_that_meets_a_condition():
    advice = cb.recommend(cb.load("word-sums"), within={"accuracy": 0.06})
    rows = worth_showing(advice)
    chosen = advice.choice.configuration
    assert chosen not in rows.index[:5]

    short = shorten(advice, rows, 5)

    assert len(short) == 5
    assert {chosen, advice.choice.sure} <= set(short.index)
    assert list(short.index) == [name for name in rows.index if name in short.index]
