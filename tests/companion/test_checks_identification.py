"""Checks of the identification theory, against slow twins and in small."""

from itertools import permutations, product
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from support.asking import brute_force_constant, noise_free, run
from support.faults import bad_argument
from support.strategies import cost_vectors, mean_matrices

import cobandit as cb
from cobandit import dominance, theory
from cobandit.errors import CobanditError
from cobandit.problem import Problem
from companion import bounds
from companion.proofs import (
    allocation,
    concentration,
    exact_errors,
    misclassification,
    simulated_errors,
    standard_regret,
)

costs_of = st.integers(2, 6).flatmap(cost_vectors)


@pytest.mark.slow
@given(costs_of)
def test_exact_constant_is_the_maximum_over_all_orders(costs):
    exact = theory.exact_allocation_constant(costs)
    assert exact == pytest.approx(brute_force_constant(costs), rel=1e-12)
    assert exact == theory.exact_allocation_constant(7 * costs)


@pytest.mark.slow
@given(costs_of)
def test_constants_are_ordered(costs):
    of = allocation.constants(costs)
    needed = bounds.needed_allocation_constant(len(costs), of["lambda"])
    logarithmic = 1 + np.log(costs.sum() / np.sort(costs)[:2].sum())
    assert 1 <= of["exact"] <= min(needed, logarithmic) * (1 + 1e-12)
    assert of["published"] - needed == pytest.approx(1 / (1 + of["lambda"]))


@pytest.mark.parametrize("n_arms", [2, 3, 10])
def test_needed_constant_at_equal_costs_is_psi_sr_constant(n_arms):
    log_bar = 0.5 + sum(1 / i for i in range(2, n_arms + 1))
    assert bounds.needed_allocation_constant(n_arms, 1.0) == pytest.approx(log_bar)
    assert theory.exact_allocation_constant(np.ones(n_arms)) == pytest.approx(log_bar)


@pytest.mark.slow
@given(costs_of, st.floats(1, 300))
def test_spending_equals_the_spend_of_the_class(costs, rounds):
    """Without noise, the worst arm is easiest to classify and is removed first."""
    ladder = 2.0 ** -np.arange(len(costs))[::-1][:, None]  # the first arm is the worst
    budget = (
        rounds
        * theory.allocation_constant(len(costs), costs.min() / costs.max())
        * costs.sum()
    )
    finder = cb.CoPSI(costs, budget, 1)
    run(finder, noise_free(ladder, costs))
    removed_arms = [phase.removed for phase in finder.phases]
    order = [*removed_arms, *(set(range(len(costs))) - set(removed_arms))]
    spent = allocation.spending(costs[order], budget, finder.allocation_constant)
    assert finder.spent == pytest.approx(spent, rel=1e-9)


@pytest.mark.slow
def test_no_order_overspends_and_dearest_first_spends_most():
    trials = allocation.spending_trials(3000, seed=1)
    assert len(trials) >= 9000 and set(trials["order"]) == set(allocation.ORDERS)
    assert (trials["spent"] <= trials["ceiling"] * (1 + 1e-9)).all()
    assert (
        trials["ceiling"] <= 1 - 1 / (trials["n_arms"] * 2)
    ).all()  # the term of l = 2, at least 1/2 of L <= K
    assert (trials["spent_exact"] <= 1 + 1e-9).all()
    spread = allocation.random_costs(np.random.default_rng(0), 50, 6)

    # without floors, which a large budget makes small, the constant is attained
    for costs in spread:
        exact = theory.exact_allocation_constant(costs)
        spends = {
            order: float(allocation.spending(np.array(order), 1e9, exact))
            for order in permutations(costs)
        }
        assert spends[tuple(np.sort(costs)[::-1])] == pytest.approx(1e9, rel=1e-4)
        assert max(spends.values()) <= 1e9 * (1 + 1e-9)


@pytest.mark.slow
@given(mean_matrices())
def test_gap_terms_give_the_gaps(means):
    terms = pd.DataFrame(dominance.gap_terms(means))
    assert np.array_equal(terms["gap"], cb.classification_gaps(means))
    assert np.array_equal(terms["front"], cb.pareto_mask(means))
    assert misclassification.gap_bounds_hold(means)


