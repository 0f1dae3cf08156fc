"""Checks of the paper's statements on online selection, in small; each says what change it would notice."""

from __future__ import annotations

from itertools import product
from math import log
from typing import Any

import numpy as np

from cobandit import theory
from cobandit.companion import known_arms
from cobandit.companion.proofs import adversary, compare, concentration, fluid, growth, stopping
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, room, said
from cobandit.problem import Problem


def event(seed: int) -> Finding:
    """Step 1 of Theorem 1: exact probabilities of leaving the event."""
    horizons, alphas = (2, 3, 5, 10, 30, 100, 300), np.linspace(0.35, 2.0, 12)
    T, alpha = np.array(list(product(horizons, alphas))).T
    one = [concentration.leaving_probability(int(t), a) for t, a in zip(T, alpha, strict=True)]
    exact = -np.expm1(6 * np.log1p(-np.minimum(one, 1 - 1e-15)))

    def bound(raised: float = 1.0) -> np.ndarray:
        how: dict[str, Any] = {"n_arms": 2, "n_objectives": 2, "cost_ratio": 1.0}
        return np.array(
            [
                theory.failure_probability(**how, budget=t - 1, alpha=raised * a)
                for t, a in zip(T, alpha, strict=True)
            ]
        )

    at, informative = bound(), bound() < 1
    return Finding(
        "exact probability of leaving, K = 2, D = 2, fair coins",
        f"{len(T)} pairs of horizon (to {max(horizons):,}) and α",
        verdict(bool((exact <= at).all()), bool(informative.any())),
        f"at most {(exact / at)[informative].max():.2g} of the bound where that is below one",
        said(
            {
                "2K(D+1) ÷": room(exact, at),
                "2α in the exponent ×": noticed_at(lambda by: bool((exact <= bound(by)).all())),
            }
        ),
    )


def best_index(seed: int) -> Finding:
    """Step 2 of Theorem 1: the index of the best arm at the lower end of its radii."""
    rng, trials = np.random.default_rng(seed), 20_000
    lam, means = 10 ** rng.uniform(-2, 0, trials), rng.random((trials, 2))
    cost = np.where(rng.random(trials) < 0.1, lam, rng.uniform(lam, 1.0))
    radius = 10 ** rng.uniform(-3, 0, trials)
    rewards, seen = adversary.extreme_means(means, cost, radius, lam, upper=False)
    efficiency = means.prod(axis=1) / cost

    def excess(*, cut: float = 1.0, raised: float = 1.0) -> float:
        top = np.minimum(1.0, rewards + radius[:, None] / cut).prod(axis=1)
        index = top / np.maximum(raised * lam / 2, seen - radius / cut)
        return float((index / efficiency - 1).min())

    return Finding(
        "index of the best arm over ν*, its means at the lower end of their radii",
        f"{trials:,} arms and radii",
        verdict(excess() >= -SLACK),
        f"never less than {1 + excess():.9g}",
        said(
            {
                "radius ÷": noticed_at(lambda by: excess(cut=by) >= -SLACK),
                "λ/2 ×": noticed_at(lambda by: excess(raised=by) >= -SLACK),
            }
        ),
    )


def any_index(seed: int) -> Finding:
    """Step 3 of Theorem 1: indices at the upper end of their radii."""
    rng, each = np.random.default_rng(seed), 20_000
    excess, objectives, ratios = [], [], []
    for D in (1, 2, 3, 6):
        lam = np.where(rng.random(each) < 0.2, 1.0, 10 ** rng.uniform(-3, 0, each))
        radius = lam * 10 ** rng.uniform(-3, 0, each)
        means = np.clip(1 - radius[:, None] * rng.uniform(0, 3, (each, D)), 0, 1)
        cost = np.clip(lam + radius * rng.choice([0.0, 1.0, 2.0], each), lam, 1.0)
        rewards, seen = adversary.extreme_means(means, cost, radius, lam, upper=True)
        top = np.minimum(1.0, rewards + radius[:, None]).prod(axis=1)
        index = top / np.maximum(lam / 2, seen - radius)
        excess.append((index - means.prod(axis=1) / cost) / radius)
        objectives.append(np.full(each, D))
        ratios.append(lam)
    seen_excess, D_of, lam_of = (np.concatenate(parts) for parts in (excess, objectives, ratios))
    constant = np.array([theory.index_constant(int(D), lam) for D, lam in zip(D_of, lam_of, strict=True)])
    first, second = 4 * D_of / lam_of, 4 / lam_of**2
    allowed = constant * (1 + SLACK)
    return Finding(
        "index less efficiency, over the radius, means at the upper end of their radii",
        f"{len(constant):,} arms and radii, D to {D_of.max()}",
        verdict(bool((seen_excess <= allowed).all())),
        f"at most {(seen_excess / constant).max():.2g} of C",
        said(
            {
                "C ÷": room(seen_excess, allowed),
                "4D/λ ÷": noticed_at(lambda by: bool((seen_excess <= allowed - first * (1 - 1 / by)).all())),
                "4/λ² ÷": noticed_at(lambda by: bool((seen_excess <= allowed - second * (1 - 1 / by)).all())),
            }
        ),
    )


