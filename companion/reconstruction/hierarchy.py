"""The prior of random tables: effects of language models and configurations, and means.

All variables of a state are standard normal a priori, except for the seed of the
instances. A parameter is a transformation of its normal variable (`PARAMETERS`).
``book/protocol.md`` justifies each parameter.

With T the temperature, C chain of thought and L the longer limit (0 or 1), for
configuration i of model m::

    x_i = verbosity_m + (cot_tokens + COT_MODELS own_m) C + heat_tokens T
          + noise_tokens e_i
    short limit:  tokens_i = short - shortfall exp(-slope_short x_i)
    long limit:   tokens_i = (tokens at the short limit) + excess exp(slope_long x_i)
    y_i = ability_m + heat_m T + prompt_m C + limit_accuracy L
          + tokens_accuracy x_i + noise_accuracy e'_i
    logit(accuracy_i) = low + (high - low) u_i^skew_accuracy, u_i = y_i scaled to [0, 1]
    log(latency_i) = a + s slowness_m + log(base + (1 - base) tokens_i / mean)
                     + prompt_latency C + noise_latency e''_i

where shortfall, excess, low, high, a and s are chosen so that the smallest and the
largest mean of each quantity are the printed values.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr

from companion.paper.numbers import published, run_key
from companion.paper.predictive import printed_values

N_INSTANCES = 1000
N_PROFILING = 200
SPLIT_SEED = 0

TEMPERATURES = (0.0, 0.5, 1.0)
PROMPTS = ("cot", "direct")

#: The models that the paper names, in its order (Appendix A).
NAMED = (
    "GPT-2",
    "CodeLlama-7B",
    "Tulu-7B",
    "Tulu-2-7B",
    "Gemma-7B",
    "LLaMA-7B",
    "Mistral-7B",
)


ONLINE_QUANTITIES = ("efficiency_regret", "standard_regret", "moving_average")


class Ends(NamedTuple):
    """Smallest and largest value of a quantity over the configurations."""

    low: float
    high: float


class Setting(NamedTuple):
    """One table of the paper: its grid, and the printed numbers to reproduce.

    Attributes
    ----------
    models : tuple of str
        The language models that the paper names, then neutral names for the others.
    limits : (int, int)
        Generation limits in tokens. The larger one is also the largest single cost.
    accuracy, latency, tokens : Ends
        Table 1: means over all instances, as a fraction, in seconds, and in tokens.
    profiling_tokens : Ends
        Mean tokens in the profiling split (Section 5).
    front : int
        Table 1: size of the Pareto set of all configurations.
    same_best : bool
        Whether the arm of the largest hypervolume has the largest hypervolume per cost
        (Section 5).
    subset_front, subset_gap : int, float
        Number of Pareto arms and smallest classification gap of the 14-arm subset
        (Section 5, Appendix A).
    uniform : tuple of float
        Both regrets and the moving average of uniform allocation at the largest budget.
        If the paper prints two values of a number, the midpoint is used.
    accuracy_cost : float
        Efficiency regret of Accuracy-Cost-UCB at the largest budget.
    """

    models: tuple[str, ...]
    limits: tuple[int, int]
    accuracy: Ends
    latency: Ends
    tokens: Ends
    profiling_tokens: Ends
    front: int
    same_best: bool
    subset_front: int
    subset_gap: float
    uniform: tuple[float, ...]
    accuracy_cost: float

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers of models, temperatures, limits and prompts, as in `grid`."""
        return len(self.models), len(TEMPERATURES), len(self.limits), len(PROMPTS)

    @property
    def n_arms(self) -> int:
        """Number of configurations, K."""
        return prod(self.shape)


def _setting(name: str, limits: tuple[int, int], same_best: bool) -> Setting:
    printed = {number.key: number.value for number in published()}
    runs = printed_values()

    def ends(quantity: str) -> Ends:
        return Ends(
            printed[f"{name}-{quantity}_min"], printed[f"{name}-{quantity}_max"]
        )

    def regret(method: str, quantity: str) -> float:
        return runs[run_key(name, "online", 32, method, quantity)]

    others = range(len(NAMED) + 1, int(printed[f"{name}-table1-models"]) + 1)
    return Setting(
        models=(*NAMED, *(f"model-{i:02d}" for i in others)),
        limits=limits,
        accuracy=ends("table1-accuracy"),
        latency=ends("table1-latency"),
        tokens=ends("table1-tokens"),
        profiling_tokens=ends("profiling-cost"),
        front=int(printed[f"{name}-table1-pareto_arms"]),
        same_best=same_best,
        subset_front=int(printed[f"{name}-identification-pareto_arms"]),
        subset_gap=printed[f"{name}-identification-gap_min"],
        uniform=tuple(
            regret("UniformAllocation", quantity) for quantity in ONLINE_QUANTITIES
        ),
        accuracy_cost=regret("AccuracyCostUCB", "efficiency_regret"),
    )


