"""Executable pages as programs: find one, ask for its parameters, run it with others.

Pages are MyST notebooks with a cell tagged ``parameters``: those of the book, found in an installed package
as well as in a checkout, and the sections of a report, whose sentences hold for any table.  They need the
package's extra ``rerun`` to run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

import cobandit
from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.figures import method_label
from cobandit.stats import leaders

SECTIONS = Path(__file__).parent / "sections"
#: Variables of each page that are kept as tidy results, in the order of the report.
KEPT_FRAMES: dict[str, tuple[str, ...]] = {
    "landscape": ("every",),
    "online-results": ("runs", "paths"),
    "identification-results": ("runs", "charged", "full"),
}
NEEDED = ("ipykernel", "jupytext", "nbconvert", "papermill")


class PageError(CobanditError):
    """A cell of a page raised; the page as far as it got is in ``notebook``."""

    def __init__(self, page: str, cell: int, error: str, source: str, notebook: Any):
        super().__init__(f"page {page}, code cell {cell}: {error}")
        self.page, self.cell, self.error, self.source, self.notebook = page, cell, error, source, notebook


def directory() -> Path:
    """Directory of the book's pages: inside an installed package, else next to it in a checkout.

    Examples
    --------
    >>> (directory() / "experiments.md").is_file()
    True
    """
    package = Path(cobandit.__file__).resolve().parent
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"


def paths() -> dict[str, Path]:
    """Sources of the executable pages by name: the book's, and the sections of a report.

    Examples
    --------
    >>> {"experiments", "landscape"} <= paths().keys()
    True
    """
    return {path.stem: path for folder in (SECTIONS, directory()) for path in sorted(folder.glob("*.md"))}


def source(page: str) -> str:
    """MyST source of a page.

    Raises
    ------
    CobanditError
        If there is no such page.
    """
    known = paths()
    return known[_check.choice(page, "page", sorted(known))].read_text(encoding="utf-8")


def _cells(page: str) -> Any:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CobanditError(f"running pages needs {', '.join(missing)}: pip install {' '.join(missing)}")
    import jupytext

    notebook = jupytext.reads(source(page), fmt="md:myst")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def parameters(page: str) -> dict[str, Any]:
    """Parameters of a page with their defaults.

    Parameters
    ----------
    page : str

    Returns
    -------
    dict
        Empty for a page without a parameters cell.

    Raises
    ------
    CobanditError
        If there is no such page.

    Examples
    --------
    >>> parameters("landscape")["seed"]
    0
    """
    tagged = [cell for cell in _cells(page).cells if "parameters" in cell.metadata.get("tags", [])]
    assigned = [
        node for cell in tagged for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)
    ]
    return {
        target.id: ast.literal_eval(node.value)
        for node in assigned
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def refuse_unknown(page: str, given: Mapping[str, Any]) -> None:
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
        _check.choice(name, f"parameter of {page}", known)


def execute(
    page: str,
    given: Mapping[str, Any] | None = None,
    output: str | Path = "page.ipynb",
    *,
    keep: Mapping[str, str | Path] | None = None,
    on_cell: Callable[[int, int], None] | None = None,
) -> Any:
    """Run a page with parameters of one's own and write it with its outputs.

    Parameters
    ----------
    page : str
        One of `paths`.
    given : mapping, optional
        Parameters that differ from the page's; a file named by ``dataset`` is found from where this runs.
    output : path
        The executed notebook; written whole or, if a cell raises, as far as the page got.
    keep : mapping, optional
        Variables of the page (frames, or lists of them) and the files, without suffix, to `save` them to.
    on_cell : callable, optional
        Called with the number of code cells that are finished, and their number.

    Returns
    -------
    NotebookNode

    Raises
    ------
    CobanditError
        If there is no such page or parameter, or the extra ``rerun`` is not installed.
    PageError
        If a cell raises.
    """
    given, output = dict(given or {}), Path(output)
    refuse_unknown(page, given)
    notebook = _cells(page)

    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    if keep:
        frames = ", ".join(f"{str(path)!r}: {name}" for name, path in keep.items())
        code = f"from cobandit.companion.report import pages\n\npages.save({{{frames}}})"
        notebook.cells.append(nbformat.v4.new_code_cell(code, id="keep"))

    total, finished = sum(cell.cell_type == "code" for cell in notebook.cells) + bool(given), 0

    def count(**_: Any) -> None:
        nonlocal finished
        finished += 1
        if on_cell:
            on_cell(finished, total)

    partial = output.with_name(f".partial-{output.name}")
    error = None
    try:
        papermill.execute_notebook(
            notebook,
            partial,
            given,
            kernel_name="python3",
            progress_bar=False,
            on_cell_executed=count,
            extra_arguments=["--log-level=CRITICAL"],
        )
    except PapermillExecutionError as raised:
        error = raised
    finally:
        done = nbformat.read(partial, as_version=4) if partial.is_file() else None
        partial.unlink(missing_ok=True)
    if done is None:
        raise CobanditError(f"{output}: the page could not be written")
    # papermill puts what it was given there, here the whole notebook
    done.metadata.get("papermill", {}).pop("input_path", None)
    if keep:
        done.cells.pop()
    nbformat.write(done, output)
    if error is not None:
        raise PageError(
            page, error.exec_count, f"{error.ename}: {error.evalue}", error.source, done
        ) from None
    return done


def save(frames: Mapping[str, pd.DataFrame | list[pd.DataFrame]]) -> None:
    """Write tidy frames as Parquet and CSV; of a list, one below the other.

    Parameters
    ----------
    frames : mapping of path, without suffix, to DataFrame or list of DataFrame
    """
    for path, given in frames.items():
        each = given if isinstance(given, list) else [given]
        whole: pd.DataFrame = pd.concat(each, ignore_index=each[0].index.name is None)
        whole.to_parquet(f"{path}.parquet")
        if "returned" in whole:
            whole = whole.assign(returned=whole["returned"].map("; ".join))
        whole.to_csv(f"{path}.csv", index=bool(whole.index.name))


def lead(runs: pd.DataFrame, column: str, what: str, most: bool = False) -> dict[str, str]:
    """Say who leads at the smallest and the largest budget at which someone can run, the leader first.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["CoPSI", "PSISR"] * 2, "rho": 20.0, "replication": [0, 0, 1, 1]})
    >>> runs = runs.assign(status="ok", f1=[0.5, 0.6, 0.4, 0.5])
    >>> lead(runs, "f1", "F1", most=True)["largest budget"]
    'PSI-SR (ρ = 20)'
    """
    found = leaders(runs, column, most=most).sort_values("rho")
    row = {"what": what}
    for name, place in {"smallest budget": 0, "largest budget": -1}.items():
        at = found.iloc[place]
        row[name] = f"{', '.join(map(method_label, [at['leader'], *at['level']]))} (ρ = {at['rho']:g})"
    return row
