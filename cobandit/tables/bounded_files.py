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
    """Return all files at some paths whose names match a pattern, also in folders.

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
            remedy = f"give files (or a folder of files) named {' or '.join(patterns)}"
            raise_fault(path, f"there are no {kind} here", remedy, "no-matching-file")
        files |= dict.fromkeys(fitting)
    return list(files)


def _fits(path: Path, patterns: Sequence[str]) -> bool:
    """Return whether a file's name matches a pattern; case is ignored."""
    return any(
        fnmatch.fnmatchcase(path.name.lower(), pattern.lower()) for pattern in patterns
    )


def check_size(path: Path, largest: float = math.inf) -> None:
    """Raise an error if a file is empty, or larger than ``largest`` bytes."""
    size = path.stat().st_size
    if size > largest:
        problem = f"the file has {size:,} bytes, but the limit is {largest:,}"
        raise_fault(path, problem, "split or shorten the file", "file-too-large")
    if not size:
        _refuse_empty(path)


def _refuse_empty(path: Path) -> NoReturn:
    remedy = "write or export the file again, with its data"
    raise_fault(path, "the file is empty", remedy, "empty-file")


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """Return the content of a file; raise if it is blank or too large.

    The limit is ``largest`` bytes, or `MAX_FILE`.
    """
    try:
        check_size(path, largest or MAX_FILE)
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror}"
        raise_fault(path, problem, "check the path and permissions", "unreadable-file")

    if not content.strip():
        _refuse_empty(path)

    return content


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the place and the content of each line that is not blank.

    The place is the file and the line number, as text for messages.
    """
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line
