"""``cobandit replay``: methods on a table at several budgets, every run written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cobandit.cli import Backend, Scheduler, Workers, console, read_pairs
from cobandit.errors import CobanditError
from cobandit.files import replace_file

if TYPE_CHECKING:
    import pandas as pd

    from cobandit.replay import Spec


def replay(
    table: Annotated[
        str,
        typer.Argument(
            help="Name in the catalogue (see [b]cobandit datasets[/b]) or file with a card next to it."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Results, one row per run: .parquet or .csv.")
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help="NAME or NAME:option=value,...; repeat for more (default: the online ones, paper's radii).",
        ),
    ] = None,
    rho: Annotated[
        list[float] | None,
        typer.Option(
            "--rho",
            "-b",
            help="Budget in evaluations per configuration; repeat for more (default: the paper's).",
        ),
    ] = None,
    replications: Annotated[int, typer.Option(help="Independent runs of each method and budget.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same pulls.")] = 0,
    charge: Annotated[
        str,
        typer.Option(metavar="[declared|realised]", help="Identification: the costs that are charged."),
    ] = "declared",
    true_costs: Annotated[
        str | None,
        typer.Option(
            metavar="[evaluation|profiling]",
            help="Online: the split of the true mean costs (default: evaluation; "
            "profiling for reconstructions of the paper's tables).",
        ),
    ] = None,
    share: Annotated[
        list[float] | None,
        typer.Option(
            "--share",
            help="Identification: budget as a share of what evaluating everything costs, in place of --rho.",
        ),
    ] = None,
    feedback: Annotated[
        str,
        typer.Option(
            metavar="[bootstrap|once]",
            help="Identification: instances are drawn anew each time, or each is taken at most once.",
        ),
    ] = "bootstrap",
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Run algorithms on a table at several budgets; write every run, print the means.

    Online methods: CoHVUCB, CoHVUCBV, CoHVKLUCB, HVUCB, AccuracyCostUCB, UniformAllocation.
    Identification: CoPSI, CoPSIExact, CoPSIAdaptive, PSISR, UniformIdentification.
    With --feedback once: CoPSIOnce, UniformOnce, PSISROnce, EGESHOnce, CoPSIPrintedOnce.

    Example: [b]cobandit replay synthetic-24 -o runs.parquet -m CoPSI -m PSISR:rounds=mean -b 50 -b 200[/b]
    Example: [b]cobandit replay synthetic-24 -o once.parquet -m CoPSIOnce --feedback once --share 0.4[/b]
    """
    import cobandit as cb
    from cobandit import _check
    from cobandit.companion.paper import experiments

    if output.suffix not in (".parquet", ".csv"):
        raise CobanditError(f"--output {output}: the name must end in .parquet or .csv")
    if not output.parent.is_dir():
        raise CobanditError(f"--output {output}: there is no folder {output.parent}")
    if output.is_dir():
        raise CobanditError(f"--output {output}: this is a folder")
    chosen = [_method(text) for text in method] if method else experiments.online_methods()
    _check.choice(charge, "charge", ("declared", "realised"))
    online = chosen[0].kind == "online"
    out, data = console(), cb.open_table(table)
    for note in data.notes:
        console(stderr=True).print(f"note: {note}")
    parallel: dict[str, Any] = {"workers": workers, "backend": backend, "scheduler": scheduler}
    parallel["progress"] = True
    if online and (share or feedback != "bootstrap"):
        raise CobanditError("--share and --feedback are for identification; online methods take --rho")
    if true_costs and not online:
        raise CobanditError("--true-costs is for online methods: a Pareto set does not depend on costs")
    if online:
        rho = rho or list(experiments.ONLINE_RHO)
        runs = cb.replay_online(data, chosen, rho, replications, seed, true_costs=true_costs, **parallel)
    else:
        rho = rho or (None if share else list(experiments.IDENTIFICATION_RHO))
        budgets: dict[str, Any] = {"rho": rho, "share": share or None, "feedback": feedback}
        runs = cb.replay_identification(
            data, chosen, replications=replications, seed=seed, charge=charge, **budgets, **parallel
        )
    with replace_file(output) as partial:
        if output.suffix == ".csv":
            named = {} if online else {"returned": runs["returned"].map("; ".join)}
            runs.assign(**named).to_csv(partial, index=False)
        else:
            runs.to_parquet(partial)

    for column in ("efficiency_regret", "standard_regret") if online else ("correct", "f1"):
        title = f"{column} on {data.name}: mean and 95 % interval of {replications} runs"
        out.print(_means(runs, column, title))
    if (runs["status"] == "infeasible").any():
        out.print(
            "infeasible: the budget does not pay for the least that the method needs; give a larger one."
        )
    if not online:
        out.print(
            "correct: share of runs that return the true Pareto set. f1: agreement with it, 1 if exact."
        )
    out.print(f"{len(runs)} runs written to {output}")


def _method(text: str) -> Spec:
    """``NAME`` or ``NAME:option=value,option=value``."""
    from cobandit.replay import spec

    name, _, rest = text.partition(":")
    options = read_pairs(f"--method {text}", filter(None, rest.split(",")), "NAME:option=value,...")
    return spec(name, **options)


def _means(runs: pd.DataFrame, column: str, title: str) -> Table:
    from cobandit.figures.style import variants
    from cobandit.stats import summarise

    budget = "share" if "share" in runs else "rho"  # as it was asked for
    given = dict(zip(runs["rho"], runs[budget], strict=True))
    labels = {(method, options): label for method, options, label, _ in variants(runs)}
    shown = Table(title=title, title_justify="left")
    for heading in ("method", budget, "mean", "low", "high"):
        shown.add_column(heading, justify="left" if heading == "method" else "right")
    for row in summarise(runs, column).to_dict("records"):
        numbers = (
            [f"{row[key]:.4g}" for key in ("mean", "low", "high")] if row["runs"] else ["infeasible", "", ""]
        )
        shown.add_row(labels[row["method"], row["options"]], f"{given[row['rho']]:g}", *numbers)
    return shown
