"""The slack of comparisons with a budget tolerates rounding and nothing larger."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument

from cobandit import _budget, _validation
from companion import bounds


@pytest.mark.parametrize("x", [1.0, 3.0, 1e6])
def test_floor_and_ceil_tolerate_only_rounding(x):
    near = 1e-10
    far = 1e-8
    assert (_budget.floor(x * (1 - near)), _budget.floor(x * (1 - far))) == (x, x - 1)
    assert (_budget.ceil(x * (1 + near)), _budget.ceil(x * (1 + far))) == (x, x + 1)


def test_budget_tolerates_a_billionth():
    assert _budget.add_slack(2.0) == pytest.approx(2 * (1 + 1e-9), rel=1e-15)


@given(st.floats(1e-30, 1e30))
def test_printed_budget_suffices_narrowly(x):
    printed = float(_budget.round_up(x))
    assert _budget.add_slack(printed) >= x and printed <= x * (1 + 1.1e-5)


def test_masked_entries_are_refused():
    values = np.ma.array([[0.5, 0.25], [0.75, 0.5]])
    assert _validation.means(values).tolist() == values.tolist()
    values[0, 1] = np.ma.masked
    with bad_argument("not-numbers", "means", ["masked"]):
        _validation.means(values)


def test_integer_beyond_floating_point_is_refused():
    with bad_argument("not-a-number", "budget", ["1000"]):
        _validation.positive(10**400, "budget")


@pytest.mark.parametrize(
    ("gap", "code", "argument"),
    [(1e-170, "too-small", "radius"), (3.0, "out-of-range", "gap")],
)
def test_gaps_without_a_bound_are_refused(gap, code, argument):
    with bad_argument(code, argument):
        bounds.instance_pull_bound(
            gap, 1.0, 1.0, n_objectives=1, cost_ratio=1.0, budget=99
        )
