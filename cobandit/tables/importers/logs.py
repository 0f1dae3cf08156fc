"""From the logs that a format's importer read to one tidy frame with named configurations."""

from __future__ import annotations

import fnmatch
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from cobandit.faults import Fault, TableError, stop, suggest
from cobandit.tables.card import RESERVED, Cost, Objective
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, limit_lines
from cobandit.tables.safe_reading import plain_text

T = TypeVar("T")


def read_each(files: Iterable[Path], read: Callable[[Path], T], notes: Notes) -> dict[Path, T]:
    """Read each log; leave out those that cannot be used, each with its reason.

    Raises
    ------
    TableError
        If none can be used; the message has all reasons.

    Examples
    --------
    >>> def read(file):
    ...     if not file.suffix:
    ...         raise TableError(f"{file}: it is empty -> run it again")
    ...     return len(file.name)
    >>> list(read_each([Path("a.log"), Path("b")], read, notes := Notes()).values()), notes.logs
    ([5], ['b: it is empty -> run it again'])
    """
    found: dict[Path, T] = {}
    for file in files:
        try:
            found[file] = read(file)
        except TableError as error:
            notes.logs.append(str(error))
    if not found and notes.logs:
        only = f"none of the {len(notes.logs):,} logs can be used"
        raise TableError(
            notes.logs[0] if len(notes.logs) == 1 else "\n".join([only, *limit_lines(notes.logs)])
        )
    return found


def choose(what: str, wanted: str | None, found: Iterable[str], where: str, option: str) -> str:
    """Take the wanted one of those found, or the only one; never guess among several.

    Parameters
    ----------
    what : str
        What is chosen, such as ``"filter"``.
    wanted : str or None
        What the user asked for.
    found : iterable of str
        What there is.
    where, option : str
        The place, and the option that makes the choice, for the message.

    Raises
    ------
    TableError
        If there is none, none of that name, or several and no wish.

    Examples
    --------
    >>> choose("filter", None, ["none"], "the logs", "--filter")
    'none'
    >>> choose("filter", None, ["b", "a"], "the logs", "--filter")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the logs: there is more than one filter: a, b -> choose with --filter
    """
    names = sorted(set(found))
    listed = ", ".join(names)
    if not names:
        stop(where, f"there is no {what}", "check that these are the right files, of a run that finished")
    if wanted is None and len(names) > 1:
        stop(where, f"there is more than one {what}: {listed}", f"choose with {option}")
    if wanted is not None and wanted not in names:
        stop(where, f"there is no {what} {wanted!r}", suggest(wanted, names))
    return names[0] if wanted is None else wanted


class Metrics(NamedTuple):
    """The metrics that are taken: of each task one for each objective, and what the objectives are called."""

    of: dict[str, tuple[str, ...]]
    objectives: tuple[str, ...]

    def __str__(self) -> str:
        """Name those of all tasks, or each with its task."""
        if len(set(self.of.values())) == 1:
            return ", ".join(next(iter(self.of.values())))
        return ", ".join(f"{', '.join(names)} of {task}" for task, names in self.of.items())


