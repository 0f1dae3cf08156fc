"""Checks of the lower bound on online regret, and of the index of CoHV-KL-UCB."""

from itertools import product
from math import log, pi

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation, theory
from cobandit.policies import CoHVKLUCB
from cobandit.replay import Spec
from cobandit.stats.summaries import NORMAL
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.concentration import ever_outside
from companion.proofs.known_arms import (
    LEVELS,
    Arms,
    arms_of_outcomes,
    count_ones,
    feedback_source,
    play_on,
)


def coin_arms(means: ArrayLike, costs: ArrayLike, *, cost_ratio: float) -> Arms:
    """Return arms with independent binary rewards, and costs of lambda or 1.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Multiples of 1/20 in [0, 1].
    costs : array_like, shape (K,)
        Mean costs. The probability that a pull costs 1 must be a multiple of 1/20.
    cost_ratio : float
        lambda in (0, 1).

    Returns
    -------
    Arms
        Arms with 20^(D + 1) equally likely outcomes each.

    Raises
    ------
    CobanditError
        If a mean or a probability is not a multiple of 1/20.

    Examples
    --------
    >>> arms = coin_arms([[0.75], [0.5]], [0.7, 0.4], cost_ratio=0.4)
    >>> arms.problem.efficiency.round(4)
    array([1.0714, 1.25  ])
    """
    means = _validation.means(means)
    shares = (_validation.costs(costs, n_arms=len(means)) - cost_ratio) / (
        1 - cost_ratio
    )
    ones = count_ones(np.column_stack([shares, means]), LEVELS)
    drawn = np.array(list(product(range(LEVELS), repeat=ones.shape[1])))
    outcomes = (drawn < ones[:, None]).astype(float)
    outcomes[:, :, 0] = cost_ratio + (1 - cost_ratio) * outcomes[:, :, 0]
    return arms_of_outcomes(list(outcomes), cost_ratio)


def pulls_within(
    arms: Arms, method: Spec, budget: float, replications: int, seed: int = 0
) -> pd.DataFrame:
    """Run an online method, and return its regret and the pulls of each arm.

    Parameters
    ----------
    arms : Arms
    method : Spec
    budget : float
        Budget in units of the largest single cost.
    replications, seed : int

    Returns
    -------
    DataFrame, one row per replication
        ``budget``; ``regret``, the efficiency regret; ``arm0``, ``arm1``, ..., the
        pulls per arm.

    Examples
    --------
    >>> from cobandit import spec
    >>> arms = coin_arms([[0.75], [0.5]], [0.7, 0.7], cost_ratio=0.4)
    >>> method = spec("CoHVKLUCB", selection="all")
    >>> pulls_within(arms, method, 100.0, 2)["budget"].tolist()
    [100.0, 100.0]
    """
    source = feedback_source(arms)
    pulls = play_on(source, method, float(budget), np.arange(replications), seed).pulls
    frame = pd.DataFrame(pulls, columns=[f"arm{i}" for i in range(pulls.shape[1])])
    return frame.assign(
        budget=float(budget), regret=pulls @ source.problem.efficiency_gaps
    )


def slope(frame: pd.DataFrame, column: str) -> tuple[float, float, float]:
    """Fit the slope of a result against log B, with a 95 % interval.

    The interval follows from the variance between replications.

    Parameters
    ----------
    frame : DataFrame
        Results of `pulls_within` at several budgets.
    column : str
        Column of the result, such as ``"regret"``.

    Returns
    -------
    slope, low, high : float

    Examples
    --------
    >>> frame = pd.DataFrame({"budget": [1.0, 1.0, np.e, np.e]})
    >>> frame["regret"] = [1.0, 3.0, 4.0, 4.0]
    >>> [round(value, 2) for value in slope(frame, "regret")]
    [2.0, 0.04, 3.96]
    """
    cells = (
        frame.assign(x=np.log(frame["budget"]))
        .groupby("x")[column]
        .agg(["mean", "var", "count"])
    )
    centred = cells.index.to_numpy() - cells.index.to_numpy().mean()
    weight = centred / (centred**2).sum()
    best = float(weight @ cells["mean"])
    half = NORMAL * float(np.sqrt((weight**2) @ (cells["var"] / cells["count"])))
    return best, best - half, best + half


