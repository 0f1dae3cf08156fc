"""Checks of the paper's statements on identification, in small; each says what change it would notice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from cobandit import theory
from cobandit.companion.proofs import (
    allocation,
    complexity,
    deviation,
    exact_error,
    misclassification,
    sharpness,
)
from cobandit.companion.proofs import identification_error as measured
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, room, said
from cobandit.problem import Problem


def hardness(seed: int) -> Finding:
    """Section 3.2: the complexity by sorting."""
    trials = complexity.complexity_trials(300, seed)
    ratio = trials["sorted"] / trials["brute_force"]

    def holds(by: float) -> bool:
        return bool((ratio / by - 1).abs().max() <= SLACK)

    return Finding(
        "sorted form against the maximum over all sets of arms",
        f"{len(trials)} problems to {trials['n_arms'].max()} arms",
        verdict(holds(1.0)),
        f"largest relative difference {(ratio - 1).abs().max():.1g}",
        said({"H ÷": noticed_at(holds)}),
    )


def feasibility(seed: int) -> Finding:
    """Step 2 of Theorem 2: spend in forced orders, and the worst order of many equal arms."""
    forced, arms = allocation.spending_trials(3000, seed), (30, 300, 3000)
    large = 1e9

    def worst(by: float = 1.0) -> float:
        constants = [theory.allocation_constant(K, 1.0) / by for K in arms]
        return max(
            float(allocation.spending(np.ones(K), large, L)) / large
            for K, L in zip(arms, constants, strict=True)
        )

    spent = max(float(forced["spent"].max()), worst())
    return Finding(
        "spend of CoPSI in forced orders of elimination",
        f"{len(forced):,} runs to {forced['n_arms'].max()} arms; equal costs to {max(arms):,} arms",
        verdict(spent <= 1 + SLACK),
        f"at most {spent:.3g} of the budget",
        said({"L ÷": noticed_at(lambda by: worst(by) <= 1 + SLACK)}),
    )


def elimination(seed: int) -> Finding:
    """Lemma 2: random problems, and a search around the example that breaks it."""
    share = misclassification.PAPER_SHARE
    trials = misclassification.lemma_trials(3000, seed, shares=(share,))
    searched, wrong = sharpness.local_search(150, seed, margin=0.05), int(trials["wrong"].sum())
    return Finding(
        f"gap elimination with means that err by {share:.4g} of the phase's gap",
        f"{len(trials):,} problems to {trials['K'].max()} arms; {searched.tried} around the sharp example",
        verdict(wrong == 0 and searched.share > share),
        f"{wrong} wrong sets; the smallest error that misled was {searched.share:.4f}",
        said({"γ/8 ×": noticed_at(lambda by: by * share < searched.share)}),
    )


def targets(seed: int) -> Finding:
    """Step 3 of Theorem 2: what each phase collects, where the floor costs most."""
    # H gamma^2 = C, and budgets just short of another pull of both arms
    two = Problem([[0.9], [0.05]], [1.0, 1.0])
    condition = 2 * theory.allocation_constant(2, 1.0) * two.complexity
    budgets = [b for b in 3.0 * np.arange(2, 7) * (1 - 1e-6) if b >= condition]
    shares = [measured.least_target_share(two, budget, seed) for budget in budgets]
    few = measured.random_problems(4, seed)
    for p in few:
        budget = 2 * theory.allocation_constant(p.n_arms, p.costs.min()) * p.complexity
        shares.append(measured.least_target_share(p, budget, seed))
    least = min(shares)
    return Finding(
        "n γ² of every phase over B / (2 L H), gaps where the floor costs most",
        f"{len(budgets)} budgets for a gap of {two.classification_gaps[0]:g}; {len(few)} random problems",
        verdict(least >= 1),
        f"at least {least:.3g}",
        said({"2 ÷": noticed_at(lambda by: by <= least)}),
    )


def concentration(seed: int) -> Finding:
    """Step 4 of Theorem 2: exact probabilities of leaving after N draws."""
    cases = [(0.5, 100, 0.06), (0.5, 100, 0.12), (0.5, 200, 0.15), (0.2, 50, 0.15), (0.9, 100, 0.1)]
    seen = pd.DataFrame([deviation.uniform_deviation(*case) for case in cases])

    def exponent_holds(by: float) -> bool:
        return bool((seen["ever"] <= 2 * (seen["bound"] / 2) ** by).all())

    return Finding(
        "exact probability that running means ever leave after N draws",
        f"{len(cases)} cases",
        verdict(bool((seen["ever"] <= seen["bound"]).all())),
        f"at most {(seen['ever'] / seen['bound']).max():.2g} of the bound",
        said(
            {
                "2 in front ÷": room(seen["ever"], seen["bound"]),
                "2 in the exponent ×": noticed_at(exponent_holds),
            }
        ),
    )


def two_arms(better: float, worse: float, budgets: Iterable[float], allocation: float = 1.5) -> pd.DataFrame:
    """Exact error of two arms at unit costs, and what the bounds read of them."""
    H = theory.cost_complexity([better - worse] * 2, [1.0, 1.0])
    rows = [(b, H, exact_error.two_arm_error(better, worse, b, allocation=allocation)) for b in budgets]
    return pd.DataFrame(rows, columns=["budget", "complexity", "error"])


def error(seed: int) -> Finding:
    """Theorem 2: exact errors of two arms, from ties in one pull to budgets where the bound is tiny."""
    seen = pd.concat(
        [
            two_arms(0.02, 0.01, [3.0, 6.0]),
            two_arms(0.8, 0.2, np.geomspace(3, 12_000, 20)),
            two_arms(0.55, 0.45, np.geomspace(3e3, 6e4, 6)),
        ],
        ignore_index=True,
    )

    def bound(by: float = 1.0) -> np.ndarray:
        how: dict[str, Any] = {"n_arms": 2, "n_objectives": 1, "cost_ratio": 1.0}
        return np.array(
            [
                theory.identification_error_bound(by * b, complexity=H, **how)
                for b, H in zip(seen["budget"], seen["complexity"], strict=True)
            ]
        )

    at = bound()
    informative = at < 1
    easy = (seen["complexity"] == seen["complexity"].to_numpy()[2]).to_numpy()
    begins = seen.loc[easy & informative, "budget"].min()  # nan: beyond these
    even = seen.loc[easy & (seen["error"] <= 0.05), "budget"].min()
    return Finding(
        "exact error of CoPSI on two arms, three pairs of means",
        f"{len(seen)} budgets from {seen['budget'].min():,.0f} to {seen['budget'].max():,.0f}",
        verdict(bool((seen["error"] <= at).all()), bool(informative.any())),
        f"on means 0.8 and 0.2 the bound is below one from B = {begins:,.0f}, "
        f"the error below 5 % from {even:,.0f}",
        said(
            {
                "256 ÷": noticed_at(lambda by: bool((seen["error"] <= bound(by)).all())),
                "2K²D ÷": room(seen["error"], at),
            }
        ),
    )


def exponent(seed: int) -> Finding:
    """The abstract: the rate of the error, with the exact constant."""
    K, better, worse = 14, 0.55, 0.45
    constant = theory.exact_allocation_constant(np.ones(K))
    H = theory.cost_complexity([better - worse] * K, np.ones(K))
    budgets = np.array([7e4, 1.4e5])
    errors = [exact_error.first_phase_error(better, worse, K, b, allocation=constant) for b in budgets]
    falls = float(-np.diff(np.log(errors))[0] / np.diff(budgets)[0] * H)
    return Finding(
        "exact lower bound of the error with the exact constant, one best arm and 13 equal ones",
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}",
        verdict(falls >= 1),
        f"log error falls by {falls:.2f} per B/H, where the claim asks for 1",
        said({}),
    )
