"""Reading YAML files of plain values, without aliases, deep nesting or equal keys."""

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from cobandit.errors import raise_fault
from cobandit.tables.bounded_files import read_bytes

#: Largest file, in bytes.
MAX_BYTES = 64 * 1024

#: Deepest nesting. A JSON schema in a request has about ten levels, and the parser's
#: time grows with the square of the depth.
MAX_DEPTH = 32


class _PlainLoader(yaml.SafeLoader):
    """A safe loader that refuses aliases, deep nesting and repeated keys.

    PyYAML itself would silently keep the last of repeated keys.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("YAML aliases (*) are not allowed")
        self.depth += 1
        if self.depth > MAX_DEPTH and not self.check_event(yaml.ScalarEvent):
            raise yaml.YAMLError(f"values are nested more than {MAX_DEPTH} deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        # the base class refuses keys that are not hashable
        counts = Counter(key for key in keys if isinstance(key, Hashable))
        repeated = [key for key, count in counts.items() if count > 1]
        if repeated:
            raise yaml.YAMLError(f"the key {repeated[0]!r} is given twice")
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, kind: str, remedy: str = "check the path") -> Any:
    """Return the values of a YAML file; raise for input that could hang the parser.

    Parameters
    ----------
    path : Path
    kind : str
        Kind of file, for messages, such as card or mapping.
    remedy : str
        Remedy if the file is missing.

    Returns
    -------
    Any
        Plain values.

    Raises
    ------
    TableError
        If the file is missing, empty, unreadable or not YAML, is larger than
        `MAX_BYTES`, is nested deeper than `MAX_DEPTH`, or has an alias or a repeated
        key.

    Examples
    --------
    >>> load_yaml(Path("nowhere.yml"), "mapping")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.yml: there is no such mapping -> check the path
    """
    if not path.is_file():
        raise_fault(path, f"there is no such {kind}", remedy, "no-file")
    content = read_bytes(path, MAX_BYTES)
    try:
        return yaml.load(content, Loader=_PlainLoader)
    except (yaml.YAMLError, ValueError) as error:
        # ValueError: the file is not text, or a date in it does not exist
        problem = f"the {kind} is not valid YAML: {' '.join(str(error).split())[:300]}"
        raise_fault(path, problem, "correct the file", "not-yaml")
