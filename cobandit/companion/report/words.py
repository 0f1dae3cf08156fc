"""Words that sections of a report share."""

from __future__ import annotations

import pandas as pd

from cobandit.figures import method_label
from cobandit.stats import leaders


def lead(runs: pd.DataFrame, column: str, what: str, most: bool = False) -> dict[str, str]:
    """Say who leads at the smallest and the largest budget at which someone can run, the leader first.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["CoPSI", "PSISR"] * 2, "rho": 20.0, "replication": [0, 0, 1, 1]})
    >>> runs = runs.assign(status="ok", f1=[0.5, 0.6, 0.4, 0.5])
    >>> lead(runs, "f1", "F1", most=True)["largest budget"]
    'PSI-SR (ρ = 20)'
    """
    found = leaders(runs, column, most=most).sort_values("rho")
    row = {"what": what}
    for name, place in {"smallest budget": 0, "largest budget": -1}.items():
        at = found.iloc[place]
        row[name] = f"{', '.join(map(method_label, [at['leader'], *at['level']]))} (ρ = {at['rho']:g})"
    return row
