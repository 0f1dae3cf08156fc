"""How objects show themselves in a notebook: a line, a compact table, and lines below it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Rows of a table, at most; of a longer one the first and the last are shown.
MOST_ROWS = 12


def as_html(headline: str, frame: pd.DataFrame, notes: Iterable[str] = ()) -> str:
    """Write HTML that a notebook shows in the place of a `repr`.

    Parameters
    ----------
    headline : str
    frame : DataFrame
        Numbers are written with four digits, and names are text whatever they hold.
    notes : iterable of str
        Lines below the table.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> shown = as_html("Two <arms>", pd.DataFrame({"cost": [1.23456, 2.0]}, index=["a", "b"]))
    >>> "1.235" in shown, "&lt;arms&gt;" in shown
    (True, True)
    """
    table = frame.to_html(
        border=0, max_rows=MOST_ROWS, show_dimensions=False, float_format="{:.4g}".format, na_rep="–"
    )
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<div>{escape(headline)}</div>{table}{below}"
