"""The tables behind the predictions: drawn, played once, and stored by their numbers.

Command: ``python -m cobandit.companion.stored.drawing`` draws until `WANTED` tables of each kind and data
set are kept, on all cores, and writes what they play into ``data/results/posterior.parquet``.  It can be
interrupted at any time and goes on where it was; several can run side by side.
"""

from __future__ import annotations

import time
from itertools import count, islice
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from cobandit.companion.reconstruction.hierarchy import SETTINGS
from cobandit.companion.stored.plays import played
from cobandit.companion.stored.results import store, store_ledger

FOLDER = Path("_build/posterior")
WANTED = {"table": 400, "prior": 200, "other": 200}
"""Kept tables of each kind: that meet the facts, of the prior, and of the other generator."""


def _file(name: str, kind: str, number: int, folder: Path) -> Path:
    return folder / f"{name}-{kind}-{number}.parquet"


def _keep(name: str, kind: str, number: int, folder: Path) -> bool:
    """Play a table and keep what comes out, unless that has been done; whether the table is kept."""
    path = _file(name, kind, number, folder)
    if not path.is_file():
        partial = path.with_suffix(".part")
        played(name, kind, number).to_parquet(partial, index=False)
        partial.replace(path)
    return bool(pd.read_parquet(path)["value"].iloc[0])


def collect(folder: Path = FOLDER) -> list[pd.DataFrame]:
    """Read what was played, of each data set and kind from number 0 to the first that is missing."""
    parts = []
    for kind in WANTED:
        for name in SETTINGS:
            paths = (_file(name, kind, number, folder) for number in count())
            for path in paths:
                if not path.is_file():
                    break
                parts.append(pd.read_parquet(path))
    return parts


def make(folder: Path = FOLDER) -> None:
    """Draw and play until enough tables are kept, and store all."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with Parallel(n_jobs=-1) as run:
        for kind, wanted in WANTED.items():
            for name in SETTINGS:
                kept, numbers = 0, count()
                while kept < wanted:
                    some = islice(numbers, wanted - kept)
                    kept += sum(run(delayed(_keep)(name, kind, number, folder) for number in some))
    store("posterior", collect(folder), time.perf_counter() - start)
    store_ledger()


if __name__ == "__main__":
    make()
