"""Kernels agree with the readable classes pull by pull, on the same random stream."""

import numpy as np
import pytest
from support import methods

import cobandit as cb
from cobandit.replay import kernels
from cobandit.replay.grid import pack_table
from cobandit.replay.running import run_kernel
from cobandit.testing.kernel_checks import check_kernel_on
from cobandit.testing.policy_runs import guarantees_aside, policy_on, smallest_budget
from cobandit.testing.small_tables import ragged_table, table_of

LARGEST_SEED = 2**64 - 1
METHODS = [*methods.ONLINE, *methods.IDENTIFICATION]

# Pull for pull.


def check(method, table, factor, charge="realised", **stream):
    check_kernel_on(
        method, table, factor * smallest_budget(method, table), charge, **stream
    )


def charges(method):
    return ("realised",) if method in methods.ONLINE else ("declared", "realised")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("n_arms", "n_objectives", "seed"),
    [(2, 1, 0), (3, 12, 1), (64, 2, LARGEST_SEED), (65, 1, 2**63), (130, 3, 7)],
)
def test_kernels_agree_at_unusual_sizes_and_seeds(method, n_arms, n_objectives, seed):
    """Arms around powers of two for the tournament, and seeds beyond int64."""
    table = ragged_table(np.random.default_rng(n_arms), n_arms, n_objectives)
    check(method, table, 4, seed=seed, replication=2**40)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_objectives", [1, 2])
def test_kernels_agree_on_identical_arms(method, n_objectives):
    """Nothing but ties: both sides break them alike."""
    table = table_of([[[0.1, *[0.5] * n_objectives]] * 2] * 7)
    for factor in (1, 1.5, 9):
        for charge in charges(method):
            check(method, table, factor, charge)


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.IDENTIFICATION)
@pytest.mark.parametrize("off", [-1e-4, -1e-8, -1e-12, 0, 1e-12, 1e-8, 1e-4])
def test_kernels_agree_at_budgets_around_whole_rounds(method, off):
    """Certainly affordable pulls are drawn at once; near the limit, one by one."""
    table = ragged_table(np.random.default_rng(3), 6, 3)
    check_kernel_on(method, table, 11 * table.costs.sum() * (1 + off), "declared")


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.ONLINE)
@pytest.mark.parametrize("seed", range(3))
def test_kernels_agree_when_selecting_among_all_arms(method, seed):
    """Algorithm 1 as printed continues if an arm does not fit, until a pull crosses."""
    table, chosen = (
        ragged_table(np.random.default_rng(seed), 5, 2, noise=0.2),
        cb.spec(method, selection="all"),
    )
    budget = 6.5 * smallest_budget(method, table)
    policy = policy_on(chosen, table, budget)
    with guarantees_aside():
        run = cb.play(policy, table, seed=5)
    assert (
        len(run.arms) == check_kernel_on(chosen, table, budget)
        and policy.in_flight.sum() == 1
    )
    assert budget - policy.spent < table.feedback.costs.max()


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.ONLINE)
def test_crossing_pull_is_recorded(method):
    """The record ends with its last pull; none follows if nothing is affordable."""
    table, crossed = ragged_table(np.random.default_rng(1), 5, 2, noise=0.4), []
    for factor in np.linspace(4, 9, 40):
        policy = policy_on(
            cb.spec(method), table, factor * smallest_budget(method, table)
        )
        with guarantees_aside():
            run = cb.play(policy, table, seed=5)
        record = kernels.record(1, len(run.arms) + 1)
        run_kernel(policy, pack_table(table).feedback, 5, np.arange(1), record)
        crossed.append(int(record.arms[0, -1]))
        in_flight = np.flatnonzero(policy.in_flight).tolist()
        assert crossed[-1] == (in_flight[0] if in_flight else -1)
    assert -1 in crossed and max(crossed) >= 0


@pytest.mark.parametrize("method", ["CoPSIExact", "CoPSIAdaptive"])
@pytest.mark.slow
def test_allocation_constants_agree_at_extreme_costs(method, synthetic):
    """Expensive and cheap arms a thousandfold apart."""
    rng = np.random.default_rng(8)
    wide = [
        [[cost * c, *rng.random(2).round(1)] for c in (0.5, 1, 1.5)]
        for cost in 10.0 ** -rng.integers(0, 4, 20)
    ]
    for table in (table_of(wide), synthetic):
        for factor in (1, 1.5, 7):
            for charge in charges(method):
                check(method, table, factor, charge)


