"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row per evaluation.  Wide: one row per instance, and for each configuration one column per measure,
named by a pattern such as ``{config}_{field}`` (``small_correct``, ``small_tokens``, ``large_correct``, ...),
or just one, its score.  Faults name the row and the column of the file that was read.
"""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from pydantic import BeforeValidator, Field, field_validator

from cobandit._text import ellipsize, suggest
from cobandit.errors import Faults, Place, TableError, raise_fault, raise_if_any
from cobandit.tables.card import RESERVED, Cost, Objective
from cobandit.tables.columns import MISSING, Rule, check_column, evaluate_condition, read_numbers
from cobandit.tables.frames import charge
from cobandit.tables.importers.logs import average_repeats, charge_free
from cobandit.tables.importers.scores import (
    ScoreReader,
    read_by_objective,
    read_number,
    read_range,
    settle_missing,
)
from cobandit.tables.importers.sources import (
    ImportResult,
    Names,
    Notes,
    RepeatOptions,
    ScoreOptions,
    as_list,
    importer,
)
from cobandit.tables.record_files import SEPARATORS, TextLayout, read_columns, recognise_layout
from cobandit.tables.safe_reading import MAX_FILE, check_fields, check_size, find_files, load_yaml
from cobandit.tables.schema import check_columns, encode_names
from cobandit.tables.token_counts import make_token_counter
from cobandit.tables.transforms import TRANSFORMS

#: Columns of a file that a message offers, at most, and the letters of each.
MOST_NAMES, LONGEST_NAME = 20, 30


def _read_objectives(given: Any) -> list[Any]:
    """Take NAME, NAME=COLUMN or NAME=COLUMN:TRANSFORM for an objective, as well as what a card has."""
    return [_read_objective(each) if isinstance(each, str) else each for each in as_list(given)]


def _read_objective(text: str) -> dict[str, str]:
    name, equals, column = text.partition("=")
    start, colon, transform = column.rpartition(":")
    if colon and transform in TRANSFORMS:
        return {"name": name, "column": start, "transform": transform}
    return {"name": name, "column": column if equals else name}


class TidyMapping(RepeatOptions, ScoreOptions):
    """Which column is what: options of ``cobandit import csv``, and the keys of its YAML file."""

    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "refuse", description="Rows without a score: left out, counted as 0, or an error."
    )

    config: Names = Field(
        (),
        description="The column that names the configuration; repeat to join several. Where no column is "
        "called so, 'file' is the name of the file.",
    )
    instance: str | None = Field(None, description="The column that names the instance.")
    cost: Names = Field(
        (),
        description="The cost: a column (in a wide file, a field); a number that every evaluation costs; or "
        "CONFIG=NUMBER, repeated for each configuration. Without it, each costs 1.",
    )
    unit: str | None = Field(None, description="The unit of the cost, such as tokens or USD.")
    text: Names = Field((), description="In place of --cost: text whose tokens are counted; repeat to add.")
    tokenizer: Path | None = Field(None, description="A tokenizer.json (default: characters / 4).")
    objective: Annotated[tuple[Objective, ...], BeforeValidator(_read_objectives)] = Field(
        (),
        description=f"NAME=COLUMN or NAME=COLUMN:TRANSFORM ({', '.join(TRANSFORMS)}); repeat. NAME alone is "
        "NAME=NAME.",
    )
    arm: Names = Field(
        (), description="A column that describes the configuration; repeat (default: several --config)."
    )
    cluster: str | None = Field(
        None,
        description="A column of what instances have in common, such as a passage that questions are about: "
        "what is settled then counts its values.",
    )
    separator: str | None = Field(
        None, min_length=1, max_length=1, description="What separates columns of text (default: recognised)."
    )
    decimal: Literal[".", ","] | None = Field(
        None, description="The decimal mark of numbers in text (default: recognised)."
    )
    encoding: str | None = Field(
        None, description="The encoding of text, such as cp1252 (default: recognised)."
    )
    records: str | None = Field(
        None, description="In a JSON file, the keys that lead to the list of records, such as results.rows."
    )
    wide: str | None = Field(
        None,
        description="The pattern of a wide file's columns, such as {config}_{field}, or just {config} where "
        "each configuration has one column, its score.",
    )

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (wide.count("{config}") != 1 or wide.count("{field}") > 1):
            raise ValueError(f"{wide!r} needs {{config}} once, and {{field}} at most once")
        return wide


class TidyOptions(TidyMapping):
    """Options of ``cobandit import csv``.

    A condition is evaluated, so it is for the user to give, not for a file that came from elsewhere.
    """

    mapping: Path | None = Field(
        None, description="A YAML file with the other options but --where; the command line wins."
    )
    where: str | None = Field(
        None, description="Take only rows that fulfil this, such as \"lang == 'en' and shots > 0\"."
    )


def complete_options(options: TidyOptions, file: Path | None = None) -> TidyOptions:
    """Take what the command line leaves open from the YAML file, and check that nothing is open then.

    Parameters
    ----------
    options : TidyOptions
    file : Path, optional
        The table, whose columns a message names.

    Raises
    ------
    TableError
        If the file is no mapping, or something is missing or contradicts something else.

    Examples
    --------
    >>> complete_options(TidyOptions(instance="q", objective=["accuracy"]))
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the mapping: it lacks --config -> give it, or a YAML file with --mapping
    """
    if options.mapping is not None:
        given = check_fields(TidyMapping, load_yaml(options.mapping, "mapping"), str(options.mapping))
        left_open = given.model_fields_set - options.model_fields_set
        options = options.model_copy(update={name: getattr(given, name) for name in left_open})
    if options.no_score and "missing" not in options.model_fields_set:
        # the user says that there are rows without a score
        options = options.model_copy(update={"missing": "leave-out"})
    wide, cost, text, objectives = options.wide, options.cost, options.text, options.objective
    scores_only = wide is not None and "{field}" not in wide
    needed = {"config": wide is None, "instance": True, "objective": not scores_only, "unit": cost}
    if missing := [f"--{name}" for name in needed if needed[name] and not getattr(options, name)]:
        remedy = "give it, or a YAML file with --mapping"
        if missing == ["--unit"]:
            remedy = "give it, such as --unit USD, or a YAML file with --mapping"
        elif file is not None:
            remedy = f"{_offer_columns(file, options)}; or give a YAML file with --mapping"
        raise_fault("the mapping", f"it lacks {', '.join(missing)}", remedy)
    for clash, problem in (
        (cost and text, "--cost and --text both say what an evaluation cost"),
        (
            wide and (options.config or options.arm),
            "--config and --arm are for files that are not wide",
        ),
        (
            scores_only and (text or objectives[1:]),
            "--wide without {field} takes one objective, no --text",
        ),
    ):
        if clash:
            raise_fault("the mapping", problem, "leave one of them out")
    # several columns that name a configuration together describe it, too
    arm = options.arm or (options.config if len(options.config) > 1 else ())
    objectives = objectives or (Objective(name="accuracy", column="score"),)
    return options.model_copy(update={"arm": arm, "objective": objectives})


def _offer_columns(file: Path, options: TidyOptions) -> str:
    """Say which columns a file has, for somebody who has not yet said what they mean."""
    frame = read_columns(
        file,
        (),
        layout=_recognise_layout(file, options, Notes()),
        records=options.records,
        flatten=True,
    )
    names = [ellipsize(repr(str(name)), LONGEST_NAME) for name in frame.columns[:MOST_NAMES]]
    if more := len(frame.columns) - len(names):
        names.append(f"and {more} more")
    columns = f"{file.name} has {', '.join(names)}"
    return f"say which of its columns they are, such as --objective accuracy=COLUMN: {columns}"


def read_cost(given: Sequence[str], known: Container[str]) -> str | float | dict[str, float]:
    """Read what ``--cost`` says: a column that is known, a number, or a number for each configuration.

    Raises
    ------
    TableError
        If it is none of these.

    Examples
    --------
    >>> read_cost(["tokens"], {"tokens"}), read_cost(["0.5"], {"tokens"}), read_cost([], {"tokens"})
    ('tokens', 0.5, 1.0)
    >>> read_cost(["small=1", "t=0.7=20"], {"tokens"})
    {'small': 1.0, 't=0.7': 20.0}
    """
    if len(given) == 1 and given[0] in known:
        return given[0]
    try:
        if len(given) == 1 and "=" not in given[0]:
            return float(given[0])
        pairs = [each.rpartition("=") for each in given]
        return {config: float(number) for config, _, number in pairs} or 1.0
    except ValueError:
        problem = f"{', '.join(given)} is no column, no number and no CONFIG=NUMBER"
        raise_fault("--cost", problem, "give one column, one number, or CONFIG=NUMBER for each configuration")


_TEXT = ("*.csv", "*.tsv", "*.jsonl", "*.json")
PATTERNS = (*_TEXT, *(f"{pattern}.gz" for pattern in _TEXT), "*.parquet")

#: Value of ``--config`` for the name of the file, unless a column is called so.
FILE = "file"

#: Letters of the longest value of a column that says what instances have in common.
SHORT = 200

_PAID = Rule(lambda x: x < 0, "the cost {value} is below zero", "give what the evaluation cost")


#: Words of a column that are offered a number.
FEW_WORDS = 6


def _missing_remedy(objective: Objective) -> str:
    """Say what to do about rows without a score; only a score can be counted as 0."""
    counted = ", or count them as 0 with --missing zero" * (objective.transform == "none")
    return f"leave such rows out with --missing leave-out{counted}"


def _foreign_remedy(column: pd.Series) -> str:
    """Say what to do about scores that are no numbers: few words are offered one each."""
    text = column.dropna().map(str).str.strip()
    words = text[text != ""].value_counts()
    numbers, _ = read_numbers(words.index.to_series())
    if not 0 < len(words) <= FEW_WORDS or np.isfinite(numbers).any():
        return "store the column as numbers"
    return "give each word its number: " + " ".join(
        f"--word {shlex.quote(word)}=NUMBER" for word in words.index
    )


def _where_remedy(frame: pd.DataFrame, column: str, missing: np.ndarray, where: str | None) -> str | None:
    """Find the condition that leaves out just the rows without a value; None if there is none."""
    before = "" if where is None else f"({where}) and "
    for condition in (f"`{column}`.notna()", f"`{column}` != ''"):
        try:
            kept = evaluate_condition(frame, condition, "--where")
        except TableError:  # as of a name that no condition can have
            continue
        if kept.any() and (kept == ~missing).all():
            return f"take only the rows that have one: --where {shlex.quote(before + condition)}"
    return None


@importer("csv", TidyOptions)
def read_tables(paths: Sequence[Path], options: TidyOptions, notes: Notes) -> ImportResult:
    """Any tidy or wide table (CSV, TSV, JSON, JSON Lines, Parquet) with a mapping of its columns.

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
    files = find_files(paths, PATTERNS, "tables")
    options = complete_options(options, files[0])
    parts = {str(file): _read(file, options, notes) for file in files}
    parts = {file: part for file, part in parts.items() if len(part)}
    if not parts:
        problem = "there are no rows with a value" + " that --where takes" * (options.where is not None)
        raise_fault(", ".join(map(str, files)), problem, "give tables with their data")
    frame = pd.concat(parts)
    origin = frame.index  # file and row
    frame = frame.reset_index(drop=True)
    for column in options.arm:
        frame[column] = _numbers_if_plain(frame[column])

    _read_scores(frame, options, notes)
    if options.missing != "refuse":
        frame, origin = _settle_missing(frame, origin, options, notes)
    faults = Faults("the tables")
    cost = _add_cost(frame, options, notes)
    missing = np.isnan(read_numbers(frame[cost.column])[0])
    with_cost = None if options.wide else _where_remedy(frame, cost.column, missing, options.where)
    paid = check_column(frame[cost.column], [_PAID], faults, with_cost or MISSING.remedy)
    if paid is not None:
        frame[cost.column] = charge_free(
            pd.Series(paid), frame["config"], cost.unit, options.smallest_cost, notes
        )
    ranges = _ranges(options)
    objectives = tuple(
        _scale(frame, objective, ranges[objective.name], faults) for objective in options.objective
    )
    raise_if_any(fault.at(_locate(frame, origin, options)) for fault in faults.found)

    source = ", ".join(sorted({path.resolve().name for path in files}))
    notes.remarks.insert(0, f"took: {len(frame):,} rows of {source}")
    number = frame.groupby(["config", "instance"], sort=False).cumcount() + 1
    separate = frame["instance"] + ", repeat " + number.astype(str)
    # a score that was rescaled stands in a column of its own
    scores = [objective.column for objective in (*options.objective, *objectives)]
    measured = {cost.column, *options.text, *scores}
    names = [str(name) for name in frame if name not in measured | {"config", "instance"}]
    frame = average_repeats(frame, names, separate, options.repeats, notes)
    return ImportResult(
        frame.reset_index(drop=True),
        cost,
        objectives,
        options.arm,
        f"{source}, with a mapping of columns",
        {},  # what columns and cost mean stands on the card
        _locate(frame, origin[frame.index], options),
        cluster=options.cluster,
    )


