"""``cobandit validate``: a table checked against its card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobandit.cli.terminal import console, plain


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
