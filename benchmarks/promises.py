"""Test every error probability that the library promises, by simulation.

    python benchmarks/promises.py            # all
    python benchmarks/promises.py race       # one section

This takes a few minutes on two cores. A cell is a setting of a simulation. The program
prints one row per cell and promise: the number of wrong runs, the 95 % Clopper-Pearson
interval of their share, and the allowed share. If the interval refutes a promise, the
row is marked with ``!``, and the exit code is 1.
"""

from __future__ import annotations

import sys

import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table

from companion.promises.cells import add_intervals, list_cells, try_cell


def print_table(tried: pd.DataFrame) -> None:
    """Print one row per cell and promise."""
    table = Table("section", "cell", "promise", "wrong", "95 % interval", "allowed", "")
    for row in tried.itertuples():
        table.add_row(
            row.section,
            row.cell,
            row.promise,
            f"{row.wrong} of {row.runs}",
            f"{row.low:.3f} to {row.high:.3f}",
            "" if pd.isna(row.allowed) else f"{row.allowed:g}",
            "!" if row.refuted else "",
        )
    Console(width=150).print(table)


def main(sections: list[str]) -> int:
    """Test the cells of some or all sections. Return the number of refutations."""
    chosen = [part for part in list_cells() if not sections or part[0] in sections]
    parts = Parallel(n_jobs=2)(delayed(try_cell)(*part) for part in chosen)
    tried = add_intervals(pd.concat(parts, ignore_index=True))
    print_table(tried)
    return int(tried["refuted"].sum())


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
