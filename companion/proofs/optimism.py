"""Checks of the steps of Theorem 1, and of sharper bounds on the pulls of an arm."""

from itertools import product
from math import log
from typing import Any

import numpy as np
from scipy import stats

from cobandit import theory
from cobandit.policies import CoHVUCB
from cobandit.problem import Problem
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.concentration import leaving_probability
from companion.proofs.growth import fitted_growth
from companion.proofs.known_arms import two_arms
from companion.proofs.pulls import compare_bounds
from companion.proofs.worst_paths import (
    adversarial_pulls,
    extreme_means,
    index_at,
    worst_paths,
    worst_problems,
)


@check("Theorem 1, Step 1: means stay within their radii", "cohv-ucb")
def check_event(seed: int) -> CheckResult:
    """Exact probability that means of fair coins leave their radii."""
    horizons = (2, 3, 5, 10, 30, 100, 300)
    cases = list(product(horizons, np.linspace(0.35, 2.0, 12)))
    one = np.array([leaving_probability(*case) for case in cases])
    # six independent coins: K arms, each with D rewards and a cost
    exact = -np.expm1(6 * np.log1p(-np.minimum(one, 1 - 1e-15)))

    def bound(raised: float = 1.0) -> Floats:
        setting: dict[str, Any] = {"n_arms": 2, "n_objectives": 2, "cost_ratio": 1.0}
        return np.array(
            [
                theory.failure_probability(**setting, budget=T - 1, alpha=raised * a)
                for T, a in cases
            ]
        )

    values = bound()
    informative = bound() < 1
    return CheckResult(
        f"{len(cases)} pairs of horizon (to {max(horizons):,}) and α",
        f"at most {(exact / values)[informative].max():.2g} of the bound where that is"
        " below one",
        {
            "2K(D+1) ÷": below(exact, values),
            "2α in the exponent ×": below(exact, bound),
        },
        informative=bool(informative.any()),
    )


@check("Leaving a radius, by peeling: α > ½ is enough", "cohv-ucb", ours=True)
def check_peeling(seed: int) -> CheckResult:
    """Exact probability that the mean of a fair coin ever exceeds its radius."""
    low = [(100, 0.6), (1000, 0.6), (3000, 0.6)]
    cases = [*low, *product((10, 100, 1000), (0.51, 0.8, 1.0, 2.0))]
    T, alpha = np.array(cases).T
    exact = np.array([leaving_probability(*case, sides=1) for case in cases])

    def bound(raised: float = 1.0) -> Floats:
        return np.array([bounds.leaving_bound(T, raised * a) for T, a in cases])

    union_bound = (T ** (2 - 2 * alpha))[:3]
    scaled = ", ".join(f"{p:.2f}" for p in (T * exact)[:3])
    return CheckResult(
        f"{len(cases)} pairs of horizon (to {T.max():,.0f}) and α",
        f"at α = {alpha[0]:g} and T to {T[2]:,.0f}, T times it is {scaled}; "
        f"the union bound allows up to {union_bound.max():.0f}",
        {
            "m in front ÷": below(exact, bound()),
            "2α in the exponent ×": below(exact, bound),
        },
        holds=bool((bound()[:3] < union_bound / T[:3]).all()),
    )


@check("Theorem 1, Step 2: the best arm's index is optimistic", "cohv-ucb")
def check_best_index(seed: int) -> CheckResult:
    """Smallest index of the best arm on the event, relative to ν*."""
    rng = np.random.default_rng(seed)
    trials = 20_000
    lam = 10 ** rng.uniform(-2, 0, trials)
    means = rng.random((trials, 2))
    cost = np.where(rng.random(trials) < 0.1, lam, rng.uniform(lam, 1.0))
    radius = 10 ** rng.uniform(-3, 0, trials)
    lower = extreme_means(means, cost, radius, lam, upper=False)

    def smallest_ratio(cut: float = 1.0, raised: float = 1.0) -> float:
        ratio = index_at(*lower, radius / cut, floor=raised * lam / 2) / (
            means.prod(axis=1) / cost
        )
        return float(ratio.min())

    return CheckResult(
        f"{trials:,} arms and radii",
        f"never less than {smallest_ratio():.9g}",
        {
            "radius ÷": lambda factor: smallest_ratio(cut=factor) >= 1 - SLACK,
            "λ/2 ×": lambda factor: smallest_ratio(raised=factor) >= 1 - SLACK,
        },
    )


