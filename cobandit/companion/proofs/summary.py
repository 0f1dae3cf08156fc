"""What was tested of each statement of the paper, in small: one row per statement, each computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit import theory
from cobandit.companion import known_arms
from cobandit.companion.proofs import (
    allocation,
    compare,
    complexity,
    concentration,
    deviation,
    exact_error,
    fluid,
    growth,
    misclassification,
    pulls,
    stopping,
)
from cobandit.errors import CobanditError
from cobandit.stats import metrics

#: What a row can say.  "says nothing": the bound holds, but only above what holds trivially.
HOLDS, SAYS_NOTHING, FAILS = "holds", "holds, says nothing at this size", "counterexample"


class Finding(NamedTuple):
    """What one check looked at, in what size, how it came out, and the number behind that."""

    tested: str
    size: str
    outcome: str
    found: str


def _verdict(holds: bool, informative: bool = True) -> str:
    return (HOLDS if informative else SAYS_NOTHING) if holds else FAILS


# ----------------------------------------------------------------------------- online selection
def _watched(seed: int) -> tuple[list[pulls.WatchedRuns], str]:
    """Runs of Algorithm 1 with radii from far too small, where the event often fails, to the theory's."""
    means, costs, budget, runs = [[0.75, 0.75], [0.25, 0.25], [0.5, 0.25]], [0.75, 0.5, 0.6], 400.0, 400
    three = known_arms.designed_arms(means, costs, spread=0.25)
    alphas = (0.01, 0.05, 0.2, 2.0)
    seen = [pulls.run_cohv(three, budget, runs, alpha=alpha, seed=seed) for alpha in alphas]
    on = sum(int(each.on_event().sum()) for each in seen)
    return seen, f"{on:,} runs on the event, {runs * len(alphas) - on:,} off it"


def _event(seed: int) -> Finding:
    T_values, alphas, share, informative = (10, 100, 1000), (0.51, 0.75, 1.0, 1.5, 2.0), 0.0, 0
    for T in T_values:
        for alpha in alphas:
            one = concentration.leaving_probability(T, alpha)
            exact = -np.expm1(6 * np.log1p(-one))
            bound = theory.failure_probability(
                n_arms=2, n_objectives=2, cost_ratio=1.0, budget=T - 1, alpha=alpha
            )
            share, informative = max(share, exact / bound), informative + (bound < 1)
    cases = len(T_values) * len(alphas)
    return Finding(
        "exact probability of leaving, K = 2, D = 2, fair coins",
        f"{cases} pairs of horizon (to {T_values[-1]:,}) and α",
        _verdict(share <= 1, informative > 0),
        f"at most {share:.2g} of the bound, which is below one in {informative} of {cases}",
    )


def _optimism(seed: int) -> Finding:
    seen, size = _watched(seed)
    on = min(float(each.optimism[each.on_event()].min(initial=np.inf)) for each in seen)
    off = min(float(each.optimism[~each.on_event()].min(initial=np.inf)) for each in seen)
    return Finding(
        "index of the best arm less ν* after every pull, designed arms",
        size,
        _verdict(on >= -1e-9),
        f"never less than {on:.2g} on the event; off it {off:.2g}",
    )


def _index(seed: int) -> Finding:
    seen, size = _watched(seed)
    largest = max(float(each.closest[each.on_event()].max(initial=0.0)) for each in seen)
    return Finding(
        "index less efficiency, over C times the radius, after every pull",
        size,
        _verdict(largest <= 1),
        f"at most {largest:.2g} on the event, where 1 is allowed",
    )


