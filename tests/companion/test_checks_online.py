"""Checks of the online proofs, against slow twins and by hand, and in small.

Seeds are fixed, so nothing here is flaky.  The false-alarm rate that a test states is
the probability, over the choice of its seed, that it fails although all is well.
"""

import math
from itertools import product
from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.faults import bad_argument

import cobandit as cb
from cobandit import theory
from cobandit.problem import Problem
from companion import bounds
from companion.proofs import concentration, growth, pulls, standard_regret, worst_paths
from companion.proofs import known_arms as known

MEANS = [[0.75, 0.75], [0.25, 0.25], [0.5, 0.25]]
COSTS = [0.75, 0.5, 0.6]


@pytest.fixture(scope="module")
def arms():
    return known.designed_arms(MEANS, COSTS, spread=0.25)


@pytest.fixture(scope="module")
def runs(arms):
    """Constants alpha from too small ones, where the event fails, to the theorem's."""
    return {
        alpha: pulls.run_cohv(arms, 400.0, 400, alpha=alpha, seed=3)
        for alpha in (0.01, 0.05, 0.2, 2.0)
    }


def test_designed_arms_have_the_requested_means(arms):
    assert arms.problem.means == pytest.approx(np.array(MEANS))
    assert arms.problem.costs == pytest.approx(COSTS)
    assert arms.cost_ratio == pytest.approx(0.375)
    assert set(np.unique(arms.rows[:, 1:])) == {0.0, 1.0}


def test_arms_of_table_are_its_evaluation_split():
    table = cb.load("synthetic-24")
    arms = known.arms_of_table(table)
    assert arms.problem.means == pytest.approx(table.problem.means)
    assert arms.rows[:, 0].max() == 1 and arms.rows[:, 0].min() == arms.cost_ratio


@pytest.mark.parametrize(
    ("change", "code", "argument"),
    [
        ({"means": [[0.3333], [0.5]]}, "not-multiples", "means"),
        ({"means": [[1.25], [0.5]]}, "not-multiples", "means"),
        ({"spread": 0.5, "costs": [0.9, 0.5]}, "out-of-range", "costs"),
    ],
)
def test_designed_arms_refuse_invalid_means(change, code, argument):
    arguments = {"means": [[0.5], [0.25]], "costs": [0.5, 0.5]} | change
    with bad_argument(code, argument):
        known.designed_arms(**arguments)


def test_arms_of_outcomes_refuse_costs_below_lambda():
    with bad_argument("out-of-range", "costs", ["0.6"]):
        known.arms_of_outcomes([[[0.5, 1.0]], [[0.5, 0.0]]], cost_ratio=0.6)


def test_runs_make_the_same_pulls_as_the_class(arms):
    """The class gets the same draws; costs of lambda keep all arms affordable."""
    budget = 60.0
    run = pulls.run_cohv(arms, budget, 5, alpha=0.3, seed=7)
    for r, child in enumerate(np.random.SeedSequence(7).spawn(5)):
        rng = np.random.default_rng(child)
        policy = cb.CoHVUCB(
            3,
            2,
            budget,
            (arms.cost_ratio, 1.0),
            alpha=0.3,
            expected_costs=[arms.cost_ratio] * 3,
        )
        counted = np.zeros(3, dtype=int)
        spent = 0.0
        while (arm := policy.ask()) is not None:
            first = arms.offsets[arm]
            last = arms.offsets[arm + 1]
            cost, *reward = arms.rows[first + int(rng.random() * (last - first))]
            policy.tell(arm, reward, cost)
            if policy.spent <= budget:
                counted[arm] += 1
                spent = policy.spent
        if policy.spent > budget:
            assert (run.last_arm[r], run.last_cost[r]) == (
                arm_of(policy, counted),
                pytest.approx(cost),
            )
            assert (run.pulls[r] == counted).all()
            assert run.spent[r] == pytest.approx(spent)
        else:
            # the class stops where not even lambda fits, before the pull that crosses
            assert budget - policy.spent < arms.cost_ratio
            assert (run.pulls[r] == counted).all()


def arm_of(policy, counted):
    return int((policy.pulls - counted).argmax())


