"""Run the pages that a table gets, keep what comes out, and write the report.

`plan` says which pages with which parameters: budgets from a table's costs, replications from its size.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit import _check, theory
from cobandit.advice import Finding, Recommendation, doctor, recommend
from cobandit.advice.recommendation import REDRAWS
from cobandit.companion.paper import experiments
from cobandit.companion.report import manifest as made
from cobandit.companion.report import pages as book
from cobandit.companion.report.pages import PageError
from cobandit.companion.report.report import write_report
from cobandit.errors import CobanditError
from cobandit.faults import amount
from cobandit.tables import EvaluationTable, open_table
from cobandit.tables.catalogue import data_directory, find_records
from cobandit.tables.storage import file_sha256

#: Seconds that the replays of one page may take on one core, estimated: beyond it replications are fewer.
SECONDS = {"fast": 60.0, "full": 900.0}
#: Fewer replications than this are no experiment: the page is left out.
LEAST = {"fast": 5, "full": 20}

#: Measured on one core: one pull online and in identification, one elimination of K arms over K^3 at its
#: slowest (few evaluations, many ties).
PULL, SAMPLE, ELIMINATE = 60e-9, 30e-9, 1e-9


def ladder(start: float, steps: int) -> list[int]:
    """Budgets 1, 2, 5, 10, ... from the first that is at least ``start``.

    Examples
    --------
    >>> ladder(10, 5)
    [10, 20, 50, 100, 200]
    >>> ladder(1611, 3)
    [2000, 5000, 10000]
    """
    rungs = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return list(islice((rung for rung in rungs if rung >= start), steps))


def _budgets(arms: EvaluationTable, least: tuple[int, ...]) -> list[int]:
    """As many budgets as the paper takes, from the first at which CoPSI can run, or from the paper's."""
    smallest = theory.allocation_constant(arms.n_arms, arms.costs.min() / arms.costs.max())
    return ladder(max(smallest, least[0]), len(least))


def _online_seconds(table: EvaluationTable, rhos: tuple[float, ...]) -> float:
    """One replication of one method, at most: every pull might be of the cheapest arm."""
    return PULL * sum(rhos) * float(table.costs.sum() / table.costs.min())


def _found_seconds(arms: EvaluationTable, rhos: list[int]) -> float:
    """One replication of the identification algorithms, the largest budget also with two kinds of costs."""
    k = arms.n_arms
    return 2 * (len(rhos) + 2) * ELIMINATE * k**3 + 3 * SAMPLE * k * (sum(rhos) + 2 * max(rhos))


def plan(table: EvaluationTable, *, fast: bool, seed: int, pages: list[str] | None = None) -> list[made.Page]:
    """Choose pages and parameters for a table.

    The full profile takes the paper's replications, the fast one a tenth; either takes fewer where the table
    is so large that a page would replay for longer than `SECONDS`.  The landscape's are redraws, as many as
    the recommendation's.

    Parameters
    ----------
    table : EvaluationTable
    fast : bool
    seed : int
    pages : list of str, optional
        Only these.

    Returns
    -------
    list of Page

    Raises
    ------
    CobanditError
        If a page is not one of the report's.

    Examples
    --------
    >>> import cobandit as cb
    >>> planned = plan(cb.load("synthetic-24"), fast=True, seed=0, pages=["online-results"])
    >>> planned[0].parameters["replications"], planned[0].reason
    (10, None)
    """
    for page in pages or []:
        _check.choice(page, "page of the report", book.KEPT_FRAMES)
    profile = "fast" if fast else "full"
    arms, seed = experiments.structured_subset(table), _check.seed(seed)
    online = _online_seconds(table, experiments.ONLINE_RHO)

    def about(page: str, paper: int, seconds: float, **parameters: Any) -> made.Page:
        """Give the page its replications: the profile's, or as many as fit."""
        wanted = paper // 10 if fast and page != "landscape" else paper
        fitting = int(SECONDS[profile] / seconds)
        if fitting < LEAST[profile]:
            reason = (
                f"one replication on {table.n_arms:,} configurations takes about {amount(seconds)} s, so "
                f"that {LEAST[profile]} of them take more than the {SECONDS[profile]:,.0f} s a page may take"
            )
            return made.Page(page=page, parameters={}, reason=reason)
        given = {"replications": min(wanted, fitting), "seed": seed, **parameters}
        return made.Page(page=page, parameters=given)

    def shortened(arms: EvaluationTable, rhos: list[int]) -> list[int]:
        """Leave out the largest budgets, down to three, as long as too few replications would fit."""
        while len(rhos) > 3 and SECONDS[profile] < LEAST[profile] * _found_seconds(arms, rhos):
            rhos = rhos[:-1]
        return rhos

    structured = shortened(arms, _budgets(arms, experiments.IDENTIFICATION_RHO))
    full = shortened(table, _budgets(table, experiments.FULL_SET_RHO))
    redraw = 2e-8 * table.n_arms * int(table.n_instances.max()) + 1e-9 * table.n_arms**2
    last = _online_seconds(table, experiments.ONLINE_RHO[-1:])
    # all configurations have a fifth of the replications
    found = _found_seconds(arms, structured) + _found_seconds(table, full) / 5
    chosen = [
        # as many as the recommendation draws, and the same ones, so that a report gives each share once
        about("landscape", REDRAWS, redraw),
        about("online-results", 100, 4 * online + 8 * last, rho=list(experiments.ONLINE_RHO)),
        about("identification-results", 500, found, rho=structured, full_rho=full),
    ]
    return [planned for planned in chosen if not pages or planned.page in pages]


