"""Run the pages that a table gets, keep what comes out, and write the report.

`plan` says which pages with which parameters: budgets from a table's costs,
replications from its size. `Manifest` says what a report was made of, so that it can be
made again, and an interrupted one goes on.
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
from companion.pages.own_table import FEWEST, SECONDS_OF_REPORT, estimate_elimination
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

#: Sections of the report, whose words hold for any table.
SECTIONS = ("landscape", "online-results", "identification-results")
#: Pages that may be asked for.
PAGES = (*SECTIONS, *CHAPTERS)


class ReportTable(BaseModel):
    """The table of a report; its path, if it is a file, is seen from the report's folder: both can move."""

    name: str
    path: str | None
    sha256: str
    card_sha256: str

    @property
    def version(self) -> tuple[str, str]:
        """Checksums of records and card."""
        return self.sha256, self.card_sha256


class ReportOptions(BaseModel):
    """What is asked for.

    Parameters
    ----------
    fast : bool
        A tenth of the paper's replications.
    seed : int
    pages : list of str, optional
        Only these of `PAGES`.
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
    """A page with its parameters (without the dataset), or why it is left out; and what became of it.

    It is kept if it was executed before, by an interrupted or earlier run.  Its key is
    made of its source, its parameters, the table and the library.
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
    """All of it, as it stands in ``manifest.json``."""

    format: Literal["cobandit report, 2"] = "cobandit report, 2"
    command: str
    table: ReportTable
    options: ReportOptions
    software: dict[str, str]
    recommendation: dict[str, str]
    pages: list[Page]
    #: Result files that are not those of the manifest that was followed.
    differs: list[str] = []

    def write(self, folder: Path) -> None:
        """Write it; a broken one is never left under its name."""
        with replace_file(folder / NAME) as partial:
            partial.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")

    def results(self) -> dict[str, str]:
        """Checksums of the result files; notebooks hold paths."""
        files = [self.recommendation, *(page.files for page in self.pages)]
        return {
            name: sha
            for each in files
            for name, sha in each.items()
            if name.endswith(".csv")
        }


def budget_ladder(start: float, steps: int) -> list[int]:
    """Budgets 1, 2, 5, 10, ... from the first that is at least ``start``.

    Examples
    --------
    >>> budget_ladder(10, 5)
    [10, 20, 50, 100, 200]
    >>> budget_ladder(1611, 3)
    [2000, 5000, 10000]
    """
    rungs = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return list(islice((rung for rung in rungs if rung >= start), steps))


def _budgets(arms: EvaluationTable, least: tuple[int, ...]) -> list[int]:
    """As many budgets as the paper takes, from the first at which CoPSI can run, or from the paper's."""
    smallest = theory.allocation_constant(
        arms.n_arms, arms.costs.min() / arms.costs.max()
    )
    return budget_ladder(max(smallest, least[0]), len(least))


