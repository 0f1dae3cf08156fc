"""What one drawn table plays."""

from __future__ import annotations

import pandas as pd

from cobandit.companion.reconstruction import chain
from cobandit.companion.reconstruction.experiment import DEFAULT, play, read
from cobandit.companion.reconstruction.hierarchy import SETTINGS
from cobandit.companion.reconstruction.other import OTHER

PLAY_SEED = 10**6
"""Seeds of the plays start here: none of the replays of a page uses them."""
READ = 200
"""Other readings are played on tables with smaller numbers."""


def played(name: str, kind: str, number: int) -> pd.DataFrame:
    """Draw a table and play the paper's experiments on it, if it is kept.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    kind : {"table", "prior", "other"}
    number : int
        The seed of the table.

    Returns
    -------
    DataFrame
        One row per value: ``dataset``, ``kind``, ``number``, ``reading``, ``key`` and ``value``; the first is
        whether the table is ``kept``, and the only one if it is not.
    """
    if kind == "prior":
        drawn = chain.draw_prior(name, number)
    else:
        drawn = chain.draw(name, number, OTHER if kind == "other" else chain.HIERARCHY)
    kept = kind == "prior" or drawn.kept
    seed = PLAY_SEED * (1 + list(SETTINGS).index(name)) + number
    values = {DEFAULT: {"kept": float(kept)}}
    if kept:
        values[DEFAULT] |= play(name, drawn.land, seed)
    if kept and kind == "table" and number < READ:
        values |= read(name, drawn.land, seed)
    rows = [(reading, key, value) for reading, own in values.items() for key, value in own.items()]
    frame = pd.DataFrame(rows, columns=["reading", "key", "value"])
    return frame.assign(dataset=name, kind=kind, number=number)
