"""Checks of a table for common problems, each with a number and a remedy."""

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
    """Check a table for common problems, and return one finding per cause.

    The checks look for

    * configurations with constant scores, and duplicates,
    * instances on which all configurations have equal scores,
    * free evaluations with a made-up cost, and mean costs that depend on a single
      evaluation or on a heavy tail,
    * flawed evaluations, such as answers that were cut off,
    * columns with many values equal to the best one, such as latencies of zero,
    * objectives that order configurations alike,
    * too few instances, clusters of instances, and configurations that share no
      instance,
    * evaluations that are missing on hard (or easy) instances,
    * mean costs of the profiling split that mislead about the best configuration.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.

    Returns
    -------
    list of Finding
        Findings are not errors, and an empty list does not prove that a table is sound.

    Notes
    -----
    Time O(N log N) for N rows.

    Examples
    --------
    >>> import cobandit as cb
    >>> doctor(cb.load("synthetic-24"))
    []
    """
    _validation.table(table)
    rows = table.rows
    return [finding for check in CHECKS for finding in check(table, rows)]
