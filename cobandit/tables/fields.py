"""From a YAML file that somebody wrote to a model of its fields, or one error that lists what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from cobandit.faults import Fault, TableError, refuse, stop, suggest

MAX_BYTES = 64 * 1024
"""Largest file, in bytes."""

MAX_DEPTH = 5
"""Deepest nesting; beyond a few levels the parser's time grows with the square of the depth."""


class _NotPlain(Exception):
    """What is wrong with a file that is YAML, and what to do."""


class _PlainLoader(yaml.SafeLoader):
    """Safe loading without aliases, deep nesting, and repeated keys, of which YAML would keep the last."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _NotPlain("uses YAML aliases (*)", "write the values out")
        self.depth += 1
        if self.depth > MAX_DEPTH and not self.check_event(yaml.ScalarEvent):
            raise _NotPlain(f"is nested more than {MAX_DEPTH} deep", "write its fields as they are")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        # one that is not hashable is refused by the base class
        repeated = [key for key, n in Counter(k for k in keys if isinstance(k, Hashable)).items() if n > 1]
        if repeated:
            problem = f"the key {repeated[0]!r} is given twice"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, what: str) -> Any:
    """Load a YAML file safely; refuse what could keep the parser busy without end.

    Parameters
    ----------
    path : Path
    what : str
        What the file is, for messages: card, mapping.

    Returns
    -------
    Any
        Plain values; None for a blank file.

    Raises
    ------
    TableError
        If the file is missing, cannot be read, is larger than `MAX_BYTES`, nested deeper than `MAX_DEPTH`,
        uses aliases, gives a key twice, or is not YAML.

    Examples
    --------
    >>> load_yaml(Path("nowhere.yml"), "mapping")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere.yml: there is no such mapping -> check the path
    """
    if not path.is_file():
        stop(path, f"there is no such {what}", "check the path")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        stop(path, f"the {what} cannot be read: {error.strerror}", "check its permissions")
    if len(content) > MAX_BYTES:
        stop(path, f"the {what} has more than the {MAX_BYTES:,} bytes that are read", f"shorten the {what}")
    try:
        return yaml.load(content, Loader=_PlainLoader)
    except _NotPlain as error:
        stop(path, f"the {what} {error.args[0]}", error.args[1])
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not text, or a date that is none
        problem = " ".join(str(error).split())[:300]
        stop(path, f"the {what} is not valid YAML: {problem}", "correct the file")


class Fields(BaseModel):
    """A model whose fields' descriptions are remedies: what to write there; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=BaseModel)


def check_fields(model: type[M], content: Any, source: str | Callable[[str], str], context: Any = None) -> M:
    """Make a model of fields, or raise one error that lists what is wrong with them.

    Validators of the model refuse by `cobandit.faults.stop`, with None for the place.

    Parameters
    ----------
    model : class
        Its fields' descriptions are the remedies.
    content : mapping
        The fields as they were written.
    source : str or callable
        The file, for messages; or what to call a field, where the fields are not in a file.
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
    cobandit.faults.TableError: 2 faults
    - my.yml, field 'width': the field is missing -> give the width in pixels
    - my.yml, field 'widht': unknown key 'widht' -> did you mean 'width'? known keys: width
    """
    try:
        return model.model_validate(content, context=context)
    except ValidationError as error:
        refuse(_fault(model, source, dict(detail)) for detail in error.errors())
        raise


def _fault(model: type[BaseModel], source: str | Callable[[str], str], detail: dict[str, Any]) -> Fault:
    """Translate one of pydantic's error entries."""
    place = ".".join(str(part) for part in detail["loc"])
    where = source(place) if callable(source) else f"{source}, field {place!r}" if place else source
    field = None
    for part in detail["loc"]:  # the field at fault, or the one that holds it; a number is a place in a list
        if part in model.model_fields:
            field = model.model_fields[part]
            model = _inner(field.annotation) or model
    if detail["type"] == "extra_forbidden":
        known, key = list(model.model_fields), str(detail["loc"][-1])
        remedy = suggest(key, known, f"known keys: {', '.join(known)}")
        return Fault(where, f"unknown key {key!r}", remedy)
    if detail["type"] == "value_error":  # of a validator of ours, which does not know where it is
        error = detail["ctx"]["error"]
        if isinstance(error, TableError):
            return replace(error.faults[0], file=where)
        return Fault(where, str(error), "correct it")
    missing = detail["type"] == "missing"
    message = detail["msg"].replace("a valid tuple", "a list")  # YAML knows no tuples
    problem = "the field is missing" if missing else f"{message}, not {detail['input']!r}"
    return Fault(where, problem, (field.description if field else None) or "correct it")


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, itself or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner, get_args(annotation))), None)