def leaving_region(
    mean: Floats, runs: int, longest: int, seed: int, level: float, share: float = 1.0
) -> int:
    r"""Count the simulated runs of M coins that leave their confidence region.

    A run leaves the region if its running means are outside after some number n of
    tosses of each coin. With the level delta, the region is

    .. math::

        n \sum_m \mathrm{kl} \le \log\frac1\delta + \frac M2 \log(\pi(n + \frac12))

    Parameters
    ----------
    mean : ndarray, shape (M,)
        Means of the coins, in (0, 1).
    runs, longest, seed : int
        Number of runs, number of tosses of each coin in a run, and seed.
    level : float
        delta.
    share : float
        Factor of the right-hand side. With a factor of 1, a run leaves with probability
        at most delta.

    Returns
    -------
    int

    Examples
    --------
    >>> leaving_region(np.array([0.5, 0.2]), 200, 100, seed=0, level=0.2)
    19
    """
    rng = np.random.default_rng(seed)
    tosses = rng.random((runs, longest, len(mean))) < mean
    n = np.arange(1, longest + 1)
    running_means = tosses.cumsum(axis=1) / n[None, :, None]
    divergence = n * theory.bernoulli_divergence(running_means, mean).sum(axis=2)
    allowed = -np.log(level) + len(mean) / 2 * np.log(pi * (n + 0.5))
    return int((divergence > share * allowed).any(axis=1).sum())


def sequential_test(doublings: int) -> float:
    r"""Return a bound on the expected pulls of a coin that is the worse of two arms.

    The mean of the coin is 1/3. The method only knows that this mean is 1/3 or 2/3, and
    shows that the lower bound for consistent methods is sharp. The method spends the
    budget :math:`B = 2^a`, where a is ``doublings``. The method tosses the coin until
    the numbers of heads and tails differ by a. Then it spends the remaining budget on
    the coin if there are more heads, and on the other arm if there are more tails. At
    mean 1/3, there are more heads with probability :math:`1 / (1 + 2^a)`. At mean 2/3,
    there are more tails with this probability, so the method pulls the other arm at
    most once on average. As a increases, the pulls of the coin at mean 1/3 approach the
    lower bound.

    Examples
    --------
    >>> sequential_test(1)  # one toss, and two more after heads
    1.6666666666666665
    """
    p_wrong = 1 / (1 + 2.0**doublings)
    return 3 * doublings * (1 - 2 * p_wrong) + p_wrong * 2.0**doublings


def grid_divergence(
    means: Floats, cost: float, best: float, cost_ratio: float
) -> float:
    """Return `cobandit.theory.least_divergence` by a search on a grid.

    The arm has two objectives. A search on a grid can only overestimate the minimum.
    """
    share = (cost - cost_ratio) / (1 - cost_ratio)
    points = 400
    z, x = np.meshgrid(
        np.linspace(0, share, points + 1)[1:], np.linspace(means[0], 1, points)
    )
    second_mean = np.maximum(best * (cost_ratio + (1 - cost_ratio) * z) / x, means[1])
    kl = theory.bernoulli_divergence
    total = kl(share, z) + kl(means[0], x) + kl(means[1], np.minimum(second_mean, 1))
    return float(np.where(second_mean < 1, total, np.inf).min())