def test_runs_do_not_depend_on_their_number(arms):
    few, many = (pulls.run_cohv(arms, 50.0, n, seed=1) for n in (2, 4))
    assert (few.pulls == many.pulls[:2]).all() and (
        few.optimism == many.optimism[:2]
    ).all()


def test_runs_need_a_budget_for_one_pull_per_arm(arms):
    with bad_argument("small-budget", "budget", ["2.3125"]):
        pulls.run_cohv(arms, 2.0, 1)


def test_runs_end_at_the_first_unaffordable_pull(runs):
    for run in runs.values():
        assert (run.spent <= 400.0 * (1 + 1e-9)).all() and (
            run.spent + run.last_cost > 400.0
        ).all()


@pytest.mark.parametrize("mean", [0.5, 0.2])
def test_one_sided_leaving_probability_matches_all_paths(mean):
    T = 9

    alpha = 0.4
    total = {1: 0.0, 2: 0.0}
    for path in product([0, 1], repeat=T):
        deviation = [sum(path[:s]) / s - mean for s in range(1, T + 1)]
        weight = mean ** sum(path) * (1 - mean) ** (T - sum(path))
        radii = [sqrt(alpha * log(T) / s) for s in range(1, T + 1)]
        total[1] += weight * any(d > b for d, b in zip(deviation, radii, strict=True))
        total[2] += weight * any(
            abs(d) > b for d, b in zip(deviation, radii, strict=True)
        )

    for sides, exact in total.items():
        assert concentration.leaving_probability(
            T, alpha, mean=mean, sides=sides
        ) == pytest.approx(exact)

    assert 0 < total[1] <= total[2] < 1


@pytest.mark.slow
@pytest.mark.parametrize("T", [10, 100, 1000])
@pytest.mark.parametrize("alpha", [0.51, 1.0, 2.0])
def test_step_1_holds_for_one_coordinate(T, alpha):
    for mean in (0.5, 0.1):
        assert concentration.leaving_probability(T, alpha, mean=mean) <= 2 * T ** (
            1 - 2 * alpha
        )
        assert concentration.leaving_probability(T, alpha, mean=mean, sides=1) <= T ** (
            1 - 2 * alpha
        )


def test_optimism_holds_on_the_event_only(runs):
    on_event = np.concatenate([run.on_event() for run in runs.values()])
    optimism_of = np.concatenate([run.optimism for run in runs.values()])
    assert on_event.sum() > 400 and (~on_event).sum() > 100
    assert (optimism_of[on_event] >= -1e-9).all()
    # so that the check above could have failed
    assert (optimism_of[~on_event] < -1e-9).sum() > 10


def test_index_bound_holds_on_the_event(runs):
    for run in runs.values():
        assert (run.closest[run.on_event()] <= 1).all()


def test_index_at_equals_the_index_of_the_class():
    policy = cb.CoHVUCB(2, 2, 10.0, (0.25, 1.0))
    for reward, cost in (([0.5, 1.0], 0.5), ([0.25, 0.0], 1.0)):
        policy.tell(policy.ask(), reward, cost)
    for arm, (reward, cost) in enumerate([([0.5, 1.0], 0.5), ([0.25, 0.0], 1.0)]):
        assert worst_paths.index_at(
            reward, cost, policy.radius[arm], floor=0.125
        ) == pytest.approx(policy.index()[arm])


def test_runs_on_the_needed_event_keep_all_bounds(arms, runs):
    """The bounds hold in each run on the event, and a run off the event breaks one."""
    problem = arms.problem
    broken = 0
    for alpha, run in runs.items():
        T = theory.horizon(400.0, arms.cost_ratio)
        failures = 2 * 3 * T ** (2 - 2 * alpha)  # 2 (D + 1) T_B^(2 - 2 alpha)
        on_event = run.on_needed_event(problem.best_arm)
        for i in np.flatnonzero(problem.efficiency_gaps > 0).tolist():
            all_bounds = pulls.pull_bounds(
                problem, i, cost_ratio=arms.cost_ratio, budget=400.0, alpha=alpha
            )
            for name in ("lean", "instance", "threshold"):
                maximum = all_bounds[name] - failures + 1e-6
                assert (run.pulls[on_event[:, i], i] <= maximum).all()
                broken += int((run.pulls[~on_event[:, i], i] > maximum).sum())

    assert broken > 10


