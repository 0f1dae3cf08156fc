"""How results are kept: a Parquet file each, and a manifest of the data and the code that they come from.

`stored` makes a function a result; its parts are what the function returns for one set
of arguments each.  A result whose data have changed since is refused.  One whose code
has changed fails a test: it is computed again (``make results``), or `confirm` computes
some parts again and, where they are what is stored, says so.
"""

import inspect
import json
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.replay.parallel import spread
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256
from cobandit.tables.whole_files import replace_file
from companion.stored.sources import code_checksum

Part = TypeVar("Part", bound=Callable[..., pd.DataFrame])

#: Floating-point results agree to 1e-12 on any machine; this leaves room for what is
#: computed from them.
RTOL = 1e-9
REMEDY = "-> run: make results"


class Result(NamedTuple):
    """A result: what is called for each of its parts, with which arguments, and the tables behind it.

    One that is ``passing`` is there only as long as it is being computed.
    """

    part: Callable[..., pd.DataFrame]
    arguments: Callable[[], list[tuple[Any, ...]]]
    tables: tuple[str, ...]
    passing: bool

    def files(self) -> list[Path]:
        """Return the records of each table, or its card, which has their checksum."""
        places = [data_directory() / f"{name}.parquet" for name in self.tables]
        return [path if path.is_file() else path.with_suffix(".yml") for path in places]

    def checksums(self) -> dict[str, str]:
        """Of the data and of the code, as they are now."""
        data = sha256("".join(map(file_sha256, self.files())).encode()).hexdigest()
        return {"data": data, "code": code_checksum(self.part)}

    def columns(self) -> list[str]:
        """Names of the columns that tell parts apart: the function's parameters."""
        return [
            "dataset" if name == "name" else name
            for name in inspect.signature(self.part).parameters
        ]


RESULTS: dict[str, Result] = {}
#: Results that even a fast verification computes in full.
WHOLE = ("replication", "tuning")


def few(name: str) -> list[tuple[Any, ...]]:
    """Arguments of some parts of a result: the last of those that differ in the last argument only.

    Examples
    --------
    >>> from companion.stored import results
    >>> few("replication"), len(few("posterior"))  # a drawn table, one of the prior, one of the other kind
    ([('gsm8k',), ('piqa',)], 6)
    """
    every = RESULTS[name].arguments()
    return (
        every if name in WHOLE else list({part[:-1]: part for part in every}.values())
    )


def stored(
    name: str,
    arguments: Callable[[], list[tuple[Any, ...]]],
    tables: Sequence[str] = (),
    passing: bool = False,
) -> Callable[[Part], Part]:
    """Make a function the part of a result.

    Parameters
    ----------
    name : str
        Of the result.
    arguments : callable
        Gives those of each part that this machine has the data for.
    tables : sequence of str
        Names in the catalogue.
    passing : bool
        Whether it may be absent, since it is kept only while another result is
        computed.
    """

    def registered(part: Part) -> Part:
        RESULTS[name] = Result(part, arguments, tuple(tables), passing)
        return part

    return registered


def directory() -> Path:
    """Return the folder of the stored results: in an installed package, else in ``data``.

    Examples
    --------
    >>> (directory() / "manifest.json").is_file()
    True
    """
    installed = Path(__file__).resolve().parents[1] / "results"
    return installed if installed.is_dir() else data_directory() / "results"


def manifest() -> dict[str, dict[str, Any]]:
    """Return the manifest: one entry per result."""
    path = directory() / "manifest.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _enter(name: str, **entry: Any) -> None:
    entries = manifest()
    entries[name] = entries.get(name, {}) | entry
    _write_manifest(entries)


