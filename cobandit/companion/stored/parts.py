"""What is stored, and how each part of it is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from cobandit.companion import reconstruction
from cobandit.companion.paper import experiments
from cobandit.companion.regions import maps
from cobandit.companion.stored import races
from cobandit.companion.stored.plays import played
from cobandit.replay import replay_identification, spec
from cobandit.stats import metrics, paired_errors
from cobandit.tables import EvaluationTable, available, load
from cobandit.tables.catalogue import data_directory

NAMES = tuple(reconstruction.SETTINGS)
#: A table that is not bundled: what is stored of it can be read everywhere, and computed where the table is.
ELSEWHERE = ("swebench-bash-only",)
MEASURED = ("word-sums", "piqa-small")
SEED = 0

AUDIT_BLOCK = 1_000
AUDIT_REPLAYS = {rho: 100_000 if rho <= 500 else 10_000 for rho in experiments.IDENTIFICATION_RHO}
"""Replays by budget; the large ones cost most, and fewer replays tell them apart."""
AUDIT_METHODS = (
    *experiments.IDENTIFICATION,
    spec("PSISR", rounds="max"),
    spec("PSISR", rounds="mean"),
)


def replication(name: str) -> pd.DataFrame:
    """Run all experiments on one table of the catalogue, at the paper's replication counts.

    Parameters
    ----------
    name : str

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.experiments.summary` and `cobandit.companion.paper.experiments.facts`.
    """
    return _experiments(load(name), workers=-1, backend="threading")  # a page waits for it


def _experiments(table: EvaluationTable, **parallel: Any) -> pd.DataFrame:
    cells = [experiments.summary(table, seed=SEED, **parallel), experiments.facts(table)]
    return pd.concat(cells, ignore_index=True)


def drawn_numbers() -> list[tuple[str, str, int]]:
    """Say which tables are stored: data set, kind and number of each that was tried."""
    path = data_directory() / "results" / "posterior.parquet"
    frame = pd.read_parquet(path, columns=["dataset", "kind", "number"]).drop_duplicates()
    return [tuple(row) for row in frame.itertuples(index=False)]


def tuning(name: str) -> pd.DataFrame:
    """Choose radii and initialisation for one bundled reconstruction, as the paper does for its table.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.experiments.tuning_cells`.
    """
    return experiments.tuning_cells(load(name), seed=SEED)


def audit_block(name: str, rho: int, block: int) -> pd.DataFrame:
    """Count joint errors on the 14 arms in one block of replays.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    rho : int
        Budget in evaluations per configuration.
    block : int
        Each block has `AUDIT_BLOCK` replays.

    Returns
    -------
    DataFrame
        As `cobandit.stats.paired_errors.joint_errors`, with columns ``dataset`` and ``block``.
    """
    table = experiments.structured_subset(load(name))
    seed = SEED + block  # blocks are independent, as replications are
    runs = replay_identification(table, AUDIT_METHODS, rho, AUDIT_BLOCK, seed)
    return paired_errors.joint_errors(runs).assign(dataset=name, block=block)


ONCE_METHODS = ("CoPSIOnce", "UniformOnce", "PSISROnce", "EGESHOnce", "CoPSIPrintedOnce")
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def once(name: str) -> pd.DataFrame:
    """Evaluate every pair of a table at most once: how often each method is wrong, and its F1, at each share.

    Parameters
    ----------
    name : str

    Returns
    -------
    DataFrame
        As `cobandit.stats.summarise`, with ``quantity`` wrong or f1.
    """
    runs = replay_identification(load(name), ONCE_METHODS, share=SHARES, seed=SEED, feedback="once")
    runs["wrong"] = ~runs["correct"].astype(bool)
    by = ("dataset", "method", "share")
    cells = [metrics.summarise(runs, column, by).assign(quantity=column) for column in ("wrong", "f1")]
    return pd.concat(cells, ignore_index=True)


def here(names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Name the tables that are on this machine: one part of a result for each."""
    return [(name,) for name in names if available(name)]


class Result(NamedTuple):
    """A result: what is called for each of its parts, with which arguments, and the data files behind it.

    A card stands for the records that it has the checksum of.
    """

    part: Callable[..., pd.DataFrame]
    arguments: Callable[[], list[tuple[Any, ...]]]
    data: tuple[str, ...]


#: Tables that are bundled.
BUNDLED = ("word-sums", "piqa-small", "synthetic-24", *NAMES)
TABLES = tuple(f"{name}.parquet" for name in NAMES)
CARDS = tuple(f"{name}.yml" for name in ELSEWHERE)
MEASURED_TABLES = tuple(f"{name}.parquet" for name in MEASURED)

RESULTS = {
    "replication": Result(replication, lambda: [(name,) for name in NAMES], TABLES),
    "tuning": Result(tuning, lambda: [(name,) for name in NAMES], TABLES),
    "posterior": Result(played, drawn_numbers, ()),
    "measured": Result(replication, lambda: [(name,) for name in MEASURED], MEASURED_TABLES),
    "audit": Result(
        audit_block,
        lambda: [
            (name, rho, block)
            for name in NAMES
            for rho in experiments.IDENTIFICATION_RHO
            for block in range(AUDIT_REPLAYS[rho] // AUDIT_BLOCK)
        ],
        TABLES,
    ),
    "regions": Result(maps.part, maps.parts, ()),  # of random problems: no data file is read
    "race": Result(
        races.race,
        lambda: [(name, by) for name in (*BUNDLED, *races.MADE_UP) for by in races.TOLERANCES],
        tuple(f"{name}.parquet" for name in BUNDLED),
    ),
    "swebench": Result(replication, lambda: here(ELSEWHERE), CARDS),
    "swebench-once": Result(once, lambda: here(ELSEWHERE), CARDS),
    "swebench-race": Result(
        races.race, lambda: [(*part, by) for part in here(ELSEWHERE) for by in races.TOLERANCES], CARDS
    ),
}

#: Columns that name a part, among those of any result.
PART = (
    "number",
    "kind",
    "dataset",
    "rho",
    "block",
    "selection",
    "cost_ratio",
    "dependence",
    "n_arms",
    "tolerance",
)