@pytest.mark.slow
@given(
    st.integers(1, 4).flatmap(lambda D: st.tuples(*[st.floats(0, 1)] * D)),
    st.floats(0.02, 1),
    st.floats(0.02, 1),
    st.floats(1.01, 20),
    st.sampled_from([1.0, 1.5, 2.0]),
)
def test_bounds_are_ordered(means, a, b, better, alpha):
    """Split <= threshold <= instance <= lean <= Theorem 1."""
    lam, mean_cost = sorted((a, b))
    D = len(means)
    efficiency = np.prod(means) / mean_cost
    best = min(efficiency * better + 0.01, 1 / lam)
    gap = best - efficiency
    if gap < 1e-3:
        return

    how = {"cost_ratio": lam, "budget": 1e5, "alpha": alpha}
    split = bounds.split_pull_bound(means, mean_cost, best, **how)
    radius = bounds.threshold_radius(means, mean_cost, best, cost_ratio=lam)
    tight = bounds.radius_pull_bound(radius, n_objectives=D, **how)
    linear = bounds.instance_pull_bound(gap, mean_cost, best, n_objectives=D, **how)
    lean = bounds.lean_pull_bound(gap, n_objectives=D, **how)
    paper = theory.pull_bound(gap, n_arms=2, n_objectives=D, **how)
    assert (
        split <= tight <= linear * (1 + 1e-6) <= lean * (1 + 1e-6) <= paper * (1 + 1e-5)
    )
    failures = 2 * (D + 1) * theory.horizon(1e5, lam) ** (2 - 2 * alpha)
    assert linear - failures - 1 <= (paper - failures) / 16 + 1


@given(st.floats(0.05, 0.9), st.floats(0.1, 1), st.floats(0.02, 3))
def test_threshold_radius_solves_its_equation(mean, mean_cost, gap):
    lam = 0.1
    best = mean / mean_cost + gap
    if best > 1 / lam:
        return
    radius = (
        bounds.threshold_radius([mean, mean], mean_cost, best, cost_ratio=lam)
        if mean * mean
        else 1.0
    )
    value = min(1, mean + 2 * radius) ** 2 / max(lam / 2, mean_cost - 2 * radius)
    assert value == pytest.approx(best, rel=1e-6)


def exact_pulls(better, worse, budget, alpha):
    """Return expected pulls of the worse of two coins, over all states."""
    T = theory.horizon(budget, 1.0)

    def index(n):
        radius = sqrt(alpha * log(T) / n)
        return np.minimum(1.0, np.arange(n + 1) / n + radius) / max(0.5, 1 - radius)

    # chances[n][s, t]: n pulls of the worse arm with t successes, all others of the
    # better with s
    chances = {1: np.outer([1 - better, better], [1 - worse, worse])}
    for pulled in range(2, int(budget)):
        after = {}
        for n, now in chances.items():
            m = pulled - n
            worse_next = index(n) > index(m)[:, None]
            for chosen, mean, axis, key in (
                (~worse_next, better, 0, n),
                (worse_next, worse, 1, n + 1),
            ):
                mass = now * chosen
                grown = [
                    np.pad(mass, [(0, 1), (0, 0)] if axis == 0 else [(0, 0), (0, 1)])
                ]
                grown.append(
                    np.pad(mass, [(1, 0), (0, 0)] if axis == 0 else [(0, 0), (1, 0)])
                )
                total = (1 - mean) * grown[0] + mean * grown[1]
                after[key] = after.get(key, 0) + total
        chances = after
    assert sum(chance.sum() for chance in chances.values()) == pytest.approx(1)
    return sum(n * chance.sum() for n, chance in chances.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("better", "worse", "alpha"), [(0.9, 0.1, 1.0), (0.95, 0.25, 1.0), (0.9, 0.1, 1.3)]
)
def test_split_bound_holds_for_expected_pulls_of_two_coins(better, worse, alpha):
    budget = 80.0
    exact = exact_pulls(better, worse, budget, alpha)
    how = {"cost_ratio": 1.0, "budget": budget, "alpha": alpha}
    bound = bounds.split_pull_bound([worse], 1.0, better, **how)
    assert exact <= bound < min(budget, 6 * exact)
    run = pulls.run_cohv(
        known.designed_arms([[better], [worse]], [1.0, 1.0]), budget, 400, alpha=alpha
    )
    spread = run.pulls[:, 1].std(ddof=1) / 20
    assert abs(run.pulls[:, 1].mean() - exact) < 5 * spread  # false alarms 6e-7


