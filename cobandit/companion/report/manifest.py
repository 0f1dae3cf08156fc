"""What a report was made of, so that it can be made again, and so that an interrupted one goes on."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

import cobandit
from cobandit import _check
from cobandit.companion.report import pages
from cobandit.companion.report.plan import KEPT_FRAMES
from cobandit.errors import CobanditError
from cobandit.files import replace_file
from cobandit.tables.importers.safe_reading import first_fault
from cobandit.tables.storage import file_sha256

FORMAT = "cobandit report, 1"
NAME = "manifest.json"
PACKAGES = ("cobandit", "joblib", "matplotlib", "numba", "numpy", "pandas", "papermill", "pyarrow", "scipy")


def digest(value: Any) -> str:
    """SHA-256 of bytes, or of a value's JSON.

    Examples
    --------
    >>> digest({"a": 1})[:8] == digest(b'{"a": 1}')[:8]
    True
    """
    content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def library_sha256() -> str:
    """Checksum of the library's own source."""
    package = Path(cobandit.__file__).parent
    files = sorted(package.glob("**/*.py"))
    return digest([[path.relative_to(package).as_posix(), file_sha256(path)] for path in files])


def software() -> dict[str, str]:
    """Versions of what a report depends on."""
    versions = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **versions, "library_sha256": library_sha256()}


def key(page: str, parameters: dict[str, Any], table: dict[str, Any]) -> str:
    """Identity of an executed page: its source, its parameters, the table and the library.

    How the work is spread is no part of it: no result depends on that.
    """
    identity = {name: value for name, value in parameters.items() if name != "how"}
    return digest([pages.source(page), identity, table["sha256"], table["card_sha256"], library_sha256()])


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest; a broken one is never left under its name."""
    with replace_file(folder / NAME) as partial:
        partial.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Table(_Part):
    name: str
    kind: str
    title: str
    source: str
    license: str
    path: str | None
    sha256: str
    card_sha256: str


class _Options(_Part):
    fast: bool
    seed: int
    pages: list[str] | None
    budget: float | None
    about: str = "instances"
    level: float


class _Page(_Part):
    page: str
    parameters: dict[str, Any]
    reason: str | None
    key: str
    status: str
    error: dict[str, Any] | None
    seconds: float | None
    files: dict[str, str]


class _Manifest(_Part):
    command: str
    table: _Table
    options: _Options
    software: dict[str, str]
    recommendation: dict[str, str]
    pages: list[_Page]


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest.

    Raises
    ------
    CobanditError
        If the file is missing or no manifest of a report, or lacks a field.
    """
    path = path / NAME if path.is_dir() else path
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CobanditError(
            f"manifest {path}: {error.strerror}; name the manifest.json of a report"
        ) from None
    except ValueError:
        raise CobanditError(
            f"manifest {path}: this is not JSON; name the manifest.json of a report"
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CobanditError(f"manifest {path}: this is no manifest of a {FORMAT!r}")
    try:
        checked = _Manifest.model_validate(found)
    except ValidationError as error:
        fault = first_fault(error)
        raise CobanditError(f"manifest {path}: {fault}; take one that no one has edited") from None
    for entry in checked.pages:
        _check.choice(entry.page, "page of the report", KEPT_FRAMES)
    return found


def intact(folder: Path, files: dict[str, str]) -> bool:
    """Whether all files are there and have their checksums."""
    return all((folder / name).is_file() and file_sha256(folder / name) == sha for name, sha in files.items())
