"""Ask and tell in tests."""


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
