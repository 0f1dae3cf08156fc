"""Independent tables: each is an annealed chain from the prior to the facts.

The facts are the printed numbers that follow from a table's means. A move preserves the
prior (preconditioned Crank-Nicolson) and is accepted with probability min(1, exp(-t (E'
- E))), where E is half the sum of squared deviations of `from_means` and the weight t
rises to 1. Nothing is replayed, so that there is no noise. A chain's seed is its
number: chains share nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from companion.reconstruction import hierarchy
from companion.reconstruction.facts import (
    UNIFORM_NOISE,
    Landscape,
    Scene,
    from_means,
    subset_of,
)
from companion.reconstruction.hierarchy import SETTINGS, Floats, Setting, State
from companion.reconstruction.instances import Body, body

#: Draws from the prior; the one closest to the facts starts a chain.
STARTS = 40
#: Smallest and largest step of a move; its logarithm is uniform.
STEPS = (0.02, 1.0)
#: Allowed relative deviation of uniform allocation's regrets from the printed ones.
CLOSE = 0.03


class Stage(NamedTuple):
    """A part of a chain: moves, first weight of the facts, share of accuracy moves.

    It uses tokens and latencies of every ``every``-th instance. The weight rises
    geometrically to 1 and remains there for the last fifth.
    """

    moves: int
    first_weight: float
    of_accuracy: float
    every: int


#: The later stages are repeated while an exact fact is missed.
STAGES = (Stage(1_400, 1e-3, 0.45, 10), *4 * (Stage(500, 0.03, 0.85, 1),))


class Kind(NamedTuple):
    """Functions of a kind of tables for a chain; their states may be of any type.

    Attributes
    ----------
    draw : callable
        ``draw(setting, rng)`` returns a state from the prior.
    propose : callable
        ``propose(setting, state, of_accuracy, rng)`` moves the variables that only
        accuracies depend on, or all others.
    body : callable
        ``body(setting, state, every)`` returns the values that do not depend on
        accuracies, or None where the prior is truncated.
    correct_counts : callable
        ``correct_counts(setting, state, verbosity)`` returns the number of correct
        answers per configuration.
    """

    draw: Callable[[Setting, np.random.Generator], Any]
    propose: Callable[[Setting, Any, bool, np.random.Generator], Any]
    body: Callable[[Setting, Any, int], Body | None]
    correct_counts: Callable[[Setting, Any, Floats], Floats]


class Table(NamedTuple):
    """A drawn table: its state, its landscape, and its deviations (`from_means`)."""

    state: Any
    land: Landscape
    deviations: Floats

    @property
    def energy(self) -> float:
        """Half the sum of squared deviations."""
        return 0.5 * float(self.deviations @ self.deviations)

    @property
    def kept(self) -> bool:
        """Whether U6 to U9 are met exactly, and U10 and U11 within 3 %."""
        exact = self.deviations[2:6]
        regrets = self.deviations[6:8] * UNIFORM_NOISE[:2]
        return bool((exact == 0).all() and (np.abs(regrets) <= CLOSE).all())


def walk(values: Floats, rng: np.random.Generator) -> Floats:
    """Move standard normal variables by a preconditioned Crank-Nicolson step.

    They remain standard normal.
    """
    step = float(np.exp(rng.uniform(*np.log(STEPS))))
    return np.sqrt(1 - step**2) * values + step * rng.standard_normal(values.shape)


def walk_part(state: State, field: str, place: Any, rng: np.random.Generator) -> State:
    """Move some variables of one field of a state."""
    values = getattr(state, field).copy()
    values[place] = walk(values[place], rng)
    return replace(state, **{field: values})


def some_configs(setting: Setting, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose a few configurations, mostly of the 14, whose facts are the finest."""
    candidates = subset_of(setting) if rng.random() < 0.6 else np.arange(setting.n_arms)
    return rng.choice(
        candidates, size=min(rng.geometric(0.3), len(candidates)), replace=False
    )


def propose(
    setting: Setting, state: State, of_accuracy: bool, rng: np.random.Generator
) -> State:
    """Move a part of a state of the protocol's prior."""
    of_parameters, of_models, of_configs = (
        hierarchy.OF_ACCURACY if of_accuracy else hierarchy.OF_BODY
    )
    part = rng.random()
    if part < 0.25:
        size = min(rng.geometric(0.4), len(of_parameters))
        return walk_part(
            state,
            "parameters",
            rng.choice(of_parameters, size=size, replace=False),
            rng,
        )
    if part < 0.45:
        moved = rng.choice(len(state.models), size=rng.integers(1, 3), replace=False)
        return walk_part(state, "models", np.ix_(moved, of_models), rng)

    if part < 0.6:
        # one effect of all configurations
        moved = np.arange(setting.n_arms)
        of_configs = rng.choice(of_configs, size=1)
    elif part < 0.7:
        # all configurations of a model
        moved = hierarchy.PER_MODEL * rng.integers(len(state.models)) + np.arange(
            hierarchy.PER_MODEL
        )
    else:
        moved = some_configs(setting, rng)

    return walk_part(state, "configs", np.ix_(moved, of_configs), rng)


HIERARCHY = Kind(hierarchy.draw_state, propose, body, hierarchy.correct_counts)


def draw_prior(name: str, number: int) -> Table:
    """Draw a table of the prior, which meets only the facts by construction."""
    rng = np.random.default_rng((list(SETTINGS).index(name), number, 1))
    return _draw(SETTINGS[name], HIERARCHY, rng, every=1)


def _draw(setting: Setting, kind: Kind, rng: np.random.Generator, every: int) -> Table:
    while (table := _look(setting, kind, kind.draw(setting, rng), every)) is None:
        pass
    return table


def _look(
    setting: Setting, kind: Kind, state: Any, every: int, scene: Scene | None = None
) -> Table | None:
    """Return the table of a state; with a scene, if only accuracies have changed."""
    if scene is None:
        values = kind.body(setting, state, every)
        if values is None:
            return None
        scene = Scene(setting, values)
    land = Landscape(scene, kind.correct_counts(setting, state, scene.body.verbosity))
    return Table(state, land, from_means(land))


def draw(name: str, number: int, kind: Kind = HIERARCHY) -> Table:
    """Run one chain to its end.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    number : int
        The seed.
    kind : Kind
        Kind of the tables.

    Returns
    -------
    Table
        A table of the protocol if it is ``kept``.
    """
    rng = np.random.default_rng((list(SETTINGS).index(name), number))
    setting = SETTINGS[name]

    starts = [_draw(setting, kind, rng, STAGES[0].every) for _ in range(STARTS)]
    current = min(starts, key=lambda table: table.energy)
    for stage in STAGES:
        # compute the table on the instances of the new stage
        current = _look(setting, kind, current.state, stage.every) or current
        if current.kept and stage is STAGES[-1]:
            break
        for move in range(stage.moves):
            weight = min(1.0, stage.first_weight ** (1 - move / (0.8 * stage.moves)))
            of_accuracy = bool(rng.random() < stage.of_accuracy)
            state = kind.propose(setting, current.state, of_accuracy, rng)
            bound = current.energy + rng.exponential() / weight
            proposed = _look(
                setting,
                kind,
                state,
                stage.every,
                current.land.scene if of_accuracy else None,
            )
            if proposed is not None and proposed.energy < bound:
                current = proposed

    return current
