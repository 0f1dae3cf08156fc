"""``cobandit doctor``: what to notice before trusting a table."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cobandit.cli.terminal import console, plain


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
