"""Checks that every policy must pass: built-in ones and your own.

    from cobandit import testing

    def test_my_policy():
        testing.check_policy(MyPolicy)
        testing.check_kernel(MyPolicy)  # if it has a kernel

``method`` is a method in any form that replays accept: a name, a class that extends
``OnlinePolicy`` or ``IdentificationPolicy``, or a `cobandit.spec` with options.  A
failed check raises ``AssertionError`` with the place of the fault; no test framework is
needed.  Tables and budgets are random and small, the same on every call.
"""

from cobandit.testing.kernel_checks import check_kernel as check_kernel
from cobandit.testing.policy_checks import check_policy as check_policy
