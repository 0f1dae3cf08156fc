"""The catalogue: tables that can be loaded by name, bundled or downloaded."""

import os
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd

from cobandit._text import suggest
from cobandit.errors import DatasetUnavailable, raise_fault
from cobandit.tables.card import Card, read_card
from cobandit.tables.storage import file_sha256, read
from cobandit.tables.table import EvaluationTable

#: Environment variable that disables downloads, unless its value is 0 or empty.
OFFLINE = "COBANDIT_OFFLINE"

#: Seconds without data after which a download is aborted.
PATIENCE = 8.0


#: Environment variable with the path of a folder. Records of a table NAME that
#: is not bundled are read from NAME/FILE in this folder, if this file exists.
MIRROR = "COBANDIT_MIRROR"


def data_directory() -> Path:
    """Return the folder with the descriptions (cards) of tables, and bundled records.

    Examples
    --------
    >>> (data_directory() / "synthetic-24.yml").is_file()
    True
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "data"
    return installed if installed.is_dir() else package.parent / "data"


def load(name: str) -> EvaluationTable:
    """Load a table of the catalogue by its name.

    The records of some tables come with the package. Other records are searched in the
    folder that the environment variable ``COBANDIT_MIRROR`` names, and then in the
    user's cache. If they are in neither, they are downloaded from the address on the
    table's card (its YAML description), unless ``COBANDIT_OFFLINE`` is set. The records
    must match the checksum on the card.

    Parameters
    ----------
    name : str
        A name that :func:`cobandit.datasets` lists.

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError
        If the name is unknown, or the file in ``COBANDIT_MIRROR`` does not match the
        checksum on the card.
    DatasetUnavailable
        If the records are not available anywhere. The message lists the attempts and
        the remedy.

    Examples
    --------
    >>> load("synthetic-24").n_arms
    24
    >>> load("synthetic-42")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: there is no table 'synthetic-42' ... -> did you mean ...
    """
    return read(find_records(name), _card(name))


def find_records(name: str) -> Path:
    """Return the path of a table's records, which are downloaded if necessary.

    Raises
    ------
    TableError, DatasetUnavailable
        As :func:`cobandit.load`.

    Examples
    --------
    >>> find_records("synthetic-24").name
    'synthetic-24.parquet'
    """
    card = _card(name)
    return _found(card)[1] or _fetch(card)


def open_table(name_or_path: str | Path) -> EvaluationTable:
    """Open a table, given its name in the catalogue or the path of its file.

    The catalogue has the tables that `cobandit.load` finds by name. A file needs a card
    (a YAML description) next to it. A path is read as a file if it has a suffix, or if
    the file exists. Any other text is a name in the catalogue.

    Parameters
    ----------
    name_or_path : str or Path

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError, DatasetUnavailable
        As :func:`cobandit.load` and :func:`cobandit.read`.

    Examples
    --------
    >>> open_table("synthetic-24").name
    'synthetic-24'
    """
    path = Path(name_or_path)
    if path.is_dir() and str(name_or_path) not in _cards():
        table = min(path.glob("*.parquet"), default=path / "table.parquet")
        raise_fault(
            path,
            "this is a folder",
            f"name the table in it, such as {table}",
            "is-a-folder",
        )
    return read(path) if path.suffix or path.is_file() else load(str(name_or_path))


def available(name: str) -> bool:
    """Return whether a table can be loaded offline; the network is not used.

    Raises
    ------
    TableError
        If the name is unknown.

    Examples
    --------
    >>> available("synthetic-24")
    True
    """
    return _found(_card(name))[1] is not None


def load_bundled() -> list[EvaluationTable]:
    """Load all tables that come with the package, in the order of the catalogue.

    Returns
    -------
    list of EvaluationTable

    Examples
    --------
    >>> [table.name for table in load_bundled()]
    ['gsm8k', 'piqa-small', 'piqa', 'synthetic-24', 'word-sums']
    """
    return [load(name) for name in _cards() if _card(name).origin is None]


def datasets() -> pd.DataFrame:
    """List the tables of the catalogue.

    Returns
    -------
    DataFrame
        One row per table, with ``name``, ``title``, ``kind``, ``license``,
        ``attribution``, ``source`` and ``availability`` (bundled, mirror, cached, or to
        be fetched).

    Examples
    --------
    >>> datasets().set_index("name").loc["synthetic-24", "availability"]
    'bundled'
    """
    fields = ["name", "title", "kind", "license", "attribution", "source"]
    cards = [read_card(path) for path in _cards().values()]
    listed = pd.DataFrame([card.model_dump() for card in cards])[fields]
    return listed.assign(availability=[_found(card)[0] for card in cards])


def _cards() -> dict[str, Path]:
    return {path.stem: path for path in sorted(data_directory().glob("*.yml"))}


def _card(name: str) -> Card:
    cards = _cards()
    if name not in cards:
        remedy = suggest(name, cards, f"known tables: {', '.join(cards)}")
        raise_fault(
            None,
            f"there is no table {name!r} in the catalogue",
            remedy,
            "unknown-table",
        )
    return read_card(cards[name])


def _places(card: Card) -> tuple[Path | None, Path]:
    """Return the paths of the records in the mirror (or None) and in the cache."""
    mirror = os.environ.get(MIRROR)
    inside = Path(card.name) / card.records
    return Path(mirror).expanduser() / inside if mirror else None, Path(
        _import_pooch().os_cache("cobandit")
    ) / inside


def _import_pooch() -> ModuleType:
    """Import pooch only for tables that are not bundled, because the import is slow."""
    with warnings.catch_warnings():
        # pooch loads tqdm, which warns in every notebook without ipywidgets
        warnings.simplefilter("ignore")
        return import_module("pooch")


def _found(card: Card) -> tuple[str, Path | None]:
    """Return the availability of the records, and their path (None if remote)."""
    if card.origin is None:
        return "bundled", data_directory() / card.records
    mirrored, cached = _places(card)
    if mirrored and mirrored.is_file():
        return "mirror", mirrored
    # a damaged file in the cache is downloaded again; a damaged file in the mirror is
    # an error, because the user put it there
    if cached.is_file() and file_sha256(cached) == card.sha256:
        return "cached", cached
    return "to be fetched", None


def _fetch(card: Card) -> Path:
    """Download the records into the cache, in one attempt."""
    assert card.origin is not None
    mirrored, cached = _places(card)
    pooch = _import_pooch()
    try:
        if os.environ.get(OFFLINE, "0") not in ("", "0"):
            raise PermissionError(f"not tried, because {OFFLINE} is set")

        path = pooch.retrieve(
            card.origin.url,
            known_hash=f"sha256:{card.sha256}",
            fname=cached.name,
            path=cached.parent,
            downloader=pooch.HTTPDownloader(timeout=PATIENCE),
        )
        return Path(path)
    except Exception as error:
        # the message reports any error: an unknown host, no connection, a full disk, a
        # wrong checksum
        raise DatasetUnavailable(
            f"the table {card.name!r} is not on this machine and could not be fetched."
            " Tried:\n- mirror:"
            f" {f'there is no {mirrored}' if mirrored else f'{MIRROR} is not set'}\n-"
            f" cache: {'damaged' if cached.is_file() else 'there is no'} {cached}\n-"
            f" origin: {card.origin.url}: {type(error).__name__}: {error}\nWhat to do:"
            f" connect to the network, with {OFFLINE} unset, and try again; or download"
            f" the file at that address to {cached}; or set {MIRROR} to a folder that"
            f" contains {card.name}/{card.records}.",
            argument=card.name,
            code="not-fetched",
        ) from None
