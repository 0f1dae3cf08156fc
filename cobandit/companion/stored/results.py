"""Results that take too long for a page: ``make results`` writes them into ``data/results``.

For each Parquet file the manifest tells its checksum, that of the data it was made from, seed and time
taken.  A result whose data have changed since is refused; that the code still gives it is tested by computing
parts of it again (`recompute`), and all of it by `cobandit.companion.stored.verification`.  ``ledger.csv`` is
what follows from them: every printed number with ours and a verdict.

Command: ``python -m cobandit.companion.stored.results [NAME...]``; the name ``ledger`` writes the ledger
alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from cobandit import _check
from cobandit.companion import paper
from cobandit.companion.stored.differences import differences
from cobandit.companion.stored.parts import NAMES, PART, RESULTS, SEED
from cobandit.errors import CobanditError
from cobandit.files import replace_file
from cobandit.tables import EvaluationTable
from cobandit.tables.card import read_card
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256

LEDGER = "ledger.csv"
#: Results that the ledger is made of.
BEHIND_LEDGER = ("replication", "tuning", "audit", "posterior")


def directory() -> Path:
    """Give the folder of the stored results.

    Examples
    --------
    >>> (directory() / "manifest.json").is_file()
    True
    """
    return data_directory() / "results"


def data_checksum(name: str) -> str:
    """Return a checksum of the data files that a result depends on, as they are now.

    Examples
    --------
    >>> data_checksum("audit") == manifest()["audit"]["data"]
    True
    """
    files = [data_directory() / file for file in RESULTS[name].data]
    return sha256("".join(file_sha256(path) for path in files).encode()).hexdigest()


def manifest() -> dict[str, dict[str, Any]]:
    """Return the manifest: one entry per result."""
    path = directory() / "manifest.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def read_result(name: str) -> pd.DataFrame:
    """Read a stored result.

    Parameters
    ----------
    name : str
        One of `cobandit.companion.stored.parts.RESULTS`.

    Raises
    ------
    CobanditError
        If it is missing, damaged, or was made from other data than there are now, with what to do.

    Examples
    --------
    >>> sorted(read_result("replication")["dataset"].unique())
    ['gsm8k', 'piqa']
    """
    _check.choice(name, "result", RESULTS)
    path, remedy = directory() / f"{name}.parquet", "-> run: make results"
    entry = manifest().get(name)
    if entry is None or not path.is_file():
        raise CobanditError(f"the result {name!r} is not stored in {directory()} {remedy}")
    if file_sha256(path) != entry["sha256"]:
        raise CobanditError(f"{path} is not the file that the manifest describes {remedy}")
    if entry["data"] != data_checksum(name):
        raise CobanditError(f"{path} was made from other data than there are now {remedy}")
    return pd.read_parquet(path)


def say_source(name: str) -> str:
    """Say in one line of Markdown where a stored result on a table that is not bundled comes from.

    Examples
    --------
    >>> say_source("swebench")  # doctest: +ELLIPSIS
    '*Stored: swebench-bash-only, sha256 91bb31c7b8b6…; made by `python -m ...results swebench`.*'
    """
    cards = [read_card(data_directory() / file) for file in RESULTS[name].data]
    tables = ", ".join(f"{card.name}, sha256 {str(card.sha256)[:12]}…" for card in cards)
    return f"*Stored: {tables}; made by `python -m cobandit.companion.stored.results {name}`.*"


def recompute(name: str, *arguments: Any) -> pd.DataFrame:
    """Recompute one part of a result and compare it with what is stored.

    Parameters
    ----------
    name : str
        One of `cobandit.companion.stored.parts.RESULTS`.
    *arguments
        Of the function that computes it, in `cobandit.companion.stored.parts`.

    Returns
    -------
    DataFrame
        The part.

    Raises
    ------
    CobanditError
        If the two differ; counts have to agree exactly, means to a relative 1e-9.
    """
    part = RESULTS[name].part(*arguments)
    if found := differences_of(name, part):
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        message = "; ".join(found[:3]) + more
        raise CobanditError(
            f"the result {name!r} {arguments} recomputed differs from the stored one: {message}"
        )
    return part


#: Columns that say which row of a result, or of the ledger, it is.
KEYS = (
    *("key", *PART, "share", "reading", "experiment", "quantity", "method", "options", "against", "measure"),
    *("costs", "name", "problem"),
)


def differences_of(name: str, part: pd.DataFrame) -> list[str]:
    """Say where one part of a result, recomputed, differs from what is stored.

    Parameters
    ----------
    name : str
        One of `cobandit.companion.stored.parts.RESULTS`.
    part : DataFrame
        What its function returned.

    Returns
    -------
    list of str
        As `cobandit.companion.stored.differences.differences`.

    Raises
    ------
    CobanditError
        As `read_result`.
    """
    stored = read_result(name)
    for key in PART:
        if key in part and len(values := part[key].unique()) == 1:
            stored = stored[stored[key] == values[0]]
    return differences(stored, part, KEYS)


def cells() -> pd.DataFrame:
    """Read what the ledger sets next to the printed numbers.

    Returns
    -------
    DataFrame
        The replication, with errors from the audit, which has most replays, and what tuning chooses.

    Examples
    --------
    >>> "tuning" in set(cells()["experiment"])
    True
    """
    return _cells({name: read_result(name) for name in BEHIND_LEDGER[:3]})


def _cells(stored: dict[str, pd.DataFrame]) -> pd.DataFrame:
    own = pd.concat([stored["replication"], stored["tuning"]], ignore_index=True)
    return paper.with_audit_errors(own, stored["audit"])


def ledger_of(stored: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Make the ledger of some results.

    Parameters
    ----------
    stored : dict
        By name: the replication, tuning, the audit and the plays of the posterior.

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.ledger`.
    """
    return paper.ledger(_cells(stored), predicted=paper.predict_numbers(stored["posterior"]))