def _pull_counts(seed: int) -> Finding:
    budget, runs = 1e5, 8
    cases = [(1, 1.0, 0.5), (1, 1.0, 0.25), (1, 0.5, 0.75), (2, 1.0, 0.5), (2, 0.5, 0.75)]
    frames = [
        compare.compare_bounds(known_arms.two_arms(*case), budget, runs, seed=seed)[0] for case in cases
    ]
    seen = pd.concat(frames, ignore_index=True)
    ratio, informative = seen["Theorem 1"] / seen["simulated"], seen["Theorem 1"] < seen["trivial"]
    return Finding(
        "mean pulls of the worse of two arms, 95 % interval against the bound",
        f"{len(cases)} cases of D, λ and gap, {runs} runs, B = {budget:,.0f}",
        _verdict(bool((seen["low"] <= seen["Theorem 1"]).all()), bool(informative.any())),
        f"bound {ratio.min():,.0f} to {ratio.max():,.0f} times the pulls; below B/λ in "
        f"{informative.sum()} of {len(cases)}",
    )


def _growth(seed: int) -> Finding:
    known, budgets, runs = known_arms.two_arms(2, 0.5, 0.5), np.geomspace(1e3, 1e6, 6), 8
    gaps = known.problem.efficiency_gaps
    how: dict[str, Any] = {"n_objectives": 2, "cost_ratio": known.cost_ratio}
    seen = [pulls.run_cohv(known, b, runs, seed=seed + k).pulls @ gaps for k, b in enumerate(budgets)]
    bounds = np.array([theory.efficiency_regret_bound(gaps, budget=b, **how) for b in budgets])
    below = [metrics.mean_interval(regret)[0] <= bound for regret, bound in zip(seen, bounds, strict=True)]
    trivial = gaps.max() * budgets / known.cost_ratio
    possible = [theory.horizon(b, known.cost_ratio) for b in budgets]
    law = growth.fitted_growth(possible, np.array(seen), resamples=100)
    return Finding(
        "mean efficiency regret, 95 % interval against the bound, and its growth",
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}, {runs} runs",
        _verdict(all(below), bool((bounds < trivial).any())),
        f"growth exponent {law.value:.2f} ({law.low:.2f} to {law.high:.2f}), 0 is the logarithm; bound below "
        f"ΔB/λ at {(bounds < trivial).sum()} of {len(budgets)}",
    )


def _benchmark(seed: int) -> Finding:
    rng, problems, reach, grid = np.random.default_rng(seed), 100, 60, 20
    above = {False: -np.inf, True: -np.inf}  # completed pulls only; with the pull that crosses
    holds, budgets = True, np.arange(1, reach + 1) / grid
    for _ in range(problems):
        K = int(rng.integers(1, 4))
        costs, p, utilities = rng.integers(2, grid + 1, (K, 2)), rng.random(K), rng.random(K)
        chances = np.column_stack([p, 1 - p])
        best = float((utilities / (costs / grid * chances).sum(axis=1)).max())
        bounds = np.array([theory.optimal_utility_bound(best, b) for b in budgets])
        for boundary in above:
            earned = fluid.optimal_utility(utilities, costs, chances, reach, boundary=boundary)[1:]
            above[boundary] = max(above[boundary], float((earned / best - budgets).max()))
            holds &= bool((earned <= bounds * (1 + 1e-9)).all())
    return Finding(
        "best adaptive policy by dynamic programming, crossing pull included",
        f"{problems} problems, {reach} budgets each",
        _verdict(holds),
        f"earns up to ν*(B + {above[True]:.3f}); completed pulls alone up to ν*(B + {above[False]:.3f})",
    )


def _identity(seed: int) -> Finding:
    e = stopping.expected_stopping([1, 10], [0.5, 0.5], 100)  # in tenths of the largest cost
    at = (e["mean_cost"] * e["pulls"] - e["spend"]) / 10
    later = (e["mean_cost"] * e["crossing_pulls"] - e["crossing_spend"]) / 10
    return Finding(
        "mean costs times expected pulls less expected spend, exact",
        "one arm, costs 0.1 or 1, B = 10",
        _verdict(abs(at) <= 1e-9),
        f"they differ by {abs(at):.3f} at T(B), by {abs(later):.3f} one pull later",
    )


