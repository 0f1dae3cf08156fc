"""Names and sentences for pages that run on a table of the reader.

The sentences of a page are written for its default tables. On other tables,
`companion.report.reading` omits the Markdown cells tagged `BUNDLED`, and cells that
call `say_of_own` show sentences that hold for any table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from cobandit._text import ellipsize, enumerate_words
from cobandit.advice.words import percent
from cobandit.figures import escape_markdown
from cobandit.tables import EvaluationTable
from companion.pages.prose import Markdown, record

#: Tag of cells whose text holds for the default tables of a page only.
BUNDLED = "bundled"

#: Largest number of characters of a configuration's name in a figure.
FITTING = 24


def is_own(dataset: Any, default: Any) -> bool:
    """Return whether a page runs on other tables than its default tables.

    Parameters
    ----------
    dataset : str or sequence of str
        Value of the page's parameter ``dataset``: names in the catalogue, or files.
    default : str or sequence of str
        Default value of this parameter.

    Examples
    --------
    >>> is_own("mine.parquet", default="synthetic-24")
    True
    >>> is_own(("a", "b"), default=["a", "b"])
    False
    """
    as_list = [
        [names] if isinstance(names, str) else list(names or [])
        for names in (dataset, default)
    ]
    return as_list[0] != as_list[1]


def written_for(dataset: Any, default: Any) -> None:
    """Show a page's text about its default tables if the page runs on these tables.

    Parameters
    ----------
    dataset, default : str or sequence of str
        As in `is_own`.
    """
    if not is_own(dataset, default):
        record(BUNDLED)


def short_names(names: Iterable[object], max_length: int = FITTING) -> list[str]:
    """Shorten names so that they fit into a figure and remain different.

    Long names keep their beginning and their end. Names that become equal are numbered.
    Line breaks become spaces. Drawing functions escape the names
    (`cobandit.figures.escape_math`).

    Examples
    --------
    >>> name = "a model with a prompt, at 0.5"
    >>> short_names([name, "a model, at 1", f"{name} "], 16)
    ['a mod... 0.5 (1)', 'a model, at 1', 'a mod... 0.5 (2)']
    """
    lines = [
        " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
        for name in names
    ]
    shortened = [ellipsize(line, max_length) for line in lines]
    repeated = {name for name, count in Counter(shortened).items() if count > 1}

    counts: Counter[str] = Counter()
    unique = []
    for line, text in zip(lines, shortened, strict=True):
        if text in repeated:
            counts[text] += 1
            number = f" ({counts[text]})"
            text = ellipsize(line, max(max_length - len(number), 8)) + number
        unique.append(text)
    return unique


def describe_shape(tables: EvaluationTable | Sequence[EvaluationTable]) -> str:
    """Return a description of tables in Markdown, one sentence per table.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shape(cb.load("synthetic-24"))
    'synthetic-24: 24 configurations, 400 instances, 2 objectives, cost in tokens.'
    """
    listed = [tables] if isinstance(tables, EvaluationTable) else tables
    return " ".join(
        f"{escape_markdown(table.name)}: {table.n_arms} configurations, "
        f"{_number(table.n_instances)} instances, "
        f"{table.n_objectives} objective{'s' * (table.n_objectives > 1)}, "
        f"cost in {escape_markdown(table.card.cost.unit)}."
        for table in listed
    )


def count_shared(table: EvaluationTable) -> int:
    """Count the instances of the evaluation split that all configurations share.

    Examples
    --------
    >>> import cobandit as cb
    >>> count_shared(cb.load("synthetic-24"))
    300
    """
    evaluated = table.rows[table.rows["split"] == "evaluation"]
    return int((evaluated["instance"].value_counts() == table.n_arms).sum())


def describe_shared(table: EvaluationTable) -> str:
    """Return a sentence about instances that some configurations lack, or ''.

    Methods that evaluate each instance once need instances that all configurations
    have.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shared(cb.load("synthetic-24"))
    ''
    """
    evaluated = table.rows.loc[
        table.rows["split"] == "evaluation", "instance"
    ].nunique()
    shared = count_shared(table)
    if shared == evaluated:
        return ""
    return (
        f"Methods that evaluate each instance once use {shared:,} of {evaluated:,}"
        " instances: those that all configurations have."
    )


def say_of_own(on_own_table: bool, *sentences: str) -> Markdown | None:
    """Return sentences to display on a reader's table, or None on the default tables.

    Parameters
    ----------
    on_own_table : bool
        Result of `is_own`.
    *sentences : str
        Sentences in Markdown, with escaped names. Empty sentences are skipped.

    Examples
    --------
    >>> say_of_own(True, "All costs are equal.", "").data
    'All costs are equal.'
    >>> say_of_own(False, "All costs are equal.")
    """
    text = " ".join(filter(None, sentences))
    return Markdown(text) if on_own_table and text else None


def leave_out(part: str, reason: str) -> Markdown:
    """Return a sentence that a part of the page is left out, with the reason.

    Parameters
    ----------
    part : str
        Name of the part, in the singular and with a capital letter.
    reason : str
        Clause that ends the sentence, without a full stop. The clause states the
        property of the table that is the reason, such as the number of its objectives.

    Examples
    --------
    >>> leave_out("The picture of phases", "the table has one objective").data
    '*The picture of phases is left out: the table has one objective.*'
    """
    _left_out.add(_cell())
    return Markdown(f"*{part} is left out: {reason}.*")


def was_left_out() -> bool:
    """Return whether the previous cell of the notebook called `leave_out`."""
    return _cell() - 1 in _left_out


#: Numbers of the cells that called `leave_out`, in the notebook of this process.
_left_out: set[int] = set()


def _cell() -> int:
    """Return the number of the running cell, or 0 outside a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.execution_count if shell else 0


def _number(counts: Any) -> str:
    low = int(min(counts))
    high = int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def describe_races(raced: pd.DataFrame, orders: int) -> str:
    """Return sentences on the cost of `ParetoRace`, and on the share of wrong fronts.

    Parameters
    ----------
    raced : DataFrame
        Result of `companion.stored.races.race_table`.
    orders : int
        Number of orders of the instances that the page requests.

    Examples
    --------
    >>> rows = pd.DataFrame({"certified": [False, True], "share": [0.5, 0.8]})
    >>> rows = rows.assign(tolerance=0.0, off=0, runs=20)
    >>> describe_races(rows, 50).partition(", and")[0]
    'At tolerance 0 the race stops at 50 % of the cost of everything'
    """
    by_tolerance = raced.pivot_table(
        index="tolerance", columns="certified", values="share"
    )
    tolerances = enumerate_words(f"{tolerance:g}" for tolerance in by_tolerance.index)
    stops = {
        kind: enumerate_words(map(percent, by_tolerance[kind])) for kind in by_tolerance
    }

    off = {kind: int(group["off"].sum()) for kind, group in raced.groupby("certified")}
    n_orders = int(raced["runs"].iloc[0])
    n_runs = n_orders * len(by_tolerance)
    note = (
        f", instead of {orders}, which would take minutes" if n_orders < orders else ""
    )
    return (
        f"At tolerance {tolerances} the race stops at {stops[False]} of the cost of"
        f" everything, and with a certificate at {stops[True]}.\nIt broke its promise"
        f" in {off[False]} of {n_runs} runs, and with a certificate in {off[True]} of"
        f" {n_runs}: each ran in {n_orders} random orders of the instances{note}."
    )
