"""What a page needs on a table of the reader's: names that fit, and sentences for that table alone.

The sentences of a page are written for the tables that it runs on by default.  On
others the page shows what holds for any table, with the numbers of that one.  Markdown
cells that are tagged `BUNDLED` are left out there (`companion.report.reading`); what
the page says in their place is a cell with `say_of_own`.
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

#: Tag of the cells of a page whose text holds for the tables that it runs on by
#: default, and for no others.
BUNDLED = "bundled"

#: Letters of a configuration's name at an axis or next to a point, at most.
FITTING = 24


def is_own(dataset: Any, default: Any) -> bool:
    """Decide whether a page runs on other tables than those that its sentences were written for.

    Parameters
    ----------
    dataset : str or sequence of str
        The page's parameter: catalogue names, or files.
    default : str or sequence of str
        What it is unless somebody gives another one.

    Examples
    --------
    >>> is_own("mine.parquet", default="synthetic-24"), is_own(("a", "b"), default=["a", "b"])
    (True, False)
    """
    as_list = [
        [names] if isinstance(names, str) else list(names or [])
        for names in (dataset, default)
    ]
    return as_list[0] != as_list[1]


def written_for(dataset: Any, default: Any) -> None:
    """Show the text that holds for the default tables of a page on these, and on no others.

    Parameters
    ----------
    dataset, default : str or sequence of str
        As `is_own` takes them.
    """
    if not is_own(dataset, default):
        record(BUNDLED)


def short_names(names: Iterable[object], most: int = FITTING) -> list[str]:
    """Cut names so that they fit into a picture and still differ from one another.

    Long ones keep their beginning and their end; those that would look alike are
    numbered.  Each has one line.  What draws them escapes them
    (`cobandit.figures.escape_math`).

    Examples
    --------
    >>> short_names(["a model with a prompt, at 0.5", "a model, at 1", "a model with a prompt, at 0.5 "], 16)
    ['a mod... 0.5 (1)', 'a model, at 1', 'a mod... 0.5 (2)']
    """
    lines = [
        " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
        for name in names
    ]
    cut = [ellipsize(line, most) for line in lines]
    alike = {name for name, count in Counter(cut).items() if count > 1}

    seen: Counter[str] = Counter()
    told_apart = []
    for line, short in zip(lines, cut, strict=True):
        if short in alike:
            seen[short] += 1
            number = f" ({seen[short]})"
            short = ellipsize(line, max(most - len(number), 8)) + number
        told_apart.append(short)
    return told_apart


def describe_shape(tables: EvaluationTable | Sequence[EvaluationTable]) -> str:
    """Say in a sentence or two which tables these are, fit for Markdown.

    Examples
    --------
    >>> import cobandit as cb
    >>> describe_shape(cb.load("synthetic-24"))
    'synthetic-24: 24 configurations, 400 instances, 2 objectives, cost in tokens.'
    """
    several = [tables] if isinstance(tables, EvaluationTable) else tables
    return " ".join(
        f"{escape_markdown(table.name)}: {table.n_arms} configurations, "
        f"{_number(table.n_instances)} instances, "
        f"{table.n_objectives} objective{'s' * (table.n_objectives > 1)}, "
        f"cost in {escape_markdown(table.card.cost.unit)}."
        for table in several
    )


def count_shared(table: EvaluationTable) -> int:
    """Count the instances of the evaluation split that all configurations have.

    Examples
    --------
    >>> import cobandit as cb
    >>> count_shared(cb.load("synthetic-24"))
    300
    """
    evaluated = table.rows[table.rows["split"] == "evaluation"]
    return int((evaluated["instance"].value_counts() == table.n_arms).sum())


def describe_shared(table: EvaluationTable) -> str:
    """Say on how many instances methods compare that evaluate once; nothing if these are all.

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


def say_of_own(own: bool, *sentences: str) -> Markdown | None:
    """Show sentences on a table of the reader's, and nothing on those that the page was written for.

    Parameters
    ----------
    own : bool
        From `is_own`.
    *sentences : str
        Markdown, in which names are escaped already; empty ones are skipped.

    Examples
    --------
    >>> say_of_own(True, "All costs are equal.", "").data
    'All costs are equal.'
    >>> say_of_own(False, "All costs are equal.")
    """
    text = " ".join(filter(None, sentences))
    return Markdown(text) if own and text else None


