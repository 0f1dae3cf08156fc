"""Storage of results, with one Parquet file per result and a manifest.

A result consists of parts. `register_result` registers the function that computes a
part from the arguments of this part. The manifest has checksums of the data and the
code behind each result. If the data have changed, reading the result fails. If the code
has changed, a test fails. In this case, compute the result again (``make results``), or
call `confirm`. The function `confirm` recomputes a sample of the parts, and accepts the
new code if they equal the stored parts.
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
from companion.stored.code_digest import code_checksum

Part = TypeVar("Part", bound=Callable[..., pd.DataFrame])

#: Relative tolerance of stored numbers. Floating-point results agree to 1e-12 on all
#: machines, and numbers computed from them to slightly less.
RTOL = 1e-9
REMEDY = "-> run: make results"


class Result(NamedTuple):
    """How a result is computed: a function, its arguments for all parts, and tables.

    A ``passing`` result exists only while another result is being computed.
    """

    part: Callable[..., pd.DataFrame]
    arguments: Callable[[], list[tuple[Any, ...]]]
    tables: tuple[str, ...]
    passing: bool

    def files(self) -> list[Path]:
        """Return the path of each table or, if it is absent, of its description (card).

        The description contains a checksum of the table.
        """
        paths = [data_directory() / f"{name}.parquet" for name in self.tables]
        return [path if path.is_file() else path.with_suffix(".yml") for path in paths]

    def checksum_data(self) -> str:
        """Return the current checksum of the tables."""
        return sha256("".join(map(file_sha256, self.files())).encode()).hexdigest()

    def checksum_code(self) -> str:
        """Return the current checksum of the code, which takes up to a second."""
        return code_checksum(self.part)

    def columns(self) -> list[str]:
        """Return the columns that identify a part: the parameters of its function."""
        return [
            "dataset" if name == "name" else name
            for name in inspect.signature(self.part).parameters
        ]


RESULTS: dict[str, Result] = {}
#: Results that even a fast verification recomputes completely.
WHOLE = ("replication", "tuning")


def sample_parts(name: str) -> list[tuple[Any, ...]]:
    """Sample parts of a result, and return the arguments of each sampled part.

    The sample has one part per combination of all arguments but the last. For the
    results in `WHOLE`, the sample has all parts.

    Examples
    --------
    >>> from companion.stored import results
    >>> sample_parts("replication")
    [('gsm8k',), ('piqa',)]
    >>> len(sample_parts("posterior"))  # three kinds of drawn tables of two data sets
    6
    """
    parts = RESULTS[name].arguments()
    if name in WHOLE:
        return parts
    return list({part[:-1]: part for part in parts}.values())


def register_result(
    name: str,
    arguments: Callable[[], list[tuple[Any, ...]]],
    tables: Sequence[str] = (),
    passing: bool = False,
) -> Callable[[Part], Part]:
    """Return a decorator that registers the function for the parts of a result.

    Parameters
    ----------
    name : str
        Name of the result.
    arguments : callable
        Function that returns the arguments of all parts whose data are on this machine.
    tables : sequence of str
        Names of the tables in the catalogue that the function reads.
    passing : bool
        Whether the result may be absent, because it is stored only while another result
        is being computed.
    """

    def decorate(part: Part) -> Part:
        RESULTS[name] = Result(part, arguments, tuple(tables), passing)
        return part

    return decorate


def results_directory() -> Path:
    """Return the folder of the stored results.

    An installed package contains the folder. In a checkout, the folder is in ``data``.

    Examples
    --------
    >>> (results_directory() / "manifest.json").is_file()
    True
    """
    installed = Path(__file__).resolve().parents[1] / "results"
    return installed if installed.is_dir() else data_directory() / "results"


def read_manifest() -> dict[str, dict[str, Any]]:
    """Return the manifest, with one entry per result."""
    path = results_directory() / "manifest.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _enter(name: str, **entry: Any) -> None:
    entries = read_manifest()
    entries[name] = entries.get(name, {}) | entry
    _write_manifest(entries)


def _write_manifest(entries: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({key: entries[key] for key in sorted(entries)}, indent=2) + "\n"
    with replace_file(results_directory() / "manifest.json") as partial:
        partial.write_text(text, encoding="utf-8")


def read_result(name: str) -> pd.DataFrame:
    """Read a stored result as a data frame.

    Raises
    ------
    CobanditError
        If the result is missing or damaged, or was computed from other data.

    Examples
    --------
    >>> from companion.stored import results
    >>> sorted(results.read_result("replication")["dataset"].unique())
    ['gsm8k', 'piqa']
    """
    path = (
        results_directory() / f"{_validation.choice(name, 'result', RESULTS)}.parquet"
    )
    entry = read_manifest().get(name)
    if entry is None or not path.is_file():
        raise CobanditError(
            f"the result {name!r} is not stored in {results_directory()} {REMEDY}",
            argument=name,
            code="not-stored",
        )
    if file_sha256(path) != entry["sha256"]:
        raise CobanditError(
            f"{path} differs from the file that the manifest describes {REMEDY}",
            argument=name,
            code="damaged-result",
        )
    if entry["data"] != RESULTS[name].checksum_data():
        raise CobanditError(
            f"{path} was computed from other data than the current data {REMEDY}",
            argument=name,
            code="other-data",
        )

    return pd.read_parquet(path)


def list_expected() -> list[str]:
    """Return the names of all results that must be stored, and of others that are.

    Examples
    --------
    >>> from companion.stored import results
    >>> "posterior" in list_expected()
    True
    """
    return [
        name
        for name, result in RESULTS.items()
        if not result.passing or name in read_manifest()
    ]


def write_result(name: str, parts: Sequence[pd.DataFrame], seconds: float) -> None:
    """Write the parts of a result to one file, and its entry to the manifest."""
    path = results_directory() / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    with replace_file(path) as partial:
        pd.concat(parts, ignore_index=True).to_parquet(
            partial, index=False, compression="zstd"
        )
    _enter(
        name,
        sha256=file_sha256(path),
        data=RESULTS[name].checksum_data(),
        code=RESULTS[name].checksum_code(),
        seed=0,
        parts=len(parts),
        seconds=round(seconds),
    )


def remove_result(name: str) -> None:
    """Remove a result and its entry in the manifest, if it is stored."""
    (results_directory() / f"{name}.parquet").unlink(missing_ok=True)
    entries = read_manifest()
    entries.pop(name, None)
    _write_manifest(entries)


def read_current_parts(name: str) -> dict[tuple[Any, ...], pd.DataFrame]:
    """Return the parts of a stored result, by the arguments of each part.

    The dict is empty if the result is missing or damaged, or was computed by other code
    or from other data.
    """
    entry = read_manifest().get(name, {})
    columns = RESULTS[name].columns()
    if entry.get("code") != RESULTS[name].checksum_code():
        return {}
    try:
        result = read_result(name)
    except CobanditError:
        return {}
    return {
        tuple(arguments): part
        for arguments, part in result.groupby(columns, sort=False)
    }


def recompute(name: str, *arguments: Any) -> pd.DataFrame:
    """Recompute the part of a result with the given arguments, and return it.

    Raises
    ------
    CobanditError
        If the recomputed part differs from the stored part. Counts must be equal, and
        other numbers must agree to a relative 1e-9.
    """
    part = RESULTS[name].part(*arguments)
    if differences := compare_part(name, arguments, part):
        examples = "; ".join(differences[:3])
        raise CobanditError(
            f"the recomputed part {arguments} of the result {name!r} differs from the"
            f" stored part: {examples}",
            argument=name,
            code="other-numbers",
        )
    return part


def compare_part(name: str, arguments: Sequence[Any], part: pd.DataFrame) -> list[str]:
    """Return the differences between a recomputed part and the stored part."""
    stored = read_result(name)
    columns = RESULTS[name].columns()
    for column, value in zip(columns, arguments, strict=True):
        stored = stored[stored[column] == value]
    return compare_frames(
        stored, part, [*columns, *part.select_dtypes(exclude="number")]
    )


def compare_frames(
    stored: pd.DataFrame, recomputed: pd.DataFrame, keys: Sequence[str]
) -> list[str]:
    """Return the differences of two frames that should be equal, row by row.

    Floating-point numbers must agree to a relative 1e-9. All other values must be
    equal. Missing values agree with each other.

    Parameters
    ----------
    stored, recomputed : DataFrame
    keys : sequence of str
        Columns whose values name a row in the returned texts.

    Returns
    -------
    list of str
        One text per cell that differs, or a single text if the frames have different
        columns or lengths.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": ["a", "b"], "mean": [0.5, 0.25]})
    >>> compare_frames(frame, frame.assign(mean=[0.5, 0.26]), ["arm"])
    ['b: mean is 0.25, recomputed 0.26']
    >>> compare_frames(frame, frame.head(1), ["arm"])
    ['2 rows are stored, 1 recomputed']
    """
    if len(stored) != len(recomputed):
        return [f"{len(stored)} rows are stored, {len(recomputed)} recomputed"]
    if unmatched := set(stored) ^ set(recomputed):
        return [
            "stored and recomputed do not have the same columns:"
            f" {', '.join(sorted(map(str, unmatched)))}"
        ]

    differences = []
    for column in recomputed:
        old = stored[column].reset_index(drop=True)
        new = recomputed[column].reset_index(drop=True)

        # counts and texts must be equal, and so must columns of numbers and texts
        if pd.api.types.is_float_dtype(new) and pd.api.types.is_numeric_dtype(old):
            differ = ~np.isclose(
                old.astype(float), new, rtol=RTOL, atol=0, equal_nan=True
            )
        else:
            differ = np.array((old != new) & ~(old.isna() & new.isna()))

        for row in np.flatnonzero(differ):
            identity = " ".join(
                map(str, recomputed.iloc[row][list(dict.fromkeys(keys))].dropna())
            )
            differences.append(
                f"{identity}: {column} is {old[row]}, recomputed {new[row]}"
            )

    return differences


class Verification(NamedTuple):
    """Comparison of a recomputed result with the stored result.

    ``computed`` is the number of recomputed parts, and ``parts`` the number of all
    parts. The recomputation took ``seconds``.
    """

    name: str
    computed: int
    parts: int
    seconds: float
    differences: list[str]


def compare_result(
    name: str,
    chosen: Sequence[tuple[Any, ...]],
    *,
    tell: Callable[[str, int, int], None] | None = None,
    **how: Any,
) -> tuple[Verification, pd.DataFrame | None]:
    """Recompute parts of a result, and compare them with the stored parts.

    Parameters
    ----------
    name : str
    chosen : sequence of tuple
        Arguments of the parts to recompute.
    tell : callable, optional
        Function that is called as ``tell(name, done, parts)`` after each part.
    **how
        Options of parallel runs, as in `cobandit.replay_online`.

    Returns
    -------
    Verification
    DataFrame or None
        The recomputed result if all parts were recomputed, else the stored result; None
        if the result is not stored.
    """
    result = RESULTS[name]
    start = time.perf_counter()
    count = len(result.arguments())
    try:
        frame = read_result(name)
    except CobanditError as error:
        return Verification(name, 0, count, 0.0, [str(error)]), None

    differences: list[str] = []
    parts = []
    with spread(**how):
        recomputed_parts = Parallel(return_as="generator")(
            delayed(result.part)(*arguments) for arguments in chosen
        )
        for arguments, part in zip(chosen, recomputed_parts, strict=True):
            differences += compare_part(name, arguments, part)
            parts.append(part)
            if tell is not None:
                tell(name, len(parts), len(chosen))

    if parts and len(chosen) == count:
        recomputed = pd.concat(parts, ignore_index=True)
        if not differences and len(recomputed) != len(frame):
            differences = [
                f"{len(frame)} rows are stored, {len(recomputed)} recomputed"
            ]
        frame = recomputed

    return (
        Verification(
            name, len(chosen), count, time.perf_counter() - start, differences
        ),
        frame,
    )


def list_stale() -> Iterator[str]:
    """Yield the names of results whose code has changed since they were computed.

    Results that cannot be computed on this machine are left out.
    """
    entries = read_manifest()
    for name, result in RESULTS.items():
        if (
            result.arguments()
            and entries.get(name, {}).get("code") != result.checksum_code()
        ):
            yield name


def confirm() -> list[Verification]:
    """Recompute a sample of each result whose code has changed.

    If nothing differs, the manifest accepts the new code.
    """
    outcomes = []
    for name in list(list_stale()):
        outcome, _ = compare_result(name, sample_parts(name), workers=-1)
        if not outcome.differences:
            _enter(name, code=RESULTS[name].checksum_code())
        outcomes.append(outcome)
    return outcomes
