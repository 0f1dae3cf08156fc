"""Settings of configurations in logs, and names that are made from settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.checked_json import plain_text
from cobandit.tables.importers.log_choices import choose

#: Value of a setting that a log lacks.
UNSET = "not set"

#: Longest value of a setting, in characters, that a name contains in full.
_LONGEST = 40


#: Settings that do not change any answer, such as the number of connections.
_OF_THE_MACHINE = frozenset(
    [
        "max_connections",
        "adaptive_connections",
        "max_retries",
        "timeout",
        "attempt_timeout",
        "max_samples",
        "max_tasks",
        "max_subprocesses",
        "max_sandboxes",
        "batch",
        "batch_size",
        "max_batch_size",
        "num_concurrent",
        "concurrent",
        "device",
        "base_url",
        "host",
        "port",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "gpu_memory_utilization",
        "parallelize",
        "device_map",
        "cache",
        "cache_prompt",
        "verbosity",
        "log_level",
    ]
)


_SECRET = re.compile(
    r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE
)


def collect_settings(
    file: str | Path, model: Any, *groups: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Merge groups of a configuration's settings; later groups take precedence.

    Plain values are kept (text, numbers, true, false), except secrets and settings of
    the machine, such as its number of concurrent requests.

    Raises
    ------
    TableError
        If the settings do not name the model.

    Examples
    --------
    >>> generation = {"top_k": 1, "stop": ["."]}
    >>> secret = {"temperature": 0.7, "api_key": "x"}
    >>> collect_settings("a.json", "m", generation, secret)
    {'top_k': 1, 'temperature': 0.7, 'model': 'm'}
    """
    if not isinstance(model, str):
        raise_fault(
            file,
            "the file does not name the model",
            "check that the file is complete, and from the same run as the other files",
            "no-model",
        )

    merged: dict[str, Any] = {}
    for group in groups:
        merged |= {
            str(key): value for key, value in (group or {}).items() if value is not None
        }

    # a whole number that is too large for a column, such as a long seed, is kept as
    # text
    settings = {
        key: str(value) if type(value) is int and abs(value) >= 2**53 else value
        for key, value in merged.items()
        if isinstance(value, (str, bool, int, float))
        and key not in _OF_THE_MACHINE
        and not _SECRET.search(key)
    }
    return settings | {"model": plain_text(model, file, "the model")}


def name_configurations(
    settings: Sequence[Mapping[str, Any]],
    chosen_settings: Sequence[str],
    reserved: Container[str],
) -> pd.DataFrame:
    """Name the configuration of each log by its model and the settings that differ.

    Parameters
    ----------
    settings : sequence of mapping
        Settings of each log's configuration.
    chosen_settings : sequence of str
        Settings that distinguish configurations; if empty, all settings that differ.
    reserved : container of str
        Reserved column names; a setting with such a name is renamed to ``..._setting``.

    Returns
    -------
    DataFrame
        One row per log: ``config``, the name of the configuration, and its descriptive
        columns.

    Raises
    ------
    TableError
        If a chosen setting is in no log.

    Examples
    --------
    >>> settings = [{"model": "m", "top_p": 1}, {"model": "m", "top_p": 0.7}]
    >>> name_configurations(settings, (), ())
            config model  top_p
    0  m top_p=1.0     m    1.0
    1  m top_p=0.7     m    0.7
    """
    names_of_settings = {name for run_settings in settings for name in run_settings}
    chosen = [
        choose("setting", name, names_of_settings, "--by") for name in chosen_settings
    ]
    names = [
        "model",
        *(name for name in chosen or find_differing(settings) if name != "model"),
    ]
    columns = {
        f"{name}_setting" if name in reserved else name: _unify(
            [run_settings.get(name) for run_settings in settings]
        )
        for name in names
    }
    described = pd.DataFrame(columns)
    labels = [
        " ".join(
            [
                run_settings["model"],
                *(f"{name}={value}" for name, value in row.items() if name != "model"),
            ]
        )
        for run_settings, row in zip(
            settings, described.to_dict("records"), strict=True
        )
    ]
    described.insert(0, "config", labels)
    return described


def find_differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the sorted names of settings that differ or are missing in some logs.

    Examples
    --------
    >>> settings = [{"model": "m", "top_k": 1}, {"model": "m", "top_k": 1.0, "seed": 3}]
    >>> find_differing(settings)
    ['seed']
    """
    names = sorted({name for run_settings in settings for name in run_settings})
    return [
        name
        for name in names
        if len({spell(run_settings.get(name)) for run_settings in settings}) > 1
    ]


def sum_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return a short checksum of each setting, for later comparisons.

    Examples
    --------
    >>> sum_settings({"top_k": 1}) == sum_settings({"top_k": 1.0})
    True
    """
    return {name: checksum(spell(value)) for name, value in settings.items()}


def checksum(text: str) -> str:
    """Return a short checksum of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _unify(values: list[Any]) -> list[Any]:
    """Return values of one type: all numbers, all booleans, or otherwise text."""
    kinds = set(map(type, values))
    if kinds <= {int, float} or kinds == {bool}:
        return values
    return [UNSET if value is None else shorten(str(value)) for value in values]


def shorten(text: str) -> str:
    """Shorten text that is long or has unusual white space, and add a checksum."""
    plain = " ".join(text.split())
    if plain == text and 0 < len(text) <= _LONGEST:
        return text
    return f"{plain[:24]}... ({checksum(text)})"


def spell(value: Any) -> str:
    """Write a value so that 1 and 1.0 agree, but 1, true and "1" differ.

    Examples
    --------
    >>> spell(1), spell(1.0), spell(True), spell("1")
    ('1.0', '1.0', 'True', "'1'")
    """
    return repr(float(value)) if type(value) is int else repr(value)


def find_begin(created: str, *samples: str | None) -> float:
    """Return the start of a run in seconds since 1970; 0 if no time can be read.

    The start is the time of the first sample, because the logged creation time may be
    rounded down to seconds. A retry also contains samples from before its creation,
    which are ignored.

    Examples
    --------
    >>> samples = (None, "1970-01-01T00:00:07", "1970-01-01T01:00:31.5+01:00")
    >>> find_begin("1970-01-01T00:00:30", *samples)
    31.5
    >>> find_begin("1970-01-01T00:00:30"), find_begin("soon")
    (30.0, 0.0)
    """
    times = [created, *filter(None, samples)]
    first, *began = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce")
    read = min((time for time in began if time >= first), default=first)
    return 0.0 if pd.isna(read) else float(read.timestamp())
