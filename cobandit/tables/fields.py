"""From what a YAML file holds to a model of its fields, or one error that lists what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from cobandit.faults import Fault, nearest, refuse


class Fields(BaseModel):
    """A model whose fields' descriptions are remedies: what to write there; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=BaseModel)


def check_fields(model: type[M], content: Any, source: str | Callable[[str], str], context: Any = None) -> M:
    """Make a model of fields, or raise one error that lists what is wrong with them.

    Validators of the model write what they refuse as ``problem -> remedy``.

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
        remedy = f"{nearest(key, known)}known keys: {', '.join(known)}"
        return Fault(where, f"unknown key {key!r}", remedy)
    if detail["type"] == "value_error":  # ours, written as problem -> remedy
        problem, _, remedy = detail["msg"].removeprefix("Value error, ").partition(" -> ")
        return Fault(where, problem, remedy)
    missing = detail["type"] == "missing"
    message = detail["msg"].replace("a valid tuple", "a list")  # YAML knows no tuples
    problem = "the field is missing" if missing else f"{message}, not {detail['input']!r}"
    return Fault(where, problem, (field.description if field else None) or "correct it")


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, itself or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner, get_args(annotation))), None)
