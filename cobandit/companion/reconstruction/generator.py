"""The generator: a hierarchy of configuration means, and instances that realise these means exactly.

Means.  Model m has an ability a_m, a slowness s_m and a verbosity v_m, standard normal, the first two
correlated; configuration i of model m adds the effects of its prompt, temperature and generation limit, an
interaction of model and prompt, and noise, which gives three scores x_i, y_i, z_i::

    accuracy_i = low + (high - low) u_i^skew_accuracy,              u_i = x_i brought onto [0, 1]
    latency_i  = low (high / low)^(w_i^skew_latency),               w_i = y_i brought onto [0, 1]
    tokens_i   = short - const * exp(...)  or  short + const * z_i  (limit short or long)

so that the smallest and the largest mean are the ends that the paper prints.  Accuracies are counts of the
1,000 instances.  Token means are stretched on either side of the shorter limit to meet their ends, once over
all instances and once over the profiling split.

Instances.  Instance q has a difficulty d_q that all configurations share.  For configuration i::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   r d_q + r' e_iq
    tokens_iq  = min(limit, scale exp(TOKEN_SPREAD (r d_q + r' f_iq))),  whole numbers of the given sums
    latency_iq = latency_i w_iq / mean_q(w_iq),
          w_iq = (BASE_SHARE + (1 - BASE_SHARE) tokens_iq / tokens_i) exp(noise_latency g_iq)

with r^2 = SHARED, r'^2 = 1 - SHARED and e, f, g independent standard normal.  Latency is thus a base that
depends on the configuration, plus a rate times the tokens generated, times noise: cost and efficiency are
dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.companion.reconstruction.settings import (
    N_INSTANCES,
    N_PROFILING,
    PROMPTS,
    SPLIT_SEED,
    TEMPERATURES,
    Ends,
    Setting,
)
from cobandit.tables.keys import profiling_mask

SHARED = 0.4
"""Share of the difficulty's variance that all configurations have in common."""
BASE_SHARE = 0.15
"""Share of the mean latency that does not depend on the tokens generated."""
TOKEN_SPREAD = 0.35
"""Standard deviation of the logarithm of an answer's length before it is cut off."""

RANGES = {
    "ability_slowness": (-0.6, 0.9),
    "prompt_accuracy": (-1.5, 1.5),
    "prompt_interaction": (0.0, 1.0),
    "heat_accuracy": (-2.0, 0.5),
    "limit_accuracy": (0.0, 1.0),
    "tokens_accuracy": (-1.0, 1.0),
    "noise_accuracy": (0.05, 0.8),
    "skew_accuracy": (0.4, 8.0),
    "prompt_latency": (-0.5, 0.8),
    "limit_latency": (-0.2, 0.8),
    "tokens_latency": (-0.5, 3.0),
    "noise_latency_mean": (0.02, 0.8),
    "skew_latency": (0.4, 2.5),
    "long_tokens": (-3.0, 3.0),
    "short_spread": (0.05, 1.5),
    "noise_latency": (0.05, 0.5),
}
"""Least and largest value of each parameter, between which it is uniform before the fit."""
MODEL_EFFECTS = ("ability", "slowness", "verbosity", "prompt")
CONFIG_EFFECTS = ("accuracy", "latency", "tokens", "luck of the split")


@dataclass(frozen=True, eq=False)
class Parameters:
    """The sixteen parameters of the hierarchy, its random effects, and the seed of the instances.

    The parameters are in standard deviations between models (of ability, slowness or verbosity).

    Attributes
    ----------
    ability_slowness : float
        Correlation of ability and slowness between models.
    prompt_accuracy, heat_accuracy, limit_accuracy, tokens_accuracy : float
        What chain of thought, a unit of temperature, the longer limit and verbosity add to the accuracy's
        score.
    prompt_interaction, noise_accuracy : float
        Standard deviations of the interaction of model and prompt, and between configurations.
    skew_accuracy, skew_latency : float
        Powers of the maps onto the published ends; above 1 most configurations are near the lower end.
    prompt_latency, limit_latency, tokens_latency : float
        What chain of thought, the longer limit and verbosity add to the latency's score.
    noise_latency_mean : float
        Standard deviation of the latency's score between configurations.
    long_tokens, short_spread : float
        Mean of the token score at the longer limit; spread of its logarithm at the shorter.
    noise_latency : float
        Standard deviation of the logarithm of a single latency, given the tokens.
    instances : int
        Seed of the difficulties and of all that varies between instances.
    models : ndarray, shape (M, 4)
        Effects of each model, standard normal before the fit, in the order of MODEL_EFFECTS.
    configs : ndarray, shape (K, 4)
        Effects of each configuration, standard normal before the fit, in the order of CONFIG_EFFECTS.
    """

    ability_slowness: float
    prompt_accuracy: float
    prompt_interaction: float
    heat_accuracy: float
    limit_accuracy: float
    tokens_accuracy: float
    noise_accuracy: float
    skew_accuracy: float
    prompt_latency: float
    limit_latency: float
    tokens_latency: float
    noise_latency_mean: float
    skew_latency: float
    long_tokens: float
    short_spread: float
    noise_latency: float
    instances: int
    models: NDArray[np.float64]
    configs: NDArray[np.float64]


