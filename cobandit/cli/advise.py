"""``cobandit datasets``, ``validate``, ``doctor`` and ``recommend``: tables, and what one says."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from os.path import commonprefix
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from cobandit.cli import About, Budget, InCatalogue, Level, console, plain, read_pairs

if TYPE_CHECKING:
    from cobandit.advice import Recommendation


def datasets() -> None:
    """List the evaluation tables that can be loaded by name, with their licences and where they come from."""
    import pandas as pd

    import cobandit as cb

    out = console()
    for row in cb.datasets().to_dict("records"):
        out.print(row.pop("name"), style="bold")
        for key, value in row.items():
            if pd.notna(value):
                print_filled(f"{key}: {value}", out, ())
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
    for line in (
        *repr(table).splitlines(),
        f"a single profiling evaluation costs {low} to {high} {unit}",
        f"best in the objectives, whatever the cost: {', '.join(map(plain, best))}",
    ):
        print_filled(line, out, table.configs)
    out.print("valid", style="green")


def doctor(
    table: InCatalogue,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look a table over: what a careful colleague would notice, with its number and what to do.

    Findings are no errors, and the exit code is 0.

    Example: [b]cobandit doctor my.parquet[/b]
    """
    import cobandit as cb
    from cobandit import advice

    data = cb.open_table(table)
    findings = advice.doctor(data)
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
        return
    out = console()
    for line in repr(data).splitlines():
        out.print(plain(line))
    for finding in findings:
        print_filled(f"{finding.name}: {finding.found}.", out, data.configs)
        print_filled(f"  -> {finding.todo}.", out, data.configs)
    if not findings:
        out.print("nothing to notice", style="green")


#: Rows of the table on the terminal; ``--json`` gives all.
SHOWN = 25
#: Letters that a name keeps where the terminal is narrow, and those of a name in a sentence.
LEAST, LONGEST = 12, 40
#: Stands for a space that is no place to break a line.
KEPT = "\N{NO-BREAK SPACE}"


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
            metavar="[OBJECTIVE=]VALUE", help="Choose the cheapest that is so close to the best, or closer."
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
    instances: Annotated[
        int | None,
        typer.Option(
            help="Instances of the benchmark, if more than the table has (default: as its card says)."
        ),
    ] = None,
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
        within=_read_within(within, data.objectives),
        prefer=_read("--prefer", prefer.split(",") if prefer else None, ":"),
        tolerance=tolerance,
        about=about,
        dominance=dominance,
        n_instances=instances,
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
    return read_pairs(option, given or [], expected, float, lambda text: text.rpartition(separator))


def _read_within(given: list[str] | None, objectives: tuple[str, ...]) -> dict[str, float]:
    """As `_read`; a number by itself is meant for every objective."""
    every = [f"{name}={text}" for text in given or [] if "=" not in text for name in objectives]
    return _read("--within", [*every, *(text for text in given or [] if "=" in text)])


def print_advice(advice: Recommendation, out: Console) -> None:
    """Print a recommendation."""
    from cobandit.advice.words import describe, draw_front

    for line in describe(advice):
        print_filled(line, out, advice.arms.index, LONGEST)
    out.print()
    for line in draw_front(advice):
        out.print(plain(line), no_wrap=True, overflow="crop")
    _show_table(advice, out)


def print_filled(line: str, out: Console, names: Iterable[str], longest: int = 1000) -> None:
    """Print a line over several, none broken in a name, which is cut if it is longer, or before a %."""
    cut = shorten_names(names, longest)
    text = plain(line, most=100_000)
    for kept in (" %", "n = "):
        text = text.replace(kept, kept.replace(" ", KEPT))
    for name in sorted(cut, key=len, reverse=True):
        text = text.replace(name, cut[name].replace(" ", KEPT))
    text = fill(text, out.width, break_long_words=False, break_on_hyphens=False)
    out.print(text.replace(KEPT, " "), no_wrap=True, overflow="ignore", crop=False)


