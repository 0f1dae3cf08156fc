"""The origin of each figure: data, parameters, calls, and the code that draws it.

An i at the corner of a figure shows the figure's origin. The cells behind a figure are
found backwards from the cell that draws it: a cell belongs to the figure if it defines,
or may change, a name that a later cell of the figure uses. The origin is computed from
the code, so it is never out of date.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

import jupytext
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

CHANGES = {"append", "extend", "update", "insert", "pop", "setdefault", "add", "tell"}
# calls on which no figure depends
BESIDE = {"use_style", "show_table", "glue"}
STORED = "companion.stored"


@dataclass
class Made:
    """The origin of a figure: its data, parameters and calls, and the drawing code."""

    data: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    code: str = ""


def names_of(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement uses, and the names that it may change.

    The latter include the names that it defines.
    """
    reads, makes, changes, within = set[str](), set[str](), set[str](), set[str]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name):
                (reads if isinstance(node.ctx, ast.Load) else makes).add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                makes.add(name)
            case ast.arg(arg=name):
                within.add(name)
            case ast.comprehension(target=target):
                within |= {
                    each.id for each in ast.walk(target) if isinstance(each, ast.Name)
                }
            case (
                ast.AugAssign(target=ast.Name(id=name))
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id=name), ctx=ast.Store())
            ):
                changes.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
                method in CHANGES
            ):
                changes.add(name)

    # a name that a loop or a function assigns is not used from outside
    if hasattr(statement, "body"):
        reads -= makes
    return (reads | changes) - within, (makes | changes) - within


def names_of_cell(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that a cell uses, and the names that it may change.

    A name that the cell defines before its use does not count as used.
    """
    reads, makes = set[str](), set[str]()
    for statement in tree.body:
        taken, made = names_of(statement)
        reads |= taken - makes
        makes |= made
    return reads, makes


def lead_to(trees: dict[int, ast.Module], drawn: int) -> list[int]:
    """Return the indices of all cells behind a figure, the drawing cell last."""
    found, wanted = [drawn], names_of_cell(trees[drawn])[0]
    for number in sorted((other for other in trees if other < drawn), reverse=True):
        reads, makes = names_of_cell(trees[number])
        if makes & wanted:
            found.insert(0, number)
            wanted = wanted - makes | reads
    return found


def imported(trees: Sequence[ast.Module]) -> dict[str, str]:
    """Return the full name of each imported object, by its name on the page."""
    found: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom):
            found |= {
                one.asname or one.name: f"{node.module}.{one.name}"
                for one in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {one.asname or one.name: one.name for one in node.names}
    return found


def called(tree: ast.Module, imports: dict[str, str]) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of functions of cobandit and companion in a cell.

    Each call comes with the full name of the function.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            root, _, rest = ast.unparse(node.func).partition(".")
            name = ".".join(filter(None, [imports.get(root, ""), rest]))
            if (
                name.startswith(("cobandit.", "companion."))
                and name.rpartition(".")[2] not in BESIDE
            ):
                yield name, node


def trace(cells: Sequence[NotebookNode], drawn: int, tables: frozenset[str]) -> Made:
    """Return the origin of the figure that cell ``drawn`` draws.

    ``tables`` has the names of all tables of the catalogue.
    """
    code = {
        i: cell for i, cell in enumerate(cells[: drawn + 1]) if cell.cell_type == "code"
    }

    trees = {i: ast.parse(cell.source) for i, cell in code.items()}
    imports, made = imported(list(trees.values())), Made(code=cells[drawn].source)
    for i in lead_to(trees, drawn):
        constants = [
            node.value for node in ast.walk(trees[i]) if isinstance(node, ast.Constant)
        ]
        made.data += [
            value for value in constants if isinstance(value, str) and value in tables
        ]
        if "parameters" in code[i].metadata.get("tags", []):
            made.parameters += [
                ast.unparse(line)
                for line in trees[i].body
                if isinstance(line, ast.Assign)
            ]
            continue
        for name, call in called(trees[i], imports):
            if name.startswith(STORED):
                given = [
                    arg.value for arg in call.args[:1] if isinstance(arg, ast.Constant)
                ]
                made.data.append(
                    f"stored result {(given or [name.rpartition('.')[2]])[0]}"
                )
            else:
                made.calls.append(name)

    for each in (made.data, made.parameters, made.calls):
        each[:] = dict.fromkeys(each)
    return made


def as_html(made: Made, documented: Callable[[str], str]) -> str:
    """Return the HTML of the i and of its content.

    ``documented`` returns the address of the documentation of a name, or ''.
    """
    calls = [
        f'<a href="{escape(place)}"><code>{escape(name.rpartition(".")[2])}</code></a>'
        for name in made.calls
        if (place := documented(name))
    ]
    lines = [
        f"<p>{what}: {', '.join(each)}.</p>"
        for what, each in (
            ("Data", [escape(name) for name in made.data]),
            (
                "Parameters",
                [f"<code>{escape(text)}</code>" for text in made.parameters],
            ),
            ("Computed with", calls),
        )
        if each
    ]
    code = highlight(made.code, PythonLexer(), HtmlFormatter())
    return (
        '<details class="made"><summary aria-label="How this figure was made"'
        ' title="How this was made">i'
        f"</summary><div>{''.join(lines)}{code}</div></details>"
    )


@cache
def source_of(path: Path) -> list[NotebookNode]:
    """Return the cells of a page. The file is read once for all of its figures."""
    return jupytext.read(path).cells


@cache
def known_tables() -> frozenset[str]:
    from cobandit import tables

    return frozenset(tables.datasets()["name"])


def made(page: Path, drawn: int, documented: Callable[[str], str]) -> str:
    """Return the origin of the figure that cell ``drawn`` of a page draws, as HTML."""
    return as_html(trace(source_of(page), drawn, known_tables()), documented)