SETTINGS = {
    "gsm8k": _setting("gsm8k", (128, 256), True),
    "piqa": _setting("piqa", (128, 512), False),
}


Floats = NDArray[np.float64]
Transform = Callable[[float], float]


def normal(deviation: float) -> Transform:
    """Return a function from a standard normal to a normal variable with mean zero."""
    return lambda z: deviation * z


def half_normal(deviation: float) -> Transform:
    """Return a function from a standard normal to a half-normal variable.

    The half-normal variable is negative if the deviation is negative.
    """
    return lambda z: deviation * abs(z)


def log_normal(deviation: float) -> Transform:
    """Return a function from a standard normal to a log-normal variable of median 1."""
    return lambda z: float(np.exp(deviation * z))


def uniform(low: float, high: float) -> Transform:
    """Return a function from a standard normal to a uniform variable."""
    return lambda z: low + (high - low) * float(ndtr(z))


def log_uniform(low: float, high: float) -> Transform:
    """Return a function from a standard normal to a log-uniform variable."""
    return lambda z: low * float((high / low) ** ndtr(z))


PARAMETERS: dict[str, Transform] = {
    "skew_accuracy": log_normal(0.5),
    "heat_accuracy": half_normal(-1.0),
    "heat_models": half_normal(0.4),
    "prompt_accuracy": normal(1.0),
    "prompt_models": half_normal(0.7),
    "limit_accuracy": half_normal(0.5),
    "tokens_accuracy": normal(0.3),
    "noise_accuracy": log_uniform(0.05, 0.8),
    "cot_tokens": half_normal(1.0),
    "heat_tokens": normal(0.3),
    "noise_tokens": log_uniform(0.1, 0.7),
    "slope_short": log_uniform(0.2, 1.5),
    "slope_long": log_uniform(0.2, 1.5),
    "spread_tokens": log_uniform(0.05, 0.8),
    "endless": log_uniform(0.001, 0.1),
    "empty": log_uniform(0.001, 0.15),
    "shared": uniform(0.02, 0.4),
    "ability_slowness": uniform(-0.5, 0.9),
    "slowness_verbosity": uniform(0.5, 0.98),
    "base_latency": uniform(0.05, 0.8),
    "prompt_latency": half_normal(0.1),
    "noise_latency": log_uniform(0.02, 0.3),
    "noise_seconds": log_uniform(0.05, 0.5),
    "luck": normal(1.0),
}
MODEL_EFFECTS = ("ability", "slowness", "verbosity", "heat", "prompt", "cot tokens")
CONFIG_EFFECTS = ("accuracy", "latency", "tokens", "luck of the split")
_ACCURACY = [
    i for i, name in enumerate(PARAMETERS) if re.search("accuracy|models|ability", name)
]
#: Indices of the variables that affect only accuracies: parameters, effects of models,
#: and effects of configurations.
OF_ACCURACY = tuple(np.array(part) for part in (_ACCURACY, [0, 3, 4], [0]))
#: Indices of the variables that affect tokens and latencies: parameters, effects of
#: models, and effects of configurations.
OF_BODY = (
    np.setdiff1d(np.arange(len(PARAMETERS)), _ACCURACY),
    np.array([1, 2, 5]),
    np.array([1, 2, 3]),
)
#: The effect of chain of thought on verbosity differs between models. This is the
#: standard deviation of the effect.
COT_MODELS = 0.5
PER_MODEL = len(TEMPERATURES) * 2 * len(PROMPTS)


@dataclass(frozen=True, eq=False)
class State:
    """The random variables that determine a random table.

    All variables are standard normal except for the seed.

    Attributes
    ----------
    parameters : ndarray, shape (P,)
        Normal variables of the parameters, in the order of PARAMETERS.
    models : ndarray, shape (M, 6)
        Effects of the models, in the order of MODEL_EFFECTS.
    configs : ndarray, shape (K, 4)
        Effects of the configurations, in the order of CONFIG_EFFECTS. Rows have the
        order of `grid`.
    instances : int
        Seed of the instances.
    """

    parameters: Floats
    models: Floats
    configs: Floats
    instances: int


class Means(NamedTuple):
    """Mean latency and tokens of each configuration, and related values.

    All arrays have the shape (K,). ``verbosity`` is x_i in the equations of
    `companion.reconstruction.hierarchy`. Accuracies are computed separately
    (`correct_counts`), because most moves of a chain change only accuracies.
    """

    seconds: Floats
    tokens: Floats
    verbosity: Floats
    limit: NDArray[np.int64]
    luck: Floats


def grid(setting: Setting) -> list[tuple[str, float, int, str]]:
    """Return model, temperature, limit and prompt of each configuration.

    Models are sorted by name, as in the written table. The order of the arms matters,
    because replays choose the first of several tied arms.
    """
    return list(product(sorted(setting.models), TEMPERATURES, setting.limits, PROMPTS))