#: Called with a page, the cells that are finished and their number.
Watch = Callable[[str, int, int], None]


class RerunResult(NamedTuple):
    """What `rerun` did: names of pages, and where the report is."""

    report: Path
    executed: list[str]
    kept: list[str]  # executed before, by an interrupted or earlier run
    failed: list[str]
    left_out: dict[str, str]
    differs: list[str]  # result files that are not those of the manifest followed


def _identify(name: str, folder: Path) -> tuple[EvaluationTable, str, made.Table]:
    """Open a table; what the pages call it, and what the manifest says of it."""
    table, path = open_table(name), Path(name)
    is_file = bool(path.suffix) or path.is_file()
    about = made.Table(
        name=table.name,
        kind=table.kind,
        title=table.title,
        source=table.card.source,
        license=table.card.license,
        path=Path(os.path.relpath(path, folder)).as_posix() if is_file else None,
        sha256=file_sha256(path if is_file else find_records(name)),
        card_sha256=file_sha256(path.with_suffix(".yml") if is_file else data_directory() / f"{name}.yml"),
    )
    return table, str(path.resolve()) if is_file else name, about


def _earlier(output: Path, about: made.Table) -> made.Manifest | None:
    """Check that a report may go to a folder; the manifest of an earlier run there."""
    if output.exists() and not output.is_dir():
        raise CobanditError(f"output {output}: this is a file; name a folder")
    if not output.exists() or not any(output.iterdir()):
        return None
    if not (output / made.NAME).is_file():
        raise CobanditError(f"output {output}: the folder holds other files; name a new or empty one")
    earlier = made.read_manifest(output)
    if earlier.table.version != about.version:
        raise CobanditError(
            f"output {output}: the folder holds a report on another table, or on another version of it "
            f"({earlier.table.name}); name a new folder"
        )
    return earlier