@pytest.mark.parametrize("D", [1, 2, 4])
@pytest.mark.parametrize("alpha", [1.0, 2.0, 20.0])
def test_split_bound_is_the_sum_of_probabilities(D, alpha):
    """The bound sums probabilities, and is below the bound of any fixed margin."""
    mean = 0.5
    budget = 1e4
    lam = 0.5
    best = 0.9**D
    radius = 2 * bounds.threshold_radius([mean] * D, 1.0, best, cost_ratio=lam)
    T = theory.horizon(budget, lam)
    n = np.arange(1, 400_000)
    a = alpha * log(T)
    coordinates = D + 1
    chances = np.minimum(
        1, coordinates * np.exp(-2 * np.maximum(0, radius * np.sqrt(n) - sqrt(a)) ** 2)
    )
    failures = coordinates * T ** (2 - 2 * alpha)
    bound = bounds.split_pull_bound(
        [mean] * D, 1.0, best, cost_ratio=lam, budget=budget, alpha=alpha
    )
    assert chances.sum() <= bound - 1 - failures <= 1.05 * chances.sum() + 1
    for eps in np.linspace(0.02, 0.98, 40) * radius:
        fixed = a / (radius - eps) ** 2 + coordinates / np.expm1(2 * eps**2)
        assert chances.sum() <= fixed

    threshold = 4 * a / radius**2
    assert (bound - 1 - failures) / threshold < (0.75, 0.5, 0.37)[
        [1.0, 2.0, 20.0].index(alpha)
    ]


@given(st.integers(1, 60), st.floats(0.05, 0.85), st.floats(0.1, 8))
def test_probabilities_of_a_too_large_index_are_bounded(n, mean, a):
    """The index of a coin reaches 0.9 at most as often as the split bound."""
    radius = 2 * bounds.threshold_radius([mean], 1.0, 0.9, cost_ratio=1.0)
    beta = sqrt(a / n)
    index = np.minimum(1.0, np.arange(n + 1) / n + beta) / max(0.5, 1 - beta)
    exact = stats.binom.pmf(np.arange(n + 1), n, mean)[index >= 0.9].sum()
    assert (
        exact
        <= min(1, 2 * np.exp(-2 * max(0, radius * sqrt(n) - sqrt(a)) ** 2)) + 1e-12
    )


@pytest.mark.parametrize("upper", [True, False])
@given(st.floats(0, 1), st.floats(0.1, 1), st.floats(0.01, 1), st.floats(0.5, 40))
def test_extreme_means_are_attained_by_samples_in_range(upper, mean, cost, lam, a):
    """Samples are in [0, 1], costs in [lambda, 1], and means within their radii."""
    cost = max(cost, lam)
    n = np.arange(1, 400)
    radius = np.sqrt(a / n)
    rewards, costs = worst_paths.extreme_means(
        np.full((len(n), 1), mean), cost, radius, lam, upper=upper
    )
    for means, truth, low in ((rewards[:, 0], mean, 0.0), (costs, cost, lam)):
        samples = np.diff(n * means, prepend=0.0)
        assert samples.min() >= low - 1e-9 and samples.max() <= 1 + 1e-9
        assert (np.abs(means - truth) <= radius + 1e-12).all()


def adversarial_run(problem, cost_ratio, budget):
    """Run Algorithm 1 with the best arm at lower ends and others at upper ends."""
    K, D = problem.means.shape
    policy = cb.CoHVUCB(K, D, budget, (cost_ratio, 1.0), selection="all")
    root = sqrt(2 * log(theory.horizon(budget, cost_ratio)))

    totals = np.zeros((K, D + 1))
    pulls = np.zeros(K)
    while (arm := policy.ask()) is not None:
        n = policy.pulls[arm] + 1
        means = problem.means[arm]
        mean_cost = problem.costs[arm]
        upper = arm != problem.best_arm
        rewards, cost = worst_paths.extreme_means(
            means, mean_cost, root / sqrt(n), cost_ratio, upper=upper
        )
        total = n * np.append(cost, rewards)
        # rounding
        cost, *rewards = np.clip(total - totals[arm], [cost_ratio, *[0.0] * D], 1.0)
        totals[arm] = total
        policy.tell(arm, rewards, cost)
        pulls[arm] += policy.spent <= budget

    return pulls


