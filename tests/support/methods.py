"""The project's methods with a kernel, by kind; other tests define methods too."""

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
