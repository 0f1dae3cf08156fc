"""The import graph of both packages: one direction, no cycles, no private names.

Read from the sources, so imports inside functions count like those at the top.  What
only a type checker sees (under ``TYPE_CHECKING``) keeps the direction too, but may
close a circle, since nothing is loaded.
"""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cobandit", "companion")
MOST_FILES = 9

#: From the bottom upwards.  A part imports from those below it; parts of one row do not
#: know each other.
LAYERS = [
    {"_text", "_version"},
    {"errors"},
    {"_budget", "_validation"},
    {"dominance"},
    {"problem"},
    {"theory"},
    {"policies"},
    {"tables"},
    {"stats"},
    {"replay", "live", "advice"},
    {"figures", "testing"},
    {""},  # `import cobandit` itself, which exports names of the rooms below
    {"cli"},
    {"__main__"},
    # the other package: nothing in the library imports it, the command line included
    {"companion"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


#: An object that shows itself asks what draws it, when it is asked: the one way
#: upwards.
SHOWS_ITSELF = {
    ("cobandit.advice.recommendation", "cobandit.figures"),
    ("cobandit.live.folder", "cobandit.figures"),
    ("cobandit.live.folder", "cobandit.advice"),
    ("cobandit.live.folder", "cobandit.advice.answer"),
}


class Edge(NamedTuple):
    """An import: its file and line, and whether it is only for type checkers."""

    importer: str
    imported: str
    line: int
    types_only: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of each module, by its dotted name."""
    matches = {}
    paths = sorted(
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        matches[name] = ast.parse(path.read_text(encoding="utf-8"))
    return matches


def for_types(tree: ast.Module) -> set[int]:
    """Lines under ``if TYPE_CHECKING:``."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in node.body
        for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
    }


def imported_by(node: ast.AST) -> list[str]:
    """Return our dotted names that a statement imports, with their modules."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names = []
    return [name for name in names if name.partition(".")[0] in PACKAGES]


def module_of(name: str) -> str:
    """The module that a dotted name is, or is in."""
    while name not in modules():
        name = name.rpartition(".")[0]
    return name


@cache
def edges() -> list[Edge]:
    return [
        Edge(importer, module_of(name), node.lineno, node.lineno in types)
        for importer, tree in modules().items()
        for types in [for_types(tree)]
        for node in ast.walk(tree)
        for name in imported_by(node)
        if module_of(name) != importer
        and (importer, module_of(name)) not in SHOWS_ITSELF
    ]


def part(module: str) -> str:
    package, _, inside = module.partition(".")
    return "companion" if package == "companion" else inside.partition(".")[0]


@pytest.mark.slow
def test_every_module_has_a_layer():
    assert {part(module) for module in modules()} == set(LEVEL)


def test_few_files_are_at_the_top():
    files = sorted(path.name for path in (ROOT / "cobandit").glob("*.py"))
    assert len(files) <= MOST_FILES, files


@pytest.mark.slow
def test_imports_point_one_way():
    upwards = [
        str(edge)
        for edge in edges()
        if part(edge.importer) != part(edge.imported)
        and LEVEL[part(edge.imported)] >= LEVEL[part(edge.importer)]
    ]
    assert not upwards, "\n".join(upwards)


@pytest.mark.slow
def test_imports_have_no_cycle():
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for edge in edges():
        if not edge.types_only:
            graph[edge.importer].add(edge.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


#: With an underscore only so that they do not clash with the fields of a named tuple.
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}


def private(name: str) -> bool:
    """Return whether a name is private; modules like `_budget` are not."""
    return (
        name.startswith("_")
        and not name.endswith("__")
        and name not in OF_NAMED_TUPLES
        and f"cobandit.{name}" not in modules()
    )


def foreign_underscores(tree: ast.Module) -> list[tuple[int, str]]:
    """Return private names that a module uses from elsewhere.

    A module's own are those that it assigns to ``self`` or ``cls``, or defines; in a
    class also what it inherits, which is reached through ``self``, ``cls`` or
    ``super()``.
    """
    own_names = {"self", "cls"}

    defined = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    } | {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in own_names
    }
    matches = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            matches += [
                (node.lineno, alias.name) for alias in node.names if private(alias.name)
            ]
        elif (
            isinstance(node, ast.Attribute)
            and private(node.attr)
            and node.attr not in defined
        ):
            holder = ast.unparse(node.value)
            # os._exit is documented
            if holder not in own_names and holder not in ("super()", "os"):
                matches.append((node.lineno, f"{holder}.{node.attr}"))

    return matches


@pytest.mark.slow
def test_private_names_are_used_only_in_their_module():
    touched = [
        f"{module}:{line} {name}"
        for module, tree in modules().items()
        for line, name in foreign_underscores(tree)
    ]
    assert not touched, "\n".join(touched)


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("from cobandit.replay.kernels import _draw", ["_draw"]),
        ("from cobandit import _budget\n_budget.floor(1)", []),
        ("policy._asked = 3", ["policy._asked"]),
        ("class A:\n    def f(self, other):\n        self._x = other._x", []),
        (
            (
                "class A(B):\n    def f(self):\n        return super()._choose() +"
                " self._choose()"
            ),
            [],
        ),
        ("x.__dict__, point._replace(x=1)", []),
    ],
)
def test_private_names_are_recognised(source, result):
    assert [name for _, name in foreign_underscores(ast.parse(source))] == result
