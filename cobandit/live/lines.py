"""A file of lines with checksums, which stays readable after a crash."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock, Timeout

from cobandit.errors import raise_fault
from cobandit.tables.whole_files import replace_file


def seal(body: bytes, crc: int) -> bytes:
    """Complete a line: append the checksum to a JSON object, and close the object.

    ``crc`` is the CRC-32 of all lines before.
    """
    return body + b', "crc": "%08x"}\n' % zlib.crc32(body, crc)


def _read_whole(content: bytes) -> tuple[list[dict[str, Any]], int, int]:
    """Read lines up to the first line that does not match its checksum.

    Returns the entries, and the CRC-32 and size of their lines.
    """
    crc = 0
    size = 0
    entries = []
    for line in content.splitlines(keepends=True):
        body = line.rpartition(b', "crc": ')[0]
        if not body or seal(body, crc) != line:
            break
        entries.append(json.loads(body + b"}"))
        crc = zlib.crc32(line, crc)
        size += len(line)
    return entries, crc, size


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file's complete lines; none if the file is missing.

    The file is not locked.
    """
    if not path.exists():
        return []
    entries, _, _ = _read_whole(path.read_bytes())
    return entries


class Closable(Protocol):
    """An object that can be closed."""

    def close(self) -> None:
        """Close the object."""


@contextmanager
def closed_by_errors(
    target: Closable, but: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Close an object after any error whose type is not in ``but``.

    After an error or an interrupt, the state of the object is unknown.
    """
    try:
        yield
    except but:
        raise
    except BaseException:
        target.close()
        raise


class Lines:
    """A file of JSON lines with checksums, which one process at a time can open.

    Opening creates a missing file, but does not change an existing one. `mend`
    completes or removes a last line whose writing was interrupted, and `append` adds a
    line. Both methods return only when the change is on the disk. After `close`, or
    after an error in `append`, no line can be appended. The lock is on an empty file
    next to this one (``.lock``), because on some systems no other process can read a
    locked file.

    Attributes
    ----------
    entries : list of dict
        The complete lines at the time of opening, oldest first.
    """

    def __init__(self, path: Path):
        if not path.parent.is_dir():
            problem = f"there is no folder {path.parent}"
            raise_fault(path, problem, "create this folder first", "no-folder")

        self.path = path

        # no soft lock, because it would remain after a crash
        self._lock = FileLock(
            f"{path.resolve()}.lock", thread_local=False, fallback_to_soft=False
        )
        try:
            self._lock.acquire(blocking=False)
            self.file = open(path, "a+b", buffering=0)  # noqa: SIM115 (open as long as this object)
        except Timeout:
            problem = "the file is already open, in this or another process"
            remedy = (
                "close it, wait until the other process ends, or choose another file"
            )
            raise_fault(path, problem, remedy, "open-elsewhere")
        except OSError as error:
            self._lock.release()
            problem = f"the file cannot be locked and opened: {error}"
            remedy = "choose a folder on a local disk that you can write to"
            raise_fault(path, problem, remedy, "not-lockable")

        with closed_by_errors(self):
            self.file.seek(0)
            content = self.file.read()
            # a newline is added, because it may be the only missing part of the last
            # line
            self.entries, self._crc, self._whole = _read_whole(content + b"\n")
            self._tail = content[self._whole :]
            self._lacks_end = self._whole > len(content)
            if b"\n" in self._tail:
                n_good = len(self.entries)
                n_lines = content.count(b"\n")
                problem = (
                    f"line {n_good + 1} of {n_lines} is damaged, or this is not a"
                    " journal"
                )
                remedy = (
                    f"restore the file from a backup; or copy its first {n_good} lines"
                    " into a new file, so that only later evaluations are repeated."
                    " This file was not changed"
                )
                raise_fault(path, problem, remedy, "damaged-journal")

    def close(self) -> None:
        """Close the file, and release its lock."""
        self.file.close()
        self._lock.release()

    def was_writing(self, entry: dict[str, Any]) -> bool:
        """Return whether the incomplete last line is the beginning of this entry."""
        return self._line(entry).startswith(self._tail)

    def _line(self, entry: dict[str, Any]) -> bytes:
        return seal(json.dumps(entry, allow_nan=False)[:-1].encode(), self._crc)

    def mend(self) -> None:
        """Complete or remove a last line without a newline."""
        if self._lacks_end:
            self.file.write(b"\n")
        else:
            self.file.truncate(self._whole)
        os.fsync(self.file.fileno())
        # a new file is durable only after its folder is flushed
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def replace(self, entries: Sequence[dict[str, Any]]) -> None:
        """Replace all entries at once, and close the file."""
        content = b""
        for entry in entries:
            content += seal(
                json.dumps(entry, allow_nan=False)[:-1].encode(), zlib.crc32(content)
            )

        try:
            # closed first, because some systems cannot replace an open file; the .lock
            # file remains locked
            self.file.close()
            with replace_file(self.path) as partial, open(partial, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        finally:
            self.close()

    def append(self, entry: dict[str, Any]) -> None:
        """Add a line.

        Raises
        ------
        TableError
            If the line cannot be written. The file is then closed, and the message
            contains the entry.
        """
        line = self._line(entry)
        with closed_by_errors(self):
            try:
                remaining = memoryview(line)
                while remaining:  # a write may be partial
                    remaining = remaining[self.file.write(remaining) :]
                os.fsync(self.file.fileno())
            except OSError as error:
                problem = (
                    f"a line could not be written, and the file is closed: {error}"
                )
                remedy = (
                    "check the disk, open the file again with a fresh policy, and"
                    " report the content of this line"
                )
                lost = json.dumps(entry)
                raise_fault(self.path, problem, remedy, "not-written", lost)

        self._crc = zlib.crc32(line, self._crc)
