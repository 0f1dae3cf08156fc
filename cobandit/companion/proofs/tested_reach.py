"""Checks of what it matters which arms are left, in small; each says what change it would notice."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import theory
from cobandit.companion.proofs import exact_error, reach
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.misclassification import eliminate
from cobandit.companion.proofs.mutation import noticed_at, room, said
from cobandit.problem import Problem

#: How far, over the largest gap, the middle of three arms is from where it may just leave.
APART = 1e-3


def three_arms(within: float) -> NDArray[np.float64]:
    """Means of three arms on a line, the last two this share of the largest gap apart."""
    return np.array([[0.9], [0.1 + 0.8 * within], [0.1]])


def sets(seed: int) -> Finding:
    """Reachable sets: random problems, and all extreme errors where the middle arm just may not leave."""
    rng, runs = np.random.default_rng(seed), 60
    drawn = [rng.random((5, 2)) for _ in range(2)]
    outside = sum(
        reach.outside(reach.visited_sets(means, runs, seed), theory.reachable_sets(means)) for means in drawn
    )
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))[:, :, None]

    def stays(means: NDArray[np.float64], by: float) -> bool:
        gap = Problem(means, np.ones(3)).classification_gaps.max()
        return all(eliminate(means, [by * gap / 8 * corner])[1][0] == 2 for corner in corners)

    # the means of the last two arms pass each other if they are less than g/4 apart; intervals, in which
    # margins move one by one, let the middle one leave up to g/2
    cases = {
        "γ/8 ×": (reach.exactly_leave, three_arms(1 / 4 + APART)),
        "γ/8 by intervals ×": (theory.may_leave, three_arms(1 / 2 + APART)),
    }
    told = all(len(theory.reachable_sets(means, leaves)[1]) == 1 for leaves, means in cases.values())
    inside = all(stays(means, 1.0) for _, means in cases.values())
    return Finding(
        "sets that runs with errors below γ/8 come to; the middle of three arms, at all extreme errors",
        f"{len(drawn)} problems of 5 arms, {runs} runs each; {len(cases)} times {len(corners)} errors",
        verdict(outside == 0 and inside and told),
        f"{outside} sets that are not listed",
        said({name: noticed_at(partial(stays, means)) for name, (_, means) in cases.items()}),
    )


def error(seed: int) -> Finding:
    """Error with reachable sets: exact, two cheap arms that are close and an expensive one that is easy."""
    better, worse, cheap = 0.55, 0.45, 0.05
    p = Problem([[better], [worse], [0.0]], [cheap, cheap, 1.0])
    L = theory.exact_allocation_constant(p.costs)
    how: dict[str, Any] = {
        **{"n_arms": 3, "n_objectives": 1, "allocation": L},
        "complexity": theory.reachable_complexity(p.means, p.costs),
    }
    budgets, errors = np.geomspace(20, 2000, 8), []
    for budget in budgets:
        first, last = int(budget / (L * p.costs.sum())), int(budget / (L * 2 * cheap))
        # unless the worse arm has no success in the first phase, the expensive one leaves
        wrong = exact_error.two_arm_error(better, worse, 2.0 * last, allocation=1.0)
        errors.append(wrong - (1 - worse) ** first)
    seen = np.array(errors)

    def bound(by: float = 1.0) -> NDArray[np.float64]:
        return np.array([theory.difference_error_bound(by * budget, **how) for budget in budgets])

    at = bound()
    return Finding(
        "error of CoPSI with the exact constant, from below, an expensive arm being easy to classify",
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}; H is {p.complexity / how['complexity']:.3g} H_reach",
        verdict(bool((seen <= at).all()), bool((at < 1).any())),
        f"at most {(seen / at).max():.2g} of the bound",
        said(
            {
                "16 H_reach ÷": noticed_at(lambda by: bool((seen <= bound(by)).all())),
                "K(K−1)²D ÷": room(seen, at),
            }
        ),
    )


def one_objective(seed: int) -> Finding:
    """H_reach against the sum over arms: the middle arm just may leave, and the last is expensive."""
    costs, means = np.array([1e-4, 1e-4, 1.0]), three_arms(1 / 4 - APART)
    most = theory.reachable_complexity(means, costs, reach.exactly_leave)
    total = theory.summed_complexity(Problem(means, costs).classification_gaps, costs)
    return Finding(
        "H_reach over the sum of c/γ², one objective, exactly",
        "three arms, of which the middle one just may leave",
        verdict(most <= 16 / 9 * total * (1 + SLACK)),
        f"{most / total:.4f}, where 16/9 is allowed",
        said({"16/9 ÷": noticed_at(lambda by: most <= 16 / 9 * total / by * (1 + SLACK))}),
    )


def least_error(seed: int) -> Finding:
    """The lower bound: the best test of two arms, exactly, and complexities of the hard family."""
    pulls = [2, 10, 30, 100, 300, 500]
    p = reach.hard_family([1.0, 1.0])[1]
    H = theory.reachable_complexity(p.means, p.costs)
    least = np.array([reach.best_test_error(n) for n in pulls])

    def bound(by: float = 1.0) -> NDArray[np.float64]:
        return np.array([theory.least_error(n / by, allocation=1.0, complexity=H) for n in pulls])

    rng, scaled = np.random.default_rng(seed), []
    for K in (2, 3, 4):
        costs = np.sort(10 ** rng.uniform(-2, 0, K))
        total = np.cumsum(costs)
        for q, sum_ in zip(reach.hard_family(costs)[1:], total[1:], strict=True):
            scaled.append(theory.reachable_complexity(q.means, costs) * sum_ / (16 * total[-1] ** 2))
    largest = max(scaled)

    def small(by: float) -> bool:
        return largest <= (1 + SLACK) / by

    at = bound()
    return Finding(
        "least error that any method can have on two arms, exact; complexities of the hard family",
        f"{len(pulls)} budgets to {pulls[-1]:,} pulls; {len(scaled)} problems",
        verdict(bool((least >= at).all()) and small(1.0)),
        f"at least {(least / at).min():.2g} times the bound; "
        f"complexities up to {largest:.3g} of what is allowed",
        said(
            {
                "18 ÷": noticed_at(lambda by: bool((least >= bound(by)).all())),
                "¼ ×": noticed_at(lambda by: bool((least >= by * at).all())),
                "1/(s²C) ÷": noticed_at(small),
            }
        ),
    )
