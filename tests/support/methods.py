"""The methods of the library that have a kernel, by kind.

Methods that tests define are left out.
"""

from cobandit.policies.registry import KERNELS, is_builtin, list_methods
from cobandit.replay import kernels  # noqa: F401 (they enter themselves)


def compiled(kind):
    return {
        name: policy
        for name, policy in list_methods(kind).items()
        if is_builtin(policy) and policy in KERNELS
    }


ONLINE, IDENTIFICATION, ONCE = (
    compiled(kind) for kind in ("online", "identification", "once")
)
