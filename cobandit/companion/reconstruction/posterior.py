"""The stored tables of the posterior: as states, and as rows."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.companion.reconstruction.hierarchy import (
    CONFIG_EFFECTS,
    MODEL_EFFECTS,
    State,
    correct_counts,
    grid,
)
from cobandit.companion.reconstruction.instances import INSTANCES, body
from cobandit.companion.reconstruction.sampler import EFFECTS, from_thousandths, thousandths
from cobandit.companion.reconstruction.settings import N_INSTANCES, SETTINGS
from cobandit.errors import CobanditError
from cobandit.files import replace_file
from cobandit.tables.catalogue import data_directory

STORE = "posterior.parquet"


class Stored(NamedTuple):
    """A table of the posterior: its state, the run of the sampler behind it, and the seed of its replays."""

    state: State
    run: int
    seed: int


def write_states(directory: Path, tables: dict[str, list[Stored]]) -> Path:
    """Write the tables of each data set as states, the bundled one first, in thousandths.

    Parameters
    ----------
    directory : Path
    tables : dict
        By data set; the variables of their states rounded to three decimals.

    Returns
    -------
    Path
    """
    rows = [
        {"dataset": name, "run": run, "seed": seed, "instances": state.instances}
        | {effect: thousandths(getattr(state, effect).ravel()) for effect in EFFECTS}
        for name, several in tables.items()
        for state, run, seed in several
    ]
    with replace_file(directory / STORE) as partial:
        pd.DataFrame(rows).to_parquet(partial, index=False, compression="zstd")
    return directory / STORE


@lru_cache
def tables_of(name: str) -> tuple[Stored, ...]:
    """Read the tables of a data set's posterior, the bundled one first.

    Raises
    ------
    CobanditError
        If there is no reconstruction of that name, or nothing is stored.

    Examples
    --------
    >>> len(tables_of("gsm8k")) == len(tables_of("piqa")) >= 100
    True
    """
    _check.choice(name, "reconstruction", SETTINGS)
    path = data_directory() / STORE
    if not path.is_file():
        raise CobanditError(f"there is no {path} -> run: make posterior")
    frame = pd.read_parquet(path)
    widths = {"parameters": None, "models": len(MODEL_EFFECTS), "configs": len(CONFIG_EFFECTS)}
    found = []
    for row in frame[frame["dataset"] == name].to_dict("records"):
        effects = {key: from_thousandths(np.asarray(row[key])) for key in EFFECTS}
        shaped = {
            key: effects[key].reshape(-1, width) if width else effects[key] for key, width in widths.items()
        }
        state = State(**shaped, instances=int(row["instances"]))
        found.append(Stored(state, int(row["run"]), int(row["seed"])))
    return tuple(found)


def rows_of(name: str, state: State) -> pd.DataFrame:
    """Draw the table of a state.

    Returns
    -------
    DataFrame, 1,000 rows a configuration
        config, instance, model, prompt (categorical), temperature, max_tokens, correct (0 or 1), latency_s
        (seconds, whole milliseconds) and tokens; sorted by config, then instance.

    Raises
    ------
    CobanditError
        If the state stands for no table.

    Examples
    --------
    >>> rows_of("gsm8k", tables_of("gsm8k")[0].state).shape
    (108000, 9)
    """
    setting = SETTINGS[_check.choice(name, "reconstruction", SETTINGS)]
    drawn = body(setting, state)
    if drawn is None:
        raise CobanditError(f"{name}: the state stands for no table")
    arms = pd.DataFrame(grid(setting), columns=["model", "temperature", "max_tokens", "prompt"])
    arms.insert(0, "config", [f"{m}-t{t}-{limit}-{prompt}" for m, t, limit, prompt in arms.to_numpy()])
    rows = arms.loc[np.repeat(np.arange(len(arms)), N_INSTANCES)].reset_index(drop=True)
    rows = rows.astype(
        {"config": "category", "model": "category", "prompt": "category", "max_tokens": "int16"}
    )
    labels = pd.Index([f"q{q:03d}" for q in range(N_INSTANCES)])
    codes = np.tile(np.arange(N_INSTANCES), len(arms))
    rows.insert(1, "instance", pd.Series(pd.Categorical.from_codes(codes, labels)))
    correct = drawn.rank < correct_counts(setting, state, drawn.verbosity)[:, None]
    order = np.argsort(INSTANCES)
    return rows.assign(
        correct=correct[:, order].ravel().astype(np.uint8),
        latency_s=drawn.seconds[:, order].ravel(),
        tokens=drawn.tokens[:, order].ravel().astype(np.int16),
    )