@check("Pulls that no method can save", "standard-regret", ours=True)
def check_least_pulls(seed: int) -> CheckResult:
    """Expected pulls of a sequential test; least divergences by search on a grid."""
    doublings = np.array([10, 100, 1000])
    K = theory.least_divergence([1 / 3], 1.0, 2 / 3, cost_ratio=1.0)

    pulls = np.array([sequential_test(int(a)) for a in doublings])
    bound = doublings * log(2) / K
    rng = np.random.default_rng(seed)
    ratios = []
    for _ in range(4):
        lam = rng.uniform(0.1, 0.5)
        means = rng.uniform(0.2, 0.7, 2)
        cost = rng.uniform(lam + 0.2, 0.9)
        best = min(2.0, 0.8 / lam) * means.prod() / cost
        near = theory.least_divergence(means, cost, best, cost_ratio=lam)
        ratios.append(grid_divergence(means, cost, best, lam) / near)

    return CheckResult(
        f"{len(doublings)} budgets to 2^{doublings[-1]}; {len(ratios)} arms",
        f"log B / K_inf is up to {(bound / pulls).max():.4f} of these; "
        f"by brute force K_inf is at most {max(ratios):.4f} times as large",
        {
            "1/K_inf ×": below(bound, pulls),
            "K_inf ×": below(1 - SLACK, ratios),
            "K_inf ÷": below(ratios, 1.01),  # the accuracy of the grid
        },
    )


def leaving_one_region(
    mean: float, level: float, longest: int, share: ArrayLike = 1.0
) -> float:
    r"""Return the exact probability that one coin leaves its confidence region.

    `leaving_region` defines the region.

    Parameters
    ----------
    mean, level : float
        Mean of the coin in (0, 1), and delta.
    longest : int
        Number of tosses of a run.
    share : array_like, of one or two numbers
        Factor of the right-hand side, or of each of its terms.

    Examples
    --------
    >>> round(leaving_one_region(0.5, 0.1, 200), 3)
    0.056
    """
    first, second = np.broadcast_to(share, 2)

    def is_outside(n: int, heads: NDArray[np.int64]) -> NDArray[np.bool_]:
        divergence = n * theory.bernoulli_divergence(np.minimum(1, heads / n), mean)
        return np.asarray(
            divergence > -first * log(level) + second * log(pi * (n + 0.5)) / 2
        )

    return ever_outside([0, 1], [1 - mean, mean], is_outside, longest)


@check("CoHV-KL-UCB: its region and its pulls", "standard-regret", ours=True)
def check_index(seed: int) -> CheckResult:
    """Exact probability of leaving the region; pulls in a run without noise."""
    longest = 300
    cases = [(0.5, 0.5), (0.5, 0.05), (0.02, 0.5), (0.02, 0.05)]

    def excess_ratio(first: float = 1.0, second: float = 1.0) -> float:
        """Return the largest ratio of a probability to delta, with smaller terms."""
        share = 1 / first, 1 / second
        return max(
            leaving_one_region(mean, level, longest, share) / level
            for mean, level in cases
        )

    rewards = [0.9, 0.75]
    budget = 1000.0
    policy = CoHVKLUCB(2, 1, budget, (1.0, 1.0), selection="all")
    while (arm := policy.ask()) is not None:
        policy.tell(arm, [rewards[arm]], 1.0)
    pulls = int(policy.pulls[1])
    K = theory.least_divergence(rewards[1:], 1.0, rewards[0], cost_ratio=1.0)
    n = np.arange(1, longest)
    allowed = int(
        n[n * K <= log(theory.horizon(budget, 1.0)) + np.log(pi * (n + 0.5))].max()
    )
    return CheckResult(
        f"{len(cases)} pairs of mean and δ, {longest} tosses; B = {budget:.0f}",
        f"at most {excess_ratio():.2g}; {pulls} pulls, where f/K_inf allows"
        f" {1 + allowed}",
        {
            "log T_B ÷": lambda factor: excess_ratio(first=factor) <= 1,
            "½ log ÷": lambda factor: excess_ratio(second=factor) <= 1,
            "right-hand side ÷": lambda factor: (
                leaving_one_region(0.5, 0.1, longest, 1 / factor) <= 0.1
            ),
            "f/K_inf ÷": below(pulls - 1, allowed),
        },
    )
