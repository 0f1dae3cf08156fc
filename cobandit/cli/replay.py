"""``cobandit replay``: run methods on a table at several budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cobandit.cli import Backend, Scheduler, Workers, console, read_pairs
from cobandit.errors import raise_fault

if TYPE_CHECKING:
    from cobandit.replay import Spec


def replay(
    table: Annotated[
        str,
        typer.Argument(
            help=(
                "Name in the catalogue (see [b]cobandit datasets[/b]), or file with"
                " a card (YAML description) beside it."
            )
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Results, one row per run: .parquet or .csv."
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help=(
                "Method: NAME or NAME:option=value,...; repeatable (default: the"
                " online methods with the paper's radii)."
            ),
        ),
    ] = None,
    rho: Annotated[
        list[float] | None,
        typer.Option(
            "--rho",
            "-b",
            help=(
                "Budget in evaluations per configuration; repeatable (default: the"
                " paper's budgets)."
            ),
        ),
    ] = None,
    replications: Annotated[
        int, typer.Option(help="Number of independent runs per method and budget.")
    ] = 100,
    seed: Annotated[
        int,
        typer.Option(
            help=(
                "Seed of the random order of feedback; the same seed gives the same"
                " results."
            )
        ),
    ] = 0,
    share: Annotated[
        list[float] | None,
        typer.Option(
            "--share",
            help=(
                "For identification, instead of --rho: budget as a share of the cost"
                " of evaluating everything; repeatable."
            ),
        ),
    ] = None,
    feedback: Annotated[
        Literal["bootstrap", "once"],
        typer.Option(
            help=(
                "For identification: whether instances are drawn with replacement,"
                " or evaluated at most once."
            ),
        ),
    ] = "bootstrap",
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Run methods on a table at several budgets, write all runs, and print means.

    Online: CoHVUCB, CoHVUCBV, CoHVKLUCB, HVUCB, AccuracyCostUCB, UniformAllocation.
    Identification: CoPSI, CoPSIExact, CoPSIAdaptive, PSISR, UniformIdentification.
    --feedback once: CoPSIOnce, UniformOnce, PSISROnce, EGESHOnce, CoPSIPrintedOnce.

    Example: [b]cobandit replay synthetic-24 -o runs.csv -m CoPSI -b 50 -b 200[/b]
    Example: [b]cobandit replay synthetic-24 -o runs.csv -m PSISR:rounds=mean[/b]
    """
    import cobandit as cb
    from cobandit.replay import paper_settings
    from cobandit.stats import summarise
    from cobandit.tables.whole_files import replace_file

    if (
        output.suffix not in (".parquet", ".csv")
        or not output.parent.is_dir()
        or output.is_dir()
    ):
        raise_fault(
            f"--output {output}",
            "the output must be a .parquet or .csv file in an existing folder",
            "change the suffix, or create the folder",
            code="output-file",
        )
    chosen = (
        [_method(text) for text in method]
        if method
        else paper_settings.online_methods()
    )
    online = chosen[0].kind == "online"
    if online and (share or feedback == "once"):
        raise_fault(
            "--share or --feedback",
            "these options are for identification, but the methods are online",
            "give the budget as --rho, or choose identification methods with --method",
            code="online-budget",
        )
    terminal = console()
    data = cb.open_table(table)
    for note in data.notes:
        console(stderr=True).print(f"note: {note}")
    options: dict[str, Any] = {
        "replications": replications,
        "seed": seed,
        "progress": True,
        "workers": workers,
        "backend": backend,
        "scheduler": scheduler,
    }
    if online:
        rho = rho or list(paper_settings.ONLINE_RHO)
        runs = cb.replay_online(data, chosen, rho, **options)
    else:
        rho = rho or (None if share else list(paper_settings.IDENTIFICATION_RHO))
        options |= {"share": share or None, "feedback": feedback}
        runs = cb.replay_identification(data, chosen, rho=rho, **options)
    with replace_file(output) as partial:
        if output.suffix == ".csv":
            named = {} if online else {"returned": runs["returned"].map("; ".join)}
            runs.assign(**named).to_csv(partial, index=False)
        else:
            runs.to_parquet(partial)

    keys = ("method", "options", "share" if share else "rho")
    measures = ("correct", "f1")
    if online:
        measures = ("efficiency_regret", "standard_regret")
    for column in measures:
        means = summarise(runs, column, by=keys)
        means = means.drop(columns="successes", errors="ignore")
        terminal.print(f"{column} on {data.name}: mean and 95 % interval")
        shown = means.to_string(
            index=False, float_format="{:.4g}".format, na_rep="infeasible"
        )
        terminal.print(shown, soft_wrap=True)
    terminal.print(f"{len(runs)} runs written to {output}")


def _method(text: str) -> Spec:
    """Read a method, ``NAME`` or ``NAME:option=value,option=value``."""
    from cobandit.replay import spec

    name, _, rest = text.partition(":")
    options = read_pairs(
        f"--method {text}", filter(None, rest.split(",")), "NAME:option=value,..."
    )
    return spec(name, **options)
