"""``cobandit datasets``: the tables of the catalogue."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from cobandit.cli.terminal import console, plain


def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences and where they come from."""
    import pandas as pd

    import cobandit as cb

    out = console()
    for row in cb.datasets().to_dict("records"):
        shown = Table(
            show_header=False,
            box=None,
            padding=(0, 1),
            title=Text(row.pop("name"), style="bold"),
            title_justify="left",
        )
        for key, value in row.items():
            if pd.notna(value):
                shown.add_row(str(key), plain(value, most=1000))
        out.print(shown)
        out.print()