def choose_metrics(what: str, wanted: Sequence[str], scored: Iterable[tuple[str, Iterable[str]]]) -> Metrics:
    """Take the wanted metrics, each as an objective, or the only one that there is, as the accuracy.

    Where each task has one of the wanted, and no task another, that is the accuracy too.

    Parameters
    ----------
    what : str
        What they are called, such as ``"scorer"``.
    wanted : sequence of str
        What the user asked for.
    scored : iterable of (str, iterable of str)
        Tasks, each once or several times, and what was found in their logs.

    Raises
    ------
    TableError
        If a wanted one is nowhere, some tasks have it and others not, or there are several and no wish.

    Examples
    --------
    >>> has = {"sums": ["exact_match"], "piqa": ["acc", "acc_norm"]}
    >>> choose_metrics("metric", ["exact_match", "acc"], has.items()).of
    {'sums': ('exact_match',), 'piqa': ('acc',)}
    >>> choose_metrics("metric", ["acc", "acc_norm"], [("piqa", has["piqa"])]).objectives
    ('acc', 'acc_norm')
    >>> choose_metrics("metric", ["acc"], has.items())  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the logs: the task 'sums' has no metric acc, but exact_match -> name with
    --metric one of each task, or several that every task has, or choose other tasks with --task
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for task, own in scored:
        found[task].update(own)
    names = {name for each in found.values() for name in each}
    option = "--metric" + " (repeat it for several objectives)" * (len(names) > 1)
    wishes: Sequence[str | None] = list(dict.fromkeys(wanted)) or [None]
    chosen = tuple(choose(what, name, names, "the logs", option) for name in wishes)
    of = {task: tuple(name for name in chosen if name in has) for task, has in found.items()}
    for task, taken in of.items():
        if taken != chosen and any(len(each) != 1 for each in of.values()):
            missing = " or ".join(name for name in chosen if name not in taken)
            there = ", ".join(sorted(found[task])) or "none"
            problem = f"the task {task!r} has no {what} {missing}, but {there}"
            remedy = "name with --metric one of each task, or several that every task has"
            stop("the logs", problem, f"{remedy}, or choose other tasks with --task")
    several = len(chosen) > 1 and all(taken == chosen for taken in of.values())
    return Metrics(of, chosen if several else ("accuracy",))


def choose_tasks(
    options: LogOptions, task_of: Mapping[Path, str], notes: Notes
) -> tuple[list[str], list[Path]]:
    """Take the wanted tasks, or the only one; several are compared or pooled only if that is asked for.

    Parameters
    ----------
    options : LogOptions
    task_of : mapping of Path to str
        The task of each log.
    notes : Notes
        Takes the number of logs that are left out.

    Returns
    -------
    tasks : list of str
    files : list of Path
        The logs of these tasks.

    Examples
    --------
    >>> logs = {Path("a"): "mmlu_law", Path("b"): "piqa", Path("c"): "mmlu_art"}
    >>> choose_tasks(LogOptions(task=("mmlu_*",)), logs, notes := Notes())[0], notes.lines()
    (['mmlu_art', 'mmlu_law'], ['left out: 1 logs of other tasks'])
    """
    names = sorted(set(task_of.values()))
    wanted: Sequence[str | None] = options.task or (names if options.compare_tasks else [None])
    option = "--task" if options.task else "--task (repeat to pool several), or with --compare-tasks"
    tasks: dict[str, None] = {}
    for task in wanted:
        pattern = task is not None and task not in names and set(task) & {"*", "?"}
        found = fnmatch.filter(names, str(task)) if pattern else []
        tasks |= dict.fromkeys(found or [choose("task", task, names, "the logs", option)])
    files = [file for file, task in task_of.items() if task in tasks]
    if len(files) < len(task_of):
        notes.left_out["logs of other tasks"] += len(task_of) - len(files)
    return list(tasks), files


def is_number(value: Any) -> bool:
    """Say whether a value is a number that JSON can hold, true and false included.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("0.5"), is_number([1])
    (True, True, False, False)
    """
    return isinstance(value, (bool, int, float))


def finite(value: Any, where: str | Path, what: str) -> float:
    """Return a value as a finite float.

    Raises
    ------
    TableError
        If it is not a number, or not a finite one.

    Examples
    --------
    >>> finite(True, "a.json", "the score")
    1.0
    >>> finite("high", "a.json", "the score")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: a.json: the score is 'high', not a finite number -> correct it or leave it out
    """
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = repr(value)[:60]
        stop(where, f"{what} is {shown}, not a finite number", "correct it or leave it out")
    return number


def charge_free(costs: pd.Series, unit: str, smallest: float | None, notes: Notes) -> pd.Series:
    """Give each evaluation that cost nothing a smallest cost; theory and budgets need one above zero.

    An empty answer has no tokens and is an answer all the same: leaving it out would bias the means.

    Parameters
    ----------
    costs : Series of float
        Finite, not negative.
    unit : str
        The unit of the costs, for the report.
    smallest : float or None
        What the user asked for. By default 1 where all costs are whole numbers, as tokens are, else a
        thousandth of the median of those above zero.
    notes : Notes
        Takes how many there are and what each counts as.

    Raises
    ------
    TableError
        If all are free and nothing says what that counts as.

    Examples
    --------
    >>> charge_free(pd.Series([0.0, 12.0, 31.0]), "tokens", None, notes := Notes()).tolist()
    [1.0, 12.0, 31.0]
    >>> notes.remarks
    ['note: 1 of 3 evaluations cost nothing; each counts as 1 tokens (--smallest-cost)']
    """
    free = costs == 0
    if not free.any():
        return costs
    if smallest is None:
        paid = costs[~free]
        if paid.empty:
            problem = f"every evaluation costs 0 {unit}"
            notes.stop("the costs", problem, "take another cost, or give them one with --smallest-cost")
        whole = bool((paid == np.floor(paid)).all())
        smallest = 1.0 if whole else float(paid.median()) / 1000
    notes.smallest = smallest
    notes.remarks.append(
        f"note: {int(free.sum()):,} of {len(costs):,} evaluations cost nothing; each counts as {smallest:g} "
        f"{unit} (--smallest-cost)"
    )
    return costs.mask(free, smallest)


def average_repeats(
    frame: pd.DataFrame, measured: Sequence[str], separate: pd.Series, repeats: str, notes: Notes
) -> pd.DataFrame:
    """Average the repeats of an instance, or give each a name of its own, and remark what was done.

    Parameters
    ----------
    frame : DataFrame
        ``config`` and ``instance``, of which some pair stands in several rows; measured columns are numbers.
    measured : sequence of str
        Columns to average. Rows that differ in any other column are not repeats of each other.
    separate : Series of str
        Names of the instances that tell the repeats apart.
    repeats : {"mean", "separate"}
    notes : Notes

    Returns
    -------
    DataFrame
        With the labels of those rows of ``frame`` that stand first.

    Examples
    --------
    >>> frame = pd.DataFrame({"config": "m", "instance": ["q", "r", "q"], "score": [1.0, 1.0, 0.0]})
    >>> average_repeats(frame, ["score"], frame["instance"], "mean", notes := Notes())
      config instance  score
    0      m        q    0.5
    1      m        r    1.0
    >>> notes.remarks[0][:72]
    'note: repeats of an instance (epochs, trials) are averaged, 1 to 2 per r'
    """
    if repeats == "separate":
        notes.remarks.append(
            "note: repeats of an instance (epochs, trials) count as instances, though they are not "
            "independent: more will be called settled than is"
        )
        return frame.assign(instance=separate)
    keys = [name for name in frame if name not in measured]
    group = frame.groupby(keys, sort=False, dropna=False).ngroup()
    low, high = group.value_counts().agg(["min", "max"])
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    notes.remarks.append(
        f"note: repeats of an instance (epochs, trials) are averaged, {each} per row: instances are what "
        "counts as independent; --repeats separate keeps them apart"
    )
    means = frame[list(measured)].groupby(group).mean()
    return frame[~group.duplicated()].assign(**{name: means[name].to_numpy() for name in measured})


UNSET = "not set"
_LONGEST = 40
_SECRET = re.compile(r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE)


def collect_settings(file: str | Path, model: Any, *groups: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge what a log says of its configuration, later groups winning.

    What is plain is kept (text, numbers, true, false), and no secret.

    Raises
    ------
    TableError
        If the model is not named.

    Examples
    --------
    >>> collect_settings("a.json", "m", {"top_k": 1, "stop": ["."]}, {"temperature": 0.7, "api_key": "x"})
    {'top_k': 1, 'temperature': 0.7, 'model': 'm'}
    """
    if not isinstance(model, str):
        stop(file, "it does not name the model", "check that it is complete, and of the same run")
    merged: dict[str, Any] = {}
    for group in groups:
        merged |= {str(key): value for key, value in (group or {}).items() if value is not None}
    plain = {key: value for key, value in merged.items() if is_number(value) or isinstance(value, str)}
    # a whole number that no column could hold exactly, such as a long seed, is kept as text
    known = {
        key: str(value) if type(value) is int and abs(value) >= 2**53 else value
        for key, value in plain.items()
        if not _SECRET.search(key)
    }
    return known | {"model": plain_text(model, file, "the model")}


