"""Checks that every policy must pass, for tests of your own policies and of ours.

    from cobandit import testing

    def test_my_policy():
        testing.check_policy(MyPolicy)
        testing.check_kernel(MyPolicy)  # if it has a kernel

``method`` is a method as a replay takes it: a name, a class that extends
``OnlinePolicy`` or ``IdentificationPolicy``, or a `cobandit.spec` with options.  A
check that finds a fault raises ``AssertionError`` and says where; it needs no test
framework.  Tables and budgets are random and small, the same on every call.
"""

from cobandit.testing.kernel_checks import check_kernel as check_kernel
from cobandit.testing.policy_checks import check_policy as check_policy
