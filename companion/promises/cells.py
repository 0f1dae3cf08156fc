"""Tests of all promises of the library about errors.

A promise is that at most a given share of runs is wrong. A test counts runs and wrong
runs. A subject is a module that tests some promises in cells. A cell is a way to draw
tables, with the options of the method under test. The module has the names of its cells
(``CELLS``) and a function ``play(cell, runs, rng)``, which returns one `Outcome` per
promise of the cell. To add a subject, write such a module and add it to `SUBJECTS`.
"""

import zlib
from typing import Protocol

import numpy as np
import pandas as pd
from scipy import stats

from companion.promises import certified, limits, races, shared
from companion.promises.outcomes import Outcome

#: Number of runs of each cell.
RUNS = 150
#: Level of the intervals of the shares of wrong runs.
LEVEL = 0.95
SEED = 0


class Subject(Protocol):
    """A module that tests promises."""

    CELLS: tuple[str, ...]

    def play(self, cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
        """Run the test of a cell and return one outcome per promise.

        A cell is one way to draw tables.
        """


#: Subjects by the name of their section in the results.
SUBJECTS: dict[str, Subject] = {
    "race": races,
    "certified": certified,
    "limits": limits,
    "shared": shared,
}


def list_cells() -> list[tuple[str, str]]:
    """Return all pairs of a section and one of its cells.

    A section is a group of tests, and a cell is one way to draw tables.

    Examples
    --------
    >>> ("race", "ladder, K = 20, tolerance 0.02") in list_cells()
    True
    """
    return [
        (section, cell)
        for section, subject in SUBJECTS.items()
        for cell in subject.CELLS
    ]


def play(section: str, cell: str, runs: int, seed: int = SEED) -> pd.DataFrame:
    """Run the test of a cell, and count runs and wrong runs for each promise.

    A cell is one way to draw tables, with options of the method under test.

    Parameters
    ----------
    section : str
        A key of `SUBJECTS`.
    cell : str
        One of the ``CELLS`` of the subject.
    runs, seed : int

    Returns
    -------
    DataFrame
        One row per promise: ``section``, ``cell``, and the fields of `Outcome`.
    """
    rng = np.random.default_rng([seed, zlib.crc32(cell.encode())])
    outcomes = SUBJECTS[section].play(cell, runs, rng)
    return pd.DataFrame(
        [
            {"section": section, "cell": cell, **outcome._asdict()}
            for outcome in outcomes
        ]
    )


def try_cell(section: str, cell: str) -> pd.DataFrame:
    """Test all promises of a cell (a way to draw tables), with `RUNS` runs."""
    return play(section, cell, RUNS)


def add_intervals(tried: pd.DataFrame) -> pd.DataFrame:
    """Add the share of wrong runs, its interval, and whether the promise is refuted.

    Parameters
    ----------
    tried : DataFrame
        Result of `play`.

    Returns
    -------
    DataFrame
        The same rows with the columns ``share``, ``low`` and ``high`` (its
        Clopper-Pearson interval), and ``refuted``, which is true if the whole interval
        is above the allowed share.

    Examples
    --------
    >>> tried = pd.DataFrame({"runs": [100, 100], "wrong": [0, 20], "allowed": 0.05})
    >>> add_intervals(tried)[["low", "high", "refuted"]].round(3).values.tolist()
    [[0.0, 0.036, False], [0.127, 0.292, True]]
    """
    runs = tried["runs"].to_numpy()
    wrong = tried["wrong"].to_numpy()
    tail = (1 - LEVEL) / 2
    right = np.maximum(runs - wrong, 1)
    lower = stats.beta.ppf(tail, np.maximum(wrong, 1), runs - wrong + 1)
    low = np.where(wrong > 0, lower, 0.0)
    high = np.where(wrong < runs, stats.beta.isf(tail, wrong + 1, right), 1.0)
    refuted = low > tried["allowed"].to_numpy()
    return tried.assign(share=wrong / runs, low=low, high=high, refuted=refuted)