class Configurations(NamedTuple):
    """The configurations of some logs: for each log its name and its descriptive columns.

    ``names`` are the settings that make a configuration, ``columns`` what the table calls them.
    """

    names: list[str]
    columns: list[str]
    labels: list[str]
    described: list[dict[str, Any]]


def name_configurations(
    settings: Sequence[Mapping[str, Any]], by: Sequence[str], taken: Sequence[str]
) -> Configurations:
    """Name the configuration of each log: its model and the settings that differ, or those asked for.

    Parameters
    ----------
    settings : sequence of mapping
        What each log says of its configuration.
    by : sequence of str
        Settings that make a configuration; empty for all that differ.
    taken : sequence of str
        Columns that no setting can have; it is called ``..._setting`` there.

    Raises
    ------
    TableError
        If a setting that is asked for is in no log.

    Examples
    --------
    >>> logs = [{"model": "m", "temperature": 0}, {"model": "m", "temperature": 0.7}]
    >>> name_configurations(logs, (), ()).labels
    ['m temperature=0.0', 'm temperature=0.7']
    """
    known = sorted({name for each in settings for name in each})
    for name in by:
        if name not in known:
            problem = f"no log has the setting {name!r} of --by"
            stop("the logs", problem, suggest(name, known))
    names = ["model", *(name for name in (by or find_differing(settings)) if name != "model")]
    columns = [f"{name}_setting" if name in taken else name for name in names]
    described = _plain([dict(zip(columns, map(each.get, names), strict=True)) for each in settings])
    rest = [[f"{name}={value}" for name, value in each.items() if name != "model"] for each in described]
    labels = [" ".join([each["model"], *said]) for each, said in zip(settings, rest, strict=True)]
    return Configurations(names, columns, labels, described)