def draw_state(setting: Setting, rng: np.random.Generator) -> State:
    """Draw a state from the prior."""
    return State(
        parameters=rng.standard_normal(len(PARAMETERS)),
        models=rng.standard_normal((len(setting.models), len(MODEL_EFFECTS))),
        configs=rng.standard_normal((setting.n_arms, len(CONFIG_EFFECTS))),
        instances=int(rng.integers(2**31)),
    )


def _tokens(setting: Setting, p: dict[str, float], x: Floats, noise: Floats) -> Floats:
    """Return mean tokens (M, T, limit, prompt) from the verbosity x (M, T, prompt)."""
    short = setting.limits[0]
    shortfall = np.exp(-p["slope_short"] * x)
    below = short - shortfall * (short - setting.tokens.low) / shortfall.max()
    excess = np.exp(p["slope_long"] * (x + noise))
    above = below + excess * ((setting.tokens.high - below) / excess).min()
    return np.stack([below, above], axis=2)


def named(transforms: dict[str, Transform], values: Floats) -> dict[str, float]:
    """Return the values of parameters by name, from their normal variables."""
    return {
        name: transform(z)
        for (name, transform), z in zip(transforms.items(), values, strict=True)
    }


HEAT = np.array(TEMPERATURES)[None, :, None, None]
LONG = np.array([0.0, 1.0])[None, None, :, None]
COT = np.array([float(name == "cot") for name in PROMPTS])[None, None, None, :]


def means(setting: Setting, state: State) -> Means | None:
    """Return the mean latency and the mean tokens of each configuration.

    Parameters
    ----------
    setting : Setting
    state : State

    Returns
    -------
    Means or None
        None if latencies differ by more than the printed ratio even without differences
        between models. The truncated prior excludes such states.
    """
    parameters = named(PARAMETERS, state.parameters)
    shape = setting.shape
    _, slowness, talk, _, _, cot_effects = (
        e[:, None, None, None] for e in state.models.T
    )
    correlation = parameters["slowness_verbosity"]
    verbosity = correlation * slowness + np.sqrt(1 - correlation**2) * talk
    _, noise_latency, noise_tokens, luck = (e.reshape(shape) for e in state.configs.T)

    x = (
        verbosity
        + (parameters["cot_tokens"] + COT_MODELS * cot_effects) * COT
        + parameters["heat_tokens"] * HEAT
    )
    x = x[:, :, 0] + parameters["noise_tokens"] * noise_tokens[:, :, 0]
    tokens = _tokens(
        setting, parameters, x, parameters["noise_tokens"] * noise_tokens[:, :, 1]
    )

    log_rest = np.log(
        parameters["base_latency"]
        + (1 - parameters["base_latency"]) * tokens / tokens.mean()
    )
    log_rest = (
        log_rest
        + parameters["prompt_latency"] * COT
        + parameters["noise_latency"] * noise_latency
    )
    wanted = float(np.log(setting.latency.high / setting.latency.low))

    def beyond(s: float) -> float:
        return float(np.ptp(s * slowness + log_rest)) - wanted

    if beyond(0.0) >= 0:
        return None
    # beyond is convex and negative at 0, so it has exactly one root s > 0
    log_latency = brentq(beyond, 0.0, 1e3, xtol=1e-9) * slowness + log_rest
    seconds = setting.latency.low * np.exp(log_latency - log_latency.min())
    limit = np.array([arm[2] for arm in grid(setting)])
    x = np.broadcast_to(x[:, :, None], shape).ravel()
    return Means(seconds.ravel(), tokens.ravel(), x, limit, luck.ravel())


def correct_counts(setting: Setting, state: State, verbosity: Floats) -> Floats:
    """Return the number of correct answers of each configuration, (K,)."""
    parameters = named(PARAMETERS, state.parameters)
    shape = setting.shape
    ability, slowness, _, heat, prompt, _ = (
        e[:, None, None, None] for e in state.models.T
    )
    correlation = parameters["ability_slowness"]
    y = correlation * slowness + np.sqrt(1 - correlation**2) * ability

    y = (
        y
        + (parameters["heat_accuracy"] + parameters["heat_models"] * heat) * HEAT
        + parameters["limit_accuracy"] * LONG
    )
    y = y + (parameters["prompt_accuracy"] + parameters["prompt_models"] * prompt) * COT
    y = y + parameters["tokens_accuracy"] * verbosity.reshape(shape)
    y = y + parameters["noise_accuracy"] * state.configs[:, 0].reshape(shape)

    low = logit(setting.accuracy.low)
    high = logit(setting.accuracy.high)
    accuracy = expit(
        low + (high - low) * ((y - y.min()) / np.ptp(y)) ** parameters["skew_accuracy"]
    )
    return np.rint(N_INSTANCES * accuracy.ravel())
