"""The slack of comparisons with a budget: it forgives rounding, and nothing that is larger."""

import pytest

from cobandit import _check


@pytest.mark.parametrize("x", [1.0, 3.0, 1e6])
def test_floor_and_ceil_forgive_a_rounding_error_and_no_more(x):
    near, off = 1e-10, 1e-8
    assert (_check.floor(x * (1 - near)), _check.floor(x * (1 - off))) == (x, x - 1)
    assert (_check.ceil(x * (1 + near)), _check.ceil(x * (1 + off))) == (x, x + 1)


def test_a_budget_is_stretched_by_a_billionth():
    assert _check.with_slack(2.0) == pytest.approx(2 * (1 + 1e-9), rel=1e-15)
