"""Parsing logs in JSON as checked records, whose undeclared fields are ignored."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cobandit.errors import raise_fault
from cobandit.tables.bounded_files import read_bytes
from cobandit.tables.checked_fields import M, first_fault

#: A number in JSON; text that contains a number is rejected.
Number = Annotated[float, Field(strict=True)]


#: A number above zero and finite, so that a ratio with it is finite.
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LogRecord(BaseModel):
    """Part of a log; undeclared fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


def parse_json(kind: type[M], content: bytes | Path, place: str | Path = "") -> M:
    """Parse a record from a JSON file, or from bytes and a place for messages.

    Raises
    ------
    TableError
        If the file cannot be read or is not JSON, or if a field is missing or has the
        wrong type. The message names the first such field.

    Examples
    --------
    >>> class Toy(LogRecord):
    ...     size: float
    >>> parse_json(Toy, b'{"size": 2, "colour": "red"}', "toy.json").size
    2.0
    >>> parse_json(Toy, b'{}', "toy.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: toy.json: size: the field is missing -> check that ...
    """
    if isinstance(content, Path):
        place = content
        content = read_bytes(content)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        remedy = "check that this is the right file, complete and of this format"
        raise_fault(place, first_fault(error), remedy, "bad-record")


def plain_text(value: Any, place: str | Path, field: str) -> str:
    """Return a name as text; raise if a file cannot store it.

    Raises
    ------
    TableError
        If the name is blank, or has an unpaired surrogate (half a character).

    Examples
    --------
    >>> plain_text(17, "a.json", "the id")
    '17'
    """
    text = str(value)
    if not text.strip() or text.encode(errors="ignore").decode() != text:
        problem = f"{field} is blank or not valid text: {text[:60]!a}"
        raise_fault(place, problem, "correct this name in the log", "bad-text")
    return text