@pytest.mark.slow
@given(st.integers(2, 20), st.floats(0.01, 0.5), st.randoms(use_true_random=False))
def test_least_informative_rounds_of_theorem_2(n_arms, gap, random):
    """No costs or gaps make the bound informative earlier; equal costs attain it."""
    costs = np.array([random.uniform(0.05, 1) for _ in range(n_arms)])
    gaps = np.array([gap, gap, *(random.uniform(gap, 1) for _ in range(n_arms - 2))])
    starts = bounds.identification_budget(
        1.0,
        n_arms=n_arms,
        n_objectives=2,
        cost_ratio=costs.min() / costs.max(),
        complexity=theory.cost_complexity(gaps, costs),
    )
    earliest = exact_errors.least_informative_rounds(n_arms, 2, gap)
    assert earliest <= starts / costs.sum() * (1 + 1e-9)
    if n_arms == 2:
        equal = theory.cost_complexity(gaps, [1.0, 1.0])
        exact = bounds.identification_budget(
            1.0, n_arms=2, n_objectives=2, cost_ratio=1.0, complexity=equal
        )
        assert earliest == pytest.approx(exact / 2)


@pytest.mark.slow
@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=6),
    st.randoms(use_true_random=False),
)
def test_costs_change_complexities(gaps, random):
    costs = np.array([random.uniform(0.1, 1) for _ in gaps])
    shuffled = costs.tolist()
    random.shuffle(shuffled)
    assert theory.cost_complexity(gaps, shuffled) == pytest.approx(
        theory.cost_complexity(gaps, costs)
    )
    equal = theory.cost_complexity(gaps, np.full(len(gaps), 0.3))
    assert equal == pytest.approx(
        0.3 * (np.arange(1, len(gaps) + 1) / np.sort(gaps) ** 2).max()
    )
    by_hand = sum(c / g**2 for c, g in zip(costs, gaps, strict=True))
    assert bounds.summed_complexity(gaps, costs) == pytest.approx(by_hand)

    # the sum with the most expensive arms hardest is within a harmonic number of the
    # maximum
    dearest_hardest = bounds.summed_complexity(np.sort(gaps), np.sort(costs)[::-1])
    harmonic = 1 + sum(1 / k for k in range(2, len(gaps) + 1))
    assert dearest_hardest <= theory.cost_complexity(gaps, costs) * harmonic * (
        1 + 1e-9
    )


@pytest.mark.slow
@given(mean_matrices())
def test_elimination_without_errors_returns_the_pareto_set(means):
    assume(cb.classification_gaps(means).min() > 0)
    returned, order = misclassification.eliminate(
        len(means), misclassification.misread(means)
    )
    assert np.array_equal(returned, cb.pareto_mask(means))
    finder = cb.CoPSI(np.ones(len(means)), 20.0 * len(means) ** 2, means.shape[1])
    run(finder, noise_free(means, np.ones(len(means))))
    assert [phase.removed for phase in finder.phases] == order


def test_gap_without_second_term_misleads_at_known_means():
    means = [[0.9, 0.6], [0.5, 0.55], [0.2, 0.9]]
    truth = cb.pareto_mask(means)
    assert np.array_equal(
        misclassification.eliminate(len(means), misclassification.misread(means))[0],
        truth,
    )
    returned, order = misclassification.eliminate(
        len(means), misclassification.misread(means), misclassification.one_term_gaps
    )
    assert order[0] == 0 and returned[1] and not truth[1]


def eliminated_by_hand(means, errors):
    """Run gap elimination by definition: the twin of `misclassification.eliminate`."""
    active = set(range(len(means)))
    returned = set()
    for error in errors:
        observed = means + error

        def m(i, j, observed=observed):
            return min(observed[j] - observed[i])

        others = {i: active - {i} for i in active}
        minus = {i: max(m(i, j) for j in others[i]) for i in active}
        gaps = {
            i: (
                minus[i]
                if minus[i] > 0
                else min(
                    min(-m(i, j), max(-m(j, i), 0) + max(minus[j], 0))
                    for j in others[i]
                )
            )
            for i in active
        }
        leaves = max(active, key=lambda i: (gaps[i], minus[i] > 0))
        active.remove(leaves)
        returned |= {leaves} if minus[leaves] <= 0 else set()
    return returned | active


