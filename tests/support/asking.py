"""Ask and tell in tests; what an order of elimination costs, by trying all."""

from itertools import permutations

import numpy as np


def run(policy, feedback):
    """Play until the policy stops; ``feedback(arm)`` gives reward and cost. The arms in their order."""
    arms = []
    while (arm := policy.ask()) is not None:
        policy.tell(arm, *feedback(arm))
        arms.append(arm)
    return arms


def noise_free(rewards, costs):
    """Feedback that never varies."""
    return lambda arm: (rewards[arm], costs[arm])


def play_once(finder, rewards):
    """Play a policy on rewards (K, N, D) in the order of the instances. Its pairs of arm and instance."""
    made = []
    while (pull := finder.ask()) is not None:
        finder.tell(pull, rewards[pull.key])
        made.append(pull.key)
    return made


def made_up(n_arms=8, n_instances=200, seed=0):
    """Binary answers that are alike, since instances differ in how hard they are."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(0.2, 0.8, n_arms)[:, None, None] + np.array([0.0, 0.1])
    ability[::3, :, 1] = 1.1 - ability[::3, :, 1]
    hard = rng.random((1, n_instances, 2))
    return (ability + 0.1 * rng.standard_normal((n_arms, n_instances, 2)) > hard).astype(float)


def brute_force_constant(costs):
    """Maximum over all K! orders of what `theory.exact_allocation_constant` computes by sorting."""
    orders = np.array(list(permutations(costs)))
    left = np.cumsum(orders[:, ::-1], axis=1)[:, ::-1]
    return float(1 + (orders / left)[:, :-2].sum(axis=1).max())
