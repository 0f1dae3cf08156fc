"""Which pages a table gets, with which parameters: budgets from its costs, replications from its size."""

from __future__ import annotations

from typing import Any

from cobandit import _check, theory
from cobandit.advice.recommendation import REDRAWS
from cobandit.advice.words import amount
from cobandit.companion.paper.experiments import (
    FULL_SET_RHO,
    IDENTIFICATION_RHO,
    ONLINE_RHO,
    structured_subset,
)
from cobandit.companion.report.manifest import Page
from cobandit.companion.report.pages import KEPT_FRAMES
from cobandit.tables import EvaluationTable

#: Seconds that the replays of one page may take on one core, estimated: beyond it replications are fewer.
SECONDS = {"fast": 60.0, "full": 900.0}
#: Fewer replications than this are no experiment: the page is left out.
LEAST = {"fast": 5, "full": 20}

#: Measured on one core: one pull online and in identification, one elimination of K arms over K^3 at its
#: slowest (few evaluations, many ties).
PULL, SAMPLE, ELIMINATE = 60e-9, 30e-9, 1e-9


def ladder(start: float, steps: int) -> list[int]:
    """Budgets 1, 2, 5, 10, ... from the first that is at least ``start``.

    Examples
    --------
    >>> ladder(20, 8) == list(IDENTIFICATION_RHO), ladder(10, 5) == list(FULL_SET_RHO)
    (True, True)
    >>> ladder(1611, 3)
    [2000, 5000, 10000]
    """
    rungs = (digit * 10**power for power in range(300) for digit in (1, 2, 5))
    found: list[int] = []
    for rung in rungs:
        if rung >= start:
            found.append(rung)
        if len(found) == steps:
            break
    return found


def _budgets(arms: EvaluationTable, least: tuple[int, ...]) -> list[int]:
    """As many budgets as the paper takes, from the first at which CoPSI can run, or from the paper's."""
    smallest = theory.allocation_constant(arms.n_arms, arms.costs.min() / arms.costs.max())
    return ladder(max(smallest, least[0]), len(least))


def _online_seconds(table: EvaluationTable, rhos: tuple[float, ...]) -> float:
    """One replication of one method, at most: every pull might be of the cheapest arm."""
    return PULL * sum(rhos) * float(table.costs.sum() / table.costs.min())


def _found_seconds(arms: EvaluationTable, rhos: list[int]) -> float:
    """One replication of the identification algorithms, the largest budget also with two kinds of costs."""
    k = arms.n_arms
    return 2 * (len(rhos) + 2) * ELIMINATE * k**3 + 3 * SAMPLE * k * (sum(rhos) + 2 * max(rhos))


def plan(table: EvaluationTable, *, fast: bool, seed: int, pages: list[str] | None = None) -> list[Page]:
    """Choose pages and parameters for a table.

    The full profile takes the paper's replications, the fast one a tenth; either takes fewer where the table
    is so large that a page would replay for longer than `SECONDS`.  The landscape's are redraws, as many as
    the recommendation's.

    Parameters
    ----------
    table : EvaluationTable
    fast : bool
    seed : int
    pages : list of str, optional
        Only these.

    Returns
    -------
    list of Page

    Raises
    ------
    CobanditError
        If a page is not one of the report's.

    Examples
    --------
    >>> import cobandit as cb
    >>> planned = plan(cb.load("synthetic-24"), fast=True, seed=0, pages=["online-results"])
    >>> planned[0].parameters["replications"], planned[0].reason
    (10, None)
    """
    for page in pages or []:
        _check.choice(page, "page of the report", KEPT_FRAMES)
    profile = "fast" if fast else "full"
    arms, seed = structured_subset(table), _check.seed(seed)
    online = _online_seconds(table, ONLINE_RHO)

    def about(page: str, paper: int, seconds: float, **parameters: Any) -> Page:
        """Give the page its replications: the profile's, or as many as fit."""
        wanted = paper // 10 if fast and page != "landscape" else paper
        fitting = int(SECONDS[profile] / seconds)
        if fitting < LEAST[profile]:
            reason = (
                f"one replication on {table.n_arms:,} configurations takes about {amount(seconds)} s, so "
                f"that {LEAST[profile]} of them take more than the {SECONDS[profile]:,.0f} s a page may take"
            )
            return Page(page=page, parameters={}, reason=reason)
        given = {"replications": min(wanted, fitting), "seed": seed, **parameters}
        return Page(page=page, parameters=given)

    def shortened(arms: EvaluationTable, rhos: list[int]) -> list[int]:
        """Leave out the largest budgets, down to three, as long as too few replications would fit."""
        while len(rhos) > 3 and SECONDS[profile] < LEAST[profile] * _found_seconds(arms, rhos):
            rhos = rhos[:-1]
        return rhos

    structured = shortened(arms, _budgets(arms, IDENTIFICATION_RHO))
    full = shortened(table, _budgets(table, FULL_SET_RHO))
    chosen = [
        # as many as the recommendation draws, and the same ones, so that a report gives each share once
        about(
            "landscape", REDRAWS, 2e-8 * table.n_arms * int(table.n_instances.max()) + 1e-9 * table.n_arms**2
        ),
        about(
            "online-results",
            100,
            4 * online + 8 * _online_seconds(table, ONLINE_RHO[-1:]),
            rho=list(ONLINE_RHO),
        ),
        about(
            "identification-results",
            500,
            _found_seconds(arms, structured)
            + _found_seconds(table, full) / 5,  # with a fifth of the replications
            rho=structured,
            full_rho=full,
        ),
    ]
    return [planned for planned in chosen if not pages or planned.page in pages]
