"""Settings of the paper's experiments: radii, budgets and online methods."""

from cobandit.policies.registry import Spec, spec

#: Scales of the radii (s_r, s_c) and initialisation (eta) that the paper chose on its
#: profiling data.
RADII = {"reward_scale": 0.01, "cost_scale": 0.01, "eta": 0.05}
ONLINE_RHO = (2, 4, 8, 16, 32)
IDENTIFICATION_RHO = (20, 50, 100, 200, 500, 1000, 2000, 5000)


def online_methods() -> list[Spec]:
    """Return the four online methods with the paper's scales and initialisation.

    Examples
    --------
    >>> [method.label for method in online_methods()]
    ['CoHV-UCB', 'HV-UCB', 'Accuracy-Cost-UCB', 'Uniform allocation']
    """
    return [
        spec(name, **RADII)
        for name in ("CoHVUCB", "HVUCB", "AccuracyCostUCB", "UniformAllocation")
    ]
