"""Costs of logged evaluations, also if the cost is zero or was not measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.card import FREE, UNMEASURED
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.log_samples import ModelUse, Sample
from cobandit.tables.importers.logged_runs import LoggedRun
from cobandit.tables.prices import Prices


def charge_free(
    costs: pd.Series,
    configs: pd.Series,
    unit: str,
    smallest: float | None,
    notes: Notes,
) -> pd.Series:
    """Replace costs of zero by a small positive cost.

    Policies need positive costs. An empty answer, for example, has no tokens, but
    leaving it out would bias the means.

    Parameters
    ----------
    costs : Series of float
        Costs, finite and not negative.
    configs : Series of str
        Configuration of each evaluation.
    unit : str
        Unit of the costs, for the report.
    smallest : float or None
        Cost that the user chose for free evaluations. By default 1 if all costs are
        whole numbers, such as tokens, otherwise a thousandth of the median positive
        cost.
    notes : Notes
        Receives the number of free evaluations per configuration, and the cost that
        replaces zero.

    Raises
    ------
    TableError
        If all costs are zero and the user chose no smallest cost.

    Examples
    --------
    >>> configs = pd.Series(["a", "a", "b"])
    >>> costs = pd.Series([0.0, 12.0, 31.0])
    >>> notes = Notes()
    >>> charge_free(costs, configs, "tokens", None, notes).tolist()
    [1.0, 12.0, 31.0]
    >>> notes.counted
    ['cost nothing: 1 of 2 evaluations of a']
    """
    free = costs == 0
    if not free.any():
        return costs

    if smallest is None:
        paid = costs[~free]
        if paid.empty:
            remedy = "use another cost, or replace zeros with --smallest-cost"
            raise_fault(
                "the costs", f"every evaluation costs 0 {unit}", remedy, "all-free"
            )
        is_whole = bool((paid == np.floor(paid)).all())
        smallest = 1.0 if is_whole else float(paid.median()) / 1000

    notes.smallest = smallest
    counted = f"each counts as {smallest:g} {unit} (--smallest-cost)"
    notes.remarks.append(
        f"note: {free.sum():,} of {len(costs):,} evaluations were free; {counted}"
    )
    notes.count(FREE, configs[free], configs)
    return costs.mask(free, smallest)


def settle_unmeasured(logged: pd.DataFrame, how: str, notes: Notes) -> pd.DataFrame:
    """Leave out evaluations of unknown cost, or charge the configuration's mean cost.

    Counting such costs as zero would make a configuration with cached answers look
    cheap.

    Parameters
    ----------
    logged : DataFrame
        Columns ``config``, ``cost`` and ``prompt``; NaN for a cost that was not
        measured.
    how : {"leave-out", "mean"}
    notes : Notes
        Receives the number of these evaluations per configuration.

    Raises
    ------
    TableError
        If no cost was measured.

    Examples
    --------
    >>> costs = [2.0, np.nan, 5.0]
    >>> logged = pd.DataFrame({"config": list("aab"), "cost": costs, "prompt": np.nan})
    >>> settle_unmeasured(logged, "mean", notes := Notes())["cost"].tolist()
    [2.0, 2.0, 5.0]
    >>> notes.counted
    ['cost not measured, charged the mean cost: 1 of 2 evaluations of a']
    """
    unmeasured = logged["cost"].isna()
    if not unmeasured.any():
        return logged

    if unmeasured.all():
        is_timed = "seconds" in logged and logged["seconds"].notna().all()
        timed = "use the time as cost with --cost seconds, or " if is_timed else ""
        raise_fault(
            "the costs",
            "no cost was measured",
            f"{timed}count each evaluation as a cost of 1 with --cost none",
            "no-cost",
        )

    measured = logged["config"].isin(logged["config"][~unmeasured])
    treatment = {"leave-out": "left out", "mean": "charged the mean cost"}[how]
    configs = logged["config"]
    notes.count(UNMEASURED, configs[unmeasured & measured], configs, treatment)
    notes.count(UNMEASURED, configs[~measured], configs, "left out")
    if how == "mean":
        means = logged.groupby("config")[["cost", "prompt"]].transform("mean")
        logged = logged.fillna({"cost": means["cost"], "prompt": means["prompt"]})

    return logged[logged["cost"].notna()].reset_index(drop=True)


class Charge:
    """Computes the cost of samples in the chosen unit.

    It also collects models without a price, for the report.
    """

    def __init__(self, options: LogOptions, prices: Prices, notes: Notes):
        self._options = options
        self._prices = prices
        self._notes = notes
        self._priced = set[str]()
        self._unpriced = set[str]()

    def __call__(self, sample: Sample, place: str) -> tuple[float, float | None]:
        """Return the cost of a sample, and its number of prompt tokens.

        A cost in USD includes the prompt, and the second value is None. Any other cost
        is the number of generated tokens. An unknown cost is NaN.
        """
        for use in sample.used:
            self._notes.doubt(place, use.doubts)
        if self._options.cost == "usd":
            costs = [self._usd(use) for use in sample.used]
            return (sum(costs) if costs else math.nan), None
        usages = [use.usage for use in sample.used if use.usage is not None]
        if not usages or len(usages) < len(sample.used):
            return math.nan, None
        return sum(usage.output for usage in usages), sum(
            usage.prompt for usage in usages
        )

    def _usd(self, use: ModelUse) -> float:
        if use.usd is not None:
            return use.usd
        usd = None if use.usage is None else self._prices.usd(use.usage, use.model)
        if use.usage is not None:
            (self._unpriced if usd is None else self._priced).add(use.model)
        return math.nan if usd is None else usd

    def report(self) -> None:
        """Add remarks on the source of the prices and on models without a price."""
        self._options.note_unpriced(self._unpriced, self._notes)
        if self._priced:
            named = self._prices.describe(
                (model, None) for model in sorted(self._priced)
            )
            self._notes.remarks.append(f"prices: {named}")


def settle_unlogged(
    runs: Sequence[LoggedRun], options: LogOptions, remedy: str, notes: Notes
) -> LogOptions:
    """Let each evaluation cost 1 if a log has no tokens and the user chose no cost."""
    used = [run for run in runs if run.evaluations]
    unlogged = [
        run
        for run in used
        if all(math.isnan(evaluation.cost) for evaluation in run.evaluations)
    ]
    if not unlogged:
        return options

    n_timed = sum(
        bool(evaluation.seconds) for run in used for evaluation in run.evaluations
    )
    remedies = [remedy] if remedy else []
    if n_timed == sum(len(run.evaluations) for run in used):
        remedies.append("--cost seconds uses the time, which all logs have")
    if len(unlogged) < len(used):
        remedies.append("--cost tokens leaves these logs out")
    counted = (
        f"{len(unlogged):,} of {len(used):,} logs ({unlogged[0].file}) have no tokens"
    )
    ending = f" ({'; '.join(remedies)})" if remedies else ""
    notes.remarks.append(f"cost: {counted}, so each evaluation costs 1{ending}")
    return options.model_copy(update={"cost": "none"})
