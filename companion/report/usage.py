"""Instructions for running a page on another table, and the function `run_page`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cobandit as cb
from cobandit._text import enumerate_words
from cobandit.errors import CobanditError
from cobandit.figures import escape_markdown
from cobandit.tables import EvaluationTable
from companion.pages.prose import Markdown
from companion.report import pages

_IMPORT = """\
$ cobandit import csv my.csv -o my.parquet --config model --instance question \\
    --cost usd --unit USD --objective accuracy=correct
"""

_COMMANDS = """
```console
{before}$ cobandit-book page {page} -p {name}={value} -o out.ipynb
$ papermill notebooks/{page}.ipynb out.ipynb -p {name} {value}
```
"""

_ON_A_TABLE = """
A table is a Parquet, CSV or JSON lines file with a card next to it, which describes \
its columns
({{doc}}`/book/data`). `cobandit import csv` makes both from your file, and reports \
missing information:
{commands}
From a data frame in Python:

```python
import cobandit as cb
from companion.report import run_page

table = cb.EvaluationTable.from_frame(
    frame, config="model", instance="question", cost="usd", unit="USD", \
objectives={{"accuracy": "correct"}}
)
run_page("{page}", table, "out.ipynb")
```
"""

_ELSEWHERE = """
The page does not run on other tables, because it is about {about}.
{commands}
"""


def how_to_run(page: str) -> Markdown:
    """Return instructions for running a page with other parameters.

    Parameters
    ----------
    page : str
        Name of the page.

    Returns
    -------
    Markdown
        A dropdown with the commands, and a table of the parameters.

    Raises
    ------
    CobanditError
        If the page does not exist.

    Examples
    --------
    >>> "cobandit-book page once -p dataset=my.parquet" in how_to_run("once").data
    True
    """
    parameters = pages.parameters(page)
    if "dataset" in parameters:
        commands = _COMMANDS.format(
            before=_IMPORT, page=page, name="dataset", value="my.parquet"
        )
        title = "Run this page on your own table"
        text = _ON_A_TABLE.format(page=page, commands=commands)
    else:
        first = next(iter(parameters))
        commands = _COMMANDS.format(
            before="", page=page, name=first, value=parameters[first].default
        )
        title = "Run this page with other parameters"
        text = _ELSEWHERE.format(commands=commands, about=pages.FIXED[page])

    rows = [
        f"| `{name}` | `{parameter.default}` | {escape_markdown(parameter.meaning)} |"
        for name, parameter in parameters.items()
    ]
    table = "\n".join(
        ["| Parameter | Default | Meaning |", "| :--- | :--- | :--- |", *rows]
    )
    return Markdown(f"````{{dropdown}} {title}\n{text}\n{table}\n````")


def list_pages() -> Markdown:
    """Return a text that lists the pages that run on any table, and the other pages.

    Examples
    --------
    >>> "{doc}`/notebooks/once`" in list_pages().data
    True
    """
    names = sorted(path.stem for path in pages.pages_directory().glob("*.md"))
    on_tables = [name for name in names if "dataset" in pages.parameters(name)]
    fixed = [
        f"{_link(name)} ({pages.FIXED[name]})"
        for name in names
        if name not in on_tables
    ]
    return Markdown(
        f"{len(on_tables)} pages run on your own table, for example with `cobandit-book"
        " page once -p dataset=my.parquet -o out.ipynb`:"
        f" {enumerate_words(map(_link, on_tables))}. The others do not:"
        f" {enumerate_words(fixed)}. The end of each page lists its parameters."
    )


def _link(page: str) -> str:
    return f"{{doc}}`/notebooks/{page}`"


def run_page(
    page: str, table: EvaluationTable, output: str | Path, **given: Any
) -> Path:
    """Run a page on a table in memory.

    Parameters
    ----------
    page : str
        Name of an executable page.
    table : EvaluationTable
        For example, the result of `EvaluationTable.from_frame`.
    output : path
        Path of the executed notebook (``.ipynb``). The table is saved next to the
        notebook with the same name, so that the notebook can be run again.
    **given
        Other parameters of the page.

    Returns
    -------
    Path
        Path of the notebook.

    Raises
    ------
    CobanditError
        If the page or a parameter does not exist, the page takes no table, or
        ``output`` cannot be written.
    """
    output = Path(output)
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(
            f"output {output}: name a file that ends in .ipynb in an existing folder",
            argument="output",
            code="output-file",
        )
    if "dataset" in given:
        raise CobanditError(
            "dataset cannot be given, because the argument table determines it; leave"
            " it out",
            argument="dataset",
            code="needless-dataset",
        )

    pages.refuse_unknown(page, ["dataset", *given])
    records = output.with_suffix(".parquet")
    cb.save(table, records)
    pages.execute(page, {"dataset": str(records), **given}, output)
    return output
