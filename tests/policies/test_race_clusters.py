"""Races on clusters: whole clusters are evaluated and counted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import made_up, play_once
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit.dominance import pareto_mask
from cobandit.policies import ParetoRace
from cobandit.replay.grid import GridCell, pack_shared, play_cell
from cobandit.replay.running import order_clusters, run_kernel
from companion.proofs.known_arms import share_instances


def label(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def join(rewards, sizes):
    """Sums of clusters over the largest size, (K, G, D)."""
    starts = np.cumsum([0, *sizes[:-1]])
    return np.add.reduceat(rewards, starts, axis=1) / max(sizes)


@pytest.mark.slow
@examples(20)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_clustered_race_equals_race_on_cluster_sums(seed, certified, tolerance):
    """Clusters of one size give the same looks and removals at multiple cost."""
    rng = np.random.default_rng(seed)
    rewards = (rng.random((5, 120, 2)) < rng.uniform(0.2, 0.8, (5, 1, 2))).astype(float)
    costs, sizes = rng.uniform(1, 3, 5), [3] * 40
    options = {"tolerance": tolerance, "certified": certified}
    race = ParetoRace(costs, 2, 120, cluster=label(sizes), **options)
    joined = ParetoRace(costs, 2, 40, **options)
    play_once(race, rewards)
    play_once(joined, join(rewards, sizes))
    assert race.recommend().tolist() == joined.recommend().tolist()
    assert (race.pulls == 3 * joined.pulls).all()


@examples(20)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 6), min_size=2, max_size=40),
    st.sampled_from([False, True]),
)
def test_clusters_are_evaluated_whole_and_the_end_is_exact(seed, sizes, certified):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    rewards = rng.integers(0, 3, (4, n, 2)) / 2
    options = {"cluster": label(sizes), "certified": certified, "front": "objectives"}
    race = ParetoRace(rng.uniform(1, 3, 4), 2, n, **options)
    if certified:
        race.evidence.limit = np.inf  # as if no capital were enough
    else:
        race.thresholds = np.full_like(race.thresholds, np.inf)
    play_once(race, rewards)
    assert (
        race.status == "settled" and np.isin(race.pulls, np.cumsum([0, *sizes])).all()
    )
    expected = np.flatnonzero(pareto_mask(rewards.mean(axis=1), dominance="standard"))
    assert race.recommend().tolist() == expected.tolist()


def test_copies_of_a_cluster_add_no_information():
    """Ten copies of 300 instances need as many clusters as instances without copies."""
    rewards = made_up(n_instances=300)
    plain = ParetoRace(np.ones(8), 2, 300, tolerance=0.05)
    play_once(plain, rewards)
    copied = np.repeat(rewards, 10, axis=1)
    clustered = ParetoRace(
        np.ones(8), 2, 3000, tolerance=0.05, cluster=label([10] * 300)
    )
    play_once(clustered, copied)
    assert (clustered.pulls == 10 * plain.pulls).all()
    careless = ParetoRace(np.ones(8), 2, 3000, tolerance=0.05)
    play_once(careless, copied)
    assert careless.pulls.sum() < clustered.pulls.sum() / 3


def test_budget_pays_for_whole_clusters_only():
    race = ParetoRace([1.0, 2.0], 1, 30, cluster=label([4, 1, 5] * 3), budget=20.0)
    rng = np.random.default_rng(0)
    while (arm := race.ask()) is not None:
        race.tell(arm, rng.random(1))
    assert race.pulls.tolist() == [5, 5] and race.status == "out of budget"


def test_instance_of_a_cluster_can_be_omitted():
    """The other instances of a cluster count; a cluster omitted whole does not."""
    rewards = np.random.default_rng(2).integers(0, 3, (3, 40, 1)) / 2
    left_out = {1, 8, 9, 10, 11}
    race = ParetoRace(np.ones(3), 1, 40, cluster=label([4] * 10))
    race.thresholds = np.full_like(race.thresholds, np.inf)
    while (pull := race.ask()) is not None:
        if pull.number in left_out:
            race.leave_out(pull)
        else:
            race.tell(pull, rewards[pull.key])
    remaining = np.delete(rewards, sorted(left_out), axis=1)
    expected = np.flatnonzero(pareto_mask(remaining.mean(axis=1), dominance="standard"))
    assert race.depth == 9 and race.recommend().tolist() == expected.tolist()


def test_given_clusters_are_reused_and_completed():
    rewards = made_up(n_instances=120)
    reported = np.zeros((120, 8), dtype=bool)
    reported[:62] = True  # 20 clusters and two thirds of another
    race = ParetoRace(np.ones(8), 2, 120, cluster=label([3] * 40))
    race.know(np.where(reported[:, :, None], rewards.transpose(1, 0, 2), np.nan))
    assert race.depth == 20 and race.pulls.sum() == 0
    pairs = play_once(race, rewards)
    assert pairs and min(number for _, number in pairs) == 62 and race.depth > 20


@pytest.mark.slow
@pytest.mark.parametrize("certified", [False, True])
def test_forecast_counts_whole_clusters(certified):
    expected = actual = 0
    for seed in range(8):
        rewards = made_up(n_instances=300, seed=seed)
        race = ParetoRace(
            np.ones(8),
            2,
            300,
            tolerance=0.05,
            cluster=label([3] * 100),
            certified=certified,
        )
        while race.depth < 20 and (pull := race.ask()) is not None:
            race.tell(pull, rewards[pull.key])
        forecast = race.forecast()
        assert (forecast % 3 == 0).all() and (forecast + race.pulls <= 300).all()
        expected += forecast.sum()
        actual += len(play_once(race, rewards))
    assert 0.5 < actual / expected < 2, (actual, expected)


def test_labels_are_checked():
    with bad_argument("wrong-length", "cluster", ["2 labels", "10 instances"]):
        ParetoRace([1, 1], 1, 10, cluster=[1, 2])
    with bad_argument("scattered-cluster", "cluster", ["'a'"]):
        ParetoRace([1, 1], 1, 4, cluster=["a", "a", "b", "a"])


@pytest.mark.slow
def test_replay_of_clusters_equals_replay_of_their_sums():
    """Every replication orders clusters as it would order as many instances."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"config": [*"abcdef"] * 90, "instance": rng.permutation(90).repeat(6)}
    )
    frame["passage"], frame["score"] = frame["instance"] % 30, rng.random(540)
    table = cb.EvaluationTable.from_frame(
        frame, objectives=["score"], cluster="passage"
    )
    source = pack_shared(table)
    n, sizes = len(source.cluster), np.unique(source.cluster, return_counts=True)[1]
    assert (np.diff(source.cluster) >= 0).all() and len(set(sizes)) > 1
    rewards = source.feedback.rows[:, 2:].reshape(6, n, 1)
    cell = GridCell(cb.spec("ParetoRace", tolerance=0.02), 1e9, 1e9, np.arange(5), 0)
    runs = play_cell(source, cell, realised=False)

    tolerance = 0.02 * sizes.mean() / sizes.max()
    joined = ParetoRace(np.ones(6), 1, len(sizes), tolerance=tolerance)
    feedback = share_instances(join(rewards, sizes), np.ones((6, 1)))
    alone = run_kernel(joined, feedback, 0, np.arange(5))
    assert (runs.returned == alone.returned).all() and len(np.unique(runs.pulls)) > 2
    for replication in range(5):
        order = order_clusters(source.cluster, 0, replication)
        _, first, of = np.unique(
            source.cluster[order], return_index=True, return_counts=True
        )
        ends = np.cumsum(of[np.argsort(first)])
        assert (
            runs.pulls[replication].tolist()
            == ends[alone.pulls[replication] - 1].tolist()
        )


def test_play_refuses_clusters():
    table = cb.load("synthetic-24")
    race = ParetoRace(table.costs, 2, 300, cluster=label([2] * 150))
    with bad_argument("cluster-not-played", "policy"):
        cb.play(race, table)
