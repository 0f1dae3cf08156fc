"""Ask and tell in tests; what an order of elimination costs, by trying all."""

import math
from itertools import permutations

import numpy as np


def run(policy, feedback):
    """Play ``feedback(arm)``, which gives reward and cost, and return the arms."""
    arms = []
    while (arm := policy.ask()) is not None:
        policy.tell(arm, *feedback(arm))
        arms.append(arm)
    return arms


def slack(budget):
    """A budget with what is forgiven of rounding."""
    return budget * (1 + 1e-9)


def noisy(means, costs, seed, spread=0.0):
    """Draw feedback around given means; costs are within [1 - spread, 1 + spread]."""
    rng = np.random.default_rng(seed)
    return lambda arm: (
        np.clip(means[arm] + rng.normal(0, 0.2, len(means[arm])), 0, 1),
        costs[arm] * rng.uniform(1 - spread, 1 + spread),
    )


def forced(order):
    """Return scalar rewards that have the arms rejected in a given order."""
    rewards = np.empty((len(order), 1))
    rewards[list(order), 0] = 2.0 ** -np.arange(len(order))[::-1]
    return rewards


def noise_free(rewards, costs):
    """Feedback that never varies."""
    return lambda arm: (rewards[arm], costs[arm])


def play_once(finder, rewards):
    """Play on rewards (K, N, D) in order, and return pairs of arm and instance."""
    pulls = []
    while (pull := finder.ask()) is not None:
        finder.tell(pull, rewards[pull.key])
        pulls.append(pull.key)
    return pulls


def made_up(n_arms=8, n_instances=200, seed=0):
    """Binary answers that are alike, since instances differ in how hard they are."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(0.2, 0.8, n_arms)[:, None, None] + np.array([0.0, 0.1])
    ability[::3, :, 1] = 1.1 - ability[::3, :, 1]
    hard = rng.random((1, n_instances, 2))
    return (
        ability + 0.1 * rng.standard_normal((n_arms, n_instances, 2)) > hard
    ).astype(float)


def successive_rejects(rewards, n_rounds):
    """Best arm by successive rejects (Audibert and Bubeck, 2010), written on its own.

    ``rewards[i][n]`` belongs to pull n of arm i. The pulls in their order, and the arm
    that is left.
    """
    K = len(rewards)
    log_bar = 0.5 + sum(1 / i for i in range(2, K + 1))
    active, done, arms = list(range(K)), 0, []
    for k in range(1, K):
        target = math.ceil((n_rounds - K) / (log_bar * (K + 1 - k)) - 1e-9)
        target = min(target, len(rewards[0]))
        for i in active:
            arms += [i] * (target - done)
        done = max(done, target)
        means = {i: sum(rewards[i][:done]) / done for i in active}
        active.remove(min(active, key=means.__getitem__))
    return arms, active[0]


def brute_force_constant(costs):
    """Maximise `theory.exact_allocation_constant` over all K! orders."""
    orders = np.array(list(permutations(costs)))
    remaining = np.cumsum(orders[:, ::-1], axis=1)[:, ::-1]
    return float(1 + (orders / remaining)[:, :-2].sum(axis=1).max())
