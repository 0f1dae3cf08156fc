"""Tails of costs: their index against Pareto's, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit.stats.tails import estimate_tail


def unmet(costs):
    return [estimate_tail(np.array(arm_costs))[1] for arm_costs in costs]


def test_number_of_values_carrying_half_of_a_mean():
    costs = [8.0, *[0.5] * 15], [1.0] * 16, [6.0, 5.0, *[1.0] * 14]
    carried = [estimate_tail(np.array(arm_costs))[0] for arm_costs in costs]
    assert carried == [1, 8, 4]  # 8 of 15.5; 8 of 16; 6 + 5 + 1 + 1 of 25


def test_unseen_share_matches_a_hand_calculation():
    """Of 16 costs 8 are e times the ninth in the mean: an index of 1, plus 3 errors."""
    spread = np.exp(np.linspace(-0.05, 0.05, 8))
    heavy, light = [*np.e * spread, *[1.0] * 8], [*np.exp(0.1) * spread, *[1.0] * 8]
    index = 0.1 * (1 + 3 / np.sqrt(8))
    assert unmet([heavy, light, np.full(40, 0.1)]) == pytest.approx(
        [1, (16**index - 1) / 16, 0]
    )


def test_capped_costs_are_not_heavy_tailed():
    """A limit of generation is recognised if reached three times, not twice."""
    assert unmet(
        [32.0] * times + [20.0, 8.0] + [1.0] * (18 - times) for times in (3, 2)
    ) == [0, 1]


@pytest.mark.slow
def test_only_heavy_tails_are_reported():
    rng = np.random.default_rng(1)
    heavy = np.array(unmet(rng.pareto(1.25, (200, 200)) + 1))
    light = np.array(unmet(rng.lognormal(0, 0.5, (200, 200))))
    assert (heavy > 0.5).mean() > 0.95 and (light < 0.1).mean() > 0.95