def _locate(
    frame: pd.DataFrame, origin: pd.Index[Any], options: TidyOptions
) -> Callable[[int, str | None], Place]:
    """Make the function that says where a row and column of the frame come from."""
    configs = frame["config"].tolist()

    def place(row: int, column: str | None) -> Place:
        file, number = origin[row - 1]
        if column == "instance":
            column = options.instance
        elif options.wide is not None and column not in (None, options.cluster):
            column = options.wide.replace("{config}", configs[row - 1]).replace("{field}", column)
        elif column == "config":
            column = options.config[0]
        return Place(file, number + 1, column)

    return place


def _read(file: Path, options: TidyOptions, notes: Notes) -> pd.DataFrame:
    """Read a file: ``config``, ``instance`` and what is measured or describes; the index counts its rows."""
    check_size(file, MAX_FILE)
    frame = read_columns(
        file,
        [*options.config, str(options.instance)],
        layout=_recognise_layout(file, options, notes),
        records=options.records,
        flatten=True,
    )
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    if FILE in options.config and FILE not in frame:
        frame[FILE] = file.name.partition(".")[0]
    if options.where is not None:
        kept = evaluate_condition(frame, options.where, f"--where {options.where!r}, {file}")
        notes.left_out["rows that --where leaves out"] += int((~kept).sum())
        frame = frame[kept]
    instance = _names(frame, str(options.instance), file, options.where)
    if options.wide is not None:
        return _melt(frame.drop(columns=str(options.instance)), instance, options, file, notes)
    names = [_names(frame, column, file, options.where) for column in options.config]
    taken = [objective.column for objective in options.objective] + [*options.text, *options.arm]
    taken += [] if options.cluster is None else [options.cluster]
    for name, colon, transform in (column.rpartition(":") for column in taken if column not in frame):
        if colon and name in frame:
            raise_fault(file, f"there is no transform {transform!r}", suggest(transform, TRANSFORMS))
    cost = read_cost(options.cost, frame.columns)
    tidy = _take(
        frame,
        {"config": list(map(" ".join, zip(*names, strict=True))), "instance": instance},
        {column: column for column in [*taken, *([cost] if isinstance(cost, str) else [])]},
        file,
    )
    others = frame.drop(columns=[*options.config, str(options.instance), *tidy.columns], errors="ignore")
    _note_differing(others, tidy, notes)
    # what instances have in common may be why their scores are correlated, which `doctor` looks for
    return tidy.join(others[[name for name in others if _is_shared(others[name], tidy["instance"])]])