def _standard(seed: int) -> Finding:
    known, budget, runs = known_arms.two_arms(1, 1.0, 0.5), 1e5, 20
    problem = known.problem
    counts = pulls.run_cohv(known, budget, runs, seed=seed).pulls
    regret = metrics.standard_regret(problem, counts, budget)
    best = float(problem.efficiency.max())
    bound = theory.standard_regret_bound(
        problem.efficiency_gaps,
        problem.costs,
        best,
        n_objectives=1,
        cost_ratio=known.cost_ratio,
        budget=budget,
    )
    return Finding(
        "mean regret against ν*B, 95 % interval against the bound",
        f"two arms, {runs} runs, B = {budget:,.0f}",
        _verdict(metrics.mean_interval(regret)[0] <= bound, bound < best * budget),
        f"regret {regret.mean():,.0f}, bound {bound:,.0f}, everything lost {best * budget:,.0f}",
    )


# ----------------------------------------------------------------------------- identification
def _complexity(seed: int) -> Finding:
    trials = complexity.complexity_trials(300, seed)
    off = float((trials["sorted"] / trials["brute_force"] - 1).abs().max())
    return Finding(
        "sorted form against the maximum over all sets of arms",
        f"{len(trials)} problems to {trials['n_arms'].max()} arms",
        _verdict(off <= 1e-9),
        f"largest relative difference {off:.1g}",
    )


def _feasibility(seed: int) -> Finding:
    forced = allocation.spending_trials(3000, seed)
    spent = float(forced["spent"].max())
    return Finding(
        "spend of CoPSI in forced orders of elimination",
        f"{len(forced):,} runs to {forced['n_arms'].max()} arms",
        _verdict(spent <= 1 + 1e-9),
        f"at most {spent:.3g} of the budget",
    )


def _elimination(seed: int) -> Finding:
    share = misclassification.PAPER_SHARE
    trials = misclassification.lemma_trials(20_000, seed, shares=(share,))
    wrong = int(trials["wrong"].sum())
    return Finding(
        f"gap elimination with means that err by {share:.4g} of the phase's gap",
        f"{len(trials):,} problems to {trials['K'].max()} arms, {trials['D'].max()} objectives",
        _verdict(wrong == 0),
        f"{wrong} wrong sets; below {misclassification.SHARP_SHARE:g} is enough, by our proof",
    )


def _deviation(seed: int) -> Finding:
    cases = [(0.5, 50, 0.15), (0.5, 200, 0.08), (0.2, 50, 0.15), (0.9, 100, 0.1)]
    seen = pd.DataFrame([deviation.uniform_deviation(*case) for case in cases])
    return Finding(
        "exact probability that running means ever leave after N draws",
        f"{len(cases)} cases",
        _verdict(bool((seen["ever"] <= seen["bound"]).all())),
        f"at most {(seen['ever'] / seen['bound']).max():.2g} of the bound",
    )


def _two_arms(better: float, worse: float, budgets: Iterable[float]) -> tuple[pd.DataFrame, float]:
    """Exact error and Theorem 2 for two arms at unit costs, and the complexity."""
    H = theory.cost_complexity([better - worse] * 2, [1.0, 1.0])
    how: dict[str, Any] = {"n_arms": 2, "n_objectives": 1, "cost_ratio": 1.0, "complexity": H}
    rows = [
        (b, exact_error.two_arm_error(better, worse, b), theory.identification_error_bound(b, **how))
        for b in budgets
    ]
    return pd.DataFrame(rows, columns=["budget", "error", "bound"]), H


