"""Reading zip archives member by member, with limits on sizes."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pyarrow as pa

from cobandit.errors import CobanditError, raise_fault

#: Largest member of an archive once expanded, in bytes.
MAX_MEMBER = 256 * 1024**2

#: Largest sum of the expanded sizes that the archive states, in bytes. Only one member
#: is in memory at a time.
MAX_EXPANDED = 16 * 1024**3

#: Zip's number of the Zstandard method, which Inspect has used since 2026.
ZSTANDARD = 93
COPY_AGAIN = "copy or export the file again"


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[list[str], Callable[[str], bytes]]]:
    """Open a zip archive; yield the names of its members, and a function to read one.

    Raises
    ------
    TableError
        If the archive is damaged, encrypted, compressed by an unsupported method, or
        larger than the limits when expanded.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_names(path, members)
            _check_sizes(path, members)
            yield archive.namelist(), lambda name: _read_member(archive, name)
    except CobanditError:
        raise
    except Exception as error:
        # a damaged archive makes zipfile raise many kinds of exceptions, from
        # BadZipFile to struct.error
        problem = (
            f"this is not a complete zip archive ({type(error).__name__}: {error})"
        )
        raise_fault(path, problem, COPY_AGAIN, "bad-archive")


def _check_names(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Raise if the path of a member leads out of the archive, as in an attack."""
    for member in members:
        name = PurePosixPath(member.filename.replace("\\", "/"))
        has_drive = ":" in "".join(name.parts[:1])
        if name.is_absolute() or ".." in name.parts or has_drive:
            problem = f"the member {member.filename!r} has a path outside the archive"
            remedy = "do not trust this archive, which no evaluation tool has written"
            raise_fault(path, problem, remedy, "unsafe-archive")


def _check_sizes(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    claimed = sum(member.file_size for member in members)
    largest = max((member.file_size for member in members), default=0)
    if claimed > MAX_EXPANDED or largest > MAX_MEMBER:
        problem = (
            f"the archive's expanded size is {claimed:,} bytes, with {largest:,} in one"
            " member"
        )
        remedy = (
            "split the evaluation into several logs: the limits are"
            f" {MAX_EXPANDED:,} bytes in total and {MAX_MEMBER:,} per member"
        )
        raise_fault(path, problem, remedy, "archive-too-large")


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member, up to its stated size, and verify its checksum."""
    member = archive.getinfo(name)
    if member.compress_type == ZSTANDARD:
        return _zstandard(archive, member)

    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = f"{name} has the unsupported compression {member.compress_type}"
        remedy = "convert the log to JSON: inspect log convert --to json"
        raise_fault(archive.filename, problem, remedy, "unknown-compression")

    with archive.open(member) as file:
        return file.read(MAX_MEMBER)


def _zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Read a Zstandard member with Arrow; zipfile cannot do so before Python 3.14."""
    with open(str(archive.filename), "rb") as file:
        file.seek(member.header_offset)
        # the header of a member ends in the lengths of its name and its extra field
        header = file.read(30)
        name, extra = struct.unpack("<HH", header[26:30])
        file.seek(name + extra, 1)
        packed = file.read(member.compress_size)
    content: bytes = pa.decompress(packed, member.file_size, "zstd", asbytes=True)
    if zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"the checksum of {member.filename} is wrong")
    return content
