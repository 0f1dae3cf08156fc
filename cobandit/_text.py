"""Formatting of numbers, names and tables as text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of characters of a place, problem or remedy in a message.
LONGEST = 400


def ellipsize(text: str, most: int) -> str:
    """Return a text, with its middle cut out if it has more than ``most`` characters.

    Examples
    --------
    >>> ellipsize("a name that goes on and on is taken", 24)
    'a name that... is taken'
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[: most - 3 - half]}...{text[-half:]}"


def amount(value: float) -> str:
    """Return an amount as text, with four digits, or without decimals if it is large.

    Examples
    --------
    >>> amount(26_880.4), amount(1.45504), amount(0.0000698123), amount(4.5e20)
    ('26,880', '1.455', '0.00006981', '4.5e+20')
    """
    if 1e-6 <= abs(value) < 1e-4:
        # imported here, so that the help of the command does not wait for it
        import numpy as np

        return np.format_float_positional(value, 4, fractional=False, trim="-")
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


#: Largest number of names that a sentence lists.
FEW = 3


def some_names(names: Sequence[str], most: int = FEW) -> str:
    """Return the first ``most`` names as text, and the number of the other names.

    Examples
    --------
    >>> some_names(["a", "b", "c", "d", "e"]), some_names(["a", "b"]), some_names([])
    ('a, b, c and 2 more', 'a and b', '')
    """
    return enumerate_words(
        [*names[:most], f"{len(names) - most} more"] if len(names) > most else names
    )


def enumerate_words(words: Iterable[str]) -> str:
    """Return words joined with commas, and with ``and`` before the last word.

    Examples
    --------
    >>> enumerate_words(["PSI-SR", "CoPSI", "uniform allocation"])
    'PSI-SR, CoPSI and uniform allocation'
    """
    words = list(words)
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


#: Largest number of rows of a table. Longer tables show their first and last rows.
MOST_ROWS = 12


def as_html(
    headline: str, frame: pd.DataFrame, notes: Iterable[str] = (), picture: str = ""
) -> str:
    """Return a table as HTML, which a notebook shows instead of a `repr`.

    Parameters
    ----------
    headline : str
    frame : DataFrame
        Table. Numbers are written with four digits, and names are escaped.
    notes : iterable of str
        Lines below the table.
    picture : str
        HTML between the headline and the table.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"cost": [1.23456, 2.0]}, index=["a", "b"])
    >>> html = as_html("Two <arms>", frame)
    >>> "1.235" in html, "&lt;arms&gt;" in html
    (True, True)
    """
    table = frame.to_html(
        border=0,
        max_rows=MOST_ROWS,
        show_dimensions=False,
        float_format="{:.4g}".format,
        na_rep="–",
    )
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<div>{escape(headline)}</div>{picture}{table}{below}"


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to a misspelt name; None if none is similar.

    Case is ignored.

    Examples
    --------
    >>> find_nearest("Instnace", ["config", "instance"])
    'instance'
    >>> find_nearest("zzz", ["config", "instance"])
    """
    # compare beginnings only, because the time is quadratic in the length
    by_lower = {str(k)[:LONGEST].lower(): str(k) for k in known}
    close = difflib.get_close_matches(
        str(name)[:LONGEST].lower(), by_lower, n=1, cutoff=0.5
    )
    return by_lower[close[0]] if close else None


def suggest(name: str, known: Iterable[str], rest: str | None = None) -> str:
    """Return a hint: the most similar known name, then ``rest`` or all known names.

    Examples
    --------
    >>> suggest("instnace", ["config", "instance"])
    "did you mean 'instance'? available: config, instance"
    >>> suggest("zzz", ["config", "instance"], "add the column")
    'add the column'
    """
    names = [str(known_name) for known_name in known]
    nearest = find_nearest(name, names)
    hint = f"did you mean {nearest!r}? " if nearest else ""
    if rest is None:
        rest = f"available: {', '.join(names) or 'none'}"
    return hint + rest
