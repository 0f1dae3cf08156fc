"""Functions that list executable pages, read their parameters, and run them.

Pages are MyST notebooks with a cell tagged ``parameters``. There are two kinds: pages
of the book, and sections of a report, whose sentences hold for any table. Running pages
requires the packages in `NEEDED`.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.figures import method_label
from cobandit.stats import leaders
from cobandit.tables import open_table
from companion.pages import prose
from companion.pages.labels import pages_directory
from companion.pages.own_table import is_own, was_left_out
from companion.report.reading import (
    DRAWN,
    Block,
    as_prose,
    for_jupyter,
    list_value_blocks,
)

SECTIONS = Path(__file__).parent / "sections"
#: Chapters of the book that a report runs, with their default parameters. The report
#: links to the executed notebooks.
CHAPTERS = ("experiments", "once", "cohv-ucb", "standard-regret", "copsi")
#: Pages of the book that a report leaves out, with the subject of each page.
FIXED = {
    "claims": "the paper's claims, which a single table cannot decide",
    "errata": "the paper's text",
    "exhibits": "the paper's table and figures",
    "which-arms": "problems whose means and costs are known",
    "reconstructions": "the paper's printed numbers and tables drawn from them",
    "live": "a run that comes with the book",
    "your-data": "making and reading a table",
}
NEEDED = ("ipykernel", "jupytext", "nbconvert", "papermill")


class PageError(CobanditError):
    """Error in a cell of a page, with the cell's number, its message and its source."""

    def __init__(self, page: str, cell: int, says: str, source: str):
        super().__init__(
            f"page {page}, code cell {cell}: {says}", argument=page, code="failed-cell"
        )
        self.error = {"cell": cell, "says": says, "source": source}


def paths() -> dict[str, Path]:
    """Return the paths of all executable pages, by the name of the page.

    Examples
    --------
    >>> {"experiments", "landscape"} <= paths().keys()
    True
    """
    return {
        path.stem: path
        for folder in (SECTIONS, pages_directory())
        for path in sorted(folder.glob("*.md"))
    }


def source(page: str) -> str:
    """Return the MyST source of a page.

    Raises
    ------
    CobanditError
        If the page does not exist.
    """
    by_name = paths()
    path = by_name[_validation.choice(page, "page", sorted(by_name))]
    return path.read_text(encoding="utf-8")


def _notebook(page: str) -> Any:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CobanditError(
            f"the pages need {', '.join(missing)}; run: pip install"
            f" {' '.join(missing)}",
            code="missing-package",
        )
    import jupytext

    return for_jupyter(jupytext.reads(source(page), fmt="md:myst"), page)


@cache
def _value_blocks(page: str) -> list[Block]:
    import jupytext

    return list_value_blocks(jupytext.reads(source(page), fmt="md:myst"), page)


def tell(page: str, number: int) -> None:
    """Show a block of a page's prose once all its values are recorded.

    The block is the output of the calling cell (see `companion.pages.prose.tell`). The
    caption of a figure is not shown if the previous cell left the figure out.

    Parameters
    ----------
    page : str
    number : int
        Index of the block among the blocks of the page that contain computed values.
    """
    block = _value_blocks(page)[number]
    if not (DRAWN in block.needs and was_left_out()):
        prose.tell(block.text, needs=block.needs - {DRAWN}, otherwise=block.otherwise)


class Parameter(NamedTuple):
    """Default of a page's parameter as source code, and the comment about it."""

    default: str
    meaning: str


def parameters(page: str) -> dict[str, Parameter]:
    """Return the parameters of a page by name.

    Raises
    ------
    CobanditError
        If the page does not exist.

    Examples
    --------
    >>> parameters("landscape")["dataset"]
    Parameter(default='"word-sums"', meaning='any catalogue name or file')
    """
    notebook = _notebook(page)
    from papermill import inspect_notebook

    described = inspect_notebook(notebook)
    return {
        name: Parameter(entry["default"], entry["help"])
        for name, entry in described.items()
    }


def refuse_unknown(page: str, names: Iterable[str]) -> None:
    """Raise an error if a page does not have all of the given parameters.

    Papermill would only warn.

    Raises
    ------
    CobanditError
        If a parameter is unknown. The message suggests the most similar parameter.

    Examples
    --------
    >>> refuse_unknown("landscape", {"replicatoins": 10})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: unknown parameter of landscape 'replicatoins'. ...
    """
    available = parameters(page)
    for name in names:
        _validation.choice(name, f"parameter of {page}", available)


def _refuse_tables(page: str, dataset: Any) -> None:
    """Open the user's tables, so that faults raise errors before a page runs."""
    if is_own(dataset, ast.literal_eval(parameters(page)["dataset"].default)):
        for name in [dataset] if isinstance(dataset, str) else dataset:
            open_table(str(name))


def execute(page: str, values: Mapping[str, Any], output: str | Path) -> None:
    """Run a page with given parameters, and write the executed notebook.

    Parameters
    ----------
    page : str
        Name of the page, a key of `paths`.
    values : mapping
        Parameters that differ from the defaults. A file in ``dataset`` is relative to
        the working directory.
    output : path
        Path of the executed notebook. The file is written after each cell. If a cell
        raises an error, the file contains the outputs of the cells before this cell.

    Raises
    ------
    CobanditError
        If the page, a parameter or the table does not exist, or a package in `NEEDED`
        is not installed.
    PageError
        If a cell raises an error.
    """
    refuse_unknown(page, values)
    if "dataset" in values:
        _refuse_tables(page, values["dataset"])
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    jupytext.write(_notebook(page), output, fmt="ipynb")
    try:
        papermill.execute_notebook(
            output,
            output,
            dict(values),
            kernel_name="python3",
            progress_bar={"desc": page, "disable": None},  # None: only on a terminal
            extra_arguments=["--log-level=CRITICAL"],
        )
    except PapermillExecutionError as error:
        raise PageError(
            page, error.exec_count, f"{error.ename}: {error.evalue}", error.source
        ) from None
    executed = nbformat.read(output, as_version=4)
    as_prose(executed)
    nbformat.write(executed, output)


def save_frames(folder: str | Path, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write each data frame to a Parquet and a CSV file with the name of the frame.

    If ``folder`` is an empty string, nothing is written.
    """
    for name, frame in frames.items() if folder else ():
        frame.to_parquet(Path(folder, f"{name}.parquet"))
        if "returned" in frame:
            frame = frame.assign(returned=frame["returned"].map("; ".join))
        frame.to_csv(Path(folder, f"{name}.csv"), index=bool(frame.index.name))


def lead(
    runs: pd.DataFrame, column: str, quantity: str, largest: bool = False
) -> dict[str, str]:
    """Return the best methods at the smallest and largest feasible budget, as text.

    Methods that cannot be distinguished from the best method follow it.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["CoPSI", "PSISR"] * 2, "rho": 20.0})
    >>> runs = runs.assign(replication=[0, 0, 1, 1], status="ok")
    >>> runs = runs.assign(f1=[0.5, 0.6, 0.4, 0.5])
    >>> lead(runs, "f1", "F1", largest=True)["largest budget"]
    'PSI-SR (ρ = 20)'
    """
    by_budget = leaders(runs, column, largest=largest).sort_values("rho")
    row = {"what": quantity}
    for name, position in {"smallest budget": 0, "largest budget": -1}.items():
        cell = by_budget.iloc[position]
        methods = map(method_label, [cell["leader"], *cell["level"]])
        row[name] = f"{', '.join(methods)} (ρ = {cell['rho']:g})"
    return row
