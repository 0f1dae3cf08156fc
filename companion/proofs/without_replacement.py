"""Evaluate once: what is proved of it, checked by exact enumeration on small benchmarks and by play."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _validation
from cobandit.policies import CoPSIOnce
from cobandit.replay.grid import pack_shared
from cobandit.replay.running import run_kernel
from cobandit.tables import EvaluationTable
from companion import bounds
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.known_arms import share_instances


def orders(values: ArrayLike) -> Floats:
    """Every order of a small population, a row each, each distinct one once: all are equally likely.

    Examples
    --------
    >>> orders([0, 1, 1]).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    return np.array(
        sorted(set(permutations(_validation.numbers(values, "values", 1).tolist())))
    )


def exact_tails(
    n_instances: int, levels: int = 2
) -> Iterator[tuple[float, float, int, Floats]]:
    """Probabilities, by enumeration, that a mean is ever so far above the full one from depth n on.

    Parameters
    ----------
    n_instances : int
        N, small: there are up to N! orders.
    levels : int
        Rewards are multiples of 1 / (levels - 1), and populations all that there are.

    Yields
    ------
    tuple
        The probability, the deviation, each one that occurs, n and the population.

    Examples
    --------
    >>> max(tail for tail, *_ in exact_tails(3))
    0.6666666666666666
    """
    for population in combinations_with_replacement(
        np.linspace(0, 1, levels), n_instances
    ):
        values = np.array(population)
        running = (
            np.cumsum(orders(values), axis=1) / np.arange(1, n_instances + 1)
            - values.mean()
        )
        for n in range(1, n_instances + 1):
            highest = running[:, n - 1 :].max(axis=1)
            for deviation in np.unique(highest[highest > 1e-9]):
                yield (
                    float((highest >= deviation - 1e-12).mean()),
                    float(deviation),
                    n,
                    values,
                )


def largest_ratio(
    bound: Callable[[float, int, int, Floats], float], n_instances: int, levels: int = 2
) -> float:
    """Largest exact tail over its bound, over populations, depths and deviations; above one refutes it.

    Parameters
    ----------
    bound : callable
        Deviation, n, N and the population to a number.
    n_instances : int
        N, small.
    levels : int
        Rewards are multiples of 1 / (levels - 1).

    Returns
    -------
    float

    Examples
    --------
    >>> largest_ratio(lambda deviation, n, N, values: 1.0, n_instances=3)
    0.6666666666666666
    """
    ratios = []
    for tail, deviation, n, values in exact_tails(n_instances, levels):
        allowed = bound(deviation, n, n_instances, values)
        ratios.append(tail / allowed if allowed else inf)
    return max(ratios)


def largest_spend(n_problems: int, replications: int, seed: int = 0) -> float:
    """Largest part of its budget that `CoPSIOnce` spent on random problems; above one refutes the plan.

    Parameters
    ----------
    n_problems, replications : int
        Problems of 2 to 8 configurations, 1 to 30 instances and 1 to 3 objectives, with
        costs that differ by up to a thousand times and budgets from one evaluation of
        each to more than everything costs; orders of the instances for each, half of
        them charged realised costs at random below the declared.
    seed : int

    Returns
    -------
    float
        As floating-point numbers add up: a rounding error above one is one.

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
    """Share of the cost of everything below which no method is right with probability 1 - delta everywhere.

    Parameters
    ----------
    table : EvaluationTable
        Its evaluation split, instances that all configurations have.
    delta : float
        As in `companion.bounds.least_evaluations`, whose evaluations are added up at
        the declared costs.

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
    least = bounds.least_evaluations(rewards, delta)
    return float(least @ source.costs / (rewards.shape[1] * source.costs.sum()))


