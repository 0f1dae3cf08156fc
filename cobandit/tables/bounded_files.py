"""Finding a user's files by name patterns, and reading them up to a size limit."""

import codecs
import fnmatch
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from cobandit.errors import raise_fault

#: Largest file that is read, in bytes.
MAX_FILE = 1024**3


def find_files(paths: Sequence[Path], patterns: Sequence[str], kind: str) -> list[Path]:
    """List the named files, and the files of named folders that match a pattern.

    Raises
    ------
    TableError
        If a path does not exist, a file matches no pattern, or a folder has no matching
        file.

    Examples
    --------
    >>> find_files([Path("nowhere")], ["*.eval"], "logs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere: there is no such file or folder -> check ...
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            problem = "there is no such file or folder"
            raise_fault(path, problem, "check the path", "no-file")
        within = sorted(path.rglob("*")) if path.is_dir() else [path]
        fitting = [file for file in within if _fits(file, patterns) and file.is_file()]
        if not fitting:
            remedy = f"they are named {' or '.join(patterns)}"
            raise_fault(path, f"no {kind} found", remedy, "no-matching-file")
        files |= dict.fromkeys(fitting)
    return list(files)


def _fits(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a file's name matches a pattern; upper and lower case are equal."""
    return any(
        fnmatch.fnmatchcase(path.name.lower(), pattern.lower()) for pattern in patterns
    )


def check_size(path: Path, largest: float = math.inf) -> None:
    """Refuse a file that is empty, or larger than ``largest`` bytes."""
    size = path.stat().st_size
    if size > largest:
        problem = f"the file has {size:,} bytes, but the limit is {largest:,}"
        raise_fault(path, problem, "shorten it", "file-too-large")
    if not size:
        _refuse_empty(path)


def _refuse_empty(path: Path) -> NoReturn:
    remedy = "write or export it again, with its data"
    raise_fault(path, "the file is empty", remedy, "empty-file")


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """Read a non-blank file of at most ``largest`` or `MAX_FILE` bytes."""
    try:
        check_size(path, largest or MAX_FILE)
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror}"
        raise_fault(path, problem, "check its path and permissions", "unreadable-file")

    if not content.strip():
        _refuse_empty(path)

    return content


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the place (file and line number) and content of each non-blank line."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line
