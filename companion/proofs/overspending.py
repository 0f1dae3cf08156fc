"""Checks of CoPSI with random costs, by exact probabilities of overspending."""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _budget
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, Holds, below, check
from companion.proofs.exact_errors import two_arm_error


def exact_overspend(
    pulls: ArrayLike, costs: ArrayLike, budget: float, *, cost_ratio: float
) -> float:
    """Return the exact probability that given pulls cost more than the budget.

    The costs are random: a pull costs lambda or 1.

    Parameters
    ----------
    pulls : array_like of int, shape (K,)
        Number of pulls of each arm.
    costs : array_like, shape (K,)
        Mean costs in [lambda, 1].
    budget : float
        B.
    cost_ratio : float
        lambda in (0, 1).

    Returns
    -------
    float
        The probability, by convolution of binomial distributions. Time O(N^2) for N
        pulls.

    Examples
    --------
    >>> exact_overspend([2, 1], [0.75, 0.75], 2.5, cost_ratio=0.5)  # all three cost 1
    0.125
    """
    # distribution of the number of pulls that cost 1
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
    r"""Return the exact probability of overspending in the worst case.

    The worst case has the largest variance of the total cost: two arms of mean cost
    :math:`\sqrt\lambda`, whose pulls cost lambda or 1. The number of pulls is planned
    for :math:`1 - \delta` times the budget, where delta is ``margin``.

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
    r"""Return the largest ratio of the variance of a cost to its bound, over trials.

    The bound for a cost in [lambda, 1] of mean c is :math:`(1 - \sqrt\lambda)^2 c`. In
    each trial, the cost has a random distribution on four points. In every second
    trial, all points are lambda or 1.

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


def cut_bernstein(
    exact: Floats, bound: Floats, square: Floats, variance: Floats, step: Floats
) -> list[Holds]:
    """Return two functions that check a Bernstein bound with a changed constant.

    The exponent of the bound is -square / (variance + step). The first function divides
    the variance by a factor, and the second divides the step.
    """

    def holds(variance_factor: float, step_factor: float) -> bool:
        denominator = variance / variance_factor + step / step_factor
        change = square / (variance + step) - square / denominator
        return bool((exact <= bound * np.exp(change)).all())

    return [lambda factor: holds(factor, 1.0), lambda factor: holds(1.0, factor)]


@check("What a plan overspends at random costs", "which-arms", ours=True)
def check_overspend(seed: int) -> CheckResult:
    """Exact probability that the plan of largest variance costs more than B."""
    cases = [
        (0.25, 30, 0.02),
        (0.25, 800, 0.05),
        (0.25, 800, 0.1),
        (0.01, 400, 0.1),
        (0.01, 400, 0.5),
    ]
    lam, budget, margin = np.array(cases).T
    exact = np.array([worst_overspend(b, d, cost_ratio=r) for r, b, d in cases])
    bound = np.array([bounds.overspend_bound(b, d, cost_ratio=r) for r, b, d in cases])

    variance = 2 * (1 - np.sqrt(lam)) ** 2 * (1 - margin)
    step = 2 / 3 * (1 - lam) * margin
    first, second = cut_bernstein(exact, bound, margin**2 * budget, variance, step)
    return CheckResult(
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, B to"
        f" {budget.max():.0f}",
        f"at most {(exact / bound).max():.2g} of the bound; its exponent at least "
        f"{(np.log(bound) / np.log(exact)).max():.3g} of the exact one",
        {"2(1 − √λ)² ÷": first, "⅔ ÷": second, "1 in front ÷": below(exact, bound)},
        informative=bool((bound < 1).any()),
    )


@check("CoPSI with random costs", "which-arms", ours=True)
def check_random_cost_error(seed: int) -> CheckResult:
    """Exact probability that CoPSI overspends or errs on two arms."""
    better = 0.8
    worse = 0.2
    lam = 0.25
    cost = sqrt(lam)
    margins = [0.1, 0.5]
    budgets = np.geomspace(4, 400, 12)
    options: dict[str, Any] = {"n_arms": 2, "n_objectives": 1, "allocation": 1.0}
    options["complexity"] = 2 * cost / (better - worse) ** 2
    failures = []
    cases = list(product(margins, budgets))
    for margin, budget in cases:
        pulls = int((1 - margin) * budget / (2 * cost))
        overspend = exact_overspend([pulls] * 2, [cost] * 2, budget, cost_ratio=lam)
        # costs and rewards are independent
        failures.append(
            overspend
            + (1 - overspend)
            * two_arm_error(better, worse, 2.0 * pulls, allocation=1.0)
        )
    exact = np.array(failures)
    overspend_bounds = np.array(
        [bounds.overspend_bound(budget, d, cost_ratio=lam) for d, budget in cases]
    )

    def error_bounds(factor: float = 1.0) -> Floats:
        return np.array(
            [
                bounds.difference_error_bound(factor * (1 - d) * b, **options)
                for d, b in cases
            ]
        )

    total_bound = overspend_bounds + error_bounds()
    return CheckResult(
        f"{len(cases)} budgets to {budgets[-1]:.0f}, δ = {margins[0]:g} and"
        f" {margins[-1]:g}",
        f"at most {(exact / total_bound).max():.2g} of the bound",
        {
            "16 ÷": below(exact - overspend_bounds, error_bounds),
            "K(K−1)²D ÷": below(
                exact - overspend_bounds, total_bound - overspend_bounds
            ),
            "both ÷": below(exact, total_bound),
        },
        informative=bool((total_bound < 1).any()),
    )


@check("A pilot for unknown mean costs", "which-arms", ours=True)
def check_pilot(seed: int) -> CheckResult:
    """Exact probability that a pilot has a relative error of η or more."""
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

    # the mean cost is off by eta c if this many more or fewer pulls are expensive
    tolerance = pulls * eta * cost / (1 - lam)
    expected = pulls * share
    tails = stats.binom.sf(np.ceil(expected + tolerance - SLACK) - 1, pulls, share)
    tails += stats.binom.cdf(np.floor(expected - tolerance + SLACK), pulls, share)
    exact = -np.expm1(K * np.log1p(-tails))
    bound = np.array(
        [
            bounds.pilot_failure_bound(int(m), e, n_arms=K, cost_ratio=r)
            for r, m, e in cases
        ]
    )
    variance = (1 - lam) ** 2 / 2
    step = 2 / 3 * (1 - lam) * eta

    # declared costs over true costs, after pilots that are off by at most eta
    declared = (
        np.minimum(1.0, cost * np.linspace(1 - eta, 1 + eta, 5) / (1 - eta)) / cost
    )
    first, second = cut_bernstein(exact, bound, pulls * lam * eta**2, variance, step)
    return CheckResult(
        f"{len(cases)} cases, λ = {lam.min():g} and {lam.max():g}, m to"
        f" {pulls.max():,.0f}",
        f"at most {(exact / bound).max():.2g} of the bound",
        {
            "½(1 − λ)² ÷": first,
            "⅔ ÷": second,
            "2K ÷": below(exact, bound),
            "(1 + η)/(1 − η) ÷": below(declared, (1 + eta) / (1 - eta) * (1 + SLACK)),
        },
        holds=bool((declared >= 1 - SLACK).all()),
        informative=bool((bound < 1).any()),
    )
