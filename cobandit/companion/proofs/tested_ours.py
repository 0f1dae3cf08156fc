"""Checks of this project's own propositions, in small; each says what change it would notice."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from cobandit import theory
from cobandit.companion.proofs import (
    adversary,
    allocation,
    complexity,
    deviation,
    fluid,
    misclassification,
    sharpness,
    spend_all,
)
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, room, said
from cobandit.companion.proofs.tested_identification import two_arms
from cobandit.companion.proofs.tested_online import worst_problems
from cobandit.problem import Problem


def event_bounds(seed: int) -> Finding:
    """Lean, instance and threshold bounds: the worst path on the event."""
    budget, rng = 1e10, np.random.default_rng(seed)
    problems = [*worst_problems(), (Problem([[0.6], [0.4]], [0.5, 0.5]), 0.2)]
    problems += [(Problem(rng.uniform(0.3, 0.7, (2, 2)), [0.5, 0.6]), 0.2) for _ in range(20)]
    rows = []
    for problem, lam in problems:
        arm, best, D = int(problem.efficiency_gaps.argmax()), problem.efficiency.max(), problem.n_objectives
        gap, cost = problem.efficiency_gaps[arm], problem.costs[arm]
        how: dict[str, Any] = {"cost_ratio": lam, "budget": budget}
        rows.append(
            {
                "pulls": adversary.adversarial_pulls(problem, arm, **how),
                "lean": theory.lean_pull_bound(gap, n_objectives=D, **how),
                "instance": theory.instance_pull_bound(gap, cost, best, n_objectives=D, **how),
                "threshold": theory.threshold_pull_bound(problem.means[arm], cost, best, **how),
            }
        )
    seen = pd.DataFrame(rows)
    names = ("threshold", "instance", "lean")
    holds = bool((seen["threshold"] >= seen["pulls"]).all())

    def cut(name: str) -> float:
        return noticed_at(lambda by: bool((seen["pulls"] <= 1 + (seen[name] - 1) / by).all()))

    return Finding(
        "pulls on the worst path that the event allows",
        f"{len(seen)} problems, B = {budget:.0e}",
        verdict(holds),
        f"the threshold bound is at least {(seen['threshold'] / seen['pulls']).min():.6f} times these",
        said({f"{name} ÷": cut(name) for name in names}),
    )


def split_bound(seed: int) -> Finding:
    """The split bound: exact chances that the index of one coin is too large, summed."""
    best, mean, alpha, rows = 0.9, 0.4, 2.0, []
    radius = 2 * theory.threshold_radius([mean], 1.0, best, cost_ratio=1.0)
    budgets = [1e2, 1e4, 1e8, 1e15]
    for budget in budgets:
        a = alpha * log(theory.horizon(budget, 1.0))
        n = np.arange(1, int(10 * a / radius**2))
        beta = np.sqrt(a / n)
        needed = np.ceil(n * (best * np.maximum(0.5, 1 - beta) - beta) - SLACK)
        exact = 1 + stats.binom.sf(needed - 1, n, mean).sum()
        bound = theory.split_pull_bound([mean], 1.0, best, cost_ratio=1.0, budget=budget)
        paid = theory.threshold_pull_bound([mean], 1.0, best, cost_ratio=1.0, budget=budget)
        rows.append((exact, bound, paid))
    seen = pd.DataFrame(rows, columns=["exact", "bound", "threshold"])
    ratio = seen.div(seen["exact"], axis=0)

    def holds(by: float) -> bool:
        return bool((seen["exact"] <= 1 + (seen["bound"] - 1) / by).all())

    return Finding(
        "expected pulls against a best arm whose index is ν*, exact",
        f"{len(seen)} budgets to {budgets[-1]:.0e}",
        verdict(holds(1.0)),
        f"bound {ratio['bound'].min():.2f} to {ratio['bound'].max():.2f} times these, "
        f"threshold bound {ratio['threshold'].min():.2f} or more",
        said({"sum ÷": noticed_at(holds)}),
    )


def completed(seed: int) -> Finding:
    """What completed pulls cost, on average: a cost of next to nothing, seldom of one, and a fixed one."""
    tiny, chance, reach = 10_000, 0.03, 2000
    earned = fluid.optimal_utility([1.0], [[1, tiny]], [[1 - chance, chance]], reach)[1:]
    budgets, mean = np.arange(1, reach + 1) / tiny, (1 - chance) / tiny + chance
    bounds = np.array([theory.completed_utility_bound(1.0, b, 1 / tiny) for b in budgets])
    above = earned * mean - budgets
    fixed = 3 - 1 / tiny  # holds two pulls at a cost of one each
    low = theory.counted_cost_bounds(fixed, 1 / tiny)[0]

    def upper(by: float) -> bool:
        return bool((above <= (bounds - budgets) / by + SLACK).all())

    def lower(by: float) -> bool:
        return fixed - (fixed - low) / by <= 2

    return Finding(
        "mean costs of one arm's completed pulls, exact; with mean cost as utility also what they earn",
        f"λ = {1 / tiny:g}, {reach:,} budgets; a fixed cost of one",
        verdict(upper(1.0) and lower(1.0)),
        f"from B − {fixed - 2:.4f} to B + {above.max():.3f}",
        said({"1 in B − 1 ÷": noticed_at(lower), "1 − λ ÷": noticed_at(upper)}),
    )


def equal_gaps(seed: int) -> Finding:
    """The two smallest gaps, ties included."""
    first, second = complexity.smallest_gaps(1000, seed).T

    def holds(by: float) -> bool:
        return bool((second <= by * first).all() and (second / by >= first * (1 - SLACK)).all())

    return Finding(
        "the smallest gap and the next",
        f"{len(first):,} problems, {int((first == 0).sum())} with a gap of zero",
        verdict(bool((first == second).all())),
        f"largest difference {np.abs(first - second).max():g}",
        said({"γ₍₂₎ ÷": noticed_at(holds)}),
    )


def exact_constant(seed: int) -> Finding:
    """The exact constant: the most expensive first, with a budget that makes floors small."""
    rng, large = np.random.default_rng(seed), 1e9
    orders = [np.sort(allocation.random_costs(rng, 1, K)[0])[::-1] for K in range(2, 31)]

    def worst(by: float = 1.0) -> float:
        constants = [theory.exact_allocation_constant(costs) / by for costs in orders]
        return max(
            float(allocation.spending(costs, large, L)) / large
            for costs, L in zip(orders, constants, strict=True)
        )

    return Finding(
        "spend with the exact constant, the most expensive arm leaving first",
        f"{len(orders)} vectors of costs to {len(orders[-1])} arms",
        verdict(worst() <= 1 + SLACK),
        f"{worst():.6f} of the budget",
        said({"L* ÷": noticed_at(lambda by: worst(by) <= 1 + SLACK)}),
    )


def whole_budget(seed: int) -> Finding:
    """The adaptive constant: less than one round is left, and never less is sampled than by CoPSI."""
    tried = spend_all.proof_trials(3000, seed)
    left = float(tried["unspent"].max())
    ok = bool(tried["monotone"].all() and tried["ahead"].all() and (tried["spent"] <= 1 + SLACK).all())
    return Finding(
        "spend with the adaptive constant in forced orders",
        f"{len(tried):,} runs to {tried['n_arms'].max()} arms",
        verdict(ok and left < 1 + SLACK),
        f"all but {left:.4f} of a round of the last two arms",
        said({"one round ÷": noticed_at(lambda by: left < 1 / by + SLACK)}),
    )


def elimination(seed: int) -> Finding:
    """Lemma 2 with twice the error: a search around the example that breaks it."""
    searched = sharpness.local_search(150, seed, margin=0.05)
    allowed = misclassification.SHARP_SHARE
    return Finding(
        "smallest error of the means that misleads gap elimination, over the gap",
        f"{searched.tried} problems around the sharp example",
        verdict(searched.share >= allowed),
        f"{searched.share:.5f}, where less than {allowed:g} is allowed",
        said({"γ/4 ×": noticed_at(lambda by: by * allowed <= searched.share)}),
    )


def differences(seed: int) -> Finding:
    """Concentration of differences, exactly."""
    cases = [(0.5, 0.5, 100, 0.09), (0.5, 0.5, 100, 0.2), (0.6, 0.4, 100, 0.2), (0.9, 0.3, 40, 0.3)]
    seen = pd.DataFrame([deviation.difference_deviation(*case) for case in cases])

    def exponent_holds(by: float) -> bool:
        return bool((seen["ever"] <= 2 * (seen["bound"] / 2) ** by).all())

    return Finding(
        "exact probability that a difference of two running means ever leaves after N draws",
        f"{len(cases)} cases",
        verdict(bool((seen["ever"] <= seen["bound"]).all())),
        f"at most {(seen['ever'] / seen['bound']).max():.2g} of the bound",
        said(
            {
                "2 in front ÷": room(seen["ever"], seen["bound"]),
                "1 in the exponent ×": noticed_at(exponent_holds),
            }
        ),
    )


def error(seed: int) -> Finding:
    """Error by differences: exact errors of two arms, for the printed and for the adaptive targets."""
    parts = []
    for constant in (1.5, 1.0):  # printed; with two arms the exact and the adaptive constant are one
        for better, worse, budgets in (
            (0.02, 0.01, [3.0, 6.0]),
            (0.8, 0.2, np.geomspace(3, 600, 20)),
            (0.55, 0.45, np.geomspace(3e3, 6e4, 6)),
        ):
            parts.append(two_arms(better, worse, budgets, constant).assign(allocation=constant))
    seen = pd.concat(parts, ignore_index=True)

    def bound(by: float = 1.0) -> np.ndarray:
        return np.array(
            [
                theory.difference_error_bound(by * b, n_arms=2, n_objectives=1, allocation=L, complexity=H)
                for b, L, H in seen[["budget", "allocation", "complexity"]].to_numpy().tolist()
            ]
        )

    at = bound()
    return Finding(
        "exact error of CoPSI and of its adaptive form on two arms",
        f"{len(seen)} budgets to {seen['budget'].max():,.0f}",
        verdict(bool((seen["error"] <= at).all()), bool((at < 1).any())),
        f"at most {(seen['error'] / at)[at < 1].max():.2g} of a bound below one",
        said(
            {
                "16 ÷": noticed_at(lambda by: bool((seen["error"] <= bound(by)).all())),
                "K(K−1)²D ÷": room(seen["error"], at),
            }
        ),
    )
