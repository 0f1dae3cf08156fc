"""Run the pages that a table gets, keep what comes out, and write the report."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit.advice import Finding, Recommendation, doctor, recommend
from cobandit.companion.report import manifest as made
from cobandit.companion.report import pages as book
from cobandit.companion.report.pages import PageError
from cobandit.companion.report.plan import KEPT_FRAMES, Planned, plan
from cobandit.errors import CobanditError
from cobandit.tables import EvaluationTable, open_table
from cobandit.tables.catalogue import data_directory, find_records
from cobandit.tables.storage import file_sha256

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


def _identify(name: str, folder: Path) -> tuple[EvaluationTable, str, dict[str, Any]]:
    """Open a table; what the pages call it, and what the manifest says of it."""
    table = open_table(name)
    path = Path(name)
    is_file = bool(path.suffix) or path.is_file()
    records = path if is_file else find_records(name)
    card = path.with_suffix(".yml") if is_file else data_directory() / f"{name}.yml"
    about = {
        "name": table.name,
        "kind": table.kind,
        "title": table.title,
        "source": table.card.source,
        "license": table.card.license,
        # seen from the report's folder, so that both can move together
        "path": Path(os.path.relpath(path, folder)).as_posix() if is_file else None,
        "sha256": file_sha256(records),
        "card_sha256": file_sha256(card),
    }
    return table, str(path.resolve()) if is_file else name, about


def _follow(path: Path) -> tuple[dict[str, Any], str]:
    """Read a manifest to be followed; where its table is."""
    earlier = made.read_manifest(path)
    folder = path if path.is_dir() else path.parent
    about = earlier["table"]
    return earlier, str(folder / about["path"]) if about["path"] else about["name"]


def _folder(output: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """Check that a report may go to a folder; the manifest of an earlier run there."""
    if output.exists() and not output.is_dir():
        raise CobanditError(f"output {output}: this is a file; name a folder")
    if not output.exists() or not any(output.iterdir()):
        return None
    if not (output / made.NAME).is_file():
        raise CobanditError(f"output {output}: the folder holds other files; name a new or empty one")
    earlier = made.read_manifest(output)
    if (earlier["table"]["sha256"], earlier["table"]["card_sha256"]) != (
        about["sha256"],
        about["card_sha256"],
    ):
        raise CobanditError(
            f"output {output}: the folder holds a report on another table, or on another version of it "
            f"({earlier['table']['name']}); name a new folder"
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
    output, earlier = Path(output), None
    if follow is not None:
        earlier, where = _follow(Path(follow))
        table = table or where
    if table is None:
        raise CobanditError("table: name one, or a manifest to follow")
    data, dataset, identity = _identify(str(table), output)
    if earlier is not None:
        if (
            identity["sha256"] != earlier["table"]["sha256"]
            or identity["card_sha256"] != earlier["table"]["card_sha256"]
        ):
            raise CobanditError(
                f"table {table}: not the one of the manifest, its checksum or its card's differs"
            )
        planned = [Planned(p["page"], p["parameters"], p["reason"]) for p in earlier["pages"]]
        options = earlier["options"]
    else:
        planned = plan(data, fast=fast, seed=seed, pages=pages)
        options = {"fast": fast, "seed": seed, "pages": pages}
        options |= {"budget": budget, "about": about, "level": level}
    before = _folder(output, identity)
    finished = {entry["page"]: entry for entry in (before or {}).get("pages", [])}
    if earlier is None and pages:  # what is there from other calls stays in the report
        whole = plan(data, fast=fast, seed=seed)
        planned = [each for each in whole if each.page in pages or each.page in finished]
        planned = [
            each
            for each in planned
            if each.page in pages or _entry(each, finished[each.page], output, identity)["status"] == "done"
        ]
        options["pages"] = [each.page for each in planned]
    _refuse_to_drop(output, finished, planned)
    for each in planned:
        book.refuse_unknown(each.page, each.parameters)
    asked = {name: options[name] for name in ("budget", "about", "level", "seed") if name in options}
    advice, findings = recommend(data, **asked), doctor(data)

    for part in (output, output / "notebooks", output / "results"):
        part.mkdir(parents=True, exist_ok=True)
    manifest = {
        "format": made.FORMAT,
        "command": shlex.join(["cobandit", *sys.argv[1:]]),
        "table": identity,
        "options": options,
        "software": made.software(),
        "recommendation": _keep(advice, findings, output),
        "pages": [_entry(each, finished.get(each.page), output, identity) for each in planned],
    }
    made.write_manifest(output, manifest)
    executed, kept = [], []
    for entry in manifest["pages"]:
        if entry["reason"]:
            continue
        if entry["status"] == "done":
            kept.append(entry["page"])
        else:
            _execute(entry, output, dataset, how, watch)
            executed.append(entry["page"])
            made.write_manifest(output, manifest)

    from cobandit.companion.report.report import write_report

    notice = [*data.notes, *map(str, findings)]
    report = write_report(output, manifest, advice, notice)
    failed = [entry["page"] for entry in manifest["pages"] if entry["status"] == "failed"]
    left_out = {entry["page"]: entry["reason"] for entry in manifest["pages"] if entry["reason"]}
    return RerunResult(report, executed, kept, failed, left_out, _differing(earlier, manifest))


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


def _entry(
    each: Planned, before: dict[str, Any] | None, output: Path, about: dict[str, Any]
) -> dict[str, Any]:
    """What the manifest says of a page before it runs, or after, if it ran before and is intact."""
    identity = made.key(each.page, each.parameters, about)
    entry = {
        "page": each.page,
        "parameters": each.parameters,
        "reason": each.reason,
        "key": identity,
        "status": "left out" if each.reason else "to do",
        "error": None,
        "seconds": None,
        "files": {},
    }
    if (
        before
        and before["status"] == "done"
        and before["key"] == identity
        and made.intact(output, before["files"])
    ):
        return before
    return entry


def _refuse_to_drop(output: Path, finished: dict[str, dict[str, Any]], planned: list[Planned]) -> None:
    """Refuse a report that would lose a finished page of the one that is there."""
    kept = {each.page for each in planned}
    if lost := [name for name, entry in finished.items() if entry["status"] == "done" and name not in kept]:
        raise CobanditError(
            f"output {output}: its report has pages of other options or another version, or damaged, that "
            f"this call would leave out ({', '.join(lost)}); name them too, or a new folder"
        )


def _execute(
    entry: dict[str, Any],
    output: Path,
    dataset: str,
    how: dict[str, Any] | None,
    watch: Watch | None,
) -> None:
    """Run one page; what became of it goes into its entry."""
    page = entry["page"]
    keep = {name: output.resolve() / "results" / f"{page}-{name}" for name in KEPT_FRAMES[page]}
    given = {"dataset": dataset, **entry["parameters"]}
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
        entry.update(status="failed", error={"cell": error.cell, "says": error.error, "source": error.source})
    else:
        files += [f"results/{page}-{name}.{suffix}" for name in keep for suffix in ("parquet", "csv")]
        entry.update(status="done")
    entry.update(seconds=round(time.monotonic() - start, 1), files=_sums(output, files))


def _differing(earlier: dict[str, Any] | None, manifest: dict[str, Any]) -> list[str]:
    """Result files whose checksum is not that of the manifest followed; notebooks hold paths."""
    if earlier is None:
        return []

    def results(of: dict[str, Any]) -> dict[str, str]:
        files = [of["recommendation"], *(entry["files"] for entry in of["pages"])]
        return {name: sha for each in files for name, sha in each.items() if name.endswith(".csv")}

    old, new = results(earlier), results(manifest)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
