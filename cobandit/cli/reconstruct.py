"""``cobandit reconstruct``: draw a stand-in for one of the paper's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cobandit.cli.terminal import console
from cobandit.errors import CobanditError


def reconstruct(
    name: Annotated[str, typer.Argument(help="gsm8k or piqa.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for NAME.parquet and NAME.yml.")
    ] = Path(),
    number: Annotated[
        int, typer.Option(min=0, help="Table of the posterior; 0 is the one that the book bundles.")
    ] = 0,
) -> None:
    """Draw a reconstruction of one of the paper's tables, which are not public.

    What the paper prints of its table stands next to what the drawn one has.
    """
    from cobandit.companion import paper, reconstruction
    from cobandit.companion.paper import experiments

    out = console()
    table = reconstruction.table(name, number)
    if not output.is_dir():
        raise CobanditError(f"--output {output}: there is no such folder")
    records = reconstruction.write(name, output, reconstruction.tables_of(name)[number].state)

    numbers = tuple(n for n in paper.published() if n.dataset == name and n.role == "used")
    rows = paper.ledger(experiments.facts(table), numbers)
    rows = rows[rows["ours"].notna()].drop_duplicates(["experiment", "quantity"])
    shown = Table(
        title=f"{reconstruction.card(name).title}: what the paper prints of it", title_justify="left"
    )
    for heading in ("number", "printed", "here"):
        shown.add_column(heading, justify="left" if heading == "number" else "right")
    for row in rows.to_dict("records"):
        shown.add_row(
            f"{row['experiment']}: {row['quantity'].replace('_', ' ')}", row["printed"], f"{row['ours']:.6g}"
        )
    out.print(shown)
    out.print(f"{records} written")