@pytest.mark.slow
def test_elimination_matches_its_definition():
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        family = misclassification.FAMILIES[seed % 3]
        means = misclassification.random_means(
            rng, family, int(rng.integers(2, 7)), int(rng.integers(1, 4))
        )
        sizes = rng.uniform(0, 0.6) * np.sort(cb.classification_gaps(means))[:0:-1]
        errors = [
            misclassification.adverse_errors(rng, means.shape, x, bool(seed // 3 % 2))
            for x in sizes
        ]
        assert all(
            np.abs(error).max() <= size
            for error, size in zip(errors, sizes, strict=True)
        )
        returned, _ = misclassification.eliminate(
            len(means), misclassification.misread(means, errors)
        )
        assert set(np.flatnonzero(returned).tolist()) == eliminated_by_hand(
            means, errors
        )
        wrong += not np.array_equal(returned, cb.pareto_mask(means))

    assert wrong > 10  # errors of that size do mislead


@pytest.mark.slow
def test_lemma_2_holds_within_its_share():
    """No set is wrong up to the sharp share; many are at large shares."""
    safe = misclassification.PAPER_SHARE
    unsafe = 0.5
    shares = (safe, misclassification.SHARP_SHARE - 1e-6, unsafe)
    wrong = misclassification.lemma_trials(1600, seed=3, shares=shares)
    assert wrong[0] == wrong[1] == 0 < wrong[2]


@pytest.mark.parametrize(
    ("share", "right"), [(1 / 16, True), (0.1249, True), (0.1251, False), (0.2, False)]
)
def test_sharp_example_misleads_just_above_one_eighth(share, right):
    means, errors = misclassification.sharp_example(share)
    largest = cb.classification_gaps(means).max()
    assert np.abs(errors).max() == pytest.approx(share * largest)
    assert means.min() >= 0 and means.max() <= 1
    returned, _ = misclassification.eliminate(
        6, misclassification.misread(means, [errors])
    )
    assert np.array_equal(returned, cb.pareto_mask(means)) == right


@pytest.mark.slow
def test_search_converges_to_the_sharp_example_from_above():
    matched, start, improvements = misclassification.local_search(400, seed=1)
    assert 1 / 8 < matched < 0.127 and improvements > 10
    blunt, errors = misclassification.sharp_example(0.2, margin=2.0)
    for share in (0.999 * start, 1.001 * start):
        assert misclassification.misleads(blunt, np.sign(errors), share) == (
            share > start
        )


@pytest.mark.parametrize(
    ("steps", "chances", "width"),
    [
        ([0, 1], [0.7, 0.3], 0.3),
        ([-1, 0, 1], [0.2, 0.3, 0.5], 0.3),
        ([2, 5], [0.5, 0.5], 0.9),
    ],
)
def test_leaving_probability_matches_enumeration_of_paths(steps, chances, width):
    first = 3
    last = 6
    mean = np.dot(steps, chances)

    ever = 0.0
    at_first = 0.0
    for path in product(range(len(steps)), repeat=last):
        weight = np.prod([chances[s] for s in path])
        means = np.cumsum([steps[s] for s in path]) / np.arange(1, last + 1)
        is_off = np.abs(means - mean)[first - 1 :] >= width - 1e-12
        ever = ever + weight * is_off.any()
        at_first = at_first + weight * is_off[0]

    matches = [
        concentration.leaving_from(steps, chances, first, width, end)
        for end in (last, first)
    ]
    assert matches == pytest.approx([ever, at_first])
    assert 0 < at_first < ever < 1


@pytest.mark.parametrize(
    ("mean", "first", "width"), [(0.5, 20, 0.2), (0.3, 50, 0.1), (0.9, 10, 0.3)]
)
def test_time_uniform_bound_holds(mean, first, width):
    ever, bound = concentration.uniform_deviation(mean, first, width)
    outside = [
        n for n in range(first + 1) if abs(n - first * mean) >= first * width - 1e-9
    ]
    assert stats.binom.pmf(outside, first, mean).sum() < ever < min(bound, 1.0)
    assert bound < 10 * ever or mean != 0.5  # coins come close


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-6, 6))
def test_moments_of_differences_are_bounded(p, q, s):
    """Of one pair of coins: the only thing that Ville's inequality asks for."""
    moment = (p * np.exp(s) + 1 - p) * (q * np.exp(-s) + 1 - q) * np.exp(-s * (p - q))
    assert moment <= np.exp(s * s / 4) * (1 + 1e-12)


