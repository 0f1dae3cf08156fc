"""Simulated error probabilities of identification on problems with known means."""

from collections.abc import Sequence
from itertools import count

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit.errors import CobanditError
from cobandit.policies import CoPSI
from cobandit.problem import Problem
from cobandit.replay import play, replay_identification, spec
from cobandit.stats import summaries
from cobandit.tables import EvaluationTable
from cobandit.tables.profiling import profiling_mask
from companion.proofs.known_arms import (
    LEVELS,
    count_ones,
    feedback_source,
    play_on,
    random_arms,
)


def bernoulli_table(means: ArrayLike, costs: ArrayLike) -> EvaluationTable:
    """Return an evaluation table whose replays are Bernoulli bandits with fixed costs.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Multiples of 1/20 in [0, 1].
    costs : array_like, shape (K,)

    Returns
    -------
    EvaluationTable
        Each arm has 20 rows in the evaluation split. For a mean of m/20, the reward is
        1 in m of these rows, and 0 in the others. In objective d, the rows with reward
        1 are shifted by 7 d rows, so objectives are dependent.

    Raises
    ------
    CobanditError
        If a mean is not a multiple of 1/20.

    Examples
    --------
    >>> table = bernoulli_table([[0.75, 0.25], [0.5, 0.5]], [1.0, 0.5])
    >>> table.means.tolist(), table.costs.tolist()
    ([[0.75, 0.25], [0.5, 0.5]], [1.0, 0.5])
    """
    hits = count_ones(means, LEVELS)
    profiling = 2  # the smallest number that a table may have
    is_evaluation = ~profiling_mask(LEVELS + profiling, profiling, seed=0)
    row = np.where(is_evaluation, is_evaluation.cumsum() - 1, -1)
    position = (row[:, None] + 7 * np.arange(hits.shape[1])) % LEVELS
    return EvaluationTable.from_arrays(
        position < hits[:, None, :], costs, profiling=profiling, kind="synthetic"
    )


def random_problems(count: int, seed: int) -> list[Problem]:
    """Draw problems of 3 to 6 arms and two objectives, with means on a grid of 1/20.

    Costs are from 1/10 to 1. Classification gaps are at least 1/10, so errors are rare
    at moderate budgets.

    Parameters
    ----------
    count, seed : int
        Number of problems, and seed.

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
    while len(problems) < count:
        n_arms = int(rng.integers(3, 7))
        costs = 10 ** rng.uniform(-1, 0, n_arms)
        problem = Problem(
            rng.integers(1, LEVELS, (n_arms, 2)) / LEVELS, costs / costs.max()
        )
        if problem.classification_gaps.min() >= 0.1 - 1e-9:
            problems.append(problem)
    return problems


def errors_by_budget(
    problem: Problem,
    budgets: Sequence[float],
    replications: int,
    seed: int = 0,
    method: str = "CoPSI",
) -> pd.DataFrame:
    """Simulate an identification method at given budgets, and count its errors.

    Parameters
    ----------
    problem : Problem
        Problem whose means are multiples of 1/20, as `bernoulli_table` requires.
    budgets : sequence of float
        Budgets in the unit of the costs.
    replications, seed : int
    method : str

    Returns
    -------
    DataFrame, one row per budget
        ``budget``; ``errors``, the number of wrong runs; ``runs``, the number of all
        runs; ``error``, the share of wrong runs; ``low`` and ``high``, its Wilson 95 %
        interval. A run whose budget is too small for the method counts as wrong.

    Examples
    --------
    >>> problem, = random_problems(1, seed=1)
    >>> measured = errors_by_budget(problem, [20.0, 2000.0], 50)
    >>> measured["error"].is_monotonic_decreasing
    True
    """
    table = bernoulli_table(problem.means, problem.costs)
    rhos = [budget / table.costs.sum() for budget in budgets]
    runs = replay_identification(table, method, rhos, replications, seed)
    rows = []
    for budget, rho in zip(budgets, rhos, strict=True):
        wrong = ~runs.loc[runs["rho"] == rho, "correct"]
        errors = int(wrong.sum())
        n = len(wrong)
        interval = summaries.proportion_interval(errors, n)
        rows.append((budget, errors, n, errors / n, *interval))
    return pd.DataFrame(
        rows, columns=["budget", "errors", "runs", "error", "low", "high"]
    )


def budget_for_error(
    problem: Problem,
    error: float,
    replications: int,
    seed: int = 0,
    method: str = "CoPSI",
) -> float:
    """Estimate by simulation the budget at which a method has a given error.

    The budget is doubled until the error is small enough. The last doubling is then
    divided into four steps, and the budget is interpolated in the logarithm of the
    error.

    Parameters
    ----------
    problem : Problem
    error : float
        Error probability in (0, 1), well above 1 / ``replications``.
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
    budget = 4 * problem.n_arms * float(problem.costs.sum())
    while (
        errors_by_budget(problem, [budget], replications, seed, method)["error"][0]
        > error
    ):
        budget *= 2

    steps = budget / 2 * 2 ** np.linspace(0, 1, 5)
    errors = errors_by_budget(problem, steps.tolist(), replications, seed, method)[
        "error"
    ].to_numpy()
    below = int(np.argmax(errors <= error))
    if below == 0:
        return float(steps[0])

    high = errors[below - 1]
    # a measured error of zero has no logarithm
    low = max(errors[below], 0.5 / replications)
    share = np.log(high / error) / np.log(high / low)
    return float(steps[below - 1] * (steps[below] / steps[below - 1]) ** share)


