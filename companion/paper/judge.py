"""Verdicts on the comparisons of methods that the paper states in words (orderings)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from companion.paper.derived import EQUAL, DerivedValue, derive

#: Quantities of which larger values are better. For all others, smaller is better.
HIGHER = ("f1", "correct")


@dataclass(frozen=True)
class Claim:
    """A comparison of methods that the paper states in words.

    Attributes
    ----------
    key, says, place : str
        Name of the claim, its statement in our words, and its place in the paper.
    experiment, quantity, datasets, costs
        As in `companion.paper.numbers.Published`; a claim may be about several data
        sets.
    methods, against : tuple of str
        The claim states that each of ``methods`` has the relation to each of
        ``against``.
    relation : str
        ``"better"``; ``"keeps up"`` (better or comparable); ``"comparable"``;
        ``"unchanged"`` (declared and realised costs give comparable results);
        ``"undecided"`` (each method is better at some budget or on some data set);
        ``"nearer"`` (nearer to the first of ``against`` than to the second);
        ``"growing advantage"`` (better at the largest budget, and by more than at the
        smallest budget); ``"larger advantage"`` (better on the first data set, and by
        more than on the second).
    at : {"all", "most", "largest", "smallest"}
        Budgets that the claim is about.
    along : {"rho", "spent"}
        Column of the budget; ``"spent"`` for claims about points along a run.
    measure : {"ratio", "difference", None}
        Measure by which two advantages are compared.

    Examples
    --------
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-least-standard-regret")
    >>> claim.against, claim.at, claim.direction
    (('HVUCB', 'AccuracyCostUCB', 'UniformAllocation'), 'all', 'lower')
    """

    key: str
    says: str
    place: str
    experiment: str
    datasets: tuple[str, ...]
    quantity: str
    methods: tuple[str, ...]
    against: tuple[str, ...] = ()
    relation: str = "better"
    at: str = "all"
    along: str = "rho"
    measure: str | None = None
    costs: str | None = None

    @property
    def compares_datasets(self) -> bool:
        """Whether the claim compares one data set with another."""
        return self.relation == "larger advantage"

    @property
    def direction(self) -> str:
        """Which values of the quantity are better, ``"higher"`` or ``"lower"``."""
        return "higher" if self.quantity in HIGHER else "lower"

    def select(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the rows about the claim's data sets, methods and costs."""
        named = cells["method"].isin(self.methods + self.against)
        selected = cells[cells["dataset"].isin(self.datasets) & named]
        return (
            selected
            if self.costs is None
            else selected[selected["costs"] == self.costs]
        )


@cache
def claims() -> tuple[Claim, ...]:
    """Return all comparisons that the paper states in words, in the paper's order.

    Returns
    -------
    tuple of Claim

    Examples
    --------
    >>> claims()[0].key
    'adaptive-beats-uniform'
    """
    source = Path(__file__).with_name("orderings.yml")
    entries: list[dict[str, Any]] = yaml.safe_load(source.read_text(encoding="utf-8"))
    for entry in entries:
        entry |= {
            name: tuple(value)
            for name, value in entry.items()
            if isinstance(value, list)
        }
    return tuple(Claim(**entry) for entry in entries)


#: Means count as comparable up to this difference, relative to the larger.
CLOSE = 0.1

HOLDS = "holds"
FAILS = "fails"
NOT_SEPARATED = "not separated"
UNKNOWN = "cannot be checked"


NOTHING = DerivedValue(np.nan, np.nan, np.nan)


def by_place(
    cells: pd.DataFrame, columns: Sequence[str]
) -> dict[tuple[Any, ...], DerivedValue]:
    """Return the mean and interval of each row, by the values of some columns.

    Missing values of these columns become None.
    """
    places = cells.reindex(columns=list(columns)).astype(object)
    places = places.where(places.notna(), None)
    ends = map(
        DerivedValue._make,
        cells[["mean", "low", "high"]].itertuples(index=False, name=None),
    )
    return dict(zip(places.itertuples(index=False, name=None), ends, strict=True))


