"""Checks of what is proved of random costs, in small; each says what change it would notice."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy import stats

from cobandit import theory
from cobandit.companion.proofs import exact_error, random_costs
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, room, said


def overspend(seed: int) -> Finding:
    """What a plan overspends: exactly, for the plan that varies most."""
    cases = [(0.25, 30, 0.02), (0.25, 800, 0.05), (0.25, 800, 0.1), (0.01, 400, 0.1), (0.01, 400, 0.5)]
    lam, budget, margin = np.array(cases).T
    seen = np.array([random_costs.worst_overspend(b, d, cost_ratio=r) for r, b, d in cases])
    bound = np.array([theory.overspend_bound(b, d, cost_ratio=r) for r, b, d in cases])
    # the exponent is the square over these two together
    square = margin**2 * budget
    variance, step = 2 * (1 - np.sqrt(lam)) ** 2 * (1 - margin), 2 / 3 * (1 - lam) * margin

    def holds(cut: np.ndarray) -> bool:
        return bool((seen <= bound * np.exp(square / (variance + step) - square / cut)).all())

    return Finding(
        "exact probability that the plan which varies most costs more than B",
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, B to {budget.max():.0f}",
        verdict(bool((seen <= bound).all()), bool((bound < 1).any())),
        f"at most {(seen / bound).max():.2g} of the bound; its exponent at least "
        f"{(np.log(bound) / np.log(seen)).max():.3g} of the exact one",
        said(
            {
                "2(1 − √λ)² ÷": noticed_at(lambda by: holds(variance / by + step)),
                "⅔ ÷": noticed_at(lambda by: holds(variance + step / by)),
                "1 in front ÷": room(seen, bound),
            }
        ),
    )


def error(seed: int) -> Finding:
    """CoPSI with random costs: two arms, overspending or a wrong set, exactly."""
    better, worse, lam = 0.8, 0.2, 0.25
    cost, budgets, margins = sqrt(lam), np.tile(np.geomspace(4, 400, 12), 2), np.repeat([0.1, 0.5], 12)
    how: dict[str, Any] = {"n_arms": 2, "n_objectives": 1, "allocation": 1.0}
    how["complexity"] = 2 * cost / (better - worse) ** 2
    cases, fails = list(zip(budgets, margins, strict=True)), []
    for budget, margin in cases:
        pulls = int((1 - margin) * budget / (2 * cost))
        over = random_costs.exact_overspend([pulls] * 2, [cost] * 2, budget, cost_ratio=lam)
        # costs and rewards independent
        wrong = exact_error.two_arm_error(better, worse, 2.0 * pulls, allocation=1.0)
        fails.append(over + (1 - over) * wrong)
    seen = np.array(fails)
    at = np.array([theory.random_cost_error_bound(*case, cost_ratio=lam, **how) for case in cases])
    spent = np.array([theory.overspend_bound(*case, cost_ratio=lam) for case in cases])

    def rate(by: float) -> bool:
        wrong = [theory.difference_error_bound(by * (1 - d) * b, **how) for b, d in cases]
        return bool((seen <= spent + np.array(wrong)).all())

    return Finding(
        "exact probability of two arms that the plan costs more than B or the set is wrong",
        f"{len(cases)} budgets to {budgets[-1]:.0f}, δ = {margins[0]:g} and {margins[-1]:g}",
        verdict(bool((seen <= at).all()), bool((at < 1).any())),
        f"at most {(seen / at).max():.2g} of the bound",
        said(
            {
                "16 ÷": noticed_at(rate),
                "K(K−1)²D ÷": noticed_at(lambda by: bool((seen <= spent + (at - spent) / by).all())),
                "both ÷": room(seen, at),
            }
        ),
    )


def pilot(seed: int) -> Finding:
    """The pilot: exact chances that a mean cost is missed, at the cost where its share varies most."""
    K = 2
    cases = [(0.25, 4, 0.5), (0.25, 200, 0.3), (0.25, 1000, 0.2), (0.01, 2000, 0.5), (0.01, 4000, 0.9)]
    lam, pulls, eta = np.array(cases).T
    cost = 2 * lam / (1 + lam)
    share = (cost - lam) / (1 - lam)
    # costs are off by eta c if so many pulls more, or fewer, are expensive
    off, least = pulls * eta * cost / (1 - lam), pulls * share
    tails = stats.binom.sf(np.ceil(least + off - SLACK) - 1, pulls, share)
    seen = -np.expm1(K * np.log1p(-tails - stats.binom.cdf(np.floor(least - off + SLACK), pulls, share)))
    at = np.array([theory.pilot_failure_bound(int(m), e, n_arms=K, cost_ratio=r) for r, m, e in cases])
    top = pulls * lam * eta**2
    variance, step = (1 - lam) ** 2 / 2, 2 / 3 * (1 - lam) * eta

    def holds(cut: np.ndarray) -> bool:
        return bool((seen <= at * np.exp(top / (variance + step) - top / cut)).all())

    # what is declared where the pilot has not failed
    estimates = cost * np.linspace(1 - eta, 1 + eta, 5)
    declared = np.minimum(1.0, estimates / (1 - eta)) / cost

    def plans(by: float) -> bool:
        return bool((declared <= (1 + eta) / (1 - eta) / by * (1 + SLACK)).all())

    return Finding(
        "exact probability that a pilot of two arms misses a mean cost by a share of η; what is declared",
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, m to {pulls.max():,.0f}",
        verdict(
            bool((seen <= at).all()) and plans(1.0) and bool((declared >= 1 - SLACK).all()),
            bool((at < 1).any()),
        ),
        f"at most {(seen / at).max():.2g} of the bound",
        said(
            {
                "2K ÷": room(seen, at),
                "½(1 − λ)² ÷": noticed_at(lambda by: holds(variance / by + step)),
                "⅔ ÷": noticed_at(lambda by: holds(variance + step / by)),
                "(1 + η)/(1 − η) ÷": noticed_at(plans),
            }
        ),
    )