def predictions_of(tables: Sequence[EvaluationTable]) -> pd.DataFrame | None:
    """Predict what the paper prints, or give None if one of the tables is no bundled reconstruction.

    Returns
    -------
    DataFrame or None
        As `cobandit.companion.paper.predict_numbers`.

    Examples
    --------
    >>> from cobandit import load
    >>> predictions_of([load("synthetic-24")]) is None
    True
    """
    return paper.predict_numbers(read_result("posterior")) if bundled(tables) else None


def use_audit_errors(cells: pd.DataFrame, tables: Sequence[EvaluationTable]) -> pd.DataFrame:
    """Take errors from the audit's replays if all tables are bundled reconstructions, else leave them.

    Parameters
    ----------
    cells : DataFrame
        As `cobandit.companion.paper.experiments.summary`.
    tables : sequence of EvaluationTable
        From which they come.

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.with_audit_errors`.

    Examples
    --------
    >>> from cobandit import load
    >>> own = cells()
    >>> use_audit_errors(own, [load("synthetic-24")]) is own
    True
    """
    return paper.with_audit_errors(cells, read_result("audit")) if bundled(tables) else cells


def bundled(tables: Sequence[EvaluationTable]) -> bool:
    """Say whether all tables are bundled reconstructions, of which results are stored.

    Examples
    --------
    >>> from cobandit import load
    >>> bundled([load("gsm8k"), load("piqa")]), bundled([load("gsm8k"), load("synthetic-24")])
    (True, False)
    """
    return all(table.name in NAMES and table.card.kind == "reconstruction" for table in tables)


def ledger() -> pd.DataFrame:
    """Read the stored ledger: every number that the paper prints, ours, and a verdict.

    Returns
    -------
    DataFrame
        As `cobandit.companion.paper.ledger`.

    Raises
    ------
    CobanditError
        If it is not stored.
    """
    path = directory() / LEDGER
    if not path.is_file():
        raise CobanditError(f"there is no {path} -> run: python -m cobandit.companion.stored.results ledger")
    return pd.read_csv(path, dtype={"printed": str})


def store_ledger() -> None:
    """Write the ledger of the stored results."""
    stored = {name: read_result(name) for name in BEHIND_LEDGER}
    ledger_of(stored).to_csv(directory() / LEDGER, index=False, lineterminator="\n")


def store(name: str, parts: Sequence[pd.DataFrame], seconds: float) -> None:
    """Write a result of its parts, and its entry in the manifest.

    Parameters
    ----------
    name : str
    parts : sequence of DataFrame
    seconds : float
        That they took.
    """
    path = directory() / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    with replace_file(path) as partial:
        pd.concat(parts, ignore_index=True).to_parquet(partial, index=False, compression="zstd")
    entry = {"sha256": file_sha256(path), "data": data_checksum(name), "seed": SEED, "parts": len(parts)}
    entries = manifest() | {name: entry | {"seconds": round(seconds)}}
    text = json.dumps({key: entries[key] for key in sorted(entries)}, indent=2) + "\n"
    (directory() / "manifest.json").write_text(text, encoding="utf-8")


def make(names: Sequence[str] = (), workers: int = -1) -> None:
    """Compute results and store them, each as soon as it is complete, and then the ledger of all.

    Parameters
    ----------
    names : sequence of str
        Default: all; ``"ledger"`` is written in any case.
    workers : int
        Processes.
    """
    names = [_check.choice(name, "result", [*RESULTS, "ledger"]) for name in names] or list(RESULTS)
    for name in [name for name in names if name != "ledger"]:
        result, start = RESULTS[name], time.perf_counter()
        if not (arguments := result.arguments()):
            print(f"{name} stays as it is: its table is not on this machine", file=sys.stderr)
            continue
        tasks = (delayed(result.part)(*each) for each in arguments)
        done = Parallel(n_jobs=workers, return_as="generator")(tasks)
        parts = list(track(done, description=name, total=len(arguments), console=Console(stderr=True)))
        store(name, parts, round(time.perf_counter() - start))
    store_ledger()


if __name__ == "__main__":
    make(sys.argv[1:])
