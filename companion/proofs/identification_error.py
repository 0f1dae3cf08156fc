r"""Theorem 2: errors of CoPSI on problems with known means, simulated and exact.

Exact errors are for Bernoulli arms of one objective at unit costs. If all K arms but
the best are equal, :math:`H = K / \gamma^2`, and each gets :math:`\lfloor B / (L K)
\rfloor` pulls in the first phase: :math:`L = H_K`, the harmonic number, in the paper,
and :math:`H_K - \tfrac12` with `cobandit.theory.exact_allocation_constant`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from cobandit import _budget, theory
from cobandit.errors import CobanditError
from cobandit.policies import CoPSI
from cobandit.problem import Problem
from cobandit.replay import play, replay_identification, spec
from cobandit.stats import summaries
from cobandit.tables import EvaluationTable
from cobandit.tables.profiling import profiling_mask
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.concentration import difference_deviation, uniform_deviation
from companion.proofs.known_arms import (
    LEVELS,
    count_ones,
    feedback_source,
    play_on,
    random_arms,
)


def bernoulli_table(means: ArrayLike, costs: ArrayLike) -> EvaluationTable:
    """Return a table whose bootstrap is a bandit of Bernoulli rewards and fixed costs.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Multiples of 1/20 in [0, 1].
    costs : array_like, shape (K,)

    Returns
    -------
    EvaluationTable
        Each arm has 20 evaluation rows. Coordinate d is 1 in 20 times its mean of them,
        shifted by d places, so that coordinates depend on each other as they do on one
        instance.

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
    """Draw problems of 3 to 6 arms with means on a grid of 1/20, and two objectives.

    Costs are from 1/10 to 1. Classification gaps are at least 1/10, because smaller
    ones need larger budgets to show anything.

    Parameters
    ----------
    count, seed : int

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
    """Measure the error probability of an identification method at given budgets.

    Parameters
    ----------
    problem : Problem
        Problem with means as for `bernoulli_table`.
    budgets : sequence of float
        Budgets in the unit of the costs.
    replications, seed : int
    method : str

    Returns
    -------
    DataFrame, one row per budget
        ``budget``, ``errors``, ``runs``, ``error`` and its Wilson 95 % interval
        ``low``, ``high``. A budget that is too small for the method counts as an error.

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
    """Estimate the budget at which the measured error falls to ``error``.

    The budget is doubled until the error is smaller. Then the last doubling is cut in
    four, and the budget is interpolated in the logarithm of the error.

    Parameters
    ----------
    problem : Problem
    error : float
        Error in (0, 1), well above one over ``replications``.
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
    low = max(errors[below], 0.5 / replications)
    share = np.log(high / error) / np.log(high / low)
    return float(steps[below - 1] * (steps[below] / steps[below - 1]) ** share)


def least_target_share(problem: Problem, budget: float, seed: int = 0) -> float:
    r"""Return the smallest :math:`n_r \gamma_{(k_r)}^2` of a run, over Step 3's bound.

    Parameters
    ----------
    problem : Problem
        Problem with means as for `bernoulli_table` and costs in [lambda, 1], the
        largest being 1.
    budget : float
        B, at least :math:`2 L H` for the step to apply.
    seed : int

    Returns
    -------
    float
        The minimum over the phases of a run of CoPSI, over :math:`B / (2 L_{K,\lambda}
        H_{\mu,c})`. A value below one refutes the step.

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
    """Fit the slope of -log(error) against the budget, with binomial weights.

    Parameters
    ----------
    measured : DataFrame
        Result of `errors_by_budget`. Budgets with fewer than 20 errors, or with an
        error above one half, are left out.

    Returns
    -------
    dict
        ``rate`` per unit of budget, ``low`` and ``high`` (95 %; the only uncertainty is
        the number of errors).

    Raises
    ------
    CobanditError
        If fewer than two budgets are left.

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
            f"measured: only {len(fitted)} budgets have 20 errors and an error rate"
            " of at most one half; at least two are needed"
        )
    error = fitted["error"].to_numpy()
    budget = fitted["budget"].to_numpy(dtype=float)
    weight = (
        fitted["runs"].to_numpy() * error / (1 - error)
    )  # one over the variance of log p
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
    """Return the rows of the fit: at least 20 errors, and at most half of the runs."""
    return measured[(measured["errors"] >= 20) & (measured["error"] <= 0.5)]


def least_informative_rounds(n_arms: int, n_objectives: int, least_gap: float) -> float:
    r"""Return the rounds over all arms below which Theorem 2 is vacuous.

    The smallest gap is the gap of two arms, so that :math:`H_{\mu,c}` is at least the
    cost of the two most expensive arms, and so 2 / K of all costs, over
    :math:`\gamma_{(1)}^2`. As :math:`L_{K,\lambda}` is at least the harmonic number,
    the bound exceeds one while :math:`\rho = B / \sum_i c_i` is below this value.

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
    needed = bounds.identification_budget(
        1.0,
        n_arms=n_arms,
        n_objectives=n_objectives,
        cost_ratio=1.0,
        complexity=2 / least_gap**2,
    )
    return needed / n_arms


