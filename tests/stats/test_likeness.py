"""Clusters: similar instances count as one draw in every statistic."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.commands import call
from support.faults import fault

import cobandit as cb
from cobandit.advice import doctor
from cobandit.advice.answer import answer_lines
from cobandit.advice.next_evaluations import plan_next
from cobandit.errors import TableError
from cobandit.stats.likeness import find_likeness
from cobandit.stats.pairwise import Paired
from cobandit.stats.redrawn_means import redraw_means
from cobandit.tables import EvaluationTable


def passages(rng, accuracy=(0.5, 0.5), n_passages=40, sizes=10, noise=0.03, holes=0.0):
    """Return near copies of questions per passage, which get similar answers."""
    sizes = np.broadcast_to(sizes, n_passages)
    passage = np.repeat(np.arange(n_passages), sizes)
    rows = []
    for arm, mean in enumerate(accuracy):
        right = (rng.random(n_passages) < mean)[passage] ^ (
            rng.random(len(passage)) < noise
        )
        is_present = rng.random(len(passage)) >= holes
        for place in np.flatnonzero(is_present):
            rows.append(
                (
                    f"arm{arm}",
                    f"q{place:04d}",
                    f"p{passage[place]:02d}",
                    float(right[place]),
                )
            )
    return pd.DataFrame(rows, columns=["config", "instance", "passage", "accuracy"])


def table_of(frame, **options):
    return EvaluationTable.from_frame(frame, objectives=["accuracy"], **options)


def averaged(frame):
    """One row per configuration and passage."""
    means = frame.groupby(["config", "passage"], as_index=False)["accuracy"].mean()
    return table_of(means.rename(columns={"passage": "instance"}))


def test_clusters_of_one_size_count_as_their_means():
    """Ten near copies of each of 40 passages say what 40 instances say."""
    frame = passages(np.random.default_rng(0), (0.6, 0.5, 0.4))
    (result,) = Paired(table_of(frame, cluster="passage")).dominance()
    (single,) = Paired(averaged(frame)).dominance()
    (naive,) = Paired(table_of(frame)).dominance()
    np.testing.assert_allclose(result.ratios[0], single.ratios[0])
    assert (result.shared == 40).all() and abs(naive.ratios[0, 0, 2]) > 2.5 * abs(
        result.ratios[0, 0, 2]
    )


def test_incomplete_clusters_of_one_size_count_as_their_means():
    frame = passages(np.random.default_rng(1), (0.6, 0.5, 0.4))
    frame = frame[
        (frame["config"] != "arm1") | ~frame["passage"].isin(["p03", "p08", "p30"])
    ]
    (result,) = Paired(table_of(frame, cluster="passage")).dominance()
    (single,) = Paired(averaged(frame)).dominance()
    np.testing.assert_allclose(result.ratios[0], single.ratios[0])
    assert result.shared[0, 1] == 37


@pytest.mark.acceptance
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_errors_of_unequal_clusters_match_redraws(holes):
    rng, gaps, stated = np.random.default_rng(2), [], []
    for _ in range(150):
        frame = passages(rng, (0.6, 0.5), sizes=rng.integers(1, 20, 40), holes=holes)
        (result,) = Paired(table_of(frame, cluster="passage")).dominance()
        gaps.append(result.gaps[0, 0, 1])
        stated.append(result.errors[0, 0, 1])
    assert np.std(gaps) == pytest.approx(np.sqrt(np.mean(np.square(stated))), rel=0.15)


def test_redraw_weights_are_per_cluster():
    frame = passages(np.random.default_rng(3))
    means, _ = redraw_means(table_of(frame, cluster="passage"), 50, seed=1)
    single, _ = redraw_means(averaged(frame), 50, seed=1)
    np.testing.assert_allclose(means, single)


@pytest.mark.slow
def test_certainty_counts_clusters():
    """Ten copies of 40 passages, of which one arm wins seven and the other two."""
    frame = passages(np.random.default_rng(10), noise=0.0)
    number = frame["passage"].str[1:].astype(int)
    right = np.where(
        frame["config"] == "arm0", number < 25, (number >= 7) & (number < 27)
    )
    frame = frame.assign(accuracy=right.astype(float))
    table = table_of(frame, cost={"arm0": 2.0, "arm1": 1.0})
    options = {"at_least": {"accuracy": 0.5}, "replications": 50}
    naive, counted = (
        cb.recommend(table, **options),
        cb.recommend(table, cluster="passage", **options),
    )
    assert naive.arms["front_settled"].all() and naive.choice.sure == "arm0"
    assert not counted.arms["front_settled"]["arm0"] and counted.choice.sure is None
    width = counted.arms["accuracy_high"] - counted.arms["accuracy_low"]
    assert (
        width > 2 * (naive.arms["accuracy_high"] - naive.arms["accuracy_low"])
    ).all()
    assert counted.cluster == "passage" and any(
        "passage" in line for line in answer_lines(counted)
    )
    assert naive.arms["accuracy"].equals(counted.arms["accuracy"])


@pytest.mark.acceptance
@pytest.mark.parametrize("sizes", ["equal", "unequal"])
def test_error_of_sure_clusters_is_as_stated(sizes):
    """Two arms of accuracy .59, neither at .6 nor better than the other."""
    rng, wrong, naive = np.random.default_rng(5), 0, 0
    for _ in range(40):
        of = 8 if sizes == "equal" else rng.integers(1, 16, 30)
        table = table_of(
            passages(rng, (0.59, 0.59), n_passages=30, sizes=of, noise=0.0)
        )
        for cluster in (None, "passage"):
            advice = cb.recommend(
                table, cluster=cluster, at_least={"accuracy": 0.6}, replications=1
            )
            sure = advice.choice.sure is not None or advice.arms["front_settled"].any()
            wrong += sure and cluster is not None
            naive += sure and cluster is None
    assert wrong <= stats.binom.isf(1e-3, 40, 0.1) < naive


def test_next_evaluations_are_whole_clusters():
    frame = passages(np.random.default_rng(6), (0.6, 0.5, 0.55), sizes=4)
    gone = (frame["config"] == "arm2") & (frame["passage"] > "p29")
    table = table_of(frame[~gone], cluster="passage")
    plan = plan_next(table)
    assert plan.compared and plan.settled < 3
    named = plan.pairs["instance"].map(
        frame.drop_duplicates("instance").set_index("instance")["passage"]
    )
    assert set(plan.pairs["configuration"]) == {"arm2"}
    assert (named.value_counts() == 4).all() and plan.evaluations == len(plan.pairs)


def test_card_stores_the_cluster_column(tmp_path):
    table = table_of(passages(np.random.default_rng(7)), cluster="passage")
    cb.save(table, tmp_path / "mine.parquet")
    restored = cb.read(tmp_path / "mine.parquet")
    assert (
        restored.card.cluster == "passage"
        and restored.clusters.tolist() == table.clusters.tolist()
    )
    assert len(np.unique(restored.clusters)) == 40
    part = restored.subset("config != 'arm9'")
    assert part.clusters.tolist() == table.clusters.tolist()


@pytest.mark.slow
def test_commands_accept_a_cluster_column(tmp_path):
    frame = passages(np.random.default_rng(10), (0.62, 0.5))
    frame.to_csv(tmp_path / "mine.csv", index=False)
    to = ["--config", "config", "--instance", "instance", "--objective", "accuracy"]
    call("import", "csv", tmp_path / "mine.csv", "-o", tmp_path / "plain.parquet", *to)
    assert "--cluster passage" in " ".join(
        call("doctor", tmp_path / "plain.parquet").output.split()
    )
    assert (
        "--cluster"
        not in call("doctor", tmp_path / "plain.parquet", "--cluster", "passage").output
    )
    assert (
        "passage"
        in call("recommend", tmp_path / "plain.parquet", "--cluster", "passage").output
    )
    call(
        "import",
        "csv",
        tmp_path / "mine.csv",
        "-o",
        tmp_path / "with.parquet",
        *to,
        "--cluster",
        "passage",
    )
    assert cb.read(tmp_path / "with.parquet").card.cluster == "passage"


def test_unsuitable_cluster_columns_are_refused():
    frame = passages(np.random.default_rng(8))
    with fault("no-group-column", "cluster", ["'pasage'"], "passage"):
        table_of(frame).cluster_by("pasage")
    changed = frame.assign(
        passage=np.where(frame.index == 5, "other", frame["passage"])
    )
    with pytest.raises(TableError) as caught:
        table_of(changed, cluster="passage")
    assert caught.value.faults[0].column == "passage"
    with pytest.raises(TableError) as caught:
        table_of(
            frame.assign(passage=frame["passage"].where(frame.index != 5)),
            cluster="passage",
        )
    assert caught.value.faults[0].column == "passage"


def test_similarity_is_reported_with_its_remedy():
    frame = passages(np.random.default_rng(9)).assign(
        half=lambda f: f["instance"] < "q0200"
    )
    table = table_of(frame)
    (finding,) = [entry for entry in doctor(table) if entry.name == "clusters"]
    assert finding.number > 0.8 and "cluster='passage'" in finding.remedy
    assert not [
        entry
        for entry in doctor(table.cluster_by("passage"))
        if entry.name == "clusters"
    ]
    (likeness,) = find_likeness(table)
    assert (likeness.column, likeness.n_clusters) == (
        "passage",
        40,
    ) and 40 <= likeness.effective_size < 60


@pytest.mark.acceptance
def test_independent_instances_are_rarely_reported_as_similar():
    rng, alarms = np.random.default_rng(11), 0
    for _ in range(40):
        frame = passages(rng, (0.9, 0.8, 0.7), n_passages=100, sizes=1)
        number = frame["instance"].str[1:].astype(int)
        frame = frame.drop(columns="passage").assign(
            block=number // 5, letter=(number * 7) % 20
        )
        alarms += bool(find_likeness(table_of(frame)))
    assert alarms <= stats.binom.isf(1e-3, 40, 0.01)
