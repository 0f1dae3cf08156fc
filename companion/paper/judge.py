"""How far a table of results bears out a claim of the paper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from companion.paper.derived import EQUAL, DerivedValue, derive

#: Quantities of which more is better; of all others, less.
HIGHER = ("f1", "correct")


@dataclass(frozen=True)
class Claim:
    """One ordering that the paper states in words.

    Attributes
    ----------
    key, says, place : str
        Its name, what it says in our words, and where.
    experiment, quantity, datasets, costs
        As in `Published`; on which datasets it is claimed.
    methods, against : tuple of str
        Each of ``methods`` stands in the relation to each of ``against``.
    relation : str
        ``"better"``; ``"keeps up"`` (better or comparable); ``"comparable"``;
        ``"unchanged"`` (comparable under declared and realised costs); ``"undecided"``
        (each is better somewhere); ``"nearer"`` (to the first of ``against`` than to
        the second); ``"growing advantage"`` (an advantage at the largest budget, and a
        larger one than at the smallest); ``"larger advantage"`` (an advantage on the
        first dataset, and a larger one than on the second).
    at : {"all", "most", "largest", "smallest"}
        At which budgets.
    along : {"rho", "spent"}
        Column that holds the budget: ``"spent"`` along a trajectory.
    measure : {"ratio", "difference", None}
        How an advantage is measured.

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
        """Whether it holds one dataset against another."""
        return self.relation == "larger advantage"

    @property
    def direction(self) -> str:
        """``"higher"`` or ``"lower"``: which values of the quantity are better."""
        return "higher" if self.quantity in HIGHER else "lower"

    def select(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Cut cells of the claim's quantity to its datasets, methods and costs."""
        named = cells["method"].isin(self.methods + self.against)
        own = cells[cells["dataset"].isin(self.datasets) & named]
        return own if self.costs is None else own[own["costs"] == self.costs]


@cache
def claims() -> tuple[Claim, ...]:
    """All claims, in the order of the paper.

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


# ----------------------------------------------- how far a table bears them out
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
    """Estimates of cells by these coordinates, each None where it does not apply."""
    places = cells.reindex(columns=list(columns)).astype(object)
    places = places.where(places.notna(), None)
    ends = map(
        DerivedValue._make,
        cells[["mean", "low", "high"]].itertuples(index=False, name=None),
    )
    return dict(zip(places.itertuples(index=False, name=None), ends, strict=True))


def judge_claim(claim: Claim, frame: pd.DataFrame) -> str:
    """Judge a claim by a table of means with intervals.

    A comparison holds where the interval of the difference lies on the claimed side of
    zero, fails where it lies on the other, and is not separated where it contains zero.
    The interval is that of the replications' differences, as all methods see the same
    evaluations; without it, what the intervals of both means allow. Means are
    comparable where they differ by at most a tenth of the larger; where they differ by
    more, that fails if the interval excludes zero.  Advantages and distances are
    compared by whether their intervals are disjoint; the larger of two advantages has
    to be one, so that less of a disadvantage is none.  A claim of several comparisons
    holds where each does and fails where one does (at most budgets: where more than
    half do).  The largest and the smallest budget are those at which every method has a
    feasible run.

    Parameters
    ----------
    claim : Claim
    frame : DataFrame
        As `cobandit.stats.summaries.summarise` returns it: ``dataset``, ``method``,
        ``mean``, ``low``, ``high`` and the column ``claim.along``, one row per cell;
        with ``against`` and ``measure`` also the paired comparisons of
        `cobandit.stats.paired_contrasts`.  The values are those of the claim's
        quantity: for ``"error"`` one minus the share that is correct.

    Returns
    -------
    str
        ``"holds"``, ``"fails"``, ``"not separated"`` or, where the table lacks what the
        claim is about (a method, a second dataset, a feasible run), ``"cannot be
        checked"``.

    Examples
    --------
    >>> from companion.paper import claims
    >>> frame = pd.DataFrame({"method": ["CoHVUCB", "UniformAllocation"], "rho": 32.0, "mean": [60.0, 169.0]})
    >>> frame = frame.assign(dataset="piqa", low=frame["mean"] - 2, high=frame["mean"] + 2)
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-beats-uniform-at-the-end")
    >>> judge_claim(claim, frame)
    'holds'
    """
    frame = claim.select(frame)
    if not {*claim.methods, *claim.against} <= set(frame["method"]):
        return UNKNOWN

    known = [
        verdict
        for verdict in _compare(claim, _Cells(claim, frame))
        if verdict != UNKNOWN
    ]
    if not known:
        return UNKNOWN
    if claim.relation == "undecided":
        if {HOLDS, FAILS} <= set(known):
            return HOLDS
        return (
            FAILS
            if len(set(known)) == 1 and known[0] != NOT_SEPARATED
            else NOT_SEPARATED
        )
    if claim.at == "most":
        many = [
            verdict
            for verdict in (HOLDS, FAILS)
            if known.count(verdict) > len(known) / 2
        ]
        return many[0] if many else NOT_SEPARATED
    if FAILS in known:
        return FAILS

    return HOLDS if set(known) == {HOLDS} else NOT_SEPARATED


def verdicts(cells: pd.DataFrame) -> pd.Series:
    """Judge every claim by the means of whole experiments.

    Parameters
    ----------
    cells : DataFrame
        As `companion.paper.experiments.summary` returns it.

    Returns
    -------
    Series
        The verdict by claim key; a claim about cells that are not there cannot be
        checked.

    Examples
    --------
    >>> import cobandit as cb
    >>> from companion.paper import experiments
    >>> runs = experiments.play("online", cb.load("synthetic-24"), replications=5)
    >>> cells = experiments.cells(runs, "online", "efficiency_regret").assign(dataset="gsm8k")
    >>> set(verdicts(cells)) <= {"holds", "fails", "not separated", "cannot be checked"}
    True
    """
    cells = cells.reindex(columns=[*dict.fromkeys([*cells, "spent"])])
    found = {}
    for claim in claims():
        part = cells[
            (cells["experiment"] == claim.experiment)
            & (cells["quantity"] == claim.quantity)
        ]
        found[claim.key] = judge_claim(
            claim, part[part["spent"].isna() == (claim.along == "rho")]
        )
    return pd.Series(found)


class _Cells:
    """Cells of a claim by dataset, budget, method, costs where they matter, and pair: against, measure."""

    def __init__(self, claim: Claim, frame: pd.DataFrame):
        columns = ["dataset", claim.along, "method", "costs", "against", "measure"]
        frame = frame.dropna(subset=["mean", "low", "high"])
        self.cells = by_place(
            frame if claim.relation == "unchanged" else frame.assign(costs=None),
            columns,
        )
        self.single = {place[:4] for place in self.cells if place[4] is None}
        self.at = claim.at

    def shared(self, *datasets: str) -> list[float]:
        """Budgets, in order, at which every method has something to show on every one of the datasets."""
        needed = {
            (dataset, *rest) for dataset, _, *rest in self.single if dataset in datasets
        }
        budgets = sorted({budget for _, budget, *_ in self.single})
        return [
            b
            for b in budgets
            if all((dataset, b, *rest) in self.single for dataset, *rest in needed)
        ]

    def budgets(self, *datasets: str) -> list[float]:
        """Return the budgets that the claim is about."""
        shared = self.shared(*datasets)
        every = {at for dataset, at, *_ in self.single if dataset in datasets}
        return {"largest": shared[-1:], "smallest": shared[:1]}.get(
            self.at, sorted(every)
        )

    def __call__(
        self, dataset: str, budget: float, method: str, costs: str | None = None
    ) -> DerivedValue:
        return self.cells.get((dataset, budget, method, costs, None, None), NOTHING)

    def compare(
        self, dataset: str, budget: float, first: str, second: str, by: str
    ) -> DerivedValue:
        """By how much, or how many times, the first exceeds the second; of pairs where they are known."""
        if known := self.cells.get((dataset, budget, first, None, second, by)):
            return known
        if known := self.cells.get((dataset, budget, second, None, first, by)):
            return derive(by, EQUAL[by], known)
        return derive(by, self(dataset, budget, first), self(dataset, budget, second))


def _compare(claim: Claim, cells: _Cells) -> Iterator[str]:
    """Return the verdict on each comparison that a claim makes."""
    higher = claim.direction == "higher"
    pairs = list(product(claim.methods, claim.against))

    def more(first: tuple[str, float], second: tuple[str, float]) -> Iterator[str]:
        """Whether each pair's first is better at the first of two places, and by more than at the second."""
        measure = str(claim.measure)
        for pair in pairs:
            ends = pair if higher else pair[::-1]
            a, b = (cells.compare(*at, *ends, measure) for at in (first, second))
            yield _each(
                _better(derive("difference", a, EQUAL[measure])),
                _better(derive("difference", a, b)),
            )

    if claim.compares_datasets:
        one, other = claim.datasets
        for budget in cells.budgets(one, other):
            yield from more((one, budget), (other, budget))
        return
    for dataset in claim.datasets:
        if claim.relation == "growing advantage":
            if len(shared := cells.shared(dataset)) > 1:
                yield from more((dataset, shared[-1]), (dataset, shared[0]))
            continue
        for place in ((dataset, budget) for budget in cells.budgets(dataset)):
            if claim.relation == "unchanged":
                for method in claim.methods:
                    a, b = (
                        cells(*place, method, costs)
                        for costs in ("realised", "declared")
                    )
                    known = cells.cells.get(
                        (*place, method, "realised", "declared", "difference")
                    )
                    yield _comparable(a, b, known or derive("difference", a, b))
            elif claim.relation == "nearer":
                (method,) = claim.methods
                a, b = (
                    _size(cells.compare(*place, method, name, "difference"))
                    for name in claim.against
                )
                yield _better(derive("difference", b, a))
            else:
                for pair in pairs:
                    a, b = (cells(*place, name) for name in pair)
                    apart = cells.compare(*place, *pair, "difference")
                    ahead = a.mean > b.mean if higher else a.mean < b.mean
                    if claim.relation in ("better", "undecided"):
                        yield _better(apart, higher)
                    else:  # who keeps up is ahead or comparable
                        yield (
                            HOLDS
                            if claim.relation == "keeps up" and ahead
                            else _comparable(a, b, apart)
                        )


def _each(*verdicts: str) -> str:
    """Return the verdict on several things claimed together: the first of these that any of them has."""
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
