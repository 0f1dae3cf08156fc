"""CoPSI with random costs: what plans overspend, exactly."""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _budget
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, Holds, below, check
from companion.proofs.identification_error import two_arm_error


def exact_overspend(
    pulls: ArrayLike, costs: ArrayLike, budget: float, *, cost_ratio: float
) -> float:
    """Probability that fixed numbers of pulls cost more than B, if a pull costs lambda or 1.

    Parameters
    ----------
    pulls : array_like of int, shape (K,)
    costs : array_like, shape (K,)
        Mean costs in [lambda, 1].
    budget : float
        B.
    cost_ratio : float
        lambda in (0, 1).

    Returns
    -------
    float
        By convolution of binomials, in time O(N^2) for N pulls.

    Examples
    --------
    >>> exact_overspend([2, 1], [0.75, 0.75], 2.5, cost_ratio=0.5)  # all three cost 1
    0.125
    """
    expensive = np.ones(1)
    counts = np.asarray(pulls, dtype=np.int64)
    for count, cost in zip(counts, np.asarray(costs), strict=True):
        chance = (cost - cost_ratio) / (1 - cost_ratio)
        expensive = np.convolve(
            expensive, stats.binom.pmf(np.arange(count + 1), count, chance)
        )
    spent = cost_ratio * counts.sum() + (1 - cost_ratio) * np.arange(len(expensive))
    return float(expensive[spent > _budget.add_slack(budget)].sum())