def worst_problems() -> list[tuple[Problem, float]]:
    """Give two arms and lambda each: some at random, and some where C is about what is needed."""
    rng = np.random.default_rng(0)
    found = []
    for lam in (0.5, 0.2, 0.1, 0.02):
        for share in (0.02, 0.1, 0.3):  # rewards of one, costs from lambda to that much more
            found.append((Problem([[1.0], [1.0]], [lam, lam * (1 + 2 * share)]), lam))
        means, costs = rng.integers(20, 81, (2, 2)) / 100, rng.uniform(max(lam, 0.3), 0.7, 2)
        found.append((Problem(means, costs), lam))
    return found


def pulls(seed: int) -> Finding:
    """Theorem 1: the worst path on the event, and the mean of runs."""
    budget, runs = 1e10, 8
    worst = []  # pulls, bound, its leading term
    for problem, lam in worst_problems():
        other = int(problem.efficiency_gaps.argmax())
        gap, D = float(problem.efficiency_gaps[other]), problem.n_objectives
        how: dict[str, Any] = {"n_objectives": D, "cost_ratio": lam}
        bound = theory.pull_bound(gap, n_arms=2, budget=budget, **how)
        leading = theory.leading_constant(gap, **how) * log(theory.horizon(budget, lam))
        seen = adversary.adversarial_pulls(problem, other, cost_ratio=lam, budget=budget)
        worst.append((seen, bound, leading, budget / lam))
    made, bounds, leading_terms, trivial = np.array(worst).T
    frame, _ = compare.compare_bounds(known_arms.two_arms(1, 1.0, 0.5), 1e5, runs, seed=seed)
    row = frame.iloc[0]

    def holds(by: float) -> bool:
        return bool((made <= bounds - leading_terms * (1 - 1 / by)).all())

    on_average = bool(row["low"] <= row["Theorem 1"])
    return Finding(
        "pulls on the worst path that the event allows, and the mean of runs",
        f"{len(made)} problems, B = {budget:.0e}; {runs} runs",
        verdict(holds(1.0) and on_average, bool((bounds < trivial).any())),
        f"bound at least {(bounds / made).min():.3g} times the worst path, "
        f"{row['Theorem 1'] / row['simulated']:,.0f} times the mean; "
        f"below B/λ in {(bounds < trivial).sum()} of {len(made)}",
        said({"4αC² ÷": noticed_at(holds), "2K(D+1) ÷": np.inf}),
    )


def regret(seed: int) -> Finding:
    """Theorem 1: regret of the worst path, several arms at once, and its growth."""
    lam, budgets = 0.02, np.geomspace(1e8, 1e14, 7)
    problem = Problem(np.ones((4, 1)), lam * np.array([1.0, 1.04, 1.2, 1.6]))
    gaps = problem.efficiency_gaps
    made = np.array(
        [
            sum(
                gaps[arm] * adversary.adversarial_pulls(problem, arm, cost_ratio=lam, budget=budget)
                for arm in np.flatnonzero(gaps > 0).tolist()
            )
            for budget in budgets
        ]
    )
    how: dict[str, Any] = {"n_objectives": 1, "cost_ratio": lam}
    bounds = np.array([theory.efficiency_regret_bound(gaps, budget=budget, **how) for budget in budgets])
    trivial = gaps.max() * budgets / lam
    law = growth.fitted_growth([theory.horizon(b, lam) for b in budgets], made[:, None], resamples=1)

    def holds(by: float) -> bool:
        return bool((made <= bounds / by).all())

    return Finding(
        "regret of the worst path that the event allows, and its growth",
        f"{len(gaps)} arms, {len(budgets)} budgets to {budgets[-1]:.0e}",
        verdict(holds(1.0), bool((bounds < trivial).any())),
        f"growth exponent {law.value:.2f}, 0 is the logarithm; "
        f"bound below ΔB/λ at {(bounds < trivial).sum()} of {len(budgets)}",
        said({"4αC² ÷": noticed_at(holds)}),
    )


