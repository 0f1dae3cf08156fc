"""The pool: all tables that the sampler's runs end with, and what the paper would print about each.

Command: ``python -m cobandit.companion.reconstruction.pool`` walks the runs of the sampler, some minutes
each, and writes their tables (``data/posterior.parquet``) and the bundled ones.  It can be interrupted, and
goes on with the runs that are not finished.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from cobandit.companion.paper.numbers import published
from cobandit.companion.paper.predictive import played_key
from cobandit.companion.reconstruction import posterior, sampler
from cobandit.companion.reconstruction.experiment import DEFAULT, play
from cobandit.companion.reconstruction.facts import (
    FACTS,
    PAPER_ONLINE,
    accuracy_cost,
    from_means,
    identified,
    landscape,
    scene,
)
from cobandit.companion.reconstruction.hierarchy import State
from cobandit.companion.reconstruction.inference import Pool, transformed
from cobandit.companion.reconstruction.settings import SETTINGS
from cobandit.companion.reconstruction.tables import write
from cobandit.tables.catalogue import data_directory

RUNS = 10
FOLDER = Path("_build/posterior")
EXACT = [2, 3, 4]
"""Of `FACTS` those that the bundled table meets exactly."""
RUN_BY_FIT = ("UniformAllocation", "AccuracyCostUCB", "UniformIdentification")
PLAY_SEED = 10**6
"""Seeds of the plays start here: no evaluation of the likelihood, none of the replays of a page uses them."""


def played(name: str, number: int) -> pd.DataFrame:
    """Play the paper's experiments on a table of the posterior.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    number : int
        Of the table, from 0.

    Returns
    -------
    DataFrame
        One row per value: ``dataset``, ``number`` and ``run`` of the table; ``reading``, ``key`` and
        ``value`` as in `play`.
    """
    state, run, seed = posterior.tables_of(name)[number]
    rows = [
        (reading, key, value)
        for reading, values in play(name, state, seed).items()
        for key, value in values.items()
    ]
    return pd.DataFrame(rows, columns=["reading", "key", "value"]).assign(
        dataset=name, number=number, run=run
    )


def _read_run(path: Path) -> tuple[list[State], np.ndarray]:
    """States of a run from the file that `sampler.run` wrote, and the deviations that they had."""
    with np.load(path) as rows:
        effects = [sampler.from_thousandths(rows[effect]) for effect in sampler.EFFECTS]
        states = [State(p, m, c, int(i)) for p, m, c, i in zip(*effects, rows["instances"], strict=True)]
        return states, rows["deviations"]


def collect(name: str, folder: Path) -> list[posterior.Stored]:
    """Read the tables of all runs, and put that in front which is bundled.

    It is the one whose used facts, replayed on a fresh seed, are nearest to the printed ones, among those
    that meet the exact facts.  No prediction is looked at.
    """
    found: list[tuple[float, posterior.Stored]] = []
    for run in range(1, RUNS + 1):
        states, deviations = _read_run(folder / f"{name}-{run}.npz")
        seed = PLAY_SEED * (1 + list(SETTINGS).index(name)) + 1000 * run
        for i, state in enumerate(states):
            exact = bool((deviations[i, EXACT] == 0).all())
            distance = _distance(name, state, seed + 500 + i) if exact else np.inf
            found.append((distance, posterior.Stored(state, run, seed + i)))
    nearest = min(range(len(found)), key=lambda i: found[i][0])
    return [table for _, table in [found[nearest], *found[:nearest], *found[nearest + 1 :]]]


def _distance(name: str, state: State, seed: int) -> float:
    """Half the sum of squared deviations of a table, with the paper's replay counts."""
    on = scene(name, state)
    assert on is not None
    land = landscape(state, on)
    means = from_means(name, land)
    parts = identified(name, land, seed)[0], accuracy_cost(name, land, seed, PAPER_ONLINE)[0]
    return 0.5 * sum(float(x @ x) for x in (means, *parts))


def printed(name: str) -> dict[str, float]:
    """What the paper prints, by the keys of `play`: middles of what it prints twice, zero for deviations."""
    found: dict[str, list[float]] = {}
    for number in published():
        if number.operation is None and number.dataset == name:
            key = played_key(number)
            found.setdefault(key, []).append(number.value)
    return {key: (min(v) + max(v)) / 2 for key, v in found.items()} | {f"fact-{fact}": 0.0 for fact in FACTS}


def pool(name: str, plays: pd.DataFrame, reading: str = DEFAULT) -> tuple[Pool, pd.Series, pd.Series]:
    """Bring the plays of a data set, and what the paper prints, on the scale of the regression.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    plays : DataFrame
        Rows as `played` gives them, of any data sets.
    reading : str
        How the experiments were run and judged; what it does not change is as by default.

    Returns
    -------
    tables : Pool
    used, predicted : Series
        What the paper prints, transformed; NaN where it prints nothing.
    """
    own, known = plays[plays["dataset"] == name], printed(name)
    own = own[own["reading"].isin([DEFAULT, reading])]
    own = own.assign(first=own["reading"] == DEFAULT).sort_values("first", kind="stable")
    own = own.drop_duplicates(["number", "key"])
    wide = own.pivot_table(index=["number", "run"], columns="key", values="value")
    keys = [str(key) for key in own["key"].unique()]
    keys = [key for key in keys if key in wide and wide[key].notna().all()]
    values = pd.DataFrame({key: transformed(key, wide[key].to_numpy()) for key in keys})
    paper = pd.Series({key: transformed(key, np.array([known.get(key, np.nan)]))[0] for key in keys})
    is_used = [key for key in keys if key.startswith("fact-") or any(m in key for m in RUN_BY_FIT)]
    is_used = [key for key in is_used if key in known]
    rest = [key for key in keys if key not in is_used]
    return (
        Pool(values[is_used], values[rest], wide.index.get_level_values("run").to_numpy()),
        paper[is_used],
        paper[rest],
    )


def make(folder: Path = FOLDER) -> None:
    """Walk all runs on all cores, and write the posterior and the bundled tables."""
    tasks = [(name, run) for run in range(1, RUNS + 1) for name in SETTINGS]
    walk = delayed(sampler.run)
    Parallel(n_jobs=-1)(walk(name, run, folder / f"{name}-{run}.npz") for name, run in tasks)
    tables = {name: collect(name, folder) for name in SETTINGS}
    posterior.write_states(data_directory(), tables)
    for name, stored in tables.items():
        write(name, data_directory(), stored[0].state)


if __name__ == "__main__":
    make()
