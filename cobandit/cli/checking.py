"""``cobandit datasets``, ``validate``, ``doctor``: list tables, check a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cobandit.cli import Cluster, InCatalogue, console, plain, print_lines


def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences."""
    import pandas as pd

    import cobandit as cb

    terminal = console()
    for row in cb.datasets().to_dict("records"):
        terminal.print(row.pop("name"), style="bold")
        print_lines(
            terminal,
            *(f"{key}: {value}" for key, value in row.items() if pd.notna(value)),
        )
        terminal.print()


def validate(
    file: Annotated[Path, typer.Argument(help="Records: Parquet, CSV or JSONL.")],
    card: Annotated[
        Path | None,
        typer.Option(
            help=(
                "The card, which describes the columns (default: FILE with the"
                " suffix .yml)."
            )
        ),
    ] = None,
) -> None:
    """Check an evaluation table against its card, and list all faults with remedies.

    The card is the YAML file that describes the table.
    """
    import cobandit as cb
    from cobandit._text import amount
    from cobandit.dominance import pareto_mask

    terminal = console()
    table = cb.read(file, card=card)
    low, high = map(amount, table.cost_range)
    unit = table.card.cost.unit
    means = table.summary()[list(table.objectives)]
    best = means.index[pareto_mask(means, dominance="standard")]
    print_lines(
        terminal,
        *repr(table).splitlines(),
        f"a profiling evaluation costs {low} to {high} {unit}",
        f"best in the objectives, whatever the cost: {', '.join(map(plain, best))}",
    )
    terminal.print("valid", style="green")


def doctor(
    table: InCatalogue,
    cluster: Cluster = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the findings as JSON.")
    ] = False,
) -> None:
    """Check a table for common problems, and print each with its remedy.

    Findings are not errors, so the exit code is 0.

    Example: [b]cobandit doctor my.parquet[/b]
    """
    import cobandit as cb
    from cobandit import advice

    data = cb.open_table(table)
    data = data if cluster is None else data.cluster_by(cluster)
    findings = advice.doctor(data)
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
        return
    terminal = console()
    print_lines(terminal, *repr(data).splitlines())
    for finding in findings:
        print_lines(
            terminal, f"{finding.name}: {finding.problem}.", f"  -> {finding.remedy}."
        )
    if not findings:
        terminal.print("no problems found", style="green")
