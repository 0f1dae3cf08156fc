"""``cobandit reconstruct``: draw, or fit again, a stand-in for one of the paper's tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from cobandit.cli.parallel_options import Backend, Scheduler, Workers
from cobandit.cli.terminal import console
from cobandit.errors import CobanditError

if TYPE_CHECKING:
    from cobandit.companion.reconstruction import Parameters


def reconstruct(
    name: Annotated[str, typer.Argument(help="gsm8k or piqa.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for NAME.parquet and NAME.yml.")
    ] = Path(),
    refit: Annotated[
        bool,
        typer.Option(
            "--refit", help="Fit the parameters again, a few minutes each, and write reconstruction.json too."
        ),
    ] = False,
    members: Annotated[
        int, typer.Option(min=1, help="With --refit: how many sets of parameters; the table is the first's.")
    ] = 1,
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Draw a reconstruction of one of the paper's tables, which are not public, and check what was fitted.

    With --refit the members beyond the first run in parallel.
    """
    from cobandit.companion import reconstruction
    from cobandit.companion.reconstruction.targets import check_parameters

    out = console()
    reconstruction.setting(name)
    if not output.is_dir():
        raise CobanditError(f"--output {output}: there is no such folder")
    if refit:
        sets = _refit(name, members, {"workers": workers, "backend": backend, "scheduler": scheduler})
        others = {other: reconstruction.members(other) for other in reconstruction.SETTINGS if other != name}
        reconstruction.store(output, others | {name: sets})
    else:
        sets = reconstruction.members(name)
    records = reconstruction.write(name, output, sets[0])

    shown = Table(title=f"{reconstruction.card(name).title}: what it was fitted to", title_justify="left")
    for heading in ("number", "published", "ours", "from", "to", "met"):
        shown.add_column(heading, justify="left" if heading == "number" else "right")
    targets = check_parameters(name, sets[0])
    for target in targets:
        numbers = (target.published, target.value, target.low, target.high)
        shown.add_row(
            target.name, *(f"{x:.6g}" for x in numbers), "yes" if target.met else Text("no", style="red")
        )
    out.print(shown)
    out.print(
        f"{sum(t.met for t in targets)} of {len(targets)} met; {records} written",
    )


def _refit(name: str, members: int, parallel: dict[str, Any]) -> tuple[Parameters, ...]:
    from joblib import Parallel, delayed
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from cobandit.companion.reconstruction.fit import fit
    from cobandit.replay.parallel import spread

    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with spread(**parallel), Progress(*columns, console=console(stderr=True)) as bar:
        shown = bar.add_task(f"fitting {name}", total=members)
        sets = [fit(name, 0)]
        bar.advance(shown)
        tasks = (delayed(fit)(name, member, sets[0]) for member in range(1, members))
        for parameters in Parallel(return_as="generator")(tasks):
            sets.append(parameters)
            bar.advance(shown)
    return tuple(sets)
