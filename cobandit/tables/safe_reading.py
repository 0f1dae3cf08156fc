"""Bounded and safe reading of files that nobody vouches for: YAML, JSON and archives into checked models.

Nothing is ever unpacked to disk or executed.
"""

import codecs
import fnmatch
import math
import reprlib
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar, get_args

import pyarrow as pa
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cobandit._text import suggest
from cobandit.errors import CobanditError, Fault, TableError, raise_fault, raise_if_any

#: Largest file, in bytes.
MAX_BYTES = 64 * 1024

#: Deepest nesting: a schema of answers in a request has ten levels or so, and the
#: parser's time grows with the square of the depth.
MAX_DEPTH = 32


class _PlainLoader(yaml.SafeLoader):
    """Safe loading without aliases, deep nesting, and repeated keys, of which YAML would keep the last."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it uses YAML aliases (*)")
        self.depth += 1
        if self.depth > MAX_DEPTH and not self.check_event(yaml.ScalarEvent):
            raise yaml.YAMLError(f"it is nested more than {MAX_DEPTH} deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        # one that is not hashable is refused by the base class
        repeated = [
            key
            for key, n in Counter(k for k in keys if isinstance(k, Hashable)).items()
            if n > 1
        ]
        if repeated:
            raise yaml.YAMLError(f"the key {repeated[0]!r} is given twice")
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, what: str, remedy: str = "check the path") -> Any:
    """Load a YAML file safely; refuse what could keep the parser busy without end.

    Parameters
    ----------
    path : Path
    what : str
        What the file is, for messages: card, mapping.
    remedy : str
        What to do if it is missing.

    Returns
    -------
    Any
        Plain values.

    Raises
    ------
    TableError
        If the file is missing, empty, cannot be read, is larger than `MAX_BYTES`,
        nested deeper than `MAX_DEPTH`, uses aliases, gives a key twice, or is not YAML.

    Examples
    --------
    >>> load_yaml(Path("nowhere.yml"), "mapping")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.yml: there is no such mapping -> check the path
    """
    if not path.is_file():
        raise_fault(path, f"there is no such {what}", remedy)
    content = read_bytes(path, MAX_BYTES)
    try:
        return yaml.load(content, Loader=_PlainLoader)
    except (yaml.YAMLError, ValueError) as error:
        # ValueError: not text, or a date that is none
        problem = " ".join(str(error).split())[:300]
        raise_fault(
            path, f"the {what} is not valid YAML: {problem}", "correct the file"
        )


class Fields(BaseModel):
    """A model whose fields' descriptions are remedies: what to write there; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=BaseModel)


def check_fields(
    model: type[M],
    content: Any,
    source: str | Callable[[str], str],
    context: Any = None,
) -> M:
    """Make a model of fields, or raise one error that lists what is wrong with them.

    Validators of the model refuse by `cobandit.errors.raise_fault`, with None for the
    place.

    Parameters
    ----------
    model : class
        Its fields' descriptions are the remedies.
    content : mapping
        The fields as they were written.
    source : str or callable
        The file, for messages; or what to call a field, where the fields are not in a
        file.
    context : object, optional
        For the model's validators.

    Raises
    ------
    TableError
        With every fault, its field and what to do.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Size(Fields):
    ...     width: int = Field(gt=0, description="give the width in pixels")
    >>> check_fields(Size, {"widht": 3}, "my.yml")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 2 faults
    - my.yml, field 'width': the field is missing -> give the width in pixels
    - my.yml, field 'widht': unknown key 'widht' -> did you mean 'width'? known keys: width
    """
    try:
        return model.model_validate(content, context=context)
    except ValidationError as error:
        raise_if_any(_fault(model, source, dict(detail)) for detail in error.errors())
        raise


