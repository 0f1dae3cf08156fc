"""How often a race is off and what it costs: on every table, and on made-up ones that it was not tuned on.

On the made-up tables also other ways to stop: other thresholds, and tests instead of
means.
"""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from cobandit.dominance import pareto_mask
from cobandit.policies import CoPSIOnce, ParetoRace, UniformOnce
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.pareto_race import (
    LEAST_SCATTER,
    Calls,
    Standing,
    beats,
    list_looks,
    next_look,
)
from cobandit.replay.grid import pack_shared
from cobandit.replay.kernels import FeedbackRows, shared_order
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables import EvaluationTable, load
from companion.proofs.known_arms import share_instances

Floats = NDArray[np.float64]
#: What a race spent, and who is returned.
Outcome = tuple[float, NDArray[np.bool_]]

TOLERANCES = (0.0, 0.02, 0.05)
ORDERS, NEIGHBOURS_ORDERS = 300, 60
SEED = 0


def answers(rng: np.random.Generator, n_instances: int, ability: Floats) -> Floats:
    """Right or wrong, of abilities (K,) on instances that are as hard for all: (K, N)."""
    chance = 1 / (1 + np.exp(rng.normal(size=n_instances) - ability[:, None]))
    return (rng.random(chance.shape) < chance).astype(float)


def speeds(rng: np.random.Generator, n_instances: int, means: Floats) -> Floats:
    """Scores that vary around means (K,) and from instance to instance: (K, N)."""
    noise = rng.normal(0, 0.1, (len(means), n_instances)) + rng.normal(
        0, 0.05, n_instances
    )
    return np.clip(means[:, None] + noise, 0, 1)


def short_list(rng: np.random.Generator, n_instances: int) -> Any:
    """Three sizes and two prompts, all on the front: the larger, the better and the slower."""
    size, prompt = np.repeat(np.arange(3), 2), np.tile([0, 1], 3)
    right = answers(rng, n_instances, -0.6 + 0.7 * size + 0.25 * prompt)
    fast = speeds(rng, n_instances, 0.8 - 0.2 * size - 0.07 * prompt)
    return np.stack([right, fast], axis=2), 4.0**size * (1 + 0.3 * prompt)


def two_agents(rng: np.random.Generator) -> Any:
    """Two, with one objective, three hundredths apart or so."""
    return answers(rng, 616, np.array([0.0, 0.15]))[:, :, None], np.array([1.0, 2.0])


def tied(rng: np.random.Generator) -> Any:
    """Scores in tenths; of eight rows one is the copy of another, and two are permutations of others."""
    scores = rng.integers(0, 11, (8, 200, 2)) / 10
    scores[1] = scores[0]
    for copy, of in ((3, 2), (5, 4)):
        scores[copy] = scores[of][rng.permutation(200)]
    return scores, np.linspace(1, 3, 8)


def jokers(rng: np.random.Generator) -> Any:
    """Two that are nearly perfect among thirty whose costs are up to a hundredfold apart."""
    right, fast = (
        answers(rng, 250, rng.normal(-0.5, 0.8, 30)),
        speeds(rng, 250, rng.uniform(0.2, 0.8, 30)),
    )
    for joker in (3, 11):
        right[joker], fast[joker] = (
            rng.random(250) < 0.985,
            speeds(rng, 250, np.array([0.93]))[0],
        )
    return np.stack([right, fast], axis=2), np.exp(rng.uniform(0, np.log(100), 30))


def rarely_apart(rng: np.random.Generator) -> Any:
    """Five that are right but on a few instances of their own, none to three in twenty."""
    wrong = rng.random((5, 150)) < 0.15 * np.arange(5)[:, None] / 4
    return 1.0 - wrong[:, :, None], np.linspace(2, 1, 5)


def scattered(
    rng: np.random.Generator, n_arms: int, n_instances: int, n_objectives: int
) -> Any:
    """Means all over, the first objective right or wrong, the others continuous."""
    means = rng.uniform(0.2, 0.8, (n_objectives, n_arms))
    right = rng.random((n_arms, n_instances)) < means[0][:, None]
    rest = [speeds(rng, n_instances, mean) for mean in means[1:]]
    return np.stack([right, *rest], axis=2), np.exp(rng.uniform(0, 3, n_arms))


