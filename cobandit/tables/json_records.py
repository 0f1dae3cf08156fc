"""Finding the records in a JSON file, and flattening their nested fields."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

#: Column for the key of a record, if the records are the values of an object.
KEY = "key"

#: Prefix of columns for fields of a file that are next to its records.
OF_FILE = "file."

#: Fields that name the items of a list, such as the metrics of a sample.
LABELS = ("name", "key", "metric")

#: Largest number of fields next to the records that become columns, and largest number
#: of characters of such a field.
MOST_FIELDS = 100
LONGEST_FIELD = 200

#: If an object has at least this number of records, the records are not searched for
#: further records.
FEW_RECORDS = 3

JsonRecord = dict[str, Any]


class FoundRecords(NamedTuple):
    """Records that were found in a JSON value, and the fields next to them."""

    #: Keys that lead to the records, separated by points.
    path: str
    #: The records.
    records: list[JsonRecord]
    #: Short fields next to the records, which apply to all of them.
    beside: JsonRecord


def search_records(value: Any) -> list[FoundRecords]:
    """Return the largest list of records in a JSON value.

    Returns
    -------
    list of FoundRecords
        Usually one entry. There are several if lists have equal sizes, and none if
        there are no records.

    Examples
    --------
    >>> content = {"model": "m", "results": {"rows": [{"id": 1}, {"id": 2}]}}
    >>> (found,) = search_records(content)
    >>> found.path, found.records, found.beside
    ('results.rows', [{'id': 1}, {'id': 2}], {'file.model': 'm'})
    """
    candidates = list(_search(value, ()))

    # Among candidates of equal size, lists are preferred, because an object of records
    # may have another meaning. A single record in an object counts only at the top.
    rank = [(len(records), is_list) for _, records, is_list in candidates]
    largest = [
        candidate
        for candidate, its in zip(candidates, rank, strict=True)
        if its == max(rank)
    ]
    if rank and max(rank) == (1, False):
        largest = [candidate for candidate in largest if not candidate[0]]
    return [
        FoundRecords(".".join(keys), records, _fields_beside(value, keys))
        for keys, records, _ in largest
    ]


def follow_path(value: Any, path: str) -> FoundRecords | None:
    """Return the records at the end of dot-separated keys, or None.

    A key may itself contain dots. An object in none of the forms of `as_records` counts
    as one record.

    Examples
    --------
    >>> follow_path({"v1.5": {"a": {"ok": 1}, "b": {"ok": 0}}}, "v1.5").records
    [{'key': 'a', 'ok': 1}, {'key': 'b', 'ok': 0}]
    """
    inner = value
    keys = []
    remainder = path
    while remainder:
        if not isinstance(inner, Mapping):
            return None
        fitting = [
            key for key in inner if remainder == key or remainder.startswith(f"{key}.")
        ]
        if not fitting:
            return None
        key = max(fitting, key=len)
        keys.append(key)
        inner = inner[key]
        remainder = remainder[len(key) + 1 :]

    records = as_records(inner)
    if records is None:
        records = [inner] if isinstance(inner, dict) else []
    return FoundRecords(path, records, _fields_beside(value, keys))


def as_records(value: Any) -> list[JsonRecord] | None:
    """Return a JSON value as a list of records, or None if it has no known form.

    The forms are

    * a list of objects,
    * an object with names of columns and rows of values, as in tables of Weights &
      Biases and MLflow,
    * an object of columns, as pandas writes it,
    * an object of records, or of lists of records, by name,
    * several lists of names, one of which has all names.

    Examples
    --------
    >>> as_records({"columns": ["id", "ok"], "data": [[1, True], [2, False]]})
    [{'id': 1, 'ok': True}, {'id': 2, 'ok': False}]
    >>> as_records({"ok": {"0": 1, "1": 0}, "id": {"0": "a", "1": "b"}})
    [{'ok': 1, 'id': 'a'}, {'ok': 0, 'id': 'b'}]
    >>> as_records({"all": ["a", "b"], "ok": ["b"]})
    [{'key': 'a', 'all': True, 'ok': False}, {'key': 'b', 'all': True, 'ok': True}]
    """
    if _is_objects(value):
        return list(value)
    if not isinstance(value, Mapping):
        return None

    for read in (
        _read_rows,
        _read_columns,
        _read_by_name,
        _read_lists_by_name,
        _read_lists_of_names,
    ):
        records = read(value)
        if records:
            return records

    return None


def flatten(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dot-separated path and value of each field of nested objects.

    A list of named items is read as an object, and a list with one number as that
    number.

    Examples
    --------
    >>> metrics = [{"name": "exact", "score": [1]}]
    >>> dict(flatten({"usage": {"tokens": 3}, "metrics": metrics}))
    {'usage.tokens': 3, 'metrics.exact.score': 1}
    """
    for key, value in record.items():
        named = _name_items(value)
        inner = value if named is None else named
        if isinstance(inner, Mapping) and inner:
            yield from flatten(inner, f"{prefix}{key}.")
        elif (
            isinstance(value, list)
            and len(value) == 1
            and isinstance(value[0], (int, float))
        ):
            yield f"{prefix}{key}", value[0]
        else:
            yield f"{prefix}{key}", value