def by_objectives(
    problems: int,
    max_objectives: int,
    replications: int,
    seed: int,
    n_arms: int = 16,
    rho: float = 200,
) -> pd.DataFrame:
    r"""Measure random problems by their number of objectives, the first d for each d.

    The problems have the largest number of objectives. Problems in which a
    classification gap is zero for some d are skipped.

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
        ``front`` (size of the Pareto set), ``complexity`` :math:`H_{\mu,c}`, and
        ``error`` of CoPSI with the adaptive constant.

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
    """Assign costs twice: the most expensive arms hardest to classify, then easiest.

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


def two_arm_error(
    better: float, worse: float, budget: float, *, allocation: float = 1.5
) -> float:
    r"""Return the error probability on two arms.

    Both get :math:`n = \lfloor B / (2L) \rfloor` pulls, and the set is wrong unless the
    better arm has strictly more successes.

    Parameters
    ----------
    better, worse : float
        Means in [0, 1], the first larger.
    budget : float
        At least 2 L.
    allocation : float
        L: 3/2 in CoPSI as printed, 1 if the whole budget is spent.

    Returns
    -------
    float

    Examples
    --------
    >>> two_arm_error(1.0, 0.5, budget=9)  # the worse arm has three successes
    0.125
    """
    pulls, successes = _first_phase(better, worse, 2 * allocation, budget)
    # the other arm has as many or more
    tail = stats.binom.sf(successes - 1, pulls, worse)
    return float(stats.binom.pmf(successes, pulls, better) @ tail)


def first_phase_error(
    better: float, worse: float, n_arms: int, budget: float, *, allocation: float
) -> float:
    r"""Return the probability that the best arm is strictly last after the first phase.

    All other arms are equal. The empirical gap of the best arm is then the largest, it
    is rejected, and the set is wrong: a lower bound on the error.

    Parameters
    ----------
    better, worse : float
        Means in [0, 1], the first larger.
    n_arms : int
        K >= 2.
    budget, allocation : float
        B >= L K, and L.

    Returns
    -------
    float

    Examples
    --------
    With one pull per arm, the best arm fails and both others succeed.

    >>> first_phase_error(0.75, 0.5, 3, budget=6, allocation=11 / 6)
    0.0625
    """
    pulls, successes = _first_phase(better, worse, n_arms * allocation, budget)
    # sum in logarithms: powers of tails underflow long before their sum does
    log_terms = stats.binom.logpmf(successes, pulls, better)
    log_terms += (n_arms - 1) * stats.binom.logsf(successes, pulls, worse)
    return exp(special.logsumexp(log_terms))


def first_phase_rate(
    better: float, worse: float, n_arms: int, *, allocation: float
) -> float:
    r"""Return the rate at which `first_phase_error` falls: its -log per B / H.

    .. math::

        -\frac{K}{L \gamma^2} \log\Bigl(
            \bigl(p\, q^{K-1}\bigr)^{1/K} + \bigl((1-p)(1-q)^{K-1}\bigr)^{1/K} \Bigr),
        \qquad \gamma = p - q

    It is the rate of the most likely way for all K means to agree (Cramér). For small
    gaps near 1/2 it is :math:`2 (K-1) / (K L)`.

    Parameters
    ----------
    better, worse : float
        p > q in (0, 1).
    n_arms : int
        K >= 2.
    allocation : float
        L.

    Returns
    -------
    float
        If it is below one, the error is not of order :math:`e^{-B/H}`.

    Examples
    --------
    >>> round(first_phase_rate(0.55, 0.45, 2, allocation=1.0), 3)
    1.005
    """
    chances = (better, worse), (1 - better, 1 - worse)  # of a success and of a failure
    together = sum((p * q ** (n_arms - 1)) ** (1 / n_arms) for p, q in chances)
    return -n_arms * log(together) / (allocation * (better - worse) ** 2)


