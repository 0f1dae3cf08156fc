"""Comparison of the stopping rule of `ParetoRace` with other rules.

All rules run on the same simulated tables, in the same orders of the instances.
"""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from cobandit.dominance import pareto_mask
from cobandit.policies import ParetoRace
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import LEAST_SCATTER
from cobandit.policies.look_depths import list_looks, next_look
from cobandit.policies.race_standing import Calls, Standing, beats
from cobandit.replay.kernels import shared_order
from cobandit.stats import metrics
from companion.stored.made_up_tables import SEED, Floats, read_rows
from companion.stored.races import TOLERANCES

#: Total cost of a race, and the mask of the returned arms.
Outcome = tuple[float, NDArray[np.bool_]]


#: Allowed error of every rule.
ERROR = 0.05


#: Number of orders of the instances per rule.
RIVALS_ORDERS = 40


#: Number of draws of the multiplier bootstrap.
DRAWS = 100


#: Half-width of the indifference zone of the likelihood ratios. The zone is an interval
#: around one half, for the share of instances that an arm wins.
INDIFFERENT = 0.1


#: Function that returns the threshold of a race in standard errors. Its arguments are
#: the rewards of active arms on evaluated instances (n, k, D), N, K and the tolerance.
Threshold = Callable[[Floats, int, int, float], float]


#: Function that runs a race and returns its outcome. Its arguments are the rewards in
#: the order of the instances (N, K, D), the costs (K,) and the tolerance.
Race = Callable[[Floats, Floats, float], Outcome]


