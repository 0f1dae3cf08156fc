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