class Draw(NamedTuple):
    """A table as arrays of shape (K, 1000): answers, whole milliseconds, tokens.

    Arms are in the order of `grid`; instances in the order of `INSTANCES`, the profiling split first.
    """

    correct: NDArray[np.bool_]
    latency_ms: NDArray[np.int64]
    tokens: NDArray[np.int64]


class _Lengths(NamedTuple):
    """Relative lengths of answers before they are cut off, and what solves for the scale of cut-off ones."""

    shape: NDArray[np.float64]  # (K, m)
    prefix: NDArray[np.float64]  # (K, m + 1), sums of the smallest
    reach: NDArray[np.float64]  # (K, m), sum in units of the limit where the j-th smallest just meets it


class _Noise(NamedTuple):
    """Random parts of all instances, of all configurations."""

    rank: NDArray[np.int64]  # (K, n), 0 for the instance that the configuration finds easiest
    known: _Lengths  # in the profiling split
    held_out: _Lengths  # in the evaluation split
    speed: NDArray[np.float64]  # (K, n), standard normal


PER_MODEL = len(TEMPERATURES) * 2 * len(PROMPTS)
_MASK = profiling_mask(N_INSTANCES, N_PROFILING, SPLIT_SEED)
INSTANCES = np.concatenate([np.flatnonzero(_MASK), np.flatnonzero(~_MASK)])
"""Numbers of the instances in the order of a `Draw`: first the profiling split, then the evaluation split."""


def _lengths(shape: NDArray[np.float64]) -> _Lengths:
    ordered = np.sort(shape, axis=1)
    prefix = np.pad(np.cumsum(ordered, axis=1), ((0, 0), (1, 0)))
    reach = shape.shape[1] - np.arange(shape.shape[1]) + prefix[:, :-1] / ordered
    return _Lengths(shape, prefix, reach)


@lru_cache(maxsize=2)
def _noise(seed: int, n_arms: int) -> _Noise:
    rng = np.random.default_rng(seed)
    difficulty = rng.standard_normal(N_INSTANCES)
    answer, length, speed = rng.standard_normal((3, n_arms, N_INSTANCES))
    met = np.sqrt(SHARED) * difficulty + np.sqrt(1 - SHARED) * answer
    rank = met.argsort(axis=1).argsort(axis=1)
    shape = np.exp(TOKEN_SPREAD * (np.sqrt(SHARED) * difficulty + np.sqrt(1 - SHARED) * length))
    rank, shape, speed = rank[:, INSTANCES], shape[:, INSTANCES], speed[:, INSTANCES]
    return _Noise(rank, _lengths(shape[:, :N_PROFILING]), _lengths(shape[:, N_PROFILING:]), speed)


def grid(setting: Setting) -> list[tuple[str, float, int, str]]:
    """Model, temperature, generation limit and prompt of each configuration, in the order of their names.

    Ties go to the first arm in replays, so the order has to be that of the table.
    """
    return [
        (model, temperature, limit, prompt)
        for model in sorted(setting.models)
        for temperature in TEMPERATURES
        for limit in setting.limits
        for prompt in PROMPTS
    ]


