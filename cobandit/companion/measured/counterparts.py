"""The measured tables in the place of the paper's: its claims about those, judged on these."""

from __future__ import annotations

import pandas as pd

from cobandit.companion import paper

#: Sums in words for GSM8K, PIQA for PIQA.
STANDS_FOR = {"word-sums": "gsm8k", "piqa-small": "piqa"}


def judge(cells: pd.DataFrame) -> pd.Series:
    """Judge the paper's claims by the ledger's rules, with measured tables in the place of the paper's.

    Parameters
    ----------
    cells : DataFrame
        As `cobandit.companion.paper.experiments.summary`, with ``dataset``, or some experiments of it.

    Returns
    -------
    Series
        As `cobandit.companion.paper.verdicts`: of each claim about an experiment that is there.

    Examples
    --------
    >>> import cobandit as cb
    >>> from cobandit.companion.paper import experiments
    >>> runs = experiments.play("online", cb.load("piqa-small"), replications=3)
    >>> found = judge(experiments.cells(runs, "online", "standard_regret").assign(dataset="piqa-small"))
    >>> found["standard-advantage-larger-on-piqa"]  # than on GSM8K: needs both tables
    'cannot be checked'
    """
    found = paper.verdicts(cells.assign(dataset=cells["dataset"].replace(STANDS_FOR)))
    there = set(cells["experiment"])
    return found[[claim.key for claim in paper.claims() if claim.experiment in there]]
