"""The bundled evaluation tables, in the order in which the book shows them."""

from collections.abc import Iterable

import pandas as pd

#: Reconstructions of the paper's tables, our measured tables, and an example.
ORDER = ("gsm8k", "piqa", "word-sums", "piqa-small", "synthetic-24")


def sort_by_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by ``dataset``: bundled tables in the book's order, then other tables.

    The rows of other tables keep their order.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": ["mine", "word-sums", "gsm8k"]})
    >>> sort_by_table(frame)["dataset"].tolist()
    ['gsm8k', 'word-sums', 'mine']
    """
    by_place = frame["dataset"].map(_place)
    return frame.iloc[by_place.argsort(kind="stable")]


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names of tables: bundled tables in the book's order, then other tables.

    The names of other tables keep their order.

    Examples
    --------
    >>> sort_names(["mine", "word-sums", "gsm8k"])
    ['gsm8k', 'word-sums', 'mine']
    """
    return sorted(names, key=_place)


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)
