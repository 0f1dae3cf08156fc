"""Reports: run pages on a table, store their results, and write the report.

`plan` chooses the pages and their parameters. Budgets depend on a table's costs, and
numbers of replications depend on the table's size. A `Manifest` records the inputs of a
report, from which the report can be reproduced, and an interrupted run continued.
"""

import hashlib
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Collection
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

import cobandit
import companion
from cobandit import _validation, theory
from cobandit.advice import Finding, doctor, recommend
from cobandit.advice.recommender import REDRAWS
from cobandit.errors import CobanditError, TableError, raise_fault
from cobandit.tables import EvaluationTable, open_table
from cobandit.tables.catalogue import data_directory, find_records
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.checked_json import parse_json
from cobandit.tables.storage import file_sha256
from cobandit.tables.whole_files import replace_file
from companion.pages.replay_extent import (
    FEWEST,
    SECONDS_OF_REPORT,
    estimate_elimination,
)
from companion.paper import experiments
from companion.report import pages as book
from companion.report.pages import CHAPTERS, FIXED, PageError
from companion.report.report import write_report

NAME = "manifest.json"
PACKAGES = (
    "cobandit",
    "joblib",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "papermill",
    "pyarrow",
    "scipy",
)

#: Sections of the report, whose sentences hold for any table.
SECTIONS = ("landscape", "online-results", "identification-results")
#: Pages that may be requested.
PAGES = (*SECTIONS, *CHAPTERS)


class ReportTable(BaseModel):
    """Name, path and checksums of the table of a report.

    The path is relative to the report's folder, so the folder can be moved together
    with the table. The path is None for a table of the catalogue.
    """

    name: str
    path: str | None
    sha256: str
    card_sha256: str

    @property
    def version(self) -> tuple[str, str]:
        """The checksums of the table's records and of its description (card)."""
        return self.sha256, self.card_sha256


class ReportOptions(BaseModel):
    """The requested options of a report.

    Parameters
    ----------
    fast : bool
        Whether to run only a tenth of the paper's replications.
    seed : int
    pages : list of str, optional
        Names in `PAGES`. Default: all of them.
    budget, about, level
        As in `cobandit.recommend`.
    """

    model_config = ConfigDict(extra="forbid")

    fast: bool = False
    seed: int = 0
    pages: list[str] | None = None
    budget: float | None = None
    about: str = "instances"
    level: float = 0.95


class Page(BaseModel):
    """A page of a report, with its parameters and its outcome.

    If the page is left out, ``reason`` says why. Parameters do not include ``dataset``.
    The status is "kept" if an earlier or interrupted run has executed the page with the
    same key. The key is a checksum of the page's source, its parameters, the table and
    the library.
    """

    page: str
    parameters: dict[str, Any]
    reason: str | None = None
    key: str = ""
    status: Literal["to do", "left out", "failed", "done", "kept"] = "to do"
    error: dict[str, Any] | None = None
    seconds: float | None = None
    files: dict[str, str] = {}


class Manifest(BaseModel):
    """Inputs and outcome of a report, the contents of its ``manifest.json``."""

    format: Literal["cobandit report, 2"] = "cobandit report, 2"
    command: str
    table: ReportTable
    options: ReportOptions
    software: dict[str, str]
    recommendation: dict[str, str]
    pages: list[Page]
    #: Result files that differ from those of the report to reproduce.
    differs: list[str] = []

    def write(self, folder: Path) -> None:
        """Write the manifest to a folder; an interruption leaves no partial file."""
        with replace_file(folder / NAME) as partial:
            partial.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")

    def results(self) -> dict[str, str]:
        """Return the checksums of the CSV files of the report, by path.

        Notebooks are not included, because they contain paths, which differ between
        folders.
        """
        files = [self.recommendation, *(page.files for page in self.pages)]
        return {
            name: sha
            for checksums in files
            for name, sha in checksums.items()
            if name.endswith(".csv")
        }


