"""``cobandit recommend``: what is worth its cost, what meets a wish, and what to evaluate next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cobandit.cli import About, Budget, Cluster, InCatalogue, Level, console, read_pairs
from cobandit.cli.answers import print_advice, print_rivals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cobandit.tables import EvaluationTable


def recommend(
    table: InCatalogue,
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE=VALUE",
            help=(
                "Choose the cheapest with at least this mean; several conditions all"
                " have to hold."
            ),
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE=VALUE",
            help="Choose the cheapest within this distance of the best.",
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            metavar="OBJECTIVE:WEIGHT,...",
            help="Choose the best weighted mean of those that meet the rest.",
        ),
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE | NAME=VALUE",
            help=(
                "Largest difference that does not matter, in all objectives or one;"
                " cost=10% or an amount."
            ),
        ),
    ] = None,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified",
            help="Plan for a race whose error is proved, as stop: {certified: true}.",
        ),
    ] = False,
    budget: Budget = None,
    about: About = "instances",
    dominance: Annotated[
        Literal["standard", "strict"],
        typer.Option(
            help="Strict is the paper's: better in every objective, whatever the cost."
        ),
    ] = "standard",
    cluster: Cluster = None,
    level: Level = 0.95,
    replications: Annotated[
        int | None,
        typer.Option(help="Resampled sets of instances (default: the library's)."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of the resampling, and of the order of instances.")
    ] = 0,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave a configuration out, as if it had not been evaluated.",
        ),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Show instead which configurations beat this one, and by how much.",
        ),
    ] = None,
    ratio: Annotated[
        bool,
        typer.Option("--ratio", help="Add the paper's ratio, hypervolume over cost."),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Show all configurations, those that are beaten too."
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the answer as one HTML file that opens without a network.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON.")
    ] = False,
) -> None:
    """Recommend configurations that are worth their cost, one that meets a wish, and what to evaluate next.

    Example: [b]cobandit recommend my.parquet --at-least accuracy=0.7[/b] Example:
    [b]cobandit recommend my.parquet --within accuracy=0.02 --tolerance 0.02 --budget
    20[/b] Example: [b]cobandit recommend my.parquet --tolerance 0.02 --tolerance
    cost=10%[/b] Example: [b]cobandit recommend my.parquet --why my-model[/b]
    """
    import cobandit as cb
    from cobandit.advice.rivals import find_rivals
    from cobandit.figures import write_front_page

    data = cb.open_table(table)
    if cluster is not None:
        data = data.cluster_by(cluster)
    if without:
        data = _leave_out(data, without)
    if why is not None:
        print_rivals(
            find_rivals(data, why, dominance=dominance, level=level), data, console()
        )
        return
    resampled: dict[str, Any] = (
        {} if replications is None else {"replications": replications}
    )
    advice = cb.recommend(
        data,
        budget,
        at_least=_read("--at-least", at_least),
        within=_read("--within", within),
        prefer=_read("--prefer", prefer.split(",") if prefer else None, ":"),
        **_read_tolerances(tolerance or [], data.objectives),
        certified=certified,
        about=about,
        dominance=dominance,
        level=level,
        seed=seed,
        **resampled,
    )
    if html is not None:
        write_front_page(advice, html)
    if as_json:
        print(json.dumps(advice.to_dict(), indent=2, allow_nan=False))
        return
    print_advice(advice, console(), ratio, everything, source=table)
    if html is not None:
        console().print(f"the page is at {html}", soft_wrap=True)


def _leave_out(table: EvaluationTable, names: list[str]) -> EvaluationTable:
    """Return the table without some configurations."""
    from cobandit import _validation

    for name in names:
        _validation.choice(name, "--without: configuration", table.configs)
    return table.subset(f"config not in {names!r}")


def _read(
    option: str, given: list[str] | None, separator: str = "="
) -> dict[str, float]:
    """``OBJECTIVE=VALUE``, each; an objective's name may hold the separator itself."""
    expected = f"OBJECTIVE{separator}NUMBER"
    return read_pairs(
        option, given or [], expected, lambda text: text.rpartition(separator), float
    )


def _read_tolerances(given: list[str], objectives: Sequence[str]) -> dict[str, Any]:
    """Read ``VALUE``, for all objectives, ``OBJECTIVE=VALUE`` and ``cost=VALUE``.

    Examples
    --------
    >>> _read_tolerances(["0.02", "speed=0.1", "cost=10%"], ["accuracy", "speed"])
    {'tolerance': [0.02, 0.1], 'cost_tolerance': '10%'}
    """
    from cobandit import _validation

    option = "--tolerance"
    named = dict.fromkeys(objectives, 0.0)
    whole = [text for text in given if "=" not in text]
    expected = "a number, OBJECTIVE=NUMBER or cost=10%"
    for value in read_pairs(
        option, [f"all={text}" for text in whole], expected, read=float
    ).values():
        named = dict.fromkeys(objectives, value)
    pairs = read_pairs(
        option, [text for text in given if "=" in text], expected, read=str
    )
    cost = pairs.pop("cost", "0")
    values = read_pairs(
        option, [f"{name}={text}" for name, text in pairs.items()], expected, read=float
    )
    for name, value in values.items():
        named[
            _validation.choice(name, f"{option}: objective", [*objectives, "cost"])
        ] = value
    return {"tolerance": [*named.values()], "cost_tolerance": cost}
