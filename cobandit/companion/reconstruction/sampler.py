"""Tempered sequential Monte Carlo over states, as ``book/protocol.md`` says.

The target at a temperature t is the prior times likelihood^t; t rises so far that the effective sample size
halves.  A table and its proposals are replayed on one seed, so that what differs is the tables and not the
luck, and every few moves all take a new one, so that none is held by its seed (a noisy version of the target,
on which the final inference does not rely).  Proposals leave the prior as it is; those that means refuse are
not replayed (delayed acceptance: Christen and Fox, 2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp

from cobandit.companion.reconstruction.facts import (
    Landscape,
    Scene,
    accuracy_cost,
    from_means,
    identified,
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
    State,
    draw_state,
)
from cobandit.companion.reconstruction.settings import SETTINGS
from cobandit.files import replace_file

Floats = NDArray[np.float64]
HOT = (64, 3)
COLD = (3, 300)
"""Tables of a run, and the moves of each at a level, below and above the temperature COLD_FROM."""
COLD_FROM = 0.004
LAST, RISE = 0.2, 1.6
"""Temperature at which a run ends, since the final inference corrects for it, and the most by which it rises
from a level to the next once tables are few."""
MORE = 3
"""Further rounds of moves at that temperature; the tables after each belong to the pool."""
FEWEST, PER_TEMPERATURE = 12, 250
"""Replays of Accuracy-Cost-UCB: so many times the temperature, since that is how their noise counts."""
DIGITS = 3
SEED = 2


@dataclass
class Particle:
    """A state, the log-likelihoods of its parts (means, identification, online), and what is behind them."""

    state: State
    root: int
    scene: Scene
    parts: list[float]
    deviations: list[Floats]

    @property
    def likelihood(self) -> float:
        """Of all parts."""
        return sum(self.parts)


def _walk(values: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Preconditioned Crank-Nicolson: leaves the standard normal distribution as it is."""
    fresh = rng.standard_normal(values.shape)
    return np.round(np.sqrt(1 - share**2) * values + share * fresh, DIGITS)


EFFECTS = ("parameters", "models", "configs")


def rounded(state: State) -> State:
    """Round the variables of a state, as they are stored."""
    return replace(state, **{effect: np.round(getattr(state, effect), DIGITS) for effect in EFFECTS})


def thousandths(values: Floats) -> NDArray[np.int16]:
    """Variables as they are stored."""
    return np.rint(values * 10**DIGITS).astype(np.int16)


def from_thousandths(values: NDArray[np.int16]) -> Floats:
    """Inverse of `thousandths`."""
    return values / 10**DIGITS


MOVES = {
    "accuracy parameters": 0.16,
    "accuracy models": 0.14,
    "accuracy configs": 0.28,
    "accuracy everywhere": 0.08,
    "body parameters": 0.1,
    "body models": 0.07,
    "body configs": 0.07,
    "body everywhere": 0.04,
    "swap": 0.03,
    "instances": 0.03,
}
"""Kinds of proposals, and how often each is made."""
ADAPT = 10
OF_BODY = (
    [i for i in range(len(PARAMETERS)) if i not in OF_ACCURACY[0]],
    [i for i in range(len(MODEL_EFFECTS)) if i not in OF_ACCURACY[1]],
    [i for i in range(len(CONFIG_EFFECTS)) if i not in OF_ACCURACY[2]],
)