def _fault(
    model: type[BaseModel], source: str | Callable[[str], str], detail: dict[str, Any]
) -> Fault:
    """Translate one of pydantic's error entries."""
    place = ".".join(str(part) for part in detail["loc"])
    where = (
        source(place)
        if callable(source)
        else f"{source}, field {place!r}"
        if place
        else source
    )
    remedy = "correct it"

    # the field at fault, or the one that holds it; a number is a place in a list
    for part in detail["loc"]:
        if field := model.model_fields.get(part):
            remedy = field.description or "correct it"
            model = _inner(field.annotation) or model

    if detail["type"] == "extra_forbidden":
        known, key = list(model.model_fields), str(detail["loc"][-1])
        remedy = suggest(key, known, f"known keys: {', '.join(known)}")

    error = detail.get("ctx", {}).get("error")

    # of a validator of ours, which does not know where it is
    if isinstance(error, TableError):
        fault = error.faults[0]
        # of a file it names
        problem = f"{fault.file}: {fault.problem}" if fault.file else fault.problem
        return replace(fault, file=where, problem=problem)

    return Fault(where, _word(detail), remedy, code=detail["type"])


def _word(detail: dict[str, Any]) -> str:
    """Describe the problem with a value."""
    if detail["type"] == "extra_forbidden":
        return f"unknown key {detail['loc'][-1]!r}"
    if detail["type"] == "json_invalid":
        return f"this is not JSON, or it is cut short ({detail['msg']})"
    if detail["type"] == "missing":
        return "the field is missing"
    if detail["type"] == "value_error":  # ours, which says what it got
        return str(detail["ctx"]["error"])

    given = reprlib.repr(detail["input"])  # bounded, whatever the input
    if detail["type"] == "model_type":
        return f"fields with values are needed, not {given}"
    if detail["type"] == "string_pattern_mismatch":  # the remedy says what can
        return f"{given} cannot stand here"

    # files know no tuples
    return f"{detail['msg'].replace('a valid tuple', 'a list')}, not {given}"


def _inner(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds, itself or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner, get_args(annotation))), None)


#: Largest file that is read, in bytes.
MAX_FILE = 1024**3

#: Largest member of an archive once expanded, in bytes.
MAX_MEMBER = 256 * 1024**2

#: Largest sum of what the members of one archive claim to expand to, in bytes; one is
#: held at a time.
MAX_EXPANDED = 16 * 1024**3

#: Method of compression, in the numbering of zip, that Inspect uses since 2026.
ZSTANDARD = 93

COPY_AGAIN = "copy or export it again"


#: A number that is written as one, not as text.
Number = Annotated[float, Field(strict=True)]

#: What divides or is divided: neither zero nor infinite.
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Record(BaseModel):
    """Part of a log; undeclared fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


def find_files(paths: Sequence[Path], patterns: Sequence[str], what: str) -> list[Path]:
    """List the files that are meant: those named, and those in the named folders that fit a pattern.

    Raises
    ------
    TableError
        If a path does not exist, a file fits no pattern, or a folder has no file that
        does.

    Examples
    --------
    >>> find_files([Path("nowhere")], ["*.eval"], "Inspect logs")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere: there is no such file or folder -> check the path
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise_fault(path, "there is no such file or folder", "check the path")
        within = sorted(path.rglob("*")) if path.is_dir() else [path]
        fitting = [file for file in within if _fits(file, patterns) and file.is_file()]
        if not fitting:
            raise_fault(
                path, f"no {what} found", f"they are named {' or '.join(patterns)}"
            )
        found |= dict.fromkeys(fitting)
    return list(found)


