"""Export of a table in the format of Every Eval Ever, version 0.3.

A configuration becomes a JSON file, and a JSON Lines file with its instances.
``cobandit import every-eval-ever`` reads these files back as the same table. The format
requires some values that a table does not have: texts are left empty, and tokens of
prompts are marked as not recorded.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from cobandit._version import __version__
from cobandit.errors import raise_fault
from cobandit.tables.card import Objective
from cobandit.tables.every_eval_records import (
    CONFIGURATION,
    SCHEMA,
    TableRows,
    describe_result,
    list_lines,
)
from cobandit.tables.portable_names import model_folders, portable_name
from cobandit.tables.table import EvaluationTable


class ExportedRecords(NamedTuple):
    """Result of `export_every_eval_ever`."""

    #: Files of the evaluations, one per configuration.
    files: tuple[Path, ...]
    #: Remarks on properties of the table that the format cannot store.
    report: tuple[str, ...]


def export_every_eval_ever(
    table: EvaluationTable,
    folder: str | Path,
    *,
    organization: str = "unknown",
    relationship: Literal[
        "first_party", "third_party", "collaborative", "other"
    ] = "other",
    library: str = "unknown",
    timestamp: float | None = None,
) -> ExportedRecords:
    """Write a table in the format of Every Eval Ever, two files per configuration.

    Parameters
    ----------
    table : EvaluationTable
    folder : str or Path
        Output folder; files are written to its subfolders
        ``data/<table>/<developer>/<model>``.
    organization : str
        Provider of the evaluations.
    relationship : {"first_party", "third_party", "collaborative", "other"}
        Relation of the organization to the makers of the models.
    library : str
        Software that made the evaluations.
    timestamp : float, optional
        Time stamp of the records in seconds since 1970, by default now.

    Returns
    -------
    ExportedRecords

    Raises
    ------
    TableError
        If the files cannot be written.

    Notes
    -----
    An objective is written as a metric with scores in [0, 1], after its transform. The
    exception is an efficiency that is computed from seconds: seconds are written as
    ``performance.latency_ms``, from which an import computes the efficiency again. The
    cost of an evaluation is written as ``metadata.cost``, with its unit in
    ``metadata.cost_unit``. Whole numbers of tokens are also written to ``token_usage``.

    Examples
    --------
    >>> import cobandit as cb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = cb.load("synthetic-24")
    ...     written = export_every_eval_ever(table, folder, timestamp=0.0)
    ...     len(written.files), len(list(Path(folder).rglob("*_samples.jsonl")))
    (24, 24)
    """
    seconds = int(time.time() if timestamp is None else timestamp)
    rows = _describe_rows(table)
    source = {
        "source_name": table.card.title,
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
        "additional_details": {
            "written_by": f"cobandit {__version__}",
            "source": table.card.source,
            "license": table.card.license,
            "kind": table.card.kind,
        },
    }
    shared = {
        "retrieved_timestamp": str(seconds),
        "source_metadata": source,
        "eval_library": {"name": library, "version": "unknown"},
    }
    files = [
        _write_configuration(rows, number, shared, Path(folder))
        for number in range(table.n_arms)
    ]
    remarks = _list_remarks(table, rows.latency, rows.counts_tokens)
    return ExportedRecords(tuple(files), tuple(remarks))


def _describe_rows(table: EvaluationTable) -> TableRows:
    """Prepare the rows of a table for the export."""
    latency = _find_latency(table)
    return TableRows(
        table=table,
        scores=table.rows,
        measured=table.evaluations,
        metrics=[o for o in table.card.objectives if o is not latency],
        latency=latency,
        counts_tokens=_counts_tokens(table),
    )


def _write_configuration(
    rows: TableRows, number: int, shared: dict[str, Any], root: Path
) -> Path:
    """Write the two files of a configuration, and return the path of the JSON file."""
    table = rows.table
    config = table.configs[number]
    settings = table.arms.iloc[number]
    model = str(settings["model"]) if "model" in settings else config
    evaluation_id = f"{table.name}/{model}/{shared['retrieved_timestamp']}/{number}"
    head = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "model_id": model,
    }
    own_rows = rows.take(rows.measured["config"].to_numpy() == config)
    lines = [json.dumps(line, allow_nan=False) for line in list_lines(own_rows, head)]
    content = "".join(f"{line}\n" for line in lines)

    # file names are computed from the content, so that an export is reproducible
    checksum = hashlib.sha256(content.encode()).hexdigest()
    stem = uuid.UUID(bytes=bytes.fromhex(checksum)[:16], version=4)
    developer, name = model_folders(model)
    place = Path("data", portable_name(table.name), developer, name)
    samples = place / f"{stem}_samples.jsonl"
    evaluation = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        **shared,
        "model_info": {
            "name": model,
            "id": model,
            "developer": developer,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                CONFIGURATION: config,
            },
        },
        "evaluation_results": [
            describe_result(own_rows, objective, settings, rows.score_type(objective))
            for objective in rows.metrics
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": checksum,
            "total_rows": len(lines),
        },
    }
    target = root / place / f"{stem}.json"
    text = json.dumps(evaluation, ensure_ascii=False, indent=2) + "\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        (root / samples).write_text(content, encoding="utf-8")
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"the file could not be written: {error}"
        remedy = "free some disk space, or choose another folder"
        raise_fault(target, problem, remedy, "not-written")
    return target


def _find_latency(table: EvaluationTable) -> Objective | None:
    """Return the efficiency from seconds, unless it is the table's only objective."""
    efficiency = Objective(
        name="efficiency", column="seconds", transform="inverse-percentile"
    )
    objectives = table.card.objectives
    if len(objectives) == 1:
        return None
    return next((o for o in objectives if o == efficiency), None)


def _counts_tokens(table: EvaluationTable) -> bool:
    costs = table.evaluations[table.card.cost.column].to_numpy()
    return table.card.cost.unit == "tokens" and bool((costs == np.floor(costs)).all())


def _list_remarks(
    table: EvaluationTable, latency: Objective | None, counts_tokens: bool
) -> Iterator[str]:
    """Yield remarks on properties that the format omits or stores in another form."""
    card = table.card
    yield "texts of questions and answers are empty: a table has none"
    for objective in card.objectives:
        if objective.transform != "none" and objective is not latency:
            yield (
                f"{objective.name} is written after its transform"
                f" ({objective.transform})"
            )

    if counts_tokens:
        yield "tokens of prompts are marked as not recorded"
    if table.n_free:
        counted = f"each counts as {card.smallest_cost:g} {card.cost.unit}"
        yield f"{table.n_free:,} evaluations may have been free: {counted}"

    options = f"--profiling {card.split.profiling} --seed {card.split.seed}"
    if card.split.instances is None:
        yield f"the split is not written: an import chooses the same one with {options}"
    else:
        yield (
            "the split is not written: it was chosen before the evaluations, and an"
            " import chooses a new one"
        )
