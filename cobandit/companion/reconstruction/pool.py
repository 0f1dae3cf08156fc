"""The pool: all tables of the sampler's last temperature, and what the paper would print about each.

Command: ``python -m cobandit.companion.reconstruction.pool FOLDER NAME NUMBER...`` walks runs of the sampler
and plays their tables.  It can be interrupted, and goes on with the first run that is not finished.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from cobandit.companion.paper.numbers import published
from cobandit.companion.paper.predictive import played_key
from cobandit.companion.reconstruction import sampler
from cobandit.companion.reconstruction.experiment import play
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

EXACT = [2, 3, 4]
"""Of `FACTS` those that a stored table meets exactly."""
RUN_BY_FIT = ("UniformAllocation", "AccuracyCostUCB", "UniformIdentification")
PLAY_SEED = 10**6
"""Seeds of the plays start here: no evaluation of the likelihood, none of the replays of a page uses them."""


def states(path: Path) -> list[State]:
    """Read the states of a run from the file that `sampler.run` wrote."""
    with np.load(path) as rows:
        effects = [sampler.from_thousandths(rows[effect]) for effect in sampler.EFFECTS]
        return [State(p, m, c, int(i)) for p, m, c, i in zip(*effects, rows["instances"], strict=True)]


def play_run(name: str, number: int, folder: Path) -> pd.DataFrame:
    """Play the tables of a run, or read what was played: ``run``, ``table``, ``seed``, and `play`."""
    path = folder / f"{name}-{number}.parquet"
    if path.is_file():
        return pd.read_parquet(path)
    sampler.run(name, number, folder / f"{name}-{number}.npz")
    rows = []
    first = PLAY_SEED * (1 + list(SETTINGS).index(name)) + 1000 * number
    for i, state in enumerate(states(folder / f"{name}-{number}.npz")):
        rows.append({"run": number, "table": i, "seed": first + i, **play(name, state, first + i)})
    frame = pd.DataFrame(rows)
    frame.to_parquet(path, index=False)
    return frame


def chosen(name: str, folder: Path, size: int = 100) -> pd.DataFrame:
    """Draw the tables that are stored: without replacement, by weight, among those that meet the exact facts.

    The weight is what the temperature leaves of the likelihood.  The first is the bundled one: its used
    facts, replayed on fresh seeds, are nearest to the printed ones.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    folder : Path
        Where the runs are.
    size : int

    Returns
    -------
    DataFrame
        ``run``, ``table`` (in its run) and ``distance``, half the sum of squared deviations of U5 to U16.
    """
    rng, rows = np.random.default_rng((sampler.SEED, 1, list(SETTINGS).index(name))), []
    for path in sorted(folder.glob(f"{name}-*.npz")):
        with np.load(path) as stored:
            last = {key: stored[key] for key in ("deviations", "likelihood")}
        exact = (last["deviations"][:, EXACT] == 0).all(axis=1)
        # a table that has not moved counts once
        _, own = np.unique(last["likelihood"][:, 0], return_index=True)
        for i in own[exact[own]]:
            left = (1 - sampler.LAST) * float(last["likelihood"][i].sum())
            rows.append({"run": int(path.stem.split("-")[1]), "table": int(i), "score": left + rng.gumbel()})
    best = pd.DataFrame(rows).nlargest(size, "score")
    best["distance"] = [_distance(name, folder, run, i) for run, i in best[["run", "table"]].to_numpy()]
    return best.sort_values("distance").drop(columns="score").reset_index(drop=True)


def _distance(name: str, folder: Path, run: int, table: int) -> float:
    """Half the sum of squared deviations of a table on a fresh seed, with the paper's replay counts."""
    state = states(folder / f"{name}-{run}.npz")[table]
    on = scene(name, state)
    assert on is not None
    land, seed = landscape(state, on), PLAY_SEED * 3 + 1000 * run + table
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


def pool(name: str, frame: pd.DataFrame) -> tuple[Pool, pd.Series, pd.Series]:
    """Bring the plays of some runs, and what the paper prints, on the scale of the regression.

    Returns
    -------
    tables : Pool
    used, predicted : Series
        What the paper prints, transformed; NaN where it prints nothing.
    """
    known = printed(name)
    keys = [str(key) for key in frame if "-" in str(key)]
    values = pd.DataFrame({key: transformed(key, frame[key].to_numpy()) for key in keys})
    paper = pd.Series({key: transformed(key, np.array([known.get(key, np.nan)]))[0] for key in keys})
    is_used = [key for key in keys if key.startswith("fact-") or any(m in key for m in RUN_BY_FIT)]
    is_used = [key for key in is_used if key in known]
    rest = [key for key in keys if key not in is_used]
    return Pool(values[is_used], values[rest], frame["run"].to_numpy()), paper[is_used], paper[rest]


if __name__ == "__main__":
    where, name, *numbers = sys.argv[1:]
    for number in numbers:
        play_run(name, int(number), Path(where))
