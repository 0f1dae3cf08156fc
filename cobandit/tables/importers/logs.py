"""From the logs that a format's importer read to one tidy frame with named configurations."""

import fnmatch
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from cobandit._text import suggest
from cobandit.errors import TableError, raise_fault
from cobandit.tables.card import CUT_OFF, EMPTY, FREE, RESERVED, STATIC, UNMEASURED, Cost, Objective
from cobandit.tables.importers.scores import rescale_scores, settle_missing
from cobandit.tables.importers.sources import ImportResult, LogOptions, Notes, limit_lines, spell
from cobandit.tables.safe_reading import plain_text

T = TypeVar("T")


def read_each(files: Iterable[Path], read: Callable[[Path], T], notes: Notes) -> dict[Path, T]:
    """Read each log; leave out those that cannot be used, each with its reason.

    Raises
    ------
    TableError
        If none can be used.

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
        raise_fault("the logs", f"none of the {len(notes.logs):,} can be used", "see why, below")
    return found


def choose(what: str, wanted: str | None, found: Iterable[str], option: str) -> str:
    """Take the wanted one of those found, or the only one; never guess among several.

    Parameters
    ----------
    what : str
        What is chosen, such as ``"filter"``.
    wanted : str or None
        What the user asked for.
    found : iterable of str
        What there is.
    option : str
        The option that makes the choice, for the message.

    Raises
    ------
    TableError
        If there is none, none of that name, or several and no wish.

    Examples
    --------
    >>> choose("filter", None, ["none"], "--filter")
    'none'
    >>> choose("filter", None, ["b", "a"], "--filter")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the logs: there is more than one filter: a, b -> choose with --filter
    """
    names = sorted(set(found))
    if not names:
        remedy = "check that these are the right files, of a run that finished"
        raise_fault("the logs", f"there is no {what}", remedy)
    if wanted is None and len(names) > 1:
        raise_fault("the logs", f"there is more than one {what}: {', '.join(names)}", f"choose with {option}")
    if wanted is not None and wanted not in names:
        raise_fault("the logs", f"there is no {what} {wanted!r}", suggest(wanted, names))
    return names[0] if wanted is None else wanted


class Metrics(NamedTuple):
    """The metrics that are taken: of each task one for each objective, and what the objectives are called."""

    of: dict[str, tuple[str, ...]]
    objectives: tuple[str, ...]


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
    cobandit.errors.TableError: the logs: the task 'sums' has exact_match, not acc -> name with --metric one
    of each task, or several that every task has
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for task, own in scored:
        found[task].update(own)
    names = {name for each in found.values() for name in each}
    option = "--metric (repeat it for several objectives)"
    wishes: Sequence[str | None] = list(dict.fromkeys(wanted)) or [None]
    chosen = tuple(choose(what, name, names, option) for name in wishes)
    of = {task: tuple(name for name in chosen if name in has) for task, has in found.items()}
    for task, taken in of.items():
        if taken != chosen and any(len(each) != 1 for each in of.values()):
            problem = f"the task {task!r} has {', '.join(sorted(found[task]))}, not {', '.join(chosen)}"
            remedy = "name with --metric one of each task, or several that every task has"
            raise_fault("the logs", problem, remedy)
    several = len(chosen) > 1 and all(taken == chosen for taken in of.values())
    return Metrics(of, chosen if several else ("accuracy",))


def choose_tasks(options: LogOptions, task_of: Mapping[T, str], notes: Notes) -> tuple[list[str], list[T]]:
    """Take the wanted tasks, or the only one; several are compared or pooled only if that is asked for.

    Parameters
    ----------
    options : LogOptions
    task_of : mapping to str
        The task of each log, by its file or number.
    notes : Notes
        Takes the number of logs that are left out.

    Returns
    -------
    tasks : list of str
    logs : list
        The logs of these tasks, as ``task_of`` has them.

    Examples
    --------
    >>> logs = {Path("a"): "mmlu_law", Path("b"): "piqa", Path("c"): "mmlu_art"}
    >>> choose_tasks(LogOptions(task=("mmlu_*",)), logs, notes := Notes())[0], notes.lines()
    (['mmlu_art', 'mmlu_law'], ['left out: 1 logs of other tasks'])
    """
    names = sorted(set(task_of.values()))
    wanted: Sequence[str | None] = options.task or (names if options.compare_tasks else [None])
    option = "--task (repeat to pool several), or with --compare-tasks"
    tasks: dict[str, None] = {}
    for task in wanted:
        found = fnmatch.filter(names, task or "")
        tasks |= dict.fromkeys(found or [choose("task", task, names, option)])
    chosen = [log for log, task in task_of.items() if task in tasks]
    if len(chosen) < len(task_of):
        notes.left_out["logs of other tasks"] += len(task_of) - len(chosen)
    return list(tasks), chosen


def find_begin(created: str, *samples: str | None) -> float:
    """Seconds since 1970 at which a run began, by times in ISO 8601 (UTC by default); 0 if none can be read.

    When it was created may be cut to seconds, which its first sample tells apart.  A retry takes over samples
    of the run before it, which began earlier: they do not count.

    Examples
    --------
    >>> find_begin("1970-01-01T00:00:30", None, "1970-01-01T00:00:07", "1970-01-01T01:00:31.5+01:00")
    31.5
    >>> find_begin("1970-01-01T00:00:30"), find_begin("soon")
    (30.0, 0.0)
    """
    times = [created, *filter(None, samples)]
    first, *began = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce")
    read = min((time for time in began if time >= first), default=first)
    return 0.0 if pd.isna(read) else float(read.timestamp())


def charge_free(
    costs: pd.Series, configs: pd.Series, unit: str, smallest: float | None, notes: Notes
) -> pd.Series:
    """Give each evaluation that cost nothing a smallest cost; theory and budgets need one above zero.

    An empty answer has no tokens and is an answer all the same: leaving it out would bias the means.

    Parameters
    ----------
    costs : Series of float
        Finite, not negative.
    configs : Series of str
        Configuration of each evaluation.
    unit : str
        The unit of the costs, for the report.
    smallest : float or None
        What the user asked for. By default 1 where all costs are whole numbers, as tokens are, else a
        thousandth of the median of those above zero.
    notes : Notes
        Takes how many there are per configuration, and what each counts as.

    Raises
    ------
    TableError
        If all are free and nothing says what that counts as.

    Examples
    --------
    >>> configs = pd.Series(["a", "a", "b"])
    >>> charge_free(pd.Series([0.0, 12.0, 31.0]), configs, "tokens", None, notes := Notes()).tolist()
    [1.0, 12.0, 31.0]
    >>> notes.remarks, notes.counted
    (['note: 1 of 3 evaluations cost nothing; each counts as 1 tokens (--smallest-cost)'], \
['cost nothing: 1 of 2 evaluations of a'])
    """
    free = costs == 0
    if not free.any():
        return costs
    if smallest is None:
        paid = costs[~free]
        if paid.empty:
            remedy = "take another cost, or give them one with --smallest-cost"
            raise_fault("the costs", f"every evaluation costs 0 {unit}", remedy)
        whole = bool((paid == np.floor(paid)).all())
        smallest = 1.0 if whole else float(paid.median()) / 1000
    notes.smallest = smallest
    counted = f"each counts as {smallest:g} {unit} (--smallest-cost)"
    notes.remarks.append(f"note: {free.sum():,} of {len(costs):,} evaluations cost nothing; {counted}")
    notes.count(FREE, configs[free], configs)
    return costs.mask(free, smallest)


def settle_unmeasured(logged: pd.DataFrame, how: str, notes: Notes) -> pd.DataFrame:
    """Leave out evaluations whose cost was not measured, or give them their configuration's mean.

    An unmeasured cost is not zero: an answer that came from a cache would make its configuration look cheap.

    Parameters
    ----------
    logged : DataFrame
        ``config``, ``cost`` and ``prompt``; NaN where a cost was not measured.
    how : {"leave-out", "mean"}
    notes : Notes
        Takes how many there are per configuration.

    Raises
    ------
    TableError
        If none was measured.

    Examples
    --------
    >>> logged = pd.DataFrame({"config": list("aab"), "cost": [2.0, np.nan, 5.0], "prompt": np.nan})
    >>> settle_unmeasured(logged, "mean", notes := Notes())["cost"].tolist()
    [2.0, 2.0, 5.0]
    >>> notes.counted
    ['cost not measured, taken as the mean of the others: 1 of 2 evaluations of a']
    """
    unmeasured = logged["cost"].isna()
    if not unmeasured.any():
        return logged
    if unmeasured.all():
        is_timed = "seconds" in logged and logged["seconds"].notna().all()
        timed = "take the time with --cost seconds, or " if is_timed else ""
        raise_fault(
            "the costs", "no cost was measured", f"{timed}let every evaluation cost 1 with --cost none"
        )
    measured = logged["config"].isin(logged["config"][~unmeasured])
    treatment = {"leave-out": "left out", "mean": "taken as the mean of the others"}[how]
    configs = logged["config"]
    notes.count(UNMEASURED, configs[unmeasured & measured], configs, treatment)
    notes.count(UNMEASURED, configs[~measured], configs, "left out")
    if how == "mean":
        means = logged.groupby("config")[["cost", "prompt"]].transform("mean")
        logged = logged.fillna({"cost": means["cost"], "prompt": means["prompt"]})
    return logged[logged["cost"].notna()].reset_index(drop=True)


def average_repeats(
    frame: pd.DataFrame, arms: Sequence[str], separate: pd.Series, repeats: str, notes: Notes
) -> pd.DataFrame:
    """Average the repeats of an instance, or give each a name of its own, and remark what was done.

    Parameters
    ----------
    frame : DataFrame
        ``config``, ``instance`` and what describes a configuration; the other columns are numbers.
    arms : sequence of str
        What describes it. Rows that differ in one of these are not repeats of each other.
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
    >>> average_repeats(frame, [], frame["instance"], "mean", notes := Notes())
      config instance  score
    0      m        q    0.5
    1      m        r    1.0
    >>> notes.remarks
    ['note: repeats of an instance are averaged (--repeats separate keeps them apart)']
    """
    if not frame.duplicated(["config", "instance"]).any():
        return frame
    if repeats == "separate":
        notes.remarks.append("note: repeats of an instance count as instances, and are not independent")
        return frame.assign(instance=separate)
    notes.remarks.append("note: repeats of an instance are averaged (--repeats separate keeps them apart)")
    keys = [name for name in frame if name in ("config", "instance", *arms)]
    means = frame.groupby(keys, sort=False, dropna=False).transform("mean")
    return frame.assign(**means).drop_duplicates(keys)


UNSET = "not set"
_LONGEST = 40
#: Settings of the machine that a run was made on: they change no answer.
_OF_THE_MACHINE = frozenset(
    [
        "max_connections",
        "adaptive_connections",
        "max_retries",
        "timeout",
        "attempt_timeout",
        "max_samples",
        "max_tasks",
        "max_subprocesses",
        "max_sandboxes",
        "batch",
        "batch_size",
        "max_batch_size",
        "num_concurrent",
        "concurrent",
        "device",
        "base_url",
        "host",
        "port",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "gpu_memory_utilization",
        "parallelize",
        "device_map",
        "cache",
        "cache_prompt",
        "verbosity",
        "log_level",
    ]
)
_SECRET = re.compile(r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE)


def collect_settings(file: str | Path, model: Any, *groups: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge what a log says of its configuration, later groups winning.

    Plain values are kept (text, numbers, true, false), but for secrets and settings of the machine, such as
    how many requests it makes at once.

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
        raise_fault(file, "it does not name the model", "check that it is complete, and of the same run")
    merged: dict[str, Any] = {}
    for group in groups:
        merged |= {str(key): value for key, value in (group or {}).items() if value is not None}
    # a whole number that no column could hold exactly, such as a long seed, is kept as text
    known = {
        key: str(value) if type(value) is int and abs(value) >= 2**53 else value
        for key, value in merged.items()
        if isinstance(value, (str, bool, int, float))
        and key not in _OF_THE_MACHINE
        and not _SECRET.search(key)
    }
    return known | {"model": plain_text(model, file, "the model")}


def name_configurations(
    settings: Sequence[Mapping[str, Any]], by: Sequence[str], taken: Container[str]
) -> pd.DataFrame:
    """Name the configuration of each log: its model and the settings that differ, or those asked for.

    Parameters
    ----------
    settings : sequence of mapping
        What each log says of its configuration.
    by : sequence of str
        Settings that make a configuration; empty for all that differ.
    taken : container of str
        Columns that no setting can have; it is called ``..._setting`` there.

    Returns
    -------
    DataFrame
        A row for each log: ``config``, its name, and the columns that describe it.

    Raises
    ------
    TableError
        If a setting that is asked for is in no log.

    Examples
    --------
    >>> name_configurations([{"model": "m", "top_p": 1}, {"model": "m", "top_p": 0.7}], (), ())
            config model  top_p
    0  m top_p=1.0     m    1.0
    1  m top_p=0.7     m    0.7
    """
    known = {name for each in settings for name in each}
    asked = [choose("setting", name, known, "--by") for name in by]
    names = ["model", *(name for name in asked or find_differing(settings) if name != "model")]
    columns = {
        f"{name}_setting" if name in taken else name: _unify([each.get(name) for each in settings])
        for name in names
    }
    described = pd.DataFrame(columns)
    labels = [
        " ".join([each["model"], *(f"{name}={value}" for name, value in row.items() if name != "model")])
        for each, row in zip(settings, described.to_dict("records"), strict=True)
    ]
    described.insert(0, "config", labels)
    return described


def find_differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the settings that are not the same in all logs, sorted; one that is missing differs.

    Examples
    --------
    >>> find_differing([{"model": "m", "top_k": 1}, {"model": "m", "top_k": 1.0, "seed": 3}])
    ['seed']
    """
    known = sorted({name for each in settings for name in each})
    return [name for name in known if len({spell(each.get(name)) for each in settings}) > 1]


