"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row per evaluation.  Wide: one row per instance, and for each configuration one column per measure,
named by a pattern such as ``{config}_{field}`` (``small_correct``, ``small_tokens``, ``large_correct``, ...),
or just one, its score.  Faults name the row and the column of the file that was read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError, field_validator

from cobandit.faults import Faults, Place, refuse, stop, suggest
from cobandit.tables.card import Cost, Objective
from cobandit.tables.columns import Rule, check_column, evaluate_condition, read_numbers
from cobandit.tables.frames import charge
from cobandit.tables.importers.logs import average_repeats, charge_free
from cobandit.tables.importers.sources import ImportResult, Names, Notes, RepeatOptions, importer
from cobandit.tables.prices import make_token_counter
from cobandit.tables.safe_reading import MAX_FILE, check_size, find_files, first_fault, load_yaml
from cobandit.tables.schema import check_columns, encode_names
from cobandit.tables.storage import read_columns
from cobandit.tables.transforms import TRANSFORMS


class TidyOptions(RepeatOptions):
    """Options of ``cobandit import csv``; a YAML mapping has the same keys."""

    mapping: Path | None = Field(
        None, description="A YAML file with the options below; the command line wins."
    )
    config: Names = Field((), description="The column that names the configuration; repeat to join several.")
    instance: str | None = Field(None, description="The column that names the instance.")
    cost: tuple[str, ...] = Field(
        (),
        description="The cost: a column (in a wide file, a field); a number that every evaluation costs; or "
        "CONFIG=NUMBER, repeated for each configuration. Without it, each costs 1.",
    )
    unit: str | None = Field(None, description="The unit of the cost, such as tokens or USD.")
    text: Names = Field(
        (),
        description="In place of --cost: a column of text whose tokens are counted, such as the answer; "
        "repeat to add the prompt.",
    )
    tokenizer: Path | None = Field(
        None, description="A tokenizer.json to count tokens with (default: characters / 4)."
    )
    objective: tuple[Objective, ...] = Field(
        (),
        description=f"NAME=COLUMN or NAME=COLUMN:TRANSFORM ({', '.join(TRANSFORMS)}); repeat. NAME alone is "
        "NAME=NAME.",
    )
    arm: Names = Field(
        (),
        description="A column that describes the configuration; repeat for more (default: those of --config, "
        "if there are several).",
    )
    wide: str | None = Field(
        None,
        description="The file is wide, with columns named by this pattern, such as {config}_{field}, or just "
        "{config} where each configuration has one column, its score.",
    )
    where: str | None = Field(
        None, description="Take only rows that fulfil this, such as \"lang == 'en' and shots > 0\"."
    )

    @field_validator("cost", mode="before")
    @classmethod
    def _priced(cls, value: Any) -> Any:
        """Take a number, or ``{CONFIG: NUMBER}``, as well as what the command line takes."""
        if isinstance(value, dict):
            return [f"{name}={number}" for name, number in value.items()]
        items = value if isinstance(value, (list, tuple)) else [value]
        return [str(item) if type(item) in (int, float) else item for item in items]

    @field_validator("objective", mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        """Take ``NAME=COLUMN:TRANSFORM`` for an objective, as well as what a card has; one or several."""
        value = [value] if isinstance(value, (str, dict)) else value
        return [_objective(item) for item in value] if isinstance(value, (list, tuple)) else value

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (wide.count("{config}") != 1 or wide.count("{field}") > 1):
            raise ValueError(f"{wide!r} needs {{config}} once, and {{field}} at most once")
        return wide

    @property
    def fields(self) -> bool:
        """Whether a wide file has several columns for each configuration."""
        return self.wide is not None and "{field}" in self.wide


def _objective(item: Any) -> Any:
    if not isinstance(item, str):
        return item
    name, equals, rest = item.partition("=")
    column, colon, transform = rest.rpartition(":")
    if not equals:
        return {"name": item, "column": item}
    if colon and transform in TRANSFORMS:
        return {"name": name, "column": column, "transform": transform}
    return {"name": name, "column": rest}


def complete_options(options: TidyOptions) -> TidyOptions:
    """Take what the command line leaves open from the YAML file, and check that nothing is open then.

    Raises
    ------
    TableError
        If the file is no mapping, or something is missing or contradicts something else.

    Examples
    --------
    >>> complete_options(TidyOptions(instance="q", objective=["accuracy"]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the mapping: it does not say --config -> give it, or ...
    """
    if options.mapping is not None:
        options = _with_mapping(options, options.mapping)
    needed = ["instance", *(["unit"] if options.cost else [])]
    needed += ["config"] if options.wide is None else []
    needed += ["objective"] if options.wide is None or options.fields else []
    missing = [f"--{name}" for name in needed if not getattr(options, name)]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        problem = f"it does not say {', '.join(missing)}"
        stop("the mapping", problem, f"give {them}, or a YAML file with --mapping")
    if options.cost and options.text:
        stop("the mapping", "the cost is given as --cost and as --text", "leave one of them out")
    if options.wide is not None and (options.config or options.arm):
        problem = "a wide file names its configurations in its columns"
        stop("the mapping", problem, "leave out --config and --arm")
    if options.wide is None:
        # several columns that name a configuration together describe it, too
        joined = options.config if len(options.config) > 1 else ()
        return options.model_copy(update={"arm": options.arm or joined})
    if options.fields:
        return options
    if options.text or len(options.objective) > 1:
        problem = "a wide file with one column for each configuration has nothing but a score"
        stop("the mapping", problem, "leave out --text and further objectives, or use {field} in --wide")
    return options.model_copy(
        update={"objective": options.objective or (Objective(name="accuracy", column="score"),)}
    )


def _with_mapping(options: TidyOptions, path: Path) -> TidyOptions:
    given = load_yaml(path, "mapping")
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        problem = "the mapping is not a list of 'option: value'"
        stop(path, problem, "write 'config: ...', 'instance: ...' and so on")
    # a condition is evaluated, so it is for the user to give, not for a file that came from elsewhere
    known = [name for name in TidyOptions.model_fields if name not in ("mapping", "where")]
    unknown = sorted(set(given) - set(known))
    if unknown:
        remedy = suggest(unknown[0], known, f"known keys: {', '.join(known)}")
        if unknown[0] == "where":
            remedy = "give --where on the command line"
        stop(path, f"unknown key {unknown[0]!r}", remedy)
    try:
        return TidyOptions.model_validate(given | options.model_dump(exclude_unset=True))
    except ValidationError as error:
        stop(path, first_fault(error), "correct the mapping")


def read_cost(given: Sequence[str], known: Container[str]) -> str | float | dict[str, float]:
    """Read what ``--cost`` says: a column that is known, a number, or a number for each configuration.

    Raises
    ------
    TableError
        If it is given several times and some are not as ``CONFIG=NUMBER``.

    Examples
    --------
    >>> read_cost(["tokens"], {"tokens"}), read_cost(["0.5"], {"tokens"}), read_cost([], {"tokens"})
    ('tokens', 0.5, 1.0)
    >>> read_cost(["small=1", "t=0.7=20"], {"tokens"})
    {'small': 1.0, 't=0.7': 20.0}
    """
    if not given:
        return 1.0
    if len(given) == 1 and given[0] in known:
        return given[0]
    if len(given) == 1 and (number := _number(given[0])) is not None:
        return number
    pairs = [(name, _number(number)) for name, _, number in (item.rpartition("=") for item in given)]
    each = {name: number for name, number in pairs if name and number is not None}
    if len(each) == len(given):
        return each
    if len(given) > 1:
        remedy = "repeat it as CONFIG=NUMBER, once for each configuration, or name one column"
        stop("--cost", f"of {', '.join(given)} not each is a configuration and its cost", remedy)
    return given[0]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


PATTERNS = ("*.csv", "*.tsv", "*.jsonl", "*.csv.gz", "*.tsv.gz", "*.jsonl.gz", "*.parquet")

_PAID = Rule(lambda x: x < 0, "the cost {value} is below zero", "give what the evaluation cost")


class _Part(NamedTuple):
    """The rows of one file: ``config``, ``instance`` and what is measured; the index counts rows of the file.

    ``columns`` gives the file's column of a (configuration, column), or of a column of all configurations.
    ``differing`` are columns that nobody asked for, in which repeats of an evaluation differ.
    """

    frame: pd.DataFrame
    columns: Mapping[Any, str]
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
    options = complete_options(options)
    files = find_files(paths, PATTERNS, "tables")
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
        frame[cost.column] = charge_free(pd.Series(paid), cost.unit, options.smallest_cost, notes)
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
        frame = average_repeats(frame, measured, separate, options.repeats, notes)
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
        {},  # what columns and cost mean stands on the card
        files=tuple(sorted({path.resolve().name for path in paths})),
        place=lambda row, column: place(int(first[row - 1]) + 1, column),
    )


