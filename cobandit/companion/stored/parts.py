"""What is stored, and how each part of it is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from cobandit.companion import reconstruction
from cobandit.companion.paper import experiments
from cobandit.companion.reconstruction.pool import played
from cobandit.companion.regions import maps
from cobandit.replay import replay_identification, spec
from cobandit.stats import paired_errors
from cobandit.tables import EvaluationTable, load

NAMES = tuple(reconstruction.SETTINGS)
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
    """Run all experiments on one bundled reconstruction, at the paper's replication counts.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.experiments.summary` and `cobandit.companion.paper.experiments.facts`.
    """
    return _experiments(load(name), workers=-1, backend="threading")  # a page waits for it


def _experiments(table: EvaluationTable, **parallel: Any) -> pd.DataFrame:
    cells = [experiments.summary(table, seed=SEED, **parallel), experiments.facts(table)]
    return pd.concat(cells, ignore_index=True)


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


class Result(NamedTuple):
    """A result: what is called for each of its parts, with which arguments, and the data files behind it."""

    part: Callable[..., pd.DataFrame]
    arguments: Callable[[], list[tuple[Any, ...]]]
    data: tuple[str, ...]


TABLES = tuple(f"{name}.parquet" for name in NAMES)

RESULTS = {
    "replication": Result(replication, lambda: [(name,) for name in NAMES], TABLES),
    "tuning": Result(tuning, lambda: [(name,) for name in NAMES], TABLES),
    "posterior": Result(
        played,
        lambda: [(name, number) for name in NAMES for number in range(len(reconstruction.tables_of(name)))],
        (reconstruction.STORE,),
    ),
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
}

#: Columns that name a part, among those of any result.
PART = ("number", "dataset", "rho", "block", "selection", "cost_ratio", "dependence", "n_arms")
