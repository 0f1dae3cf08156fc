"""Prompts: templates of a plan, filled with the settings of a configuration and the fields of an instance."""

from __future__ import annotations

import csv
import io
import json
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cobandit.faults import nearest, stop
from cobandit.live.evaluators.core import EvaluatorOptions

Columns = Mapping[str, Any]
"""What a file says of an instance, by column."""


class InstancesFile(EvaluatorOptions):
    """A file of instances, CSV or JSON lines, and its column of ids."""

    file: str = Field(description="name a .csv or .jsonl file; a relative path starts where the plan is")
    column: str = Field("instance", description="name the column of the ids")


Instances = Annotated[
    InstancesFile, BeforeValidator(lambda given: {"file": given} if isinstance(given, str) else given)
]
"""The file alone, or with its column: the same that a plan's own ``instances`` may be."""


def read_instances(source: InstancesFile, folder: Path, wanted: Sequence[str]) -> dict[str, Columns]:
    """Read the columns of the wanted instances.

    Parameters
    ----------
    source : InstancesFile
    folder : Path
        Where a relative path starts.
    wanted : sequence of str
        Their ids.

    Returns
    -------
    dict
        Columns by id; what a CSV file holds is text.

    Raises
    ------
    TableError
        If the file cannot be read, repeats an id, or lacks one that is wanted.
    """
    path = folder / source.file
    rows: dict[str, Columns] = {}
    for where, row in _rows(path):
        if row.get(source.column) is None:
            remedy = f"{nearest(source.column, row)}name the column of the ids with column"
            stop(where, f"there is no {source.column!r}, but {', '.join(row)}", remedy)
        name = str(row[source.column])
        if name in rows:
            stop(where, f"the instance {name!r} was there before", "give each instance one line")
        rows[name] = row
    missing = [name for name in wanted if name not in rows]
    if missing:
        remedy = "add it, or leave it out of the plan's instances"
        stop(path, f"there is no instance {missing[0]!r}, of {len(missing)} that the plan names", remedy)
    return {name: rows[name] for name in wanted}


def _rows(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    from cobandit.tables.importers.files import read_bytes, read_lines  # pandas takes its time

    if not path.is_file():
        stop(path, "there is no such file", "check the path, which starts where the plan is")
    if path.suffix.lower() == ".jsonl":
        for where, line in read_lines(path):
            try:
                row = json.loads(line)
            except ValueError as error:
                stop(where, f"this is not JSON: {error}", "write one object a line")
            if not isinstance(row, dict):
                stop(where, "this is no object", 'write one a line: {"instance": ..., ...}')
            yield where, row
        return
    if path.suffix.lower() != ".csv":
        stop(path, "only .csv and .jsonl files are read here", "write the instances as one of them")
    try:
        reader = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True)
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                stop(where, "it has more or fewer values than there are columns", "correct it")
            yield where, row
    except (csv.Error, UnicodeDecodeError) as error:
        stop(path, f"this is no CSV file in UTF-8: {error}", "export it again")


class Template:
    """Text with ``{name}`` where a setting or a field of the instance goes; ``{{`` and ``}}`` are braces.

    Parameters
    ----------
    text : str
    where : str
        What messages call it.

    Raises
    ------
    TableError
        If a brace has no other, or what they hold is no name.

    Examples
    --------
    >>> Template("{question} Answer with {what}.", "prompt").fill({"question": "1 + 1?", "what": "a number"})
    '1 + 1? Answer with a number.'
    >>> Template("Answer as {} or {x}", "prompt")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: prompt: '{}' is no name in braces -> write {name}, and {{ }} for other braces
    """

    def __init__(self, text: str, where: str):
        remedy = "write {name}, and {{ }} for other braces"
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError as error:
            stop(where, f"its braces do not match ({error})", remedy)
        self.text, self.where = text, where
        self.names = tuple(dict.fromkeys(name for _, name, _, _ in parts if name is not None))
        for _, name, format_, conversion in parts:
            if name is not None and (not name.strip() or set(name) & set(".[") or format_ or conversion):
                shown = (
                    "{" + name + (f"!{conversion}" if conversion else "") + (f":{format_}" if format_ else "")
                )
                stop(where, f"'{shown}}}' is no name in braces", remedy)

    def check(self, settings: Iterable[str], columns: Iterable[str]) -> None:
        """Refuse a name that is neither a setting nor a column, or is both."""
        settings, columns = set(settings), set(columns)
        for name in self.names:
            if name in settings and name in columns:
                stop(
                    self.where, f"{{{name}}} is a setting and a column of the instances", "rename one of them"
                )
            if name not in settings | columns:
                known = sorted(settings | columns)
                remedy = f"{nearest(name, known)}there is {', '.join(known)}"
                stop(self.where, f"{{{name}}} is neither a setting nor a column of the instances", remedy)

    def fill(self, values: Mapping[str, Any]) -> str:
        """Put the values in."""
        return self.text.format_map(values)
