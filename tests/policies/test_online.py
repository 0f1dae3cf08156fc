"""Online policies: budget, affordability, protocol, symmetry, a scalar twin."""

import inspect
import warnings
from math import ceil, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import noise_free, run, slack
from support.faults import bad_argument
from support.methods import ONLINE
from support.strategies import examples, problems

import cobandit as cb
from cobandit.errors import BudgetError, CobanditError, GuaranteeWarning

POLICIES = list(ONLINE.values())
every_policy = pytest.mark.parametrize("policy_class", POLICIES)
SMALL_RADII = {"reward_scale": 0.05, "cost_scale": 0.05}


# Budget.


@pytest.mark.slow
@every_policy
@examples(40)
@given(
    problems(max_arms=6),
    st.floats(1, 12),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.integers(1, 3),
)
def test_known_costs_never_overspend_and_exhaust_the_budget(
    policy_class, given_problem, rho, s, n_init
):
    means, costs = given_problem
    budget = rho * costs.sum()
    policy = policy_class(
        *means.shape,
        budget,
        (costs.min(), costs.max()),
        expected_costs=costs,
        reward_scale=s,
        cost_scale=s,
        n_init=n_init,
    )
    arms = run(policy, noise_free(means, costs))
    assert policy.spent == pytest.approx(costs[arms].sum(), rel=1e-12)
    assert policy.spent <= slack(budget) < policy.spent + costs.min()
    assert policy.pulls.tolist() == np.bincount(arms, minlength=len(means)).tolist()
    # one pull each comes first
    assert sorted(arms[: len(means)]) == list(range(len(means)))
    assert policy.ask() is None


@every_policy
@pytest.mark.parametrize("expected", [None, [0.25, 1.0, 0.5]])
def test_smallest_budget_pays_one_pull_per_arm(policy_class, expected):
    costs = np.array([0.25, 1.0, 0.5])
    how = {"cost_range": (0.25, 1.0), "expected_costs": expected}
    with bad_argument("small-budget", "budget", ["at least"]) as caught:
        policy_class(3, 1, 0.01, **how)
    smallest = caught.value.smallest
    assert smallest == (3.0 if expected is None else 1.75)
    with pytest.raises(BudgetError):
        policy_class(3, 1, 0.999 * smallest, **how)
    policy = policy_class(3, 1, smallest, **how)
    assert set(run(policy, noise_free(np.full((3, 1), 0.5), costs))) == {0, 1, 2}


@pytest.mark.parametrize(("short", "pulls"), [(1e-10, 12), (1e-7, 11)])
def test_budget_short_by_more_than_rounding_loses_a_pull(short, pulls):
    policy = cb.UniformAllocation(3, 1, 12 * (1 - short), (1, 1))
    assert len(run(policy, noise_free(np.full((3, 1), 0.5), np.ones(3)))) == pulls


@every_policy
def test_initialisation_is_round_robin(policy_class):
    policy = policy_class(4, 1, 100, (1, 1), n_init=3)
    arms = run(policy, noise_free(np.array([[0.1], [0.9], [0.5], [0.5]]), np.ones(4)))
    assert arms[:12] == [0, 1, 2, 3] * 3


# Selection.


def algorithm_1(rewards, costs, budget, lam, alpha, s_r=1.0, s_c=1.0, feasible=False):
    """Return the pulls of Algorithm 1, line by line, optionally among affordable arms.

    ``rewards[i][n]`` (D,) and ``costs[i][n]`` belong to the n-th pull of arm i; costs
    lie in [lam, 1].
    """
    K, T = len(costs), ceil(budget / lam) + 1
    n, c, spent, arms = [0] * K, [0.0] * K, 0.0, []
    r = [[0.0] * len(rewards[0][0]) for _ in range(K)]
    while True:
        index = []
        for i in range(K):
            expected = c[i] / n[i] if n[i] else 1.0
            if spent + expected * feasible > budget * (1 + 1e-9):
                index.append(-1.0)
            elif n[i] == 0:
                index.append(float("inf"))
            else:
                beta = sqrt(alpha * log(T) / n[i])
                optimistic = [min(1, total / n[i] + s_r * beta) for total in r[i]]
                index.append(
                    np.prod(optimistic) / max(lam / 2, c[i] / n[i] - s_c * beta)
                )
        best = index.index(max(index))
        if index[best] < 0:
            return arms
        r[best] = [
            total + x for total, x in zip(r[best], rewards[best][n[best]], strict=True)
        ]
        c[best], spent = c[best] + costs[best][n[best]], spent + costs[best][n[best]]
        n[best] += 1
        arms.append(best)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("policy_class", [cb.CoHVUCB, cb.AccuracyCostUCB])
