"""Pareto identification: targets, budgets over all orders, protocol, a twin."""

import math
import re
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import forced, noise_free, noisy, run, slack, successive_rejects
from support.strategies import examples, problems

import cobandit as cb
from cobandit.errors import BudgetError, CobanditError, GuaranteeWarning

METHODS = {
    "CoPSI": cb.CoPSI,
    "CoPSIExact": cb.CoPSIExact,
    "CoPSIAdaptive": cb.CoPSIAdaptive,
    "PSISR": cb.PSISR,
    "PSISR-max": lambda *a, **k: cb.PSISR(*a, rounds="max", **k),
    "PSISR-mean": lambda *a, **k: cb.PSISR(*a, rounds="mean", **k),
    "Uniform": cb.UniformIdentification,
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


# Targets and budgets.


def some_costs(n_arms, seed):
    return np.random.default_rng(seed).uniform(0.1, 1.0, n_arms).round(3)


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", [2, 3, 4, 5])
@pytest.mark.parametrize("rho", [2.7, 8.0])
def test_copsi_keeps_its_budget_in_every_order_of_elimination(n_arms, rho):
    """Step 2 of Theorem 2's proof and the targets of Algorithm 2, line 7, by order."""
    costs = some_costs(n_arms, n_arms)
    lam = costs.min() / costs.max()
    L = 1 + sum(1 / (1 + (ell - 1) * lam) for ell in range(2, n_arms + 1))
    budget = rho * costs.sum() * max(1, L / 2.5)
    for order in permutations(range(n_arms)):
        finder = cb.CoPSI(costs, budget, 1)
        run(finder, noise_free(forced(order), costs))
        assert [phase.removed for phase in finder.phases] == list(order[:-1])
        remaining = [sum(costs[i] for i in order[r:]) for r in range(n_arms - 1)]
        targets = [math.floor(budget / (L * cost)) for cost in remaining]
        assert [phase.target for phase in finder.phases] == targets
        assert finder.pulls[list(order)].tolist() == [*targets, targets[-1]]
        assert (
            finder.spent == pytest.approx(finder.pulls @ costs)
            and finder.spent <= budget
        )
        assert finder.recommend().tolist() == [order[-1]]


def test_smaller_lambda_allocates_less():
    """A5: lambda may be any lower bound, a cost here; L_{3, 1/8} = 1 + 8/9 + 4/5."""
    finder = cb.CoPSI([1, 4, 1], 40, 2, min_cost=0.5)
    assert (finder.min_cost, finder.cost_ratio) == (0.5, 1 / 8)
    assert (
        cb.CoPSI([2, 8], 60, 1).cost_ratio
        == cb.CoPSI([2, 8], 60, 1, min_cost=2).cost_ratio
        == 0.25
    )
    # more than 0.3, by rounding
    assert cb.CoPSI([0.3, 0.3], 9, 1, min_cost=0.1 * 3).cost_ratio == 1
    assert finder.allocation_constant == pytest.approx(1 + 8 / 9 + 4 / 5)
    run(
        finder,
        noise_free(np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]), [1, 4, 1]),
    )
    # 40 / (2.689 * 6), 40 / (2.689 * 2)
    assert [phase.target for phase in finder.phases] == [2, 7]


def psi_sr_targets(n_rounds, K):
    log_bar = 0.5 + math.fsum(1 / i for i in range(2, K + 1))
    return [
        math.ceil((n_rounds - K) / (log_bar * (K + 1 - k)) - 1e-9) for k in range(1, K)
    ]


def test_targets_tolerate_only_rounding():
    """L_{2, 1} C = 3: four pulls per arm cost 12, and not a ten-millionth less."""
    for short, target in ((1e-10, 4), (1e-7, 3)):
        finder = cb.CoPSI([1, 1], 12 * (1 - short), 1)
        run(finder, noise_free(forced((0, 1)), [1, 1]))
        assert finder.phases[0].target == target


def spends(n_rounds, costs):
    """Spend of PSI-SR in every order of elimination."""
    targets = psi_sr_targets(n_rounds, len(costs))
    return [
        np.dot(costs[list(order)], [*targets, targets[-1]])
        for order in permutations(range(len(costs)))
    ]


