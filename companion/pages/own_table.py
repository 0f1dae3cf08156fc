"""Names, sentences and replications of a page on a table of the reader's.

The sentences of a page are written for its default tables. On other tables the page
shows the sentences that hold for any table, with the numbers of that table. Markdown
cells tagged `BUNDLED` are left out there (`companion.report.reading`), and a cell with
`say_of_own` takes their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import theory
from cobandit._text import ellipsize
from cobandit.advice.words import percent
from cobandit.figures import escape_markdown
from cobandit.tables import EvaluationTable
from companion.pages.prose import Markdown, record

#: Tag of the cells of a page whose text holds for its default tables only.
BUNDLED = "bundled"

#: Largest number of letters of a configuration's name at an axis or next to a point.
FITTING = 24


def is_own(dataset: Any, default: Any) -> bool:
    """Return whether a page runs on other tables than its sentences were written for.

    Parameters
    ----------
    dataset : str or sequence of str
        The page's parameter: names in the catalogue, or files.
    default : str or sequence of str
        The parameter's default.

    Examples
    --------
    >>> is_own("mine.parquet", default="synthetic-24")
    True
    >>> is_own(("a", "b"), default=["a", "b"])
    False
    """
    as_list = [
        [names] if isinstance(names, str) else list(names or [])
        for names in (dataset, default)
    ]
    return as_list[0] != as_list[1]


def written_for(dataset: Any, default: Any) -> None:
    """Show the text for a page's default tables if the page runs on these.

    Parameters
    ----------
    dataset, default : str or sequence of str
        Parameters of `is_own`.
    """
    if not is_own(dataset, default):
        record(BUNDLED)


def short_names(names: Iterable[object], max_length: int = FITTING) -> list[str]:
    """Shorten names so that they fit into a picture and still differ.

    Long names keep their beginning and their end; names that would look alike are
    numbered. Each name has one line. The drawing functions escape them
    (`cobandit.figures.escape_math`).

    Examples
    --------
    >>> name = "a model with a prompt, at 0.5"
    >>> short_names([name, "a model, at 1", f"{name} "], 16)
    ['a mod... 0.5 (1)', 'a model, at 1', 'a mod... 0.5 (2)']
    """
    lines = [
        " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
        for name in names
    ]
    shortened = [ellipsize(line, max_length) for line in lines]
    repeated = {name for name, count in Counter(shortened).items() if count > 1}

    counts: Counter[str] = Counter()
    unique = []
    for line, text in zip(lines, shortened, strict=True):
        if text in repeated:
            counts[text] += 1
            number = f" ({counts[text]})"
            text = ellipsize(line, max(max_length - len(number), 8)) + number
        unique.append(text)
    return unique


def describe_shape(tables: EvaluationTable | Sequence[EvaluationTable]) -> str:
    """Describe tables in a sentence or two of Markdown.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shape(cb.load("synthetic-24"))
    'synthetic-24: 24 configurations, 400 instances, 2 objectives, cost in tokens.'
    """
    listed = [tables] if isinstance(tables, EvaluationTable) else tables
    return " ".join(
        f"{escape_markdown(table.name)}: {table.n_arms} configurations, "
        f"{_number(table.n_instances)} instances, "
        f"{table.n_objectives} objective{'s' * (table.n_objectives > 1)}, "
        f"cost in {escape_markdown(table.card.cost.unit)}."
        for table in listed
    )


def count_shared(table: EvaluationTable) -> int:
    """Count the instances of the evaluation split that all configurations share.

    Examples
    --------
    >>> import cobandit as cb
    >>> count_shared(cb.load("synthetic-24"))
    300
    """
    evaluated = table.rows[table.rows["split"] == "evaluation"]
    return int((evaluated["instance"].value_counts() == table.n_arms).sum())


def describe_shared(table: EvaluationTable) -> str:
    """Return a sentence with the number of shared instances, or '' if all are shared.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shared(cb.load("synthetic-24"))
    ''
    """
    evaluated = table.rows.loc[
        table.rows["split"] == "evaluation", "instance"
    ].nunique()
    shared = count_shared(table)
    if shared == evaluated:
        return ""
    return (
        f"Evaluating once compares on the {shared:,} of {evaluated:,} instances that"
        " all configurations have."
    )


def say_of_own(on_own_table: bool, *sentences: str) -> Markdown | None:
    """Show sentences on a reader's table, and nothing on the page's default tables.

    Parameters
    ----------
    on_own_table : bool
        Result of `is_own`.
    *sentences : str
        Markdown with escaped names; empty sentences are skipped.

    Examples
    --------
    >>> say_of_own(True, "All costs are equal.", "").data
    'All costs are equal.'
    >>> say_of_own(False, "All costs are equal.")
    """
    text = " ".join(filter(None, sentences))
    return Markdown(text) if on_own_table and text else None


def leave_out(part: str, reason: str) -> Markdown:
    """Report that a part of a page is left out on this table, and why.

    Parameters
    ----------
    part : str
        Name of the part, in the singular and with a capital letter.
    reason : str
        A clause that ends the sentence, without full stop and with its number.

    Examples
    --------
    >>> leave_out("The picture of phases", "the table has one objective").data
    '*The picture of phases is left out: the table has one objective.*'
    """
    _left_out.add(_cell())
    return Markdown(f"*{part} is left out: {reason}.*")


def was_left_out() -> bool:
    """Return whether the cell before the current one left a part out."""
    return _cell() - 1 in _left_out


#: Numbers of the cells that left a part out, in the notebook of this process.
_left_out: set[int] = set()


def _cell() -> int:
    """Return the number of the running cell; 0 outside of a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.execution_count if shell else 0


