"""A file of checksummed lines that survives the death of its process; the journal says what they mean."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from cobandit.errors import CobanditError


def seal(body: bytes, crc: int) -> bytes:
    """A line from its body, an open JSON object, and the CRC-32 of the file before it."""
    return body + b', "crc": "%08x"}\n' % zlib.crc32(body, crc)


def unseal(line: bytes, crc: int) -> bytes | None:
    """The body of a line, None if the line does not fit its checksum."""
    body = line.rpartition(b', "crc": ')[0]
    return body if body and seal(body, crc) == line else None


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Look at what the whole lines of a file hold, up to the first that is damaged, without a lock."""
    crc, entries = 0, []
    for line in path.read_bytes().splitlines(keepends=True):
        body = unseal(line, crc)
        if body is None:
            break
        entries.append(json.loads(body + b"}"))
        crc = zlib.crc32(line, crc)
    return entries


class Lines:
    """One process's hold on a file of lines; `entries` are those found in it, oldest first.

    Opening changes nothing but that an absent file is made.  `mend` then removes what was being written
    when an earlier process died, and `append` adds to the file; neither returns before it is on the disk.
    The lock is on an empty file next to it, whose name ends with ``.lock``: on some systems nobody else could
    read a file that is locked itself.
    """

    def __init__(self, path: Path):
        if not path.parent.is_dir():
            raise CobanditError(f"{path}: there is no folder {path.parent}; make it first")
        self.path = path
        self.entries: list[dict[str, Any]] = []
        self._crc = 0  # of the file as far as it has been read or written
        # Never a lock that outlives its process, which is what it would fall back to.
        self._lock = FileLock(f"{path.resolve()}.lock", thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise CobanditError(
                f"{path} is open already, here or in another process: close it or let that process end, "
                "or give this run a file of its own"
            ) from None
        except OSError as error:
            raise CobanditError(
                f"{path} cannot be locked ({error}): choose a folder that you can write to, on a local disk"
            ) from error
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 (open as long as this object)
        except OSError as error:
            self._lock.release()
            raise CobanditError(f"{path} cannot be opened ({error})") from error
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """Whether nothing can be appended any more."""
        return self._file.closed

    def close(self) -> None:
        """Give the file up."""
        self._file.close()
        self._lock.release()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        *lines, tail = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not self._take(line + b"\n"):
                what = f"line {number} of {len(lines)} is damaged" + (", or it is no journal" * (number == 1))
                raise CobanditError(
                    f"{self.path}: {what}.  The file is left as it is.  Bring it back from a copy; without "
                    f"one, copy the lines before (the first {number - 1}) into a new file: what they do not "
                    "hold is evaluated again"
                )
        self._tail = tail
        self._whole = len(content) - len(tail)  # bytes of whole lines
        self._lacks_end = self._take(tail + b"\n")  # the tail is a line but for that

    def _take(self, line: bytes) -> bool:
        body = unseal(line, self._crc)
        if body is None:
            return False
        self.entries.append(json.loads(body + b"}"))
        self._crc = zlib.crc32(line, self._crc)
        return True

    def was_writing(self, entry: dict[str, Any]) -> bool:
        """Whether the file ends with a beginning of this entry, maybe an empty one."""
        return self._line(entry).startswith(self._tail)

    def _line(self, entry: dict[str, Any]) -> bytes:
        return seal(json.dumps(entry, allow_nan=False)[:-1].encode(), self._crc)

    def mend(self) -> None:
        """Complete or drop a last line that has no end."""
        if self._lacks_end:
            self._file.write(b"\n")
        else:
            self._file.truncate(self._whole)
        os.fsync(self._file.fileno())
        if hasattr(os, "O_DIRECTORY"):  # a new file is safe once its folder is on the disk
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def append(self, entry: dict[str, Any]) -> None:
        """Add a line; the file is closed, and the error holds the entry, if that fails."""
        line = self._line(entry)
        try:
            rest = memoryview(line)
            while rest:  # a write may take less than it was given
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self.close()
            raise CobanditError(
                f"{self.path}: could not write {json.dumps(entry)} ({error}).  It is closed: see to the "
                "disk, open it again with a fresh policy, and tell what was not written"
            ) from error
        except BaseException:
            self.close()
            raise
        self._crc = zlib.crc32(line, self._crc)
