"""Means adjusted for missing evaluations: plain means and least squares as twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import examples

import cobandit as cb
from cobandit.tables.adjusted import AdjustedMeans


def with_holes(seed, n_arms=5, n_instances=30, holes=0.4):
    """Values, and where they are: every instance has at least one."""
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=(n_arms, n_instances)) * rng.lognormal(size=n_instances)
    is_present = rng.random(values.shape) > holes
    is_present[0] |= ~is_present.any(axis=0)
    is_present[:, 0] = True
    return values, is_present


def fit(values, is_present, multiplicative=False):
    arm, instance = np.nonzero(is_present)
    return AdjustedMeans(arm, instance, values[is_present], multiplicative)


@pytest.mark.parametrize("multiplicative", [False, True])
def test_complete_tables_have_plain_means(multiplicative):
    values, is_present = with_holes(0, holes=0.0)
    result = fit(values, is_present, multiplicative).means
    np.testing.assert_allclose(result, values.mean(axis=1), rtol=1e-12)


@examples(30)
@given(st.integers(0, 2**32))
def test_difference_equals_that_on_shared_instances(seed):
    values, is_present = with_holes(seed, n_arms=2)
    is_shared = is_present.all(axis=0)
    one, other = values[:, is_shared].mean(axis=1)
    means = fit(values, is_present).means
    assert means[1] - means[0] == pytest.approx(other - one)
    costs = fit(values, is_present, multiplicative=True).means
    assert costs[1] / costs[0] == pytest.approx(other / one)


@examples(30)
@given(st.integers(0, 2**32))
def test_additive_means_match_least_squares(seed):
    values, is_present = with_holes(seed)
    arm, instance = np.nonzero(is_present)
    design = np.column_stack(
        [arm[:, None] == np.arange(5), instance[:, None] == np.arange(30)]
    ).astype(float)
    effects = np.linalg.lstsq(design, values[is_present], rcond=None)[0]
    np.testing.assert_allclose(
        fit(values, is_present).means, effects[:5] + effects[5:].mean(), rtol=1e-9
    )


@examples(30)
@given(st.integers(0, 2**32))
def test_multiplicative_effects_reproduce_the_sums(seed):
    values, is_present = with_holes(seed)
    effects = fit(values, is_present, multiplicative=True)
    fitted = np.outer(effects.arm_effects, effects.instance_effects) * is_present
    for axis in (0, 1):
        np.testing.assert_allclose(
            fitted.sum(axis=axis), (values * is_present).sum(axis=axis), rtol=1e-8
        )


@pytest.mark.parametrize("multiplicative", [False, True])
def test_redraws_are_fits_with_weights_to_first_order(multiplicative):
    """A hundred copies of every instance, and one more of some."""
    values, is_present = with_holes(1)
    effects = fit(values, is_present, multiplicative)
    is_larger = np.arange(30) % 3 == 0
    copies = np.concatenate([np.tile(np.arange(30), 100), np.flatnonzero(is_larger)])
    redrawn = fit(values[:, copies], is_present[:, copies], multiplicative).means
    (result,) = effects.redraw(np.where(is_larger, 101.0, 100.0)[None])
    moved = redrawn - effects.means
    np.testing.assert_allclose(
        result - effects.means, moved, atol=0.02 * np.abs(moved).max()
    )


def test_disjoint_parts_are_adjusted_separately():
    values = np.array(
        [[0.2, 0.4, 0, 0], [0.3, 0.5, 0, 0], [0, 0, 0.9, 0.7], [0, 0, 0.8, 0.6]]
    )
    is_present = values > 0
    for multiplicative in (False, True):
        means = fit(values, is_present, multiplicative).means
        np.testing.assert_allclose(means, [0.3, 0.4, 0.8, 0.7])


def test_only_the_summary_of_all_instances_is_adjusted():
    scores = np.array(
        [[1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 1, np.nan, np.nan, np.nan, np.nan]]
    )
    table = cb.EvaluationTable.from_arrays(scores, [1, 1], profiling=2)
    assert not table.is_complete
    assert table.summary()["objective0"].tolist() == pytest.approx([0.5, 0.25])
    evaluated = table.summary("evaluation")["objective0"]
    assert evaluated["config1"] == pytest.approx(table.means[1, 0])
