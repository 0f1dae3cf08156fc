"""``cobandit datasets``, ``validate``, ``doctor`` and ``recommend``: tables, and what one says."""

from __future__ import annotations

import json
import shlex
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cobandit.cli import About, Budget, Cluster, InCatalogue, Level, console, plain, print_lines, read_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cobandit.advice import Recommendation
    from cobandit.advice.rivals import Rivals
    from cobandit.tables import EvaluationTable


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
    from cobandit._text import amount
    from cobandit.dominance import pareto_mask

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
        print_lines(out, f"{finding.name}: {finding.problem}.", f"  -> {finding.remedy}.")
    if not findings:
        out.print("nothing to notice", style="green")


#: Rows of the table on the terminal, which fit on one screen; ``--all`` and ``--json`` give all.
SHOWN = 15


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
        list[str] | None,
        typer.Option(
            metavar="VALUE | NAME=VALUE",
            help="What is not worth telling apart in all objectives, or one; in cost: cost=10% or an amount.",
        ),
    ] = None,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified", help="Plan for a race whose error is proved, as stop: {certified: true}."
        ),
    ] = False,
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
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave a configuration out, as if it had not been evaluated."),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Say instead which configurations beat this one, and by how much."),
    ] = None,
    ratio: Annotated[
        bool, typer.Option("--ratio", help="Add the paper's ratio, hypervolume over cost.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all configurations, those that are beaten too.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the answer as one HTML file that opens without a network."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say which configurations are worth their cost, which one meets a wish, and what to evaluate next.

    Example: [b]cobandit recommend my.parquet --at-least accuracy=0.7[/b]
    Example: [b]cobandit recommend my.parquet --within accuracy=0.02 --tolerance 0.02 --budget 20[/b]
    Example: [b]cobandit recommend my.parquet --tolerance 0.02 --tolerance cost=10%[/b]
    Example: [b]cobandit recommend my.parquet --why my-model[/b]
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
        _print_rivals(find_rivals(data, why, dominance=dominance, level=level), data, console())
        return
    resampled: dict[str, Any] = {} if replications is None else {"replications": replications}
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


def _print_rivals(found: Rivals, table: EvaluationTable, out: Console) -> None:
    """Print the configurations that beat one, or that come closest to it."""
    from cobandit.advice.words import percent

    name = plain(found.configuration)
    rivals = found.rivals
    if found.beaten:
        number = len(rivals)
        subject = "one configuration beats" if number == 1 else f"{number} configurations beat"
        headline = f"{name} is not worth its cost by the means: {subject} it."
    else:
        headline = f"{name} is worth its cost by the means: no configuration beats it. Closest to that:"
    print_lines(out, headline)

    view = Table(box=box.SIMPLE_HEAD, padding=0)
    view.add_column("rival", min_width=len("configuration"), overflow="fold")
    for head in (f"{table.card.cost.unit}/eval", *(f"points of {each}" for each in table.objectives)):
        view.add_column(head, justify="right")
    for rival, row in rivals.head(SHOWN).iterrows():
        gains = []
        for objective in table.objectives:
            gain, low, high = (100 * row[f"more_{objective}{end}"] for end in ("", "_low", "_high"))
            gains.append(f"{gain:+.1f} ({low:+.1f} to {high:+.1f})")
        times = "" if isnan(row["times"]) else f"{row['times']:.3g}x"
        view.add_row(plain(rival), times, *gains)
    out.print(view)
    level = percent(found.level)
    print_lines(
        out,
        f"Rival less {name}, on the instances that both have; intervals: {level}, one difference at a time.",
    )


def _read(option: str, given: list[str] | None, separator: str = "=") -> dict[str, float]:
    """``OBJECTIVE=VALUE``, each; an objective's name may hold the separator itself."""
    expected = f"OBJECTIVE{separator}NUMBER"
    return read_pairs(option, given or [], expected, lambda text: text.rpartition(separator), float)


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
    for value in read_pairs(option, [f"all={text}" for text in whole], expected, read=float).values():
        named = dict.fromkeys(objectives, value)
    pairs = read_pairs(option, [text for text in given if "=" in text], expected, read=str)
    cost = pairs.pop("cost", "0")
    values = read_pairs(option, [f"{name}={text}" for name, text in pairs.items()], expected, read=float)
    for name, value in values.items():
        named[_validation.choice(name, f"{option}: objective", [*objectives, "cost"])] = value
    return {"tolerance": [*named.values()], "cost_tolerance": cost}


#: Letters of a name, at least, before intervals leave the table to make room.
NAME = 24
#: Letters of what stands before a line below the table.
LABEL = 11


def print_advice(
    advice: Recommendation,
    out: Console,
    ratio: bool = False,
    everything: bool = False,
    source: str | None = None,
) -> None:
    """Print a recommendation: the headline, the table of the front, and a line for each question.

    With the ``source`` that a user named, the last line shows what else the command answers about it.
    """
    from cobandit.advice.answer import answer

    texts = answer(advice, ratio)
    print_lines(out, texts.headline, *texts.warnings)
    out.print(_draw_front(advice, out.width, everything), crop=False)
    grid = Table.grid()
    grid.add_column(width=LABEL, style="bold")
    grid.add_column(overflow="fold")
    for topic, line in texts.lines.items():
        grid.add_row(topic, plain(line[0].upper() + line[1:], most=100_000))
    if source is not None:
        command = f"cobandit recommend {shlex.quote(source)}"
        grid.add_row(
            "More", plain(f"{command} --html front.html   --why NAME   --all   --json", most=100_000)
        )
    out.print(grid)


def _draw_front(advice: Recommendation, width: int, everything: bool) -> Table:
    """Draw the table of the front and of others that may be on it, as full as the terminal allows."""
    from cobandit.advice.answer_table import STEP, TIMES, front_first, worth_showing, write_answer_table
    from cobandit.advice.words import percent

    likely = worth_showing(advice)
    shown = front_first(advice) if everything else likely.head(SHOWN)
    longest = max(len(plain(name)) for name in shown.index)

    # steps leave first, then intervals, then measured values; names are never cut, only folded
    for with_steps, with_intervals, with_measured in (
        (True, True, True),
        (False, True, True),
        (False, False, True),
        (False, False, False),
    ):
        texts = write_answer_table(
            advice, shown, with_intervals, step_intervals=False, measured=with_measured
        ).rename(columns={TIMES: ""})
        if not with_steps:
            texts = texts.drop(columns=STEP)
        widths = [max(len(str(head)), texts[head].str.len().max()) for head in texts]
        room = width - sum(widths) - len(widths) - 2
        if room >= (longest if with_steps else min(longest, NAME)):
            break

    notes = [f"{len(likely) - len(shown)} more with --all"] if len(likely) > len(shown) else []
    if with_intervals and not advice.exact:
        notes.append(f"intervals: {percent(advice.level)}, one mean at a time")
    if advice.measured and not with_measured:
        notes.append(f"{', '.join(advice.measured.values())}: in a wider terminal, or with --html")
    view = Table(box=box.SIMPLE_HEAD, padding=0, caption="; ".join(notes), caption_justify="left")
    view.add_column("configuration", min_width=len("configuration"), overflow="fold")
    for head in map(str, texts):
        view.add_column(head, justify="left" if head == STEP else "right", no_wrap=True)
    for name, *cells in texts.itertuples(name=None):
        view.add_row(plain(name), *cells)
    if room < len("configuration"):
        view.width = width - room + len("configuration")
    return view
