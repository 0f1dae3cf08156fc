"""The worked examples by hand, class, kernel and replay, and their comments."""

import pytest
from support.asking import noise_free, run

import cobandit as cb
from cobandit.replay import replay_identification, replay_online, spec
from companion.paper import experiments
from companion.paper.examples import IDENTIFICATION, ONLINE

METHODS = [*ONLINE.sequences, *IDENTIFICATION.sequences]


def example_of(method):
    return ONLINE if method in ONLINE.sequences else IDENTIFICATION


def policy_of(method):
    """The readable class, with the scales wherever it takes them."""
    if method in ONLINE.sequences:
        return getattr(cb, method)(
            3,
            2,
            ONLINE.budget,
            (0.5, 1.0),
            expected_costs=ONLINE.costs,
            **ONLINE.options,
        )
    return getattr(cb, method)(IDENTIFICATION.costs, IDENTIFICATION.budget, 2)


def letters(example, arms):
    return "".join(example.names[arm] for arm in arms)


def test_every_method_of_the_paper_has_an_example():
    online = {method.name for method in experiments.online_methods()}
    assert set(METHODS) == online | set(experiments.IDENTIFICATION)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_class_makes_the_pulls_of_the_example(method):
    """The table repeats rewards and cost of each arm, so all streams are equal."""
    example = example_of(method)
    for seed in range(3):
        policy = policy_of(method)
        played = cb.play(policy, example.table(), seed=seed)
        assert letters(example, played.arms) == example.sequences[method]
        assert (
            played.costs == example.costs[played.arms]
        ).all() and policy.spent <= example.budget
        if example is IDENTIFICATION:
            assert letters(example, policy.recommend()) == example.recommended[method]


@pytest.mark.parametrize("method", METHODS)
def test_replay_makes_the_pulls_of_the_example(method):
    example = example_of(method)
    sequence = example.sequences[method]
    table = example.table()
    rho = example.budget / example.costs.sum()
    costs = dict(zip(example.names, example.costs, strict=True))
    if example is ONLINE:
        runs = replay_online(
            table, [spec(method, **example.options)], rho, replications=3
        )
        gaps = dict(zip(example.names, table.problem.efficiency_gaps, strict=True))
        assert runs["efficiency_regret"].tolist() == pytest.approx(
            [sum(gaps[arm] for arm in sequence)] * 3
        )
        assert (runs["best_arm_pulls"] == sequence.count("a")).all()
    else:
        runs = replay_identification(table, [method], rho, replications=3)
        assert runs["returned"].tolist() == [tuple(example.recommended[method])] * 3
        assert runs["correct"].all() and (runs["f1"] == 1).all()

    assert runs["spent"].tolist() == pytest.approx(
        [sum(costs[arm] for arm in sequence)] * 3
    )
    assert (runs["pulls"] == len(sequence)).all()


def test_numbers_in_the_online_comment_are_right():
    """With alpha = 1 / log T_B, the radius is 1 / sqrt(n); the scale is a quarter."""
    assert ONLINE.table().problem.efficiency.tolist() == [0.5625, 0.5, 0.25]
    policy = policy_of("CoHVUCB")
    observations = []
    while (arm := policy.upcoming) is not None:
        observations.append(policy.index().round(4).tolist())
        policy.tell(policy.ask(), ONLINE.rewards[arm], ONLINE.costs[arm])
    assert observations[3] == [1.3333, 2.25, 1.5]
    assert (
        observations[4][1],
        observations[5][2],
        observations[6][1],
        observations[7][0],
    ) == (
        1.4171,
        0.8936,
        1.1673,
        1.0434,
    )


def test_numbers_in_the_identification_comment_are_right():
    finder = policy_of("CoPSI")
    assert finder.allocation_constant == pytest.approx(37 / 15)
    run(finder, noise_free(IDENTIFICATION.rewards, IDENTIFICATION.costs))
    first, second = finder.phases
    assert (first.target, first.removed, first.accepted) == (2, 1, True)
    assert first.gaps.max() == first.gaps[1] == 0.375
    assert (second.target, second.removed, second.accepted) == (8, 2, False)
    assert second.gaps.tolist() == [0.125, 0.125]
    sr = policy_of("PSISR")
    assert (sr.n_rounds, sr.targets.tolist()) == (21, [5, 7])