def _write_manifest(entries: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({key: entries[key] for key in sorted(entries)}, indent=2) + "\n"
    with replace_file(directory() / "manifest.json") as partial:
        partial.write_text(text, encoding="utf-8")


def read_result(name: str) -> pd.DataFrame:
    """Read a stored result.

    Raises
    ------
    CobanditError
        If it is missing, damaged, or was made from other data than there are now, with
        what to do.

    Examples
    --------
    >>> from companion.stored import results
    >>> sorted(results.read_result("replication")["dataset"].unique())
    ['gsm8k', 'piqa']
    """
    path = directory() / f"{_validation.choice(name, 'result', RESULTS)}.parquet"
    entry = manifest().get(name)
    if entry is None or not path.is_file():
        raise CobanditError(
            f"the result {name!r} is not stored in {directory()} {REMEDY}"
        )
    if file_sha256(path) != entry["sha256"]:
        raise CobanditError(
            f"{path} is not the file that the manifest describes {REMEDY}"
        )
    if entry["data"] != RESULTS[name].checksums()["data"]:
        raise CobanditError(
            f"{path} was made from other data than there are now {REMEDY}"
        )

    return pd.read_parquet(path)


def expected() -> list[str]:
    """Return the names of the results that have to be stored, and of passing ones that are.

    Examples
    --------
    >>> from companion.stored import results
    >>> "posterior" in expected()
    True
    """
    return [
        name
        for name, result in RESULTS.items()
        if not result.passing or name in manifest()
    ]


def store(name: str, parts: Sequence[pd.DataFrame], seconds: float) -> None:
    """Write a result of its parts, which took so long, and its entry in the manifest."""
    path = directory() / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    with replace_file(path) as partial:
        pd.concat(parts, ignore_index=True).to_parquet(
            partial, index=False, compression="zstd"
        )
    made = {"seed": 0, "parts": len(parts), "seconds": round(seconds)}
    _enter(name, sha256=file_sha256(path), **RESULTS[name].checksums(), **made)


def remove(name: str) -> None:
    """Remove a result, and its entry in the manifest; nothing happens if it is not stored."""
    (directory() / f"{name}.parquet").unlink(missing_ok=True)
    entries = manifest()
    entries.pop(name, None)
    _write_manifest(entries)


def parts_at_hand(name: str) -> dict[tuple[Any, ...], pd.DataFrame]:
    """Parts of a stored result by their arguments; none if it is not stored, or other code made it."""
    entry, columns = manifest().get(name, {}), RESULTS[name].columns()
    if entry.get("code") != RESULTS[name].checksums()["code"]:
        return {}
    try:
        whole = read_result(name)
    except CobanditError:
        return {}
    return {tuple(place): part for place, part in whole.groupby(columns, sort=False)}


def recompute(name: str, *arguments: Any) -> pd.DataFrame:
    """Recompute the part of a result with these arguments.

    Raises
    ------
    CobanditError
        If it is not what is stored; counts have to agree exactly, means to a relative
        1e-9.
    """
    part = RESULTS[name].part(*arguments)
    if found := differences_of(name, arguments, part):
        told = "; ".join(found[:3])
        raise CobanditError(
            f"the result {name!r} {arguments} recomputed differs from the stored one:"
            f" {told}"
        )
    return part


def differences_of(
    name: str, arguments: Sequence[Any], part: pd.DataFrame
) -> list[str]:
    """Say where one part of a result, recomputed, differs from what is stored."""
    whole, columns = read_result(name), RESULTS[name].columns()
    for column, value in zip(columns, arguments, strict=True):
        whole = whole[whole[column] == value]
    return differences(whole, part, [*columns, *part.select_dtypes(exclude="number")])


def differences(
    before: pd.DataFrame, again: pd.DataFrame, keys: Sequence[str]
) -> list[str]:
    """Compare two frames that should be the same, row by row.

    Numbers that are not whole have to agree to a relative `RTOL`, everything else
    exactly; what is missing agrees with what is missing.

    Parameters
    ----------
    before, again : DataFrame
    keys : sequence of str
        Columns that say which row it is.

    Returns
    -------
    list of str
        One text per cell that differs, or one in all if the frames have different
        columns or lengths.

    Examples
    --------
    >>> ours = pd.DataFrame({"arm": ["a", "b"], "mean": [0.5, 0.25]})
    >>> differences(ours, ours.assign(mean=[0.5, 0.26]), ["arm"])
    ['b: mean is 0.25, recomputed 0.26']
    >>> differences(ours, ours.head(1), ["arm"])
    ['2 rows are stored, 1 recomputed']
    """
    if len(before) != len(again):
        return [f"{len(before)} rows are stored, {len(again)} recomputed"]
    if odd := set(before) ^ set(again):
        return [
            "stored and recomputed do not have the same columns:"
            f" {', '.join(sorted(map(str, odd)))}"
        ]

    found = []
    for column in again:
        old, new = (
            before[column].reset_index(drop=True),
            again[column].reset_index(drop=True),
        )
        if pd.api.types.is_float_dtype(new) and pd.api.types.is_numeric_dtype(old):
            differ = ~np.isclose(
                old.astype(float), new, rtol=RTOL, atol=0, equal_nan=True
            )
        else:
            differ = np.array((old != new) & ~(old.isna() & new.isna()))
        for row in np.flatnonzero(differ):
            place = " ".join(
                map(str, again.iloc[row][list(dict.fromkeys(keys))].dropna())
            )
            found.append(f"{place}: {column} is {old[row]}, recomputed {new[row]}")

    return found


class Verification(NamedTuple):
    """What comparing one thing found: how many of its parts were computed, in what time, what differs."""

    name: str
    computed: int
    parts: int
    seconds: float
    differences: list[str]


def compare(
    name: str,
    chosen: Sequence[tuple[Any, ...]],
    *,
    tell: Callable[[str, int, int], None] | None = None,
    **how: Any,
) -> tuple[Verification, pd.DataFrame | None]:
    """Recompute parts of a result; what differs, and the result: recomputed if they are all, else as stored.

    Parameters
    ----------
    name : str
    chosen : sequence of tuple
        Arguments of the parts.
    tell : callable, optional
        Called as ``tell(name, done, parts)`` after each part.
    **how
        How the parts run in parallel, as in `cobandit.replay_online`.
    """
    result, began = RESULTS[name], time.perf_counter()
    count = len(result.arguments())
    try:
        whole = read_result(name)
    except CobanditError as error:
        return Verification(name, 0, count, 0.0, [str(error)]), None

    found: list[str] = []
    parts = []
    with spread(**how):
        done = Parallel(return_as="generator")(
            delayed(result.part)(*each) for each in chosen
        )
        for arguments, part in zip(chosen, done, strict=True):
            found += differences_of(name, arguments, part)
            parts.append(part)
            if tell is not None:
                tell(name, len(parts), len(chosen))

    if parts and len(chosen) == count:
        again = pd.concat(parts, ignore_index=True)
        if not found and len(again) != len(whole):
            found = [f"{len(whole)} rows are stored, {len(again)} recomputed"]
        whole = again

    return (
        Verification(name, len(chosen), count, time.perf_counter() - began, found),
        whole,
    )


def stale() -> Iterator[str]:
    """Names of the results that come from other code than there is now, and can be computed here."""
    known = manifest()
    for name, result in RESULTS.items():
        if (
            result.arguments()
            and known.get(name, {}).get("code") != result.checksums()["code"]
        ):
            yield name


def confirm() -> list[Verification]:
    """Recompute a few parts of each stale result; enter the code at hand where none differs."""
    outcomes = []
    for name in list(stale()):
        outcome, _ = compare(name, few(name), workers=-1)
        if not outcome.differences:
            _enter(name, code=RESULTS[name].checksums()["code"])
        outcomes.append(outcome)
    return outcomes