def least_target_share(problem: Problem, budget: float, seed: int = 0) -> float:
    r"""Return how close a run of CoPSI comes to a lower bound on its targets.

    Step 3 of the proof of Theorem 2 bounds :math:`n_r \gamma_{(k_r)}^2` from below,
    where :math:`n_r` is the target of phase r.

    Parameters
    ----------
    problem : Problem
        Problem whose means are multiples of 1/20 and whose largest cost is 1.
    budget : float
        B. The step needs at least :math:`2 L H`.
    seed : int

    Returns
    -------
    float
        The minimum of :math:`n_r \gamma_{(k_r)}^2` over the phases, divided by its
        lower bound :math:`B / (2 L_{K,\lambda} H_{\mu,c})`. A value below one refutes
        the step.

    Examples
    --------
    >>> least_target_share(random_problems(1, seed=1)[0], 2000.0) >= 1
    True
    """
    table = bernoulli_table(problem.means, problem.costs)
    finder = CoPSI(table.costs, budget, problem.n_objectives)
    play(finder, table, seed=seed, charge="declared")
    gaps = np.sort(problem.classification_gaps)
    phase_terms = [
        phase.target * gaps[len(phase.active) - 1] ** 2 for phase in finder.phases
    ]
    return float(
        min(phase_terms) * 2 * finder.allocation_constant * problem.complexity / budget
    )


def decay_rate(measured: pd.DataFrame) -> dict[str, float]:
    """Fit the exponential rate at which the error decreases with the budget.

    The rate is the slope of -log(error) against the budget, by least squares with
    binomial weights.

    Parameters
    ----------
    measured : DataFrame
        Result of `errors_by_budget`. Budgets with fewer than 20 errors, or with an
        error above one half, are left out.

    Returns
    -------
    dict
        ``rate``, per unit of budget, and ``low`` and ``high``, its 95 % interval. The
        interval accounts only for the randomness of the numbers of errors.

    Raises
    ------
    CobanditError
        If fewer than two budgets remain.

    Examples
    --------
    >>> measured = pd.DataFrame({"budget": [10, 20], "errors": [400, 200]})
    >>> measured = measured.assign(runs=1000, error=measured["errors"] / 1000)
    >>> round(decay_rate(measured)["rate"], 4)  # log(2) / 10
    0.0693
    """
    fitted = _fitted(measured)
    if len(fitted) < 2:
        raise CobanditError(
            "measured: at least two budgets must have 20 errors and an error rate of at"
            f" most one half; only {len(fitted)} budgets have",
            argument="measured",
            code="few-budgets",
        )

    error = fitted["error"].to_numpy()
    budget = fitted["budget"].to_numpy(dtype=float)

    # the inverse variance of the logarithm of the error
    weight = fitted["runs"].to_numpy() * error / (1 - error)
    (slope, _), spread = np.polyfit(
        budget, np.log(error), 1, w=np.sqrt(weight), cov="unscaled"
    )
    rate = -float(slope)
    width = summaries.NORMAL * float(spread[0, 0]) ** 0.5
    return {"rate": rate, "low": rate - width, "high": rate + width}