def judge_claim(claim: Claim, frame: pd.DataFrame) -> str:
    """Return whether a claim holds according to a table of means with intervals.

    A comparison holds if the interval of the difference is on the claimed side of zero,
    and fails if the interval is on the other side. The verdict is "not separated" if
    the interval contains zero. All methods receive the same evaluations, so the
    interval is paired over replications. Without a paired interval, the function uses
    the range of differences that the intervals of both means allow.

    Means are comparable if they differ by at most a tenth of the larger mean. If they
    differ by more, the comparison fails if the interval excludes zero. One advantage or
    distance is larger than another if its whole interval is above the other interval. A
    larger advantage must also be positive, because a smaller disadvantage is not an
    advantage.

    A claim with several comparisons holds if all of them hold, and fails if one of them
    fails. A claim about most budgets holds if more than half of its comparisons hold,
    and fails if more than half of them fail. The largest and the smallest budget are
    chosen among the budgets at which every method has a feasible run.

    Parameters
    ----------
    claim : Claim
    frame : DataFrame
        Results of `cobandit.stats.summaries.summarise` for the quantity of the claim,
        one row per cell: ``dataset``, ``method``, ``mean``, ``low``, ``high`` and the
        column ``claim.along``. Rows of `cobandit.stats.paired_contrasts`, with
        ``against`` and ``measure``, are used if present.

    Returns
    -------
    str
        ``"holds"``, ``"fails"``, ``"not separated"``, or ``"cannot be checked"`` if the
        table lacks a method, a second data set or a feasible run.

    Examples
    --------
    >>> from companion.paper import claims
    >>> means = np.array([60.0, 169.0])
    >>> frame = pd.DataFrame({"method": ["CoHVUCB", "UniformAllocation"], "rho": 32.0})
    >>> frame = frame.assign(dataset="piqa", mean=means, low=means - 2, high=means + 2)
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-beats-uniform-at-the-end")
    >>> judge_claim(claim, frame)
    'holds'
    """
    frame = claim.select(frame)
    if not {*claim.methods, *claim.against} <= set(frame["method"]):
        return UNKNOWN

    comparisons = _compare(claim, _Cells(claim, frame))
    decided = [verdict for verdict in comparisons if verdict != UNKNOWN]
    if not decided:
        return UNKNOWN

    # the claim is that each method is better somewhere
    if claim.relation == "undecided":
        if {HOLDS, FAILS} <= set(decided):
            return HOLDS
        is_one_sided = len(set(decided)) == 1 and decided[0] != NOT_SEPARATED
        return FAILS if is_one_sided else NOT_SEPARATED

    if claim.at == "most":
        for verdict in (HOLDS, FAILS):
            if decided.count(verdict) > len(decided) / 2:
                return verdict
        return NOT_SEPARATED

    if FAILS in decided:
        return FAILS
    return HOLDS if set(decided) == {HOLDS} else NOT_SEPARATED


def verdicts(cells: pd.DataFrame) -> pd.Series:
    """Return the verdict on each ordering, from the results of all experiments.

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary`.

    Returns
    -------
    Series
        The verdict by key of the claim, ``"cannot be checked"`` if its results are
        missing.

    Examples
    --------
    >>> import cobandit as cb
    >>> from companion.paper import experiment_cells, experiments
    >>> runs = experiments.play("online", cb.load("synthetic-24"), replications=5)
    >>> cells = experiment_cells.cells(runs, "online", "efficiency_regret")
    >>> judged = verdicts(cells.assign(dataset="gsm8k"))
    >>> judged["CoHVUCB-least-standard-regret"]
    'cannot be checked'
    """
    cells = cells.reindex(columns=[*dict.fromkeys([*cells, "spent"])])
    by_claim = {}
    for claim in claims():
        part = cells[
            (cells["experiment"] == claim.experiment)
            & (cells["quantity"] == claim.quantity)
        ]
        is_along = part["spent"].isna() == (claim.along == "rho")
        by_claim[claim.key] = judge_claim(claim, part[is_along])
    return pd.Series(by_claim)


#: A data set and a budget.
Setting = tuple[str, float]


class _Cells:
    """Results that a claim is about, with their intervals.

    The key of a result is a tuple of data set, budget, method, costs, other method and
    measure. Costs are None unless the claim is about costs. The other method and the
    measure are None unless the result is a comparison.
    """

    def __init__(self, claim: Claim, frame: pd.DataFrame):
        columns = ["dataset", claim.along, "method", "costs", "against", "measure"]
        frame = frame.dropna(subset=["mean", "low", "high"])
        if claim.relation != "unchanged":
            frame = frame.assign(costs=None)
        self.cells = by_place(frame, columns)
        self.single = {place[:4] for place in self.cells if place[4] is None}
        self.at = claim.at

    def shared(self, *datasets: str) -> list[float]:
        """Return the budgets at which every method has a value on each data set."""
        needed = {
            (dataset, *rest) for dataset, _, *rest in self.single if dataset in datasets
        }
        budgets = sorted({budget for _, budget, *_ in self.single})
        return [
            budget
            for budget in budgets
            if all((dataset, budget, *rest) in self.single for dataset, *rest in needed)
        ]

    def budgets(self, *datasets: str) -> list[float]:
        """Return the budgets that the claim is about."""
        shared = self.shared(*datasets)
        if self.at == "largest":
            return shared[-1:]
        if self.at == "smallest":
            return shared[:1]
        return sorted(
            {budget for dataset, budget, *_ in self.single if dataset in datasets}
        )

    def __call__(
        self, dataset: str, budget: float, method: str, costs: str | None = None
    ) -> DerivedValue:
        return self.cells.get((dataset, budget, method, costs, None, None), NOTHING)

    def compare(
        self, dataset: str, budget: float, first: str, second: str, measure: str
    ) -> DerivedValue:
        """Return the difference or ratio of two methods, paired where possible."""
        setting = dataset, budget
        if paired := self.cells.get((*setting, first, None, second, measure)):
            return paired
        if reverse := self.cells.get((*setting, second, None, first, measure)):
            return derive(measure, EQUAL[measure], reverse)
        return derive(measure, self(*setting, first), self(*setting, second))