def _first_phase(
    better: float, worse: float, round_: float, budget: float
) -> tuple[int, NDArray[np.int64]]:
    """Return the pulls per arm in the first phase, and 0 to that many successes."""
    pulls = _budget.floor(budget / round_)
    if not 0 <= worse < better <= 1 or pulls < 1:
        raise CobanditError(
            f"means {better} and {worse}, budget {budget}: give two means in [0, 1],"
            f" the first larger, and a budget of at least {round_:g}"
        )
    return pulls, np.arange(pulls + 1)


@check("Theorem 2, Step 3: what every phase collects", "copsi")
def check_targets(seed: int) -> CheckResult:
    """N γ² of every phase over B / (2 L H), gaps where the floor costs most."""

    def starts(p: Problem) -> float:
        return 2 * theory.allocation_constant(p.n_arms, p.costs.min()) * p.complexity

    # H gamma^2 = C, and budgets just short of another pull of both arms
    two_arms = Problem([[0.9], [0.05]], [1.0, 1.0])
    problems = random_problems(4, seed)
    cases = [
        (two_arms, b)
        for b in 3.0 * np.arange(2, 7) * (1 - 1e-6)
        if b >= starts(two_arms)
    ]
    size = (
        f"{len(cases)} budgets for a gap of {two_arms.classification_gaps[0]:g};"
        f" {len(problems)} random problems"
    )
    cases += [(p, starts(p)) for p in problems]
    smallest = min(least_target_share(p, budget, seed) for p, budget in cases)
    return CheckResult(
        size, f"at least {smallest:.3g}", {"2 ÷": lambda factor: factor <= smallest}
    )


def compare_deviations(
    deviation: Callable[..., tuple[float, float]], cases: list[tuple[Any, ...]]
) -> CheckResult:
    """Compare exact deviations with twice an exponential, in both of its constants."""
    exact, bound = np.array([deviation(*case) for case in cases]).T
    return CheckResult(
        f"{len(cases)} cases",
        f"at most {(exact / bound).max():.2g} of the bound",
        {
            "2 in front ÷": below(exact, bound),
            "exponent ×": below(exact, lambda factor: 2 * (bound / 2) ** factor),
        },
    )


@check("Theorem 2, Step 4: concentration at adaptive targets", "copsi")
def check_concentration(seed: int) -> CheckResult:
    """Exact probability that running means ever leave after N draws."""
    cases = [
        (0.5, 100, 0.06),
        (0.5, 100, 0.12),
        (0.5, 200, 0.15),
        (0.2, 50, 0.15),
        (0.9, 100, 0.1),
    ]
    return compare_deviations(uniform_deviation, cases)


@check("Concentration of differences", "copsi", ours=True)
def check_differences(seed: int) -> CheckResult:
    """Exact probability that a difference of running means leaves after N draws."""
    cases = [
        (0.5, 0.5, 100, 0.09),
        (0.5, 0.5, 100, 0.2),
        (0.6, 0.4, 100, 0.2),
        (0.9, 0.3, 40, 0.3),
    ]
    return compare_deviations(difference_deviation, cases)


def ties_to_tiny(largest_budget: float, allocation: float = 1.5) -> pd.DataFrame:
    """Return exact errors of three pairs of arms, for ties and for tiny bounds."""
    cases: list[tuple[float, float, Iterable[float]]] = [
        (0.02, 0.01, [3.0, 6.0]),
        (0.8, 0.2, np.geomspace(3, largest_budget, 20)),
        (0.55, 0.45, np.geomspace(3e3, 6e4, 6)),
    ]
    rows = []
    for better, worse, budgets in cases:
        H = theory.cost_complexity([better - worse] * 2, [1.0, 1.0])
        rows += [
            (b, allocation, H, two_arm_error(better, worse, b, allocation=allocation))
            for b in budgets
        ]
    return pd.DataFrame(rows, columns=["budget", "allocation", "complexity", "error"])


