"""What the ledger rests on, recomputed and compared with what is stored: ``cobandit verify``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, delayed

from cobandit.companion.stored import results
from cobandit.companion.stored.differences import differences
from cobandit.errors import CobanditError
from cobandit.replay import parallel


class Verification(NamedTuple):
    """What comparing one thing found: how many of its parts were computed, in what time, what differs."""

    name: str
    computed: int
    parts: int
    seconds: float
    differences: list[str]


#: Results that even a fast verification computes in full.
WHOLE = ("replication", "tuning")


def fast_parts(name: str) -> list[tuple[Any, ...]]:
    """Choose the parts of a result that a fast verification computes.

    All of the replication and of tuning, the last table of each kind, the last block of each
    table and budget of the audit, and of the map of regions the most arms at each ratio of costs and
    dependence.

    Examples
    --------
    >>> fast_parts("replication")
    [('gsm8k',), ('piqa',)]
    >>> len(fast_parts("posterior"))  # of each data set: a drawn table, one of the prior, one of other kind
    6
    """
    every = results.RESULTS[name].arguments()
    return every if name in WHOLE else list({part[:-1]: part for part in every}.values())


def verify(
    *,
    fast: bool = False,
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    tell: Callable[[str, int, int], None] | None = None,
) -> list[Verification]:
    """Recompute the stored results and the ledger, from the bundled tables, and compare.

    Parameters
    ----------
    fast : bool
        Compute only the parts that `fast_parts` names; the ledger then takes the others as stored.
    workers, backend, scheduler
        How the parts run in parallel, as in `cobandit.replay_online`.
    tell : callable, optional
        Called as ``tell(name, done, parts)`` after each part.

    Returns
    -------
    list of Verification
        One for each result, and one for the ledger.  A result that is missing, damaged or of other data is a
        difference, too.  Of a result on a table that is not on this machine nothing is computed.
    """
    outcomes, whole = [], {}
    for name, result in results.RESULTS.items():
        every = result.arguments()
        chosen = fast_parts(name) if fast else every
        began = time.perf_counter()
        try:
            stored = results.read_result(name)
        except CobanditError as error:
            outcomes.append(Verification(name, 0, len(every), 0.0, [str(error)]))
            continue
        found, parts = [], []
        tasks = (delayed(result.part)(*arguments) for arguments in chosen)
        with parallel.spread(workers, backend, scheduler):
            for part in Parallel(return_as="generator")(tasks):
                found += results.differences_of(name, part)
                parts.append(part)
                if tell is not None:
                    tell(name, len(parts), len(chosen))
        if parts and len(chosen) == len(every):
            again = pd.concat(parts, ignore_index=True)
            if not found and len(again) != len(stored):
                found = [f"{len(stored)} rows are stored, {len(again)} recomputed"]
            whole[name] = again
        else:
            whole[name] = stored
        outcomes.append(Verification(name, len(chosen), len(every), time.perf_counter() - began, found))
    return [*outcomes, _ledger(whole)]


def _ledger(whole: dict[str, pd.DataFrame]) -> Verification:
    """Compare the stored ledger with that of the results."""
    began = time.perf_counter()
    if missing := [name for name in results.BEHIND_LEDGER if name not in whole]:
        return Verification("ledger", 0, 0, 0.0, [f"not compared: it needs {' and '.join(missing)}"])
    rows = results.ledger_of(whole)
    try:
        found = differences(results.ledger(), rows, results.KEYS[:1])
    except CobanditError as error:
        found = [str(error)]
    return Verification("ledger", len(rows), len(rows), time.perf_counter() - began, found)