def _is_shared(column: pd.Series, instance: pd.Series) -> bool:
    """Whether a column says what instances have in common: short, and the same in all rows of an instance."""
    if column.name in RESERVED or pd.api.types.is_float_dtype(column) or column.isna().any():
        return False
    text = column.astype(str)
    per_instance = text.groupby(instance).nunique()
    fewer = text.nunique() < len(per_instance)
    return bool(
        fewer and len(text.unique()) > 1 and (per_instance == 1).all() and text.str.len().max() <= SHORT
    )


def _numbers_if_plain(column: pd.Series) -> pd.Series:
    """Return numerals as numbers, so that conditions can compare them, unless one is a code such as 007."""
    numbers = pd.Series(read_numbers(column)[0], column.index)
    there = column.notna()
    spelled = numbers[there].map(lambda number: f"{number:.15g}")
    plain = column[there].astype(str).str.removesuffix(".0") == spelled
    return numbers if plain.all() and column.dtype == object else column


def _recognise_layout(file: Path, options: TidyOptions, notes: Notes) -> TextLayout | None:
    """Recognise how a text file is laid out, and remark what was assumed."""
    if not any(suffix in SEPARATORS for suffix in map(str.lower, file.suffixes)):
        return None
    check_size(file)
    try:
        layout = recognise_layout(file, options.separator, options.decimal, options.encoding)
    except (OSError, EOFError, zlib.error):
        return None  # reading says what is wrong with the file
    except LookupError:
        raise_fault("--encoding", f"{options.encoding!r} is not known", "give one such as utf-8 or cp1252")
    usual = TextLayout(SEPARATORS[next(s for s in map(str.lower, file.suffixes) if s in SEPARATORS)])
    remark = f"read with {layout} (--separator, --decimal, --encoding)"
    if layout != usual and remark not in notes.remarks:
        notes.remarks.append(remark)
    return layout