def has_enough_errors(measured: pd.DataFrame) -> bool:
    """Return whether `decay_rate` has enough budgets to fit a line.

    Examples
    --------
    >>> has_enough_errors(pd.DataFrame({"errors": [40, 19], "error": [0.4, 0.19]}))
    False
    """
    return len(_fitted(measured)) >= 2


def _fitted(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with at least 20 errors, in at most half of the runs."""
    return measured[(measured["errors"] >= 20) & (measured["error"] <= 0.5)]


def by_objectives(
    problems: int,
    max_objectives: int,
    replications: int,
    seed: int,
    n_arms: int = 16,
    rho: float = 200,
) -> pd.DataFrame:
    r"""Measure how the front, complexity and error depend on the number of objectives.

    Each problem is drawn with the largest number of objectives. For every smaller D,
    its first D objectives are used. Problems in which a classification gap is zero for
    some D are skipped.

    Parameters
    ----------
    problems, max_objectives : int
        Number of problems, and the largest D.
    replications, seed : int
    n_arms : int
        K.
    rho : float
        Budget of every run, in evaluations per arm.

    Returns
    -------
    DataFrame, one row per problem and D
        ``problem``; ``n_objectives``; ``front``, the size of the Pareto set;
        ``complexity``, :math:`H_{\mu,c}`; ``error``, the error of CoPSI with the
        adaptive constant.

    Examples
    --------
    >>> errors = by_objectives(2, 3, replications=5, seed=0, n_arms=6, rho=50)
    >>> errors["n_objectives"].tolist()
    [1, 2, 3, 1, 2, 3]
    """
    rows: list[tuple[float, ...]] = []
    numbers = count()
    streams = np.arange(replications)
    method = spec("CoPSIAdaptive")
    while len(rows) < problems * max_objectives:
        full = random_arms(
            next(numbers), n_arms, 10.0, 0.0, n_objectives=max_objectives, seed=seed
        )
        sources = [
            feedback_source(full._replace(rows=full.rows[:, : d + 1]))
            for d in range(1, max_objectives + 1)
        ]
        if any(np.isinf(source.problem.complexity) for source in sources):
            continue
        problem = len(rows) // max_objectives
        for d, source in enumerate(sources, start=1):
            costs = source.problem.costs
            front = source.problem.pareto_mask
            budget = rho * float(costs.sum())
            runs = play_on(source, method, budget, streams, seed, realised=False)
            error = (runs.returned != front).any(axis=1).mean()
            complexity = source.problem.complexity
            rows.append((problem, d, int(front.sum()), complexity, error))

    return pd.DataFrame(
        rows, columns=["problem", "n_objectives", "front", "complexity", "error"]
    )


def swapped_costs(problem: Problem) -> tuple[Problem, Problem]:
    """Reassign the costs of a problem to its arms in two ways.

    In the first returned problem, the most expensive arms are the hardest to classify;
    in the second, they are the easiest.

    Examples
    --------
    >>> hard, easy = swapped_costs(Problem([[0.5], [0.4], [0.1]], [1.0, 0.5, 0.25]))
    >>> hard.costs.tolist(), easy.costs.tolist(), hard.complexity == easy.complexity
    ([1.0, 0.5, 0.25], [0.25, 0.5, 1.0], True)
    """
    rank = np.argsort(problem.classification_gaps, kind="stable").argsort()
    easy = np.sort(problem.costs)[rank]
    hard = np.sort(problem.costs)[::-1][rank]
    return Problem(problem.means, hard, problem.names), Problem(
        problem.means, easy, problem.names
    )