@check("Theorem 1, Step 3: no index exceeds its efficiency by much", "cohv-ucb")
def check_any_index(seed: int) -> CheckResult:
    """Largest index minus efficiency on the event, relative to the radius."""
    rng = np.random.default_rng(seed)
    n_cases = 20_000
    parts = []
    objectives = (1, 2, 3, 6)
    for D in objectives:
        lam = np.where(
            rng.random(n_cases) < 0.2, 1.0, 10 ** rng.uniform(-3, 0, n_cases)
        )
        radius = lam * 10 ** rng.uniform(-3, 0, n_cases)
        means = np.clip(1 - radius[:, None] * rng.uniform(0, 3, (n_cases, D)), 0, 1)
        cost = np.clip(lam + radius * rng.choice([0.0, 1.0, 2.0], n_cases), lam, 1.0)
        index = index_at(
            *extreme_means(means, cost, radius, lam, upper=True), radius, floor=lam / 2
        )
        constant = [theory.index_constant(D, x) for x in lam]
        parts.append(
            [
                (index - means.prod(axis=1) / cost) / radius,
                constant,
                4 * D / lam,
                4 / lam**2,
            ]
        )

    excess, constants, first, second = np.concatenate(parts, axis=1)
    allowed = constants * (1 + SLACK)
    return CheckResult(
        f"{len(excess):,} arms and radii, D to {max(objectives)}",
        f"at most {(excess / constants).max():.2g} of C",
        {
            "C ÷": below(excess, allowed),
            "4D/λ ÷": below(excess, lambda factor: allowed - first * (1 - 1 / factor)),
            "4/λ² ÷": below(excess, lambda factor: allowed - second * (1 - 1 / factor)),
        },
    )


@check("Theorem 1: pulls of a suboptimal arm", "cohv-ucb")
def check_pulls(seed: int) -> CheckResult:
    """Largest number of pulls on the event; mean pulls in simulated runs."""
    budget = 1e10
    runs = 8
    problems = worst_problems()
    worst = worst_paths(problems, budget)
    pulls = worst["made"]
    all_bounds = worst["Theorem 1"]
    is_informative = worst["Theorem 1"] < worst["trivial"]

    leading = [
        theory.leading_constant(
            p.efficiency_gaps.max(), n_objectives=p.n_objectives, cost_ratio=lam
        )
        * log(theory.horizon(budget, lam))
        for p, lam in problems
    ]
    row = compare_bounds(two_arms(1, 1.0, 0.5), 1e5, runs, seed=seed)[0].iloc[0]
    return CheckResult(
        f"{len(pulls)} problems, B = {budget:.0e}; {runs} runs",
        f"bound at least {(all_bounds / pulls).min():.3g} times the worst path, "
        f"{row['Theorem 1'] / row['simulated']:,.0f} times the mean; "
        f"below B/λ in {is_informative.sum()} of {len(pulls)}",
        {
            "4αC² ÷": below(
                pulls, lambda factor: all_bounds - np.multiply(leading, 1 - 1 / factor)
            ),
            # the worst path does not depend on this term, so compare with the runs
            "2K(D+1) ÷": lambda factor: bool(row["low"] <= row["Theorem 1"]),
        },
        informative=bool(is_informative.any()),
    )


@check("Theorem 1: efficiency regret O(log B)", "cohv-ucb")
def check_regret(seed: int) -> CheckResult:
    """Largest regret on the event, and its growth."""
    lam = 0.02
    budgets = np.geomspace(1e8, 1e14, 7)
    problem = Problem(np.ones((4, 1)), lam * np.array([1.0, 1.04, 1.2, 1.6]))
    gaps = problem.efficiency_gaps

    def worst(budget: float) -> float:
        return sum(
            gaps[i] * adversarial_pulls(problem, i, cost_ratio=lam, budget=budget)
            for i in (1, 2, 3)
        )

    regrets = np.array([worst(budget) for budget in budgets])
    setting = {"cost_ratio": lam}
    all_bounds = [
        theory.efficiency_regret_bound(gaps, n_objectives=1, budget=b, **setting)
        for b in budgets
    ]
    is_informative = all_bounds < gaps.max() * budgets / lam
    growth = fitted_growth(
        [theory.horizon(b, lam) for b in budgets], regrets[:, None], resamples=1
    )
    return CheckResult(
        f"{len(gaps)} arms, {len(budgets)} budgets to {budgets[-1]:.0e}",
        f"growth exponent {growth.value:.2f}, 0 is the logarithm; "
        f"bound below ΔB/λ at {is_informative.sum()} of {len(budgets)}",
        {"4αC² ÷": below(regrets, all_bounds)},
        informative=bool(is_informative.any()),
    )