def _compare(claim: Claim, cells: _Cells) -> Iterator[str]:
    """Yield the verdict on each comparison of two means that a claim makes."""
    if claim.compares_datasets:
        first, second = claim.datasets
        for budget in cells.budgets(first, second):
            yield from _advantages(claim, cells, (first, budget), (second, budget))
        return

    for dataset in claim.datasets:
        if claim.relation == "growing advantage":
            budgets = cells.shared(dataset)
            if len(budgets) > 1:
                largest = dataset, budgets[-1]
                smallest = dataset, budgets[0]
                yield from _advantages(claim, cells, largest, smallest)
            continue

        compare = COMPARISONS[claim.relation]
        for budget in cells.budgets(dataset):
            yield from compare(claim, cells, (dataset, budget))


def _advantages(
    claim: Claim, cells: _Cells, first: Setting, second: Setting
) -> Iterator[str]:
    """Yield whether each advantage is positive and larger than in another setting.

    The advantage in the ``first`` setting must be positive, and larger than the
    advantage in the ``second`` setting.
    """
    measure = str(claim.measure)
    # in this order, a positive difference is an advantage of the first method
    for pair in product(claim.methods, claim.against):
        ordered = pair if claim.direction == "higher" else pair[::-1]
        advantage = cells.compare(*first, *ordered, measure)
        elsewhere = cells.compare(*second, *ordered, measure)
        yield _each(
            _better(derive("difference", advantage, EQUAL[measure])),
            _better(derive("difference", advantage, elsewhere)),
        )


def _compare_unchanged(claim: Claim, cells: _Cells, setting: Setting) -> Iterator[str]:
    """Yield whether declared and realised costs give comparable results, by method."""
    for method in claim.methods:
        realised = cells(*setting, method, "realised")
        declared = cells(*setting, method, "declared")
        pair = (*setting, method, "realised", "declared", "difference")
        difference = cells.cells.get(pair) or derive("difference", realised, declared)
        yield _comparable(realised, declared, difference)


def _compare_nearer(claim: Claim, cells: _Cells, setting: Setting) -> Iterator[str]:
    """Yield whether the method is nearer to ``against[0]`` than to ``against[1]``."""
    (method,) = claim.methods
    first, second = (
        _size(cells.compare(*setting, method, name, "difference"))
        for name in claim.against
    )
    yield _better(derive("difference", second, first))


def _compare_better(claim: Claim, cells: _Cells, setting: Setting) -> Iterator[str]:
    """Yield whether the first method of each pair is better."""
    for pair in product(claim.methods, claim.against):
        difference = cells.compare(*setting, *pair, "difference")
        yield _better(difference, claim.direction == "higher")


def _compare_comparable(claim: Claim, cells: _Cells, setting: Setting) -> Iterator[str]:
    """Yield whether the methods of each pair are comparable."""
    for pair in product(claim.methods, claim.against):
        first, second = (cells(*setting, name) for name in pair)
        difference = cells.compare(*setting, *pair, "difference")
        yield _comparable(first, second, difference)


def _compare_keeping_up(claim: Claim, cells: _Cells, setting: Setting) -> Iterator[str]:
    """Yield whether the first method of each pair is ahead or comparable."""
    for pair in product(claim.methods, claim.against):
        first, second = (cells(*setting, name) for name in pair)
        is_higher = first.mean > second.mean
        is_lower = first.mean < second.mean
        is_ahead = is_higher if claim.direction == "higher" else is_lower
        difference = cells.compare(*setting, *pair, "difference")
        yield HOLDS if is_ahead else _comparable(first, second, difference)


#: Comparisons in one setting, by the relation of the claim.
COMPARISONS: dict[str, Callable[[Claim, _Cells, Setting], Iterator[str]]] = {
    "better": _compare_better,
    "undecided": _compare_better,
    "keeps up": _compare_keeping_up,
    "comparable": _compare_comparable,
    "unchanged": _compare_unchanged,
    "nearer": _compare_nearer,
}


def _each(*verdicts: str) -> str:
    """Return the verdict on a claim of several statements: its worst verdict."""
    return next(
        verdict
        for verdict in (FAILS, UNKNOWN, NOT_SEPARATED, HOLDS)
        if verdict in verdicts
    )


def _better(apart: DerivedValue, higher: bool = True) -> str:
    if np.isnan(apart).any():
        return UNKNOWN
    if apart.low <= 0 <= apart.high:
        return NOT_SEPARATED
    return HOLDS if (apart.low > 0) == higher else FAILS


def _comparable(a: DerivedValue, b: DerivedValue, apart: DerivedValue) -> str:
    if abs(a.mean - b.mean) <= CLOSE * max(abs(a.mean), abs(b.mean)):
        return HOLDS
    verdict = _better(apart)
    return verdict if verdict in (UNKNOWN, NOT_SEPARATED) else FAILS


def _size(apart: DerivedValue) -> DerivedValue:
    ends = sorted((abs(apart.low), abs(apart.high)))
    return DerivedValue(
        abs(apart.mean), 0.0 if apart.low <= 0 <= apart.high else ends[0], ends[1]
    )
