"""Ask and tell in tests."""

import inspect
import pickle


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


def snapshot(policy):
    """Everything that a policy remembers, as bytes, its unfinished plan included."""
    state = dict(vars(policy))
    plan = state.pop("_plan", None)
    if plan is not None and plan.gi_frame is not None:
        local = {key: value for key, value in inspect.getgeneratorlocals(plan).items() if key != "self"}
        state["plan"] = (plan.gi_frame.f_lasti, local)
    return pickle.dumps(state)


#: What `tell` must refuse while arm 0 of two objectives is waiting: arm, reward, cost.
BAD_TELLS = {
    "other arm": (1, [0.5, 0.5], 1.0),
    "no such arm": (7, [0.5, 0.5], 1.0),
    "negative arm": (-1, [0.5, 0.5], 1.0),
    "no arm": (None, [0.5, 0.5], 1.0),
    "arm as text": ("0", [0.5, 0.5], 1.0),
    "reward above one": (0, [1.2, 0.5], 1.0),
    "reward below zero": (0, [0.5, -0.1], 1.0),
    "reward NaN": (0, [0.5, float("nan")], 1.0),
    "reward infinite": (0, [float("inf"), 0.5], 1.0),
    "reward too short": (0, [0.5], 1.0),
    "reward too long": (0, [0.5, 0.5, 0.5], 1.0),
    "reward a scalar": (0, 0.5, 1.0),
    "reward nested": (0, [[0.5, 0.5]], 1.0),
    "reward text": (0, ["high", "low"], 1.0),
    "cost zero": (0, [0.5, 0.5], 0.0),
    "cost negative": (0, [0.5, 0.5], -1.0),
    "cost NaN": (0, [0.5, 0.5], float("nan")),
    "cost infinite": (0, [0.5, 0.5], float("inf")),
    "cost text": (0, [0.5, 0.5], "dear"),
}