def what_pairing_buys(
    table: EvaluationTable, gap: float = 0.1, level: float = 0.05
) -> dict[str, float]:
    """How alike configurations answer, and how deep the bound has to see two of them.

    Parameters
    ----------
    table : EvaluationTable
        Its evaluation split, instances that all configurations have, and its first
        objective.
    gap, level : float
        Classification gap of two configurations, and what the bound on the error of
        telling which is better has to fall to.

    Returns
    -------
    dict
        ``"variance kept"``, the median over pairs of the variance of the difference
        over the sum of both variances; ``"paired"``, the share of the instances by
        `companion.bounds.paired_error_bound` with the median variance of the
        difference.

    Examples
    --------
    >>> import cobandit as cb
    >>> found = what_pairing_buys(cb.load("synthetic-24"))
    >>> found["variance kept"] < 1 and found["paired"] <= 1
    True
    """
    scores = pack_shared(table).feedback.rows[:, 2].reshape(table.n_arms, -1)
    n_instances = scores.shape[1]
    pairs = np.triu_indices(table.n_arms, 1)
    paired = np.array([(scores - one).var(axis=1) for one in scores])[pairs]
    independent = np.add.outer(scores.var(axis=1), scores.var(axis=1))[pairs]
    known = np.full((2, 2, 1), float(np.median(paired)))

    def bound(n: int) -> float:
        return bounds.paired_error_bound(
            [n], [gap, gap], known, n_instances=n_instances
        )

    depth = 1 + bisect_left(range(1, n_instances), -level, key=lambda n: -bound(n))
    kept = float(np.median(paired / np.maximum(independent, 1e-12)))
    return {"variance kept": kept, "paired": depth / n_instances}


# ----------------------------------------------------------------------------- checks
@check("CoPSI once stays within its budget", "once", ours=True)
def check_budget_once(seed: int) -> CheckResult:
    """Spend of CoPSI once."""
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
    """Exact probability that a mean is ever off from depth n on."""
    sizes = (3, 4, 5, 6)
    cases = [(case, N) for N in sizes for case in exact_tails(N)]
    tails = np.array([tail for (tail, *_), _ in cases]) - SLACK

    def hoeffding(by: float) -> list[float]:
        return [
            bounds.hoeffding_serfling_tail(sqrt(by) * e, n, N)
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
            "σ² ÷": below(tails, lambda by: bernstein(variance=by)),
            "⅔(b − a) ÷": below(tails, lambda by: bernstein(width=by)),
        },
    )


def two_arms_once(
    only_better: int, only_worse: int, n_instances: int, depth: int
) -> float:
    """Exact probability that of two arms the better has no more right answers among the first instances.

    Examples
    --------
    Three instances, one of which only the better arm answers: it is not the first.

    >>> round(two_arms_once(1, 0, 3, depth=1), 6)
    0.666667
    """
    won = np.arange(
        max(0, depth + only_better - n_instances), min(only_better, depth) + 1
    )
    chances = stats.hypergeom.pmf(won, n_instances, only_better, depth)
    return float(
        chances
        @ stats.hypergeom.sf(
            won - 1, n_instances - only_better, only_worse, depth - won
        )
    )


@check("Error probability without replacement", "once", ours=True)
def check_error_once(seed: int) -> CheckResult:
    """Exact error of two arms that answer the same instances."""
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
            "32 ÷": below(error, lambda by: 4 * (plain / 4) ** by),
            "by pairs, 2 ÷": below(error, paired),
            "by pairs, exponent ×": below(error, lambda by: 2 * (paired / 2) ** by),
        },
        informative=bool((paired < 1).any()),
    )


@check("Leave early only when certain: error probability", "once", ours=True)
def check_early_error(seed: int) -> CheckResult:
    """Error of CoPSI once with a confidence, two configurations, next to δ and the bound as planned."""
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
        rewards[0, :better], rewards[1, better : better + worse] = 1, 1
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
        rows.append(
            (1 - (returned == [True, False]).all(axis=1).mean(), delta, planned)
        )

    wrong, early, planned = np.array(rows).T

    # that much below is chance, once in 740 cases
    low = wrong - 3 * np.sqrt(wrong * (1 - wrong) / runs)
    return CheckResult(
        f"{len(rows)} cases, {runs:,} orders of {N} instances each",
        f"wrong in {wrong.max():.1%} of the runs where δ = {early[wrong.argmax()]:g}",
        {"δ ÷": below(low - planned, early)},
        informative=bool((early + planned < 1).all()),
    )


