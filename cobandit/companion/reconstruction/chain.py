"""Independent tables: each is one annealed chain from the prior towards what follows from a table's means.

A move leaves the prior as it is (preconditioned Crank-Nicolson) and is taken with probability
min(1, exp(-t (E' - E))), where E is half the sum of squared deviations of `from_means` and the weight t rises
to 1.  Nothing is replayed, so nothing is noise.  A chain's seed is its number: chains share nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.companion.reconstruction.facts import (
    FACTS,
    UNIFORM_NOISE,
    Landscape,
    Scene,
    from_means,
    landscape,
    scene,
    subset_of,
)
from cobandit.companion.reconstruction.hierarchy import (
    CONFIG_EFFECTS,
    MODEL_EFFECTS,
    OF_ACCURACY,
    PARAMETERS,
    PER_MODEL,
    SETTINGS,
    State,
    draw_state,
)

Floats = NDArray[np.float64]

STARTS = 40
"""Draws from the prior, of which the nearest starts a chain."""
STEPS = (0.02, 1.0)
"""Smallest and largest step of a move, drawn uniformly in the logarithm."""
EXACT = ("front", "same-best", "subset-front", "subset-gap")
CLOSE = 0.03
"""By how much the regrets of uniform allocation may miss the printed ones."""


class Stage(NamedTuple):
    """A part of a chain: moves, weight of the facts in the first, share of moves of accuracies alone.

    It looks at tokens and latencies of every so-many-th instance.  The weight rises geometrically to 1, where
    it stays for the last fifth.
    """

    moves: int
    first_weight: float
    of_accuracy: float
    every: int


STAGES = (Stage(1_400, 1e-3, 0.45, 10), *4 * (Stage(500, 0.03, 0.85, 1),))
"""The last ones are walked while an exact fact is missed."""
OF_BODY = tuple(
    [i for i in range(size) if i not in chosen]
    for size, chosen in zip(
        (len(PARAMETERS), len(MODEL_EFFECTS), len(CONFIG_EFFECTS)), OF_ACCURACY, strict=True
    )
)


class Kind(NamedTuple):
    """What a chain needs of a kind of tables, whose states may be anything.

    Attributes
    ----------
    draw : callable
        ``draw(name, rng)``, a state from the prior.
    propose : callable
        ``propose(name, state, of_accuracy, rng)``, a move of what only accuracies depend on, or of all else.
    scene : callable
        ``scene(name, state, every)``, what does not depend on accuracies; None where the prior is cut off.
    landscape : callable
        ``landscape(state, scene)``, the rest of a table.
    """

    draw: Callable[[str, np.random.Generator], Any]
    propose: Callable[[str, Any, bool, np.random.Generator], Any]
    scene: Callable[[str, Any, int], Scene | None]
    landscape: Callable[[Any, Scene], Landscape]


class Table(NamedTuple):
    """A table as drawn: its state, the rest, and its deviations (`from_means`)."""

    state: Any
    land: Landscape
    deviations: Floats

    @property
    def energy(self) -> float:
        """Half the sum of squared deviations."""
        return 0.5 * float(self.deviations @ self.deviations)

    @property
    def kept(self) -> bool:
        """Whether U6 to U9 are met exactly, U10 and U11 within 3 %."""
        exact = self.deviations[: len(FACTS)][[FACTS.index(fact) for fact in EXACT]]
        regrets = self.deviations[len(FACTS) : len(FACTS) + 2] * UNIFORM_NOISE[:2]
        return bool((exact == 0).all() and (np.abs(regrets) <= CLOSE).all())


def walk(values: Floats, rng: np.random.Generator) -> Floats:
    """Move standard normal variables such that they stay so: preconditioned Crank-Nicolson."""
    step = float(np.exp(rng.uniform(*np.log(STEPS))))
    return np.sqrt(1 - step**2) * values + step * rng.standard_normal(values.shape)


def some_configs(name: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose a few configurations, mostly of the 14, whose facts are the finest."""
    setting = SETTINGS[name]
    among = subset_of(setting) if rng.random() < 0.6 else np.arange(setting.n_arms)
    return rng.choice(among, size=min(rng.geometric(0.3), len(among)), replace=False)


def propose(name: str, state: State, of_accuracy: bool, rng: np.random.Generator) -> State:
    """Move a part of a state of the protocol's prior."""
    of_parameters, of_models, of_configs = OF_ACCURACY if of_accuracy else OF_BODY
    models, configs = state.models.copy(), state.configs.copy()
    part = rng.random()
    if part < 0.25:
        size = min(rng.geometric(0.4), len(of_parameters))
        chosen = rng.choice(of_parameters, size=size, replace=False)
        parameters = state.parameters.copy()
        parameters[chosen] = walk(parameters[chosen], rng)
        return replace(state, parameters=parameters)
    if part < 0.45:
        moved = rng.choice(len(models), size=rng.integers(1, 3), replace=False)
        place = np.ix_(moved, np.array(of_models))
        models[place] = walk(models[place], rng)
        return replace(state, models=models)
    if part < 0.6:
        place = np.ix_(np.arange(len(configs)), rng.choice(of_configs, size=1))
    elif part < 0.7:
        of_model = PER_MODEL * rng.integers(len(models)) + np.arange(PER_MODEL)
        place = np.ix_(of_model, np.array(of_configs))
    else:
        place = np.ix_(some_configs(name, rng), np.array(of_configs))
    configs[place] = walk(configs[place], rng)
    return replace(state, configs=configs)


HIERARCHY = Kind(lambda name, rng: draw_state(SETTINGS[name], rng), propose, scene, landscape)


def draw_prior(name: str, number: int) -> Table:
    """Draw a table of the prior, with no fact but those by construction."""
    rng = np.random.default_rng((list(SETTINGS).index(name), number, 1))
    return _look(name, HIERARCHY, *_draw(name, HIERARCHY, rng, every=1))


def _draw(name: str, kind: Kind, rng: np.random.Generator, every: int) -> tuple[Any, Scene]:
    while (on := kind.scene(name, state := kind.draw(name, rng), every)) is None:
        pass
    return state, on


def _look(name: str, kind: Kind, state: Any, on: Scene) -> Table:
    land = kind.landscape(state, on)
    return Table(state, land, from_means(name, land))


def draw(name: str, number: int, kind: Kind = HIERARCHY) -> Table:
    """Walk one chain to its end.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    number : int
        The seed.
    kind : Kind
        Of the tables.

    Returns
    -------
    Table
        It is one of the protocol's if it is ``kept``.
    """
    rng = np.random.default_rng((list(SETTINGS).index(name), number))
    every = STAGES[0].every
    starts = [_look(name, kind, *_draw(name, kind, rng, every)) for _ in range(STARTS)]
    now = min(starts, key=lambda table: table.energy)
    for stage in STAGES:
        on = kind.scene(name, now.state, stage.every)
        assert on is not None  # it was seen on fewer instances, which cut nothing off
        now = _look(name, kind, now.state, on)
        if now.kept and stage is STAGES[-1]:
            break
        for move in range(stage.moves):
            weight = min(1.0, stage.first_weight ** (1 - move / (0.8 * stage.moves)))
            of_accuracy = bool(rng.random() < stage.of_accuracy)
            state = kind.propose(name, now.state, of_accuracy, rng)
            bound = now.energy + rng.exponential() / weight
            there = now.land.scene if of_accuracy else kind.scene(name, state, stage.every)
            if there is not None and (new := _look(name, kind, state, there)).energy < bound:
                now = new
    return now
