"""Checks of a user's fields by a pydantic model; one error lists every fault."""

import reprlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from cobandit._text import suggest
from cobandit.errors import Fault, TableError, raise_if_any


class Fields(BaseModel):
    """Base class of models that reject unknown fields.

    The description of a field is the remedy in the message about an invalid value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=BaseModel)


def check_fields(
    model: type[M],
    content: Any,
    source: str | Callable[[str], str],
    context: Any = None,
) -> M:
    """Make a model from fields, or raise one error that lists every fault.

    Validators of the model call `cobandit.errors.raise_fault` with None as the place,
    because they do not know the place of a value. This function adds it.

    Parameters
    ----------
    model : class
        Pydantic model. The descriptions of its fields are the remedies in messages.
    content : mapping
        Fields as the user wrote them.
    source : str or callable
        File that is named in messages; for fields outside of files, a function that
        returns the place of a field.
    context : object, optional
        Passed to the model's validators.

    Raises
    ------
    TableError
        If a field is missing, unknown or wrong. The message lists every fault with its
        field and a remedy.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Size(Fields):
    ...     width: int = Field(gt=0, description="give the width in pixels")
    >>> check_fields(Size, {"widht": 3}, "my.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 2 faults
    - my.yml, field 'width': the field is missing -> give the width in pixels
    - my.yml, field 'widht': unknown key 'widht' -> did you mean 'width'? known ...
    """
    try:
        return model.model_validate(content, context=context)
    except ValidationError as error:
        raise_if_any(_fault(model, source, dict(detail)) for detail in error.errors())
        raise


def _fault(
    model: type[BaseModel], source: str | Callable[[str], str], detail: dict[str, Any]
) -> Fault:
    """Convert an error entry of pydantic to a fault."""
    place = ".".join(str(part) for part in detail["loc"])
    in_file = f"{source}, field {place!r}" if place else str(source)
    location = source(place) if callable(source) else in_file

    # the remedy is from the innermost field on the path of the fault; a number in the
    # path is a position in a list
    remedy = "correct this field"
    for part in detail["loc"]:
        if field := model.model_fields.get(part):
            remedy = field.description or "correct this field"
            model = _find_model(field.annotation) or model

    if detail["type"] == "extra_forbidden":
        keys = list(model.model_fields)
        key = str(detail["loc"][-1])
        remedy = suggest(key, keys, f"known keys: {', '.join(keys)}")

    # faults of our own validators have no place yet
    error = detail.get("ctx", {}).get("error")
    if isinstance(error, TableError):
        fault = error.faults[0]
        # a validator may have read a file that the field names, and the fault is then
        # about this file
        problem = f"{fault.file}: {fault.problem}" if fault.file else fault.problem
        return replace(fault, file=location, problem=problem)

    return Fault(location, describe_problem(detail), remedy, code=detail["type"])


def describe_problem(detail: dict[str, Any]) -> str:
    """Describe the problem of an entry in pydantic's list of errors."""
    if detail["type"] == "extra_forbidden":
        return f"unknown key {detail['loc'][-1]!r}"
    if detail["type"] == "json_invalid":
        return f"this is not JSON, or JSON that is cut off ({detail['msg']})"
    if detail["type"] == "missing":
        return "the field is missing"
    # errors of our validators name the value themselves
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])

    value = reprlib.repr(detail["input"])  # of limited length
    if detail["type"] == "model_type":
        return f"a mapping of fields to values is needed, not {value}"
    # the remedy says which values are allowed
    if detail["type"] == "string_pattern_mismatch":
        return f"{value} is not allowed here"

    # files have lists, not tuples
    return f"{detail['msg'].replace('a valid tuple', 'a list')}, not {value}"


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model class in a field's type, such as Model in ``list[Model]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_find_model, get_args(annotation))), None)


def first_fault(error: ValidationError) -> str:
    """Describe the first fault of pydantic's error in one line."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in detail["loc"])
    problem = describe_problem(dict(detail))
    return f"{place}: {problem}" if place else problem