def _error(seed: int) -> Finding:
    seen, _ = _two_arms(0.8, 0.2, np.geomspace(3, 12_000, 40))
    informative = seen["budget"][seen["bound"] < 1]
    starts = f"{informative.min():,.0f}" if len(informative) else "beyond these"
    even = seen["budget"][seen["error"] <= 0.05]
    return Finding(
        "exact error of CoPSI on two arms, means 0.8 and 0.2",
        f"{len(seen)} budgets from {seen['budget'].min():,.0f} to {seen['budget'].max():,.0f}",
        _verdict(bool((seen["error"] <= seen["bound"]).all()), len(informative) > 0),
        f"at most {(seen['error'] / seen['bound']).max():.1g} of the bound; bound below one from "
        f"B = {starts}, error below 5 % from {even.min():,.0f}",
    )


def _exponent(seed: int) -> Finding:
    K, better, worse = 14, 0.55, 0.45
    allocation = theory.exact_allocation_constant(np.ones(K))
    H = theory.cost_complexity([better - worse] * K, np.ones(K))
    budgets = np.array([7e4, 1.4e5])
    errors = [
        exact_error.first_phase_error(better, worse, K, budget, allocation=allocation) for budget in budgets
    ]
    falls = -np.diff(np.log(errors))[0] / np.diff(budgets)[0] * H
    return Finding(
        "exact lower bound of the error with the exact constant, one best arm and 13 equal ones",
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}",
        _verdict(falls >= 1),
        f"log error falls by {falls:.2f} per B/H, where the claim asks for 1",
    )


#: Statement: the check and the page that has more of it.
CHECKS = {
    "Theorem 1, Step 1: means stay within their radii": (_event, "regret-bound"),
    "Theorem 1, Step 2: the best arm's index is optimistic": (_optimism, "regret-bound"),
    "Theorem 1, Step 3: no index exceeds its efficiency by much": (_index, "regret-bound"),
    "Theorem 1: pulls of a suboptimal arm": (_pull_counts, "regret-bound"),
    "Theorem 1: efficiency regret O(log B)": (_growth, "regret-bound"),
    "Lemma 1: no policy earns more than ν*(B + 1)": (_benchmark, "standard-regret"),
    "Proof of Corollary 1: optional sampling at T(B)": (_identity, "standard-regret"),
    "Corollary 1: standard regret": (_standard, "standard-regret"),
    "Section 3.2: complexity H": (_complexity, "gaps-and-complexity"),
    "Theorem 2, Step 2: CoPSI stays within its budget": (_feasibility, "copsi"),
    "Lemma 2: no mistake while margins err by little": (_elimination, "error-bound"),
    "Theorem 2, Step 4: concentration at adaptive targets": (_deviation, "error-bound"),
    "Theorem 2: error probability": (_error, "error-bound"),
    "Abstract: error O(exp(−B/H))": (_exponent, "errata"),
}


def check_statements(statements: Iterable[str] | None = None, seed: int = 0) -> pd.DataFrame:
    """Test statements of the paper in small, and say what came out.

    Parameters
    ----------
    statements : iterable of str, optional
        Keys of ``CHECKS``; default all.
    seed : int
        Of what is simulated.

    Returns
    -------
    DataFrame, one row per statement
        ``statement``; ``tested``, what was looked at; ``size``; ``outcome`` (``holds``, ``holds, says nothing
        at this size`` if every bound tried is above what holds trivially, or ``counterexample``);
        ``found``, the number behind it; ``page``, the notebook that has more.  Seconds for all of them.

    Raises
    ------
    CobanditError
        If a statement is not among ``CHECKS``.

    Examples
    --------
    >>> check_statements(["Section 3.2: complexity H"])["outcome"].item()
    'holds'
    """
    statements = list(CHECKS) if statements is None else list(statements)
    rows = []
    for statement in statements:
        if statement not in CHECKS:
            raise CobanditError(f"{statement!r} is not tested; there are: {'; '.join(CHECKS)}")
        test, page = CHECKS[statement]
        rows.append((statement, *test(seed), page))
    return pd.DataFrame(rows, columns=["statement", *Finding._fields, "page"])
