"""Critical values: the step-down procedure against a twin by hand, its limits, and both questions' errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.drawn import COSTS, MEANS, drawn
from support.settled import bonferroni
from support.strategies import examples

from cobandit.advice import questions
from cobandit.advice.paired import compare_pairs
from cobandit.advice.questions import draw_errors, find_levels
from cobandit.tables import EvaluationTable
from cobandit.testing import ragged_table


def by_hand(compared, alpha, seed=0):
    """Levels of membership, one pair at a time."""
    K, D = len(compared.costs), compared.n_compared
    t = np.empty((D, K, K))
    error = np.empty((D, K, K))
    for gaps in compared.dominance():
        t[:, gaps.arms], error[:, gaps.arms] = gaps.ratios, gaps.errors
    draws = draw_errors(compared, questions.DRAWS, seed)
    clearest = [max(t[:, i, j].min() for j in range(K) if j != i) for i in range(K)]
    largest = {}
    for i in range(K):
        each = [np.full(draws.shape[2], -np.inf)]
        for j in range(K):
            least = t[:, i, j].min()
            if j == i or least < -3:
                continue
            each += [
                (draws[d, j] - draws[d, i]) / error[d, i, j]
                for d in range(D)
                if t[d, i, j] <= 3 or t[d, i, j] <= least
            ]
        largest[i] = np.max(each, axis=0)
    off, on, open_ = alpha / (2 * K * (K - 1)), alpha / (2 * K * D), set(range(K))

    def settled(i):
        n = compared.counts[i]
        return clearest[i] > stats.t.isf(off, n - 1) or -clearest[i] > stats.t.isf(on, n - 1)

    open_ = {i for i in open_ if not settled(i)}
    while open_:
        wrongly_off = [i for i in open_ if clearest[i] >= -3]
        wrongly_on = [i for i in open_ if clearest[i] <= 3]
        parts = len(wrongly_off) + len(wrongly_on)
        if wrongly_off:
            share = alpha * len(wrongly_off) / parts
            most = np.max([largest[i] for i in wrongly_off], axis=0)
            value = np.sort(most)[int(np.ceil((1 - share) * (len(most) - 1)))]
            off = max(off, stats.norm.sf(value), share / (len(wrongly_off) * (K - 1)))
        on = max(on, alpha / (parts * D))
        left = {i for i in open_ if not settled(i)}
        if left == open_:
            break
        open_ = left
    return off, on


@pytest.mark.slow
@examples(15)
@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.2]))
def test_levels_are_those_of_the_procedure_by_hand(seed, alpha):
    compared = compare_pairs(ragged_table(np.random.default_rng(seed), 6, 2))
    found = find_levels(compared, alpha)
    assert (found.off, found.on) == pytest.approx(by_hand(compared, alpha), rel=1e-3)


def test_levels_of_one_table_are_those_by_hand():
    """The same on one table; the most efficient arm is clear of some, whose level is Bonferroni's."""
    compared = compare_pairs(ragged_table(np.random.default_rng(5), 6, 2))
    found = find_levels(compared, 0.2)
    assert (found.off, found.on) == pytest.approx(by_hand(compared, 0.2), rel=1e-3)
    assert found.best.min() == pytest.approx(0.2 / 5)


def test_a_comparison_that_bonferroni_leaves_open_gets_the_level_of_its_draws():
    compared = compare_pairs(ragged_table(np.random.default_rng(9), 6, 2))
    best = find_levels(compared, 0.2).best
    assert 0.06 < best[1] < 0.2 and np.delete(best, 1).tolist() == [0.2 / 5] * 5


def test_cutting_into_blocks_changes_nothing(monkeypatch):
    compared = compare_pairs(drawn(np.random.default_rng(1), MEANS, COSTS, 60))
    whole = find_levels(compared, 0.05)
    monkeypatch.setattr("cobandit.advice.paired.BLOCK", 60 * 2000)  # weights whole, arms in turn
    cut = find_levels(compared, 0.05)
    assert (cut.off, cut.on) == pytest.approx((whole.off, whole.on), rel=1e-3)
    np.testing.assert_allclose(cut.best, whole.best, rtol=1e-3)


@pytest.mark.slow
def test_errors_vary_together_as_means_do():
    compared = compare_pairs(drawn(np.random.default_rng(2), MEANS, COSTS, 80))
    errors = draw_errors(compared, 20_000, seed=3)
    for gaps in (*compared.dominance(), *compared.efficiency_gaps()):
        rows = errors[:-1] if len(gaps.errors) > 1 else errors[-1:]
        spread = (rows[:, None] - rows[:, :, None]).std(axis=-1)
        away = ~np.eye(6, dtype=bool)
        np.testing.assert_allclose(spread[:, away], gaps.errors[:, away], rtol=0.05)


def level_of_one_against_ten(shared, rng):
    """At which level one configuration is compared with ten, over ten tables in which that is open."""
    found = []
    while len(found) < 10:
        table = drawn(rng, [[0.44], *[[0.5]] * 10], np.ones(11), 300, shared=shared)
        rows = table.rows.drop(columns="split")
        rows["cost"] = 1.0
        first = rows["config"] == "arm000"
        rows.loc[first, "objective0"] = (rng.random(300) < 0.44).astype(float)  # independent of the others
        compared = compare_pairs(EvaluationTable.from_records(rows, table.card))
        level = find_levels(compared, 0.05).best[0]
        if level > 0.05 / 10 * (1 + 1e-9):
            found.append(level)
    return np.mean(found)


@pytest.mark.slow
def test_configurations_that_err_alike_count_as_few():
    """Ten that score alike on every instance are one comparison; ten that do not are nearly ten."""
    rng = np.random.default_rng(4)
    alike, apart = level_of_one_against_ten(1.0, rng), level_of_one_against_ten(0.0, rng)
    assert alike == pytest.approx(0.05, rel=0.15) and 0.005 < apart < 0.015


@pytest.mark.slow
def test_no_level_is_below_what_bonferroni_would_give_half_of_the_error():
    for seed in range(5):
        compared = compare_pairs(drawn(np.random.default_rng(seed), MEANS, COSTS, 50))
        for alpha in (0.2, 0.05, 1e-4):  # the last with too few draws to tell
            found, least = find_levels(compared, alpha), bonferroni(compared, alpha)
            assert found.off >= least.off / 2 and found.on >= least.on / 2
            assert (found.best >= least.best).all() and (found.best < alpha * 1.5).all()