def budget_ladder(start: float, steps: int) -> list[int]:
    """Return consecutive terms of 1, 2, 5, 10, 20, 50, ... that are at least ``start``.

    Examples
    --------
    >>> budget_ladder(10, 5)
    [10, 20, 50, 100, 200]
    >>> budget_ladder(1611, 3)
    [2000, 5000, 10000]
    """
    rungs = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return list(islice((rung for rung in rungs if rung >= start), steps))


def _budgets(arms: EvaluationTable, paper_budgets: tuple[int, ...]) -> list[int]:
    """Return budgets for a table, as many as in the paper's experiment.

    No budget is smaller than the paper's smallest budget, or infeasible for CoPSI.
    """
    smallest = theory.allocation_constant(
        arms.n_arms, arms.costs.min() / arms.costs.max()
    )
    return budget_ladder(max(smallest, paper_budgets[0]), len(paper_budgets))


def plan(
    table: EvaluationTable,
    *,
    fast: bool,
    seed: int,
    requested: Collection[str] | None = None,
) -> list[Page]:
    """Return the pages of a report, with parameters or the reason to leave them out.

    Sections have the paper's numbers of replications; with ``fast``, a tenth of them.
    If a section would take longer than 45 s on the table, it runs fewer replications.
    If even 20 replications would take longer, ``identification-results`` is left out.
    On all but very large tables, ``landscape`` has as many redraws as
    `cobandit.recommend`, so both show the same shares. Chapters of the book run with
    their default parameters. With ``fast``, chapters run only if they are requested.

    Examples
    --------
    >>> import cobandit as cb
    >>> planned = plan(cb.load("synthetic-24"), fast=True, seed=0)[1]
    >>> planned.page, planned.parameters["replications"], planned.reason
    ('online-results', 10, None)
    """
    arms = experiments.structured_subset(table)
    divisor = 10 if fast else 1
    seed = _validation.seed(seed)
    n_arms = table.n_arms

    redraw = 2e-8 * n_arms * int(table.n_instances.max()) + 1e-9 * n_arms**2
    rho = {
        "rho": _budgets(arms, experiments.IDENTIFICATION_RHO),
        "full_rho": _budgets(table, experiments.FULL_SET_RHO),
    }
    sizes: list[tuple[int, dict[str, Any]]] = [
        (min(REDRAWS, max(FEWEST, int(SECONDS_OF_REPORT / redraw))), {}),
        (100 // divisor, {"rho": list(experiments.ONLINE_RHO)}),
        (500 // divisor, rho),
    ]
    planned = [
        Page(
            page=name,
            parameters={"replications": replications, "seed": seed, **parameters},
        )
        for name, (replications, parameters) in zip(SECTIONS, sizes, strict=True)
    ]
    eliminate = len(experiments.IDENTIFICATION) * FEWEST * estimate_elimination(n_arms)
    if eliminate > SECONDS_OF_REPORT:
        planned[-1] = _left_out(
            SECTIONS[-1],
            f"{FEWEST} replications on {n_arms:,} configurations take at least"
            f" {eliminate:,.0f} s, and a page may take {SECONDS_OF_REPORT:.0f} s",
        )
    planned += [
        _plan_chapter(name, fast and name not in (requested or ()), seed)
        for name in CHAPTERS
    ]
    if requested is None:
        planned += [
            _left_out(name, f"it is about {subject}") for name, subject in FIXED.items()
        ]
    return planned


def _plan_chapter(name: str, skipped: bool, seed: int) -> Page:
    if skipped:
        return _left_out(
            name,
            f"a chapter takes up to 90 s; add --page {name}, or run without --fast",
        )
    return Page(page=name, parameters={"seed": seed})


def _left_out(name: str, reason: str) -> Page:
    return Page(page=name, parameters={}, status="left out", reason=reason)


def rerun(
    table: str | Path | None,
    output: str | Path,
    *,
    follow: str | Path | None = None,
    **given: Any,
) -> Manifest:
    """Run the book's pages on a table, and write a report in one HTML file.

    The folder then contains ``index.html``, ``notebooks/`` (executed), ``results/`` (as
    Parquet and CSV) and ``manifest.json``, from which the report can be reproduced. A
    page is not executed again if the folder already contains its results from the same
    source, parameters, table and library.

    Parameters
    ----------
    table : str or Path, optional
        Name in the catalogue, or a file with its card (a YAML description) next to it.
        Optional with ``follow``.
    output : path
        A new or empty folder, or the folder of an earlier report on the same table.
    follow : path, optional
        Manifest of a report to reproduce. It determines the options and, by default,
        the table.
    **given
        Fields of `ReportOptions`.

    Returns
    -------
    Manifest

    Raises
    ------
    CobanditError
        If a table, page, option or folder is not valid. Nothing is written then.
    """
    output = Path(output)
    options = check_fields(ReportOptions, given, lambda field: f"rerun, {field}")
    followed = None
    if follow is not None:
        if options != ReportOptions():
            raise CobanditError(
                "--from cannot be combined with other options, because the manifest"
                " determines them; leave them out",
                argument="--from",
                code="other-options",
            )
        followed, followed_table = _read_followed(Path(follow))
        options = followed.options
        table = table or followed_table
    if table is None:
        raise CobanditError(
            "table is missing; name a table, or give a manifest with --from",
            argument="table",
            code="missing-table",
        )
    for name in options.pages or PAGES:
        _validation.choice(name, "page of the report", PAGES)
        book.parameters(name)  # raises an error if a package is missing

    data, identity = _identify(str(table), output)
    if followed and followed.table.version != identity.version:
        raise CobanditError(
            f"table {table} is not the table of the manifest, because the checksum of"
            " the table or of its card differs; name the original table",
            argument="table",
            code="other-table",
        )
    software = _software()
    planned = _plan_pages(data, options, identity, software, output, followed)
    # pages of earlier calls remain in the report
    if options.pages:
        options.pages = [page.page for page in planned]
    chosen = options.model_dump(include={"budget", "about", "level", "seed"})
    advice = recommend(data, **chosen)
    findings = doctor(data)

    _clear_results(output, {page.page for page in planned if page.status == "kept"})
    answers = {
        "findings": (
            pd.DataFrame(findings, columns=list(Finding._fields)).astype(
                {"number": float}
            )
        ),
        "recommendation": advice.arms,
        "questions": advice.questions,
        "evaluate-next": advice.next.pairs,
    }
    book.save_frames(output / "results", answers)
    manifest = Manifest(
        command=shlex.join(["cobandit-book", *sys.argv[1:]]),
        table=identity,
        options=options,
        software=software,
        recommendation=_sums(output, *(f"results/{name}.*" for name in answers)),
        pages=planned,
    )
    manifest.write(output)

    # write the manifest after each page, so that an interrupted run can be continued
    for page in planned:
        if page.status == "to do":
            _execute(page, output, str(table))
            manifest.write(output)
    if followed:
        old = followed.results()
        new = manifest.results()
        manifest.differs = sorted(
            name for name in old | new if old.get(name) != new.get(name)
        )
        manifest.write(output)
    write_report(output, manifest, data, advice, [*data.notes, *map(str, findings)])
    return manifest


def _read_followed(path: Path) -> tuple[Manifest, str | Path]:
    """Read the manifest of a report to reproduce, and find the name of its table.

    The name is a path if the table is not in the catalogue.
    """
    path = path / NAME if path.is_dir() else path
    followed = parse_json(Manifest, path)
    if followed.table.path:
        return followed, path.parent / followed.table.path
    return followed, followed.table.name


def _plan_pages(
    data: EvaluationTable,
    options: ReportOptions,
    table: ReportTable,
    software: dict[str, str],
    output: Path,
    followed: Manifest | None,
) -> list[Page]:
    """Return the requested pages, and the finished pages of earlier runs.

    If a report is reproduced, finished pages that are not requested are dropped.
    """
    finished = _finished(output, table)

    planned = []
    pages = plan(data, fast=options.fast, seed=options.seed, requested=options.pages)
    for page in pages:
        inputs = (
            book.source(page.page),
            page.parameters,
            table.version,
            software["library_sha256"],
        )
        page.key = _digest(inputs)
        page = finished.get(page.key, page)
        is_requested = options.pages is None or page.page in options.pages
        if is_requested or (page.status == "kept" and not followed):
            planned.append(page)

    return planned


def _clear_results(output: Path, kept_pages: set[str]) -> None:
    """Create the folders of a report, and remove files of pages that are not kept."""
    for folder in ("notebooks", "results"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    for name in {*PAGES} - kept_pages:
        notebooks = output.glob(f"notebooks/{name}.ipynb")
        results = output.glob(f"results/{name}-*")
        for stale in (*notebooks, *results):
            stale.unlink()


def _identify(name: str, folder: Path) -> tuple[EvaluationTable, ReportTable]:
    """Open a table, and return the table and its entry in the manifest."""
    table = open_table(name)
    path = Path(name)
    is_file = bool(path.suffix) or path.is_file()
    identity = ReportTable(
        name=table.name,
        path=Path(os.path.relpath(path, folder)).as_posix() if is_file else None,
        sha256=file_sha256(path if is_file else find_records(name)),
        card_sha256=file_sha256(
            path.with_suffix(".yml") if is_file else data_directory() / f"{name}.yml"
        ),
    )
    return table, identity


def _finished(output: Path, table: ReportTable) -> dict[str, Page]:
    """Return the pages of an earlier report whose files are unchanged, by key."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return {}

    path = output / NAME
    try:
        earlier = parse_json(Manifest, path)
        if earlier.table.version != table.version:
            problem = f"it is a report on {earlier.table.name} with other checksums"
            raise_fault(path, problem, "name another folder", "other-table")
    except TableError as error:
        raise CobanditError(
            f"output {output} exists but is not a report on this version of"
            f" {table.name} ({NAME}: {error.faults[0].problem}); name a new or empty"
            " folder",
            argument="output",
            code="other-report",
        ) from None

    executed = [page for page in earlier.pages if page.status in ("done", "kept")]
    intact = [page for page in executed if _sums(output, *page.files) == page.files]
    return {page.key: page.model_copy(update={"status": "kept"}) for page in intact}


def _sums(output: Path, *patterns: str) -> dict[str, str]:
    """Return the checksums of the files that match a pattern, by relative path."""
    paths = sorted(path for pattern in patterns for path in output.glob(pattern))
    return {path.relative_to(output).as_posix(): file_sha256(path) for path in paths}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _software() -> dict[str, str]:
    """Return versions of dependencies, and a checksum of the code of both packages."""
    folders = [Path(package.__path__[0]) for package in (cobandit, companion)]
    source = _digest([_sums(folder, "**/*.py") for folder in folders])
    versions = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **versions, "library_sha256": source}


def _execute(entry: Page, output: Path, dataset: str) -> None:
    """Run one page, and record the outcome in its entry of the manifest."""
    page = entry.page
    start = time.monotonic()
    patterns = [f"notebooks/{entry.page}.ipynb"]
    parameters = {"dataset": dataset, **entry.parameters}
    if "results" in book.parameters(page):
        parameters["results"] = str(output / "results")
    try:
        book.execute(page, parameters, output / patterns[0])
    except PageError as error:
        entry.status = "failed"
        entry.error = error.error
    else:
        entry.status = "done"
        patterns.append(f"results/{page}-*")

    entry.seconds = round(time.monotonic() - start, 1)
    entry.files = _sums(output, *patterns)