def _fits(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a file's name fits a pattern, in capitals or not."""
    return any(
        fnmatch.fnmatchcase(path.name.lower(), pattern.lower()) for pattern in patterns
    )


def check_size(path: Path, most: float = math.inf) -> None:
    """Refuse a file that is empty, or has more bytes than are read."""
    size = path.stat().st_size
    if size > most:
        raise_fault(
            path,
            f"the file has {size:,} bytes, more than the {most:,} that are read",
            "shorten it",
        )
    if not size:
        raise_fault(
            path, "the file is empty", "write or export it again, with its data"
        )


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a whole file that is neither blank nor larger than so many bytes, by default ``MAX_FILE``."""
    try:
        check_size(path, most or MAX_FILE)
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise_fault(
            path,
            f"the file cannot be read: {error.strerror}",
            "check its path and permissions",
        )

    if not content.strip():
        raise_fault(
            path, "the file is empty", "write or export it again, with its data"
        )

    return content


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Go through the lines of a JSON Lines file that are not blank, each with the place where it stands."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line


def parse(kind: type[M], content: bytes | Path, where: str | Path = "") -> M:
    """Read JSON as the given kind of record, from a file, or bytes and where they stand.

    Raises
    ------
    TableError
        If it cannot be read, is not JSON, or lacks a field, or one has the wrong type;
        the message names the first.

    Examples
    --------
    >>> class Toy(Record):
    ...     size: float
    >>> parse(Toy, b'{"size": 2, "colour": "red"}', "toy.json").size
    2.0
    >>> parse(Toy, b'{}', "toy.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: toy.json: size: the field is missing -> check that this is ...
    """
    if isinstance(content, Path):
        where, content = content, read_bytes(content)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise_fault(
            where,
            first_fault(error),
            "check that this is the right file, complete and of this format",
        )


def first_fault(error: ValidationError) -> str:
    """Word the first of pydantic's complaints in one line."""
    detail = error.errors(include_url=False)[0]
    place, problem = ".".join(str(part) for part in detail["loc"]), _word(dict(detail))
    return f"{place}: {problem}" if place else problem


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[list[str], Callable[[str], bytes]]]:
    """Open a zip whose members do not claim to expand beyond bounds; nothing of it is unpacked to disk.

    Gives the names of its members, and what reads one of them.

    Raises
    ------
    TableError
        If the archive is damaged, encrypted, compressed by an unbounded method, or
        expands beyond bounds.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            for member in members:  # no evaluation wrote such a name
                parts = PurePosixPath(member.filename.replace("\\", "/"))
                if (
                    parts.is_absolute()
                    or ".." in parts.parts
                    or ":" in "".join(parts.parts[:1])
                ):
                    raise_fault(
                        path,
                        f"the member {member.filename!r} leads out of the archive",
                        "do not trust it",
                    )
            claimed = sum(member.file_size for member in members)
            largest = max((member.file_size for member in members), default=0)
            if claimed > MAX_EXPANDED or largest > MAX_MEMBER:
                problem = (
                    f"it claims to expand to {claimed:,} bytes, {largest:,} of them in"
                    " one member"
                )
                most = f"at most {MAX_EXPANDED:,} and {MAX_MEMBER:,} are read"
                raise_fault(path, problem, f"{most}: split the evaluation")
            yield archive.namelist(), lambda name: _read_member(archive, name)
    except CobanditError:
        raise
    except Exception as error:
        # zipfile answers damage with a dozen kinds of exceptions, from BadZipFile to
        # struct.error
        raise_fault(
            path,
            f"this is not a complete zip archive ({type(error).__name__}: {error})",
            COPY_AGAIN,
        )


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member whole, and no more of it than it claimed to hold; its size and sum are checked."""
    member = archive.getinfo(name)
    if member.compress_type == ZSTANDARD:
        return _zstandard(archive, member)

    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        how = (
            f"{name} is compressed by method {member.compress_type}, which is not read"
        )
        raise_fault(
            str(archive.filename),
            how,
            "convert the log to JSON: inspect log convert --to json",
        )

    with archive.open(member) as file:
        return file.read(MAX_MEMBER)


def _zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Read a member that zipfile cannot expand (before Python 3.14) with Arrow's codec."""
    with open(str(archive.filename), "rb") as file:
        file.seek(member.header_offset)
        # a member's own header ends in the lengths of its name and its extra field
        header = file.read(30)
        name, extra = struct.unpack("<HH", header[26:30])
        file.seek(name + extra, 1)
        packed = file.read(member.compress_size)
    content: bytes = pa.decompress(packed, member.file_size, "zstd", asbytes=True)
    if zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"the sum of {member.filename} is wrong")
    return content


def plain_text(value: Any, where: str | Path, what: str) -> str:
    """Return a name as text that can be stored and shown.

    Raises
    ------
    TableError
        If it is blank, or holds half a character.

    Examples
    --------
    >>> plain_text(17, "a.json", "the id")
    '17'
    """
    text = str(value)
    if not text.strip() or text.encode(errors="ignore").decode() != text:
        raise_fault(
            where,
            f"{what} is blank or not valid text: {text[:60]!a}",
            "correct the log",
        )
    return text
