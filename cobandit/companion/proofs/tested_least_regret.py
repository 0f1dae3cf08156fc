"""Checks of the lower bound of online selection and of its index; each says what change it would notice."""

from __future__ import annotations

from functools import cache
from math import log, pi

import numpy as np
from numpy.typing import NDArray

from cobandit import theory
from cobandit.companion.proofs import concentration
from cobandit.companion.proofs.findings import SLACK, Finding, verdict
from cobandit.companion.proofs.mutation import noticed_at, said
from cobandit.policies import CoHVKLUCB


def sequential_test(doublings: int) -> float:
    r"""Most expected pulls of a coin of mean 1/3 in a sequential test against 2/3, with :math:`B = 2^a`.

    It ends when heads and tails differ by a, and the coin is pulled on if heads are ahead.  That has
    probability :math:`1 / (1 + 2^a)`, and were the mean 2/3, the other arm would be pulled at most once on
    average: no less can be asked of a consistent method.

    Examples
    --------
    >>> sequential_test(1)  # one toss, and two pulls more in one of three runs
    1.6666666666666665
    """
    wrong = 1 / (1 + 2.0**doublings)
    return 3 * doublings * (1 - 2 * wrong) + wrong * 2.0**doublings


def grid_divergence(
    means: NDArray[np.float64], cost: float, best: float, cost_ratio: float, points: int = 400
) -> float:
    """Least divergence of an arm of two objectives from an efficiency, by brute force; never too small."""
    share = (cost - cost_ratio) / (1 - cost_ratio)
    z, x = np.meshgrid(np.linspace(0, share, points + 1)[1:], np.linspace(means[0], 1, points))
    other = np.maximum(best * (cost_ratio + (1 - cost_ratio) * z) / x, means[1])
    kl = theory.bernoulli_divergence
    total = kl(share, z) + kl(means[0], x) + kl(means[1], np.minimum(other, 1))
    return float(np.where(other < 1, total, np.inf).min())


def pulls(seed: int) -> Finding:
    """The lower bound: a sequential test that makes no more pulls, and the divergence by brute force."""
    doublings = np.array([10, 100, 1000])
    K = theory.least_divergence([1 / 3], 1.0, 2 / 3, cost_ratio=1.0)
    made = np.array([sequential_test(int(a)) for a in doublings])
    least = doublings * log(2) / K
    rng, ratios = np.random.default_rng(seed), []
    for _ in range(4):
        lam, means = rng.uniform(0.1, 0.5), rng.uniform(0.2, 0.7, 2)
        cost = rng.uniform(lam + 0.2, 0.9)
        best = min(2.0, 0.8 / lam) * means.prod() / cost
        near = theory.least_divergence(means, cost, best, cost_ratio=lam)
        ratios.append(grid_divergence(means, cost, best, lam) / near)

    def divergence(by: float) -> bool:
        return min(ratios) >= by * (1 - SLACK)

    return Finding(
        "pulls of a sequential test that tells two coins apart, exact; least divergences by brute force",
        f"{len(doublings)} budgets to 2^{doublings[-1]}; {len(ratios)} arms",
        verdict(bool((made >= least).all()) and divergence(1.0)),
        f"log B / K_inf is up to {(least / made).max():.4f} of these; "
        f"by brute force K_inf is at most {max(ratios):.4f} times as large",
        said(
            {
                "1/K_inf ×": noticed_at(lambda by: bool((made >= by * least).all())),
                "K_inf ×": noticed_at(divergence),
                "K_inf ÷": noticed_at(lambda by: max(ratios) * by <= 1.01),  # what the grid can tell
            }
        ),
    )


def index(seed: int) -> Finding:
    """The index: exact chances that a coin leaves its region, and pulls where all means are exact."""
    longest, cases = 300, [(0.5, 0.5), (0.5, 0.05), (0.02, 0.5), (0.02, 0.05)]

    @cache
    def far(n: int, mean: float) -> NDArray[np.float64]:
        return n * theory.bernoulli_divergence(np.minimum(1, np.arange(longest + 1) / n), mean)

    def leaves(mean: float, level: float, first: float, second: float) -> float:
        """Chance of leaving over what is allowed, with either term of the right-hand side cut."""

        def off(n: int, heads: NDArray[np.int64]) -> NDArray[np.bool_]:
            return far(n, mean)[heads] > -log(level) / first + log(pi * (n + 0.5)) / 2 / second

        return concentration.ever_outside([0, 1], [1 - mean, mean], off, longest) / level

    def held(first: float = 1.0, second: float = 1.0) -> float:
        return max(leaves(*case, first, second) for case in cases)

    rewards, budget = [0.9, 0.75], 1000.0
    policy = CoHVKLUCB(2, 1, budget, (1.0, 1.0), selection="all")
    while (arm := policy.ask()) is not None:
        policy.tell(arm, [rewards[arm]], 1.0)
    made = int(policy.pulls[1])
    K = theory.least_divergence(rewards[1:], 1.0, rewards[0], cost_ratio=1.0)
    n = np.arange(1, longest)
    most = int(n[n * K <= log(theory.horizon(budget, 1.0)) + np.log(pi * (n + 0.5))].max())
    at = held()

    def pulls_hold(by: float) -> bool:
        return made <= 1 + most / by

    return Finding(
        "exact probability that a coin ever leaves its region, over δ; pulls of a run without noise",
        f"{len(cases)} pairs of mean and δ, {longest} tosses; B = {budget:.0f}",
        verdict(at <= 1 and pulls_hold(1.0)),
        f"at most {at:.2g}; {made} pulls, where f/K_inf allows {1 + most}",
        said(
            {
                "log T_B ÷": noticed_at(lambda by: held(first=by) <= 1),
                "½ log ÷": noticed_at(lambda by: held(second=by) <= 1),
                "f/K_inf ÷": noticed_at(pulls_hold),
            }
        ),
    )