def _note_differing(others: pd.DataFrame, tidy: pd.DataFrame, notes: Notes) -> None:
    """Remark which columns that nobody asked for differ between repeats of an evaluation."""
    pair = tidy.groupby(["config", "instance"], sort=False).ngroup()
    pair = pair[pair.duplicated(keep=False)]
    text = others.loc[pair.index].astype(str)
    differ = (text != text.groupby(pair).transform("first")).any()
    remark = (
        f"note: repeats differ in {', '.join(differ.index[differ])}: what is a setting belongs to --config"
    )
    if differ.any() and remark not in notes.remarks:
        notes.remarks.append(remark)


def _take(frame: pd.DataFrame, names: dict[str, Any], columns: dict[str, str], file: Path) -> pd.DataFrame:
    """Take the columns of a file, each by the name that the table has for it, next to those of names."""
    _check_columns(frame, columns.values(), file)
    for column in sorted(names.keys() & columns.keys()):
        problem = f"the column {column!r} is measured or descriptive"
        raise_fault(file, problem, "rename it: the table needs that name")
    return pd.DataFrame(names | {name: frame[column] for name, column in columns.items()}, index=frame.index)


def _check_columns(frame: pd.DataFrame, wanted: Iterable[str], file: Path) -> None:
    faults = Faults(str(file))
    check_columns(frame, list(dict.fromkeys(wanted)), faults)
    raise_if_any(faults.found)


