"""The page of measurements: its cells run on less data and fill every table."""

from pathlib import Path

import jupytext
import pytest
import ratios
import scale

from cobandit import figures
from companion.stored import results

ROOT = Path(__file__).parents[2]


@pytest.mark.acceptance
# the page silences warnings of guarantees by itself
@pytest.mark.filterwarnings("ignore")
def test_cells_of_the_page_run(monkeypatch):
    quick = [
        lambda name=name: {
            "measurement": name,
            "ratio": 2.0,
            "at_least": 1,
            "detail": "",
        }
        for name in "ab"
    ]
    monkeypatch.setattr(ratios, "MEASUREMENTS", quick)
    monkeypatch.setattr(scale, "BASE", {"K": 4, "N": 10, "D": 2, "R": 2})
    monkeypatch.setattr(results, "NAMES", ["synthetic-24"])
    monkeypatch.chdir(ROOT / "book")
    shown = {}
    monkeypatch.setattr(
        figures,
        "show_table",
        lambda frame, caption, **_: shown.update({caption: frame}),
    )
    cells = [
        cell.source
        for cell in jupytext.read("reproduce.md").cells
        if cell.cell_type == "code"
    ]
    assert "\nshare = 20 " in "\n".join(cells)
    names = {}
    exec("\n".join(cells).replace("\nshare = 20 ", "\nshare = 100 "), names)
    experiments = next(
        frame
        for caption, frame in shown.items()
        if "The paper's experiments" in caption
    )
    # none for all of them together
    experiments["replications"] = experiments["replications"].fillna(0)
    assert len(shown) == 5 and not any(
        frame.isna().any(axis=None) for frame in shown.values()
    )
    assert len(experiments) == 6 and (
        experiments[["seconds", "by classes, scaled"]] > 0
    ).all(axis=None)
    assert 0 < names["peak"] < 100