#: Made-up tables by name; each is drawn anew for the seed, and none is one that the
#: threshold was chosen on.
MADE_UP: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "short list, N = 100": (short_list, (100,)),
    "short list, N = 300": (short_list, (300,)),
    "two agents": (two_agents, ()),
    "ties in tenths": (tied, ()),
    "near-perfect jokers": (jokers, ()),
    "rarely apart": (rarely_apart, ()),
    "K = 20, D = 1": (scattered, (20, 300, 1)),
    "K = 20, D = 3": (scattered, (20, 300, 3)),
    "K = 8, N = 30": (scattered, (8, 30, 2)),
    "K = 12, N = 2,000": (scattered, (12, 2000, 2)),
}


def read_rows(name: str) -> tuple[FeedbackRows, Floats]:
    """Feedback rows of a table of the catalogue, or of a made-up one, and its costs."""
    if name not in MADE_UP:
        source = pack_shared(load(name))
        return source.feedback, np.array(source.costs)
    draw, sizes = MADE_UP[name]
    rewards, costs = draw(
        np.random.default_rng([SEED, 31, list(MADE_UP).index(name)]), *sizes
    )
    return share_instances(rewards, costs[:, None]), costs


def race(name: str, tolerance: float) -> pd.DataFrame:
    """Race a table three hundred times, and run its neighbours at what the races spent on average.

    Parameters
    ----------
    name : str
        Of the catalogue, or a key of `MADE_UP`.
    tolerance : float

    Returns
    -------
    DataFrame
        One row per method: ``share`` of the cost of everything that it spent, ``off``,
        how many of the ``runs`` broke what a race with the tolerance promises
        (`metrics.beyond_tolerance`), and the ``largest`` by which any did.
    """
    feedback, costs = read_rows(name)

    found: list[dict[str, Any]] = []
    options: dict[str, Any] = {"tolerance": tolerance, "front": "objectives"}
    for policy in (ParetoRace, CoPSIOnce, UniformOnce):
        orders = ORDERS if policy is ParetoRace else NEIGHBOURS_ORDERS
        outcome, spent = play_orders(
            policy, feedback, costs, tolerance, orders, **options
        )
        row: dict[str, Any] = {
            "dataset": name,
            "tolerance": tolerance,
            "method": policy.__name__,
        }
        found.append(row | outcome)
        if policy is ParetoRace:
            options = {"budget": max(spent, float(costs.sum()))}

    return pd.DataFrame(found)


def play_orders(
    policy: Any,
    feedback: FeedbackRows,
    costs: Floats,
    within: float,
    orders: int,
    **options: Any,
) -> tuple[dict[str, Any], float]:
    """Run a method in so many orders of a table's instances.

    Returns
    -------
    tuple
        ``runs``, ``share``, ``off`` and ``largest``, as `race` has them, and the mean
        amount that was spent.
    """
    n_arms, n_instances = len(costs), int(feedback.offsets[1])
    rewards = feedback.rows[:, 2:].reshape(n_arms, n_instances, -1)
    race = policy(
        costs=costs, n_objectives=rewards.shape[2], n_instances=n_instances, **options
    )
    run = run_kernel(race, feedback, SEED, np.arange(orders), realised=False)
    spent = float(run.spent.mean())
    excess = metrics.beyond_tolerance(run.returned, rewards.mean(axis=1), within)
    share = spent / (n_instances * float(costs.sum()))
    return {
        "runs": orders,
        "share": share,
        "off": int((excess > 1e-9).sum()),
        "largest": excess.max(),
    }, spent


#: Tolerances at which the two kinds of race are compared.
KINDS_TOLERANCES = (0.0, 0.02, 0.05, 0.1)


