"""``cobandit datasets``: the tables of the catalogue."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences and where they come from."""
    import pandas as pd

    import cobandit as cb

    out = Console()
    for row in cb.datasets().to_dict("records"):
        shown = Table(
            show_header=False,
            box=None,
            padding=(0, 1),
            title=f"[bold]{escape(row.pop('name'))}[/bold]",
            title_justify="left",
        )
        for key, value in row.items():
            if pd.notna(value):
                shown.add_row(str(key), escape(str(value)))
        out.print(shown)
        out.print()
