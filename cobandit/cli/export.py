"""``cobandit export``: write tables in formats of other tools, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from cobandit.cli import InCatalogue, console, print_lines

app = typer.Typer(
    no_args_is_help=True, help="Write a table in the format of another tool."
)


@app.callback()
def _formats() -> None:
    """Require the name of a format on the command line, although there is only one."""


@app.command("every-eval-ever")
def export_every_eval_ever(
    table: InCatalogue,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Output folder; the files are in its subfolder data.",
        ),
    ],
    organization: Annotated[
        str, typer.Option(help="Provider of the evaluations.")
    ] = "unknown",
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        typer.Option(help="Relation of the organization to the makers of the models."),
    ] = "other",
    library: Annotated[
        str, typer.Option(help="Software that made the evaluations.")
    ] = "unknown",
) -> None:
    """Write a table as records of Every Eval Ever, two files per configuration.

    Example: [b]cobandit export every-eval-ever my.parquet -o records[/b]
    """
    import cobandit as cb
    from cobandit.tables import every_eval_export

    written = every_eval_export.export_every_eval_ever(
        cb.open_table(table),
        output,
        organization=organization,
        relationship=relationship,
        library=library,
    )
    terminal = console()
    print_lines(
        terminal,
        *written.report,
        f"wrote {len(written.files):,} evaluations to {output}",
    )