def leave_out(what: str, why: str) -> Markdown:
    """Say that a part of a page makes no sense on a table, and why: with the number, if there is one.

    Parameters
    ----------
    what : str
        The part, beginning with a capital letter, in the singular.
    why : str
        A clause that ends the sentence, without its full stop.

    Examples
    --------
    >>> leave_out("The picture of phases", "it needs two objectives, and the table has one").data
    '*The picture of phases is left out: it needs two objectives, and the table has one.*'
    """
    _left_out.add(_cell())
    return Markdown(f"*{what} is left out: {why}.*")


def was_left_out() -> bool:
    """Decide whether the cell before the one that runs left something out."""
    return _cell() - 1 in _left_out


#: Cells of the notebook that this process runs that left something out.
_left_out: set[int] = set()


def _cell() -> int:
    """Return the number of the cell that runs; 0 outside of a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.execution_count if shell else 0


def _number(counts: Any) -> str:
    low = int(min(counts))
    high = int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


#: On one core, in seconds: a pull online, a sample in identification, one elimination
#: over K^3, and where all are evaluated on the same instances, a pair of configurations
#: on one of these in one objective.
PULL = 60e-9
SAMPLE = 6e-9
ELIMINATE = 1e-9
PAIR = 2e-9
#: Seconds that the replays of one picture may take, estimated, and the fewest
#: replications of a picture.
SECONDS = 15.0
FEWEST = 20
#: The same for a page of a report, which has few pictures.
SECONDS_OF_REPORT = 45.0


class Replays(NamedTuple):
    """How much is replayed: budgets in evaluations per configuration, and replications at each."""

    rho: list[float]
    replications: int

    def say_less(self, rho: Sequence[float], replications: int) -> str:
        """Say what is less than was wanted, in a sentence; nothing if all is as wanted.

        Examples
        --------
        >>> Replays([20], 100).say_less([20, 50], 400)  # doctest: +ELLIPSIS
        '100 replications in the place of 400, and budgets ... more would take minutes on this table.'
        """
        less = []
        if self.replications < replications:
            less.append(
                f"{self.replications:,} replications in the place of {replications:,}"
            )
        if max(self.rho) < max(rho):
            largest = f"{max(self.rho):,.4g} in the place of {max(rho):,.4g}"
            less.append(f"budgets up to {largest} evaluations per configuration")
        if not less:
            return ""
        text = f"{', and '.join(less)}: more would take minutes on this table."
        return text[0].upper() + text[1:]


def fit_online(
    costs: ArrayLike,
    rho: Sequence[float],
    replications: int,
    methods: int,
    seconds: float = SECONDS,
) -> Replays:
    """Choose budgets and replications with which online replays take seconds, whatever the costs are.

    Where costs differ a thousandfold, the budget of one round holds thousands of the
    cheapest pull.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Mean costs.
    rho : sequence of float
        Budgets that are wanted, in evaluations per configuration.
    replications : int
        As many as are wanted.
    methods : int
        Methods that are replayed.
    seconds : float
        How long the replays may take on one core.

    Returns
    -------
    Replays
        As wanted, where that takes less than ``seconds``; `FEWEST` replications at
        least.

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
    """Choose budgets and replications with which identification is replayed in seconds.

    An elimination compares all pairs in each phase, and spends on cheap arms what
    expensive ones leave.

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
    >>> fit_identification(np.ones(150), [200, 5000], 2000, methods=3).replications < 500
    True
    """
    ordered = np.sort(np.asarray(costs, dtype=float))

    # pulls of a round's budget if the most expensive leave first: the last phases have
    # the most of them
    share = 1 / theory.exact_allocation_constant(ordered)
    per_round = len(ordered) + float(
        (share * ordered.sum() / np.cumsum(ordered)[1:]).sum()
    )
    compared = estimate_elimination(len(ordered))
    return _fit(
        lambda budget: methods * (SAMPLE * budget * per_round + compared),
        rho,
        replications,
        seconds,
    )


def estimate_elimination(n_arms: int) -> float:
    """Estimate the seconds in which one run eliminates all arms, whatever its budget.

    Examples
    --------
    >>> estimate_elimination(1000)
    1.0
    """
    return ELIMINATE * n_arms**3


def fit_once(table: EvaluationTable, replications: int, runs: int) -> int:
    """Choose replications with which methods that evaluate once are replayed in seconds.

    Parameters
    ----------
    table : EvaluationTable
    replications : int
        As many as are wanted.
    runs : int
        Runs of each replication: one for each method and budget.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_once(cb.load("synthetic-24"), 100, runs=10)
    100
    """
    pairs = table.n_arms**2 * table.n_objectives
    seconds = PAIR * pairs * (int(table.n_instances.max()) + table.n_arms)
    return min(replications, max(FEWEST, int(SECONDS / (runs * seconds))))