def bounds_of(problem, budget, allocation):
    """Both sharpened bounds, the one by means and the one by differences."""
    how = {
        "n_arms": problem.n_arms,
        "n_objectives": problem.n_objectives,
        "complexity": problem.complexity,
    }
    return [
        bound(budget, allocation=allocation, **how)
        for bound in (bounds.sharpened_error_bound, bounds.difference_error_bound)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", [0.9, 0.3])
@pytest.mark.parametrize(
    ("method", "allocation"), [("CoPSI", 0), ("CoPSIExact", 1), ("PSISR", 2)]
)
def test_difference_bound_and_its_budget_are_inverse(target, method, allocation):
    """Run 1,000 times at the bound; a false alarm has probability below 1e-6."""
    means = [(0.75, 0.25), (0.25, 0.75), (0.05, 0.05)]
    problem = Problem(means, np.ones(3) if method == "PSISR" else [0.2, 1.0, 0.5])
    constant = (
        theory.allocation_constant(3, 0.2),
        theory.exact_allocation_constant(problem.costs),
        bounds.needed_allocation_constant(3, 1.0),
    )[allocation]
    how = {"n_arms": 3, "n_objectives": 2, "complexity": problem.complexity}
    budget = bounds.difference_error_budget(target, allocation=constant, **how)
    by_means, by_differences = bounds_of(problem, budget, constant)
    assert by_differences == pytest.approx(target) and by_means > 3 * target
    measured = simulated_errors.errors_by_budget(
        problem, [budget + 3], 1000, method=method
    )
    assert measured["errors"][0] <= stats.binom.isf(1e-6, 1000, target)


@pytest.mark.slow
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.integers(1, 400))
def test_difference_bound_holds_exactly_on_two_arms(p, q, pulls):
    better = max(p, q)
    worse = min(p, q)
    assume(better - worse > 1e-3)
    problem = Problem([[better], [worse]], [1.0, 1.0])
    for constant in (1.0, 1.5):
        budget = 2 * constant * pulls
        exact = exact_errors.two_arm_error(better, worse, budget, allocation=constant)
        assert exact <= min(bounds_of(problem, budget, constant))


def test_difference_bound_fails_for_dependent_arms():
    """A coin and its reverse: the difference deviates more often than the bound."""
    ever = concentration.leaving_from([-1, 1], [0.5, 0.5], 50, 0.3, 50)
    assert 2 * np.exp(-50 * 0.3**2) < ever < 2 * np.exp(-50 * 0.3**2 / 2)


@pytest.mark.slow
def test_bernoulli_tables_have_the_given_means():
    for problem in simulated_errors.random_problems(10, seed=5):
        table = simulated_errors.bernoulli_table(problem.means, problem.costs)
        assert table.means == pytest.approx(
            problem.means
        ) and table.costs == pytest.approx(problem.costs)
        assert (
            problem.classification_gaps.min() >= 0.1 - 1e-9 and problem.costs.max() == 1
        )
    with bad_argument("not-multiples", "means"):
        simulated_errors.bernoulli_table([[0.123], [0.5]], [1, 1])


@pytest.mark.slow
def test_decay_rate_and_budget_are_recovered():
    budgets = np.array([100.0, 200.0, 300.0])
    measured = pd.DataFrame(
        {"budget": budgets, "error": 0.8 * np.exp(-0.01 * budgets), "runs": 10_000}
    )
    measured["errors"] = measured["error"] * measured["runs"]
    fit = simulated_errors.decay_rate(measured)
    assert fit["rate"] == pytest.approx(0.01) and fit["low"] < 0.01 < fit["high"]
    with bad_argument("few-budgets", "measured", ["0 budgets"]):
        simulated_errors.decay_rate(measured.assign(error=0.9))
    problem = simulated_errors.random_problems(1, seed=6)[0]
    needed = simulated_errors.budget_for_error(problem, 0.1, 2000)
    value = simulated_errors.errors_by_budget(
        problem, [needed / 1.5, needed, needed * 1.5], 2000, seed=1
    )
    assert (
        value["error"][0] > 0.1 > value["error"][2]
        and abs(value["error"][1] - 0.1) < 0.04
    )


def test_problems_of_fewer_objectives_have_the_same_arms():
    result = simulated_errors.by_objectives(
        4, 4, replications=5, seed=1, n_arms=8, rho=30
    )
    assert (
        result.groupby("problem")["front"]
        .apply(lambda limits: limits.is_monotonic_increasing)
        .all()
    )
    assert result["error"].between(0, 1).all()


@pytest.mark.slow
def test_exact_error_on_two_arms_matches_replays():
    """4,000 runs each; five standard errors, false alarms below 1e-6."""
    problem = Problem([[0.6], [0.45]], [1.0, 1.0])
    for budget in (30.0, 150.0):
        for method, constant in (("CoPSI", 1.5), ("CoPSIAdaptive", 1.0)):
            exact = exact_errors.two_arm_error(0.6, 0.45, budget, allocation=constant)
            measured = simulated_errors.errors_by_budget(
                problem, [budget], 4000, method=method
            )["error"][0]
            assert abs(measured - exact) <= 5 * sqrt(exact * (1 - exact) / 4000)
    for bad in [(0.4, 0.5, 9), (0.5, 0.4, 2), (1.5, 0.5, 9)]:
        with pytest.raises(CobanditError):
            exact_errors.two_arm_error(*bad)