def sequential_ratio(
    counts: Sequence[int], other: Sequence[int], delta: float
) -> tuple[float, float, float]:
    """Instances on average, and errors on either table, of a sequential test of two tables.

    It looks at instances in random order until one table is (1 - delta) / delta times
    as likely as the other, and answers with the front of that; neither error is above
    delta.

    Parameters
    ----------
    counts, other : sequence of int, length 3
        As in `companion.bounds.least_instances`; the average is on the first.
    delta : float

    Returns
    -------
    instances, first, second : float
        By a recursion over what was seen, in time O(N a b) for the counts a and b of
        the first two kinds.

    Examples
    --------
    >>> [round(x, 3) for x in sequential_ratio([10, 4, 26], [7, 7, 26], delta=0.05)]
    [27.352, 0.005, 0.012]
    """
    tables = np.array([counts, other])
    N = int(tables[0].sum())
    shape = tables.max(axis=0)[:2] + 1
    chances = np.zeros((2, *shape))  # of being here and not having stopped
    chances[:, 0, 0] = 1.0

    a, b = np.indices(shape)
    average = 0.0
    errors = np.zeros(2)
    limit = (1 - delta) / delta
    for n in range(N):
        average += float(chances[0].sum())
        drawn = np.zeros_like(chances)
        seen = a, b, n - a - b
        left = [
            np.maximum(tables[:, k, None, None] - x, 0) / (N - n)
            for k, x in enumerate(seen)
        ]
        drawn[:, 1:] += (chances * left[0])[:, :-1]
        drawn[:, :, 1:] += (chances * left[1])[:, :, :-1]
        drawn += chances * left[2]
        stops = [drawn[0] >= limit * drawn[1], drawn[1] >= limit * drawn[0]]
        for wrong, (stop, table) in enumerate(zip(stops[::-1], drawn, strict=True)):
            errors[wrong] += float(table[stop & ~stops[wrong]].sum())
        chances = np.where(stops[0] | stops[1], 0.0, drawn)

    return average, float(errors[0]), float(errors[1])


@check("Instances that no method can save in random order", "once", ours=True)
def check_least_instances(seed: int) -> CheckResult:
    """Instances that a sequential test of two tables touches on average, exact."""
    cases = [
        ((10, 4, 26), (7, 7, 26), 0.05),
        ((12, 0, 28), (6, 6, 28), 0.05),
        ((30, 20, 50), (25, 25, 50), 0.1),
        ((60, 30, 210), (45, 45, 210), 0.025),
    ]
    touched, first, second = np.array([sequential_ratio(*case) for case in cases]).T
    delta = np.array([case[2] for case in cases])

    def least(by: float = 1.0) -> Floats:
        return np.array(
            [bounds.least_instances(c, other, d / by) for c, other, d in cases]
        )

    N = sum(cases[-1][0])
    return CheckResult(
        f"{len(cases)} pairs of tables of {sum(cases[0][0])} to {N} instances",
        f"the test touches {touched[-1] / N:.0%} of {N}, where no method is below"
        f" {least()[-1] / N:.0%}",
        {
            "sum ×": below(least(), touched),
            "δ ÷": lambda by: bool((least(by) <= touched).all()),
        },
        holds=bool((np.maximum(first, second) <= delta).all()),
    )


@check("Lower bound on the cost of certainty", "once", ours=True)
def check_certainty(seed: int) -> CheckResult:
    """Evaluations of a method that guesses with probability 3δ/2 and else looks at everything."""
    g = 9
    deltas = np.array([0.0, 0.01, 0.1, 0.3])
    rewards = np.ones((2, g, 1))
    rewards[1, 0] = 0.5
    spent = (1 - 1.5 * deltas) * g + SLACK  # three fronts, each guessed at delta / 2

    def least(by: float = 1.0) -> Floats:
        return np.array(
            [bounds.least_evaluations(rewards, delta)[0] for delta in deltas / by]
        )

    return CheckResult(
        f"two configurations, {g} instances, {len(deltas)} levels",
        f"{spent[-1]:.3g} at δ = {deltas[-1]:g}, where no method is below"
        f" {least()[-1]:.3g}",
        {"2δ ÷": lambda by: bool((least(by) <= spent).all())},
    )
