"""CoHV-UCB exactly as printed, on arms whose distributions are known, watched by the steps of Theorem 1.

Algorithm 1 selects among all arms until a pull crosses the budget.  `CoHVUCB` does so
with ``selection="all"``; by default it selects among affordable arms, as the paper's
experiments do.  The proof of Theorem 1 speaks of the former.
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _budget, _validation, theory
from cobandit.errors import BudgetError
from cobandit.problem import Problem
from cobandit.replay.kernels._cache import compiled
from cobandit.stats import summaries
from companion import bounds
from companion.proofs.known_arms import Arms


class WatchedRuns(NamedTuple):
    """What was seen in R runs; pulls and spend count what was completed within the budget, as T(B) does."""

    pulls: NDArray[np.int64]  #: (R, K)
    spent: NDArray[np.float64]  #: (R,)
    last_arm: NDArray[np.int64]  #: (R,) arm of the pull that crossed the budget
    last_cost: NDArray[np.float64]  #: (R,) and its cost
    #: (R, K) a reward was ever overestimated, or the cost underestimated, beyond the
    #: radius
    over: NDArray[np.bool_]
    under: NDArray[np.bool_]  #: (R, K) the reverse
    #: (R,) least of :math:`I_{i^\star} - \nu_{i^\star}` over all rounds
    optimism: NDArray[np.float64]
    #: (R, K) largest of :math:`(I_i - \nu_i) / (C_{\lambda,H} \beta_i)` over all rounds
    closest: NDArray[np.float64]

    def on_event(self) -> NDArray[np.bool_]:
        """Which runs stayed on the event, shape (R,)."""
        return ~np.asarray((self.over | self.under).any(axis=1))

    def on_needed_event(self, best: int) -> NDArray[np.bool_]:
        """Which runs stayed on the one-sided part of it that the argument for an arm reads, shape (R, K)."""
        return ~(self.over | self.under[:, [best]])


@compiled
def _play(
    rows: Any, offsets: Any, limit: Any, log_term: Any, least: Any, constant: Any, means: Any, costs: Any,
    efficiency: Any, best: Any, rng: Any,
) -> Any:  # fmt: skip
    """One run of Algorithm 1: a row of each field of `WatchedRuns`."""
    n_arms, n_objectives = means.shape
    sums = np.zeros((n_arms, n_objectives + 1))
    pulls = np.zeros(n_arms, np.int64)
    over = np.zeros(n_arms, np.bool_)
    under = np.zeros(n_arms, np.bool_)
    index = np.full(n_arms, np.inf)
    closest = np.full(n_arms, -np.inf)
    spent = 0.0
    t = 0
    optimism = np.inf
    while True:
        arm = t if t < n_arms else np.argmax(index)
        row = offsets[arm] + int(rng.random() * (offsets[arm + 1] - offsets[arm]))
        cost = rows[row, 0]
        if spent + cost > limit:
            return pulls, spent, arm, cost, over, under, optimism, closest
        spent += cost
        t += 1
        pulls[arm] += 1
        n = pulls[arm]
        radius = sqrt(log_term / n)

        sums[arm, 0] += cost
        mean = sums[arm, 0] / n
        high = mean < costs[arm] - radius
        low = mean > costs[arm] + radius
        denominator = max(least / 2, mean - radius)
        hypervolume = 1.0
        for d in range(n_objectives):
            sums[arm, d + 1] += rows[row, d + 1]
            mean = sums[arm, d + 1] / n
            high |= mean > means[arm, d] + radius
            low |= mean < means[arm, d] - radius
            hypervolume *= min(1.0, mean + radius)
        over[arm] |= high
        under[arm] |= low
        index[arm] = hypervolume / denominator
        if arm == best:
            optimism = min(optimism, index[arm] - efficiency[arm])
        closest[arm] = max(
            closest[arm], (index[arm] - efficiency[arm]) / (constant * radius)
        )


def run_cohv(
    arms: Arms, budget: float, replications: int, *, alpha: float = 2.0, seed: int = 0
) -> WatchedRuns:
    r"""Run CoHV-UCB as printed (Algorithm 1, radii of the theory) and watch the steps of its proof.

    Every quantity is looked at after each pull of its arm; between two pulls of an arm
    it does not move, so this covers every round.  Of the concentration event only the
    samples that were drawn are looked at.

    Parameters
    ----------
    arms : Arms
    budget : float
        B, which has to hold one pull of each arm.
    replications : int
        Independent runs.
    alpha : float
        Exploration constant, also below what the theorem asks for.
    seed : int

    Returns
    -------
    WatchedRuns
        Time O(K) a pull.

    Raises
    ------
    BudgetError
        If the most expensive pull of every arm does not fit into the budget.

    Examples
    --------
    >>> from companion.proofs.known_arms import designed_arms
    >>> arms = designed_arms([[1.0], [0.5]], [1.0, 1.0])
    >>> runs = run_cohv(arms, 5000, replications=2)
    >>> bool((runs.pulls.sum(axis=1) == 5000).all()), bool((runs.pulls[:, 0] > 4000).all())
    (True, True)
    """
    budget = _validation.positive(budget, "budget")
    replications = _validation.count(replications, "replications", 1)
    problem = arms.problem
    most = float(
        sum(
            arms.rows[a:b, 0].max()
            for a, b in zip(arms.offsets, arms.offsets[1:], strict=False)
        )
    )
    if most > _budget.add_slack(budget):
        raise BudgetError(
            f"budget {budget:g} may not hold one pull of each arm: {most:g} is needed",
            most,
        )

    log_term = _validation.positive(alpha, "alpha") * log(
        theory.horizon(budget, arms.cost_ratio)
    )
    constant = theory.index_constant(problem.n_objectives, arms.cost_ratio)
    truth = problem.means, problem.costs, problem.efficiency, problem.best_arm
    given = (
        arms.rows,
        arms.offsets,
        _budget.add_slack(budget),
        log_term,
        arms.cost_ratio,
        constant,
        *truth,
    )
    streams = np.random.SeedSequence(_validation.seed(seed)).spawn(replications)
    played = [_play(*given, np.random.default_rng(stream)) for stream in streams]
    return WatchedRuns(*map(np.array, zip(*played, strict=True)))


# ----------------------------------------------------------------------------- bounds next to simulated pulls
#: Names of the bounds that `pull_bounds` gives, from the loosest to the sharpest.
BOUNDS = ("Theorem 1", "lean", "instance", "threshold", "split")


def pull_bounds(
    problem: Problem, arm: int, *, cost_ratio: float, budget: float, alpha: float = 2.0
) -> dict[str, float]:
    r"""Theorem 1 and the sharper bounds of `companion.bounds` for one suboptimal arm.

    Parameters
    ----------
    problem : Problem
        With costs in [lambda, 1].
    arm : int
        An arm whose efficiency gap is positive.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    dict
        By the names in ``BOUNDS``.

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    >>> all_bounds = pull_bounds(Problem([[1.0], [0.5]], [1.0, 1.0]), 1, cost_ratio=1.0, budget=99)
    >>> {name: int(bound) for name, bound in all_bounds.items()}
    {'Theorem 1': 9433, 'lean': 2358, 'instance': 590, 'threshold': 590, 'split': 260}
    """
    gap = problem.efficiency_gaps[arm]
    cost = problem.costs[arm]
    best = problem.efficiency.max()
    how = {"cost_ratio": cost_ratio, "budget": budget, "alpha": alpha}
    D = problem.n_objectives
    means = problem.means[arm]
    radius = bounds.threshold_radius(means, cost, best, cost_ratio=cost_ratio)
    return {
        "Theorem 1": theory.pull_bound(
            gap, n_arms=problem.n_arms, n_objectives=D, **how
        ),
        "lean": bounds.lean_pull_bound(gap, n_objectives=D, **how),
        "instance": bounds.instance_pull_bound(gap, cost, best, n_objectives=D, **how),
        "threshold": bounds.radius_pull_bound(radius, n_objectives=D, **how),
        "split": bounds.split_pull_bound(means, cost, best, **how),
    }


def compare_bounds(
    arms: Arms, budget: float, replications: int, *, alpha: float = 2.0, seed: int = 0
) -> tuple[pd.DataFrame, WatchedRuns]:
    r"""Bounds and simulated pulls of every suboptimal arm, sorted by gap, and the runs.

    Parameters
    ----------
    arms : Arms
    budget : float
        B.
    replications : int
    alpha : float
    seed : int

    Returns
    -------
    frame : DataFrame
        One row per suboptimal arm: ``arm``, ``gap``, the bounds by name, ``simulated``
        (mean pulls) with its 95 % interval ``low`` to ``high``, ``trivial`` (:math:`B /
        \lambda`) and ``affordable``, what the budget can buy of the arm in expectation,
        :math:`(B + 1 - \lambda) / \mu_i^c`.
    runs : WatchedRuns

    Raises
    ------
    CobanditError
        If the budget is too small or an argument is out of range.

    Examples
    --------
    >>> from companion.proofs.known_arms import two_arms
    >>> frame, _ = compare_bounds(two_arms(1, 1.0, 0.5), 1e4, 4)
    >>> bool((frame["high"] < frame["split"]).all())
    True
    """
    problem = arms.problem

    runs = run_cohv(arms, budget, replications, alpha=alpha, seed=seed)
    rows = []
    for arm in np.flatnonzero(problem.efficiency_gaps > 0).tolist():
        counts = runs.pulls[:, arm]
        low, high = summaries.mean_interval(counts)
        all_bounds = pull_bounds(
            problem, arm, cost_ratio=arms.cost_ratio, budget=budget, alpha=alpha
        )
        bought = bounds.completed_utility_bound(
            1 / problem.costs[arm], budget, arms.cost_ratio
        )
        seen = {"simulated": counts.mean(), "low": low, "high": high}
        most = {"affordable": bought, "trivial": budget / arms.cost_ratio}
        rows.append(
            {
                "arm": arm,
                "gap": problem.efficiency_gaps[arm],
                **all_bounds,
                **seen,
                **most,
            }
        )

    return pd.DataFrame(rows).sort_values("gap", ignore_index=True), runs
