"""What every policy must pass: checks for tests of your own algorithm, and of those here.

    from cobandit import testing

    def test_my_policy():
        testing.check_policy(MyPolicy)
        testing.check_kernel(MyPolicy)  # if it has a kernel

``method`` is what a replay takes: a name, a class that extends ``OnlinePolicy`` or
``IdentificationPolicy``, or a `cobandit.spec` with options.  A check that finds a fault raises
``AssertionError`` and says where; it needs no test framework.  Tables and budgets are random and small, the
same on every call.
"""

from cobandit.testing.kernel import check_kernel, check_kernel_on
from cobandit.testing.playing import Event, fly
from cobandit.testing.protocol import (
    bad_tells,
    check_ask,
    check_budget,
    check_failures,
    check_options,
    check_order,
    check_pickle,
    check_policy,
    check_tell,
    snapshot,
)
from cobandit.testing.tables import policy_on, ragged_table, smallest_budget, table_of

__all__ = [
    "Event",
    "bad_tells",
    "check_ask",
    "check_budget",
    "check_failures",
    "check_kernel",
    "check_kernel_on",
    "check_options",
    "check_order",
    "check_pickle",
    "check_policy",
    "check_tell",
    "fly",
    "policy_on",
    "ragged_table",
    "smallest_budget",
    "snapshot",
    "table_of",
]
