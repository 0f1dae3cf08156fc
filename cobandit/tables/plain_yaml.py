"""Bounded reading of the small YAML files that people write: cards, and mappings of columns."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from cobandit.faults import stop

MAX_BYTES = 64 * 1024
"""Largest file, in bytes."""

MAX_DEPTH = 5
"""Deepest nesting; beyond a few levels the parser's time grows with the square of the depth."""


class _UniqueKeyLoader(yaml.SafeLoader):
    """Safe loading that refuses a repeated key, of which YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # the base class refuses it
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", node.start_mark
                )
            seen.add(key)
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
    depth, aliases = 0, False
    try:
        for event in yaml.parse(content, Loader=yaml.SafeLoader):
            aliases |= isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if aliases or depth > MAX_DEPTH:
                break
        else:
            return yaml.load(content, Loader=_UniqueKeyLoader)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not text, or a date that is none
        problem = " ".join(str(error).split())[:300]
        stop(path, f"the {what} is not valid YAML: {problem}", "correct the file")
    if aliases:
        stop(path, f"the {what} uses YAML aliases (*)", "write the values out")
    stop(
        path,
        f"the {what} is nested more than {MAX_DEPTH} deep",
        f"a {what} is plain: write its fields as they are",
    )
