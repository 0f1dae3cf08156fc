"""What an evaluator gives: columns that would take the place of others are refused at once."""

import pytest
from support.runs import PLAN

from cobandit.errors import CobanditError
from cobandit.live.pilot import check_row
from cobandit.live.plan import check_plan


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("shots", "gave 'shots', which is a setting: let the evaluator leave it out"),
        ("instance", "gave 'instance', which is a column of every table"),
        ("failed", "gave 'failed', which is a column of every table"),
    ],
)
def test_a_row_holds_only_what_was_measured(column, said):
    row = {"correct": 1.0, "tokens": 5.0, "seconds": 1.0}
    plan = check_plan(PLAN, "plan")
    check_row(plan, row | {"queue": 3.0}, "small shots=0", "7")
    with pytest.raises(CobanditError, match=rf"'small shots=0' on instance '7' {said}"):
        check_row(plan, row | {column: 0.0}, "small shots=0", "7")
