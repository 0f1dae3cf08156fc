"""Checks of a table before it is trusted, each finding with its number and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit import _validation
from cobandit.advice.cost_checks import check_free, check_outlier, check_tail
from cobandit.advice.count_checks import check_counted
from cobandit.advice.findings import Finding
from cobandit.advice.instance_checks import (
    check_clusters,
    check_disjoint,
    check_few,
    check_missing,
    check_profiling,
)
from cobandit.advice.score_checks import (
    check_alike,
    check_best_end,
    check_constant,
    check_duplicates,
    check_same,
)

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: All checks, in the order of their findings.
CHECKS = (
    check_constant,
    check_duplicates,
    check_alike,
    check_free,
    check_counted,
    check_best_end,
    check_outlier,
    check_tail,
    check_same,
    check_few,
    check_missing,
    check_clusters,
    check_disjoint,
    check_profiling,
)


def doctor(table: EvaluationTable) -> list[Finding]:
    """Check a table for common problems, with one finding per cause.

    Looked for are configurations of constant scores, and duplicates; instances that
    tell nothing; costs that an import made up, or that one evaluation or a heavy tail
    dominates; what was counted when the table was made, such as answers that were cut
    off; a mass of values at the best end of a column; objectives that are one thing
    with another; too few instances; evaluations that are missing where it is hard;
    instances that have something in common; configurations that share no instance; a
    profiling split that misleads.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.

    Returns
    -------
    list of Finding
        Nothing in it is an error, and an empty list is no certificate.

    Notes
    -----
    Time O(N log N) for N rows.

    Examples
    --------
    >>> import cobandit as cb
    >>> [(finding.name, round(finding.number, 2)) for finding in doctor(cb.load("synthetic-24"))]
    []
    """
    _validation.table(table)
    rows = table.rows
    return [finding for check in CHECKS for finding in check(table, rows)]
