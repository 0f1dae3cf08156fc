"""Checks of methods that evaluate instances without replacement, and of their bounds.

Exact probabilities are computed by enumeration, others by simulation.
"""

from bisect import bisect_left
from math import sqrt

import numpy as np

from cobandit.policies import CoPSIOnce
from cobandit.replay.grid import pack_shared
from cobandit.replay.running import run_kernel
from cobandit.tables import EvaluationTable
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.exact_once import exact_tails, sequential_ratio, two_arms_once
from companion.proofs.known_arms import share_instances


def largest_spend(n_problems: int, replications: int, seed: int = 0) -> float:
    """Return the largest share of its budget that `CoPSIOnce` spends in random runs.

    A share above one, by more than rounding, refutes the statement that the method
    never overspends.

    Parameters
    ----------
    n_problems, replications : int
        Number of problems, and number of random orders of the instances per problem.
        Problems have 2 to 8 configurations, 1 to 30 instances and 1 to 3 objectives.
        Costs differ by a factor of up to 1,000, and budgets range from the cost of one
        evaluation per configuration to more than the cost of everything. Half of the
        runs are charged realised costs, which are random and below the known (declared)
        costs.
    seed : int

    Returns
    -------
    float

    Examples
    --------
    >>> 0.99 < largest_spend(20, 5) < 1 + 1e-9
    True
    """
    rng = np.random.default_rng(seed)
    largest = 0.0
    for _ in range(n_problems):
        n_arms = rng.integers(2, 9)
        n_instances = rng.integers(1, 31)
        n_objectives = rng.integers(1, 4)
        costs = 10 ** rng.uniform(0, rng.uniform(0, 3), n_arms)
        rewards = (
            rng.random((n_arms, n_instances, n_objectives)) < rng.random((n_arms, 1, 1))
        ).astype(float)
        feedback = share_instances(
            rewards, costs[:, None] * rng.uniform(0.2, 1, (n_arms, n_instances))
        )
        budget = float(costs.sum() * n_instances ** rng.uniform(0, 1.05))
        finder = CoPSIOnce(costs, budget, int(n_objectives), int(n_instances))
        for realised in (False, True):
            names = np.arange(max(1, replications // 2)) + realised * replications
            spent = run_kernel(finder, feedback, seed, names, realised=realised).spent
            largest = max(largest, float(spent.max()) / budget)

    return largest


def least_share(table: EvaluationTable, delta: float = 0.0) -> float:
    """Return a lower bound on the cost of methods with error delta on a table.

    The bound is a share of the cost of evaluating everything. No method that is right
    with probability 1 - delta on every table spends less on this table on average.

    Parameters
    ----------
    table : EvaluationTable
        Only instances of the evaluation split that all configurations share are used.
    delta : float
        Bound on the error, as in `companion.bounds.least_evaluations`. The function
        multiplies the result of this bound by declared costs.

    Returns
    -------
    float

    Examples
    --------
    >>> import cobandit as cb
    >>> round(least_share(cb.load("synthetic-24")), 2)
    0.7
    """
    source = pack_shared(table)
    rewards = source.feedback.rows[:, 2:].reshape(table.n_arms, -1, table.n_objectives)
    evaluations = bounds.least_evaluations(rewards, delta)
    return float(evaluations @ source.costs / (rewards.shape[1] * source.costs.sum()))


def what_pairing_buys(
    table: EvaluationTable, gap: float = 0.1, level: float = 0.05
) -> dict[str, float]:
    """Measure how much shared instances reduce the variance of differences.

    Parameters
    ----------
    table : EvaluationTable
        Only the first objective is used, on instances of the evaluation split that all
        configurations share.
    gap, level : float
        Classification gap of two configurations, and the allowed error of choosing the
        better one.

    Returns
    -------
    dict
        ``"variance kept"``, the variance of the difference of two configurations
        divided by the sum of their variances (median over pairs); ``"paired"``, the
        smallest share of the instances at which `companion.bounds.paired_error_bound`
        is at most ``level``. This bound uses the median variance of a difference.

    Examples
    --------
    >>> import cobandit as cb
    >>> gains = what_pairing_buys(cb.load("synthetic-24"))
    >>> gains["variance kept"] < 1 and gains["paired"] <= 1
    True
    """
    scores = pack_shared(table).feedback.rows[:, 2].reshape(table.n_arms, -1)
    n_instances = scores.shape[1]
    pairs = np.triu_indices(table.n_arms, 1)
    paired = np.array([(scores - one).var(axis=1) for one in scores])[pairs]
    independent = np.add.outer(scores.var(axis=1), scores.var(axis=1))[pairs]
    variances = np.full((2, 2, 1), float(np.median(paired)))

    def bound(n: int) -> float:
        return bounds.paired_error_bound(
            [n], [gap, gap], variances, n_instances=n_instances
        )

    # the bound falls with the depth: find the first depth at which it meets the level
    depth = 1 + bisect_left(range(1, n_instances), -level, key=lambda n: -bound(n))
    variance_share = float(np.median(paired / np.maximum(independent, 1e-12)))
    return {"variance kept": variance_share, "paired": depth / n_instances}


@check("CoPSI once stays within its budget", "once", ours=True)
def check_budget_once(seed: int) -> CheckResult:
    """Total cost of CoPSI once on random problems."""
    problems = 20
    replications = 2
    spent = largest_spend(problems, replications, seed)
    return CheckResult(
        f"{problems} random problems, {replications} orders of the instances each",
        f"up to {spent:.6f} of the budget",
        {"B ÷": below(spent, 1 + SLACK)},
    )


@check("Concentration without replacement", "once", ours=True)
def check_tails(seed: int) -> CheckResult:
    """Exact probability that a running mean deviates after n draws."""
    sizes = (3, 4, 5, 6)
    cases = [(case, N) for N in sizes for case in exact_tails(N)]
    tails = np.array([tail for (tail, *_), _ in cases]) - SLACK

    def hoeffding(factor: float) -> list[float]:
        return [
            bounds.hoeffding_serfling_tail(sqrt(factor) * e, n, N)
            for (_, e, n, _), N in cases
        ]

    def bernstein(variance: float = 1.0, width: float = 1.0) -> list[float]:
        return [
            bounds.bernstein_serfling_tail(e, n, N, values.var() / variance, 1 / width)
            for (_, e, n, values), N in cases
        ]

    return CheckResult(
        f"all populations of 0 and 1 of {sizes[0]} to {sizes[-1]} instances,"
        f" {len(cases):,} tails",
        "both tails, that of the range and that of the variance",
        {
            "2 in the exponent ×": below(tails, hoeffding),
            "σ² ÷": below(tails, lambda factor: bernstein(variance=factor)),
            "⅔(b − a) ÷": below(tails, lambda factor: bernstein(width=factor)),
        },
    )


@check("Error probability without replacement", "once", ours=True)
def check_error_once(seed: int) -> CheckResult:
    """Exact error on two arms that are evaluated on the same instances."""
    rows = []
    for better, worse, N in (
        (1, 0, 20),
        (10, 2, 40),
        (300, 100, 1000),
        (900, 60, 1000),
        (60, 0, 1000),
    ):
        gap = (better - worse) / N
        variance = (better + worse) / N - ((better - worse) / N) ** 2
        for n in np.unique(np.linspace(1, N, 40).astype(int)).tolist():
            plain = bounds.once_error_bound(
                [n], [gap] * 2, n_objectives=1, n_instances=N
            )
            of_pair = np.full((2, 2, 1), variance)
            paired = bounds.paired_error_bound([n], [gap] * 2, of_pair, n_instances=N)
            rows.append((two_arms_once(better, worse, N, n) - SLACK, plain, paired))

    error, plain, paired = np.array(rows).T
    return CheckResult(
        f"{len(rows)} depths on up to {N:,} instances",
        f"bound below one at {(plain < 1).sum()} depths, by pairs at"
        f" {(paired < 1).sum()}",
        {
            "2KD ÷": below(error, plain),
            "32 ÷": below(error, lambda factor: 4 * (plain / 4) ** factor),
            "by pairs, 2 ÷": below(error, paired),
            "by pairs, exponent ×": below(
                error, lambda factor: 2 * (paired / 2) ** factor
            ),
        },
        informative=bool((paired < 1).any()),
    )


@check("Leave early only when certain: error probability", "once", ours=True)
def check_early_error(seed: int) -> CheckResult:
    """Error of CoPSI once with early removals, and its bound."""
    N = 200
    runs = 2000
    rows = []
    cases = [
        (101, 99, 1.0, 0.9),
        (51, 50, 1.0, 0.9),
        (150, 10, 0.45, 0.05),
        (150, 0, 0.3, 0.05),
    ]
    for better, worse, share, delta in cases:
        rewards = np.zeros((2, N, 1))
        rewards[0, :better] = 1
        rewards[1, better : better + worse] = 1
        finder = CoPSIOnce([1, 1], share * 2 * N, 1, N, confidence=1 - delta)
        feedback = share_instances(rewards, np.ones((2, 1)))
        returned = run_kernel(
            finder, feedback, seed, np.arange(runs), realised=False
        ).returned
        depth = int(share * N)
        gap = (better - worse) / N
        planned = bounds.once_error_bound(
            [depth], [gap] * 2, n_objectives=1, n_instances=N
        )
        error = 1 - (returned == [True, False]).all(axis=1).mean()
        rows.append((error, delta, planned))

    wrong, early, planned = np.array(rows).T

    # the rate minus three standard errors exceeds the true rate once in 740 cases
    low = wrong - 3 * np.sqrt(wrong * (1 - wrong) / runs)
    return CheckResult(
        f"{len(rows)} cases, {runs:,} orders of {N} instances each",
        f"wrong in {wrong.max():.1%} of the runs where δ = {early[wrong.argmax()]:g}",
        {"δ ÷": below(low - planned, early)},
        informative=bool((early + planned < 1).all()),
    )


@check("Instances that no method can save in random order", "once", ours=True)
def check_least_instances(seed: int) -> CheckResult:
    """Exact expected number of instances of a sequential test of two tables."""
    cases = [
        ((10, 4, 26), (7, 7, 26), 0.05),
        ((12, 0, 28), (6, 6, 28), 0.05),
        ((30, 20, 50), (25, 25, 50), 0.1),
        ((60, 30, 210), (45, 45, 210), 0.025),
    ]
    touched, first_errors, second_errors = np.array(
        [sequential_ratio(*case) for case in cases]
    ).T
    delta = np.array([case[2] for case in cases])

    def bound(factor: float = 1.0) -> Floats:
        return np.array(
            [
                bounds.least_instances(first, second, d / factor)
                for first, second, d in cases
            ]
        )

    N = sum(cases[-1][0])
    return CheckResult(
        f"{len(cases)} pairs of tables of {sum(cases[0][0])} to {N} instances",
        f"the test touches {touched[-1] / N:.0%} of {N}, where no method is below"
        f" {bound()[-1] / N:.0%}",
        {
            "sum ×": below(bound(), touched),
            "δ ÷": lambda factor: bool((bound(factor) <= touched).all()),
        },
        holds=bool((np.maximum(first_errors, second_errors) <= delta).all()),
    )


@check("Lower bound on the cost of certainty", "once", ours=True)
def check_certainty(seed: int) -> CheckResult:
    """Evaluations of a method that guesses with probability 3δ/2."""
    n_instances = 9
    deltas = np.array([0.0, 0.01, 0.1, 0.3])
    rewards = np.ones((2, n_instances, 1))
    rewards[1, 0] = 0.5
    spent = (
        1 - 1.5 * deltas
    ) * n_instances + SLACK  # three fronts, each guessed at delta / 2

    def bound(factor: float = 1.0) -> Floats:
        return np.array(
            [bounds.least_evaluations(rewards, delta)[0] for delta in deltas / factor]
        )

    return CheckResult(
        f"two configurations, {n_instances} instances, {len(deltas)} levels",
        f"{spent[-1]:.3g} at δ = {deltas[-1]:g}, where no method is below"
        f" {bound()[-1]:.3g}",
        {"2δ ÷": lambda factor: bool((bound(factor) <= spent).all())},
    )
