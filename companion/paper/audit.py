"""Identification errors of the audit: the same experiment with many more replays."""

from typing import Any

import pandas as pd

from cobandit.stats.contrasts import ratio_of_counts
from cobandit.stats.paired_errors import paired_difference
from cobandit.stats.summaries import proportion_interval


def with_audit_errors(cells: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Replace identification errors from few replays by errors from the audit.

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary`.
    counts : DataFrame
        Counts of errors from the audit: results of
        `cobandit.stats.paired_errors.joint_errors` for CoPSI and each other method,
        with a column ``dataset``. Rows of the same data set, budget and method are
        summed. Methods with options, and data sets that are not in ``cells``, are left
        out.

    Returns
    -------
    DataFrame
        The columns of ``cells``. In the replaced rows, ``runs`` is the number of
        audited replays. Intervals are Wilson's for errors, Tango's for differences
        between CoPSI and another method, and the bootstrap's for ratios.

    Examples
    --------
    >>> from companion.stored import results
    >>> cells = results.read_result("replication")
    >>> cells = with_audit_errors(cells, results.read_result("audit"))
    >>> int(cells.loc[cells["experiment"] == "identification", "runs"].min())
    10000
    """
    is_replaced = (cells["experiment"] == "identification") & (
        cells["quantity"] == "error"
    )
    plain = counts[
        (counts["options"] == "")
        & counts["dataset"].isin(cells.loc[is_replaced, "dataset"])
    ]

    keys = ["dataset", "rho", "method"]
    totals = plain.groupby(keys, sort=False)[["n", "first", "second", "both"]].sum()
    rows: list[tuple[Any, ...]] = []
    for row in totals.reset_index().to_numpy():
        dataset, rho, method, n, first, second, joint = row
        cell = dataset, rho, n
        for name, errors in (("CoPSI", first), (method, second)):
            interval = proportion_interval(errors, n)
            rows.append((*cell, name, None, None, errors / n, *interval))
        difference = paired_difference(first - joint, second - joint, n)
        rows.append((*cell, "CoPSI", method, "difference", *difference))
        ratio = ratio_of_counts(first, second, joint, n)
        rows.append((*cell, "CoPSI", method, "ratio", *ratio))

    columns = [
        "dataset",
        "rho",
        "runs",
        "method",
        "against",
        "measure",
        "mean",
        "low",
        "high",
    ]
    errors_of_audit = pd.DataFrame(rows, columns=columns).drop_duplicates(columns[:6])
    errors_of_audit = errors_of_audit.assign(
        experiment="identification", quantity="error", costs="declared"
    )
    return pd.concat(
        [
            cells[~(is_replaced & cells["dataset"].isin(errors_of_audit["dataset"]))],
            errors_of_audit,
        ],
        ignore_index=True,
    )