@pytest.mark.parametrize(
    "method", ["CoHVUCB", "UniformAllocation", "CoPSI", "UniformIdentification"]
)
def test_kernels_agree_on_the_bundled_table(method, synthetic):
    check(method, synthetic, 12)


@pytest.mark.parametrize("method", ["CoHVUCB", "CoPSI", "PSISR"])
def test_kernels_agree_on_measured_data(method, swebench):
    check(method, swebench, 12)


# The stream.

GOLDEN = {
    # (seed, replication, arm): instances of the first six evaluations out of 1,000
    (0, 0, 0): [175, 473, 654, 138, 901, 858],
    (0, 0, 1): [366, 264, 225, 257, 746, 489],
    (0, 1, 0): [768, 539, 167, 616, 577, 857],
    (1, 0, 0): [372, 354, 367, 959, 532, 896],
    (LARGEST_SEED, 499, 131): [653, 897, 551, 679, 859, 513],
}


def splitmix(seed, replication, arm, s, n):
    """Return SplitMix64 of seed, replication, arm and counter s in Python integers."""
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1

    def mix(z):
        z &= mask
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    key = mix(mix(mix(seed + golden) + replication * golden) + arm * golden)
    return (mix(key + (s + 1) * golden) >> 32) * n >> 32


@pytest.mark.parametrize(("name", "first"), GOLDEN.items(), ids=str)
def test_stream_never_changes(name, first):
    assert draws(6, 1000, *name).tolist() == first


def test_stream_is_splitmix():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        seed, replication = (
            int(rng.integers(2**64, dtype=np.uint64)),
            int(rng.integers(2**40)),
        )
        arm, s, n = (
            int(rng.integers(10**5)),
            int(rng.integers(2**40)),
            int(rng.integers(1, 2**31)),
        )
        assert kernels.instance(np.uint64(seed), replication, arm, s, n) == splitmix(
            seed, replication, arm, s, n
        )


def draws(length, n, seed=0, replication=0, arm=0):
    return np.array(
        [
            kernels.instance(np.uint64(seed), replication, arm, s, n)
            for s in range(length)
        ]
    )


@pytest.mark.slow
def test_replayed_means_converge_to_the_table(small_table):
    """Bootstrap means of 20,000 pulls per arm match exact means and deviations.

    Eighteen comparisons at 5 standard errors: a false alarm has probability below 18 *
    6e-7 = 1.1e-5.
    """
    rounds, feedback = 20_000, small_table.feedback
    for arm in range(small_table.n_arms):
        first, last = feedback.offsets[arm : arm + 2]
        pulled = np.column_stack([feedback.costs, feedback.rewards])[first:last]
        drawn = pulled[
            [kernels.instance(0, 0, arm, s, last - first) for s in range(rounds)]
        ]
        error = 5 * pulled.std(axis=0) / np.sqrt(rounds) + 1e-12
        assert (np.abs(drawn.mean(axis=0) - pulled.mean(axis=0)) <= error).all()
        assert pulled[:, 1:].mean(axis=0) == pytest.approx(small_table.means[arm])


def test_methods_share_random_numbers(small_table):
    """Evaluation s of an arm in a replication costs the same for all methods."""

    def charges(policy):
        run = cb.play(policy, small_table, seed=3, replication=8)
        return [
            run.costs[run.arms == arm].tolist() for arm in range(small_table.n_arms)
        ]

    how = {"cost_range": small_table.cost_range, "expected_costs": small_table.costs}
    total = small_table.costs.sum()
    runs = []
    with guarantees_aside():
        for budget in (3 * total, 9 * total):
            runs += [
                charges(policy(6, 2, budget, **how))
                for policy in (cb.CoHVUCB, cb.UniformAllocation)
            ]
            runs.append(charges(cb.UniformIdentification(small_table.costs, budget, 2)))
    for arm in range(6):
        longest = max((run[arm] for run in runs), key=len)
        assert all(run[arm] == longest[: len(run[arm])] for run in runs)
