"""A second generator of tables, to calibrate the intervals of predictions.

Only the grids, the splits and the printed smallest and largest means are the same as in
`companion.reconstruction.hierarchy`. Configurations are drawn with replacement from a
measured table. Their ranks of accuracy, latency and tokens are the ranks in this table,
with noise. The position of a mean between the smallest and the largest mean is a power
of its rank. With d_q the difficulty of instance q, e logistic, g and g' gamma, and a_i
log-normal::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   a_i d_q + e_iq
    tokens_iq  = min(limit, scale g_iq)
    latency_iq = latency_i w_iq / mean_q(w_iq),
          w_iq = (tokens_iq / tokens_i)^power g'_iq
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtr, ndtri
from scipy.stats import rankdata

from companion.reconstruction import hierarchy
from companion.reconstruction.chain import Kind, some_configs, walk_part
from companion.reconstruction.hierarchy import (
    N_INSTANCES,
    Floats,
    Means,
    Setting,
    State,
    named,
)
from companion.reconstruction.instances import Body, body_of_shapes, rank_and_count

SOURCES = ("word-sums", "piqa-small")
PARAMETERS = {
    "skew_accuracy": hierarchy.log_normal(0.5),
    "skew_latency": hierarchy.log_normal(0.5),
    "skew_tokens": hierarchy.log_normal(0.5),
    "noise": hierarchy.log_uniform(0.1, 0.7),
    "shape_tokens": hierarchy.log_uniform(2.0, 60.0),
    "shape_seconds": hierarchy.log_uniform(6.0, 200.0),
    "power": hierarchy.uniform(0.1, 0.9),
    "shared": hierarchy.uniform(0.02, 0.4),
    "luck": hierarchy.normal(1.0),
}
OF_ACCURACY = np.array([0]), np.array([0])
#: Indices of parameters and of columns of configurations (accuracy, latency, tokens,
#: luck) that a move changes, as in `hierarchy`.
OF_BODY = np.arange(1, len(PARAMETERS)), np.array([1, 2, 3])


def _draw(setting: Setting, rng: np.random.Generator) -> State:
    """Draw a state of the second generator, which has no effects of models.

    The seed of the instances also determines which measured configurations are drawn.
    """
    parameters = rng.standard_normal(len(PARAMETERS))
    configs = rng.standard_normal((setting.n_arms, 4))
    return State(parameters, np.empty((0, 0)), configs, int(rng.integers(2**31)))


def _propose(
    setting: Setting, state: State, of_accuracy: bool, rng: np.random.Generator
) -> State:
    of_parameters, columns = OF_ACCURACY if of_accuracy else OF_BODY
    if rng.random() < 0.25:
        return walk_part(state, "parameters", rng.choice(of_parameters, size=1), rng)
    moved = (
        np.arange(setting.n_arms) if rng.random() < 0.2 else some_configs(setting, rng)
    )
    return walk_part(state, "configs", np.ix_(moved, columns), rng)


@lru_cache
def _scores(source: str) -> Floats:
    """Return the normal scores (K, 3) of the means of a measured table.

    The columns are accuracy, latency and tokens.
    """
    from cobandit.tables import load

    table = load(source)
    means = np.column_stack(
        [table.raw_means[["correct", "seconds"]], table.summary("all")["cost"]]
    )
    ranks = rankdata(means, axis=0)
    return ndtri((ranks - 0.5) / len(ranks))


@lru_cache(maxsize=64)
def _noise(
    seed: int, n_arms: int
) -> tuple[Floats, Floats, Floats, NDArray[np.int16], NDArray[np.int16]]:
    """Draw the random values of a state.

    These are the normal scores of means (K, 3), of tokens and of latencies (K, 1000),
    and the result of `rank_and_count`.
    """
    rng = np.random.default_rng(seed)
    source = _scores(SOURCES[int(rng.integers(2))])
    scores = source[rng.integers(len(source), size=n_arms)]
    tokens, seconds = rng.standard_normal((2, n_arms, N_INSTANCES))
    discrimination = np.exp(0.3 * rng.standard_normal(n_arms))
    answers = discrimination[:, None] * rng.standard_normal(N_INSTANCES)
    ranked = rank_and_count(answers + rng.logistic(size=(n_arms, N_INSTANCES)))
    return scores, tokens, seconds, *ranked


def _places(state: State, column: int, skew: float) -> Floats:
    """Return the position of each mean between the smallest and the largest mean.

    Positions (K,) are in [0, 1]. The column is 0 for accuracy, 1 for latency and 2 for
    tokens.
    """
    parameters = named(PARAMETERS, state.parameters)
    (scores, *_) = _noise(state.instances, len(state.configs))
    mixed = (
        np.sqrt(1 - parameters["noise"] ** 2) * scores[:, column]
        + parameters["noise"] * state.configs[:, column]
    )
    places = ndtr(mixed)
    return np.asarray(((places - places.min()) / np.ptp(places)) ** skew)


def _gamma(shape: float, scores: Floats) -> Floats:
    """Return gamma variables of mean 1, by the Wilson-Hilferty approximation."""
    return np.maximum(1 - 1 / (9 * shape) + scores / (3 * np.sqrt(shape)), 0.05) ** 3


def _body(setting: Setting, state: State, every: int) -> Body | None:
    parameters = named(PARAMETERS, state.parameters)
    _, of_tokens, of_seconds, rank, passes = _noise(state.instances, setting.n_arms)
    limit = np.array([arm[2] for arm in hierarchy.grid(setting)])

    # means are below their limits; only the larger limit allows the largest mean
    below = np.minimum(
        setting.tokens.high, np.where(limit > limit.min(), np.inf, limit.min() - 0.5)
    )
    places = _places(state, 2, parameters["skew_tokens"])
    tokens = setting.tokens.low + places * (below - setting.tokens.low)
    tokens += (setting.tokens.high - tokens.max()) * (tokens == tokens.max())
    ends = np.log(setting.latency)
    seconds = np.exp(
        ends[0] + _places(state, 1, parameters["skew_latency"]) * (ends[1] - ends[0])
    )
    means = Means(seconds, tokens, places, limit, state.configs[:, 3])
    if (tokens >= limit).any():
        return None

    shapes = _gamma(parameters["shape_tokens"], of_tokens[:, ::every])
    drawn, missed = body_of_shapes(setting, means, parameters, shapes)
    weight = (drawn / tokens[:, None]) ** parameters["power"] * _gamma(
        parameters["shape_seconds"], of_seconds[:, ::every]
    )
    latency = weight * (seconds / weight.mean(axis=1))[:, None]
    latency = np.maximum(np.rint(1000 * latency), 1) / 1000
    return Body(rank, passes, latency, drawn, missed, places)


def _correct_counts(setting: Setting, state: State, _: Floats) -> Floats:
    low = logit(setting.accuracy.low)
    high = logit(setting.accuracy.high)
    places = _places(state, 0, named(PARAMETERS, state.parameters)["skew_accuracy"])
    return np.rint(N_INSTANCES / (1 + np.exp(-low - (high - low) * places)))


OTHER = Kind(_draw, _propose, _body, _correct_counts)
