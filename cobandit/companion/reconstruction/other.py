"""Tables of another generator, by which the intervals are calibrated.

It shares grids, splits and printed ends with the prior of `hierarchy`, and nothing else.  Configurations are
drawn with replacement from a measured table, whose joint ranks of accuracy, latency and tokens they take,
with noise; marginals between the printed ends are powers.  With d_q the difficulty of instance q, e
logistic, g gamma and a_i log-normal::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   a_i d_q + e_iq
    tokens_iq  = min(limit, scale g_iq)
    latency_iq = latency_i w_iq / mean_q(w_iq),   w_iq = (tokens_iq / tokens_i)^power g'_iq
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtr, ndtri
from scipy.stats import rankdata

from cobandit.companion.reconstruction.chain import Kind, some_configs, walk
from cobandit.companion.reconstruction.facts import Landscape, Scene
from cobandit.companion.reconstruction.hierarchy import (
    N_INSTANCES,
    SETTINGS,
    Means,
    grid,
    log_normal,
    log_uniform,
    named,
    normal,
    uniform,
)
from cobandit.companion.reconstruction.instances import Body, body_of_shapes, rank_and_count

Floats = NDArray[np.float64]

SOURCES = ("word-sums", "piqa-small")
PARAMETERS = {
    "skew_accuracy": log_normal(0.5),
    "skew_latency": log_normal(0.5),
    "skew_tokens": log_normal(0.5),
    "noise": log_uniform(0.1, 0.7),
    "shape_tokens": log_uniform(2.0, 60.0),
    "shape_seconds": log_uniform(6.0, 200.0),
    "power": uniform(0.1, 0.9),
    "shared": uniform(0.02, 0.4),
    "luck": normal(1.0),
}
OF_ACCURACY = ([0], [0])
OF_BODY = (list(range(1, len(PARAMETERS))), [1, 2, 3])
"""Parameters, and columns of what is each configuration's own (accuracy, latency, tokens, luck), by move."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """A table before it is drawn: standard normal variables, and the seed of configurations and instances."""

    parameters: Floats
    configs: Floats
    seed: int


def _draw(name: str, rng: np.random.Generator) -> Ranked:
    shape = (SETTINGS[name].n_arms, 4)
    parameters, configs = rng.standard_normal(len(PARAMETERS)), rng.standard_normal(shape)
    return Ranked(parameters, configs, int(rng.integers(2**31)))


def _propose(name: str, state: Ranked, of_accuracy: bool, rng: np.random.Generator) -> Ranked:
    of_parameters, columns = OF_ACCURACY if of_accuracy else OF_BODY
    if rng.random() < 0.25:
        parameters = state.parameters.copy()
        chosen = rng.choice(of_parameters, size=1)
        parameters[chosen] = walk(parameters[chosen], rng)
        return replace(state, parameters=parameters)
    configs = state.configs.copy()
    moved = np.arange(len(configs)) if rng.random() < 0.2 else some_configs(name, rng)
    place = np.ix_(moved, np.array(columns))
    configs[place] = walk(configs[place], rng)
    return replace(state, configs=configs)


@lru_cache
def _scores(source: str) -> Floats:
    """Normal scores of accuracy, latency and tokens of the configurations of a measured table."""
    from cobandit.tables import load

    table = load(source)
    means = [table.raw_means[name].to_numpy() for name in ("correct", "seconds")]
    means.append(table.summary("all")["cost"].to_numpy())
    ranks = np.stack([rankdata(values) for values in means], axis=1)
    return ndtri((ranks - 0.5) / len(ranks))


@lru_cache(maxsize=64)
def _noise(seed: int, n_arms: int) -> tuple[Floats, Floats, Floats, NDArray[np.int16], NDArray[np.int16]]:
    """Normal scores of configurations (K, 3), of tokens and seconds (K, 1000), ranks, and who passes."""
    rng = np.random.default_rng(seed)
    source = _scores(SOURCES[int(rng.integers(2))])
    scores = source[rng.integers(len(source), size=n_arms)]
    tokens, seconds = rng.standard_normal((2, n_arms, N_INSTANCES))
    discrimination = np.exp(0.3 * rng.standard_normal(n_arms))
    answers = discrimination[:, None] * rng.standard_normal(N_INSTANCES)
    ranked = rank_and_count(answers + rng.logistic(size=(n_arms, N_INSTANCES)))
    return scores, tokens, seconds, *ranked


def _places(state: Ranked, column: int, skew: float) -> Floats:
    """Places of the configurations between two ends, (K,) in [0, 1]."""
    p, (scores, *_) = named(PARAMETERS, state.parameters), _noise(state.seed, len(state.configs))
    mixed = np.sqrt(1 - p["noise"] ** 2) * scores[:, column] + p["noise"] * state.configs[:, column]
    places = ndtr(mixed)
    return np.asarray(((places - places.min()) / np.ptp(places)) ** skew)


def _gamma(shape: float, scores: Floats) -> Floats:
    """Gamma variables of mean 1 by Wilson and Hilferty's cubes of normal ones."""
    return np.maximum(1 - 1 / (9 * shape) + scores / (3 * np.sqrt(shape)), 0.05) ** 3


def _scene(name: str, state: Ranked, every: int) -> Scene | None:
    setting, p = SETTINGS[name], named(PARAMETERS, state.parameters)
    _, of_tokens, of_seconds, rank, passes = _noise(state.seed, setting.n_arms)
    limit = np.array([arm[2] for arm in grid(setting)])
    # an answer's mean is below its limit; the longest ones have the longer limit
    below = np.where(
        limit == setting.limits[0], min(setting.tokens.high, limit.min() - 0.5), setting.tokens.high
    )
    places = _places(state, 2, p["skew_tokens"])
    tokens = setting.tokens.low + places * (below - setting.tokens.low)
    tokens += (setting.tokens.high - tokens.max()) * (tokens == tokens.max())
    ends = np.log(setting.latency)
    seconds = np.exp(ends[0] + _places(state, 1, p["skew_latency"]) * (ends[1] - ends[0]))
    given = Means(seconds, tokens, places, limit > setting.limits[0], limit, state.configs[:, 3])
    if (tokens >= limit).any():
        return None
    shapes = _gamma(p["shape_tokens"], of_tokens[:, ::every])
    drawn, missed = body_of_shapes(setting, given, p, shapes)
    weight = (drawn / tokens[:, None]) ** p["power"] * _gamma(p["shape_seconds"], of_seconds[:, ::every])
    latency = weight * (seconds / weight.mean(axis=1))[:, None]
    latency = np.maximum(np.rint(1000 * latency), 1) / 1000
    return Scene(setting, Body(rank, passes, latency, drawn, missed, places))


def _landscape(state: Ranked, on: Scene) -> Landscape:
    low, high = logit(on.setting.accuracy.low), logit(on.setting.accuracy.high)
    places = _places(state, 0, named(PARAMETERS, state.parameters)["skew_accuracy"])
    return Landscape(on, np.rint(N_INSTANCES / (1 + np.exp(-low - (high - low) * places))))


OTHER = Kind(_draw, _propose, _scene, _landscape)