def _search(
    value: Any, keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[JsonRecord], bool]]:
    """Yield all records in a value and in nested objects.

    Each result is a tuple: the keys that lead to the records, the records, and whether
    the records are a list.
    """
    records = as_records(value)
    if records:
        yield keys, records, isinstance(value, list)
    if not isinstance(value, Mapping) or len(records or ()) >= FEW_RECORDS:
        return
    for key, inner in value.items():
        yield from _search(inner, (*keys, key))


def _fields_beside(value: Any, keys: Sequence[str]) -> JsonRecord:
    """Return the short fields of an object that apply to all records inside it."""
    fields: JsonRecord = {}
    prefix = OF_FILE
    for key in keys:
        others = {name: field for name, field in value.items() if name != key}
        for name, field in flatten(others, prefix):
            if (
                isinstance(field, (str, int, float))
                and len(str(field)) <= LONGEST_FIELD
            ):
                fields[name] = field
        prefix += f"{key}."
        value = value[key]
    return dict(list(fields.items())[:MOST_FIELDS])


def _name_items(value: Any) -> JsonRecord | None:
    """Return the items of a list by name; None unless all have unique names."""
    if not _is_objects(value):
        return None
    for label in LABELS:
        names = [item.get(label) for item in value]
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(
            names
        ):
            return {
                item[label]: {key: field for key, field in item.items() if key != label}
                for item in value
            }
    return None


def _is_objects(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def _read_rows(value: Mapping[str, Any]) -> list[JsonRecord]:
    """Return the records of an object with names of columns and rows of values."""
    columns = value.get("columns")
    rows = value.get("data")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return []
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        return []
    names = [str(name) for name in columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _read_columns(value: Mapping[str, Any]) -> list[JsonRecord]:
    """Return the records of an object of columns.

    A column is a list, or an object keyed by row number.
    """
    columns = {
        name: list(column.values()) if _is_numbered(column) else column
        for name, column in value.items()
    }
    if not all(isinstance(column, list) for column in columns.values()):
        return []

    lengths = {len(column) for column in columns.values()}
    plain = not any(
        isinstance(cell, (dict, list)) for cell in chain.from_iterable(columns.values())
    )
    if len(columns) < 2 or len(lengths) != 1 or not plain:
        return []

    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def _is_numbered(column: Any) -> bool:
    """Return whether a value is an object whose keys are the numbers from 0."""
    return isinstance(column, dict) and list(column) == [
        str(row) for row in range(len(column))
    ]


def _read_by_name(value: Mapping[str, Any]) -> list[JsonRecord]:
    """Return the records of an object whose values are mostly records."""
    records = {
        name: record for name, record in value.items() if isinstance(record, dict)
    }
    if len(records) <= len(value) - len(records):
        return []
    # records of one kind share fields; a single record is only recognised if the object
    # has no other value
    if not set.intersection(*(set(record) for record in records.values())):
        return []
    return [{KEY: name} | record for name, record in records.items()]


def _read_lists_by_name(value: Mapping[str, Any]) -> list[JsonRecord]:
    """Return the records of an object of lists of records."""
    if not value or not all(_is_objects(records) for records in value.values()):
        return []
    if len(value) < 2 or not set.intersection(
        *(set(records[0]) for records in value.values())
    ):
        return []
    return [
        {KEY: name} | record for name, records in value.items() for record in records
    ]


def _read_lists_of_names(value: Mapping[str, Any]) -> list[JsonRecord]:
    """Return one record per name, given lists of names of which one has all names."""
    lists = {
        key: names
        for key, names in value.items()
        if isinstance(names, list) and _is_names(names)
    }
    if len([names for names in lists.values() if names]) < 2:
        return []

    longest: Sequence[str] = max(lists.values(), key=len)
    members = {key: set(names) for key, names in lists.items()}
    if any(not names <= set(longest) for names in members.values()):
        return []

    return [
        {KEY: name} | {key: name in names for key, names in members.items()}
        for name in longest
    ]


def _is_names(names: list[Any]) -> bool:
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(
        names
    )