def test_one_objective_reduces_to_the_budgeted_bandit(policy_class, seed):
    rng = np.random.default_rng(seed)
    K, low = int(rng.integers(2, 9)), float(rng.uniform(0.05, 0.5))
    budget, alpha = float(rng.uniform(K, 30 * K)), float(rng.uniform(0.5, 3))
    s_r, s_c = rng.choice([0.01, 0.1, 1.0], 2).tolist()
    length = ceil(budget / low) + 2
    rewards = rng.beta(2, rng.uniform(1, 4, (K, 1)), (K, length))
    costs = rng.uniform(low, 1, (K, length))
    given_ = rewards[..., None].tolist(), costs.tolist(), budget, low, alpha
    policy = policy_class(
        K, 1, budget, (low, 1.0), alpha=alpha, reward_scale=s_r, cost_scale=s_c
    )
    arms = run(
        policy,
        lambda arm: (
            rewards[arm, policy.pulls[arm], None],
            costs[arm, policy.pulls[arm]],
        ),
    )
    assert arms == algorithm_1(*given_, s_r, s_c, feasible=True)


@pytest.mark.parametrize(
    ("policy_class", "index"),
    [
        (cb.CoHVUCB, lambda r, c: np.prod(r, axis=1) / c),
        (cb.HVUCB, lambda r, c: np.prod(r, axis=1)),
        (cb.AccuracyCostUCB, lambda r, c: r[:, 0] / c),
        (cb.UniformAllocation, lambda r, c: np.array([-2.0, -1.0])),
    ],
)
def test_indices_match_their_formulas(policy_class, index):
    """Costs given in a unit of 8: the index is that of costs in [1/4, 1]."""
    policy = policy_class(
        2, 2, 160, (2.0, 8.0), alpha=1.5, reward_scale=0.1, cost_scale=0.2, n_init=2
    )
    for reward, cost in (([0.5, 1.0], 4.0), ([0.25, 0.75], 8.0), ([0.75, 0.25], 2.0)):
        policy.tell(policy.ask(), reward, cost)
    n = np.array([2, 1])
    beta = np.sqrt(1.5 * log(81) / n)  # T_B = 20 / 0.25 + 1
    rewards = np.array([[0.625, 0.625], [0.25, 0.75]])  # arms 0, 1, 0 in turn
    costs = np.array([(4 + 2) / 16, 8 / 8])
    upper = np.minimum(1, rewards + 0.1 * beta[:, None])
    lower = np.maximum(1 / 8, costs - 0.2 * beta)
    assert policy.radius == pytest.approx(beta, rel=1e-12)
    assert policy.optimistic_rewards == pytest.approx(upper, rel=1e-12)
    assert policy.normalised_optimistic_costs == pytest.approx(lower, rel=1e-12)
    assert policy.cost_ratio == 0.25
    # in the user's unit
    assert policy.mean_costs == pytest.approx(8 * costs) == policy.expected_costs
    assert policy.index() == pytest.approx(index(upper, lower), rel=1e-12)


@every_policy
@pytest.mark.parametrize("n_arms", [2, 5])
def test_identical_arms_share_the_pulls(policy_class, n_arms):
    """Ties go to the lowest number, so equal arms alternate; no radius is clipped."""
    policy = policy_class(n_arms, 2, 10 * n_arms + 1, (1, 1), **SMALL_RADII)
    arms = run(policy, noise_free(np.full((n_arms, 2), 0.5), np.ones(n_arms)))
    assert arms == (list(range(n_arms)) * 11)[: 10 * n_arms + 1]


# Protocol.


@every_policy
@pytest.mark.parametrize("cost", [2.5, 0.25], ids=["above", "below"])
def test_cost_outside_the_range_is_charged_and_warns_once(policy_class, cost):
    policy = policy_class(2, 1, 100, (0.5, 2.0))
    with pytest.warns(GuaranteeWarning) as caught:
        for _ in range(5):
            policy.tell(policy.ask(), [0.5], cost)
    # it points at the caller, once
    assert [warning.filename for warning in caught] == [__file__]
    assert all(part in str(caught[0].message) for part in (str(cost), "[0.5, 2]"))
    assert policy.spent == 5 * cost


