"""Runs of CoHV-UCB as printed, which record the quantities in the proof of Theorem 1.

Algorithm 1 selects among all arms until a pull crosses the budget, and the proof of
Theorem 1 is about this form. `cobandit.CoHVUCB` does the same with
``selection="all"``. By default, it selects among affordable arms, as in the paper's
experiments.
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
    """Records of R runs of CoHV-UCB.

    ``pulls`` and ``spent`` include only pulls that were completed within the budget.
    """

    pulls: NDArray[np.int64]  #: (R, K) pulls per arm
    spent: NDArray[np.float64]  #: (R,) total cost
    last_arm: NDArray[np.int64]  #: (R,) arm of the pull that crossed the budget
    last_cost: NDArray[np.float64]  #: (R,) cost of the pull that crossed the budget
    #: (R, K) whether a mean reward was too large, or the mean cost too small, by more
    #: than the radius
    over: NDArray[np.bool_]
    #: (R, K) whether a mean reward was too small, or the mean cost too large, by more
    #: than the radius
    under: NDArray[np.bool_]
    #: (R,) smallest :math:`I_{i^\star} - \nu_{i^\star}` over all rounds
    optimism: NDArray[np.float64]
    #: (R, K) largest :math:`(I_i - \nu_i) / (C_{\lambda,H} \beta_i)` over all rounds
    closest: NDArray[np.float64]

    def on_event(self) -> NDArray[np.bool_]:
        """Return the mask (R,) of the runs on which the concentration event holds.

        On this event, all means stay within their radii.
        """
        return ~np.asarray((self.over | self.under).any(axis=1))

    def on_needed_event(self, best: int) -> NDArray[np.bool_]:
        """Return whether the event for each arm holds in each run, shape (R, K).

        The event for an arm has two parts. No mean of this arm deviates by more than
        its radius in the direction that raises the index. No mean of the best arm
        deviates by more than its radius in the direction that lowers the index.
        """
        return ~(self.over | self.under[:, [best]])


@compiled
def _play(
    rows: Any,
    offsets: Any,
    limit: Any,
    log_term: Any,
    cost_ratio: Any,
    constant: Any,
    means: Any,
    costs: Any,
    efficiency: Any,
    best: Any,
    rng: Any,
) -> Any:
    """Run Algorithm 1 once, and return the fields of `WatchedRuns` for this run."""
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
        denominator = max(cost_ratio / 2, mean - radius)
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
    r"""Run CoHV-UCB as printed, and record the quantities of its proof.

    This is Algorithm 1 with the radii of the theory. Quantities of an arm are recorded
    after each of its pulls. They do not change between two pulls of the arm, so the
    records cover all rounds. The concentration event is checked only at sample sizes
    that the run reaches.

    Parameters
    ----------
    arms : Arms
    budget : float
        B, at least the sum over arms of the largest cost of one pull.
    replications : int
        Number of independent runs.
    alpha : float
        Exploration constant. Values below the range of the theorem are allowed.
    seed : int

    Returns
    -------
    WatchedRuns
        Time O(K) per pull.

    Raises
    ------
    BudgetError
        If the budget is below the summed largest costs of one pull of each arm.

    Examples
    --------
    >>> from companion.proofs.known_arms import designed_arms
    >>> arms = designed_arms([[1.0], [0.5]], [1.0, 1.0])
    >>> runs = run_cohv(arms, 5000, replications=2)
    >>> bool((runs.pulls[:, 0] > 4000).all())
    True
    """
    budget = _validation.positive(budget, "budget")
    replications = _validation.count(replications, "replications", 1)
    problem = arms.problem
    largest_costs = np.maximum.reduceat(arms.rows[:, 0], arms.offsets[:-1])
    needed = float(sum(largest_costs))
    if needed > _budget.add_slack(budget):
        raise BudgetError(
            f"budget {budget:g} may not pay for one pull of each arm; give at least"
            f" {needed:g}",
            needed,
        )

    log_term = _validation.positive(alpha, "alpha") * log(
        theory.horizon(budget, arms.cost_ratio)
    )
    constant = theory.index_constant(problem.n_objectives, arms.cost_ratio)
    truth = problem.means, problem.costs, problem.efficiency, problem.best_arm
    arguments = (
        arms.rows,
        arms.offsets,
        _budget.add_slack(budget),
        log_term,
        arms.cost_ratio,
        constant,
        *truth,
    )
    streams = np.random.SeedSequence(_validation.seed(seed)).spawn(replications)
    records = [_play(*arguments, np.random.default_rng(stream)) for stream in streams]
    return WatchedRuns(*map(np.array, zip(*records, strict=True)))


#: Names of the bounds of `pull_bounds`, from the loosest to the sharpest.
BOUNDS = ("Theorem 1", "lean", "instance", "threshold", "split")


def pull_bounds(
    problem: Problem, arm: int, *, cost_ratio: float, budget: float, alpha: float = 2.0
) -> dict[str, float]:
    r"""Return bounds on the pulls of an arm: Theorem 1, and sharper bounds.

    Parameters
    ----------
    problem : Problem
        Problem with costs in [lambda, 1].
    arm : int
        An arm whose efficiency gap is positive.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    dict
        Bounds by the names in ``BOUNDS``. `companion.bounds` defines the bounds that
        are sharper than Theorem 1.

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    >>> two = Problem([[1.0], [0.5]], [1.0, 1.0])
    >>> all_bounds = pull_bounds(two, 1, cost_ratio=1.0, budget=99)
    >>> {name: int(bound) for name, bound in all_bounds.items()}
    {'Theorem 1': 9433, 'lean': 2358, 'instance': 590, 'threshold': 590, 'split': 260}
    """
    gap = problem.efficiency_gaps[arm]
    cost = problem.costs[arm]
    best = problem.efficiency.max()
    setting = {"cost_ratio": cost_ratio, "budget": budget, "alpha": alpha}
    D = problem.n_objectives
    means = problem.means[arm]
    radius = bounds.threshold_radius(means, cost, best, cost_ratio=cost_ratio)

    return {
        "Theorem 1": theory.pull_bound(
            gap, n_arms=problem.n_arms, n_objectives=D, **setting
        ),
        "lean": bounds.lean_pull_bound(gap, n_objectives=D, **setting),
        "instance": bounds.instance_pull_bound(
            gap, cost, best, n_objectives=D, **setting
        ),
        "threshold": bounds.radius_pull_bound(radius, n_objectives=D, **setting),
        "split": bounds.split_pull_bound(means, cost, best, **setting),
    }


def compare_bounds(
    arms: Arms, budget: float, replications: int, *, alpha: float = 2.0, seed: int = 0
) -> tuple[pd.DataFrame, WatchedRuns]:
    r"""Simulate CoHV-UCB, and compare the pulls of suboptimal arms with their bounds.

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
        One row per suboptimal arm, in the order of the gaps: ``arm``; ``gap``; the
        bounds of `pull_bounds` by name; ``simulated``, the mean number of pulls;
        ``low`` and ``high``, its 95 % interval; ``affordable``, a bound on the expected
        pulls if the whole budget is spent on the arm, :math:`(B + 1 - \lambda) /
        \mu_i^c`; ``trivial``, the bound :math:`B / \lambda`.
    runs : WatchedRuns
        Records of the simulated runs.

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
        affordable = bounds.completed_utility_bound(
            1 / problem.costs[arm], budget, arms.cost_ratio
        )
        simulated = {"simulated": counts.mean(), "low": low, "high": high}
        limits = {"affordable": affordable, "trivial": budget / arms.cost_ratio}
        rows.append(
            {
                "arm": arm,
                "gap": problem.efficiency_gaps[arm],
                **all_bounds,
                **simulated,
                **limits,
            }
        )

    return pd.DataFrame(rows).sort_values("gap", ignore_index=True), runs