def _part(file: Path, options: TidyOptions, notes: Notes) -> _Part:
    """Read one file whole; columns of names stay text."""
    check_size(file, MAX_FILE)
    frame = read_columns(file, [*options.config, str(options.instance)])
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    if options.where is not None:
        kept = evaluate_condition(frame, options.where, f"--where {options.where!r}, {file}")
        notes.left_out["rows that --where leaves out"] += int((~kept).sum())
        frame = frame[kept]
    if frame.empty:
        if options.where is not None:
            stop(file, "--where leaves none of its rows", "widen it")
        stop(file, "the table has no rows", "export it again, with its data")
    instance = str(options.instance)
    _refuse_missing(frame, [instance], file)
    names = _names(frame, instance, file)
    if options.wide is None:
        tidy = _tidy(frame, names, options, file)
        columns = {"instance": instance, "config": options.config[0]}
        return _Part(tidy, columns, _differing(frame, tidy, options))
    long, found = _melt(frame.drop(columns=instance), names, options, file, notes)
    return _Part(long, found | {"instance": instance})


def _tidy(frame: pd.DataFrame, instance: np.ndarray, options: TidyOptions, file: Path) -> pd.DataFrame:
    _refuse_missing(frame, options.config, file)
    cost = read_cost(options.cost, list(frame.columns))
    taken = [objective.column for objective in options.objective] + [*options.text, *options.arm]
    taken += [cost] if isinstance(cost, str) else []
    for name, colon, transform in (objective.column.rpartition(":") for objective in options.objective):
        if colon and name in frame and f"{name}:{transform}" not in frame:
            stop(file, f"there is no transform {transform!r}", suggest(transform, TRANSFORMS))
    _refuse_missing(frame, taken, file)
    for column in sorted({"config", "instance"} & set(taken)):
        problem = f"the column {column!r} is measured or descriptive"
        stop(file, problem, "rename it: the table needs that name")
    parts = [_names(frame, column, file) for column in options.config]
    return pd.DataFrame(
        {"config": list(map(" ".join, zip(*parts, strict=True))), "instance": instance}
        | {column: frame[column].to_numpy() for column in taken},
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
    faults = Faults(str(file))
    check_columns(frame, list(dict.fromkeys(wanted)), faults)
    refuse(faults.found)


def _names(frame: pd.DataFrame, column: str, file: Path) -> np.ndarray:
    """Read a column of names as text, each there."""
    faults = Faults(str(file))
    keys = encode_names(frame[column], faults)
    rows = frame.index + 1  # those of the file, of which --where may have left out some
    refuse(fault.at(lambda row, name: Place(str(file), int(rows[row - 1]), name)) for fault in faults.found)
    return np.array(keys.labels, dtype=object)[keys.codes]


def _with_cost(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> Cost:
    """Put the cost into a column of the frame, unless one holds it, and remark what it is."""
    cost = read_cost(options.cost, list(frame.columns))
    unit = options.unit or "evaluations"
    if options.text:
        tokens = make_token_counter(options.tokenizer)
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
    frame[name] = charge(frame["config"], cost, "--cost")
    what = f"one for each configuration, in {unit}"
    if not isinstance(cost, dict):
        what = f"{cost:.15g} {unit} for each evaluation" if options.cost else "none is given, so each is 1"
        what += ": methods that weigh costs treat all configurations alike"
    notes.remarks.append(f"cost: {what}")
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


def _melt(
    frame: pd.DataFrame, instance: np.ndarray, options: TidyOptions, file: Path, notes: Notes
) -> tuple[pd.DataFrame, dict[Any, str]]:
    """Turn the columns of each configuration into rows; a configuration has either every field or a fault.

    Parameters
    ----------
    frame : DataFrame, N rows
        The columns of the file besides that of the instances.
    instance : array of str, shape (N,)
    options : TidyOptions
        With a pattern.
    file : Path
    notes : Notes
        Takes the number of cells that are empty, and columns of text that are no configurations.

    Returns
    -------
    frame : DataFrame
        ``config``, ``instance`` and a column for each field; the index is that of the given frame.
    columns : dict
        The file's column of each (configuration, field).

    Raises
    ------
    TableError
        If no column fits the pattern, or a configuration lacks one.
    """
    measured = list(dict.fromkeys(objective.column for objective in options.objective))
    if options.fields:
        found = _by_field(frame, options, measured, file)
    else:
        found = _by_name(frame, options, file, notes)
    if not found:
        stop(file, f"no column fits the pattern {options.wide!r}", "correct --wide")
    numbers = [name for name in next(iter(found.values())) if name not in options.text]
    parts = []
    for config, columns in sorted(found.items()):
        _refuse_missing(frame, [*columns.values()], file)
        cells = {field: frame[column] for field, column in columns.items()}
        parts.append(pd.DataFrame({"config": config, "instance": instance} | cells, index=frame.index))
    long = pd.concat(parts).dropna(how="all", subset=numbers)
    holes = len(parts) * len(frame) - len(long)
    if holes:
        notes.left_out["empty cells of a wide file: the configuration was not run there"] += holes
    if long.empty:
        stop(file, "every cell of the configurations is empty", "export it again, with its data")
    return long, {(config, field): found[config][field] for config in found for field in found[config]}


def _by_field(
    frame: pd.DataFrame, options: TidyOptions, measured: list[str], file: Path
) -> dict[str, dict[str, str]]:
    """Columns by configuration and field, of a pattern with both."""
    names = list(map(str, frame.columns))
    fits = {
        field: {match[1]: name for name in names if (match := re.fullmatch(_pattern(options, field), name))}
        for field in dict.fromkeys([*measured, *options.text, *options.cost])
    }
    cost = read_cost(options.cost, {field for field in options.cost if fits[field]})
    fields = [*measured, *options.text, *([cost] if isinstance(cost, str) else [])]
    fields = list(dict.fromkeys(fields))
    found: dict[str, dict[str, str]] = {}
    for config in sorted({config for field in fields for config in fits[field]}):
        for field in fields:
            if config not in fits[field]:
                name = str(options.wide).replace("{config}", config).replace("{field}", field)
                stop(file, f"configuration {config!r} has no column {name!r}", "add it, or correct --wide")
            found.setdefault(config, {})[field] = fits[field][config]
    return found


def _by_name(
    frame: pd.DataFrame, options: TidyOptions, file: Path, notes: Notes
) -> dict[str, dict[str, str]]:
    """Columns by configuration where each has one, of numbers; a column of nothing but text is none."""
    found, text = {}, []
    for position, name in enumerate(map(str, frame.columns)):
        match = re.fullmatch(_pattern(options, ""), name)
        if match is None:
            continue
        column = frame.iloc[:, position]
        if column.notna().any() and np.isnan(read_numbers(column)[0]).all():
            text.append(name)
        else:
            found[match[1]] = {options.objective[0].column: name}
    if text:
        listed = ", ".join(text)
        notes.remarks.append(f"columns of text in {file.name}, which are no configurations: {listed}")
    return found


def _pattern(options: TidyOptions, field: str) -> str:
    before, after = str(options.wide).replace("{field}", field).split("{config}")
    return f"{re.escape(before)}(.+){re.escape(after)}"
