"""What every policy must pass: checks for tests of your own algorithm, and of those here.

    from cobandit import testing

    def test_my_policy():
        testing.check_policy(MyPolicy)
        testing.check_kernel(MyPolicy)  # if it has a kernel

``method`` is what a replay takes: a name, a class that extends ``OnlinePolicy`` or
``IdentificationPolicy``, or a `cobandit.spec` with options.  A check that finds a fault
raises ``AssertionError`` and says where; it needs no test framework.  Tables and
budgets are random and small, the same on every call.
"""

from cobandit.testing.protocol import check_kernel as check_kernel
from cobandit.testing.protocol import check_policy as check_policy