def benchmark(seed: int) -> Finding:
    """Lemma 1: the best adaptive policy, exactly."""
    rng, problems, reach, grid = np.random.default_rng(seed), 30, 60, 20
    budgets = np.arange(1, reach + 1) / grid
    above = {False: -np.inf, True: -np.inf}  # completed pulls only; with the pull that crosses
    gains, bounds = [], []
    for number in range(problems):
        K = int(rng.integers(1, 4))
        costs, p, utilities = rng.integers(2, grid + 1, (K, 2)), rng.random(K), rng.random(K)
        if number == 0:
            costs[:] = grid  # a fixed cost of one
        chances = np.column_stack([p, 1 - p])
        best = float((utilities / (costs / grid * chances).sum(axis=1)).max())
        for boundary in above:
            earned = fluid.optimal_utility(utilities, costs, chances, reach, boundary=boundary)[1:] / best
            above[boundary] = max(above[boundary], float((earned - budgets).max()))
            gains.append(earned)
            bounds.append([theory.optimal_utility_bound(best, b) / best for b in budgets])

    def holds(by: float) -> bool:
        return bool((np.array(gains) <= np.array(bounds) - (1 - 1 / by) + SLACK).all())

    return Finding(
        "best adaptive policy by dynamic programming, crossing pull included",
        f"{problems} problems, {reach} budgets each",
        verdict(holds(1.0)),
        f"earns up to ν*(B + {above[True]:.3f}); completed pulls alone up to ν*(B + {above[False]:.3f})",
        said({"1 in B + 1 ÷": noticed_at(holds)}),
    )


def identity(seed: int) -> Finding:
    """Proof of Corollary 1: the optional-sampling identity, exactly."""
    e = stopping.expected_stopping([1, 10], [0.5, 0.5], 100)  # in tenths of the largest cost
    at = (e["mean_cost"] * e["pulls"] - e["spend"]) / 10
    later = (e["mean_cost"] * e["crossing_pulls"] - e["crossing_spend"]) / 10
    return Finding(
        "mean costs times expected pulls less expected spend, exact",
        "one arm, costs 0.1 or 1, B = 10",
        verdict(abs(at) <= SLACK),
        f"they differ by {abs(at):.3f} at T(B), by {abs(later):.3f} one pull later",
        said({}),
    )


def standard_regret(seed: int) -> Finding:
    """Corollary 1: its end term on a policy without waste, its sum on the worst path."""
    grid, rounds = 100, 3
    b = rounds * grid - 1  # one step short of another pull of the best arm, which costs one
    steps, gains = [[grid], [1]], [1.0, 0.9999 / grid]
    most = fluid.optimal_utility(gains, steps, [[1.0], [1.0]], b, boundary=True)[-1]
    always = fluid.optimal_utility(gains[:1], steps[:1], [[1.0]], b)[-1]
    end = float(most - always)  # in units of nu*, which is one
    (problem, lam), budget = worst_problems()[-4], 1e10
    gaps, best = problem.efficiency_gaps, float(problem.efficiency.max())
    other = int(gaps.argmax())
    made = adversary.adversarial_pulls(problem, other, cost_ratio=lam, budget=budget)
    least = problem.costs[other] * gaps[other] * made - best
    how: dict[str, Any] = {"n_objectives": 1, "cost_ratio": lam, "budget": budget}
    bound = theory.standard_regret_bound(gaps, problem.costs, best, **how)
    no_waste = theory.standard_regret_bound([0, 0], [1, 1], 1.0, n_objectives=1, cost_ratio=1.0, budget=3.0)

    def end_holds(by: float) -> bool:
        return end <= no_waste / by

    def sum_holds(by: float) -> bool:
        return bool(least <= 2 * best + (bound - 2 * best) / by)

    return Finding(
        "best that the budget can earn less what the best arm alone earns; regret of the worst path",
        f"B = {b / grid:g}; two arms, B = {budget:.0e}",
        verdict(end_holds(1.0) and sum_holds(1.0), bound < best * budget),
        f"end of the run up to {end:.3f} ν*; waste {least:,.3g} of the {bound:,.3g} allowed",
        said({"2ν* ÷": noticed_at(end_holds), "4αC² ÷": noticed_at(sum_holds)}),
    )
