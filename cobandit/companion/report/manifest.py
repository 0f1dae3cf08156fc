"""What a report was made of, so that it can be made again, and so that an interrupted one goes on."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

import cobandit
from cobandit import _check
from cobandit.companion.report import pages
from cobandit.errors import CobanditError
from cobandit.files import replace_file
from cobandit.tables.safe_reading import first_fault
from cobandit.tables.storage import file_sha256

NAME = "manifest.json"
FORMAT: Literal["cobandit report, 1"] = "cobandit report, 1"
PACKAGES = ("cobandit", "joblib", "matplotlib", "numba", "numpy", "pandas", "papermill", "pyarrow", "scipy")


class Table(BaseModel):
    """The table of a report; its path, if it is a file, is seen from the report's folder: both can move."""

    name: str
    kind: str
    title: str
    source: str
    license: str
    path: str | None
    sha256: str
    card_sha256: str

    @property
    def version(self) -> tuple[str, str]:
        """Checksums of records and card."""
        return self.sha256, self.card_sha256


class Options(BaseModel):
    """What was asked for."""

    fast: bool
    seed: int
    pages: list[str] | None
    budget: float | None
    about: str = "instances"
    level: float


class Page(BaseModel):
    """A page with its parameters (without the dataset), or why it is left out; and what became of it."""

    page: str
    parameters: dict[str, Any]
    reason: str | None = None
    key: str = ""
    status: str = "to do"
    error: dict[str, Any] | None = None
    seconds: float | None = None
    files: dict[str, str] = {}

    def begin(self, table: Table) -> Page:
        """The page before it runs on a table.

        Its key is made of its source, its parameters, the table and the library.  How the work is spread is
        no part of it: no result depends on that.
        """
        identity = {name: value for name, value in self.parameters.items() if name != "how"}
        key = digest([pages.source(self.page), identity, *table.version, library_sha256()])
        status = "left out" if self.reason else "to do"
        return Page(page=self.page, parameters=self.parameters, reason=self.reason, key=key, status=status)

    def finished(self, folder: Path) -> bool:
        """Whether it ran, and all of its files are there and have their checksums."""
        return self.status == "done" and intact(folder, self.files)


class Manifest(BaseModel):
    """All of it, as it stands in ``manifest.json``."""

    format: Literal["cobandit report, 1"] = FORMAT
    command: str
    table: Table
    options: Options
    software: dict[str, str]
    recommendation: dict[str, str]
    pages: list[Page]

    def write(self, folder: Path) -> None:
        """Write it; a broken one is never left under its name."""
        with replace_file(folder / NAME) as partial:
            text = json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False)
            partial.write_text(text + "\n", encoding="utf-8")

    def results(self) -> dict[str, str]:
        """Checksums of the result files; notebooks hold paths."""
        files = [self.recommendation, *(page.files for page in self.pages)]
        return {name: sha for each in files for name, sha in each.items() if name.endswith(".csv")}


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises
    ------
    CobanditError
        If the file is missing or no manifest of a report, or lacks a field.
    """
    path = path / NAME if path.is_dir() else path
    try:
        checked = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CobanditError(
            f"manifest {path}: {error.strerror}; name the manifest.json of a report"
        ) from None
    except ValidationError as error:
        fault = first_fault(error)
        raise CobanditError(
            f"manifest {path}: {fault}; take the manifest.json of a report as it was written"
        ) from None
    for page in checked.pages:
        _check.choice(page.page, "page of the report", pages.KEPT_FRAMES)
    return checked


def digest(value: Any) -> str:
    """SHA-256 of a value's JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def library_sha256() -> str:
    """Checksum of the library's own source."""
    package = Path(cobandit.__file__).parent
    files = sorted(package.glob("**/*.py"))
    return digest([[path.relative_to(package).as_posix(), file_sha256(path)] for path in files])


def software() -> dict[str, str]:
    """Versions of what a report depends on."""
    versions = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **versions, "library_sha256": library_sha256()}


def intact(folder: Path, files: dict[str, str]) -> bool:
    """Whether all files are there and have their checksums."""
    return all((folder / name).is_file() and file_sha256(folder / name) == sha for name, sha in files.items())