def find_differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the settings that are not the same in all logs, sorted; one that is missing differs.

    Examples
    --------
    >>> find_differing([{"model": "m", "top_k": 1}, {"model": "m", "top_k": 1.0, "seed": 3}])
    ['seed']
    """
    known = sorted({name for each in settings for name in each})
    return [name for name in known if len({_key(each.get(name)) for each in settings}) > 1]


def sum_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Short checksums of settings: enough to tell whether two are the same, not to read them.

    Examples
    --------
    >>> sum_settings({"top_k": 1}) == sum_settings({"top_k": 1.0})
    True
    """
    return {name: _checksum(_key(value)) for name, value in settings.items()}


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _key(value: Any) -> str:
    """Tell values apart: 1 and 1.0 are the same, 1 and true or 1 and its numeral are not."""
    return repr(float(value)) if type(value) is int else repr(value)


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each column one type: numbers if all of its values are, else text."""
    for name in rows[0]:
        kinds = {type(row[name]) for row in rows}
        if not (kinds <= {int, float} or kinds == {bool}):
            for row in rows:
                row[name] = UNSET if row[name] is None else _short(str(row[name]))
        elif kinds == {int, float}:
            for row in rows:
                row[name] = float(row[name])
    return rows


def _short(text: str) -> str:
    """Keep names readable: what is long or has odd white space is its beginning and a checksum."""
    plain = " ".join(text.split())
    if plain == text and 0 < len(text) <= _LONGEST:
        return text
    return f"{plain[:24]}... ({_checksum(text)})"


SCORE, SECONDS = "score", "seconds"


class Evaluation(NamedTuple):
    """One evaluation: instance, scores, cost in the unit of the import, and seconds if they were logged.

    ``scores`` are one for each objective, ``prompt`` the tokens of a prompt that the cost leaves out;
    ``repeat`` tells evaluations of one instance apart, where the logs have several.
    """

    instance: str
    scores: tuple[float, ...]
    cost: float
    seconds: float | None = None
    prompt: float | None = None
    repeat: str = ""


@dataclass
class LoggedRun:
    """One log: its file, its task, the settings of the configuration with the model, and its evaluations.

    ``finished`` and ``when`` (seconds since 1970) say which of several runs of the same counts; ``left_out``
    counts the evaluations that cannot be used, by reason.
    """

    file: str
    task: str
    settings: dict[str, Any]
    evaluations: list[Evaluation] = field(default_factory=list)
    finished: bool = True
    when: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def combine(
    runs: Sequence[LoggedRun],
    objectives: Sequence[str],
    cost: Cost,
    options: LogOptions,
    notes: Notes,
    source: str,
    measured: Mapping[str, Any],
) -> ImportResult:
    """Name the configurations and put the evaluations of all runs into one frame.

    A configuration is a model with those settings that differ between the runs, or those that
    ``options.by`` names. Where several tasks are pooled, an instance's name starts with that of its task.
    Where several runs of a configuration have an instance, the newest that finished counts. Efficiency is an
    objective if every evaluation has its seconds.

    Parameters
    ----------
    runs : sequence of LoggedRun
    objectives : sequence of str
        What the scores of each evaluation are called.
    cost : Cost
        What the cost column is called, and its unit.
    options : LogOptions
        Where they have ``repeats``, repeated evaluations of an instance become one row with the means of
        scores, cost and seconds, or one row for each.  They are not independent, so only the former keeps
        instances that are.
    notes : Notes
        Takes the remarks.
    source : str
        What the card says of the origin.
    measured : mapping
        What else than the configurations, of the names above, tells one import from another.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If no log has a usable evaluation, one has an instance twice, several configurations have no instance
        in common, a setting of ``options.by`` is in no log, a score is out of its range, or only some
        evaluations have their seconds.
    """
    runs = _usable(runs, notes)
    given = [run.settings | ({"task": run.task} if options.compare_tasks else {}) for run in runs]
    # a single score is called the accuracy, and its column the score; of several each keeps its name
    columns_of_all = ("config", "instance", SECONDS, cost.column)
    reserved = {*columns_of_all, *RESERVED, "efficiency"}
    scored = [f"{name}_score" if name in reserved else name for name in objectives]
    scores = {name: SCORE if len(scored) == 1 else name for name in scored}
    taken = (*columns_of_all, *scores.values())
    names, columns, labels, described = name_configurations(given, options.by, taken)
    logged = _evaluations(runs, labels, pooled=not options.compare_tasks)
    _check_scores(logged, runs, options.scale)
    again = logged.loc[logged.duplicated(["run", "instance", "repeat"]), "run"].tolist()
    if again:
        problem = f"{again.count(again[0]):,} of its evaluations repeat an instance of the same log"
        stop(runs[again[0]].file, problem, "keep one line per instance")
    logged = _newest(logged, runs, notes)
    timed = _timed(logged, scored, runs, notes)
    _note_prompts(logged, cost.unit, notes)

    given_scores = np.array(logged["scores"].tolist()).T
    rows = {
        "config": logged["config"],
        "instance": logged["instance"],
        **{column: each / options.scale for column, each in zip(scores.values(), given_scores, strict=True)},
        cost.column: charge_free(logged["cost"], cost.unit, options.smallest_cost, notes),
    } | ({SECONDS: logged["seconds"].astype(float)} if timed else {})
    of_each = logged["run"].tolist()
    frame = pd.DataFrame(rows | {name: [described[i][name] for i in of_each] for name in columns})
    if logged["name"].tolist() != logged["instance"].tolist():
        repeats = getattr(options, "repeats", "mean")
        frame = average_repeats(frame, list(rows)[2:], logged["name"], repeats, notes).reset_index(drop=True)
    n_configs, per_instance = len(set(labels)), Counter(frame["instance"].tolist())
    shared = sum(number == n_configs for number in per_instance.values())
    if not shared:
        those = f"{n_configs} configurations ({', '.join(names)})"
        remedy = "say which settings make a configuration with --by, or leave logs out"
        notes.stop("the logs", f"no instance was evaluated under each of {those}", remedy)
    notes.remarks[:0] = [
        f"took: {len(logged):,} evaluations of {n_configs:,} configurations from {len(set(of_each)):,} logs",
        f"instances: {len(per_instance):,}, of which {shared:,} were evaluated under every configuration",
        f"a configuration is: {', '.join(names)} ({'see' if options.by else 'what differs; see'} --by)",
    ]
    made = [Objective(name=name, column=column) for name, column in scores.items()]
    if timed:
        made.append(Objective(name="efficiency", column=SECONDS, transform="inverse-percentile"))
    settings = {label: sum_settings(each) for label, each in zip(labels, given, strict=True)}
    return ImportResult(frame, cost, tuple(made), tuple(columns), source, dict(measured), settings=settings)


def _usable(runs: Sequence[LoggedRun], notes: Notes) -> list[LoggedRun]:
    """Leave out the logs none of whose evaluations can be used, with the reasons, unless all are so."""
    found = [run for run in runs if run.evaluations]
    for run in runs:
        if run.evaluations:
            notes.left_out.update(run.left_out)
            continue
        why = ", ".join(f"{number:,} {reason}" for reason, number in run.left_out.items())
        problem = f"none of its evaluations can be used{f': {why}' if why else ''}"
        notes.logs.append(str(Fault(run.file, problem, "check that this is the log of a finished run")))
    if not found:
        notes.stop("the logs", "none has an evaluation that can be used", "give the logs of a finished run")
    return found


def _evaluations(runs: Sequence[LoggedRun], labels: Sequence[str], pooled: bool) -> pd.DataFrame:
    """Put the evaluations of all runs into one frame, with the number of their run and its label.

    ``name`` tells them apart where ``instance`` does not: it adds the repeat, if there are several.
    """
    rows = [(i, labels[i], *row) for i, run in enumerate(runs) for row in run.evaluations]
    # as objects, so that a time that is missing stays apart from one that is not a number
    found = pd.DataFrame(rows, columns=["run", "config", *Evaluation._fields], dtype=object)
    found = found.astype({"run": int, "config": str, "instance": str, "repeat": str})
    found["cost"] = pd.to_numeric(found["cost"])
    if pooled and len({run.task for run in runs}) > 1:
        found["instance"] = found["run"].map(lambda i: f"{runs[i].task}/") + found["instance"]
    several = len(set(found["repeat"])) > 1
    return found.assign(name=found["instance"] + ", " + found["repeat"] if several else found["instance"])


def _check_scores(logged: pd.DataFrame, runs: Sequence[LoggedRun], scale: float) -> None:
    scores = np.array(logged["scores"].tolist())
    outside = ~((scores >= 0) & (scores <= scale))
    if outside.any():
        place, which = np.argwhere(outside)[0]
        row, score = logged.iloc[place], scores[place, which]
        problem = f"instance {row['instance']!r} has the score {score:.15g}, outside 0 to {scale:g}"
        remedy = "choose another score with --metric, or say its range with --scale"
        stop(runs[row["run"]].file, problem, remedy)


def _newest(logged: pd.DataFrame, runs: Sequence[LoggedRun], notes: Notes) -> pd.DataFrame:
    """Of several runs of a configuration, the newest that finished gives an instance that both have.

    Runs that are the same only by what ``--by`` names may differ for a reason: that is for the user to say.
    """
    if len(runs) == logged["config"].nunique():
        return logged
    order = sorted(range(len(runs)), key=lambda i: (runs[i].finished, runs[i].when, runs[i].file))
    rank = pd.Series(range(len(runs)), index=order).loc[logged["run"]].to_numpy()
    pairs = logged.assign(best=rank).groupby(["config", "instance"])["best"].transform("max")
    older = rank < pairs.to_numpy()
    if not older.any():
        return logged
    counts = pd.Series(order).loc[pairs[older]].to_numpy()
    replaced = logged[older].assign(by=counts).groupby(["run", "by"]).size().reset_index(name="number")
    for run, by, number in replaced.itertuples(index=False):
        old, new = runs[run], runs[by]
        if different := find_differing([old.settings, new.settings]):
            problem = f"{number:,} of its evaluations are also in {new.file}"
            problem += f", which differs in {', '.join(different)}"
            stop(old.file, problem, "name what tells them apart with --by, or give only one of the two logs")
        why = "an earlier run of the same" if old.finished else "a run of the same that did not finish"
        notes.reruns.append(f"rerun: {new.file} counts, not {old.file}, {why}: {number:,} evaluations")
    return logged[~older].reset_index(drop=True)


def _note_prompts(logged: pd.DataFrame, unit: str, notes: Notes) -> None:
    """Say what the prompts would add to a cost that leaves them out, as far as the logs say."""
    prompts = logged["prompt"].dropna().astype(float)
    if len(prompts) == len(logged):
        added, counted = prompts.mean(), logged["cost"].mean()
        times = f", {(added + counted) / counted:.3g} times the cost" if counted else ""
        notes.remarks.append(
            f"prompts are not in the cost: they would add {added:,.4g} {unit} per evaluation{times}"
            " (--count all)"
        )


def _timed(logged: pd.DataFrame, scored: Sequence[str], runs: Sequence[LoggedRun], notes: Notes) -> bool:
    """Say whether all evaluations have their seconds, and refuse if only some have."""
    given = logged["seconds"].tolist()
    without = [place for place, seconds in enumerate(given) if seconds is None]
    if len(without) == len(logged):
        notes.remarks.append(
            f"objectives: {', '.join(scored)} alone, since there is no latency to make efficiency from"
        )
        return False
    if len(without):
        problem = f"{len(without):,} of {len(logged):,} evaluations have no time, the first of them here"
        remedy = "take another time, or leave out all, with --latency"
        stop(runs[logged["run"].iloc[without[0]]].file, problem, remedy)
    useless = [place for place, seconds in enumerate(given) if not 0 < seconds < math.inf]
    if useless:
        row = logged.iloc[useless[0]]
        problem = f"instance {row['instance']!r} took {row['seconds']:g} seconds, which has no inverse"
        remedy = "correct the log, or leave out all times with --latency none"
        stop(runs[row["run"]].file, problem, remedy)
    notes.remarks.append(
        f"objectives: {', '.join(scored)}, and efficiency as the normalised inverse of the seconds"
    )
    return True