def _names(frame: pd.DataFrame, column: str, file: Path, where: str | None) -> np.ndarray:
    """Read a column of names as text, each there."""
    _check_columns(frame, [column], file)
    faults = Faults(str(file))
    keys = encode_names(frame[column], faults)
    if keys.labels and (keys.codes < 0).any():
        remedy = _where_remedy(frame, column, keys.codes < 0, where)
        faults.found[:] = [replace(fault, remedy=remedy or fault.remedy) for fault in faults.found]
    rows = frame.index + 1  # those of the file, of which --where may have left out some
    raise_if_any(
        fault.at(lambda row, name: Place(str(file), int(rows[row - 1]), name)) for fault in faults.found
    )
    return np.array(keys.labels, dtype=object)[keys.codes]


def _melt(
    frame: pd.DataFrame, instance: np.ndarray, options: TidyOptions, file: Path, notes: Notes
) -> pd.DataFrame:
    """Turn the columns of each configuration into rows; a configuration has either every field or a fault."""
    found = _find_columns(frame.columns, options)
    _check_columns(frame, [name for columns in found.values() for name in columns.values()], file)
    if "{field}" not in str(options.wide):  # such a pattern also fits what is no score
        score = options.objective[0].column
        for config, columns in list(found.items()):
            if len(frame) and np.isnan(read_numbers(frame[columns[score]])[0]).all():
                notes.left_out[f"column without a number, {columns[score]!r} in {file.name}"] += 1
                del found[config]
    if not found:
        remedy = "correct --wide, or the columns that --objective, --text and --cost name"
        raise_fault(file, f"no column fits the pattern {options.wide!r}", remedy)
    fields = {objective.column for objective in options.objective}.union(options.text, *found.values())
    _check_columns(frame, [options.cluster] if options.cluster else [], file)
    shared = {options.cluster: frame[options.cluster]} if options.cluster else {}
    parts = []
    for config, columns in sorted(found.items()):
        if missing := sorted(fields - columns.keys()):
            problem = f"configuration {config!r} has no column for {missing[0]!r}"
            raise_fault(file, problem, "add it, or correct --wide")
        names = {"config": config, "instance": instance, **shared}
        parts.append(_take(frame, names, columns, file))
    long = pd.concat(parts).dropna(how="all", subset=sorted(fields - {*options.text}))
    if holes := len(parts) * len(frame) - len(long):
        notes.left_out["empty cells of a wide file: the configuration was not run there"] += holes
    return long


def _find_columns(names: Iterable[str], options: TidyOptions) -> dict[str, dict[str, str]]:
    """The file's column of each configuration and field that fit the pattern."""
    measured = [objective.column for objective in options.objective]
    field = "|".join(re.escape(name) for name in [*measured, *options.text, *options.cost])
    pattern = re.escape(str(options.wide)).replace(r"\{config\}", "(?P<config>.+?)")
    pattern = pattern.replace(r"\{field\}", f"(?P<field>{field})")
    found: dict[str, dict[str, str]] = {}
    for match in filter(None, (re.fullmatch(pattern, name) for name in names)):
        found.setdefault(match["config"], {})[match.groupdict().get("field", measured[0])] = match[0]
    return found


