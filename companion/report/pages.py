"""Executable pages as programs: find one, ask for its parameters, run it with others.

Pages are MyST notebooks with a cell tagged ``parameters``: those of the book, found in
an installed package as well as in a checkout, and the sections of a report, whose
sentences hold for any table.  They need the packages of `NEEDED` to run.
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
from companion.report.reading import DRAWN, Block, as_prose, for_jupyter, told_blocks

SECTIONS = Path(__file__).parent / "sections"
#: Chapters of the book that run on any table, at their own parameters; a report names
#: their notebooks.
CHAPTERS = ("experiments", "once", "cohv-ucb", "standard-regret", "copsi")
#: Pages of the book that a report on a table leaves out, and what they are about.
FIXED = {
    "claims": "what the paper claims, of which a table alone decides nothing",
    "errata": "the paper's text",
    "exhibits": (
        "the paper's table and figures, next to which a table is one more column"
    ),
    "which-arms": "problems whose means and costs are known",
    "reconstructions": "what the paper prints and the tables that were drawn from it",
    "live": "a run that comes with the book",
    "your-data": "how a table is made and read, which this report does",
}
NEEDED = ("ipykernel", "jupytext", "nbconvert", "papermill")


class PageError(CobanditError):
    """A cell of a page raised: which, what it said, and its source."""

    def __init__(self, page: str, cell: int, says: str, source: str):
        super().__init__(f"page {page}, code cell {cell}: {says}")
        self.error = {"cell": cell, "says": says, "source": source}


def paths() -> dict[str, Path]:
    """Return the sources of the executable pages by name: the book's, and the sections of a report.

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
    """MyST source of a page.

    Raises
    ------
    CobanditError
        If there is no such page.
    """
    known = paths()
    return known[_validation.choice(page, "page", sorted(known))].read_text(
        encoding="utf-8"
    )


def _notebook(page: str) -> Any:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CobanditError(
            f"running pages needs {', '.join(missing)}: pip install {' '.join(missing)}"
        )
    import jupytext

    return for_jupyter(jupytext.reads(source(page), fmt="md:myst"), page)


@cache
def _told(page: str) -> list[Block]:
    import jupytext

    return told_blocks(jupytext.reads(source(page), fmt="md:myst"), page)


def tell(page: str, number: int) -> None:
    """Show a block of a page's prose as soon as its values are there (`companion.pages.prose.tell`).

    The caption of a picture that the cell before this one left out is not shown.

    Parameters
    ----------
    page : str
    number : int
        Of the block, among those of the page that need values.
    """
    block = _told(page)[number]
    if not (DRAWN in block.needs and was_left_out()):
        prose.tell(block.text, needs=block.needs - {DRAWN}, otherwise=block.otherwise)


class Parameter(NamedTuple):
    """Default of a page's parameter, as it stands there, and its meaning, the comment next to it."""

    default: str
    meaning: str


def parameters(page: str) -> dict[str, Parameter]:
    """Read the parameters of a page; none without a cell of parameters.

    Raises
    ------
    CobanditError
        If there is no such page.

    Examples
    --------
    >>> parameters("landscape")["dataset"]
    Parameter(default='"word-sums"', meaning='any catalogue name or file')
    """
    notebook = _notebook(page)
    from papermill import inspect_notebook

    found = inspect_notebook(notebook)
    return {
        name: Parameter(each["default"], each["help"]) for name, each in found.items()
    }


def refuse_unknown(page: str, given: Iterable[str]) -> None:
    """Refuse parameters that a page does not have (papermill would only warn).

    Raises
    ------
    CobanditError
        Naming the first of them, and the nearest that there is.

    Examples
    --------
    >>> refuse_unknown("landscape", {"replicatoins": 10})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: unknown parameter of landscape 'replicatoins'. ...
    """
    known = parameters(page)
    for name in given:
        _validation.choice(name, f"parameter of {page}", known)


def _refuse_tables(page: str, dataset: Any) -> None:
    """Read the tables that are given in the place of a page's own, so that a fault is no cell's."""
    if is_own(dataset, ast.literal_eval(parameters(page)["dataset"].default)):
        for name in [dataset] if isinstance(dataset, str) else dataset:
            open_table(str(name))


def execute(page: str, given: Mapping[str, Any], output: str | Path) -> None:
    """Run a page with parameters of one's own and write it with its outputs, cell by cell.

    Parameters
    ----------
    page : str
        One of `paths`.
    given : mapping
        Parameters that differ from the page's; a file named by ``dataset`` is found
        from where this runs.
    output : path
        The executed notebook; if a cell raises, as far as the page got.

    Raises
    ------
    CobanditError
        If there is no such page, parameter or table, or a package of `NEEDED` is not
        installed.
    PageError
        If a cell raises.
    """
    refuse_unknown(page, given)
    if "dataset" in given:
        _refuse_tables(page, given["dataset"])
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    jupytext.write(_notebook(page), output, fmt="ipynb")
    try:
        papermill.execute_notebook(
            output,
            output,
            dict(given),
            kernel_name="python3",
            progress_bar={"desc": page, "disable": None},  # none where nobody sees it
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
    """Write tidy frames as Parquet and CSV, under their names; to no folder, nothing."""
    for name, frame in frames.items() if folder else ():
        frame.to_parquet(Path(folder, f"{name}.parquet"))
        if "returned" in frame:
            frame = frame.assign(returned=frame["returned"].map("; ".join))
        frame.to_csv(Path(folder, f"{name}.csv"), index=bool(frame.index.name))


def lead(
    runs: pd.DataFrame, column: str, what: str, most: bool = False
) -> dict[str, str]:
    """Say who leads at the smallest and the largest budget at which someone can run, the leader first.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["CoPSI", "PSISR"] * 2, "rho": 20.0, "replication": [0, 0, 1, 1]})
    >>> runs = runs.assign(status="ok", f1=[0.5, 0.6, 0.4, 0.5])
    >>> lead(runs, "f1", "F1", most=True)["largest budget"]
    'PSI-SR (ρ = 20)'
    """
    found = leaders(runs, column, largest=most).sort_values("rho")
    row = {"what": what}
    for name, place in {"smallest budget": 0, "largest budget": -1}.items():
        at = found.iloc[place]
        row[name] = (
            f"{', '.join(map(method_label, [at['leader'], *at['level']]))} (ρ ="
            f" {at['rho']:g})"
        )
    return row