@pytest.mark.parametrize("n_arms", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("rho", [1.0, 3.3, 17.0])
def test_psi_sr_makes_the_most_rounds_affordable_in_every_order(n_arms, rho):
    costs = some_costs(n_arms, 10 + n_arms)
    budget = rho * costs.sum()
    finder = cb.PSISR(costs, budget, 1)
    assert finder.targets.tolist() == psi_sr_targets(finder.n_rounds, n_arms)
    assert (
        max(spends(finder.n_rounds, costs))
        <= slack(budget)
        < max(spends(finder.n_rounds + 1, costs))
    )


@pytest.mark.parametrize(("rounds", "n_rounds"), [("max", 10), ("mean", 20)])
def test_psi_sr_rounds_follow_the_largest_or_mean_cost(rounds, n_rounds):
    finder = cb.PSISR([1, 4, 1], 40, 1, rounds=rounds)
    assert finder.n_rounds == n_rounds
    # the most expensive stays longest
    run(finder, noise_free(forced((0, 2, 1)), [1, 4, 1]))
    assert finder.spent <= 40
    assert finder.pulls.sum() <= n_rounds


def test_psi_sr_by_mean_cost_stops_at_the_budget():
    """20 rounds: targets ceil(17 / 4) = 5 and ceil(17 / (8/3)) = 7, in sum 40."""
    arms = run(
        cb.PSISR([1, 4, 1], 40, 1, rounds="mean"),
        noise_free(forced((0, 2, 1)), [1, 4, 1]),
    )
    assert len(arms) == 19
    # 18 rounds: 5 and 6, hence 5 + 6 * 5.5
    finder = cb.PSISR([1, 4.5, 1], 40, 1, rounds="mean")
    run(finder, noise_free(forced((0, 2, 1)), [1, 4.5, 1]))
    assert finder.spent <= 40 and len(finder.phases) == 2


@pytest.mark.slow
@examples(60)
@given(problems(max_arms=6), st.floats(1, 40))
def test_uniform_makes_complete_rounds(given_problem, rho):
    means, costs = given_problem
    finder = cb.UniformIdentification(costs, rho * costs.sum(), means.shape[1])
    arms = run(finder, noise_free(means, costs))
    assert arms == list(range(len(means))) * math.floor(slack(rho))
    assert finder.recommend().tolist() == np.flatnonzero(cb.pareto_mask(means)).tolist()


def test_uniform_with_realised_costs_compares_equal_counts():
    """A cost of 9 interrupts round three, whose good reward of arm 0 does not count."""
    finder = cb.UniformIdentification([2, 2], 13, 1)
    results = iter([([0.5], 2), ([0.6], 2), ([0.5], 2), ([0.6], 2), ([1.0], 9)])
    while (arm := finder.ask()) is not None:
        finder.tell(arm, *next(results))
    assert finder.pulls.tolist() == [3, 2]
    assert finder.recommend().tolist() == [1]


@every_method
@pytest.mark.parametrize("times", [None, 1.5, 20.0], ids=["", "largest", "much larger"])
def test_smallest_budget_works_exact_and_as_printed(method, times):
    for seed in range(10):
        costs = np.random.default_rng(seed).uniform(0.2, 900.0, 4)
        known = {} if times is None else {"largest_costs": times * costs}
        with pytest.raises(BudgetError) as caught:
            method(costs, 1e-3, 2, **known)
        method(costs, caught.value.smallest, 2, **known)
        method(
            costs,
            float(re.search("at least ([^ ]+) is needed", str(caught.value))[1]),
            2,
            **known,
        )


def test_smallest_budgets_match_their_formulas():
    smallest = []
    for method in METHODS.values():
        with pytest.raises(BudgetError) as caught:
            method([1.0, 4.0, 1.0], 0.01, 1)
        smallest.append(caught.value.smallest)
    assert smallest == pytest.approx([37 / 15 * 6, 10, 10, 6, 16, 8, 6])


# Results.


@pytest.mark.parametrize("seed", range(20))
def test_one_objective_is_best_arm_identification(seed):
    """If D = 1, the worst arm has the largest gap: successive rejects."""
    rng = np.random.default_rng(seed)
    K, n_rounds = int(rng.integers(2, 10)), int(rng.integers(20, 300))
    # continuous: no ties
    rewards = rng.beta(2, rng.uniform(1, 4, (K, 1)), (K, n_rounds))
    arms, best = successive_rejects(rewards.tolist(), n_rounds)
    finder = cb.PSISR(np.ones(K), n_rounds, 1, rounds="mean")
    assert run(finder, lambda arm: (rewards[arm, finder.pulls[arm], None], 1.0)) == arms
    assert finder.recommend().tolist() == [best]


@pytest.mark.slow
@every_method
@examples(40)
@given(problems(max_arms=7))
def test_noiseless_feedback_gives_the_pareto_set(method, given_problem):
    means, costs = given_problem
    finder = method(costs, 60 * costs.sum(), means.shape[1])
    run(finder, noise_free(means, costs))
    assert finder.recommend().tolist() == np.flatnonzero(cb.pareto_mask(means)).tolist()


@every_method
@pytest.mark.parametrize(("n_arms", "n_objectives"), [(2, 1), (2, 3), (6, 2)])
def test_identical_arms_are_all_recommended(method, n_arms, n_objectives):
    finder = method(np.ones(n_arms), 20.0 * n_arms, n_objectives)
    run(finder, noise_free(np.full((n_arms, n_objectives), 0.3), np.ones(n_arms)))
    assert finder.recommend().tolist() == list(range(n_arms))
    # lowest number first
    assert [phase.removed for phase in finder.phases] in ([], list(range(n_arms - 1)))


@pytest.mark.parametrize(("extra", "removed"), [(0.0, 2), (2e-11, 2), (1e-9, 3)])
def test_gap_ties_go_to_dominated_arms_then_to_the_lowest_number(extra, removed):
    """All gaps are about 1/4, those of 1 and 3 larger; 0 dominates 2, 1 dominates 3."""
    means = np.array(
        [[0.75, 0.25], [0.25 + extra, 0.75 + extra], [0.5, 0.0], [0.0, 0.5]]
    )
    finder = cb.CoPSI(np.ones(4), 400, 2)
    run(finder, noise_free(means, np.ones(4)))
    first = finder.phases[0]
    assert first.gaps == pytest.approx(
        [0.25, 0.25 + extra, 0.25, 0.25 + extra], rel=1e-13
    )
    assert (first.removed, first.accepted) == (removed, False)


@pytest.mark.slow
@examples(40)
@given(
    problems(max_arms=6, max_objectives=3),
    st.integers(0, 10**6),
    st.sampled_from([cb.CoPSI, cb.PSISR]),
)
def test_phases_record_the_run(given_problem, seed, method):
    means, costs = given_problem
    K = len(means)
    finder = method(costs, 30 * costs.sum(), means.shape[1])
    observed, counted = [[] for _ in range(K)], noisy(means, costs, seed)

    def feedback(arm):
        reward, cost = counted(arm)
        observed[arm].append(reward)
        return reward, cost

    run(finder, feedback)
    assert [phase.phase for phase in finder.phases] == list(range(1, K))
    active, accepted = list(range(K)), []
    for phase in finder.phases:
        assert phase.active.tolist() == active and phase.removed in active
        so_far = np.array(
            [np.mean(observed[arm][: phase.target], axis=0) for arm in active]
        )
        assert phase.means == pytest.approx(so_far)
        assert phase.gaps == pytest.approx(cb.classification_gaps(phase.means))
        place = active.index(phase.removed)
        assert phase.gaps[place] >= phase.gaps.max() * (1 - 1e-10) - 1e-12
        assert phase.accepted == cb.pareto_mask(phase.means)[place]
        accepted += [phase.removed] * phase.accepted
        active.remove(phase.removed)
    assert finder.recommend().tolist() == sorted([*accepted, *active])


def test_interrupted_run_recommends_accepted_arms_and_the_active_front():
    """Arm 0 is accepted; a charge of 100 then ends the run, where 1 dominates 2."""
    means = np.array([[1.0, 0.1], [0.4, 0.5], [0.3, 0.4], [0.1, 0.6]])
    finder = cb.CoPSI(np.ones(4), 60, 2)
    while (arm := finder.ask()) is not None:
        finder.tell(arm, means[arm], 100 if finder.phases else None)
    assert [(phase.removed, phase.accepted) for phase in finder.phases] == [(0, True)]
    assert finder.recommend().tolist() == [0, 1, 3]


def test_arms_without_an_evaluation_are_not_recommended():
    finder = cb.CoPSI(np.ones(3), 30, 1)
    assert finder.recommend().tolist() == []
    finder.tell(finder.ask(), [0.0], 1000)
    assert finder.ask() is None and finder.recommend().tolist() == [0]


# Protocol.


@every_method
def test_cost_above_the_declared_mean_does_not_warn(method):
    finder = method([1.0, 1.0], 60.0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finder.tell(finder.ask(), [0.5], 1.5)
    assert finder.spent == 1.5


@every_method
def test_cost_above_the_largest_is_charged_and_warns_once(method):
    finder = method([1.0, 1.0], 60.0, 1, largest_costs=[1.2, 1.2])
    with pytest.warns(GuaranteeWarning) as caught:
        for cost in (0.5, 1.5, 1.5, 1.0):
            finder.tell(finder.ask(), [0.5], cost)
    # it points at the caller, once
    assert [warning.filename for warning in caught] == [__file__]
    assert all(number in str(caught[0].message) for number in ("1.5", "1.2"))
    assert finder.spent == 4.5


NAN, INF = float("nan"), float("inf")
GOOD = {"costs": [1.0, 2.0, 1.0], "budget": 60.0, "n_objectives": 2, "min_cost": None}
BAD = {
    "costs": [
        [1.0],
        [],
        [1, 0, 1],
        [1, -1, 1],
        [1, NAN, 1],
        [1, INF, 1],
        1.0,
        "abc",
        [[1, 1]],
        None,
    ],
    "budget": [0, -1, NAN, INF, "much", None],
    "n_objectives": [0, -1, 1.5, "2"],
    "min_cost": [0, -1, NAN, INF, 1.5, "low"],
}


@every_method
@pytest.mark.parametrize(
    "bad", [{key: value} for key, values in BAD.items() for value in values], ids=str
)
def test_invalid_arguments_are_refused(method, bad):
    with pytest.raises(CobanditError):
        method(**GOOD | bad)