@pytest.mark.slow
def test_worst_run_on_the_event_attains_the_threshold_bound():
    """No bound that uses only the event is below Algorithm 1 on these samples."""
    three = Problem([[0.875, 0.9], [0.125, 0.5], [0.6, 0.3]], [0.5, 0.75, 0.7])

    how = {"cost_ratio": 0.25, "budget": 1200.0}
    played = adversarial_run(three, **how)
    for arm in (1, 2):
        all_bounds = pulls.pull_bounds(three, arm, **how)
        assert (
            played[arm]
            == worst_paths.adversarial_pulls(three, arm, **how)
            == int(all_bounds["threshold"])
        )
        assert (
            all_bounds["split"]
            < played[arm]
            < all_bounds["lean"]
            < all_bounds["Theorem 1"]
        )

    assert played[0] > 100  # the best arm's turn came, so the others had ended


HOW = {"n_objectives": 1, "cost_ratio": 0.5, "budget": 9}


@pytest.mark.parametrize(
    ("call", "code", "argument"),
    [
        (
            lambda: bounds.instance_pull_bound(0.5, 2.0, 1.0, **HOW),
            "out-of-range",
            "mean_cost",
        ),
        (
            lambda: bounds.threshold_radius([0.5], 0.5, 1.0, cost_ratio=0.5),
            "no-threshold",
            "best_efficiency",
        ),
        (
            lambda: bounds.threshold_radius([1.5], 0.5, 1.0, cost_ratio=0.5),
            "out-of-range",
            "means",
        ),
        (
            lambda: bounds.threshold_radius([0.5], 0.5, 3.0, cost_ratio=0.5),
            "out-of-range",
            "best_efficiency",
        ),
        (lambda: bounds.lean_pull_bound(0.0, **HOW), "out-of-range", "gap"),
    ],
)
def test_bounds_refuse_invalid_arguments(call, code, argument):
    with bad_argument(code, argument):
        call()


def test_informative_budget_equates_bound_and_trivial_bound():
    def bound(budget):
        return bounds.lean_pull_bound(
            0.5, n_objectives=1, cost_ratio=0.5, budget=budget
        )

    value = bounds.informative_budget(bound, 0.5)
    assert (
        bound(value * 1.001) < value * 1.001 / 0.5
        and bound(value * 0.999) > value * 0.999 / 0.5
    )
    assert bounds.informative_budget(lambda budget: 10 * budget, 0.5) == inf


def test_informative_budget_stays_below_countable_pulls():
    requests = []

    def bound(budget):
        requests.append(theory.horizon(budget, 1e-9))  # refuses what it cannot count
        return inf

    assert (
        bounds.informative_budget(bound, 0.5, cost_ratio=1e-9) == inf
        and max(requests) < 2**62
    )


def test_compare_bounds_reports_bounds_and_mean_pulls(arms):
    frame, runs = pulls.compare_bounds(arms, 100.0, 20, alpha=0.5, seed=4)
    assert frame["gap"].is_monotonic_increasing and sorted(frame["arm"]) == [1, 2]
    for row in frame.to_dict("records"):
        assert row["simulated"] == runs.pulls[:, row["arm"]].mean()
        assert row["low"] <= row["simulated"] <= row["high"]
        all_bounds = pulls.pull_bounds(
            arms.problem,
            row["arm"],
            cost_ratio=arms.cost_ratio,
            budget=100.0,
            alpha=0.5,
        )
        assert {name: row[name] for name in pulls.BOUNDS} == all_bounds


@pytest.mark.parametrize(
    ("D", "lam", "gap"), [(1, 1.0, 0.5), (3, 0.5, 0.25), (2, 0.2, 0.1)]
)
def test_two_arms_have_the_requested_gap(D, lam, gap):
    arms = known.two_arms(D, lam, gap)
    assert arms.problem.efficiency_gaps == pytest.approx([0, gap], abs=0.003)
    assert arms.cost_ratio == pytest.approx(lam) and set(arms.rows[:, 0].round(9)) <= {
        lam,
        1.0,
    }


