"""``cobandit replay``: methods on a table at several budgets, every run written."""

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
                "Name in the catalogue (see [b]cobandit datasets[/b]) or file with a"
                " card next to it."
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
                "NAME or NAME:option=value,...; repeat for more (default: the online"
                " ones, paper's radii)."
            ),
        ),
    ] = None,
    rho: Annotated[
        list[float] | None,
        typer.Option(
            "--rho",
            "-b",
            help=(
                "Budget in evaluations per configuration; repeat for more (default: the"
                " paper's)."
            ),
        ),
    ] = None,
    replications: Annotated[
        int, typer.Option(help="Independent runs of each method and budget.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same pulls.")] = 0,
    share: Annotated[
        list[float] | None,
        typer.Option(
            "--share",
            help=(
                "Identification: budget as a share of what evaluating everything costs,"
                " in place of --rho."
            ),
        ),
    ] = None,
    feedback: Annotated[
        Literal["bootstrap", "once"],
        typer.Option(
            help=(
                "Identification: instances are drawn anew each time, or each is taken"
                " at most once."
            ),
        ),
    ] = "bootstrap",
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Run algorithms on a table at several budgets; write every run, print the means.

    Online methods: CoHVUCB, CoHVUCBV, CoHVKLUCB, HVUCB, AccuracyCostUCB,
    UniformAllocation. Identification: CoPSI, CoPSIExact, CoPSIAdaptive, PSISR,
    UniformIdentification. With --feedback once: CoPSIOnce, UniformOnce, PSISROnce,
    EGESHOnce, CoPSIPrintedOnce.

    Example: [b]cobandit replay synthetic-24 -o runs.parquet -m CoPSI -m
    PSISR:rounds=mean -b 50 -b 200[/b] Example: [b]cobandit replay synthetic-24 -o
    once.parquet -m CoPSIOnce --feedback once --share 0.4[/b]
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
            "it is not a .parquet or .csv file in a folder that exists",
            "give one that is",
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
            "these are for identification, and the methods are online",
            "give --rho to online methods",
            code="online-budget",
        )
    out, data = console(), cb.open_table(table)
    for note in data.notes:
        console(stderr=True).print(f"note: {note}")
    how: dict[str, Any] = {"replications": replications, "seed": seed, "progress": True}
    how |= {"workers": workers, "backend": backend, "scheduler": scheduler}
    if online:
        rho = rho or list(paper_settings.ONLINE_RHO)
        runs = cb.replay_online(data, chosen, rho, **how)
    else:
        rho = rho or (None if share else list(paper_settings.IDENTIFICATION_RHO))
        how |= {"share": share or None, "feedback": feedback}
        runs = cb.replay_identification(data, chosen, rho=rho, **how)
    with replace_file(output) as partial:
        if output.suffix == ".csv":
            named = {} if online else {"returned": runs["returned"].map("; ".join)}
            runs.assign(**named).to_csv(partial, index=False)
        else:
            runs.to_parquet(partial)

    by = ("method", "options", "share" if share else "rho")
    for column in (
        ("efficiency_regret", "standard_regret") if online else ("correct", "f1")
    ):
        means = summarise(runs, column, by=by).drop(
            columns="successes", errors="ignore"
        )
        out.print(f"{column} on {data.name}: mean and 95 % interval")
        shown = means.to_string(
            index=False, float_format="{:.4g}".format, na_rep="infeasible"
        )
        out.print(shown, soft_wrap=True)
    out.print(f"{len(runs)} runs written to {output}")


def _method(text: str) -> Spec:
    """``NAME`` or ``NAME:option=value,option=value``."""
    from cobandit.replay import spec

    name, _, rest = text.partition(":")
    options = read_pairs(
        f"--method {text}", filter(None, rest.split(",")), "NAME:option=value,..."
    )
    return spec(name, **options)
