"""Checks of this project's propositions on running for real: what fits, evaluating once, several at once."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from cobandit import theory
from cobandit.companion.proofs import once
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, said
from cobandit.policies import CoHVUCB


def feasible(seed: int) -> Finding:
    """Feasible selection: what is left when the best arm no longer fits, in pulls of the cheapest."""
    lam = 0.01

    def pulls(budget: float, selection: str) -> int:
        policy = CoHVUCB(
            *(2, 1, budget),
            cost_range=(lam, 1.0),
            reward_scale=lam,
            cost_scale=lam,
            expected_costs=[1.0, lam],
            selection=selection,
        )
        while (arm := policy.ask()) is not None:
            policy.tell(arm, [1.0 - arm], [1.0, lam][arm])
        return int(policy.pulls[1])

    budgets = np.arange(9.0, 10.0, 0.05).tolist()
    more = max(pulls(budget, "feasible") - pulls(budget, "all") for budget in budgets)

    def holds(by: float) -> bool:
        return more <= 1 / lam / by

    return Finding(
        "pulls that feasible selection adds, the best arm costing 1 and another λ",
        f"λ = {lam:g}, {len(budgets)} budgets",
        verdict(holds(1.0)),
        f"up to {more} more, where 1/λ is {1 / lam:.0f}",
        said({"1/λ ÷": noticed_at(holds)}),
    )


def budget_once(seed: int) -> Finding:
    """CoPSI once: what it spends."""
    problems, replications = 20, 2
    spent = once.largest_spend(problems, replications, seed)
    return Finding(
        "spend of CoPSI once",
        f"{problems} random problems, {replications} orders of the instances each",
        verdict(spent <= 1 + SLACK),
        f"up to {spent:.6f} of the budget",
        said({"B ÷": noticed_at(lambda by: spent <= (1 + SLACK) / by)}),
    )


def without_replacement(seed: int) -> Finding:
    """Both tails without replacement, over all orders of small populations."""
    sizes = (3, 4, 5, 6)
    cases = [(case, N) for N in sizes for case in once.exact_tails(N)]
    tails = np.array([tail for (tail, *_), _ in cases])

    def hoeffding(by: float) -> bool:
        allowed = [theory.hoeffding_serfling_tail(sqrt(by) * e, n, N) for (_, e, n, _), N in cases]
        return bool((tails <= np.array(allowed) + SLACK).all())

    def bernstein(variance: float = 1.0, width: float = 1.0) -> bool:
        allowed = [
            theory.bernstein_serfling_tail(e, n, N, values.var() / variance, 1 / width)
            for (_, e, n, values), N in cases
        ]
        return bool((tails <= np.array(allowed) + SLACK).all())

    return Finding(
        "exact probability that a mean is ever off from depth n on",
        f"all populations of 0 and 1 of {sizes[0]} to {sizes[-1]} instances, {len(cases):,} tails",
        verdict(hoeffding(1.0) and bernstein()),
        "both tails, that of the range and that of the variance",
        said(
            {
                "2 in the exponent ×": noticed_at(hoeffding),
                "σ² ÷": noticed_at(lambda by: bernstein(variance=by)),
                "⅔(b − a) ÷": noticed_at(lambda by: bernstein(width=by)),
            }
        ),
    )


def two_arms_once(only_better: int, only_worse: int, n_instances: int, depth: int) -> float:
    """Exact probability that of two arms the better has no more right answers among the first instances.

    Examples
    --------
    Three instances, one of which only the better arm answers: it is not the first.

    >>> round(two_arms_once(1, 0, 3, depth=1), 6)
    0.666667
    """
    won = np.arange(max(0, depth + only_better - n_instances), min(only_better, depth) + 1)
    chances = stats.hypergeom.pmf(won, n_instances, only_better, depth)
    return float(chances @ stats.hypergeom.sf(won - 1, n_instances - only_better, only_worse, depth - won))


def error_once(seed: int) -> Finding:
    """Both error bounds without replacement: exact errors of two arms."""
    rows = []
    for better, worse, N in ((1, 0, 20), (10, 2, 40), (300, 100, 1000), (900, 60, 1000), (60, 0, 1000)):
        for n in np.unique(np.linspace(1, N, 40).astype(int)).tolist():
            gap = (better - worse) / N
            rows.append((two_arms_once(better, worse, N, n), gap, (better + worse) / N - gap**2, n, N))
    seen = pd.DataFrame(rows, columns=["error", "gap", "variance", "n", "N"])

    plain, paired = (
        np.array([of(*row) for row in seen.itertuples(index=False)])
        for of in (
            lambda _, gap, variance, n, N: theory.once_error_bound(
                [n], [gap] * 2, n_objectives=1, n_instances=N
            ),
            lambda _, gap, variance, n, N: theory.paired_error_bound(
                [n], [gap] * 2, np.full((2, 2, 1), variance), n_instances=N
            ),
        )
    )

    def keeps(bound: np.ndarray, factor: float, front: float = 1.0, exponent: float = 1.0) -> bool:
        cut = factor * (bound / factor) ** exponent / front
        return bool((seen["error"] <= cut + SLACK).all())

    return Finding(
        "exact error of two arms that answer the same instances",
        f"{len(seen)} depths on up to {seen['N'].max():,} instances",
        verdict(keeps(plain, 4) and keeps(paired, 2), bool((paired < 1).any())),
        f"bound below one at {(plain < 1).sum()} depths, by pairs at {(paired < 1).sum()}",
        said(
            {
                "2KD ÷": noticed_at(lambda by: keeps(plain, 4, front=by)),
                "32 ÷": noticed_at(lambda by: keeps(plain, 4, exponent=by)),
                "by pairs, 2 ÷": noticed_at(lambda by: keeps(paired, 2, front=by)),
                "by pairs, exponent ×": noticed_at(lambda by: keeps(paired, 2, exponent=by)),
            }
        ),
    )


def certainty(seed: int) -> Finding:
    """What certainty costs at least: a method that guesses, and one that looks at everything."""
    g, deltas = 9, (0.0, 0.01, 0.1, 0.3)
    rewards = np.ones((2, g, 1))
    rewards[1, 0] = 0.5
    spent = [(1 - 1.5 * delta) * g for delta in deltas]  # each of three fronts guessed at delta / 2

    def holds(by: float) -> bool:
        least = [theory.least_evaluations(rewards, delta / by)[0] for delta in deltas]
        return all(a <= b + SLACK for a, b in zip(least, spent, strict=True))

    return Finding(
        "evaluations of a method that guesses with probability 3δ/2 and else looks at everything",
        f"two configurations, {g} instances, {len(deltas)} levels",
        verdict(holds(1.0)),
        f"{spent[-1]:.3g} at δ = {deltas[-1]:g}, where no method is below "
        f"{theory.least_evaluations(rewards, deltas[-1])[0]:.3g}",
        said({"2δ ÷": noticed_at(holds)}),
    )


def delay(seed: int) -> Finding:
    """Several in flight: means as far off as the event allows, the best answers missing."""
    alpha, budget = 2.0, 1e4
    log_T = log(theory.horizon(budget, 1.0))
    rows = []
    for told in (10, 100, 1000, 10**5):
        for flying in (1, 3, 7, 31):
            n = told + flying
            off = sqrt(alpha * log_T * n)
            mean = min(1.0, (off + flying) / n)  # all that are told fail, all in flight succeed
            seen = min(mean, (off + flying * (1 - mean)) / told)
            kappa = (
                theory.alpha_in_flight(1 + flying, told, budget=budget, cost_ratio=1.0, alpha=alpha) / alpha
            )
            rows.append((seen**2 * n / (alpha * log_T), kappa))
    needed, given = np.array(rows).T

    def holds(by: float) -> bool:
        return bool((needed <= 1 + (given - 1) / by + SLACK).all())

    return Finding(
        "error of a mean whose best answers are in flight, on the event",
        f"{len(rows)} pairs of pulls and pulls in flight",
        verdict(holds(1.0)),
        f"κ − 1 is at least {((given - 1) / (needed - 1))[needed > 1].min():.3g} times what is needed",
        said({"κ − 1 ÷": noticed_at(holds)}),
    )