def _add_cost(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> Cost:
    """Put the cost into a column of the frame, unless one holds it."""
    cost = read_cost(options.cost, frame.columns)
    name, unit = "cost", options.unit or "evaluations"
    if isinstance(cost, str):
        return Cost(column=cost, unit=unit)
    if options.text:
        tokens = make_token_counter(options.tokenizer)
        name, unit = "tokens", options.unit or tokens.unit
        texts = frame[list(options.text)].astype(object)
        texts = texts.where(texts.notna(), "")
        costs = texts.map(lambda text: tokens.count(str(text))).sum(axis=1).astype(float)
    else:
        costs = charge(frame["config"], cost, "--cost")
        if not isinstance(cost, dict):
            alike = "methods that weigh costs treat all configurations alike"
            notes.remarks.append(f"cost: each evaluation costs {cost:.15g} ({unit}): {alike}")
    while name in frame:
        name += "_"
    frame[name] = costs
    for column in {*options.text} - {*options.arm, *(each.column for each in options.objective)}:
        del frame[column]
    return Cost(column=name, unit=unit)


def _read_scores(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> None:
    """Read words that have a number, and blank values that mean no score, in the objectives' columns."""
    names = [objective.name for objective in options.objective]
    no_scores = read_by_objective(options.no_score, names, "--no-score")
    reader = ScoreReader(options.word)
    for objective in options.objective:
        column = frame[objective.column]
        if options.word and not is_numeric_dtype(column):
            column = column.map(
                lambda value, name=objective.name: reader.read(value, name), na_action="ignore"
            )
        numbers, _ = read_numbers(column)
        for text in no_scores[objective.name]:
            column = column.mask(numbers == read_number(text, "--no-score"))
        frame[objective.column] = column
    notes.logs += reader.unknown_words()


def _settle_missing(
    frame: pd.DataFrame, origin: pd.Index[Any], options: TidyOptions, notes: Notes
) -> tuple[pd.DataFrame, pd.Index[Any]]:
    """Leave out rows without a score, or count the score as 0."""
    columns = [objective.column for objective in options.objective]
    missing = np.column_stack([read_numbers(frame[column])[0] for column in columns])
    # text that is no number is a fault of its own, with its place
    missing[np.isnan(missing) & frame[columns].notna().to_numpy()] = 0.0
    _, kept = settle_missing(missing, frame["config"], options, notes)
    if options.missing == "zero":
        for objective in options.objective:
            worst = _ranges(options)[objective.name][0] if objective.transform == "none" else np.nan
            frame[objective.column] = frame[objective.column].fillna(worst)
    return frame[kept].reset_index(drop=True), origin[kept]


def _ranges(options: TidyOptions) -> dict[str, tuple[float, float]]:
    """Return the range of each objective's scores."""
    names = [objective.name for objective in options.objective]
    given = read_by_objective(options.range, names, "--range")
    return {name: read_range(given[name], (0.0, options.scale), name) for name in names}


def _scale(
    frame: pd.DataFrame, objective: Objective, limits: tuple[float, float], faults: Faults
) -> Objective:
    """Check an objective's column, and bring a score into [0, 1]: into a column whose name says so."""
    column = objective.column
    rule = TRANSFORMS[objective.transform].rule
    low, high = (0.0, 1.0) if objective.transform != "none" else limits
    if objective.transform == "none":
        numbers = read_numbers(frame[column])[0]
        there = numbers[np.isfinite(numbers)]
        seen = f"they run from {there.min():.15g} to {there.max():.15g}: " if len(there) else ""
        rule = Rule(
            lambda x: (x < low) | (x > high),
            f"the objective {{value}} is outside {low:.15g} to {high:.15g}",
            f"{seen}say its range with --range {objective.name}=LOW:HIGH, and values that mean no score with "
            f"--no-score, or give a transform: {objective.name}={column}:TRANSFORM",
        )
    foreign = _foreign_remedy(frame[column])
    values = check_column(frame[column], [rule] if rule else [], faults, _missing_remedy(objective), foreign)
    if values is None:
        return objective
    if (low, high) != (0.0, 1.0):
        column += f" / {high:.15g}" if low == 0 else f" from {low:.15g} to {high:.15g}"
    frame[column] = (values - low) / (high - low)
    return objective.model_copy(update={"column": column})
