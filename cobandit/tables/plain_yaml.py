"""Bounded reading of the small YAML files that people write: cards, and mappings of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from cobandit.faults import stop

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