def find_scatter(rewards: Floats) -> Floats:
    """Return the root sum of squares of each centred paired difference, (k, k, D).

    The rewards have the shape (n, k, D). As in `ParetoRace`, small sums are raised to a
    minimum, and the prior variance is added to all sums.
    """
    centred = rewards - rewards.mean(axis=0)
    products = np.einsum("qad,qbd->abd", centred, centred)
    squares = np.einsum("aad->ad", products)
    scatter = squares[:, None] + squares[None] - 2 * products
    return np.sqrt(np.maximum(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


def bound_looks(
    rewards: Floats, n_instances: int, n_arms: int, tolerance: float
) -> float:
    """Return a threshold from a union bound over the interim tests of a single pair.

    A race tests after certain numbers of instances, called looks. With two objectives
    or more, twice the error is allowed, because a wrong decision requires a second
    mistake, in another objective.
    """
    return float(
        stats.norm.isf(min(rewards.shape[2], 2) * ERROR / len(list_looks(n_instances)))
    )


def bound_union(
    rewards: Floats, n_instances: int, n_arms: int, tolerance: float
) -> float:
    """Return a threshold from a union bound over tests, pairs and objectives."""
    claims = (
        max(1, n_arms * (n_arms - 1)) * rewards.shape[2] * len(list_looks(n_instances))
    )
    return float(stats.norm.isf(ERROR / claims))


def bootstrap(
    rewards: Floats, n_instances: int, n_arms: int, tolerance: float
) -> float:
    """Return a threshold from a multiplier bootstrap of the largest future statistic.

    The threshold is a quantile of the maximum over active pairs, objectives and future
    tests. With Gaussian multipliers, sums of deviations are Gaussian with the observed
    covariance. Because instances are drawn without replacement, the sums have
    independent increments in the time n / (N - n).
    """
    n, n_active, n_objectives = rewards.shape
    looks = np.array(
        [look for look in list_looks(n_instances) if n <= look < n_instances]
    )
    if n_active < 2 or not len(looks):
        return 0.0

    rng = np.random.default_rng([n, n_active])
    scatter = find_scatter(rewards)
    _, sizes, directions = np.linalg.svd(
        (rewards - rewards.mean(axis=0)).reshape(n, -1), full_matrices=False
    )

    clock = looks / (n_instances - looks)
    sums = np.zeros((DRAWS, n_active * n_objectives))
    largest = np.zeros(DRAWS)
    for time, step in zip(clock, np.diff(clock, prepend=0.0), strict=True):
        sums += (
            sqrt(step) * rng.standard_normal((DRAWS, len(sizes))) * sizes @ directions
        )
        standardised = sums.reshape(DRAWS, n_active, n_objectives) / sqrt(time)
        statistics = np.abs(standardised[:, :, None] - standardised[:, None]) / scatter
        np.maximum(largest, statistics.reshape(DRAWS, -1).max(axis=1), out=largest)

    return float(np.quantile(largest, 1 - ERROR))


def race_by(threshold: Threshold, patience: float = 1.25) -> Race:
    """Return a function that runs `ParetoRace` with another threshold.

    The threshold is computed again after a removal, or if the number of evaluated
    instances has increased by the factor ``patience``.
    """

    def run(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
        n_instances, n_arms, _ = rewards.shape

        standing = Standing(costs)
        depth = 0
        spent = 0.0
        last_update = (0, 0.0)
        z = 0.0
        while len(standing.active):
            active = standing.active
            previous_depth = depth
            depth = next_look(depth, n_instances)
            spent += (depth - previous_depth) * costs[active].sum()
            evaluated = rewards[:depth, active]
            if len(active) != last_update[0] or depth > last_update[1]:
                z = threshold(evaluated, n_instances, n_arms, tolerance)
                last_update = (len(active), patience * depth)
            means = evaluated.mean(axis=0)
            differences = means[None] - means[:, None]
            half = z * sqrt(1 - depth / n_instances) / depth * find_scatter(evaluated)
            lower = differences - half
            upper = differences + half
            calls = Calls(
                beats(lower), beats(lower + tolerance), beats(upper - tolerance)
            )
            for call in calls:
                np.fill_diagonal(call, False)
            standing.conclude(calls, means.sum(axis=1))

        return spent, standing.returned

    return run


def race_as_we_do(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Run `cobandit.ParetoRace`, whose threshold depends on the number of near ties."""
    n_instances, n_arms, n_objectives = rewards.shape
    options: dict[str, Any] = {
        "tolerance": tolerance,
        "error": ERROR,
        "front": "objectives",
    }
    race = ParetoRace(costs, n_objectives, n_instances, **options)
    while (pull := race.ask()) is not None:
        race.tell(pull, rewards[pull.number, pull])
    returned = np.isin(np.arange(n_arms), race.recommend())
    return race.spent, returned


def count_wins(rewards: Floats) -> Floats:
    """Return the numbers (k, k) of instances on which arm j dominates arm i.

    The rewards have the shape (n, k, D).
    """
    return np.array(
        [beats(rewards - rewards[:, [i]]).sum(axis=0) for i in range(rewards.shape[1])],
        dtype=float,
    )


def race_by_signs(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Run a race (elimination on shared instances) with sign tests of won instances.

    The tests have Holm's correction.

    Arm i wins an instance against arm j if arm i dominates arm j on this instance. Arms
    are only removed, never returned early, so the race ends with a single arm or after
    all instances.
    """
    active = np.arange(len(costs))
    depth = 0
    spent = 0.0
    for look in list_looks(len(rewards)):
        if len(active) < 2:
            break
        spent += (look - depth) * costs[active].sum()
        depth = look
        wins = count_wins(rewards[:look, active])
        p_values = stats.binom.sf(wins - 1, wins + wins.T, 0.5)
        np.fill_diagonal(p_values, 1.0)
        ordered = np.sort(p_values, axis=None)
        pairs = len(active) * (len(active) - 1) // 2
        n_rejected = np.cumprod(
            ordered <= ERROR / np.maximum(pairs - np.arange(ordered.size), 1)
        ).sum()
        if n_rejected:
            active = active[~(p_values <= ordered[n_rejected - 1]).any(axis=1)]

    return spent, np.isin(np.arange(len(costs)), active)


def race_by_ratios(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Run a race (elimination on shared instances) with Wald's likelihood ratios.

    The ratios are of the numbers of won instances.

    The test of a pair ends if it shows that one arm wins more instances than the other,
    or that the two are equivalent.
    """
    n_arms = len(costs)
    depth = 0
    spent = 0.0
    bound = log((1 - ERROR) / ERROR)

    undecided = ~np.eye(n_arms, dtype=bool)
    remains = np.ones(n_arms, dtype=bool)
    for look in list_looks(len(rewards)):
        needed = undecided.any(axis=1)
        if not needed.any():
            break
        spent += (look - depth) * costs[needed].sum()
        depth = look
        wins = count_wins(rewards[:look])
        ratios = wins * log(1 + 2 * INDIFFERENT) + wins.T * log(1 - 2 * INDIFFERENT)
        remains &= ~(undecided & (ratios >= bound)).any(axis=1)
        equivalent = np.maximum(ratios, ratios.T) <= -bound
        undecided &= ~equivalent & remains & remains[:, None]

    return spent, remains


def race_by_ranks(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Run F-Race on one objective: Friedman's test, then removal by sums of ranks."""
    active = np.arange(len(costs))
    depth = 0
    spent = 0.0
    for n in list_looks(len(rewards)):
        n_active = len(active)
        if n_active < 2:
            break
        spent += (n - depth) * costs[active].sum()
        depth = n
        ranks = stats.rankdata(-rewards[:n, active, 0], axis=1)
        rank_sums = ranks.sum(axis=0)
        squares = (ranks**2).sum()
        scatter = squares - n * n_active * (n_active + 1) ** 2 / 4
        if not scatter:
            continue
        between = (
            (n_active - 1) * ((rank_sums - n * (n_active + 1) / 2) ** 2).sum() / scatter
        )
        if stats.chi2.sf(between, n_active - 1) < ERROR:
            spread = max(
                0.0,
                2 * (n * squares - (rank_sums**2).sum()) / ((n - 1) * (n_active - 1)),
            )
            margin = (
                stats.t.isf(ERROR / 2, (n - 1) * (n_active - 1)) * sqrt(spread) + 1e-9
            )
            active = active[rank_sums - rank_sums.min() <= margin]

    best = active[rewards[:depth, active, 0].mean(axis=0).argmax()]
    return spent, np.arange(len(costs)) == best


#: Stopping rules by name. Rules that test hypotheses have no tolerance.
RIVALS: dict[str, Race] = {
    "near ties that are counted (ours)": race_as_we_do,
    "union over looks at one near tie": race_by(bound_looks),
    "2.5 standard errors": race_by(lambda *_: 2.5),
    "3 standard errors": race_by(lambda *_: 3.0),
    "union over looks and pairs": race_by(bound_union),
    "the same, pairs still active": race_by(
        lambda rewards, n_instances, _, tolerance: bound_union(
            rewards, n_instances, rewards.shape[1], tolerance
        )
    ),
    "multiplier bootstrap, pairs still active": race_by(bootstrap),
    "sign tests (as S-Race)": race_by_signs,
    "likelihood ratios (as SPRINT-Race)": race_by_ratios,
    "Friedman's test (F-Race)": race_by_ranks,
}


def race_rivals(name: str) -> pd.DataFrame:
    """Run races on a simulated table with every stopping rule, in the same orders.

    Returns
    -------
    DataFrame
        One row per rule and tolerance: ``way``, the name of the rule; ``tolerance``;
        ``share``, the mean cost of a run, divided by the cost of evaluating everything;
        ``runs``; ``off``, the number of runs whose front is wrong by more than the
        tolerance (`cobandit.stats.metrics.beyond_tolerance`); ``f1``, the mean F1 score
        of the returned sets.
    """
    feedback, costs = read_rows(name)
    rewards = (
        feedback.rows[:, 2:]
        .reshape(len(costs), int(feedback.offsets[1]), -1)
        .transpose(1, 0, 2)
    )

    means = rewards.mean(axis=0)
    full_cost = len(rewards) * float(costs.sum())
    truth = pareto_mask(means, dominance="standard")
    rows = []
    for way, rule in RIVALS.items():
        if rule is race_by_ranks and rewards.shape[2] > 1:
            continue
        is_test = rule in (race_by_signs, race_by_ratios, race_by_ranks)
        for tolerance in TOLERANCES[: 1 if is_test else 2]:
            orders = (
                shared_order(SEED, number, len(rewards))
                for number in range(RIVALS_ORDERS)
            )
            spent, returned = zip(
                *(rule(rewards[order], costs, tolerance) for order in orders),
                strict=True,
            )
            excess = metrics.beyond_tolerance(np.array(returned), means, tolerance)
            row: dict[str, Any] = {
                "dataset": name,
                "way": way,
                "tolerance": tolerance,
                "runs": RIVALS_ORDERS,
            }
            row |= {
                "share": np.mean(spent) / full_cost,
                "off": int((excess > 1e-9).sum()),
            }
            rows.append(
                row | {"f1": float(metrics.f1_score(np.array(returned), truth).mean())}
            )

    return pd.DataFrame(rows)
