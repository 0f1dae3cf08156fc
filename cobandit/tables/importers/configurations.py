"""What makes a configuration: the settings that a log names, those that differ, and the name made of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cobandit.faults import nearest, stop
from cobandit.tables.importers.core import is_number
from cobandit.tables.importers.files import plain_text

UNSET = "not set"
_LONGEST = 40
_SECRET = re.compile(r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE)


def settings_of(file: str | Path, model: Any, *groups: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge what a log says of its configuration, later groups winning.

    What is plain is kept (text, numbers, true, false), and no secret.

    Raises
    ------
    TableError
        If the model is not named.

    Examples
    --------
    >>> settings_of("a.json", "m", {"temperature": 0.0, "until": ["."]}, {"temperature": 0.7, "api_key": "x"})
    {'temperature': 0.7, 'model': 'm'}
    """
    if not isinstance(model, str):
        stop(file, "it does not name the model", "check that it is complete, and of the same run")
    merged: dict[str, Any] = {}
    for group in groups:
        merged |= {str(key): value for key, value in (group or {}).items() if value is not None}
    plain = {key: value for key, value in merged.items() if is_number(value) or isinstance(value, str)}
    # a whole number that no column could hold exactly, such as a long seed, is kept as text
    known = {
        key: str(value) if type(value) is int and abs(value) >= 2**53 else value
        for key, value in plain.items()
        if not _SECRET.search(key)
    }
    return known | {"model": plain_text(model, file, "the model")}


class Configurations(NamedTuple):
    """The configurations of some logs: for each log its name and its descriptive columns.

    ``names`` are the settings that make a configuration, ``columns`` what the table calls them.
    """

    names: list[str]
    columns: list[str]
    labels: list[str]
    described: list[dict[str, Any]]


def configurations(
    settings: Sequence[Mapping[str, Any]], by: Sequence[str], taken: Sequence[str]
) -> Configurations:
    """Name the configuration of each log: its model and the settings that differ, or those asked for.

    Parameters
    ----------
    settings : sequence of mapping
        What each log says of its configuration.
    by : sequence of str
        Settings that make a configuration; empty for all that differ.
    taken : sequence of str
        Columns that no setting can have; it is called ``..._setting`` there.

    Raises
    ------
    TableError
        If a setting that is asked for is in no log.

    Examples
    --------
    >>> logs = [{"model": "m", "temperature": 0}, {"model": "m", "temperature": 0.7}]
    >>> configurations(logs, (), ()).labels
    ['m temperature=0.0', 'm temperature=0.7']
    """
    known = sorted({name for each in settings for name in each})
    for name in by:
        if name not in known:
            problem = f"no log has the setting {name!r} of --by"
            stop("the logs", problem, f"{nearest(name, known)}there is {', '.join(known)}")
    names = ["model", *(name for name in (by or differing(settings)) if name != "model")]
    columns = [f"{name}_setting" if name in taken else name for name in names]
    described = _plain([dict(zip(columns, map(each.get, names), strict=True)) for each in settings])
    labels = [_label(each["model"], chosen) for each, chosen in zip(settings, described, strict=True)]
    return Configurations(names, columns, labels, described)


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the settings that are not the same in all logs, sorted; one that is missing differs.

    Examples
    --------
    >>> differing([{"model": "m", "top_k": 1}, {"model": "m", "top_k": 1.0, "seed": 3}])
    ['seed']
    """
    known = sorted({name for each in settings for name in each})
    return [name for name in known if len({_key(each.get(name)) for each in settings}) > 1]


def checksums(settings: Mapping[str, Any]) -> dict[str, str]:
    """Short checksums of settings: enough to tell whether two are the same, not to read them.

    Examples
    --------
    >>> checksums({"top_k": 1}) == checksums({"top_k": 1.0})
    True
    """
    return {name: _checksum(_key(value)) for name, value in settings.items()}


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _key(value: Any) -> str:
    """Tell values apart: 1 and 1.0 are the same, 1 and true or 1 and its numeral are not."""
    return repr(float(value)) if type(value) is int else repr(value)


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each column one type: numbers if all of its values are, else text."""
    for name in rows[0]:
        kinds = {type(row[name]) for row in rows}
        if not (kinds <= {int, float} or kinds == {bool}):
            for row in rows:
                row[name] = UNSET if row[name] is None else _short(str(row[name]))
        elif kinds == {int, float}:
            for row in rows:
                row[name] = float(row[name])
    return rows


def _short(text: str) -> str:
    """Keep names readable: what is long or has odd white space is its beginning and a checksum."""
    plain = " ".join(text.split())
    if plain == text and 0 < len(text) <= _LONGEST:
        return text
    return f"{plain[:24]}... ({_checksum(text)})"


def _label(model: str, described: Mapping[str, Any]) -> str:
    rest = [f"{name}={value}" for name, value in described.items() if name != "model"]
    return " ".join([model, *rest])
