"""Tied sums of scores: exact on complete tables, in every order of summation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import play_once
from support.faults import bad_argument
from support.strategies import examples

import cobandit as cb
from cobandit.policies import CoPSIOnce, UniformOnce
from cobandit.replay import kernels
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import run_class, run_kernel


@st.composite
def tenths(draw, max_instances=30):
    """(K, N, D) of whole tenths; most rows are another's, in another order."""
    n_objectives, n_instances = (
        draw(st.integers(1, 2)),
        draw(st.integers(2, max_instances)),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = [rng.integers(0, 11, (n_instances, n_objectives))]
    for _ in range(draw(st.integers(1, 3))):
        columns = rng.permuted(tables[rng.integers(len(tables))], axis=0)
        if rng.random() < 0.3:
            columns[0] = rng.integers(0, 11, n_objectives)
        tables.append(columns)
    return np.array(tables)


def exact_front(tables, standard=False):
    """Numbers of the front, computed without rounding."""
    means = [[Fraction(int(total), 10) for total in row] for row in tables.sum(axis=1)]

    def dominates(b, a):
        if standard:
            return b != a and all(y >= x for x, y in zip(a, b, strict=True))
        return all(y > x for x, y in zip(a, b, strict=True))

    return [i for i, a in enumerate(means) if not any(dominates(b, a) for b in means)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"confidence": 0.95}, {"confidence": 0.2}], ids=str
)
@examples(100)
@given(tables=tenths())
def test_exhaustive_policies_return_the_exact_front(options, tables):
    n_arms, n_instances, n_objectives = tables.shape
    finder = CoPSIOnce(
        np.ones(n_arms), n_arms * n_instances, n_objectives, n_instances, **options
    )
    play_once(finder, tables / 10)
    if finder.confidence is None or finder.pulls.sum() == tables[..., 0].size:
        assert finder.recommend().tolist() == exact_front(tables)


@examples(60)
@given(tables=tenths(), data=st.data())
def test_tied_arm_is_never_certainly_dominated(tables, data):
    """An arm ties with the arm whose column it permutes, and with no other."""
    order = data.draw(st.permutations(range(tables.shape[1])))
    level = np.stack([tables[0], tables[0][list(order)]])
    finder = CoPSIOnce(
        [1, 1], level[..., 0].size, level.shape[2], level.shape[1], confidence=0.999999
    )
    play_once(finder, level / 10)
    assert finder.recommend().tolist() == [0, 1] and not finder.evidence.dominated.any()


@pytest.mark.slow
@examples(60)
@given(
    tables=tenths(max_instances=12),
    share=st.sampled_from([0.5, 0.8, 1.0]),
    seed=st.integers(0, 99),
)
def test_kernels_agree_with_classes(tables, share, seed):
    n_arms, n_instances, n_objectives = tables.shape
    costs = np.ones((tables[..., 0].size, 2))
    rows = np.hstack([costs, tables.reshape(-1, n_objectives) / 10])
    feedback = FeedbackRows(rows, n_instances * np.arange(n_arms + 1), once=True)
    terms = (
        np.ones(n_arms),
        max(n_arms, share * n_arms * n_instances),
        n_objectives,
        n_instances,
    )
    for policy in (
        CoPSIOnce(*terms),
        CoPSIOnce(*terms, confidence=0.9),
        UniformOnce(*terms),
    ):
        fast = run_kernel(policy, feedback, seed, np.arange(2), realised=False)
        slow = run_class(policy, feedback, seed, np.arange(2), kernels.record(2), False)
        assert all((a == b).all() for a, b in zip(fast, slow, strict=True))
        if share == 1.0 and not getattr(policy, "confidence", None):
            assert np.flatnonzero(fast[2][0]).tolist() == exact_front(tables)


@examples(100)
@given(tables=tenths())
def test_true_front_of_a_table_handles_ties_in_both_orders(tables):
    means = (tables / 10).mean(axis=1)
    assert np.flatnonzero(cb.pareto_mask(means)).tolist() == exact_front(tables)
    standard = np.flatnonzero(cb.pareto_mask(means, dominance="standard")).tolist()
    assert standard == exact_front(tables, standard=True)
    gaps, terms = cb.classification_gaps(means), cb.dominance.gap_terms(means)
    assert [term.front for term in terms] == cb.pareto_mask(means).tolist()
    assert gaps == pytest.approx([term.gap for term in terms], abs=1e-12)


def test_tolerances_are_per_objective():
    # accuracy, and what it costs
    points = [[0.9, -2e-9], [0.9 - 1e-12, -1e-9], [0.5, -0.5e-9]]
    assert cb.pareto_mask(points, dominance="standard").tolist() == [True, True, False]
    assert cb.pareto_mask(
        points, dominance="standard", tolerance=[1e-9, 1e-12]
    ).tolist() == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"dominance": "weak"}, "unknown-choice"),
        ({"tolerance": -1.0}, "out-of-range"),
        ({"tolerance": [0.0, 0.0, 0.0]}, "out-of-range"),
        ({"tolerance": float("nan")}, "not-finite"),
    ],
)
def test_invalid_dominance_or_tolerance_is_refused(wrong, code):
    (argument,) = wrong
    with bad_argument(code, argument):
        cb.pareto_mask([[0.5, 0.5], [0.25, 0.75]], **wrong)
