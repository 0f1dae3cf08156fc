"""Runs of policies in tests, feedback for them, and reference implementations."""

import math
from itertools import permutations

import numpy as np


def run(policy, feedback):
    """Run a policy, and return the pulled arms.

    ``feedback(arm)`` returns the rewards and the cost of a pull.
    """
    arms = []
    while (arm := policy.ask()) is not None:
        policy.tell(arm, *feedback(arm))
        arms.append(arm)
    return arms


def slack(budget):
    """Return a budget with the slack that policies allow for rounding."""
    return budget * (1 + 1e-9)


def noisy(means, costs, seed, spread=0.0):
    """Return a function that draws noisy feedback for `run`, around given means.

    Costs vary by a factor in [1 - spread, 1 + spread].
    """
    rng = np.random.default_rng(seed)
    return lambda arm: (
        np.clip(means[arm] + rng.normal(0, 0.2, len(means[arm])), 0, 1),
        costs[arm] * rng.uniform(1 - spread, 1 + spread),
    )


def forced(order):
    """Return scalar rewards with which the arms are rejected in a given order."""
    rewards = np.empty((len(order), 1))
    rewards[list(order), 0] = 2.0 ** -np.arange(len(order))[::-1]
    return rewards


def noise_free(rewards, costs):
    """Return a function that returns feedback without noise, for `run`."""
    return lambda arm: (rewards[arm], costs[arm])


def play_once(finder, rewards):
    """Run a policy that evaluates each instance once, and return its pulls.

    ``rewards`` has the shape (K, N, D). A pull is a pair of arm and instance.
    """
    pulls = []
    while (pull := finder.ask()) is not None:
        finder.tell(pull, rewards[pull.key])
        pulls.append(pull.key)
    return pulls


def made_up(n_arms=8, n_instances=200, seed=0):
    """Draw binary rewards (K, N, 2), in which a hard instance is hard for all arms."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(0.2, 0.8, n_arms)[:, None, None] + np.array([0.0, 0.1])
    ability[::3, :, 1] = 1.1 - ability[::3, :, 1]
    hard = rng.random((1, n_instances, 2))
    return (
        ability + 0.1 * rng.standard_normal((n_arms, n_instances, 2)) > hard
    ).astype(float)


def successive_rejects(rewards, n_rounds):
    """Run successive rejects (Audibert and Bubeck, 2010), as a reference.

    ``rewards[i][n]`` is the reward of pull n of arm i. Return the pulled arms in order,
    and the remaining arm. The code shares nothing with the library.
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
    """Compute `theory.exact_allocation_constant` as a maximum over all K! orders."""
    orders = np.array(list(permutations(costs)))
    remaining = np.cumsum(orders[:, ::-1], axis=1)[:, ::-1]
    return float(1 + (orders / remaining)[:, :-2].sum(axis=1).max())
