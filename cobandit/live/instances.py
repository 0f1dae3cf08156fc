"""The instances of a plan: a number, a list or a file becomes ids, and these one random order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.faults import nearest

#: Column of the ids, if none is named.
COLUMN = "instance"


def expand(written: Any, folder: Path) -> tuple[str, ...]:
    """List the ids of the instances that a plan means.

    Parameters
    ----------
    written : int, sequence, str or mapping
        Their number (the ids are then ``"0"``, ``"1"``, ...); the ids; a file; or ``{file: ..., column:
        ...}``.  A .csv, .tsv, .jsonl or .parquet file has its ids in a column, any other one in a line.
    folder : Path
        Where a relative path starts.

    Returns
    -------
    tuple of str
        At least two, all different, in the order in which they are given.

    Raises
    ------
    ValueError
        With problem and remedy.

    Examples
    --------
    >>> expand(3, Path())
    ('0', '1', '2')
    >>> expand(["q1", 7], Path())
    ('q1', '7')
    """
    if isinstance(written, int) and not isinstance(written, bool):
        ids = [str(number) for number in range(written)]
    elif isinstance(written, str):
        ids = _read(folder / written, COLUMN)
    elif isinstance(written, Mapping):
        if not {"file"} <= set(written) <= {"file", "column"}:
            raise ValueError(f"a file has the keys {sorted(map(str, written))} -> give file and column")
        ids = _read(folder / str(written["file"]), str(written.get("column", COLUMN)))
    elif isinstance(written, Sequence) and all(isinstance(each, (str, int)) for each in written):
        ids = [str(each) for each in written]
    else:
        raise ValueError(
            "this says no instances -> give their number, a list of ids, or a file that has them"
        )
    if len(ids) < 2:
        raise ValueError(f"there are {len(ids)} instances -> give two at least")
    if not all(each.strip() for each in ids):
        raise ValueError("an id is blank -> give each instance an id")
    twice = [name for name, n in Counter(ids).items() if n > 1]
    if twice:
        raise ValueError(f"the instance {twice[0]!r} is named more than once -> name each once")
    return tuple(ids)


def _read(path: Path, column: str) -> list[str]:
    if not path.is_file():
        raise ValueError(f"there is no file {path} -> check the path, which starts where the plan is")
    if path.suffix.lower() not in (".csv", ".tsv", ".jsonl", ".parquet"):
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            return [line.strip() for line in lines if line.strip()]
        except (OSError, UnicodeError) as error:
            raise ValueError(f"{path} cannot be read: {error} -> give a text file, one id a line") from None
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty -> write the ids into it")
    from cobandit.tables.readers import read_columns  # pandas takes its time

    frame = read_columns(path, (column,), (column,))
    if column not in frame:
        known = list(map(str, frame.columns))
        remedy = f"{nearest(column, known)}name the column: {{file: {path.name}, column: ...}}"
        raise ValueError(f"{path} has no column {column!r}, but {', '.join(known)} -> {remedy}")
    if frame[column].isna().any():
        raise ValueError(f"the column {column!r} of {path} has gaps -> give each instance an id")
    return [str(each) for each in frame[column]]


def shared_order(instances: Sequence[str], seed: int) -> tuple[str, ...]:
    """Put the instances into the order in which every configuration is evaluated.

    It is that of `cobandit.tables.keys.profiling_mask`, so that the pilot's instances, which come first, are
    those that a card with the same seed chooses for profiling in a table that has them all.

    Examples
    --------
    >>> shared_order(["a", "b", "c", "d"], seed=0)
    ('c', 'a', 'b', 'd')
    """
    ids = sorted(instances)
    return tuple(ids[place] for place in np.random.default_rng(seed).permutation(len(ids)))