def race_kinds(name: str, tolerance: float) -> pd.DataFrame:
    """Race a table by what is measured and by what is certified, on the same three hundred orders.

    Returns
    -------
    DataFrame
        Two rows, of which one is ``certified``, with the other columns of `race`.
    """
    feedback, costs = read_rows(name)
    rows = []
    for certified in (False, True):
        options = {
            "tolerance": tolerance,
            "certified": certified,
            "front": "objectives",
        }
        outcome, _ = play_orders(
            ParetoRace, feedback, costs, tolerance, ORDERS, **options
        )
        rows.append(
            {"dataset": name, "tolerance": tolerance, "certified": certified, **outcome}
        )

    return pd.DataFrame(rows)


def race_table(table: EvaluationTable, orders: int) -> pd.DataFrame:
    """Race any table by what is measured and by what is certified, on the same orders of its instances.

    Parameters
    ----------
    table : EvaluationTable
    orders : int

    Returns
    -------
    DataFrame
        Rows by ``tolerance`` and whether they are ``certified``: the columns of
        `race_kinds`, and ``error``, the share of the orders in which the race broke its
        promise.

    Examples
    --------
    >>> import cobandit as cb
    >>> raced = race_table(cb.load("synthetic-24"), orders=3)
    >>> raced[["tolerance", "certified"]].drop_duplicates().shape
    (6, 2)
    """
    source = pack_shared(table)

    costs = np.array(source.costs)
    rows = []
    for tolerance in TOLERANCES:
        for certified in (False, True):
            options = {"tolerance": tolerance, "certified": certified}
            outcome, _ = play_orders(
                ParetoRace, source.feedback, costs, tolerance, orders, **options
            )
            rows.append(
                {
                    "dataset": table.name,
                    "tolerance": tolerance,
                    "certified": certified,
                    **outcome,
                }
            )

    raced = pd.DataFrame(rows)
    return raced.assign(error=raced["off"] / raced["runs"])


# ---------------------------------------------------------------------- other ways to stop

ERROR, RIVALS_ORDERS, DRAWS = 0.05, 40, 100
#: Of the test that two are level: how far from one half the share of won instances has
#: to be.
INDIFFERENT = 0.1

#: Rewards of the active on the instances seen (n, k, D), N, K and the tolerance to
#: standard errors.
Threshold = Callable[[Floats, int, int, float], float]
#: Rewards in the order of the instances (N, K, D), costs (K,) and tolerance to the
#: outcome.
Race = Callable[[Floats, Floats, float], Outcome]


