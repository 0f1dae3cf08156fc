"""Recommendations for the benchmark itself, a finite population of instances."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.drawn import COSTS, MEANS, drawn

import cobandit as cb
from cobandit.advice.answer import answer, answer_lines
from cobandit.advice.questions import _count_additional
from cobandit.stats.pairwise import Paired
from cobandit.tables import EvaluationTable


def without(table, missing):
    """Remove the evaluations of named configurations from some instance on."""
    rows = table.rows.drop(columns="split")
    place = rows["instance"].cat.codes
    gone = np.zeros(len(rows), dtype=bool)
    for name, first in missing.items():
        gone |= ((rows["config"] == name) & (place >= first)).to_numpy()
    card = table.card.model_copy(
        update={"split": table.card.split.model_copy(update={"profiling": 10})}
    )
    return EvaluationTable.from_records(rows[~gone], card)


def ratios(table, finite=True):
    return np.concatenate(
        [gaps.ratios for gaps in Paired(table, finite).dominance()], axis=1
    )


def test_gaps_have_the_finite_population_correction():
    """Of 60 instances both have 40: the paired variance over 40, times 1 - 40 / 60."""
    full_table = drawn(np.random.default_rng(1), MEANS, COSTS, 60)
    table = without(full_table, {"arm000": 40, "arm001": 40})
    corrected, plain = ratios(table)[:, 0, 1], ratios(table, finite=False)[:, 0, 1]
    np.testing.assert_allclose(corrected, plain / np.sqrt(1 - 40 / 60))


def test_gap_of_two_complete_arms_is_exact():
    """An incomplete third arm shares instances with both, which determine the gap."""
    table = without(drawn(np.random.default_rng(2), MEANS, COSTS, 60), {"arm000": 40})
    first = without(table, dict.fromkeys(table.configs, 40))
    shared = ratios(first, finite=False)[:, 0] / np.sqrt(1 - 40 / 60)
    # other arms are pooled
    np.testing.assert_allclose(ratios(table)[:, 0], shared, rtol=2e-3)
    done, known = ratios(table)[:, 1:, 1:], Paired(table).coordinates[:, 1:]
    as_good = known[:, None] >= known[:, :, None] - 1e-12
    # none is better than its equal
    as_good[:, as_good.all(axis=0) & as_good.all(axis=0).T] = False
    assert np.isinf(done).all() and ((done > 0) == as_good).all()


@pytest.mark.acceptance
def test_variances_are_those_of_random_holes():
    """Variances of means of random subsets match the estimate from each subset."""
    rng = np.random.default_rng(3)
    full_table = drawn(rng, [[0.5], [0.6], [0.1]], [1, 1, 1], 40, shared=0.8)
    truth = full_table.summary()["objective0"].diff().iloc[1]
    # the last one is there so that no instance is forgotten
    for shares in ((0.5, 0.5, 1), (0.3, 0.9, 1)):
        errors, stated = [], []
        for _ in range(300):
            rows = full_table.rows.drop(columns="split")
            is_kept = np.concatenate(
                [rng.permutation(40) < round(40 * share) for share in shares]
            )
            compared = Paired(
                EvaluationTable.from_records(rows[is_kept], full_table.card),
                finite=True,
            )
            (gaps,) = compared.dominance()
            gap = gaps.gaps[0, 0, 1]
            errors.append(gap - truth)
            if gap != 0:
                stated.append(gap / gaps.ratios[0, 0, 1])
        assert np.std(errors) == pytest.approx(
            np.sqrt(np.mean(np.square(stated))), rel=0.15
        )


@pytest.mark.slow
def test_exhausted_benchmark_decides_every_membership():
    table = drawn(np.random.default_rng(4), MEANS, COSTS, 40)
    advice = cb.recommend(table, 100.0, about="benchmark", replications=2)
    assert advice.exact and advice.questions.empty and advice.next.evaluations == 0
    assert advice.arms["front_settled"].all()
    lines = answer(advice).lines
    assert "nothing to spend 100 USD on" in lines["Next"] and "exact" in lines["Sure"]
    assert not cb.recommend(table, 100.0, replications=2).exact
    json.dumps(advice.to_dict(), allow_nan=False)


@pytest.mark.slow
def test_weakly_dominated_arm_is_off_the_front_of_an_exhausted_benchmark():
    """The paper keeps it: the same scores for five times the cost."""
    table = drawn(np.random.default_rng(4), MEANS, COSTS, 40)
    rows = table.rows.drop(columns="split")
    costly = rows[rows["config"] == "arm000"].assign(
        config="costly", cost=lambda frame: 5 * frame["cost"]
    )
    combined = EvaluationTable.from_records(pd.concat([rows, costly]), table.card)
    for dominance, is_on_front in (("standard", False), ("strict", True)):
        arms = cb.recommend(
            combined, about="benchmark", dominance=dominance, replications=2
        ).arms
        assert (
            arms.loc["costly", "on_front"] == is_on_front
            and arms["front_settled"].all()
        )


def test_equal_costs_on_every_instance_are_exactly_equal():
    """With equal fixed prices, the better arm is certain though no cost is saved."""
    table = drawn(np.random.default_rng(6), [[0.9, 0.9], [0.1, 0.1]], [1.0, 1.0], 60)
    for costs, settled in ((1.0, True), (table.rows["cost"], False)):
        fixed = EvaluationTable.from_records(
            table.rows.drop(columns="split").assign(cost=costs), table.card
        )
        assert (
            cb.recommend(fixed, replications=2).arms.loc["arm001", "front_settled"]
            == settled
        )


@pytest.mark.slow
def test_exact_ties_raise_no_question_on_an_exhausted_benchmark():
    table = drawn(np.random.default_rng(5), MEANS, COSTS, 40)
    rows = table.rows.drop(columns="split")
    twin = rows[rows["config"] == "arm000"].assign(config="arm999")
    combined = EvaluationTable.from_records(pd.concat([rows, twin]), table.card)
    assert cb.recommend(combined, about="benchmark", replications=2).questions.empty
    assert np.isinf(cb.recommend(combined, replications=2).questions["price"]).any()


@pytest.mark.slow
def test_benchmark_larger_than_its_table_is_not_exhausted(tmp_path):
    """After 60 of 100 instances, as the card states, no answer is called exact."""
    table = drawn(np.random.default_rng(4), MEANS, COSTS, 60)
    assert "exact: every configuration is evaluated on all 60" in " ".join(
        answer_lines(cb.recommend(table, about="benchmark"))
    )
    card = table.card.model_copy(update={"n_instances": 100, "records": "part.parquet"})
    cb.save(
        EvaluationTable.from_records(table.evaluations, card), tmp_path / "part.parquet"
    )
    read = cb.recommend(cb.read(tmp_path / "part.parquet"), about="benchmark")
    assert not read.exact and (read.arms["missing"] == 40).all()
    assert read.next.evaluations <= 40 * table.n_arms and not read.exhausted


@pytest.mark.parametrize(("n", "total"), [(2, 40), (5, 40), (30, 40), (30, 1000)])
@pytest.mark.parametrize("times", [1.5, 4.0, 100.0])
def test_counted_evaluations_shrink_the_error_as_needed(n, total, times):
    """A mean of n of N instances leaves a variance in proportion to 1/n - 1/N open."""
    compared = SimpleNamespace(counts=np.array([n]), n_instances=total, finite=True)
    (extra,) = _count_additional(compared, np.array([0]), np.array([times]))
    allowed = (1 / n - 1 / total) / times
    assert extra == next(
        m for m in range(1, total) if 1 / (n + m) - 1 / total <= allowed + 1e-12
    )