def propose(name: str, state: State, move: str, share: float, rng: np.random.Generator) -> State:
    """Move a part of a state: of what only accuracies depend on, or of what all depends on."""
    n_models, kind = len(state.models), move.partition(" ")[0]
    if move == "instances":
        return replace(state, instances=int(rng.integers(2**31)))
    models, configs = state.models.copy(), state.configs.copy()
    if move == "swap":
        one, other = rng.choice(n_models, size=2, replace=False)
        mine, theirs = (PER_MODEL * m + np.arange(PER_MODEL) for m in (one, other))
        models[[one, other]] = models[[other, one]]
        configs[np.concatenate([mine, theirs])] = configs[np.concatenate([theirs, mine])]
        return replace(state, models=models, configs=configs)
    of_parameters, of_models, of_configs = OF_ACCURACY if kind == "accuracy" else OF_BODY
    if move.endswith("parameters"):
        size = min(rng.geometric(0.4), len(of_parameters))
        parameters, chosen = state.parameters.copy(), rng.choice(of_parameters, size=size, replace=False)
        parameters[chosen] = _walk(parameters[chosen], share, rng)
        return replace(state, parameters=parameters)
    if move.endswith("models"):
        place = np.ix_(rng.choice(n_models, size=rng.integers(1, 3), replace=False), np.array(of_models))
        models[place] = _walk(models[place], share, rng)
        return replace(state, models=models)
    if move.endswith("everywhere"):
        place = np.ix_(np.arange(len(configs)), rng.choice(of_configs, size=1))
    elif rng.random() < 0.25:
        place = np.ix_(PER_MODEL * rng.integers(n_models) + np.arange(PER_MODEL), np.array(of_configs))
    else:
        pool = subset_of(SETTINGS[name]) if rng.random() < 0.4 else np.arange(len(configs))
        chosen = rng.choice(pool, size=min(rng.geometric(0.3), len(pool)), replace=False)
        place = np.ix_(chosen, np.array(of_configs))
    configs[place] = _walk(configs[place], share, rng)
    return replace(state, configs=configs)