def shorten_names(names: Iterable[object], cells: int) -> dict[str, str]:
    """Cut the middle of names that take more cells; where they would then look alike, what they share.

    Examples
    --------
    >>> shorten_names(["one model, 3 shots, of the best", "one model, 5 shots, of the best"], 20).values()
    dict_values(['one mo...3...e best', 'one mo...5...e best'])
    """
    from cobandit.faults import ellipsize

    short, groups = {}, defaultdict(list)
    for name in dict.fromkeys(plain(each, most=1000) for each in names):
        short[name] = ellipsize(name, cells * len(name) // max(cell_len(name), 1))
        groups[short[name]].append(name)
    for alike in groups.values():
        if len(alike) > 1:
            start = len(commonprefix(alike))  # noqa: RUF071 (letters are meant)
            end = len(commonprefix([name[:start:-1] for name in alike]))  # noqa: RUF071
            for name in alike:
                own, room = name[start : len(name) - end], (cells - len(name) + start + end - 6) // 2
                first, last = name[: min(start, room)], name[len(name) - min(end, room) :]
                short[name] = ellipsize(f"{first}...{own}...{last}", cells) if room > 0 else short[name]
    return short


def _show_table(advice: Recommendation, out: Console) -> None:
    """Print the front and who else could be on it, names cut in the middle to what the terminal holds."""
    from cobandit.advice.words import MARKS, percent, worth_showing
    from cobandit.faults import amount

    shown, front = worth_showing(advice), advice.front
    heads = ["", "configuration", "n", f"cost, {advice.unit}", "step", *advice.objectives, "stays"]
    rows = [["\n".join(head.split()) for head in heads]]
    for place, (name, row) in enumerate(shown.head(SHOWN).iterrows()):
        times = front["times"].get(name, float("nan"))
        rows.append(
            [
                (MARKS[place : place + 1] or "*") if name in front.index else "",
                plain(name, most=1000),
                f"{row['instances']:,}",
                amount(row["cost"]),
                "" if times != times else f"x{times:.3g}",
                *(_show_mean(row, objective) for objective in advice.objectives),
                f"{percent(row['front_share'])}{'' if row['front_settled'] else ' ?'}",
            ]
        )
    room = out.width - _width(rows)
    if room < LEAST:  # so many objectives that numbers would be cut: their intervals go first
        rows = [[cell.partition(" ±")[0] for cell in row] for row in rows]
        room = max(LEAST, out.width - _width(rows))
    view = Table(
        title=f"\nConfigurations of {advice.dataset}, cheapest first",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    for place, head in enumerate(rows[0]):
        view.add_column(head, justify="left" if place == 1 else "right", no_wrap=True, overflow="ellipsis")
    short = shorten_names([row[1] for row in rows[1:]], room)
    for mark, name, *cells in rows[1:]:
        view.add_row(mark, short[name], *cells)
    out.print(view)
    if len(shown) > SHOWN:
        out.print(f"and {len(shown) - SHOWN} more: --json gives all")
    print_filled(
        "n: instances. step: cost over that of the row above. ±: half an interval at "
        f"{percent(advice.level)}, one mean at a time. stays: share of the sets of instances resampled from "
        f"these in which it is worth its cost. ?: not settled at {percent(advice.level)}. Names are whole "
        "with --json.",
        out,
        (),
    )


def _show_mean(row: Any, objective: str) -> str:
    if row[objective] in (0, 1):  # all instances score alike
        return f"{row[objective]:.3f}"
    half = f"{(row[f'{objective}_high'] - row[f'{objective}_low']) / 2:.3f}"
    return f"{row[objective]:.3f} ±{half.removeprefix('0')}"


def _width(rows: list[list[str]]) -> int:
    """What all columns but that of the names take, and the spaces between them."""
    widths = [
        max(cell_len(line) for cell in cells for line in cell.split("\n"))
        for cells in zip(*rows, strict=True)
    ]
    return sum(widths) - widths[1] + len(widths) + 1
