"""``cobandit recommend``: what to deploy, what is not settled, what to evaluate next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cobandit.cli.terminal import console, plain

if TYPE_CHECKING:
    from cobandit.advice import Recommendation

#: Rows shown of each table on the terminal; ``--json`` gives all.
SHOWN = 25
#: A column of amounts: 1.5e-07 that goes on in the next line reads as 1.5.
WHOLE: dict[str, Any] = {"justify": "right", "no_wrap": True, "overflow": "ellipsis"}


def recommend(
    table: Annotated[str, typer.Argument(help="Name in the catalogue, or file with a card next to it.")],
    budget: Annotated[
        float | None, typer.Option(help="What further evaluations may cost, in the table's unit.")
    ] = None,
    about: Annotated[
        str,
        typer.Option(help="What is to be settled: answers on instances like these, or on this benchmark."),
    ] = "instances",
    level: Annotated[float, typer.Option(help="Confidence of what is called settled.")] = 0.95,
    replications: Annotated[
        int | None, typer.Option(help="Redrawn tables, for shares and intervals (default: the library's).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the redraws, and of the order of instances.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what to deploy and what to evaluate next, with the evidence for it.

    Example: [b]cobandit recommend my.parquet --budget 20[/b]
    """
    import cobandit as cb

    redraws: dict[str, Any] = {} if replications is None else {"replications": replications}
    advice = cb.recommend(cb.open_table(table), budget, about=about, level=level, seed=seed, **redraws)
    if as_json:
        print(json.dumps(advice.to_dict(), indent=2, allow_nan=False))
        return
    show(advice, console())


def show(advice: Recommendation, out: Console) -> None:
    """Print a recommendation."""
    from cobandit.advice.words import PURCHASES, amount, purchases, sentences, worth_showing

    for line in sentences(advice):
        out.print(plain(line, most=4000))
    shown = worth_showing(advice)
    names = [name[:-4] for name in shown.columns.astype(str) if name.endswith("_low")]
    look: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
    view = Table(title=f"\nConfigurations of {advice.dataset}, by hypervolume per cost", **look)
    buys = purchases(advice)
    view.add_column("configuration", overflow="fold")
    for heading in (*buys, *names):
        view.add_column(_stacked(heading), justify="right", overflow="fold")
    view.add_column(_stacked(f"cost, {advice.unit}"), **WHOLE)
    for heading in ("front", "best"):
        view.add_column(_stacked(heading), justify="right", overflow="fold")
    for name, row in shown.head(SHOWN).iterrows():
        mark = "" if row["front_settled"] else " ?"
        win = "" if row["efficient_settled"] else " ?"
        view.add_row(
            plain(name),
            *(f"{int(row[each]):,}" if row[each] else "" for each in buys),
            *(f"{row[d]:.3f} ±{(row[f'{d}_high'] - row[f'{d}_low']) / 2:.3f}" for d in names),
            amount(row["cost"]),
            f"{'yes' if row['on_front'] else 'no'} ({row['front_share']:.0%}){mark}",
            f"{'yes' if row['most_efficient'] else 'no'} ({row['efficient_share']:.0%}){win}",
        )
    out.print(view)
    if len(shown) > SHOWN:
        out.print(f"and {len(shown) - SHOWN} more: --json gives all")
    out.print(
        "front: no other is better in every objective (a tie in one keeps it). best: most hypervolume per "
        f"cost. By the means, and in what share of redrawn tables. ?: not settled at {advice.level:.0%}. "
        f"±: half an interval at {advice.level:.0%}, one mean at a time."
        + "".join(f" {each}: {PURCHASES[each]}." for each in buys),
    )
    if not len(advice.questions):
        return
    view = Table(title="\nWhat is not settled, cheapest first", **look)
    for heading in ("configuration", "", "hardest to tell from"):
        view.add_column(heading, overflow="fold")
    for heading in ("gap/s.e.", "needed", "new instances"):
        view.add_column(_stacked(heading), justify="right", overflow="fold")
    view.add_column(_stacked(f"price, {advice.unit}"), **WHOLE)
    asks = {"front": "front?", "efficiency": "best?"}
    for question in advice.questions.head(SHOWN).itertuples():
        price = cast(float, question.price)
        view.add_row(
            plain(question.configuration),
            asks[str(question.kind)],
            plain(question.against),
            f"{question.ratio:.2f}",
            f"{question.factor:.2f}",
            *(
                [f"a {question.why}", "–"]
                if price == float("inf")
                else [f"{question.new_instances:,.0f}", amount(price)]
            ),
        )
    out.print(view)
    if len(advice.questions) > SHOWN:
        out.print(f"and {len(advice.questions) - SHOWN} more: --json gives all")


def _stacked(heading: str) -> str:
    """Put the words of a heading below each other: it asks for no more width than its longest word."""
    return "\n".join(heading.split())