def compare_errors(
    exact: pd.DataFrame,
    bound: Callable[..., float],
    exponent: str,
    front: str,
    **options: Any,
) -> CheckResult:
    """Compare exact errors of two arms with a bound, in its exponent and its front."""

    def all_bounds(factor: float = 1.0) -> Floats:
        cases = (
            exact.drop(columns="error")
            .assign(budget=factor * exact["budget"])
            .to_dict("records")
        )
        return np.array(
            [
                bound(n_arms=2, n_objectives=1, **options, **case)  # type: ignore[arg-type]
                for case in cases
            ]
        )

    values = all_bounds()
    error = exact["error"].to_numpy() - SLACK
    ratio = (error / values)[values < 1].max(initial=0)
    return CheckResult(
        f"{len(exact)} budgets to {exact['budget'].max():,.0f}",
        f"at most {ratio:.2g} of a bound below one",
        {f"{exponent} ÷": below(error, all_bounds), f"{front} ÷": below(error, values)},
        informative=bool((values < 1).any()),
    )


@check("Theorem 2: error probability", "copsi")
def check_error(seed: int) -> CheckResult:
    """Exact error of CoPSI on two arms, three pairs of means."""
    exact = ties_to_tiny(12_000).drop(columns="allocation")
    return compare_errors(
        exact, theory.identification_error_bound, "256", "2K²D", cost_ratio=1.0
    )


@check("Abstract: error O(exp(−B/H))", "errata")
def check_exponent(seed: int) -> CheckResult:
    """Exact lower bound of the error with the exact constant, 13 arms being equal."""
    costs = np.ones(14)
    means = (0.55, 0.45)
    budgets = np.array([7e4, 1.4e5])
    L = theory.exact_allocation_constant(costs)
    H = theory.cost_complexity([means[0] - means[1]] * 14, costs)
    errors = [first_phase_error(*means, 14, budget, allocation=L) for budget in budgets]
    slope = float(-np.diff(np.log(errors))[0] / np.diff(budgets)[0] * H)
    finding = f"log error falls by {slope:.2f} per B/H, where the claim asks for 1"
    return CheckResult(
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}", finding, {}, holds=slope >= 1
    )


@check("Error probability by differences", "copsi", ours=True)
def check_difference_error(seed: int) -> CheckResult:
    """Exact error of CoPSI and of its adaptive form on two arms."""
    # the printed constant, and the exact one, which equals the adaptive one on two arms
    constants = (1.5, 1.0)
    exact = pd.concat(
        [ties_to_tiny(600, constant) for constant in constants], ignore_index=True
    )
    return compare_errors(exact, bounds.difference_error_bound, "16", "K(K−1)²D")


def shared_error(only_better: float, only_worse: float, pulls: int) -> float:
    """Return the probability that the better of two arms has no more right answers.

    Both answer the same instances; the probability is exact.

    Parameters
    ----------
    only_better, only_worse : float
        Probabilities that only this arm answers an instance right.
    pulls : int

    Examples
    --------
    >>> round(shared_error(0.5, 0.25, pulls=1), 6)  # only the better is right
    0.5
    """
    differing = np.arange(pulls + 1)  # instances on which the arms differ
    share = only_better / (only_better + only_worse)
    chances = stats.binom.pmf(differing, pulls, only_better + only_worse)
    return float(chances @ stats.binom.cdf(differing // 2, differing, share))


@check("Error probability by variances of pairs, instances shared", "copsi", ours=True)
def check_variance_error(seed: int) -> CheckResult:
    """Exact error of two arms that answer the same instances, at equal budgets."""
    rows = []
    for better, worse in (
        (0.1, 0.0),
        (0.06, 0.02),
        (0.3, 0.2),
        (0.51, 0.49),
        (0.9, 0.05),
    ):
        gap = better - worse
        variance = better + worse - (better - worse) ** 2
        H = bounds.variance_complexity([gap, gap], [1.0, 1.0], variance)
        largest = 40_000 if gap < 0.05 else 4000
        sizes = np.unique(np.geomspace(1, largest, 12).astype(int))
        for n in sizes.tolist():
            rows.append((2.0 * n, 1.0, H, shared_error(better, worse, n)))

    exact = pd.DataFrame(rows, columns=["budget", "allocation", "complexity", "error"])
    return compare_errors(
        exact, bounds.variance_error_bound, "32σ² + 16γ/3", "K(K−1)²D"
    )
