"""A file of lines under checksums that survives its process."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock, Timeout

from cobandit.errors import CobanditError
from cobandit.tables.whole_files import replace_file


def seal(body: bytes, crc: int) -> bytes:
    """Make a line from its body, an open JSON object, and the CRC-32 of the file before it."""
    return body + b', "crc": "%08x"}\n' % zlib.crc32(body, crc)


def _read_whole(content: bytes) -> tuple[list[dict[str, Any]], int, int]:
    """Read lines up to the first that does not fit its checksum: entries, their CRC-32 and bytes."""
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
    """Read the whole lines of a file, without a lock; a file that is absent has none."""
    if not path.exists():
        return []
    entries, _, _ = _read_whole(path.read_bytes())
    return entries


class Closable(Protocol):
    """Something that can be closed."""

    def close(self) -> None: ...  # noqa: D102 (above)


@contextmanager
def closed_by_errors(
    target: Closable, but: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Close something at any error or interrupt, after which its state is not known."""
    try:
        yield
    except but:
        raise
    except BaseException:
        target.close()
        raise


class Lines:
    """A file of lines that one process holds; `entries` are those found in it, oldest first.

    Opening changes nothing but that an absent file is made.  `mend` then removes what
    was being written when an earlier process died, and `append` adds to the file;
    neither returns before it is on the disk. Once `file` is closed, by `close` or by an
    error of `append`, nothing can be appended any more. The lock is on an empty file
    next to it, whose name ends with ``.lock``: on some systems nobody else could read a
    file that is locked itself.
    """

    def __init__(self, path: Path):
        if not path.parent.is_dir():
            raise CobanditError(
                f"{path}: there is no folder {path.parent}. Make it first"
            )

        self.path = path

        # a soft lock, which it would fall back to, outlives its process
        self._lock = FileLock(
            f"{path.resolve()}.lock", thread_local=False, fallback_to_soft=False
        )
        try:
            self._lock.acquire(blocking=False)
            self.file = open(path, "a+b", buffering=0)  # noqa: SIM115 (open as long as this object)
        except Timeout:
            raise CobanditError(
                f"{path} is open already, here or in another process. Close it or let"
                " that process end, or choose another file"
            ) from None
        except OSError as error:
            self._lock.release()
            raise CobanditError(
                f"{path} cannot be locked and opened ({error}): choose a folder that"
                " you can write to, on a local disk"
            ) from error

        with closed_by_errors(self):
            self.file.seek(0)
            content = self.file.read()
            # with a newline more, which may be all that the last line lacks
            self.entries, self._crc, self._whole = _read_whole(content + b"\n")
            self._tail = content[self._whole :]
            self._lacks_end = self._whole > len(content)
            if b"\n" in self._tail:
                n_good = len(self.entries)
                n_lines = content.count(b"\n")
                raise CobanditError(
                    f"{path}: line {n_good + 1} of {n_lines} is damaged, or this is no"
                    " journal. The file is left as it is. Bring it back from a copy;"
                    f" without one, copy the lines before (the first {n_good}) into a"
                    " new file: evaluations that they do not have are made again"
                )

    def close(self) -> None:
        """Close the file, and release its lock."""
        self.file.close()
        self._lock.release()

    def was_writing(self, entry: dict[str, Any]) -> bool:
        """Whether the file ends with a beginning of this entry, maybe an empty one."""
        return self._line(entry).startswith(self._tail)

    def _line(self, entry: dict[str, Any]) -> bytes:
        return seal(json.dumps(entry, allow_nan=False)[:-1].encode(), self._crc)

    def mend(self) -> None:
        """Complete or drop a last line that has no end."""
        if self._lacks_end:
            self.file.write(b"\n")
        else:
            self.file.truncate(self._whole)
        os.fsync(self.file.fileno())
        # a new file is safe once its folder is on the disk
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
            # some systems replace no file that is open; the lock is on another one
            self.file.close()
            with replace_file(self.path) as partial, open(partial, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        finally:
            self.close()

    def append(self, entry: dict[str, Any]) -> None:
        """Add a line; the file is closed, and the error holds the entry, if that fails."""
        line = self._line(entry)
        with closed_by_errors(self):
            try:
                rest = memoryview(line)
                while rest:  # a write may take less than it was given
                    rest = rest[self.file.write(rest) :]
                os.fsync(self.file.fileno())
            except OSError as error:
                raise CobanditError(
                    f"{self.path}: could not write {json.dumps(entry)} ({error}). It is"
                    " closed: see to the disk, open it again with a fresh policy, and"
                    " tell what was not written"
                ) from error

        self._crc = zlib.crc32(line, self._crc)