class Run:
    """One independent run of the sampler; `levels` walks it."""

    def __init__(self, name: str, number: int):
        self.name, self.rng = name, np.random.default_rng((SEED, list(SETTINGS).index(name), number))
        self.temperature, self.seed = 0.0, int(self.rng.integers(2**31))
        self.shares = dict.fromkeys(MOVES, 0.5)
        self.evaluations = 0
        self.particles = [self._start(root) for root in range(HOT[0])]

    def _start(self, root: int) -> Particle:
        while (found := self._try(rounded(draw_state(SETTINGS[self.name], self.rng)), root)) is None:
            pass
        return found

    def _try(
        self, state: State, root: int, old: Particle | None = None, on: Scene | None = None
    ) -> Particle | None:
        """Compute a state, part by part; None as soon as a part is refused in the place of the old one."""
        self.evaluations += 1
        on = on or scene(self.name, state)
        if on is None:
            return None
        land = landscape(state, on)
        new = Particle(state, root, on, [], [])
        for part in range(3):
            deviations, value = self._part(land, part)
            if not np.isfinite(value):
                return None
            if old and np.log(self.rng.random()) >= self.temperature * (value - old.parts[part]):
                return None
            new.parts.append(value)
            new.deviations.append(deviations)
        return new

    def _part(self, land: Landscape, part: int) -> tuple[Floats, float]:
        if part == 0:
            deviations = from_means(self.name, land)
            return deviations, -0.5 * float(deviations @ deviations)
        if part == 1:
            return identified(self.name, land, self.seed)
        replays = max(FEWEST, round(PER_TEMPERATURE * self.temperature))
        return accuracy_cost(self.name, land, self.seed, replays)

    def _next(self, values: Floats, now: float) -> float:
        """Next temperature: where the effective sample size is half, if that is not too far."""

        def size(power: float) -> float:
            weights = (power - now) * values
            return float(np.exp(2 * logsumexp(weights) - logsumexp(2 * weights))) - len(values) / 2

        top = min(LAST, RISE * now) if now > COLD_FROM else LAST
        return top if size(top) >= 0 else float(brentq(size, now, top, xtol=1e-12))

    @staticmethod
    def _copy(p: Particle) -> Particle:
        return Particle(p.state, p.root, p.scene, list(p.parts), list(p.deviations))

    def _resample(self, values: Floats, step: float, size: int) -> None:
        weights = np.exp(step * values - logsumexp(step * values))
        places = (self.rng.random() + np.arange(size)) / size  # systematic
        chosen = np.minimum(np.searchsorted(np.cumsum(weights), places), len(values) - 1)
        self.particles = [self._copy(self.particles[i]) for i in chosen]

    def _move(self, sweeps: int) -> None:
        """Move every table so often; sizes of steps follow from what was accepted every few sweeps."""
        accepted = 0
        for start in range(0, sweeps, ADAPT):
            self._renew()
            tried, taken = dict.fromkeys(MOVES, 0), dict.fromkeys(MOVES, 0)
            for _ in range(min(ADAPT, sweeps - start)):
                for i in range(len(self.particles)):
                    move = str(self.rng.choice(list(MOVES), p=list(MOVES.values())))
                    tried[move] += 1
                    taken[move] += self._step(i, move)
            for move, share in self.shares.items():
                if tried[move]:
                    changed = share * float(np.exp(1.5 * (taken[move] / tried[move] - 0.25)))
                    self.shares[move] = min(max(changed, 0.01), 1.0)
            accepted += sum(taken.values())
        self.acceptance = accepted / (sweeps * len(self.particles))

    def _renew(self) -> None:
        """Take a new seed, and replay all tables on it: one that was lucky would hold a table for long."""
        self.seed = int(self.rng.integers(2**31))
        for p in self.particles:
            land = landscape(p.state, p.scene)
            for part in (1, 2):
                p.deviations[part], p.parts[part] = self._part(land, part)

    def _step(self, i: int, move: str) -> bool:
        old = self.particles[i]
        share = min(1.0, self.shares[move] * self.rng.choice((0.3, 1.0, 2.0)))
        state = propose(self.name, old.state, move, share, self.rng)
        new = self._try(state, old.root, old, old.scene if move.startswith("accuracy") else None)
        if new is None:
            return False
        self.particles[i] = new
        return True

    def levels(self) -> Iterator[float]:
        """Walk to the last temperature; yields that of each level when its tables have been moved."""
        while self.temperature < LAST:
            values = np.array([p.likelihood for p in self.particles])
            before, self.temperature = self.temperature, self._next(values, self.temperature)
            size, sweeps = COLD if self.temperature > COLD_FROM else HOT
            self._resample(values, self.temperature - before, size)
            self._move(sweeps)
            yield self.temperature
        for _ in range(MORE):
            self._move(COLD[1])
            yield self.temperature


def run(name: str, number: int, path: Path) -> None:
    """Walk one run and store its tables at the last temperature, unless that has been done.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    number : int
        It names the random numbers.
    path : Path
        Of the ``npz`` file: a row per table, ``level``, ``parameters``, ``models`` and ``configs`` in
        thousandths, ``instances``, ``likelihood`` (of its three parts) and ``deviations``.
    """
    if path.is_file():
        return
    rows: dict[str, list[Any]] = {}
    walk = Run(name, number)
    for level, temperature in enumerate(walk.levels()):
        values = [p.likelihood for p in walk.particles]
        print(
            f"{name} {number}: level {level}, temperature {temperature:.2e}, "
            f"log-likelihood {np.median(values):.1f}, "
            f"accepted {walk.acceptance:.2f}, evaluations {walk.evaluations}",
            flush=True,
        )
        for p in walk.particles if temperature >= LAST else ():
            of: dict[str, Any] = {effect: thousandths(getattr(p.state, effect)) for effect in EFFECTS}
            of |= {"instances": p.state.instances, "level": level}
            of |= {"likelihood": p.parts, "deviations": np.concatenate(p.deviations)}
            for key, value in of.items():
                rows.setdefault(key, []).append(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    columns: Any = {key: np.array(value) for key, value in rows.items()}
    with replace_file(path) as partial:
        np.savez_compressed(partial, **columns)
