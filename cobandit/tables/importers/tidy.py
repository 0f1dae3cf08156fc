"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row per evaluation.  Wide: one row per instance, and for each configuration one column per measure,
named by a pattern such as ``{config}_{field}`` (``small_correct``, ``small_tokens``, ``large_correct``, ...),
or just one, its score.  Faults name the row and the column of the file that was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit.faults import Fault, Faults, Place, nearest, refuse, stop
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.charges import with_smallest
from cobandit.tables.importers.core import ImportResult, importer
from cobandit.tables.importers.files import MAX_FILE, find
from cobandit.tables.importers.mapping import TidyOptions, complete, cost_of
from cobandit.tables.importers.notes import Notes
from cobandit.tables.importers.repeats import settle
from cobandit.tables.importers.tokens import token_counter
from cobandit.tables.importers.wide import melted
from cobandit.tables.keys import encode
from cobandit.tables.numeric import NESTED, Rule, check_column
from cobandit.tables.query import condition
from cobandit.tables.readers import read_columns
from cobandit.tables.transforms import TRANSFORMS

EXPORT = "export it again, with its data"
PATTERNS = ("*.csv", "*.tsv", "*.jsonl", "*.csv.gz", "*.tsv.gz", "*.jsonl.gz", "*.parquet")

_PAID = Rule(lambda x: x < 0, "the cost {value} is below zero", "give what the evaluation cost")


class _Part(NamedTuple):
    """The rows of one file: ``config``, ``instance`` and what is measured; the index counts rows of the file.

    ``columns`` gives the file's column of a (configuration, column), or of a column of all configurations.
    ``differing`` are columns that nobody asked for, in which repeats of an evaluation differ.
    """

    frame: pd.DataFrame
    columns: dict[tuple[str, str] | str, str]
    differing: tuple[str, ...] = ()


@importer("csv", TidyOptions)
def read_tables(paths: Sequence[Path], options: TidyOptions, notes: Notes) -> ImportResult:
    """Any tidy or wide table (CSV, TSV, JSON Lines, Parquet) with a mapping of its columns.

    Parameters
    ----------
    paths : sequence of Path
        Files of the same columns, or folders of such files; text may be compressed by gzip.
    options : TidyOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file does not parse, the mapping is incomplete, or a column it names is missing or does not hold
        what it should.
    """
    options = complete(options)
    files = find(paths, PATTERNS, "tables")
    parts = [_part(file, options, notes) for file in files]
    rows = np.concatenate([part.frame.index for part in parts])
    ends = np.cumsum([len(part.frame) for part in parts])
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    configs = frame["config"].to_numpy()

    def place(row: int, column: str | None) -> Place:
        number = int(np.searchsorted(ends, row))
        columns, config = parts[number].columns, configs[row - 1]
        known = columns.get((config, str(column)), columns.get(str(column), column))
        return Place(str(files[number]), int(rows[row - 1]) + 1, known)

    faults = Faults("the tables")
    cost = _with_cost(frame, options, notes)
    paid = check_column(frame[cost.column], [_PAID], faults)
    if paid is not None:
        frame[cost.column] = with_smallest(pd.Series(paid), cost.unit, options.smallest_cost, notes)
    objectives = [_measured(frame, objective, options.scale, faults) for objective in options.objective]
    refuse(fault.at(place) for fault in faults.found)

    notes.remarks[:0] = [
        f"took: {len(frame):,} rows",
        "objectives: " + ", ".join(f"{o.name} from {o.column} ({o.transform})" for o in objectives),
    ]
    again = frame.duplicated(["config", "instance"], keep=False)
    first = np.arange(len(frame))
    if again.any():
        number = frame.groupby(["config", "instance"], sort=False).cumcount() + 1
        separate = frame["instance"] + ", repeat " + number.astype(str)
        measured = [str(name) for name in frame if name not in ("config", "instance", *options.arm)]
        frame = settle(frame, measured, separate, options.repeats, notes)
        if differing := sorted({name for part in parts for name in part.differing}):
            notes.remarks.append(
                f"note: the repeats differ in {', '.join(differing)}: what is a setting belongs to --config"
            )
        first = frame.index.to_numpy()
    return ImportResult(
        frame.reset_index(drop=True),
        cost,
        tuple(objectives),
        options.arm,
        "a mapping of columns",
        files=tuple(sorted({path.resolve().name for path in paths})),
        place=lambda row, column: place(int(first[row - 1]) + 1, column),
    )


def _part(file: Path, options: TidyOptions, notes: Notes) -> _Part:
    """Read one file whole; columns of names stay text."""
    size = file.stat().st_size
    if size > MAX_FILE:
        stop(file, f"the file has {size:,} bytes, more than the {MAX_FILE:,} that are read", "split it")
    if not size:
        stop(file, "the file is empty", EXPORT)
    frame = read_columns(file, [*options.config, str(options.instance)])
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    if options.where is not None:
        kept = condition(frame, options.where, f"--where {options.where!r}, {file}", "row")
        notes.left_out["rows that --where leaves out"] += int((~kept).sum())
        frame = frame[kept]
    if frame.empty:
        if options.where is not None:
            stop(file, "--where leaves none of its rows", "widen it")
        stop(file, "the table has no rows", EXPORT)
    instance = str(options.instance)
    _refuse_missing(frame, [instance], file)
    names = _names(frame, instance, file)
    columns: dict[tuple[str, str] | str, str] = {"instance": instance}
    if options.wide is None:
        tidy = _tidy(frame, names, options, file)
        return _Part(tidy, columns | {"config": options.config[0]}, _differing(frame, tidy, options))
    rest = frame.drop(columns=instance)
    long, found = melted(rest, names, options, file, notes)
    return _Part(long, columns | found)


