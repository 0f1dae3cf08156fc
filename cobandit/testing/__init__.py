"""Checks that every policy must pass, for built-in policies and for your own.

.. code-block:: python

    from cobandit import testing

    def test_my_policy():
        testing.check_policy(MyPolicy)
        testing.check_kernel(MyPolicy)  # if it has a kernel

A method may be given in any form that replays accept: a name, a class that extends
``OnlinePolicy`` or ``IdentificationPolicy``, or a `cobandit.spec` with options. A
kernel is the compiled version of a policy. A failed check raises ``AssertionError``
with a description, so no test framework is needed. Tables and budgets are small and
random, but the same in every call.
"""

from cobandit.testing.kernel_checks import check_kernel as check_kernel
from cobandit.testing.policy_checks import check_policy as check_policy
