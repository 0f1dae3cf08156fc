"""``cobandit recommend``: configurations worth their cost, and next evaluations."""

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
                "Choose the cheapest configuration with at least this mean."
                " Repeatable; all conditions have to hold."
            ),
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE=VALUE",
            help=(
                "Choose the cheapest configuration whose mean is at most this far"
                " below the best."
            ),
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            metavar="OBJECTIVE:WEIGHT,...",
            help=(
                "Weight of an objective. Among configurations that meet the"
                " conditions, choose the best weighted mean."
            ),
        ),
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE | NAME=VALUE",
            help=(
                "Largest difference that does not matter: VALUE for all objectives,"
                " NAME=VALUE for one, cost=10% or cost=AMOUNT for costs."
            ),
        ),
    ] = None,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified",
            help=(
                "Plan the next evaluations of a certified race, whose error bound is"
                " proved (in a plan, stop: {certified: true})."
            ),
        ),
    ] = False,
    budget: Budget = None,
    about: About = "instances",
    dominance: Annotated[
        Literal["standard", "strict"],
        typer.Option(
            help=(
                "Kind of dominance. strict is the paper's: better in every"
                " objective, whatever the cost."
            )
        ),
    ] = "standard",
    cluster: Cluster = None,
    level: Level = 0.95,
    replications: Annotated[
        int | None,
        typer.Option(help="Number of resampled sets of instances (default: 1000)."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the resampling and of the order of instances.")
    ] = 0,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave out a configuration, as if it were not in the table.",
        ),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Show the configurations that beat this one, and by how much.",
        ),
    ] = None,
    ratio: Annotated[
        bool,
        typer.Option("--ratio", help="Add the paper's ratio, hypervolume over cost."),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Show all configurations, including those that are beaten."
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the answer as an HTML file, readable offline.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON.")
    ] = False,
) -> None:
    """Recommend configurations that are worth their cost, and evaluations to make next.

    Example: [b]cobandit recommend my.parquet --at-least accuracy=0.7[/b]
    Example: [b]cobandit recommend my.parquet --within accuracy=0.02 --budget 20[/b]
    Example: [b]cobandit recommend my.parquet --tolerance 0.02 --tolerance cost=10%[/b]
    Example: [b]cobandit recommend my.parquet --why my-model[/b]
    """
    import cobandit as cb
    from cobandit.advice.rivals import find_rivals

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
    resampled: dict[str, Any] = {}
    if replications is not None:
        resampled["replications"] = replications
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
        # imported only for pages, because matplotlib is slow to import
        from cobandit.figures import write_front_page

        write_front_page(advice, html)
    if as_json:
        print(json.dumps(advice.to_dict(), indent=2, allow_nan=False))
        return
    print_advice(advice, console(), ratio, everything, source=table)
    if html is not None:
        console().print(f"the page is at {html}", soft_wrap=True)


def _leave_out(table: EvaluationTable, names: list[str]) -> EvaluationTable:
    """Return the table without the named configurations."""
    from cobandit import _validation

    for name in names:
        _validation.choice(name, "--without: configuration", table.configs)
    return table.subset(f"config not in {names!r}")


def _read(
    option: str, texts: list[str] | None, separator: str = "="
) -> dict[str, float]:
    """Read ``OBJECTIVE=NUMBER`` texts; the objective may contain the separator."""
    expected = f"OBJECTIVE{separator}NUMBER"
    return read_pairs(
        option, texts or [], expected, lambda text: text.rpartition(separator), float
    )


def _read_tolerances(texts: list[str], objectives: Sequence[str]) -> dict[str, Any]:
    """Read ``VALUE`` for all objectives, ``OBJECTIVE=VALUE`` and ``cost=VALUE``.

    Examples
    --------
    >>> _read_tolerances(["0.02", "speed=0.1", "cost=10%"], ["accuracy", "speed"])
    {'tolerance': [0.02, 0.1], 'cost_tolerance': '10%'}
    """
    from cobandit import _validation

    option = "--tolerance"
    expected = "a number, OBJECTIVE=NUMBER or cost=10%"
    tolerances = dict.fromkeys(objectives, 0.0)

    # a number without a name applies to all objectives
    unnamed = [f"all={text}" for text in texts if "=" not in text]
    for value in read_pairs(option, unnamed, expected, read=float).values():
        tolerances = dict.fromkeys(objectives, value)

    # the others apply to one objective, or to the cost, where a share is allowed
    named = [text for text in texts if "=" in text]
    pairs = read_pairs(option, named, expected, read=str)
    cost = pairs.pop("cost", "0")
    numbers = [f"{name}={text}" for name, text in pairs.items()]
    for name, value in read_pairs(option, numbers, expected, read=float).items():
        names = [*objectives, "cost"]
        tolerances[_validation.choice(name, f"{option}: objective", names)] = value
    return {"tolerance": [*tolerances.values()], "cost_tolerance": cost}