def plan(
    table: EvaluationTable,
    *,
    fast: bool,
    seed: int,
    asked: Collection[str] | None = None,
) -> list[Page]:
    """Choose pages and parameters for a table, and say why the book's other pages are left out.

    The full profile takes the paper's replications, the fast one a tenth.  On a table
    on which these take longer than `SECONDS_OF_REPORT`, a page replays less and says
    what; where even `FEWEST` replications do, it is left out.  The landscape's are
    redraws, as many as the recommendation's, and the same ones, so that a report gives
    each share once.  Chapters run at their own parameters, in the fast profile only
    those that are asked for.

    Examples
    --------
    >>> import cobandit as cb
    >>> planned = plan(cb.load("synthetic-24"), fast=True, seed=0)[1]
    >>> planned.page, planned.parameters["replications"], planned.reason
    ('online-results', 10, None)
    """
    arms = experiments.structured_subset(table)
    part = 10 if fast else 1
    seed = _validation.seed(seed)
    k = table.n_arms

    redraw = 2e-8 * k * int(table.n_instances.max()) + 1e-9 * k**2
    rho = {
        "rho": _budgets(arms, experiments.IDENTIFICATION_RHO),
        "full_rho": _budgets(table, experiments.FULL_SET_RHO),
    }
    wanted: list[tuple[int, dict[str, Any]]] = [
        (min(REDRAWS, max(FEWEST, int(SECONDS_OF_REPORT / redraw))), {}),
        (100 // part, {"rho": list(experiments.ONLINE_RHO)}),
        (500 // part, rho),
    ]
    planned = [
        Page(
            page=name,
            parameters={"replications": replications, "seed": seed, **parameters},
        )
        for name, (replications, parameters) in zip(SECTIONS, wanted, strict=True)
    ]
    eliminate = len(experiments.IDENTIFICATION) * FEWEST * estimate_elimination(k)
    if eliminate > SECONDS_OF_REPORT:
        planned[-1] = _left_out(
            SECTIONS[-1],
            f"{FEWEST} replications on {k:,} configurations take {eliminate:,.0f} s or"
            f" more, and a page may take {SECONDS_OF_REPORT:.0f} s",
        )
    planned += [
        _plan_chapter(name, fast and name not in (asked or ()), seed)
        for name in CHAPTERS
    ]
    if asked is None:
        planned += [
            _left_out(name, f"it is about {what}") for name, what in FIXED.items()
        ]
    return planned


def _plan_chapter(name: str, skipped: bool, seed: int) -> Page:
    if skipped:
        return _left_out(
            name,
            f"a chapter takes up to 90 s; --page {name} adds it, and so does leaving"
            " out --fast",
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
    """Run the book's pages on a table and write a self-contained report.

    The folder gets ``index.html``, ``notebooks/`` (executed), ``results/`` (tidy,
    Parquet and CSV) and ``manifest.json``, from which the report can be made again.  A
    page that was executed into the same folder from the same source, parameters, table
    and library is not executed again, and stays in the report.

    Parameters
    ----------
    table : str or Path, optional
        Catalogue name, or a file with its card next to it; not needed with ``follow``.
    output : path
        A new or empty folder, or that of an earlier report on the same table.
    follow : path, optional
        Manifest of a report that is made again: of its table, if none is named, with
        its options.
    **given
        What `ReportOptions` has.

    Returns
    -------
    Manifest

    Raises
    ------
    CobanditError
        Before anything is written: for a table, page, number or folder that is not
        valid.
    """
    output = Path(output)
    followed = None
    options = check_fields(ReportOptions, given, lambda field: f"rerun, {field}")
    if follow is not None:
        if options != ReportOptions():
            raise CobanditError(
                "--from: the manifest decides on all other options; leave them out"
            )
        path = Path(follow)
        path = path / NAME if path.is_dir() else path
        followed = parse_json(Manifest, path)
        own = followed.table.path
        table = table or (path.parent / own if own else followed.table.name)
        options = followed.options
    if table is None:
        raise CobanditError("table: name one, or a manifest to follow")
    for name in options.pages or PAGES:
        _validation.choice(name, "page of the report", PAGES)
        book.parameters(name)  # which says if a tool is missing
    data, identity = _identify(str(table), output)
    if followed and followed.table.version != identity.version:
        raise CobanditError(
            f"table {table}: not the one of the manifest, its checksum or its card's"
            " differs"
        )
    before = _finished(output, identity)
    software = _software()
    planned = []
    for page in plan(data, fast=options.fast, seed=options.seed, asked=options.pages):
        about_it = (
            book.source(page.page),
            page.parameters,
            identity.version,
            software["library_sha256"],
        )
        page.key = _digest(about_it)
        page = before.get(page.key, page)
        wanted = options.pages is None or page.page in options.pages
        if wanted or (page.status == "kept" and not followed):
            planned.append(page)
    if options.pages:  # what is there from other calls stays in the report
        options.pages = [page.page for page in planned]
    advice = recommend(
        data, **options.model_dump(include={"budget", "about", "level", "seed"})
    )
    findings = doctor(data)

    for part in ("notebooks", "results"):
        (output / part).mkdir(parents=True, exist_ok=True)
    for name in {*PAGES} - {page.page for page in planned if page.status == "kept"}:
        for stale in (
            *output.glob(f"notebooks/{name}.ipynb"),
            *output.glob(f"results/{name}-*"),
        ):
            stale.unlink()
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


def _identify(name: str, folder: Path) -> tuple[EvaluationTable, ReportTable]:
    """Open a table; and what the manifest says of it."""
    table = open_table(name)
    path = Path(name)
    is_file = bool(path.suffix) or path.is_file()
    about = ReportTable(
        name=table.name,
        path=Path(os.path.relpath(path, folder)).as_posix() if is_file else None,
        sha256=file_sha256(path if is_file else find_records(name)),
        card_sha256=file_sha256(
            path.with_suffix(".yml") if is_file else data_directory() / f"{name}.yml"
        ),
    )
    return table, about


def _finished(output: Path, table: ReportTable) -> dict[str, Page]:
    """Pages of an earlier report in a folder by their keys, if all of their files have their checksums."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return {}

    path = output / NAME
    try:
        earlier = parse_json(Manifest, path)
        if earlier.table.version != table.version:
            raise_fault(
                path,
                f"it is of {earlier.table.name}, with other checksums",
                "name another folder",
            )
    except TableError as error:
        raise CobanditError(
            f"output {output}: it holds something else than a report on this version of"
            f" {table.name} ({NAME}: {error.faults[0].problem}); name a new or empty"
            " folder"
        ) from None

    done = [page for page in earlier.pages if page.status in ("done", "kept")]
    whole = [page for page in done if _sums(output, *page.files) == page.files]
    return {page.key: page.model_copy(update={"status": "kept"}) for page in whole}


def _sums(output: Path, *patterns: str) -> dict[str, str]:
    """Checksums of the files of a report that fit patterns."""
    found = sorted(path for pattern in patterns for path in output.glob(pattern))
    return {path.relative_to(output).as_posix(): file_sha256(path) for path in found}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _software() -> dict[str, str]:
    """Versions of what a report depends on, and a checksum of the source of both packages."""
    folders = [Path(package.__path__[0]) for package in (cobandit, companion)]
    source = _digest([_sums(folder, "**/*.py") for folder in folders])
    versions = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **versions, "library_sha256": source}


def _execute(entry: Page, output: Path, dataset: str) -> None:
    """Run one page; what became of it goes into its entry."""
    page = entry.page
    start = time.monotonic()
    made = [f"notebooks/{entry.page}.ipynb"]
    given = {"dataset": dataset, **entry.parameters}
    if "results" in book.parameters(page):
        given["results"] = str(output / "results")
    try:
        book.execute(page, given, output / made[0])
    except PageError as error:
        entry.status, entry.error = "failed", error.error
    else:
        entry.status = "done"
        made.append(f"results/{page}-*")
    entry.seconds = round(time.monotonic() - start, 1)
    entry.files = _sums(output, *made)