def test_first_phase_error_matches_enumeration():
    """Enumerate all outcomes of three arms with two pulls each."""
    p = 0.7

    q = 0.4
    lost = 0.0
    for outcome in product([0, 1], repeat=6):
        successes = np.array(outcome).reshape(3, 2).sum(axis=1)
        if successes[0] < successes[1:].min():
            hits = np.array(outcome[:2]), np.array(outcome[2:])
            lost += np.prod(np.where(hits[0], p, 1 - p)) * np.prod(
                np.where(hits[1], q, 1 - q)
            )
            finder = cb.CoPSI(np.ones(3), 11.0, 1)  # targets 2 and 3
            while len(finder.phases) == 0:
                arm = finder.ask()
                finder.tell(arm, [outcome[2 * arm + finder.pulls[arm]]])
            assert finder.phases[0].removed == 0 and not finder.phases[0].accepted

    result = exact_errors.first_phase_error(p, q, 3, 11.0, allocation=11 / 6)
    assert result == pytest.approx(lost) and lost > 0.01


@pytest.mark.parametrize("n_arms", [2, 4, 14])
def test_first_phase_errors_fall_at_their_rate(n_arms):
    how = {"allocation": theory.exact_allocation_constant(np.ones(n_arms))}
    scale = n_arms / 0.1**2
    budgets = np.array([200.0, 400.0]) * scale
    errors = [
        exact_errors.first_phase_error(0.55, 0.45, n_arms, budget, **how)
        for budget in budgets
    ]
    falls = -np.diff(np.log(errors))[0] / 200
    rate = exact_errors.first_phase_rate(0.55, 0.45, n_arms, **how)
    assert rate < falls < 1.04 * rate  # powers of the budget go as well

    # from there on the abstract's claim falls with any constant
    assert (rate < 1) == (n_arms > 3)
    limit = exact_errors.first_phase_rate(0.501, 0.499, n_arms, **how)
    assert limit == pytest.approx(
        2 * (n_arms - 1) / (n_arms * how["allocation"]), rel=1e-4
    )


@pytest.mark.slow
@given(st.lists(st.integers(1, 8), min_size=1, max_size=30), st.integers(0, 20))
def test_loop_of_algorithm_1_makes_one_more_pull(costs, budget):
    assume(sum(costs) > budget)
    by_definition, by_loop = standard_regret.completed_pulls(
        np.array(costs) / 8, budget / 8
    )
    assert by_loop == by_definition + 1
    assert sum(costs[:by_definition]) <= budget < sum(costs[:by_loop])


def test_expected_stopping_matches_enumeration():
    """Optional stopping holds for the crossing pull, but not for T(B)."""
    stopped = standard_regret.expected_stopping([1, 3], [0.7, 0.3], budget=4)
    pulls = spend = 0.0
    for costs in product([1, 3], repeat=5):
        chance = 0.7 ** costs.count(1) * 0.3 ** costs.count(3)
        t, _ = standard_regret.completed_pulls(costs, 4)
        pulls = pulls + chance * t
        spend = spend + chance * sum(costs[:t])

    assert (stopped["pulls"], stopped["spend"]) == pytest.approx((pulls, spend))
    assert stopped["crossing_spend"] == pytest.approx(
        stopped["mean_cost"] * stopped["crossing_pulls"]
    )
    assert stopped["spend"] < stopped["mean_cost"] * stopped["pulls"] - 0.1
    with bad_argument("not-a-distribution", "probabilities"):
        standard_regret.expected_stopping([1, 3], [0.7, 0.2], 4)


@pytest.mark.parametrize("n_arms", [2, 3, 6])
def test_psi_sr_targets_at_unit_costs_match_its_bound(n_arms):
    for budget in (n_arms + 1, 37, 500):
        finder = cb.PSISR(np.ones(n_arms), budget, 1)
        assert finder.n_rounds >= budget
        shares = (budget - n_arms) / (
            bounds.needed_allocation_constant(n_arms, 1.0) * np.arange(n_arms, 1, -1)
        )
        assert (finder.targets >= shares * (1 - 1e-9)).all()