def rerun(
    table: str | Path | None,
    output: str | Path,
    *,
    fast: bool = False,
    seed: int = 0,
    pages: list[str] | None = None,
    budget: float | None = None,
    about: str = "instances",
    level: float = 0.95,
    how: dict[str, Any] | None = None,
    follow: str | Path | None = None,
    watch: Watch | None = None,
) -> RerunResult:
    """Run the book's pages on a table and write a self-contained report.

    The folder gets ``index.html``, ``notebooks/`` (executed), ``results/`` (tidy, Parquet and CSV) and
    ``manifest.json``, from which the report can be made again.  A page that was executed into the same folder
    from the same source, parameters, table and library is not executed again.

    Parameters
    ----------
    table : str or Path, optional
        Catalogue name, or a file with its card next to it; not needed with ``follow``.
    output : path
        A new or empty folder, or that of an earlier report on the same table.
    fast : bool
        A tenth of the paper's replications.
    seed : int
    pages : list of str, optional
        Only these.
    budget, about, level
        As in `cobandit.recommend`.
    how : dict, optional
        How replays run in parallel: ``workers``, ``backend``, ``scheduler``.
    follow : path, optional
        Manifest of a report: its pages, parameters and recommendation are made again.
    watch : callable, optional
        Told of every cell that is finished.

    Returns
    -------
    RerunResult

    Raises
    ------
    CobanditError
        Before anything is written: for a table, page, number or folder that is not valid.
    """
    output, followed = Path(output), None
    if follow is not None:
        followed, folder = made.read_manifest(Path(follow)), Path(follow)
        folder = folder if folder.is_dir() else folder.parent
        path = followed.table.path
        table = table or (folder / path if path else followed.table.name)
    if table is None:
        raise CobanditError("table: name one, or a manifest to follow")
    data, dataset, identity = _identify(str(table), output)
    if followed is None:
        options = made.Options(fast=fast, seed=seed, pages=pages, budget=budget, about=about, level=level)
        planned = plan(data, fast=fast, seed=seed, pages=pages)
    elif followed.table.version != identity.version:
        raise CobanditError(f"table {table}: not the one of the manifest, its checksum or its card's differs")
    else:
        options, planned = followed.options, followed.pages
    before = _earlier(output, identity)
    finished = {page.page: page for page in before.pages if page.finished(output)} if before else {}

    def entered(page: made.Page) -> made.Page:
        """The page as it was executed before, if nothing has changed since, else as it is before it runs."""
        page, old = page.begin(identity), finished.get(page.page)
        return old if old and old.key == page.key else page

    if followed is None and pages:  # what is there from other calls stays in the report
        whole = [entered(page) for page in plan(data, fast=fast, seed=seed)]
        planned = [page for page in whole if page.page in pages or page.status == "done"]
        options.pages = [page.page for page in planned]
    _refuse_to_drop(output, before, planned)
    for page in planned:
        book.refuse_unknown(page.page, page.parameters)
    advice = recommend(data, **options.model_dump(include={"budget", "about", "level", "seed"}))
    findings = doctor(data)

    for part in (output, output / "notebooks", output / "results"):
        part.mkdir(parents=True, exist_ok=True)
    manifest = made.Manifest(
        command=shlex.join(["cobandit", *sys.argv[1:]]),
        table=identity,
        options=options,
        software=made.software(),
        recommendation=_keep(advice, findings, output),
        pages=[entered(page) for page in planned],
    )
    manifest.write(output)
    kept = [page.page for page in manifest.pages if page.status == "done"]
    executed = []
    for page in manifest.pages:
        if page.status == "to do":
            _execute(page, output, dataset, how, watch)
            executed.append(page.page)
            manifest.write(output)

    report = write_report(output, manifest, advice, [*data.notes, *map(str, findings)])
    failed = [page.page for page in manifest.pages if page.status == "failed"]
    left_out = {page.page: page.reason for page in manifest.pages if page.reason}
    old, new = followed.results() if followed else {}, manifest.results()
    differs = sorted(name for name in old | new if old.get(name) != new.get(name)) if followed else []
    return RerunResult(report, executed, kept, failed, left_out, differs)


def _keep(advice: Recommendation, findings: list[Finding], output: Path) -> dict[str, str]:
    """Write the recommendation's frames and what there is to notice; their checksums."""
    names = {
        "findings": pd.DataFrame(findings, columns=list(Finding._fields)).astype({"number": float}),
        "recommendation": advice.arms,
        "questions": advice.questions,
        "evaluate-next": advice.next.pairs,
    }
    book.save({str(output / "results" / name): frame for name, frame in names.items()})
    return _sums(output, [f"results/{name}.{suffix}" for name in names for suffix in ("parquet", "csv")])


def _sums(output: Path, files: list[str]) -> dict[str, str]:
    return {name: file_sha256(output / name) for name in files}


def _refuse_to_drop(output: Path, before: made.Manifest | None, planned: list[made.Page]) -> None:
    """Refuse a report that would lose a page which was executed for the one that is there."""
    kept = {page.page for page in planned}
    done = [page.page for page in before.pages if page.status == "done"] if before else []
    if lost := [name for name in done if name not in kept]:
        raise CobanditError(
            f"output {output}: its report has pages of other options or another version, or damaged, that "
            f"this call would leave out ({', '.join(lost)}); name them too, or a new folder"
        )


def _execute(
    entry: made.Page, output: Path, dataset: str, how: dict[str, Any] | None, watch: Watch | None
) -> None:
    """Run one page; what became of it goes into its entry."""
    page = entry.page
    keep = {name: output.resolve() / "results" / f"{page}-{name}" for name in book.KEPT_FRAMES[page]}
    given = {"dataset": dataset, **entry.parameters}
    if how and "how" in book.parameters(page):
        given["how"] = how
    start, files = time.monotonic(), [f"notebooks/{page}.ipynb"]
    try:
        book.execute(
            page,
            given,
            output / "notebooks" / f"{page}.ipynb",
            keep=keep,
            on_cell=lambda done, total: watch(page, done, total) if watch else None,
        )
    except PageError as error:
        entry.status = "failed"
        entry.error = {"cell": error.cell, "says": error.error, "source": error.source}
    else:
        files += [f"results/{page}-{name}.{suffix}" for name in keep for suffix in ("parquet", "csv")]
        entry.status = "done"
    entry.seconds, entry.files = round(time.monotonic() - start, 1), _sums(output, files)
