"""The ``cobandit`` command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer
import yaml
from rich.console import Console
from rich.table import Table

import cobandit as cb
from cobandit import _check
from cobandit.cli import importing
from cobandit.cli.recommend import recommend
from cobandit.cli.reconstruct import reconstruct
from cobandit.cli.rerun import page, rerun
from cobandit.cli.spreading import Backend, Scheduler, Workers
from cobandit.cli.verify import verify
from cobandit.companion.paper import experiments
from cobandit.errors import CobanditError
from cobandit.replay.methods import Spec
from cobandit.replay.parallel import Parallel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    help="Budgeted bandits for choosing among LLM configurations, replayed on tables of evaluations.",
)
app.add_typer(importing.app, name="import")
out, err = Console(), Console(stderr=True)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"cobandit {cb.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences and where they come from."""
    for row in cb.datasets().to_dict("records"):
        shown = Table(
            show_header=False,
            box=None,
            padding=(0, 1),
            title=f"[bold]{row.pop('name')}[/bold]",
            title_justify="left",
        )
        for key, value in row.items():
            if pd.notna(value):
                shown.add_row(str(key), str(value))
        out.print(shown)
        out.print()


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(help="Records: Parquet, CSV or JSONL.")],
    card: Annotated[
        Path | None, typer.Option(help="The card that says what the columns mean (default: FILE with .yml).")
    ] = None,
) -> None:
    """Check an evaluation table against its card; every fault is listed with its row, column and remedy."""
    table = cb.read(file, card=card)
    out.print(repr(table), highlight=False, markup=False)
    low, high = table.cost_range
    unit = table.card.cost.unit
    out.print(f"a single profiling evaluation costs {low:g} to {high:g} {unit}", highlight=False)
    out.print(f"Pareto set: {', '.join(table.summary().query('on_front').index)}", highlight=False)
    out.print("[green]valid[/green]")


def _value(text: str) -> Any:
    """A whole number, a number, or what YAML makes of it (which takes 5e-2 for text)."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return yaml.safe_load(text)


def _method(text: str) -> Spec:
    """``NAME`` or ``NAME:option=value,option=value``."""
    name, _, rest = text.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        option, separator, value = part.partition("=")
        if not separator:
            raise CobanditError(f"--method {text}: expected NAME:option=value,..., got {part!r}")
        try:
            options[option.strip()] = _value(value)
        except yaml.YAMLError:
            raise CobanditError(f"--method {text}: the value of {option.strip()!r} does not parse") from None
    return cb.spec(name, **options)


def _target(path: Path, suffixes: tuple[str, ...], what: str) -> None:
    if path.suffix not in suffixes:
        raise CobanditError(f"{what} {path}: the name must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise CobanditError(f"{what} {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise CobanditError(f"{what} {path}: this is a folder")


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name to write under, so that no broken file is ever left under the final one."""
    partial = path.with_name(f".partial-{path.name}")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise CobanditError(f"{path} could not be written: {error}") from None
    finally:
        partial.unlink(missing_ok=True)


def _write(runs: pd.DataFrame, path: Path) -> None:
    with _replacing(path) as partial:
        if path.suffix == ".csv":
            if "returned" in runs:
                runs = runs.assign(returned=runs["returned"].map("; ".join))
            runs.to_csv(partial, index=False)
        else:
            runs.to_parquet(partial)


def _draw(runs: pd.DataFrame, online: bool) -> Figure:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from cobandit import figures

    figures.use_style()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    if online:
        figures.by_budget(runs, "efficiency_regret", "hypervolume-efficiency regret", axes[0])
        figures.by_budget(runs, "standard_regret", "standard hypervolume regret", axes[1])
    else:
        figures.error_by_budget(runs, axes[0])
        figures.by_budget(runs, "f1", "Pareto F1", axes[1])
    axes[1].legend()
    return figure


@app.command()
def replay(
    table: Annotated[
        str,
        typer.Argument(
            help="Name in the catalogue (see [b]cobandit datasets[/b]) or file with a card beside it."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Results, one row a run: .parquet or .csv.")],
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
    picture: Annotated[Path | None, typer.Option(help="Also draw the results: .png, .svg or .pdf.")] = None,
    replications: Annotated[int, typer.Option(help="Independent runs of each method and budget.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same pulls.")] = 0,
    charge: Annotated[
        str, typer.Option(help="Identification: charge declared or realised costs.")
    ] = "declared",
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Run algorithms on a table at several budgets; write every run, print the means.

    Online methods: CoHVUCB, CoHVUCBV, HVUCB, AccuracyCostUCB, UniformAllocation.
    Identification: CoPSI, CoPSIExact, CoPSIAdaptive, PSISR, UniformIdentification.

    Example: [b]cobandit replay synthetic-24 -o runs.parquet -m CoPSI -m PSISR:rounds=mean -b 50 -b 200[/b]
    """
    _target(output, (".parquet", ".csv"), "--output")
    if picture is not None:
        _target(picture, (".png", ".svg", ".pdf"), "--picture")
    chosen = [_method(text) for text in method] if method else experiments.online_methods()
    _check.choice(charge, "charge", ("declared", "realised"))
    online = chosen[0].kind == "online"
    data = cb.open_table(table)
    for note in data.notes:
        err.print(f"note: {note}", highlight=False, markup=False)
    parallel: Parallel = {
        "workers": workers,
        "backend": backend,
        "scheduler": scheduler,
        "progress": True,
    }
    budgets = rho or (experiments.ONLINE_RHO if online else experiments.IDENTIFICATION_RHO)
    if online:
        runs = cb.replay_online(data, chosen, budgets, replications, seed, **parallel)
    else:
        runs = cb.replay_identification(data, chosen, budgets, replications, seed, charge, **parallel)
    _write(runs, output)
    if picture is not None:
        with _replacing(picture) as partial:
            _draw(runs, online).savefig(partial)

    for column in ("efficiency_regret", "standard_regret") if online else ("correct", "f1"):
        _show(runs, column, f"{column} on {data.name}: mean and 95 % interval of {replications} runs")
    out.print(f"{len(runs)} runs written to {output}", highlight=False)


def _show(runs: pd.DataFrame, column: str, title: str) -> None:
    shown = Table(title=title, title_justify="left")
    for heading in ("method", "rho", "mean", "low", "high"):
        shown.add_column(heading, justify="left" if heading == "method" else "right")
    for row in metrics.summarise(runs, column).to_dict("records"):
        numbers = (
            [f"{row[key]:.4g}" for key in ("mean", "low", "high")] if row["runs"] else ["infeasible", "", ""]
        )
        shown.add_row(f"{row['method']} {row['options']}".strip(), f"{row['rho']:g}", *numbers)
    out.print(shown)


app.command()(reconstruct)
app.command()(recommend)
app.command()(rerun)
app.command()(page)
app.command()(verify)


def main() -> None:
    """Run the command; bad input ends it with one message and exit code 2, never with a traceback."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    try:
        app()
    except CobanditError as error:
        err.print("[red]error:[/red] ", end="")
        err.print(str(error), highlight=False, markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(130)