def sum_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Short checksums of settings: enough to tell whether two are the same, not to read them.

    Examples
    --------
    >>> sum_settings({"top_k": 1}) == sum_settings({"top_k": 1.0})
    True
    """
    return {name: checksum(spell(value)) for name, value in settings.items()}


def checksum(text: str) -> str:
    """Short checksum of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _unify(values: list[Any]) -> list[Any]:
    """Give a column one type: numbers if all of its values are, else text."""
    kinds = set(map(type, values))
    if kinds <= {int, float} or kinds == {bool}:
        return values
    return [UNSET if value is None else shorten(str(value)) for value in values]


def shorten(text: str) -> str:
    """Keep names readable: what is long or has odd white space is its beginning and a checksum."""
    plain = " ".join(text.split())
    if plain == text and 0 < len(text) <= _LONGEST:
        return text
    return f"{plain[:24]}... ({checksum(text)})"


SCORE, SECONDS = "score", "seconds"


class Evaluation(NamedTuple):
    """One evaluation: instance, scores, cost in the unit of the import, and seconds if they were logged.

    ``scores`` are one for each objective; ``prompt`` are the tokens of its prompt, which ``cost`` leaves out
    and `combine` adds where all are to be counted, None where they cost nothing of their own; ``repeat``
    tells evaluations of one instance apart, where the logs have several; ``flaws`` are what makes its answer
    doubtful, and ``cluster`` is what its instance has in common with others.
    """

    instance: str
    scores: tuple[float, ...]
    cost: float
    seconds: float | None = None
    prompt: float | None = None
    repeat: str = ""
    flaws: tuple[str, ...] = ()
    cluster: Any = None