#: Evaluations of one run online beyond which a page's studies of choices and radii have
#: fewer runs.
MANY_EVALUATIONS = 4.5e4


def fit_runs(evaluations: float, runs: int, least: int = 2) -> int:
    """Choose how many runs a study of choices, radii or other questions has, so that it takes seconds.

    Parameters
    ----------
    evaluations : float
        The most that one run online can make.
    runs : int
        As many as are wanted.
    least : int

    Examples
    --------
    >>> fit_runs(1000, 120), fit_runs(90_000, 120), fit_runs(1e9, 120)
    (120, 60, 2)
    """
    return min(runs, max(least, round(runs * MANY_EVALUATIONS / max(evaluations, 1.0))))


def say_fewer(counts: Mapping[str, tuple[int, int]]) -> str:
    """Say which numbers of runs are smaller than was wanted, in a sentence; nothing if none is.

    Parameters
    ----------
    counts : mapping
        By what is counted, in the plural: how many there are, and how many were wanted.

    Examples
    --------
    >>> say_fewer({"runs with each radius": (60, 120), "replications of each choice": (24, 24)})
    'So that the page takes a minute: 60 runs with each radius in the place of 120.'
    >>> say_fewer({"runs with each radius": (120, 120)})
    ''
    """
    fewer = [
        f"{few:,} {what} in the place of {all_:,}"
        for what, (few, all_) in counts.items()
        if few < all_
    ]
    return f"So that the page takes a minute: {_enumerate(fewer)}." if fewer else ""


#: Orders of the instances in which a table is raced at three tolerances, at the least,
#: and a pair of configurations in a certified race on one instance in one objective, in
#: seconds.
FEWEST_ORDERS = 5
BETS = 3.5e-9


def fit_races(table: EvaluationTable, orders: int) -> int:
    """Choose in how many orders a table is raced, at three tolerances, so that it takes seconds.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_races(cb.load("synthetic-24"), 50)
    50
    """
    bets = table.n_arms**2 * table.n_objectives * int(table.n_instances.max())
    return min(orders, max(FEWEST_ORDERS, int(SECONDS / (3 * BETS * bets))))


def describe_races(raced: pd.DataFrame, orders: int) -> str:
    """Say where the race of a table stops by itself, and how often it broke its promise.

    Parameters
    ----------
    raced : DataFrame
        From `companion.stored.races.race_table`.
    orders : int
        As many as were wanted.

    Examples
    --------
    >>> rows = {"tolerance": [0.0, 0.0], "certified": [False, True], "share": [0.5, 0.8], "off": [0, 0]}
    >>> describe_races(pd.DataFrame(rows).assign(runs=20), 50).splitlines()[0]
    'At tolerance 0 the race stops at 50 % of the cost of everything, and with a certificate at 80 %.'
    """
    by_tolerance = raced.pivot_table(
        index="tolerance", columns="certified", values="share"
    )
    tolerances = _enumerate(f"{tolerance:g}" for tolerance in by_tolerance.index)
    stops = {
        kind: _enumerate(map(percent, by_tolerance[kind])) for kind in by_tolerance
    }
    off = {kind: int(of["off"].sum()) for kind, of in raced.groupby("certified")}
    orders_run = int(raced["runs"].iloc[0])
    in_all = orders_run * len(by_tolerance)
    less = (
        f", in the place of {orders}, which would take minutes"
        if orders_run < orders
        else ""
    )
    return (
        f"At tolerance {tolerances} the race stops at {stops[False]} of the cost of"
        f" everything, and with a certificate at {stops[True]}.\nIt broke its promise"
        f" in {off[False]} of {in_all} runs, and with a certificate in {off[True]} of"
        f" {in_all}: each ran in {orders_run} random orders of the instances{less}."
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
    """Leave out the largest budgets, and then replications, until the rest takes less time than allowed."""
    kept = sorted(rho)
    while len(kept) > 1 and FEWEST * sum(map(seconds_of, kept)) > seconds:
        kept.pop()
    alone = FEWEST * seconds_of(kept[0])
    if len(kept) == 1 and alone > seconds:
        kept = [max(2, int(kept[0] * seconds / alone))]
    fitting = int(seconds / sum(map(seconds_of, kept)))
    return Replays(kept, min(replications, max(FEWEST, fitting)))
