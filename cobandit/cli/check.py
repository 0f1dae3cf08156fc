"""``cobandit datasets``, ``validate`` and ``doctor``: which tables there are, and whether to trust one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
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


def validate(
    file: Annotated[Path, typer.Argument(help="Records: Parquet, CSV or JSONL.")],
    card: Annotated[
        Path | None, typer.Option(help="The card that says what the columns mean (default: FILE with .yml).")
    ] = None,
) -> None:
    """Check an evaluation table against its card; every fault is listed with its row, column and remedy."""
    import cobandit as cb
    from cobandit.advice.words import amount

    out, table = console(), cb.read(file, card=card)
    low, high = map(amount, table.cost_range)
    unit = table.card.cost.unit
    for line in (
        repr(table),
        f"a single profiling evaluation costs {low} to {high} {unit}",
        f"Pareto set: {', '.join(map(plain, table.summary().query('on_front').index))}",
    ):
        out.print(line)
    out.print("valid", style="green")


def doctor(
    table: Annotated[str, typer.Argument(help="Name in the catalogue, or file with a card next to it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look a table over: what a careful colleague would notice, with its number and what to do.

    Findings are no errors, and the exit code is 0.

    Example: [b]cobandit doctor my.parquet[/b]
    """
    import cobandit as cb
    from cobandit import advice

    data = cb.open_table(table)
    findings = advice.doctor(data)
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
        return
    out = console()
    for line in repr(data).splitlines():
        out.print(plain(line))
    for finding in findings:
        out.print(f"{finding.name}: ", style="bold", end="")
        out.print(plain(f"{finding.found}.", most=2000))
        out.print(f"  -> {plain(finding.todo, most=2000)}")
    if not findings:
        out.print("nothing to notice", style="green")
