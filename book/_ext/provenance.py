"""How each figure was made: a graph of the tables, parameters and cells that it rests on, below the figure.

The cells are found backwards from the one that draws: a cell belongs to the figure if it made, or may have
changed, a name that a later one of them uses. Nothing is written down by hand, so nothing can be out of date.
"""

from __future__ import annotations

import ast
import dis
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from types import CodeType

import jupytext
from nbformat import NotebookNode

DOTTED = re.compile(r"\w+(\.\w+)*")
ROW, WIDTH = 24, 64  # pixels: height of a line, room for the arrows next to the lines
CHANGES = {"append", "extend", "update", "insert", "pop", "setdefault", "add", "tell"}
BESIDE = {"use_style", "show_table"}  # what a cell also does, and no figure rests on
SIGNS = {"table": "▤", "result": "◆", "parameters": "⚙", "step": "ƒ", "figure": "▣"}


@dataclass
class Cell:
    """What a cell reads, what it makes or may change, and what of cobandit and of its data it names."""

    reads: set[str] = field(default_factory=set)
    makes: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    tree: ast.Module | None = None


@dataclass(frozen=True)
class Row:
    """One line of the graph, and the lines above that lead to it."""

    kind: str
    text: str
    links: tuple[str, ...] = ()
    above: tuple[int, ...] = ()


def read_cell(source: str) -> Cell:
    """Take a cell's names from its byte code, in the order in which it reads and makes them."""
    tree = ast.parse(source)
    cell = Cell(tree=tree)
    for step in dis.get_instructions(compile(tree, "cell", "exec")):
        if step.opname == "LOAD_NAME" and step.argval not in cell.makes:
            cell.reads.add(step.argval)
        elif step.opname == "STORE_NAME":
            cell.makes.add(step.argval)
    cell.reads |= set(_inner(compile(tree, "cell", "exec"))) - cell.makes
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            cell.imports |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            cell.imports |= {one.asname or one.name: one.name for one in node.names}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            cell.values[statement.targets[0].id] = ast.unparse(statement.value)
    cell.makes |= set(_changed(tree))
    cell.makes -= set(cell.imports)
    return cell


def _changed(tree: ast.Module) -> Iterator[str]:
    """Names of what the cell may change in place: by a part, by such a method, or by playing a policy."""
    for node in ast.walk(tree):
        inside: ast.expr | None = None
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            inside = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CHANGES:
                inside = node.func.value
            elif node.func.attr == "play":
                inside = node.args[0]
        if isinstance(inside, ast.Name):
            yield inside.id