@check("Pulls: lean, instance and threshold bound", "cohv-ucb", ours=True)
def check_event_bounds(seed: int) -> CheckResult:
    """Largest number of pulls on the event."""
    budget = 1e10
    rng = np.random.default_rng(seed)
    problems = [*worst_problems(), (Problem([[0.6], [0.4]], [0.5, 0.5]), 0.2)]
    problems += [
        (Problem(rng.uniform(0.3, 0.7, (2, 2)), [0.5, 0.6]), 0.2) for _ in range(20)
    ]
    paths = worst_paths(problems, budget)
    names = ("threshold", "instance", "lean")
    return CheckResult(
        f"{len(paths)} problems, B = {budget:.0e}",
        "the threshold bound is at least"
        f" {(paths['threshold'] / paths['made']).min():.6f} times these",
        {f"{name} ÷": below(paths["made"] - 1, paths[name] - 1) for name in names},
    )


@check("Pulls: split bound", "cohv-ucb", ours=True)
def check_split_bound(seed: int) -> CheckResult:
    """Exact expected pulls if the index of the best arm is ν*."""
    best = 0.9
    mean = 0.4
    rows = []
    budgets = [1e2, 1e4, 1e8, 1e15]
    radius = bounds.threshold_radius([mean], 1.0, best, cost_ratio=1.0)
    for budget in budgets:
        a = 2.0 * log(theory.horizon(budget, 1.0))
        n = np.arange(1, int(10 * a / (2 * radius) ** 2))
        beta = np.sqrt(a / n)
        needed = np.ceil(n * (best * np.maximum(0.5, 1 - beta) - beta) - SLACK)
        exact = 1 + stats.binom.sf(needed - 1, n, mean).sum()
        bound = bounds.split_pull_bound(
            [mean], 1.0, best, cost_ratio=1.0, budget=budget
        )
        threshold = bounds.radius_pull_bound(
            radius, n_objectives=1, cost_ratio=1.0, budget=budget
        )
        rows.append((exact, bound, threshold))

    exact, bound, threshold = np.array(rows).T
    return CheckResult(
        f"{len(rows)} budgets to {budgets[-1]:.0e}",
        f"bound {(bound / exact).min():.2f} to {(bound / exact).max():.2f} times these,"
        f" threshold bound {(threshold / exact).min():.2f} or more",
        {"sum ÷": below(exact - 1, bound - 1)},
    )


@check("Pulls under feasible selection: 1/λ more", "cohv-ucb", ours=True)
def check_feasible(seed: int) -> CheckResult:
    """Additional pulls under feasible selection, for costs of 1 and λ."""
    lam = 0.01
    scales: dict[str, Any] = {
        "reward_scale": lam,
        "cost_scale": lam,
        "expected_costs": [1.0, lam],
    }

    def pulls(budget: float, selection: str) -> int:
        policy = CoHVUCB(
            2, 1, budget, cost_range=(lam, 1.0), selection=selection, **scales
        )
        while (arm := policy.ask()) is not None:
            policy.tell(arm, [1.0 - arm], [1.0, lam][arm])
        return int(policy.pulls[1])

    additional = [
        pulls(b, "feasible") - pulls(b, "all")
        for b in np.arange(9.0, 10.0, 0.05).tolist()
    ]
    return CheckResult(
        f"λ = {lam:g}, {len(additional)} budgets",
        f"up to {max(additional)} more, where 1/λ is {1 / lam:.0f}",
        {"1/λ ÷": below(additional, 1 / lam)},
    )


@check("Exploration with several in flight", "live", ours=True)
def check_delay(seed: int) -> CheckResult:
    """Largest error of a mean with evaluations in flight, on the event."""
    alpha = 2.0
    setting = {"budget": 1e4, "cost_ratio": 1.0}
    completed, in_flight = np.array(
        list(product((10, 100, 1000, 10**5), (1, 3, 7, 31)))
    ).T
    n = completed + in_flight
    factor = alpha * log(theory.horizon(**setting))
    deviation = np.sqrt(factor * n)

    # the worst case: all completed evaluations fail, and all in flight succeed
    mean = np.minimum(1.0, (deviation + in_flight) / n)
    error = np.minimum(mean, (deviation + in_flight * (1 - mean)) / completed)
    alphas = [
        theory.alpha_in_flight(1 + f, t, alpha=alpha, **setting)
        for t, f in zip(completed, in_flight, strict=True)
    ]
    needed = error**2 * n / factor - 1
    allowed = np.array(alphas) / alpha - 1
    return CheckResult(
        f"{len(n)} pairs of pulls and pulls in flight",
        f"κ − 1 is at least {(allowed / needed)[needed > 0].min():.3g} times the needed"
        " one",
        {"κ − 1 ÷": below(needed - SLACK, allowed)},
    )