def pulls_by_bonus(lam, rewards, costs, budget, rng):
    """Return pulls by a ratio index with a bonus, on arms that cost lam or 1."""
    mean_costs = np.array(costs)
    n = np.zeros(2)

    total = np.zeros((2, 2))
    spent = 0.0
    for t in range(1, int(budget / lam) + 2):
        arm = t - 1
        if t > 2:
            epsilon = np.sqrt(log(t - 1) / n)
            with np.errstate(divide="ignore"):
                bonus = np.where(
                    epsilon < lam, (1 + 1 / lam) * epsilon / (lam - epsilon), inf
                )
            arm = int(np.argmax(total[:, 0] / total[:, 1] + bonus))
        cost = 1.0 if rng.random() < (mean_costs[arm] - lam) / (1 - lam) else lam
        if spent + cost > budget:
            break
        spent += cost
        n[arm] += 1
        total[arm] += rng.random() < rewards[arm], cost

    return n


@pytest.mark.slow
def test_ratio_index_bound_holds():
    """In three runs no count passes the bound, and none is below a tenth of it."""
    lam = 0.5
    rewards = (0.75, 0.15)
    costs = (0.75, 0.75)
    budget = 3000.0
    log_T = log(theory.horizon(budget, lam))
    bound = (
        1 + bounds.ratio_leading_constant(0.8, cost_ratio=lam) * log_T + 4 * (1 + log_T)
    )
    rng = np.random.default_rng(0)
    counts = [pulls_by_bonus(lam, rewards, costs, budget, rng)[1] for _ in range(3)]
    assert bound / 10 < min(counts) <= max(counts) <= bound < budget / lam


@given(
    st.floats(1e-3, 1),
    st.floats(1e-3, 1),
    st.floats(0.01, 1e6),
    st.integers(1, 4),
    st.floats(2, 4),
)
def test_theorem_1_holds_for_feasible_selection(lam, share, budget, D, alpha):
    """The printed bound is at least the lean one plus 1 / lambda pulls."""
    how = {"n_objectives": D, "cost_ratio": lam, "budget": budget, "alpha": alpha}
    gap = share / lam
    assert (
        theory.pull_bound(gap, n_arms=2, **how)
        >= bounds.lean_pull_bound(gap, **how) + 1 / lam
    )


def best_by_trees(utilities, costs, chances, budget, boundary):
    """Value of the best adaptive policy by going through every tree of decisions."""
    values = [0.0] if not boundary else []
    for utility, steps, weights in zip(utilities, costs, chances, strict=True):
        total = 0.0
        for step, weight in zip(steps, weights, strict=True):
            if step <= budget:
                total += weight * (
                    utility
                    + best_by_trees(utilities, costs, chances, budget - step, boundary)
                )
            elif boundary:
                total += weight * utility
        values.append(total)
    return max(values)


@pytest.mark.parametrize("boundary", [False, True])
def test_optimal_utility_matches_all_policies(boundary):
    arguments = ([0.6, 0.35], [[1, 4], [2, 2]], [[0.5, 0.5], [1.0, 0.0]])
    result = standard_regret.optimal_utility(*arguments, 9, boundary=boundary)
    assert result == pytest.approx(
        [best_by_trees(*arguments, b, boundary) for b in range(10)]
    )


@st.composite
def gambles(draw):
    K = draw(st.integers(1, 3))
    costs = np.array(
        draw(st.lists(st.tuples(*[st.integers(2, 20)] * 2), min_size=K, max_size=K))
    )
    chance = np.array(draw(st.lists(st.floats(0, 1), min_size=K, max_size=K)))
    return (
        np.array(draw(st.lists(st.floats(0, 1), min_size=K, max_size=K))),
        costs,
        np.c_[chance, 1 - chance],
    )


