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

from cobandit.testing.protocol import bad_tells as bad_tells
from cobandit.testing.protocol import check_ask as check_ask
from cobandit.testing.protocol import check_budget as check_budget
from cobandit.testing.protocol import check_copies as check_copies
from cobandit.testing.protocol import check_kernel as check_kernel
from cobandit.testing.protocol import check_kernel_on as check_kernel_on
from cobandit.testing.protocol import check_order as check_order
from cobandit.testing.protocol import check_policy as check_policy
from cobandit.testing.protocol import check_tell as check_tell
from cobandit.testing.protocol import fly as fly
from cobandit.testing.protocol import policy_on as policy_on
from cobandit.testing.protocol import ragged_table as ragged_table
from cobandit.testing.protocol import smallest_budget as smallest_budget
from cobandit.testing.protocol import snapshot as snapshot
from cobandit.testing.protocol import table_of as table_of
