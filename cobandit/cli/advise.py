"""``cobandit datasets``, ``validate``, ``doctor`` and ``recommend``: tables, and what one says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cobandit.cli import About, Budget, Cluster, InCatalogue, Level, console, plain, print_lines, read_pairs

if TYPE_CHECKING:
    from cobandit.advice import Recommendation


def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences and where they come from."""
    import pandas as pd

    import cobandit as cb

    out = console()
    for row in cb.datasets().to_dict("records"):
        out.print(row.pop("name"), style="bold")
        print_lines(out, *(f"{key}: {value}" for key, value in row.items() if pd.notna(value)))
        out.print()


def validate(
    file: Annotated[Path, typer.Argument(help="Records: Parquet, CSV or JSONL.")],
    card: Annotated[
        Path | None, typer.Option(help="The card that says what the columns mean (default: FILE with .yml).")
    ] = None,
) -> None:
    """Check an evaluation table against its card; every fault is listed with its row, column and remedy."""
    import cobandit as cb
    from cobandit.dominance import pareto_mask
    from cobandit.faults import amount

    out, table = console(), cb.read(file, card=card)
    low, high = map(amount, table.cost_range)
    unit = table.card.cost.unit
    means = table.summary()[list(table.objectives)]
    best = means.index[pareto_mask(means, dominance="standard")]
    print_lines(
        out,
        *repr(table).splitlines(),
        f"a single profiling evaluation costs {low} to {high} {unit}",
        f"best in the objectives, whatever the cost: {', '.join(map(plain, best))}",
    )
    out.print("valid", style="green")


def doctor(
    table: InCatalogue,
    cluster: Cluster = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look a table over: what a careful colleague would notice, with its number and what to do.

    Findings are no errors, and the exit code is 0.

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
    out = console()
    print_lines(out, *repr(data).splitlines())
    for finding in findings:
        print_lines(out, f"{finding.name}: {finding.found}.", f"  -> {finding.todo}.")
    if not findings:
        out.print("nothing to notice", style="green")


#: Rows of the table on the terminal; ``--json`` gives all.
SHOWN = 25


def recommend(
    table: InCatalogue,
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE=VALUE",
            help="Choose the cheapest with this mean or a better; several conditions all have to hold.",
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE=VALUE", help="Choose the cheapest that is so close to the best, or closer."
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            metavar="OBJECTIVE:WEIGHT,...", help="Choose the best weighted mean of those that meet the rest."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="What is not worth telling apart, in the unit of the objectives.")
    ] = 0.0,
    budget: Budget = None,
    about: About = "instances",
    dominance: Annotated[
        Literal["standard", "strict"],
        typer.Option(
            help="Strict is the paper's: only what is better in every objective, whatever the cost."
        ),
    ] = "standard",
    cluster: Cluster = None,
    level: Level = 0.95,
    replications: Annotated[
        int | None, typer.Option(help="Resampled sets of instances (default: the library's).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the resampling, and of the order of instances.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say which configurations are worth their cost, which one meets a wish, and what to evaluate next.

    Example: [b]cobandit recommend my.parquet --at-least accuracy=0.7[/b]
    Example: [b]cobandit recommend my.parquet --within accuracy=0.02 --tolerance 0.02 --budget 20[/b]
    """
    import cobandit as cb

    data = cb.open_table(table)
    resampled: dict[str, Any] = {} if replications is None else {"replications": replications}
    advice = cb.recommend(
        data,
        budget,
        at_least=_read("--at-least", at_least),
        within=_read("--within", within),
        prefer=_read("--prefer", prefer.split(",") if prefer else None, ":"),
        tolerance=tolerance,
        about=about,
        dominance=dominance,
        cluster=cluster,
        level=level,
        seed=seed,
        **resampled,
    )
    if as_json:
        print(json.dumps(advice.to_dict(), indent=2, allow_nan=False))
        return
    print_advice(advice, console())


def _read(option: str, given: list[str] | None, separator: str = "=") -> dict[str, float]:
    """``OBJECTIVE=VALUE``, each; an objective's name may hold the separator itself."""
    expected = f"OBJECTIVE{separator}NUMBER"
    return read_pairs(option, given or [], expected, lambda text: text.rpartition(separator), float)


#: Letters of a name that a line of the table has room for, at least.
NAME = len("configuration")


def print_advice(advice: Recommendation, out: Console) -> None:
    """Print a recommendation: the words, then the front and who else could be on it."""
    from cobandit.advice.words import describe, interval, percent, standings, worth_showing
    from cobandit.faults import amount

    print_lines(out, *describe(advice))
    shown, steps = worth_showing(advice), advice.front["times"].dropna().map("x{:.3g}".format)
    title = f"\nConfigurations of {advice.dataset}, cheapest first, cost in {advice.unit}"
    view = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    view.add_column("configuration", min_width=NAME, overflow="fold")
    heads = "n", "cost", "step", *advice.objectives, "stays"
    for head in heads:
        view.add_column(head, justify="right", no_wrap=True)

    standing = standings(advice)

    def cells(name: Any, row: Any, with_intervals: bool) -> list[str]:
        means = []
        for each in advice.objectives:
            ends = interval(row[f"{each}_low"], row[f"{each}_high"])
            means.append(f"{row[each]:.3f} {ends}" if with_intervals else f"{row[each]:.3f}")
        return [
            f"{row['instances']:,}",
            amount(row["cost"]),
            steps.get(name, ""),
            *means,
            standing[name],
        ]

    for with_intervals in (True, False):  # which, with many objectives, take the room of the names
        rows = {name: cells(name, row, with_intervals) for name, row in shown.head(SHOWN).iterrows()}
        needed = (
            NAME + 2 + sum(1 + max(map(len, column)) for column in zip(heads, *rows.values(), strict=True))
        )
        if needed <= out.width:
            break
    for name, row in rows.items():
        view.add_row(plain(name), *row)
    view.width = needed if needed > out.width else None
    out.print(view, crop=False)
    if len(shown) > SHOWN:
        out.print(f"and {len(shown) - SHOWN} more: --json gives all")
    print_lines(
        out,
        "n: instances. step: cost over that of the row above. "
        + f"Behind a mean: its interval at {percent(advice.level)}, one mean at a time. " * with_intervals
        + f"stays: whether it is worth its cost: sure or not at {percent(advice.level)}, all together, or "
        "the share of the sets of instances resampled from these in which it is.",
    )
