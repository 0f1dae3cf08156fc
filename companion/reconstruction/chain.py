"""Random tables that agree with printed facts, each from an annealed Markov chain.

The facts are the printed numbers that follow from a table's means. A chain starts from
a draw of the prior. Its moves preserve the prior (preconditioned Crank-Nicolson). The
energy E of a table is half the sum of its squared deviations from the facts
(`from_means`). A move to the energy E' is accepted with probability min(1, exp(-t (E' -
E))). The weight t rises to 1. No algorithm is replayed, so E has no noise. The seed of
a chain is the number of its table, and chains share no random numbers.
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

#: Number of draws from the prior. A chain starts at the draw closest to the facts.
STARTS = 40
#: Smallest and largest step of a move. The logarithm of a step is uniform.
STEPS = (0.02, 1.0)
#: Allowed relative deviation of uniform allocation's regrets from the printed regrets.
CLOSE = 0.03


class Stage(NamedTuple):
    """A part of a chain.

    ``of_accuracy`` is the share of the moves that change accuracies. Tokens and
    latencies are computed only for every ``every``-th instance. The weight of the facts
    rises geometrically from ``first_weight`` to 1, and remains 1 for the last fifth of
    the moves.
    """

    moves: int
    first_weight: float
    of_accuracy: float
    every: int


#: Stages of a chain. The second stage runs at most four times, and only while the table
#: is not ``kept``.
STAGES = (Stage(1_400, 1e-3, 0.45, 10), *4 * (Stage(500, 0.03, 0.85, 1),))


class Kind(NamedTuple):
    """Functions that define one kind of random tables for a Markov chain.

    Attributes
    ----------
    draw : callable
        ``draw(setting, rng)`` returns a state from the prior.
    propose : callable
        ``propose(setting, state, of_accuracy, rng)`` returns a state in which some
        variables have moved. If ``of_accuracy``, these are variables that affect only
        accuracies; otherwise, variables that affect tokens and latencies.
    body : callable
        ``body(setting, state, every)`` returns the values that do not depend on
        accuracies, or None if the truncated prior excludes the state.
    correct_counts : callable
        ``correct_counts(setting, state, verbosity)`` returns the number of correct
        answers per configuration.
    """

    draw: Callable[[Setting, np.random.Generator], Any]
    propose: Callable[[Setting, Any, bool, np.random.Generator], Any]
    body: Callable[[Setting, Any, int], Body | None]
    correct_counts: Callable[[Setting, Any, Floats], Floats]


class Table(NamedTuple):
    """A random table: its state, its values, and its deviations from printed facts."""

    state: Any
    land: Landscape
    deviations: Floats

    @property
    def energy(self) -> float:
        """Half the sum of squared deviations."""
        return 0.5 * float(self.deviations @ self.deviations)

    @property
    def kept(self) -> bool:
        """Whether the table agrees with the printed facts, so that it may be used.

        The facts U6 to U9 of ``book/protocol-first.md`` must hold exactly, and U10 and
        U11 within 3 %.
        """
        exact = self.deviations[2:6]
        regrets = self.deviations[6:8] * UNIFORM_NOISE[:2]
        return bool((exact == 0).all() and (np.abs(regrets) <= CLOSE).all())


def walk(values: Floats, rng: np.random.Generator) -> Floats:
    """Move normal variables by a random step of the preconditioned Crank-Nicolson walk.

    If the variables are standard normal, the moved variables are standard normal, too.
    """
    step = float(np.exp(rng.uniform(*np.log(STEPS))))
    return np.sqrt(1 - step**2) * values + step * rng.standard_normal(values.shape)


def walk_part(state: State, field: str, place: Any, rng: np.random.Generator) -> State:
    """Return a state in which some variables of one field have moved by `walk`."""
    values = getattr(state, field).copy()
    values[place] = walk(values[place], rng)
    return replace(state, **{field: values})


def some_configs(setting: Setting, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the indices of a few random configurations.

    With probability .6, all of them are among the 14 of `subset_of`, because the facts
    about these have the smallest tolerances.
    """
    candidates = subset_of(setting) if rng.random() < 0.6 else np.arange(setting.n_arms)
    return rng.choice(
        candidates, size=min(rng.geometric(0.3), len(candidates)), replace=False
    )


def propose(
    setting: Setting, state: State, of_accuracy: bool, rng: np.random.Generator
) -> State:
    """Return a state in which a random part of the variables has moved.

    The chain of tables from the protocol's prior uses this proposal.
    """
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
    """Draw a table from the prior, without a chain.

    The table agrees only with those printed facts that hold for all draws.
    """
    rng = np.random.default_rng((list(SETTINGS).index(name), number, 1))
    return _draw(SETTINGS[name], HIERARCHY, rng, every=1)


def _draw(setting: Setting, kind: Kind, rng: np.random.Generator, every: int) -> Table:
    while (table := _look(setting, kind, kind.draw(setting, rng), every)) is None:
        pass
    return table


def _look(
    setting: Setting, kind: Kind, state: Any, every: int, scene: Scene | None = None
) -> Table | None:
    """Return the table of a state, or None if the truncated prior excludes the state.

    ``scene`` is the `Scene` of another state that differs only in accuracies, if there
    is one.
    """
    if scene is None:
        values = kind.body(setting, state, every)
        if values is None:
            return None
        scene = Scene(setting, values)
    land = Landscape(scene, kind.correct_counts(setting, state, scene.body.verbosity))
    return Table(state, land, from_means(land))


def draw(name: str, number: int, kind: Kind = HIERARCHY) -> Table:
    """Draw a reconstruction of one of the paper's tables, with a Markov chain.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    number : int
        Number of the table, which is the seed of its chain.
    kind : Kind
        Kind of tables. Default: tables of the protocol's prior.

    Returns
    -------
    Table
        The last table of the chain. The protocol uses it only if it is ``kept``.
    """
    rng = np.random.default_rng((list(SETTINGS).index(name), number))
    setting = SETTINGS[name]

    starts = [_draw(setting, kind, rng, STAGES[0].every) for _ in range(STARTS)]
    current = min(starts, key=lambda table: table.energy)
    for stage in STAGES:
        # compute the table again, because the new stage may use other instances
        current = _look(setting, kind, current.state, stage.every) or current
        if current.kept and stage is STAGES[-1]:
            break
        for move in range(stage.moves):
            weight = min(1.0, stage.first_weight ** (1 - move / (0.8 * stage.moves)))
            of_accuracy = bool(rng.random() < stage.of_accuracy)
            state = kind.propose(setting, current.state, of_accuracy, rng)
            # comparing with an exponential variable is the same as accepting with
            # probability min(1, exp(-weight (E' - E)))
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