@pytest.mark.slow
@given(gambles())
def test_lemma_1_holds_in_both_readings(gamble):
    """The bound is nu* (B + 1 - lambda) without, and nu* (B + 1) with the last pull."""
    utilities, steps, chances = gamble
    best = (utilities / ((steps / 20) * chances).sum(axis=1)).max()
    b = np.arange(61)
    completed, with_last = (
        standard_regret.optimal_utility(utilities, steps, chances, 60, boundary=last)
        for last in (False, True)
    )
    assert (completed <= best * (b / 20 + 1 - 0.1) + 1e-9).all()
    assert (with_last <= best * (b / 20 + 1) + 1e-9).all()
    assert completed[1:] == pytest.approx(np.maximum.accumulate(completed)[1:])


@pytest.mark.slow
@given(gambles())
def test_mean_costs_of_completed_pulls_are_within_bounds(gamble):
    """Compare always pulling the first arm with the extreme policy, lambda = 0.1."""
    _, steps, chances = gamble
    mean_costs = ((steps / 20) * chances).sum(axis=1)
    always = standard_regret.optimal_utility(mean_costs[:1], steps[:1], chances[:1], 60)
    maximum = standard_regret.optimal_utility(mean_costs, steps, chances, 60)
    for b in range(1, 61):
        low, high = bounds.counted_cost_bounds(b / 20, 0.1)
        assert low < always[b] + 1e-9 and maximum[b] <= high + 1e-9


def test_optimal_utility_refuses_invalid_costs():
    for change, code in [
        ({"costs": [[0], [1]]}, "not-grid-steps"),
        ({"costs": [[1.5], [1]]}, "not-grid-steps"),
        ({"probabilities": [[0.5], [1]]}, "not-a-distribution"),
        ({"probabilities": [[1], [1], [1]]}, "not-a-distribution"),
    ]:
        (argument,) = change
        arguments = {
            "utilities": [1.0, 1.0],
            "costs": [[1], [2]],
            "probabilities": [[1], [1]],
            "budget": 3,
        } | change
        with bad_argument(code, argument):
            standard_regret.optimal_utility(**arguments)


@pytest.mark.slow
def test_wald_identity_holds_at_the_crossing_pull_only():
    """The mean of sum of (mean cost - cost) is zero at T(B) + 1, but not at T(B).

    Within five standard errors: false alarms 6e-7."""
    rare = [[0.05, 1.0]] * 19 + [[1.0, 0.0]]
    arms = known.arms_of_outcomes([rare, [[0.05, 0.0], [0.5, 1.0]]])
    run = pulls.run_cohv(arms, 20.0, 20_000, alpha=0.1, seed=2)
    difference = run.pulls @ arms.problem.costs - run.spent
    after = difference + arms.problem.costs[run.last_arm] - run.last_cost
    error = after.std(ddof=1) / sqrt(len(after))
    assert abs(after.mean()) < 5 * error
    assert difference.mean() > 10 * difference.std(ddof=1) / sqrt(len(difference))


@pytest.mark.slow
def test_fits_recover_the_law_of_the_data():
    x = np.geomspace(10, 1e5, 8)
    noise = np.random.default_rng(0).normal(1, 0.01, (8, 40))
    power = growth.fitted_power(x, 3 * x[:, None] ** 0.5 * noise)
    # 95 % interval, one fixed seed
    assert power.low <= 0.5 <= power.high and power.high - power.low < 0.01
    slow = growth.fitted_growth(x, (2 + 3 * np.log(x))[:, None] * noise, resamples=100)
    fast = growth.fitted_growth(x, (2 + 3 * x**0.5)[:, None] * noise, resamples=100)
    assert slow.low <= 0 <= slow.high < 0.1 < fast.low <= 0.5 <= fast.high


@given(st.integers(2, 10**9), st.floats(0.1, 4))
def test_peeled_bound_has_two_ordered_forms(pulls, alpha):
    blocks = math.ceil(math.sqrt(alpha) / 2 * math.log(pulls) ** 1.5)
    plain = math.sqrt(math.e) * blocks * pulls ** (-2 * alpha)
    assert bounds.leaving_bound(pulls, alpha) <= plain * (1 + 1e-9)


def test_loss_off_the_event_vanishes_above_alpha_one_half():
    lost = [T * bounds.leaving_bound(T, 0.6) for T in (10**6, 10**12, 10**24, 10**48)]
    assert lost == sorted(lost, reverse=True) and lost[-1] < 0.01
    half = [T * bounds.leaving_bound(T, 0.5) for T in (10**6, 10**12, 10**24)]
    assert half == sorted(half)
