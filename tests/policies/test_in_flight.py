"""Several evaluations at once: reserves, orders, failures, what is left out."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import methods
from support.faults import bad_argument
from support.strategies import cost_vectors, examples

import cobandit as cb
from cobandit import _budget
from cobandit.errors import BudgetError
from cobandit.policies import Pull
from cobandit.testing.policy_runs import fly, with_failures

PLANS, ONCE, INDICES = (
    list(known.values())
    for known in (methods.IDENTIFICATION, methods.ONCE, methods.ONLINE)
)
ALL = 10**9

#: How many at once, and the seed of their order.
flights = st.tuples(st.sampled_from([1, 2, 3, 7, ALL]), st.integers(0, 2**32))


def plan(cls, costs, budget, n_instances=12, **options):
    """A plan of two objectives; None where the budget is too small for it."""
    once = (n_instances,) if cls in ONCE else ()
    try:
        if cls is cb.ParetoRace:  # whose budget is a cap
            return cls(costs, 2, n_instances, budget=budget, **options)
        return cls(costs, budget, 2, *once, **options)
    except BudgetError:
        return None


def rewards_of(seed):
    """Return feedback in multiples of 0.1, whose sums round and which often tie."""
    return lambda pull: np.round(np.random.default_rng([seed, *pull.key]).random(2), 1)


# Budget.


@pytest.mark.parametrize(
    ("at_once", "known"), [(1, False), (4, False), (1, True), (4, True), (ALL, True)]
)
@pytest.mark.parametrize("cls", PLANS)
def test_tenfold_costs_do_not_overspend(cls, at_once, known):
    """The first results set the reserve; concurrent pulls need it in advance."""
    costs = np.array([8.0, 45.0, 15.0, 75.0])
    finder = cls(costs, 4000, 2, largest_costs=10 * costs if known else None)
    fly(
        finder,
        lambda pull: ([0.5, 0.5], 10 * costs[pull]),
        at_once,
        np.random.default_rng(0),
    )
    assert 4000 - 10 * costs.sum() < finder.spent <= 4000


def test_index_policy_is_sequential_near_the_end():
    policy = cb.UniformAllocation(2, 1, 4.0, (0.5, 1.0), expected_costs=[0.5, 0.5])
    for _ in range(2):
        policy.tell(policy.ask(), [0.5], 0.5)
    first, second, third = (policy.ask() for _ in range(3))
    # three units are set aside for the three
    assert policy.ask() is None and not policy.finished
    policy.tell(second, [0.5], 0.5)
    fourth = policy.ask()
    assert fourth.key == (1, 2) and policy.ask() is None
    for pull in (first, third, fourth):
        policy.tell(pull, [0.5], 0.75)
    assert policy.ask() is None and policy.finished and policy.spent == 3.75


def test_only_the_last_started_pull_may_cross_the_budget():
    policy = cb.UniformAllocation(2, 1, 4.0, (0.5, 1.0), selection="all")
    for _ in range(2):
        policy.tell(policy.ask(), [0.5], 0.5)
    # one unit is spent, and three are set aside
    pulls = [policy.ask() for _ in range(5)]
    assert pulls[4] is None and pulls[3].key == (1, 2)


def test_largest_costs_are_checked():
    with bad_argument("below-known-costs", "largest_costs", ["[1.0, 4.0]"]):
        cb.CoPSI([1, 4], 100, 2, largest_costs=[1, 3])
    with bad_argument("wrong-length", "largest_costs", ["2 arms", "got 3"]):
        cb.CoPSI([1, 4], 100, 2, largest_costs=[1, 4, 4])
    with bad_argument("small-budget", "budget", ["50", "60"]) as error:
        cb.UniformIdentification([1, 4], 50, 2, largest_costs=[20, 40])
    assert (
        cb.UniformIdentification(
            [1, 4], error.value.smallest, 2, largest_costs=[20, 40]
        ).ask()
        == 0
    )


def test_round_starts_only_if_it_can_be_completed():
    finder = cb.UniformIdentification([1, 1], 9, 1, largest_costs=[1, 4])
    fly(finder, lambda pull: ([0.5], 1.0))
    assert finder.pulls.tolist() == [3, 3]


# Order.


@pytest.mark.slow
@examples(200)
@given(
    st.sampled_from(PLANS + ONCE),
    cost_vectors(4),
    st.floats(1, 30),
    st.floats(1, 3),
    flights,
    st.booleans(),
)
def test_order_of_results_does_not_change_a_plan(
    cls, costs, rho, spread, flight, realised
):
    """With declared costs, and with realised ones whose largest is known."""
    (at_once, seed), rng = flight, np.random.default_rng(flight[1])
    largest = costs * spread if realised else None
    alone = plan(cls, costs, rho * costs.sum(), largest_costs=largest)
    if alone is None:
        return
    flown = plan(cls, costs, rho * costs.sum(), largest_costs=largest)
    reward = rewards_of(seed)

    def evaluate(pull):
        share = np.random.default_rng([1, seed, *pull.key]).random()
        return reward(pull), (
            costs[pull] * spread ** (2 * share - 1) if realised else costs[pull]
        )

    fly(alone, evaluate)
    fly(flown, with_failures(evaluate, rng, billed=0.0), at_once, rng)
    assert flown.pulls.tolist() == alone.pulls.tolist()
    assert flown.recommend().tolist() == alone.recommend().tolist()
    assert pickle.dumps(flown.phases) == pickle.dumps(alone.phases)
    assert flown.spent == pytest.approx(alone.spent)
    assert max(flown.spent, alone.spent) <= _budget.add_slack(flown.budget)
    assert (flown.mean_rewards == alone.mean_rewards).all()


@pytest.mark.parametrize("cls", PLANS + ONCE)
def test_phase_is_available_at_once(cls):
    finder = plan(cls, [1.0, 2.0, 1.5], 40)
    phase = []
    while (pull := finder.ask()) is not None:
        phase.append(pull)
    begun = finder.begun
    assert (
        len({pull.key for pull in phase}) == len(phase) == begun.sum()
        and not finder.finished
    )
    assert (begun == begun[0]).all() and begun[0] >= 3
    for pull in phase[:-1]:
        finder.tell(pull, [0.5, 0.25 * pull])
        assert finder.ask() is None and len(finder.phases) == 0
    finder.tell(phase[-1], [0.5, 0.5])
    assert finder.ask() is not None or finder.finished


def test_means_use_reported_results_only():
    finder = cb.CoPSI([1.0, 2.0], 40, 1)
    pulls = [finder.ask() for _ in range(3)]
    finder.tell(pulls[2], [0.75])
    assert (
        finder.mean_rewards[0] == 0.75
        and finder.pulls.tolist() == [1, 0]
        and finder.spent == 1.0
    )
    finder.tell(pulls[0], [0.25])
    assert finder.mean_rewards[0] == 0.5


# Indices.


@pytest.mark.parametrize("cls", INDICES)
def test_pulls_in_flight_count_in_the_radius(cls):
    policy = cls(3, 2, 60, (0.2, 1.0), alpha=0.1, n_init=2)
    rng = np.random.default_rng(0)
    first = [policy.ask() for _ in range(6)]
    assert first == [0, 1, 2, 0, 1, 2] and [pull.number for pull in first] == [
        0,
        0,
        0,
        1,
        1,
        1,
    ]
    for pull in first:
        assert policy.ask() is None  # an index needs what the first evaluations gave
        policy.tell(pull, rng.random(2), rng.uniform(0.2, 1))
    for _ in range(6):
        expected = policy.index().argmax()
        assert policy.ask() == expected
    n = policy.pulls + policy.in_flight
    assert n.sum() == 12 and policy.pulls.sum() == 6
    assert policy.radius == pytest.approx(np.sqrt(policy.log_term / n))


# Pulls and failures.


def test_pull_is_an_arm_with_a_number():
    pull = Pull(2, 5)
    assert pull == 2 == Pull(2, 4) and pull.key != Pull(2, 4).key
    restored = pickle.loads(pickle.dumps(pull))
    assert (type(restored), restored.key) == (Pull, (2, 5))


def test_arm_number_means_its_oldest_pull_in_flight():
    policy = cb.UniformAllocation(2, 1, 20, (1.0, 1.0), n_init=2)
    for _ in range(4):
        policy.ask()
    policy.tell(1, [0.5], 1.0)
    with bad_argument("not-in-flight", "arm", ["evaluation 0 of arm 1"]):
        policy.tell(Pull(1, 0), [0.5], 1.0)
    policy.tell(Pull(1, 1), [0.5], 1.0)
    with bad_argument("not-in-flight", "arm", ["arm 1", "arms [0]"]):
        policy.tell(1, [0.5], 1.0)
    assert policy.find(0).key == (0, 0)


@pytest.mark.parametrize("cls", PLANS + ONCE)
def test_failed_pull_is_repeated_before_new_ones(cls):
    finder = plan(cls, [1.0, 2.0, 1.5], 40)
    pulls = [finder.ask() for _ in range(3)]
    finder.tell(pulls[1], None, 0.5)
    finder.tell(pulls[0], None)
    assert finder.spent == 0.5 and finder.pulls.sum() == 0 and finder.begun.sum() == 1
    assert {finder.ask().key for _ in range(2)} == {pull.key for pull in pulls[:2]}
    assert finder.ask().key not in {pull.key for pull in pulls}


class Listed(cb.UniformIdentification):
    """A plan that is a list of arms."""

    def _schedule(self):
        yield from [0, 1, 1, 0]


def test_repeated_pull_takes_no_turn_of_the_plan():
    finder = Listed([1, 1], 20, 1)
    first = finder.ask()
    assert finder.upcoming == 1
    finder.tell(first, None)
    assert [pull.key for pull in iter(finder.ask, None)] == [
        (0, 0),
        (1, 0),
        (1, 1),
        (0, 1),
    ]


def test_unaffordable_repeat_ends_the_run():
    finder = cb.UniformIdentification([1, 4], 10, 1)
    first, second = finder.ask(), finder.ask()
    third = finder.ask()
    finder.tell(second, None, 4)
    finder.tell(third, [0.75])
    finder.tell(first, [0.25])
    assert finder.spent == 6 and finder.ask().key == (1, 0)
    finder.tell(1, None, 4)
    assert finder.spent == 10 and finder.ask() is None and finder.finished
    assert finder.mean_rewards[0] == 0.5  # what was told is not lost
    assert finder.recommend().tolist() == []  # no round is complete