@every_policy
def test_costs_at_the_ends_of_the_range_do_not_warn(policy_class):
    policy = policy_class(2, 1, 100, (0.1 * 3, 0.7 * 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cost in (0.3, 2.1):
            policy.tell(policy.ask(), [0.5], cost)


def test_crossing_pull_is_charged_and_ends_the_run():
    policy = cb.CoHVUCB(2, 1, 3.0, (0.5, 2.0), expected_costs=[1.0, 1.0])
    for cost in (1.5, 2.0):
        policy.tell(policy.ask(), [0.5], cost)
    assert (policy.spent, policy.ask(), policy.pulls.tolist()) == (3.5, None, [1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_selection_among_all_arms_is_algorithm_1(seed):
    rng = np.random.default_rng(seed)
    K, D, lam = (
        int(rng.integers(2, 7)),
        int(rng.integers(1, 4)),
        float(rng.uniform(0.05, 0.5)),
    )
    budget, alpha = float(rng.uniform(K, 40 * K)), 10 ** rng.uniform(-3, 0.5)
    length = ceil(budget / lam) + 2
    rewards, costs = rng.beta(2, 2, (K, length, D)), rng.uniform(lam, 1, (K, length))
    policy = cb.CoHVUCB(K, D, budget, (lam, 1.0), alpha=alpha, selection="all")
    arms = run(
        policy,
        lambda arm: (rewards[arm, policy.pulls[arm]], costs[arm, policy.pulls[arm]]),
    )
    assert arms == algorithm_1(rewards.tolist(), costs.tolist(), budget, lam, alpha)
    # the last pull crosses, is charged, and ends it
    assert budget < policy.spent <= budget + costs.max()
    assert policy.ask() is None and not policy.eligible.any()


# Recommendation.


@every_policy
def test_most_efficient_arm_so_far_is_recommended(policy_class):
    policy = policy_class(3, 2, 100, (2.0, 8.0))
    assert policy.recommend() is None
    policy.tell(policy.ask(), [0.5, 0.0], 2.0)
    first = policy.recommend()
    # the only one that was pulled
    assert (first.arm, first.pulls, first.efficiency) == (0, 1, 0.0)
    policy.tell(policy.ask(), [0.75, 0.5], 8.0)
    policy.tell(policy.ask(), [0.75, 0.25], 4.0)
    best = policy.recommend()  # arms 1 and 2 tie at 0.046875
    assert (best.arm, best.pulls, best.mean_cost, best.efficiency) == (
        1,
        1,
        8.0,
        0.375 / 8,
    )
    assert best.mean_rewards.tolist() == [0.75, 0.5]


# Arguments.

GOOD = {"n_arms": 3, "n_objectives": 2, "budget": 10.0, "cost_range": (0.5, 2.0)}
NAN, INF = float("nan"), float("inf")
BAD = {
    "n_arms": [1, 0, 2.5, "3", None],
    "n_objectives": [0, -1, 1.5],
    "budget": [0, -1, NAN, INF, "much"],
    "cost_range": [
        *((0, 1), (2, 1), (-1, 1), (NAN, 1), (1, INF)),
        *((1,), (1, 2, 3), 1.0, None, "ab", ((1, 2),), (1, (2, 3))),
    ],
    "alpha": [0, -1, NAN, INF],
    "reward_scale": [-0.1, NAN, INF],
    "cost_scale": [-0.1, NAN, INF],
    "n_init": [0, -1, 1.5],
    "selection": ["", "printed", None],
    "expected_costs": [(1, 1), (1, 1, 0), (1, 1, NAN), (1, 1, 3), (0.1, 1, 1), 1.0],
}


@pytest.mark.slow
@every_policy
@pytest.mark.parametrize(
    "bad", [{key: value} for key, values in BAD.items() for value in values], ids=str
)
def test_invalid_arguments_are_refused(policy_class, bad):
    with pytest.raises(CobanditError):
        policy_class(**GOOD | bad)


def test_signatures_list_forwarded_arguments():
    """Options and `spec` read them: the parent's arguments first, and each once."""
    parents = list(inspect.signature(cb.CoHVUCB).parameters)
    assert (
        parents[:4] == ["n_arms", "n_objectives", "budget", "cost_range"]
        and "selection" in parents
    )
    assert list(inspect.signature(cb.CoHVUCBV).parameters) == parents
    assert sorted(inspect.signature(cb.AccuracyCostUCB).parameters) == sorted(
        [*parents, "objective"]
    )

    class Impatient(cb.AccuracyCostUCB):
        def __init__(self, patience, *, n_init=2, **options):
            super().__init__(n_init=n_init, **options)
            self.patience = patience

    parameters = inspect.signature(Impatient).parameters
    assert sorted(parameters) == sorted([*parents, "objective", "patience"])
    assert next(iter(parameters)) == "patience" and parameters["n_init"].default == 2
    options = Impatient(3, **GOOD).options
    assert options["patience"] == 3 and Impatient(**options).options == options


@pytest.mark.parametrize(
    ("objective", "code"),
    [
        (-1, "out-of-range"),
        (2, "out-of-range"),
        (0.5, "not-a-whole-number"),
        ("accuracy", "not-a-whole-number"),
    ],
)
def test_invalid_objective_is_refused(objective, code):
    with bad_argument(code, "objective"):
        cb.AccuracyCostUCB(**GOOD, objective=objective)
