"""What a page needs on a table of the reader's: names that fit, and sentences for that table alone.

The sentences of a page are written for the tables that it runs on by default.  On others the page shows what
holds for any table, with the numbers of that one.  Markdown cells that are tagged `BUNDLED` are left out
there (`cobandit.companion.report.reading`); what the page says in their place is a cell with `say_of_own`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from cobandit.companion.prose import Markdown, record
from cobandit.faults import ellipsize
from cobandit.figures import escape_markdown
from cobandit.tables import EvaluationTable

#: Tag of the cells of a page whose text holds for the tables that it runs on by default, and only for these.
BUNDLED = "bundled"

#: Letters of a configuration's name at an axis or next to a point, at most.
FITTING = 24


def is_own(dataset: Any, default: Any) -> bool:
    """Decide whether a page runs on other tables than those that its sentences were written for.

    Parameters
    ----------
    dataset : str or sequence of str
        The page's parameter: catalogue names, or files.
    default : str or sequence of str
        What it is unless somebody gives another one.

    Examples
    --------
    >>> is_own("mine.parquet", default="synthetic-24"), is_own(("a", "b"), default=["a", "b"])
    (True, False)
    """
    as_list = [[names] if isinstance(names, str) else list(names or []) for names in (dataset, default)]
    return as_list[0] != as_list[1]


def written_for(dataset: Any, default: Any) -> None:
    """Show the text that holds for the default tables of a page on these, and on no others.

    Parameters
    ----------
    dataset, default : str or sequence of str
        As `is_own` takes them.
    """
    if not is_own(dataset, default):
        record(BUNDLED)


def short_names(names: Iterable[object], most: int = FITTING) -> list[str]:
    r"""Cut names so that they fit into a picture and still differ from one another.

    Long ones keep their beginning and their end; those that would look alike are numbered.  Each has one
    line, and nothing in it is taken for a formula.

    Examples
    --------
    >>> short_names(["a model with a prompt, at 0.5", "a model, at $1", "a model with a prompt, at 0.5 "], 16)
    ['a mod... 0.5 (1)', 'a model, at \\$1', 'a mod... 0.5 (2)']
    """
    lines = [" ".join("".join(c if c.isprintable() else " " for c in str(name)).split()) for name in names]
    cut = [ellipsize(line, most) for line in lines]
    alike = {name for name, count in Counter(cut).items() if count > 1}

    seen: Counter[str] = Counter()
    told_apart = []
    for line, short in zip(lines, cut, strict=True):
        if short in alike:
            seen[short] += 1
            number = f" ({seen[short]})"
            short = ellipsize(line, max(most - len(number), 8)) + number
        told_apart.append(short.replace("$", r"\$"))
    return told_apart


def describe_shape(tables: EvaluationTable | Sequence[EvaluationTable]) -> str:
    """Say in a sentence or two which tables these are, fit for Markdown.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shape(cb.load("synthetic-24"))
    'synthetic-24: 24 configurations, 400 instances, 2 objectives, cost in tokens.'
    """
    several = [tables] if isinstance(tables, EvaluationTable) else tables
    return " ".join(
        f"{escape_markdown(table.name)}: {table.n_arms} configurations, "
        f"{_number(table.n_instances)} instances, "
        f"{table.n_objectives} objective{'s' * (table.n_objectives > 1)}, "
        f"cost in {escape_markdown(table.card.cost.unit)}."
        for table in several
    )


def say_of_own(own: bool, *sentences: str) -> Markdown | None:
    """Show sentences on a table of the reader's, and nothing on those that the page was written for.

    Parameters
    ----------
    own : bool
        From `is_own`.
    *sentences : str
        Markdown, in which names are escaped already; empty ones are skipped.

    Examples
    --------
    >>> say_of_own(True, "All costs are equal.", "").data
    'All costs are equal.'
    >>> say_of_own(False, "All costs are equal.")
    """
    text = " ".join(filter(None, sentences))
    return Markdown(text) if own and text else None


def leave_out(what: str, why: str) -> Markdown:
    """Say that a part of a page makes no sense on a table, and why: with the number, if there is one.

    Parameters
    ----------
    what : str
        The part, beginning with a capital letter, in the singular.
    why : str
        A clause that ends the sentence, without its full stop.

    Examples
    --------
    >>> leave_out("The picture of phases", "it needs two objectives, and the table has one").data
    '*The picture of phases is left out: it needs two objectives, and the table has one.*'
    """
    return Markdown(f"*{what} is left out: {why}.*")


def _number(counts: Any) -> str:
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
