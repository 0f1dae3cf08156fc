"""The fit: simulated annealing over the parameters and the random effects.

The first member of an ensemble starts from random parameters; each further one starts from the first, with
other instances, is warmed and cooled again.  All moves leave the distribution of the parameters and effects
before the fit unchanged, so that what is found is a draw from the generator that meets the targets; members
are related to the first as states of a Markov chain are.  A member is finished once its loss is near
zero and its table passes every check of `targets` with full replays.  All random numbers follow from the name
and the member's number.  A member takes minutes on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.companion.reconstruction.generator import (
    CONFIG_EFFECTS,
    MODEL_EFFECTS,
    PER_MODEL,
    RANGES,
    Parameters,
)
from cobandit.companion.reconstruction.loss import loss, subset_of
from cobandit.companion.reconstruction.settings import SETTINGS, Setting
from cobandit.companion.reconstruction.tables import setting
from cobandit.companion.reconstruction.targets import check_parameters


class Schedule(NamedTuple):
    """Steps of an annealing, and its temperature, in units of the loss, at the first and the last of them."""

    steps: int
    hot: float
    cold: float


STARTS = 500
"""The first member starts from the best of some random parameters."""
SUBSET_FIRST = Schedule(3_000, 2.0, 0.05)
COOL, WARM = Schedule(4_000, 1.0, 0.01), Schedule(2_000, 0.7, 0.002)
"""How the first member cools, and how a further one, or an unfinished one, is warmed and cools again."""
PROMISING, ATTEMPTS = 4.0, 8
"""A state with a smaller loss is warmed and cooled again, so often; after that the fit starts again."""
CLOSE = 0.02
"""Loss at which a table is held against its targets; penalties begin a little before a target is missed."""
SEED = 1
LEAST = 0.5
"""Share of a schedule that is walked in any case, so that a member moves away from where it started."""
DIGITS = 3
"""Decimals of everything that is stored."""


def random_parameters(setting: Setting, instances: int, rng: np.random.Generator) -> Parameters:
    """Draw parameters uniformly from their ranges, and effects from the standard normal distribution."""
    return Parameters(
        **{name: round(rng.uniform(*ends), DIGITS) for name, ends in RANGES.items()},
        instances=instances,
        models=rng.standard_normal((len(setting.models), len(MODEL_EFFECTS))).round(DIGITS),
        configs=rng.standard_normal((setting.n_arms, len(CONFIG_EFFECTS))).round(DIGITS),
    )


def _parameters_moved(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    size, changed = 10 ** rng.uniform(-3, -0.5), {}
    for name in rng.choice(list(RANGES), size=rng.integers(1, 4), replace=False):
        low, high = RANGES[name]
        value = getattr(parameters, name) + size * (high - low) * rng.standard_normal()
        value = high - abs(high - low - (value - low) % (2 * (high - low)))  # reflected at the ends
        changed[str(name)] = round(value, DIGITS)
    return replace(parameters, **changed)


def _effects_moved(
    effects: NDArray[np.float64], chosen: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    share = 10 ** rng.uniform(-2.5, 0)
    fresh, moved = rng.standard_normal(effects[chosen].shape), effects.copy()
    moved[chosen] = np.round(np.sqrt(1 - share**2) * effects[chosen] + share * fresh, DIGITS)
    return moved


def proposal(parameters: Parameters, subset: NDArray[np.int64], rng: np.random.Generator) -> Parameters:
    """Change some parameters, or the effects of some configurations or of one model, or swap two models.

    Each move leaves the distribution of `random_parameters` as it is.  Configurations of the ``subset``,
    about which the paper says most, are moved more often.
    """
    p, move = parameters, rng.random()
    if move < 0.3:
        return _parameters_moved(p, rng)
    if move < 0.7:
        pool = subset if rng.random() < 0.5 else np.arange(len(p.configs))
        chosen = rng.choice(pool, size=min(rng.geometric(0.4), len(pool)), replace=False)
        return replace(p, configs=_effects_moved(p.configs, chosen, rng))
    one, other = rng.choice(len(p.models), size=2, replace=False)
    if move < 0.85:
        return replace(p, models=_effects_moved(p.models, np.array([one]), rng))
    mine, theirs = (PER_MODEL * m + np.arange(PER_MODEL) for m in (one, other))
    if move < 0.92:
        return replace(p, configs=_effects_moved(p.configs, mine, rng))
    models, configs = p.models.copy(), p.configs.copy()
    models[[one, other]] = models[[other, one]]
    configs[np.concatenate([mine, theirs])] = configs[np.concatenate([theirs, mine])]
    return replace(p, models=models, configs=configs)


def accept(name: str, parameters: Parameters) -> bool:
    """Say whether the table of some parameters meets every target."""
    return all(target.met for target in check_parameters(name, parameters))


class Annealing:
    """One run of the fit; its state is ``parameters``, their loss ``value``, and the random generator."""

    def __init__(
        self,
        name: str,
        member: int,
        first: Parameters | None,
        accept: Callable[[str, Parameters], bool],
    ):
        self.name, self.published, self.first, self.accept = name, setting(name), first, accept
        self.subset = subset_of(self.published)
        self.rng = np.random.default_rng((SEED, list(SETTINGS).index(name), member))
        self.parameters, self.value = self._candidate(0), inf

    def _candidate(self, instances: int) -> Parameters:
        if self.first is not None:
            return replace(self.first, instances=instances)
        return random_parameters(self.published, instances, self.rng)

    def start(self) -> None:
        """Take the first member with other instances, or the best of some random parameters."""
        self.value, instances = inf, int(self.rng.integers(2**31))
        for _ in range(1 if self.first is not None else STARTS):
            candidate = self._candidate(instances)
            found = loss(self.published, candidate, self.subset, self.value, whole=False)
            if found < self.value:
                self.parameters, self.value = candidate, found
        if self.first is None:
            self.anneal(SUBSET_FIRST, whole=False)
        self.value = loss(self.published, self.parameters, self.subset)

    def anneal(self, schedule: Schedule, whole: bool = True) -> bool:
        """Take the steps of a schedule, no further than to a loss near zero; True if that is accepted.

        Without ``whole`` only the 14 configurations matter, about which most is known: their rare
        constellation is sought first.
        """
        steps, hot, cold = schedule
        for step in range(steps):
            limit = self.value + hot * (cold / hot) ** (step / steps) * self.rng.exponential()
            candidate = proposal(self.parameters, self.subset, self.rng)
            found = loss(self.published, candidate, self.subset, limit, whole)
            if found <= limit:
                self.parameters, self.value = candidate, found
                if found <= CLOSE and step > steps * LEAST:
                    return whole and self.accept(self.name, candidate)
        return False

    def run(self) -> Parameters:
        """Fit until parameters are accepted."""
        while True:
            self.start()
            if self.anneal(COOL if self.first is None else WARM):
                return self.parameters
            for _ in range(ATTEMPTS):
                if self.value < PROMISING and self.anneal(WARM):
                    return self.parameters


def fit(
    name: str,
    member: int,
    first: Parameters | None = None,
    accept: Callable[[str, Parameters], bool] = accept,
) -> Parameters:
    """Find parameters whose table meets every target.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    member : int
        Number in the ensemble; it names the random numbers: same number and start, same result.
    first : Parameters, optional
        Those of member 0, from which the fit starts with other instances; without them it starts from random
        ones.
    accept : callable
        The full check of parameters whose loss is near zero.

    Returns
    -------
    parameters : Parameters
        Rounded to three decimals.
    """
    return Annealing(name, member, first, accept).run()
