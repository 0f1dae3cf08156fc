"""Error probabilities at many more replays than the paper's, in the place of those at its own."""

from __future__ import annotations

from typing import Any

import pandas as pd

from cobandit.stats.contrasts import ratio_of_counts
from cobandit.stats.metrics import proportion_interval
from cobandit.stats.paired_errors import paired_difference

#: The method that the audit compares with each other one.
FIRST = "CoPSI"
PLACE = ["dataset", "rho", "method"]


def error_cells(counts: pd.DataFrame) -> pd.DataFrame:
    """Give joint counts of errors in the form of `cobandit.companion.paper.experiments.cells`.

    Parameters
    ----------
    counts : DataFrame
        As `cobandit.stats.paired_errors.joint_errors` returns them, and ``dataset``; blocks are
        added up, and variants of a method left out.

    Returns
    -------
    DataFrame
        Experiment ``"identification"``, quantity ``"error"``, declared costs: one row per dataset, budget and
        method with Wilson's interval, and CoPSI against each other method with Tango's for the difference
        and the bootstrap's for the ratio.

    Examples
    --------
    >>> counts = {"dataset": "piqa", "rho": 5000.0, "method": "PSISR", "options": "", "n": 5000}
    >>> counts = pd.DataFrame([counts | {"first": 820, "second": 740, "both": 500}])
    >>> error_cells(counts)[["method", "measure", "mean"]].round(3).fillna("").to_numpy().tolist()
    [['CoPSI', '', 0.164], ['PSISR', '', 0.148], ['CoPSI', 'difference', 0.016], ['CoPSI', 'ratio', 1.108]]
    """
    numbers = ["n", "first", "second", "both"]
    plain = counts[counts["options"] == ""]
    means: dict[tuple[Any, ...], dict[str, Any]] = {}
    pairs: list[dict[str, Any]] = []
    summed = plain.groupby(PLACE, sort=False)[numbers].sum().reset_index()
    for dataset, rho, method, n, first, second, both in summed.to_numpy():
        place = {"dataset": dataset, "rho": rho, "runs": n}
        for name, errors in ((FIRST, first), (method, second)):
            low, high = proportion_interval(errors, n)
            means[dataset, rho, name] = place | {"method": name, "mean": errors / n, "low": low, "high": high}
        compared = {
            "difference": paired_difference(first - both, second - both, n),
            "ratio": ratio_of_counts(first, second, both, n),
        }
        for measure, values in compared.items():
            pair = {"method": FIRST, "against": method, "measure": measure}
            pairs.append(place | pair | dict(zip(("mean", "low", "high"), values, strict=True)))
    found = pd.DataFrame([*means.values(), *pairs])
    return found.assign(experiment="identification", quantity="error", costs="declared")


def with_audit_errors(cells: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Put the errors of an audit in the place of those that fewer replays gave.

    Parameters
    ----------
    cells : DataFrame
        As `cobandit.companion.paper.experiments.summary` returns it.
    counts : DataFrame
        As for `error_cells`; datasets of which ``cells`` has nothing are left out.

    Returns
    -------
    DataFrame
        The cells by which claims in words are judged: ``runs`` says how many replays stand behind each.

    Examples
    --------
    >>> from cobandit.companion.stored import results
    >>> cells = with_audit_errors(results.read_result("replication"), results.read_result("audit"))
    >>> int(cells.loc[cells["experiment"] == "identification", "runs"].min())
    10000
    """
    fewer = (cells["experiment"] == "identification") & (cells["quantity"] == "error")
    more = error_cells(counts[counts["dataset"].isin(cells.loc[fewer, "dataset"])])
    kept = ~(fewer & cells["dataset"].isin(more["dataset"]))
    return pd.concat([cells[kept], more], ignore_index=True)