def _inner(code: CodeType) -> Iterator[str]:
    """Names that functions and comprehensions of the cell take from outside of them."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found = dis.get_instructions(inner)
            yield from (step.argval for step in found if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
            yield from _inner(inner)


def named(cell: Cell, imports: dict[str, str]) -> list[str]:
    """Dotted names of cobandit that the cell uses, in its order."""
    found = []
    for node in ast.walk(cell.tree or ast.Module([], [])):
        if isinstance(node, ast.Attribute | ast.Name) and DOTTED.fullmatch(ast.unparse(node)):
            root, _, rest = ast.unparse(node).partition(".")
            if imports.get(root, "").startswith("cobandit"):
                found.append(f"{imports[root]}.{rest}" if rest else imports[root])
    return [name for name in dict.fromkeys(found) if name.rpartition(".")[2] not in BESIDE]


def data_of(cell: Cell, known: frozenset[str]) -> list[tuple[str, str]]:
    """Tables and stored results that the cell names, as kind and name."""
    found = []
    for node in ast.walk(cell.tree or ast.Module([], [])):
        if isinstance(node, ast.Constant) and node.value in known:
            found.append(("table", str(node.value)))
        elif isinstance(node, ast.Attribute) and node.attr == "load_bundled":
            found.append(("table", "every bundled table"))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "results.read_result" and node.args:
            found.append(("result", ast.unparse(node.args[0]).strip("\"'")))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("results.cells", "results.ledger"):
            found.append(("result", "replication"))
    return list(dict.fromkeys(found))


def rows_of(
    cells: list[NotebookNode], drawn: int, known: frozenset[str], documented: Callable[[str], str]
) -> list[Row]:
    """Lines of the graph of the figure that the cell number ``drawn`` draws.

    ``known`` are the names of the tables; ``documented`` gives the address of a name of cobandit, empty if it
    has none.
    """
    read = {i: read_cell(cells[i].source) for i in range(drawn + 1) if cells[i].cell_type == "code"}
    imports = {alias: name for cell in read.values() for alias, name in cell.imports.items()}
    wanted, gives = set(read[drawn].reads), {drawn: set[str]()}
    for i in sorted(read, reverse=True)[1:]:
        if needed := (read[i].makes - set(imports)) & wanted:
            gives[i] = needed
            wanted = wanted - read[i].makes | read[i].reads
    rows: list[Row] = []
    maker: dict[str, int] = {}
    for i in sorted(gives):
        cell, parameters = read[i], "parameters" in cells[i].metadata.get("tags", [])
        above = {maker[name] for name in cell.reads if name in maker}
        text, links = ", ".join(sorted(gives[i])) or "this figure", ()
        if parameters:
            values = {name: value for name, value in cell.values.items() if name in gives[i]}
            text = ", ".join(f"{name} = {value}" for name, value in values.items())
            data = [("table", name) for name in sorted(known) if f"'{name}'" in text]
        else:
            data = data_of(cell, known)
            links = tuple(name for name in named(cell, imports) if documented(name))
        for kind, name in data:
            rows.append(Row(kind, name if kind == "table" else f"stored result {name}"))
            above.add(len(rows) - 1)
        kind = "parameters" if parameters else "figure" if i == drawn else "step"
        rows.append(Row(kind, text, links, tuple(sorted(above))))
        maker |= dict.fromkeys(cell.makes, len(rows) - 1)
    return rows


def drawing(rows: list[Row], documented: Callable[[str], str]) -> str:
    """Draw the graph as HTML: one line per node, arrows next to them, what it is called by as links."""
    paths, lines = [], []
    for number, row in enumerate(rows):
        low = number * ROW + ROW / 2
        for other in row.above:
            high = other * ROW + ROW / 2
            bend = WIDTH - min(WIDTH, 14 + 9 * (number - other))
            end = WIDTH - 6
            paths.append(f'<path d="M{end} {high} C{bend} {high} {bend} {low} {end} {low}"/>')
        if row.above:
            paths.append(f'<path class="tip" d="M{WIDTH} {low} l-8 -3.5 v7 z"/>')
        calls = ", ".join(
            f'<a href="{escape(documented(name))}"><code>{escape(name.rpartition(".")[2])}</code></a>'
            for name in row.links
        )
        by = f" with {calls}" if calls else ""
        lines.append(f"<li>{SIGNS[row.kind]} {escape(row.text)}{by}</li>")
    height = ROW * len(rows)
    picture = (
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" aria-hidden="true">'
        f"{''.join(paths)}</svg>"
    )
    return (
        '<details class="made"><summary>How this was made</summary>'
        f'<div class="made-graph">{picture}<ul>{"".join(lines)}</ul></div></details>'
    )


@cache
def source_of(path: Path) -> list[NotebookNode]:
    """Cells of a page, read once for all of its figures."""
    return jupytext.read(path).cells


@cache
def known_tables() -> frozenset[str]:
    from cobandit import tables

    return frozenset(tables.datasets()["name"])


def made(page: Path, drawn: int, documented: Callable[[str], str]) -> str:
    """HTML of how the figure was made that the cell number ``drawn`` of a page draws."""
    cells = source_of(page)
    return drawing(rows_of(cells, drawn, known_tables(), documented), documented)