def worst_overspend(budget: float, margin: float, *, cost_ratio: float) -> float:
    r"""Exact probability for the plan that varies most: arms of mean cost :math:`\sqrt\lambda`.

    Examples
    --------
    >>> round(worst_overspend(50.0, 0.1, cost_ratio=0.25), 4)
    0.0747
    """
    cost = cost_ratio**0.5
    pulls = _budget.floor((1 - margin) * budget / cost)
    halves = [pulls // 2, pulls - pulls // 2]
    return exact_overspend(halves, [cost, cost], budget, cost_ratio=cost_ratio)


def variance_trials(trials: int, seed: int) -> float:
    r"""Largest :math:`\mathrm{Var}(X) / ((1 - \sqrt\lambda)^2 c)` of random costs X in [lambda, 1] of mean c.

    Four-point distributions, every second one with its outcomes at the ends; at most 1.

    Examples
    --------
    >>> 0.9 < variance_trials(2000, seed=0) <= 1
    True
    """
    rng = np.random.default_rng(seed)
    ratio = rng.uniform(0.01, 0.99, (trials, 1))
    chances = rng.dirichlet(np.ones(4), trials)
    values = rng.uniform(ratio, 1, chances.shape)
    values[::2] = np.where(rng.random(values.shape) < 0.5, ratio, 1.0)[::2]
    mean = (chances * values).sum(axis=1, keepdims=True)
    variance = (chances * (values - mean) ** 2).sum(axis=1, keepdims=True)
    return float((variance / ((1 - ratio**0.5) ** 2 * mean)).max())


# ----------------------------------------------------------------------------- checks
def cut_bernstein(
    seen: Floats, bound: Floats, square: Floats, variance: Floats, step: Floats
) -> list[Holds]:
    """Cut the two terms under the exponent -square / (variance + step) of a bound on what is seen."""

    def holds(by: float, by_step: float) -> bool:
        under = variance / by + step / by_step
        return bool(
            (seen <= bound * np.exp(square / (variance + step) - square / under)).all()
        )

    return [lambda by: holds(by, 1.0), lambda by: holds(1.0, by)]


@check("What a plan overspends at random costs", "which-arms", ours=True)
def check_overspend(seed: int) -> CheckResult:
    """Exact probability that the plan which varies most costs more than B."""
    cases = [
        (0.25, 30, 0.02),
        (0.25, 800, 0.05),
        (0.25, 800, 0.1),
        (0.01, 400, 0.1),
        (0.01, 400, 0.5),
    ]
    lam, budget, margin = np.array(cases).T
    seen = np.array([worst_overspend(b, d, cost_ratio=r) for r, b, d in cases])
    bound = np.array([bounds.overspend_bound(b, d, cost_ratio=r) for r, b, d in cases])
    variance = 2 * (1 - np.sqrt(lam)) ** 2 * (1 - margin)
    step = 2 / 3 * (1 - lam) * margin
    first, second = cut_bernstein(seen, bound, margin**2 * budget, variance, step)
    return CheckResult(
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, B to"
        f" {budget.max():.0f}",
        f"at most {(seen / bound).max():.2g} of the bound; its exponent at least "
        f"{(np.log(bound) / np.log(seen)).max():.3g} of the exact one",
        {"2(1 − √λ)² ÷": first, "⅔ ÷": second, "1 in front ÷": below(seen, bound)},
        informative=bool((bound < 1).any()),
    )


@check("CoPSI with random costs", "which-arms", ours=True)
def check_random_cost_error(seed: int) -> CheckResult:
    """Exact probability of two arms that the plan costs more than B or the set is wrong."""
    better = 0.8
    worse = 0.2
    lam = 0.25
    cost = sqrt(lam)
    margins = [0.1, 0.5]
    budgets = np.geomspace(4, 400, 12)
    how: dict[str, Any] = {"n_arms": 2, "n_objectives": 1, "allocation": 1.0}
    how["complexity"] = 2 * cost / (better - worse) ** 2
    fails = []
    cases = list(product(margins, budgets))
    for margin, budget in cases:
        pulls = int((1 - margin) * budget / (2 * cost))
        over = exact_overspend([pulls] * 2, [cost] * 2, budget, cost_ratio=lam)
        # costs and rewards independent
        fails.append(
            over
            + (1 - over) * two_arm_error(better, worse, 2.0 * pulls, allocation=1.0)
        )
    seen = np.array(fails)
    spent = np.array(
        [bounds.overspend_bound(budget, d, cost_ratio=lam) for d, budget in cases]
    )

    def wrong(by: float = 1.0) -> Floats:
        return np.array(
            [bounds.difference_error_bound(by * (1 - d) * b, **how) for d, b in cases]
        )

    at = spent + wrong()
    return CheckResult(
        f"{len(cases)} budgets to {budgets[-1]:.0f}, δ = {margins[0]:g} and"
        f" {margins[-1]:g}",
        f"at most {(seen / at).max():.2g} of the bound",
        {
            "16 ÷": below(seen - spent, wrong),
            "K(K−1)²D ÷": below(seen - spent, at - spent),
            "both ÷": below(seen, at),
        },
        informative=bool((at < 1).any()),
    )


@check("A pilot for unknown mean costs", "which-arms", ours=True)
def check_pilot(seed: int) -> CheckResult:
    """Exact probability that a pilot of two arms misses a mean cost by a share of η; what is declared."""
    K = 2
    cases = [
        (0.25, 4, 0.5),
        (0.25, 200, 0.3),
        (0.25, 1000, 0.2),
        (0.01, 2000, 0.5),
        (0.01, 4000, 0.9),
    ]
    lam, pulls, eta = np.array(cases).T
    cost = 2 * lam / (1 + lam)
    share = (cost - lam) / (1 - lam)

    # costs are off by eta c if so many pulls more, or fewer, are expensive
    off = pulls * eta * cost / (1 - lam)
    least = pulls * share
    tails = stats.binom.sf(np.ceil(least + off - SLACK) - 1, pulls, share)
    seen = -np.expm1(
        K
        * np.log1p(
            -tails - stats.binom.cdf(np.floor(least - off + SLACK), pulls, share)
        )
    )
    at = np.array(
        [
            bounds.pilot_failure_bound(int(m), e, n_arms=K, cost_ratio=r)
            for r, m, e in cases
        ]
    )
    variance = (1 - lam) ** 2 / 2
    step = 2 / 3 * (1 - lam) * eta

    # what is declared where the pilot has not failed
    declared = (
        np.minimum(1.0, cost * np.linspace(1 - eta, 1 + eta, 5) / (1 - eta)) / cost
    )
    first, second = cut_bernstein(seen, at, pulls * lam * eta**2, variance, step)
    return CheckResult(
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, m to"
        f" {pulls.max():,.0f}",
        f"at most {(seen / at).max():.2g} of the bound",
        {
            "½(1 − λ)² ÷": first,
            "⅔ ÷": second,
            "2K ÷": below(seen, at),
            "(1 + η)/(1 − η) ÷": below(declared, (1 + eta) / (1 - eta) * (1 + SLACK)),
        },
        holds=bool((declared >= 1 - SLACK).all()),
        informative=bool((at < 1).any()),
    )