def find_scatter(seen: Floats) -> Floats:
    """Root of the sum of squared deviations of each pair, as the race takes it: (n, k, D) to (k, k, D)."""
    centred = seen - seen.mean(axis=0)
    products = np.einsum("qad,qbd->abd", centred, centred)
    own = np.einsum("aad->ad", products)
    scatter = own[:, None] + own[None] - 2 * products
    return np.sqrt(np.maximum(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


def bound_looks(seen: Floats, n_instances: int, n_arms: int, tolerance: float) -> float:
    """Return a union over looks at one near tie; half of it where a second objective is mistaken, too."""
    return float(
        stats.norm.isf(min(seen.shape[2], 2) * ERROR / len(list_looks(n_instances)))
    )


def bound_union(seen: Floats, n_instances: int, n_arms: int, tolerance: float) -> float:
    """Return a union over looks, ordered pairs and objectives."""
    claims = (
        max(1, n_arms * (n_arms - 1)) * seen.shape[2] * len(list_looks(n_instances))
    )
    return float(stats.norm.isf(ERROR / claims))


def bootstrap(seen: Floats, n_instances: int, n_arms: int, tolerance: float) -> float:
    """Quantile of the largest statistic over active pairs, objectives and looks to come, by multipliers.

    With Gaussian multipliers the sums of an instance's deviations are Gaussian with the
    covariance that was seen; from look to look they go on as sums without replacement
    do, with independent increments in n / (N - n).
    """
    n, k, n_objectives = seen.shape
    looks = np.array(
        [look for look in list_looks(n_instances) if n <= look < n_instances]
    )
    if k < 2 or not len(looks):
        return 0.0

    rng, scatter = np.random.default_rng([n, k]), find_scatter(seen)
    _, sizes, turn = np.linalg.svd(
        (seen - seen.mean(axis=0)).reshape(n, -1), full_matrices=False
    )

    clock = looks / (n_instances - looks)
    sums, largest = np.zeros((DRAWS, k * n_objectives)), np.zeros(DRAWS)
    for time, step in zip(clock, np.diff(clock, prepend=0.0), strict=True):
        sums += sqrt(step) * rng.standard_normal((DRAWS, len(sizes))) * sizes @ turn
        at = sums.reshape(DRAWS, k, n_objectives) / sqrt(time)
        apart = np.abs(at[:, :, None] - at[:, None]) / scatter
        np.maximum(largest, apart.reshape(DRAWS, -1).max(axis=1), out=largest)

    return float(np.quantile(largest, 1 - ERROR))


def race_by(threshold: Threshold, patience: float = 1.25) -> Race:
    """Make a race with another threshold: set anew where somebody has left or so many times more was seen."""

    def stop(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
        n_instances, n_arms, _ = rewards.shape

        standing, depth, spent, reread = Standing(costs), 0, 0.0, (0, 0.0)
        z = 0.0
        while len(standing.active):
            active, before = standing.active, depth
            depth = next_look(depth, n_instances)
            spent += (depth - before) * costs[active].sum()
            seen = rewards[:depth, active]
            if len(active) != reread[0] or depth > reread[1]:
                z = threshold(seen, n_instances, n_arms, tolerance)
                reread = (len(active), patience * depth)
            means = seen.mean(axis=0)
            differences = means[None] - means[:, None]
            half = z * sqrt(1 - depth / n_instances) / depth * find_scatter(seen)
            least, most = differences - half, differences + half
            calls = Calls(
                beats(least), beats(least + tolerance), beats(most - tolerance)
            )
            for call in calls:
                np.fill_diagonal(call, False)
            standing.conclude(calls, means.sum(axis=1))

        return spent, standing.returned

    return stop


def race_as_we_do(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Count near ties at each look: `cobandit.ParetoRace`."""
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


def count_wins(seen: Floats) -> Floats:
    """On how many instances j dominates i, (n, k, D) to (k, k)."""
    return np.array(
        [beats(seen - seen[:, [i]]).sum(axis=0) for i in range(seen.shape[1])],
        dtype=float,
    )


def race_by_signs(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Let leave who loses a sign test on won instances, by Holm's step-down; nobody is found to be fine."""
    active, depth, spent = np.arange(len(costs)), 0, 0.0
    for look in list_looks(len(rewards)):
        if len(active) < 2:
            break
        spent += (look - depth) * costs[active].sum()
        depth, won = look, count_wins(rewards[:look, active])
        chances = stats.binom.sf(won - 1, won + won.T, 0.5)
        np.fill_diagonal(chances, 1.0)
        ordered = np.sort(chances, axis=None)
        pairs = len(active) * (len(active) - 1) // 2
        kept = np.cumprod(
            ordered <= ERROR / np.maximum(pairs - np.arange(ordered.size), 1)
        ).sum()
        if kept:
            active = active[~(chances <= ordered[kept - 1]).any(axis=1)]

    return spent, np.isin(np.arange(len(costs)), active)


def race_by_ratios(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """Decide each pair by Wald's ratio of likelihoods: one wins more of the instances, or neither does."""
    n_arms, depth, spent, bound = len(costs), 0, 0.0, log((1 - ERROR) / ERROR)
    open_, stays = ~np.eye(n_arms, dtype=bool), np.ones(n_arms, dtype=bool)
    for look in list_looks(len(rewards)):
        busy = open_.any(axis=1)
        if not busy.any():
            break
        spent += (look - depth) * costs[busy].sum()
        depth, won = look, count_wins(rewards[:look])
        ratios = won * log(1 + 2 * INDIFFERENT) + won.T * log(1 - 2 * INDIFFERENT)
        stays &= ~(open_ & (ratios >= bound)).any(axis=1)
        level = np.maximum(ratios, ratios.T) <= -bound
        open_ &= ~level & stays & stays[:, None]
    return spent, stays


def race_by_ranks(rewards: Floats, costs: Floats, tolerance: float) -> Outcome:
    """F-Race, of one objective: Friedman's test, and who is then behind the best in ranks leaves."""
    active, depth, spent = np.arange(len(costs)), 0, 0.0
    for n in list_looks(len(rewards)):
        k = len(active)
        if k < 2:
            break
        spent += (n - depth) * costs[active].sum()
        depth, ranks = n, stats.rankdata(-rewards[:n, active, 0], axis=1)
        total, squares = ranks.sum(axis=0), (ranks**2).sum()
        scatter = squares - n * k * (k + 1) ** 2 / 4
        if not scatter:
            continue
        between = (k - 1) * ((total - n * (k + 1) / 2) ** 2).sum() / scatter
        if stats.chi2.sf(between, k - 1) < ERROR:
            spread = max(
                0.0, 2 * (n * squares - (total**2).sum()) / ((n - 1) * (k - 1))
            )
            level = stats.t.isf(ERROR / 2, (n - 1) * (k - 1)) * sqrt(spread) + 1e-9
            active = active[total - total.min() <= level]

    best = active[rewards[:depth, active, 0].mean(axis=0).argmax()]
    return spent, np.arange(len(costs)) == best


#: Ways to stop by name; the tests have no tolerance.
RIVALS: dict[str, Race] = {
    "near ties that are counted (ours)": race_as_we_do,
    "union over looks at one near tie": race_by(bound_looks),
    "2.5 standard errors": race_by(lambda *_: 2.5),
    "3 standard errors": race_by(lambda *_: 3.0),
    "union over looks and pairs": race_by(bound_union),
    "the same, pairs still active": race_by(
        lambda seen, n, _, by: bound_union(seen, n, seen.shape[1], by)
    ),
    "multiplier bootstrap, pairs still active": race_by(bootstrap),
    "sign tests (as S-Race)": race_by_signs,
    "likelihood ratios (as SPRINT-Race)": race_by_ratios,
    "Friedman's test (F-Race)": race_by_ranks,
}


def race_rivals(name: str) -> pd.DataFrame:
    """Stop races on a made-up table in every way, on the same orders of its instances.

    Returns
    -------
    DataFrame
        One row per way and tolerance: ``share`` of the cost of everything, ``off``, how
        many of the ``runs`` broke the promise (`metrics.beyond_tolerance`), and the
        mean ``f1`` of what was returned.
    """
    feedback, costs = read_rows(name)
    rewards = (
        feedback.rows[:, 2:]
        .reshape(len(costs), int(feedback.offsets[1]), -1)
        .transpose(1, 0, 2)
    )

    means, everything = rewards.mean(axis=0), len(rewards) * float(costs.sum())
    truth, found = pareto_mask(means, dominance="standard"), []
    for way, stop in RIVALS.items():
        if stop is race_by_ranks and rewards.shape[2] > 1:
            continue
        for tolerance in TOLERANCES[
            : 1 if stop in (race_by_signs, race_by_ratios, race_by_ranks) else 2
        ]:
            orders = (
                shared_order(SEED, number, len(rewards))
                for number in range(RIVALS_ORDERS)
            )
            spent, returned = zip(
                *(stop(rewards[order], costs, tolerance) for order in orders),
                strict=True,
            )
            by = metrics.beyond_tolerance(np.array(returned), means, tolerance)
            row: dict[str, Any] = {
                "dataset": name,
                "way": way,
                "tolerance": tolerance,
                "runs": RIVALS_ORDERS,
            }
            row |= {"share": np.mean(spent) / everything, "off": int((by > 1e-9).sum())}
            found.append(
                row | {"f1": float(metrics.f1_score(np.array(returned), truth).mean())}
            )

    return pd.DataFrame(found)