@dataclass
class LoggedRun:
    """One log: its file, its task, the settings of the configuration with the model, and its evaluations.

    ``finished`` and ``when`` (seconds since 1970) say which of several runs of the same counts; ``left_out``
    counts the evaluations that cannot be used, by reason; ``name`` is that of the configuration, where the
    log gives one.
    """

    file: str
    task: str
    settings: dict[str, Any]
    evaluations: list[Evaluation] = field(default_factory=list)
    finished: bool = True
    when: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)
    name: str | None = None


def combine(
    runs: Sequence[LoggedRun],
    tasks: Sequence[str],
    metrics: Metrics,
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
    tasks : sequence of str
    metrics : Metrics
        Of each evaluation the scores are these of its task.
    cost : Cost
        What the cost column is called, and its unit.
    options : LogOptions
        Where they have ``repeats``, repeated evaluations of an instance become one row with the means of
        scores, cost and seconds, or one row for each.  They are not independent, so only the former keeps
        instances that are.
    notes : Notes
        Takes the remarks.
    source : str
        What the logs are; the card says this and what was measured.
    measured : mapping
        What else than configurations, tasks and metrics tells one import from another, by what it is: a name,
        several, or those of each task.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If no log has a usable evaluation, one has an instance twice, several configurations have no instance
        in common, or a setting of ``options.by`` is in no log.
    """
    runs = _usable(runs, notes)
    given = [run.settings | ({"task": run.task} if options.compare_tasks else {}) for run in runs]
    # a single score is called the accuracy, and its column the score; of several each keeps its name
    reserved = {"config", "instance", SECONDS, cost.column}
    no_names = {*reserved, *RESERVED, "efficiency"}
    scored = [f"{name}_score" if name in no_names else name for name in metrics.objectives]
    scores = {name: SCORE if len(scored) == 1 else name for name in scored}
    shared = [] if options.cluster is None else [options.cluster]
    described = name_configurations(given, options.by, {*reserved, *scores.values(), *shared})
    if not options.by and all(run.name for run in runs):
        described["config"] = [run.name for run in runs]
    arms = [str(name) for name in described][1:]
    _count_left_out(runs, described["config"], notes)
    evaluations = _evaluations(runs, described, metrics.objectives, options, notes)
    logged = _newest(evaluations, runs, notes)
    for flaw in (CUT_OFF, EMPTY):
        flawed = logged["flaws"].map(lambda flaws, flaw=flaw: flaw in flaws).astype(bool)
        notes.count(flaw, logged["config"][flawed], logged["config"])
    logged = settle_unmeasured(logged, options.unmeasured, notes)
    if options.count == "all":
        logged["cost"] += logged["prompt"].fillna(0.0)
    elif logged["prompt"].notna().all():
        added = f"{logged['prompt'].mean():,.4g} {cost.unit} per evaluation"
        notes.remarks.append(f"prompts are not in the cost: they would add {added} (--count all)")

    values = np.array(logged["scores"].tolist()).T
    frame = logged[["config", "instance"]].assign(**dict(zip(scores.values(), values, strict=True)))
    frame[cost.column] = charge_free(
        logged["cost"], logged["config"], cost.unit, options.smallest_cost, notes
    )
    made = [Objective(name=name, column=column) for name, column in scores.items()]
    if logged["seconds"].notna().all():
        frame[SECONDS] = logged["seconds"]
        made.append(Objective(name="efficiency", column=SECONDS, transform="inverse-percentile"))
    frame = frame.join(described[arms].loc[logged["run"]].reset_index(drop=True))
    for column in shared:
        if column in frame:
            raise_fault(
                "--cluster", f"{column!r} is the name of another column of the table", "rename the field"
            )
        frame[column] = logged["cluster"].astype(str)
    _count_same_repeats(frame, list(scores.values()), notes)
    repeats = getattr(options, "repeats", "mean")
    frame = average_repeats(frame, [*arms, *shared], logged["name"], repeats, notes).reset_index(drop=True)

    n_configs, n_logs = frame["config"].nunique(), logged["run"].nunique()
    per_instance = frame["instance"].value_counts()
    n_shared = int((per_instance == n_configs).sum())
    if not n_shared:
        those = f"{n_configs} configurations ({', '.join(arms)})"
        remedy = "say which settings make a configuration with --by, or leave logs out"
        raise_fault("the logs", f"no instance was evaluated under each of {those}", remedy)
    measured = {"tasks": tasks, "metrics": metrics.of, **measured}
    origin = "; ".join([source, *(f"{what}: {_list(value)}" for what, value in measured.items())])
    notes.remarks[:0] = [
        f"source: {origin}",
        f"took: {len(logged):,} evaluations of {n_configs:,} configurations from {n_logs:,} logs",
        f"instances: {len(per_instance):,}, of which {n_shared:,} were evaluated under every configuration",
        f"a configuration is: {', '.join(arms)} ({'see' if options.by else 'what differs; see'} --by)",
    ]
    settings = {label: sum_settings(each) for label, each in zip(described["config"], given, strict=True)}
    return ImportResult(
        frame,
        cost,
        tuple(made),
        tuple(arms),
        origin,
        measured,
        settings=settings,
        cluster=options.cluster,
    )


def _list(value: Any) -> str:
    """Write what was measured in words: a name, several, or those of each task."""
    if isinstance(value, Mapping):
        each = {task: _list(names) for task, names in value.items()}
        alike = len(set(each.values())) == 1
        return next(iter(each.values())) if alike else _list([f"{each[task]} of {task}" for task in each])
    return value if isinstance(value, str) else ", ".join(value)


def _usable(runs: Sequence[LoggedRun], notes: Notes) -> list[LoggedRun]:
    """Leave out the logs none of whose evaluations can be used, with the reasons, unless all are so."""
    found = [run for run in runs if run.evaluations]
    for run in runs:
        if not run.evaluations:
            why = ", ".join(f"{number:,} {reason}" for reason, number in run.left_out.items())
            notes.logs.append(f"{run.file}: none of its evaluations can be used: {why} -> run it again")
    if not found:
        raise_fault("the logs", "none has an evaluation that can be used", "give the logs of a finished run")
    return found


def _count_left_out(runs: Sequence[LoggedRun], configs: pd.Series, notes: Notes) -> None:
    """Count evaluations that cannot be used, per configuration and reason."""
    reasons = dict.fromkeys(reason for run in runs for reason in run.left_out)
    totals = [
        config
        for run, config in zip(runs, configs, strict=True)
        for _ in range(len(run.evaluations) + run.left_out.total())
    ]
    for reason in reasons:
        lost = [
            config for run, config in zip(runs, configs, strict=True) for _ in range(run.left_out[reason])
        ]
        notes.count(reason, lost, totals)
        notes.left_out[reason] += len(lost)


#: Number of instances with repeats from which on it is remarked that these never differ.
MANY_REPEATED = 5


def _count_same_repeats(frame: pd.DataFrame, scores: Sequence[str], notes: Notes) -> None:
    """Count instances with repeats where none differs from another, in any instance of a configuration."""
    pairs = frame.groupby(["config", "instance"], sort=False)[list(scores)]
    repeated = pairs.size() > 1
    if not repeated.any():
        return
    differ = (pairs.max() > pairs.min()).any(axis=1)
    n_repeated = Counter(repeated.index.get_level_values("config")[repeated])
    n_differ = Counter(repeated.index.get_level_values("config")[repeated & differ])
    for config, number in n_repeated.items():
        if number >= MANY_REPEATED and not n_differ[config]:
            notes.count(STATIC, [config] * number, [config] * number)


def _evaluations(
    runs: Sequence[LoggedRun],
    described: pd.DataFrame,
    objectives: Sequence[str],
    options: LogOptions,
    notes: Notes,
) -> pd.DataFrame:
    """Put the evaluations of all runs into one frame, checked, with the number of their run and its label.

    ``name`` tells them apart where ``instance`` does not: it adds the repeat, if there are several.
    """
    rows = [(number, *evaluation) for number, run in enumerate(runs) for evaluation in run.evaluations]
    frame = pd.DataFrame(rows, columns=["run", *Evaluation._fields])
    frame = frame.astype({"cost": float, "seconds": float, "prompt": float})
    frame["config"] = described["config"].loc[frame["run"]].to_numpy()

    logged_scores = np.array(frame["scores"].tolist())
    scores = rescale_scores(logged_scores, objectives, frame["config"], options, notes)
    scores, kept = settle_missing(scores, frame["config"], options, notes)
    frame["scores"] = pd.Series(list(scores), dtype=object)
    frame = frame[kept].reset_index(drop=True)
    if frame.empty:
        raise_fault(
            "the logs",
            "no evaluation has a score that can be used",
            "see why, below, or choose with --metric",
        )

    match getattr(options, "cost", "tokens"):
        case "none":
            frame = frame.assign(cost=1.0, prompt=math.nan)
        case "seconds":
            frame = frame.assign(cost=frame["seconds"].where(frame["seconds"] > 0), prompt=math.nan)
    seconds = frame["seconds"]
    untimed = ~((seconds > 0) & (seconds < math.inf))
    if untimed.any() and seconds.notna().any():
        counted = f"{untimed.sum():,} of {len(frame):,} evaluations have no time above zero"
        notes.remarks.append(f"note: {counted}, so efficiency is no objective")
    if untimed.any():
        frame["seconds"] = math.nan
    tasks = [run.task for run in runs]
    if len(set(tasks)) > 1 and not options.compare_tasks:
        frame["instance"] = frame["run"].map(tasks.__getitem__) + "/" + frame["instance"]
    several = len(set(frame["repeat"])) > 1
    return frame.assign(name=frame["instance"] + ", " + frame["repeat"] if several else frame["instance"])


def _newest(logged: pd.DataFrame, runs: Sequence[LoggedRun], notes: Notes) -> pd.DataFrame:
    """Of several runs of a configuration, the newest that finished gives an instance that both have.

    Runs that are the same only by what ``--by`` names may differ for a reason: that is for the user to say.
    """
    order = sorted(range(len(runs)), key=lambda i: (runs[i].finished, runs[i].when, runs[i].file))
    rank = logged["run"].map({run: place for place, run in enumerate(order)})
    best = rank.groupby([logged["config"], logged["instance"]]).transform("max")
    older = rank < best
    said = []
    replaced = pd.DataFrame({"run": logged["run"], "newest": best})[older].value_counts(sort=False)
    for run, newest, number in replaced.reset_index().to_numpy():
        old, new = runs[run], runs[order[newest]]
        if different := find_differing([old.settings, new.settings]):
            problem = f"{number:,} of its evaluations are also in {new.file}"
            problem += f", which differs in {', '.join(different)}"
            raise_fault(
                old.file, problem, "name what tells them apart with --by, or give only one of the two logs"
            )
        said.append(f"rerun: {new.file} counts, not {old.file}: {number:,} evaluations")
    notes.remarks += limit_lines(said)
    return logged[~older].reset_index(drop=True)
