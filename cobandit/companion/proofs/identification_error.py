"""Theorem 2: errors of CoPSI on problems whose means are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _check, theory
from cobandit.errors import CobanditError
from cobandit.policies import CoPSI
from cobandit.problem import Problem
from cobandit.replay import play, replay_identification
from cobandit.stats import metrics
from cobandit.tables import Card, EvaluationTable
from cobandit.tables.keys import profiling_mask

#: Mean rewards of made-up problems are multiples of one over this.
LEVELS = 20


# ----------------------------------------------------------------------------- problems
def bernoulli_table(means: ArrayLike, costs: ArrayLike, name: str = "known-means") -> EvaluationTable:
    """Table whose bootstrap is a bandit of Bernoulli rewards with these means and constant costs.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Multiples of 1/20 in [0, 1].
    costs : array_like, shape (K,)
    name : str

    Returns
    -------
    EvaluationTable
        Each arm has 20 evaluation rows; coordinate d is 1 in as many of them as its mean says, shifted by d
        places, so that coordinates are dependent as they are on one instance.

    Raises
    ------
    CobanditError
        If a mean is no multiple of 1/20.

    Examples
    --------
    >>> table = bernoulli_table([[0.75, 0.25], [0.5, 0.5]], [1.0, 0.5])
    >>> table.means.tolist(), table.costs.tolist()
    ([[0.75, 0.25], [0.5, 0.5]], [1.0, 0.5])
    """
    means = _check.means(means)
    costs = _check.costs(costs, n_arms=len(means))
    hits = np.round(LEVELS * means).astype(int)
    if not np.allclose(hits, LEVELS * means) or hits.min() < 0 or hits.max() > LEVELS:
        raise CobanditError(f"means: multiples of 1/{LEVELS} in [0, 1] are needed")
    objectives = [f"objective{d}" for d in range(means.shape[1])]
    profiling = 2  # the fewest that a table may have
    card = Card.model_validate(
        {
            "name": name,
            "title": "Bernoulli rewards with known means",
            "source": "cobandit.companion.proofs",
            "license": "CC0-1.0",
            "kind": "synthetic",
            "records": "none.parquet",
            "cost": {"column": "cost", "unit": "units"},
            "objectives": [{"name": name, "column": name} for name in objectives],
            "split": {"profiling": profiling, "seed": 0},
        }
    )
    own = np.flatnonzero(~profiling_mask(LEVELS + profiling, profiling, seed=0))
    row = np.full(LEVELS + profiling, -1)
    row[own] = np.arange(LEVELS)
    instances = [f"q{q:02d}" for q in range(len(row))]
    frames = []
    for arm, (hit, cost) in enumerate(zip(hits, costs, strict=True)):
        rewards = {
            column: ((row + 7 * d) % LEVELS < hit[d]).astype(float) for d, column in enumerate(objectives)
        }
        frames.append(
            pd.DataFrame({"config": f"arm{arm:02d}", "instance": instances, "cost": cost, **rewards})
        )
    return EvaluationTable.from_records(pd.concat(frames, ignore_index=True), card, source="known means")


def random_problems(count: int, seed: int, least_gap: float = 0.1, max_arms: int = 6) -> list[Problem]:
    """Problems of 3 and more arms with two objectives, means on a grid of 1/20 and costs from 1/10 to 1.

    Parameters
    ----------
    count, seed : int
    least_gap : float
        Smallest classification gap; the smaller, the larger the budgets that show anything.
    max_arms : int

    Returns
    -------
    list of Problem

    Examples
    --------
    >>> [problem.n_arms for problem in random_problems(3, seed=1)]
    [5, 3, 3]
    """
    rng = np.random.default_rng(seed)
    problems: list[Problem] = []
    while len(problems) < _check.count(count, "count", 1):
        n_arms = int(rng.integers(3, max_arms, endpoint=True))
        costs = 10 ** rng.uniform(-1, 0, n_arms)
        problem = Problem(rng.integers(1, LEVELS, (n_arms, 2)) / LEVELS, costs / costs.max())
        if problem.classification_gaps.min() >= least_gap - 1e-9:
            problems.append(problem)
    return problems


# ----------------------------------------------------------------------------- errors of CoPSI
def errors_by_budget(
    problem: Problem, budgets: Sequence[float], replications: int, seed: int = 0, method: str = "CoPSI"
) -> pd.DataFrame:
    """Error probability of an identification method at given budgets.

    Parameters
    ----------
    problem : Problem
        With means that `bernoulli_table` takes.
    budgets : sequence of float
        In the unit of the costs.
    replications, seed : int
    method : str

    Returns
    -------
    DataFrame, one row per budget
        ``budget``, ``errors``, ``runs``, ``error`` and its Wilson 95 % interval ``low``, ``high``.  A budget
        that is too small for the method returns nothing, which is an error.

    Examples
    --------
    >>> errors_by_budget(random_problems(1, seed=1)[0], [20.0, 2000.0], 50)["error"].is_monotonic_decreasing
    True
    """
    return _errors(bernoulli_table(problem.means, problem.costs), budgets, replications, seed, method)


def _errors(
    table: EvaluationTable, budgets: Sequence[float], replications: int, seed: int, method: str
) -> pd.DataFrame:
    rhos = [budget / table.costs.sum() for budget in budgets]
    runs = replay_identification(table, method, rhos, replications, seed)
    rows = []
    for budget, rho in zip(budgets, rhos, strict=True):
        correct = runs.loc[runs["rho"] == rho, "correct"]
        errors, n = int((~correct).sum()), len(correct)
        low, high = metrics.proportion_interval(errors, n)
        rows.append((budget, errors, n, errors / n, low, high))
    return pd.DataFrame(rows, columns=["budget", "errors", "runs", "error", "low", "high"])


def budget_for_error(
    problem: Problem, error: float, replications: int, seed: int = 0, method: str = "CoPSI"
) -> float:
    """Budget at which the measured error falls to ``error``, interpolated in its logarithm.

    The budget is doubled until the error is below, and the last doubling cut in four.

    Parameters
    ----------
    problem : Problem
    error : float
        In (0, 1), well above one over ``replications``.
    replications, seed : int
    method : str

    Returns
    -------
    float

    Examples
    --------
    >>> 10 < budget_for_error(random_problems(1, seed=1)[0], 0.1, 200) < 1e5
    True
    """
    table = bernoulli_table(problem.means, problem.costs)
    budget = 4 * problem.n_arms * float(problem.costs.sum())
    while _errors(table, [budget], replications, seed, method)["error"][0] > error:
        budget *= 2
    steps = budget / 2 * 2 ** np.linspace(0, 1, 5)
    seen = _errors(table, steps.tolist(), replications, seed, method)["error"].to_numpy()
    below = int(np.argmax(seen <= error))
    if below == 0:
        return float(steps[0])
    high, low = seen[below - 1], max(seen[below], 0.5 / replications)
    share = np.log(high / error) / np.log(high / low)
    return float(steps[below - 1] * (steps[below] / steps[below - 1]) ** share)


def least_target_share(problem: Problem, budget: float, seed: int = 0) -> float:
    r"""Least :math:`n_r \gamma_{(k_r)}^2` over the phases of one run of CoPSI, over what Step 3 promises.

    Parameters
    ----------
    problem : Problem
        With means that `bernoulli_table` takes and costs in [lambda, 1], the largest being 1.
    budget : float
        B, at least :math:`2 L H` for the step to apply.
    seed : int

    Returns
    -------
    float
        Over :math:`B / (2 L_{K,\lambda} H_{\mu,c})`; below one refutes the step.

    Examples
    --------
    >>> least_target_share(random_problems(1, seed=1)[0], 2000.0) >= 1
    True
    """
    table = bernoulli_table(problem.means, problem.costs)
    finder = CoPSI(table.costs, budget, problem.n_objectives)
    play(finder, table, seed=seed, charge="declared")
    gaps = np.sort(problem.classification_gaps)
    seen = [phase.target * gaps[len(phase.active) - 1] ** 2 for phase in finder.phases]
    return float(min(seen) * 2 * finder.allocation_constant * problem.complexity / budget)


def decay_rate(measured: pd.DataFrame, least_errors: int = 20) -> dict[str, float]:
    """Slope of -log(error) against the budget, by least squares with binomial weights.

    Parameters
    ----------
    measured : DataFrame
        From `errors_by_budget`.
    least_errors : int
        Budgets with fewer errors, or with an error above one half, are left out.

    Returns
    -------
    dict
        ``rate`` per unit of budget, ``low`` and ``high`` (95 %, counting errors are the only uncertainty)
        and ``points``.

    Raises
    ------
    CobanditError
        If fewer than two budgets are left.

    Examples
    --------
    >>> measured = pd.DataFrame({"budget": [10, 20], "errors": [400, 200], "runs": 1000})
    >>> round(decay_rate(measured.assign(error=measured.errors / 1000))["rate"], 4)  # log(2) / 10
    0.0693
    """
    kept = measured[(measured["errors"] >= least_errors) & (measured["error"] <= 0.5)]
    if len(kept) < 2:
        raise CobanditError(f"measured: {len(kept)} budgets have {least_errors} errors and at most one half")
    p, budget = kept["error"].to_numpy(), kept["budget"].to_numpy(dtype=float)
    weight = kept["runs"].to_numpy() * p / (1 - p)  # one over the variance of log p
    centred = budget - np.average(budget, weights=weight)
    spread = float((weight * centred**2).sum())
    rate = -float((weight * centred * np.log(p)).sum()) / spread
    return {
        "rate": rate,
        "low": rate - metrics.NORMAL / spread**0.5,
        "high": rate + metrics.NORMAL / spread**0.5,
        "points": len(kept),
    }


def least_informative_rounds(n_arms: int, n_objectives: int, least_gap: float) -> float:
    r"""Rounds over all arms below which Theorem 2 says nothing, whatever the costs and the other gaps are.

    The smallest gap is that of two arms, so that :math:`H_{\mu,c}` is at least the cost of the two most
    expensive arms, and so 2 / K of all costs, over :math:`\gamma_{(1)}^2`.  As :math:`L_{K,\lambda}` is at
    least the harmonic number, the bound exceeds one while :math:`\rho = B / \sum_i c_i` is below this.

    Parameters
    ----------
    n_arms, n_objectives : int
    least_gap : float
        Smallest classification gap.

    Returns
    -------
    float

    Examples
    --------
    >>> round(least_informative_rounds(2, 1, 1.0))  # 256 * 1.5 * log(8)
    799
    """
    needed = theory.identification_budget(
        1.0, n_arms=n_arms, n_objectives=n_objectives, cost_ratio=1.0, complexity=2 / least_gap**2
    )
    return needed / n_arms


def swapped_costs(problem: Problem) -> tuple[Problem, Problem]:
    """Give the same means and costs twice: the most expensive arms hardest to classify, then easiest.

    Examples
    --------
    >>> hard, easy = swapped_costs(Problem([[0.5], [0.4], [0.1]], [1.0, 0.5, 0.25]))
    >>> hard.costs.tolist(), easy.costs.tolist(), hard.complexity == easy.complexity
    ([1.0, 0.5, 0.25], [0.25, 0.5, 1.0], True)
    """
    order = np.argsort(problem.classification_gaps, kind="stable")
    ascending = np.sort(problem.costs)
    hard, easy = np.empty_like(ascending), np.empty_like(ascending)
    hard[order], easy[order] = ascending[::-1], ascending
    return Problem(problem.means, hard, problem.names), Problem(problem.means, easy, problem.names)
