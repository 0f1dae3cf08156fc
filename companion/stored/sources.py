"""A checksum of the code that a result comes from, so that a changed formula is noticed without running it.

Read off the sources, without importing them: from a function on, every definition of
the two packages that a definition names belongs to it, and so do what it has as
strings: classes of methods, with their kernels, and files of facts next to its module.
Comments, docstrings, layout and the file in which a definition stands do not count.
What is said to people, how work is spread over processes, and how files are read and
checked decide no number and are left out.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import cobandit

#: Folders of the packages whose definitions count.
PACKAGES = {
    "cobandit": Path(cobandit.__file__).parent,
    "companion": Path(__file__).resolve().parents[1],
}
#: Where no number comes from: words, files, tables as files (whose checksum is kept
#: anyway), processes.
ELSEWHERE = (
    *(
        "cobandit.errors",
        "cobandit._text",
        "cobandit.figures",
        "cobandit.replay.parallel",
    ),
    *(
        f"cobandit.tables.{name}"
        for name in ("card", "catalogue", "columns", "frames", "storage", "whole_files")
    ),
    *("cobandit.replay.kernels._cache", "companion.stored.kept"),
)

#: A definition: its module and its name.
Place = tuple[str, str]


def _file(module: str) -> Path:
    """Where the source of a module is, or would be."""
    package, *inside = module.split(".")
    folder = PACKAGES[package].joinpath(*inside)
    places = folder / "__init__.pyi", folder / "__init__.py", folder.with_suffix(".py")
    return next(filter(Path.is_file, places), places[-1])


@cache
def _tree(module: str) -> ast.Module:
    """Return the source of a module, or of the stub of a package; empty if there is none."""
    path = _file(module)
    return (
        ast.parse(path.read_text(encoding="utf-8"))
        if path.is_file()
        else ast.Module([], [])
    )


@cache
def _bound(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module that bind each of its names; imports may stand in functions."""
    found: dict[str, list[ast.stmt]] = {}
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, []).append(node)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.setdefault(statement.name, []).append(statement)
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            for name in _names(statement, ast.Store):
                found.setdefault(name, []).append(statement)
    return found


def _names(statement: ast.stmt, context: type) -> set[str]:
    named = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in named if isinstance(node.ctx, context)}


def _leads(module: str, path: list[str]) -> Iterator[Place]:
    """Where a dotted name leads from a module: through imports to what defines it."""
    if (
        module.partition(".")[0] not in PACKAGES
        or module.startswith(ELSEWHERE)
        or not path
    ):
        return
    if _tree(f"{module}.{path[0]}").body:
        yield from _leads(f"{module}.{path[0]}", path[1:])
        return

    for statement in _bound(module).get(path[0], ()):
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            yield module, path[0]
            continue
        name = next(
            one.name for one in statement.names if path[0] in (one.asname, one.name)
        )
        if isinstance(statement, ast.Import):
            yield from _leads(name, path[1:])
        else:
            yield from _leads(statement.module or "", [name, *path[1:]])


@cache
def _kernels() -> dict[str, set[Place]]:
    """Kernels by the name of the class that they are registered for."""
    found: dict[str, set[Place]] = {}
    for path in PACKAGES["cobandit"].glob("replay/kernels/*.py"):
        module = f"cobandit.replay.kernels.{path.stem}"
        for statement in _tree(module).body:
            attributes = {
                node.attr
                for node in ast.walk(statement)
                if isinstance(node, ast.Attribute)
            }
            # a function with a decorator, or a call that registers what it names
            own = getattr(statement, "name", None)
            made = [own] if own else _names(statement, ast.Load)
            for name in attributes & _bound("cobandit.policies").keys():
                found.setdefault(name, set()).update(
                    place for one in made for place in _leads(module, [one])
                )

    return found


def _without_words(statement: ast.stmt) -> str:
    """Return the code of a statement without docstrings, comments and layout."""
    tree = ast.parse(ast.unparse(statement))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).replace('"', "'")  # versions of Python quote differently


@cache
def _definition(place: Place) -> tuple[str, frozenset[Place]]:
    """Return what a definition says, and the definitions that it names."""
    module, name = place
    said, named = [], set[Place]()
    if module.startswith("cobandit.policies"):
        named |= _kernels().get(name, set())
    for statement in _bound(module)[name]:
        said.append(_without_words(statement))
        own = set[str]()  # what a function takes and assigns
        if isinstance(statement, ast.FunctionDef):
            own = _names(statement, ast.Store)
            own |= {
                node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)
            }
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute):
                path = ast.unparse(node).split(".")
                named |= set() if path[0] in own else set(_leads(module, path))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # a docstring may be longer than the name of a file may be
                if node.value.isidentifier():
                    named |= set(_leads("cobandit.policies", [node.value]))
                if (
                    node.value.endswith(".yml")
                    and (facts := _file(module).with_name(node.value)).is_file()
                ):
                    said.append(facts.read_text(encoding="utf-8"))

    return "\n".join(said), frozenset(named)


def reached(module: str, name: str) -> set[Place]:
    """Name the definitions that one of the packages leads to, itself included.

    Examples
    --------
    >>> sorted(name for _, name in reached("cobandit.dominance", "pareto_mask"))
    ['TIE', '_rank', 'choice', 'means', 'numbers', 'pareto_mask']
    """
    found: set[Place] = set()
    coming = {(module, name)}
    while coming:
        found |= coming
        coming = {place for each in coming for place in _definition(each)[1]} - found
    return found


def code_checksum(function: Callable[..., Any]) -> str:
    """Return a checksum of all definitions that a function of the packages leads to, as they are now."""
    said = {
        _definition(place)[0]
        for place in reached(function.__module__, function.__name__)
    }
    return sha256("\n".join(sorted(said)).encode()).hexdigest()