def _number(counts: Any) -> str:
    low = int(min(counts))
    high = int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


#: Seconds on one core per pull online.
PULL = 60e-9
#: Seconds on one core per sample in identification.
SAMPLE = 6e-9
#: Seconds on one core of one elimination, divided by K^3.
ELIMINATE = 1e-9
#: Seconds on one core per pair of configurations, shared instance and objective.
PAIR = 2e-9
#: Estimated seconds that the replays of one picture may take.
SECONDS = 15.0
#: Smallest number of replications of a picture.
FEWEST = 20
#: Estimated seconds for a picture of a report, which has few of them.
SECONDS_OF_REPORT = 45.0


class Replays(NamedTuple):
    """Extent of a replay: budgets per configuration, and replications."""

    rho: list[float]
    replications: int

    def say_less(self, rho: Sequence[float], replications: int) -> str:
        """Return a sentence about budgets and replications below the requested ones.

        The sentence is empty if all are as requested.

        Examples
        --------
        >>> Replays([20], 100).say_less([20], 400)
        '100 replications instead of 400: more would take minutes on this table.'
        """
        reductions = []
        if self.replications < replications:
            reductions.append(
                f"{self.replications:,} replications instead of {replications:,}"
            )
        if max(self.rho) < max(rho):
            largest = f"{max(self.rho):,.4g} instead of {max(rho):,.4g}"
            reductions.append(f"budgets up to {largest} evaluations per configuration")
        if not reductions:
            return ""
        text = f"{', and '.join(reductions)}: more would take minutes on this table."
        return text[0].upper() + text[1:]


def fit_online(
    costs: ArrayLike,
    rho: Sequence[float],
    replications: int,
    methods: int,
    seconds: float = SECONDS,
) -> Replays:
    """Choose budgets and replications so that online replays take seconds.

    Where costs differ by a factor of a thousand, the budget of one round holds
    thousands of the cheapest pull.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Mean costs.
    rho : sequence of float
        Requested budgets, in evaluations per configuration.
    replications : int
        Requested number of replications.
    methods : int
        Number of methods that are replayed.
    seconds : float
        Time that the replays may take on one core.

    Returns
    -------
    Replays
        The requested extent where it takes less than ``seconds``; at least `FEWEST`
        replications.

    Examples
    --------
    >>> fit_online([1.0, 2.0], [2, 32], 100, methods=4)
    Replays(rho=[2, 32], replications=100)
    >>> fit_online([1e-6, 1.0], [2, 32], 100, methods=4).rho
    [2]
    """
    costs = np.asarray(costs, dtype=float)
    round_pulls = float(costs.sum() / costs.min())
    return _fit(
        lambda budget: methods * PULL * budget * round_pulls, rho, replications, seconds
    )


def fit_identification(
    costs: ArrayLike,
    rho: Sequence[float],
    replications: int,
    methods: int,
    seconds: float = SECONDS,
) -> Replays:
    """Choose budgets and replications so that identification takes seconds.

    An elimination compares all pairs in each phase, and spends on cheap arms the budget
    that expensive arms leave.

    Parameters
    ----------
    costs, rho, replications, methods, seconds
        As in `fit_online`.

    Returns
    -------
    Replays

    Examples
    --------
    >>> fit_identification([1.0, 2.0], [20, 50], 500, methods=3)
    Replays(rho=[20, 50], replications=500)
    >>> costs = np.ones(150)
    >>> fit_identification(costs, [200, 5000], 2000, methods=3).replications < 500
    True
    """
    ordered = np.sort(np.asarray(costs, dtype=float))

    # pulls per round of budget if the most expensive arms are removed first, which
    # leaves the most pulls to the last phases
    share = 1 / theory.exact_allocation_constant(ordered)
    per_round = len(ordered) + float(
        (share * ordered.sum() / np.cumsum(ordered)[1:]).sum()
    )
    elimination = estimate_elimination(len(ordered))
    return _fit(
        lambda budget: methods * (SAMPLE * budget * per_round + elimination),
        rho,
        replications,
        seconds,
    )


def estimate_elimination(n_arms: int) -> float:
    """Estimate the seconds in which one run eliminates all arms, at any budget.

    Examples
    --------
    >>> estimate_elimination(1000)
    1.0
    """
    return ELIMINATE * n_arms**3