def _tidy(frame: pd.DataFrame, instance: np.ndarray, options: TidyOptions, file: Path) -> pd.DataFrame:
    _refuse_missing(frame, options.config, file)
    cost = cost_of(options.cost, list(frame.columns))
    taken = [objective.column for objective in options.objective] + [*options.text, *options.arm]
    taken += [cost] if isinstance(cost, str) else []
    _refuse_missing(frame, taken, file)
    for column in sorted({"config", "instance"} & set(taken)):
        problem = f"the column {column!r} is measured or descriptive"
        stop(file, problem, "rename it: the table needs that name")
    parts = [_names(frame, column, file) for column in options.config]
    config = parts[0]
    for part in parts[1:]:
        config = config + " " + part
    return pd.DataFrame(
        {"config": config, "instance": instance} | {column: frame[column].to_numpy() for column in taken},
        index=frame.index,
    )


def _differing(frame: pd.DataFrame, tidy: pd.DataFrame, options: TidyOptions) -> tuple[str, ...]:
    """Columns that were not taken and differ between rows of one configuration and instance."""
    pair = tidy.groupby(["config", "instance"], sort=False).ngroup()
    pair = pair[pair.duplicated(keep=False)]
    taken = {*tidy.columns, *options.config, options.instance}
    others = frame.loc[pair.index, ~frame.columns.isin(taken)].astype(str)
    differ = (others != others.groupby(pair).transform("first")).any()
    return tuple(differ.index[differ])


def _refuse_missing(frame: pd.DataFrame, wanted: Sequence[str], file: Path) -> None:
    known = list(frame.columns)
    for name in wanted:
        if known.count(name) > 1:
            stop(file, f"the column {name!r} stands in it more than once", "keep one")
        if name not in known:
            stop(file, f"there is no column {name!r}", f"{nearest(name, known)}there is {', '.join(known)}")


def _names(frame: pd.DataFrame, column: str, file: Path) -> np.ndarray:
    """Read a column of names as text, each there."""
    try:
        keys = encode(frame[column])
    except TypeError:  # lists and dictionaries cannot be hashed
        refuse([Fault(str(file), "the names are nested values", NESTED, column=column)])
        raise
    blank = keys.codes < 0
    if blank.any():
        row = int(frame.index[int(blank.argmax())]) + 1
        more = int(blank.sum()) - 1
        refuse([Fault(str(file), "the name is blank", "fill it in: it tells rows apart", row, column, more)])
    return np.array(keys.labels, dtype=object)[keys.codes]


def _with_cost(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> Cost:
    """Put the cost into a column of the frame, unless one holds it, and remark what it is."""
    cost = cost_of(options.cost, list(frame.columns))
    unit = options.unit or "evaluations"
    if options.text:
        tokens = token_counter(options.tokenizer)
        name, unit = _free("tokens", frame), options.unit or tokens.unit
        texts = frame[list(options.text)].astype(object)
        texts = texts.where(texts.notna(), "")
        frame[name] = [float(sum(tokens.count(str(text)) for text in row)) for row in texts.to_numpy()]
        for column in {*options.text} - {*options.arm, *(each.column for each in options.objective)}:
            del frame[column]
        notes.remarks.append(f"cost: {tokens.unit} of {', '.join(options.text)}, counted here")
        return Cost(column=name, unit=unit)
    if isinstance(cost, str):
        if cost not in frame:
            stop("--cost", f"{cost!r} is no column, no number and no CONFIG=NUMBER", "give one of these")
        notes.remarks.append(f"cost: column {cost}, in {unit}")
        return Cost(column=cost, unit=unit)
    name = _free("cost", frame)
    if isinstance(cost, dict):
        configs = frame["config"].unique()
        if unknown := sorted(set(cost) - set(configs)):
            remedy = f"{nearest(unknown[0], configs)}there is {', '.join(sorted(configs))}"
            stop("--cost", f"there is no configuration {unknown[0]!r}", remedy)
        if missing := sorted(set(configs) - set(cost)):
            stop("--cost", f"none is given to {', '.join(missing)}", "repeat --cost CONFIG=NUMBER for each")
        frame[name] = frame["config"].map(cost).astype(float)
        notes.remarks.append(f"cost: one for each configuration, in {unit}")
        return Cost(column=name, unit=unit)
    frame[name] = cost
    what = f"{cost:.15g} {unit} for each evaluation" if options.cost else "none is given, so each is 1"
    notes.remarks.append(f"cost: {what}: methods that weigh costs treat all configurations alike")
    return Cost(column=name, unit=unit)


def _free(name: str, frame: pd.DataFrame) -> str:
    while name in frame:
        name += "_"
    return name


def _measured(frame: pd.DataFrame, objective: Objective, scale: float, faults: Faults) -> Objective:
    """Check an objective's column, and divide a score by the scale: into a column whose name says so."""
    column, rule = objective.column, TRANSFORMS[objective.transform].rule
    plain = objective.transform == "none"
    if plain:
        remedy = (
            "divide every score by the largest possible value with --scale, or this column beforehand, "
            "or give it a transform: NAME=COLUMN:TRANSFORM"
        )
        problem = f"the objective {{value}} is outside 0 to {scale:.15g}"
        rule = Rule(lambda x: (x < 0) | (x > scale), problem, remedy)
    values = check_column(frame[column], [rule] if rule else [], faults)
    if values is None or not plain or scale == 1:
        if values is not None:
            frame[column] = values
        return objective
    name = f"{column} / {scale:.15g}"
    frame[name] = values / scale
    return objective.model_copy(update={"column": name})