def _onto_unit(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return (score - score.min()) / np.ptp(score)


def _stretch(values: NDArray[np.float64], pivot: float, ends: Ends) -> NDArray[np.float64]:
    """Stretch what lies below and above the pivot, each linearly, so that the ends are met."""
    low, high = (pivot - ends.low) / (pivot - values.min()), (ends.high - pivot) / (values.max() - pivot)
    return pivot + (values - pivot) * np.where(values < pivot, low, high)


def _whole(real: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round each row to whole numbers next to it so that the row's rounded sum is kept."""
    steps = np.floor(np.cumsum(real, axis=1) + 0.5).astype(np.int64)
    return np.concatenate([steps[:, :1], steps[:, 1:] - steps[:, :-1]], axis=1)


def _cut_off(lengths: _Lengths, limit: NDArray[np.int64], sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers min(limit, scale shape) (K, m) with the given sum of each row.

    The sum grows with the scale and is linear between the scales at which one more answer meets the limit.
    """
    shape, prefix, reach = lengths
    # at least one: where the sum leaves no other choice, the shortest answer just meets the limit, too
    uncut = np.maximum((reach * limit[:, None] > sums[:, None]).sum(axis=1), 1)
    left = sums - limit * (shape.shape[1] - uncut)
    scale = left / prefix[np.arange(len(prefix)), uncut]
    return _whole(np.minimum(scale[:, None] * shape, limit[:, None]))


def generate(setting: Setting, parameters: Parameters) -> Draw:
    """Draw the table that a setting and parameters define.

    Parameters
    ----------
    setting : Setting
    parameters : Parameters

    Returns
    -------
    Draw
        Arrays of shape (K, 1000).
    """
    p = parameters
    ability, slowness, verbosity, prompt_effect = np.repeat(p.models, PER_MODEL, axis=0).T
    slowness = p.ability_slowness * ability + np.sqrt(1 - p.ability_slowness**2) * slowness
    noise, instances = p.configs.T, _noise(p.instances, len(p.configs))

    arms = grid(setting)
    heat = np.array([temperature for _, temperature, _, _ in arms])
    limit = np.array([limit for _, _, limit, _ in arms])
    cot = np.array([prompt == "cot" for *_, prompt in arms], dtype=np.float64)
    short, long = setting.limits
    is_long = limit == long

    wordy = np.sqrt(0.5) * (verbosity + noise[2])
    score = ability + p.prompt_accuracy * cot + p.heat_accuracy * heat + p.limit_accuracy * is_long
    score = score + p.tokens_accuracy * wordy + p.prompt_interaction * prompt_effect * (cot - 0.5)
    score = score + p.noise_accuracy * noise[0]
    low, high = setting.accuracy
    accuracy = low + (high - low) * _onto_unit(score) ** p.skew_accuracy

    raw = short + np.where(is_long, p.long_tokens + wordy, -np.exp(p.short_spread * -wordy))
    tokens = _stretch(raw, short, setting.tokens)
    luck = np.sqrt((1 - N_PROFILING / N_INSTANCES) / N_PROFILING) * TOKEN_SPREAD * noise[3]
    raw = np.where(is_long, tokens * (1 + luck), short - (short - tokens) * np.exp(2 * luck))
    known_tokens = _stretch(raw, short, setting.profiling_tokens)

    score = slowness + p.prompt_latency * cot + p.limit_latency * is_long + p.tokens_latency * wordy
    score = score + p.noise_latency_mean * noise[1]
    low, high = setting.latency
    latency = low * (high / low) ** (_onto_unit(score) ** p.skew_latency)

    count = np.rint(N_INSTANCES * accuracy).astype(np.int64)
    correct = instances.rank < count[:, None]
    known = np.rint(N_PROFILING * known_tokens).astype(np.int64)
    held_out = np.rint(N_INSTANCES * tokens).astype(np.int64) - known
    spent = np.empty((len(arms), N_INSTANCES), dtype=np.int64)
    spent[:, :N_PROFILING] = _cut_off(instances.known, limit, known)
    spent[:, N_PROFILING:] = _cut_off(instances.held_out, limit, held_out)

    weight = BASE_SHARE + (1 - BASE_SHARE) * spent / tokens[:, None]
    weight *= np.exp(p.noise_latency * instances.speed)
    scaled = weight * (1000 * latency / weight.mean(axis=1))[:, None]
    return Draw(correct, np.rint(scaled).astype(np.int64), spent)