def fit_once(table: EvaluationTable, replications: int, runs: int) -> int:
    """Choose replications so that methods that evaluate once take seconds.

    Parameters
    ----------
    table : EvaluationTable
    replications : int
        Requested number of replications.
    runs : int
        Runs per replication: one per method and budget.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_once(cb.load("synthetic-24"), 100, runs=10)
    100
    """
    pairs = table.n_arms**2 * table.n_objectives
    seconds = PAIR * pairs * (int(table.n_instances.max()) + table.n_arms)
    return min(replications, max(FEWEST, int(SECONDS / (runs * seconds))))


#: Evaluations of one online run beyond which studies of choices and radii have fewer
#: runs.
MANY_EVALUATIONS = 4.5e4


def fit_runs(evaluations: float, runs: int, min_runs: int = 2) -> int:
    """Choose the number of runs of a study so that it takes seconds.

    Parameters
    ----------
    evaluations : float
        Largest number of evaluations of one online run.
    runs : int
        Requested number of runs.
    min_runs : int
        Smallest number of runs.

    Examples
    --------
    >>> fit_runs(1000, 120), fit_runs(90_000, 120), fit_runs(1e9, 120)
    (120, 60, 2)
    """
    return min(
        runs, max(min_runs, round(runs * MANY_EVALUATIONS / max(evaluations, 1.0)))
    )


def say_fewer(counts: Mapping[str, tuple[int, int]]) -> str:
    """Return a sentence with the numbers of runs that are below the requested ones.

    The sentence is empty if there are none.

    Parameters
    ----------
    counts : mapping
        The number of runs and the requested number, by the name of the runs in the
        plural.

    Examples
    --------
    >>> say_fewer({"runs per radius": (60, 120), "replications": (24, 24)})
    'So that the page takes a minute: 60 runs per radius instead of 120.'
    >>> say_fewer({"runs per radius": (120, 120)})
    ''
    """
    fewer = [
        f"{number:,} {name} instead of {requested:,}"
        for name, (number, requested) in counts.items()
        if number < requested
    ]
    return f"So that the page takes a minute: {_enumerate(fewer)}." if fewer else ""


#: Smallest number of orders in which a table is raced at three tolerances.
FEWEST_ORDERS = 5
#: Seconds on one core per pair of configurations, instance and objective of a certified
#: race.
BETS = 3.5e-9


def fit_races(table: EvaluationTable, orders: int) -> int:
    """Choose the number of orders so that races at three tolerances take seconds.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_races(cb.load("synthetic-24"), 50)
    50
    """
    bets = table.n_arms**2 * table.n_objectives * int(table.n_instances.max())
    return min(orders, max(FEWEST_ORDERS, int(SECONDS / (3 * BETS * bets))))


def describe_races(raced: pd.DataFrame, orders: int) -> str:
    """Describe where the races of a table stop, and how often they broke their promise.

    Parameters
    ----------
    raced : DataFrame
        Result of `companion.stored.races.race_table`.
    orders : int
        Requested number of orders.

    Examples
    --------
    >>> rows = pd.DataFrame({"certified": [False, True], "share": [0.5, 0.8]})
    >>> rows = rows.assign(tolerance=0.0, off=0, runs=20)
    >>> describe_races(rows, 50).partition(", and")[0]
    'At tolerance 0 the race stops at 50 % of the cost of everything'
    """
    by_tolerance = raced.pivot_table(
        index="tolerance", columns="certified", values="share"
    )
    tolerances = _enumerate(f"{tolerance:g}" for tolerance in by_tolerance.index)
    stops = {
        kind: _enumerate(map(percent, by_tolerance[kind])) for kind in by_tolerance
    }

    off = {kind: int(group["off"].sum()) for kind, group in raced.groupby("certified")}
    n_orders = int(raced["runs"].iloc[0])
    n_runs = n_orders * len(by_tolerance)
    note = (
        f", instead of {orders}, which would take minutes" if n_orders < orders else ""
    )
    return (
        f"At tolerance {tolerances} the race stops at {stops[False]} of the cost of"
        f" everything, and with a certificate at {stops[True]}.\nIt broke its promise"
        f" in {off[False]} of {n_runs} runs, and with a certificate in {off[True]} of"
        f" {n_runs}: each ran in {n_orders} random orders of the instances{note}."
    )


def _enumerate(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _fit(
    seconds_of: Callable[[float], float],
    rho: Sequence[float],
    replications: int,
    seconds: float,
) -> Replays:
    """Leave out the largest budgets, then replications, until the time is allowed."""
    budgets = sorted(rho)
    while len(budgets) > 1 and FEWEST * sum(map(seconds_of, budgets)) > seconds:
        budgets.pop()
    alone = FEWEST * seconds_of(budgets[0])
    if len(budgets) == 1 and alone > seconds:
        budgets = [max(2, int(budgets[0] * seconds / alone))]
    fitting = int(seconds / sum(map(seconds_of, budgets)))
    return Replays(budgets, min(replications, max(FEWEST, fitting)))
