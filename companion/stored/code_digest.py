"""Checksum of the code behind a stored result, to detect changes without running it.

The checksum covers the function that computes the result, and all definitions of the
packages cobandit and companion to which the function refers, directly or indirectly.
Sources are parsed, not imported. A string in a definition is also a reference if it
names a policy class (then its kernel is included) or a YAML file next to the module.

Comments, docstrings, layout, and the file that contains a definition do not count.
Definitions that cannot change a number are left out: formatting of text, distribution
of work over processes, and reading and checking of files.
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
#: Modules that cannot change a number: text, files, processes, and tables as files.
#: (The checksums of tables are stored in any case.)
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
    *("cobandit.replay.kernels._cache", "companion.stored.store"),
)

#: A definition: its module and its name.
Place = tuple[str, str]


def _file(module: str) -> Path:
    """Return the path of the source of a module. The file need not exist."""
    package, *inside = module.split(".")
    folder = PACKAGES[package].joinpath(*inside)
    places = folder / "__init__.pyi", folder / "__init__.py", folder.with_suffix(".py")
    return next(filter(Path.is_file, places), places[-1])


@cache
def _tree(module: str) -> ast.Module:
    """Return the syntax tree of a module, or of the stub of a package.

    The tree is empty if the source does not exist.
    """
    path = _file(module)
    return (
        ast.parse(path.read_text(encoding="utf-8"))
        if path.is_file()
        else ast.Module([], [])
    )


@cache
def _bound(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module that bind each of its names.

    Imports within functions are included.
    """
    statements: dict[str, list[ast.stmt]] = {}
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                statements.setdefault(alias.asname or alias.name, []).append(node)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            statements.setdefault(statement.name, []).append(statement)
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            for name in _names(statement, ast.Store):
                statements.setdefault(name, []).append(statement)
    return statements


def _names(statement: ast.stmt, context: type) -> set[str]:
    named = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in named if isinstance(node.ctx, context)}


def _leads(module: str, path: list[str]) -> Iterator[Place]:
    """Yield the definitions of a dotted name in a module, following imports."""
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
            alias.name
            for alias in statement.names
            if path[0] in (alias.asname, alias.name)
        )
        if isinstance(statement, ast.Import):
            yield from _leads(name, path[1:])
        else:
            yield from _leads(statement.module or "", [name, *path[1:]])


@cache
def _kernels() -> dict[str, set[Place]]:
    """Return the definitions of replay kernels, by the name of their policy class."""
    kernels: dict[str, set[Place]] = {}
    for path in PACKAGES["cobandit"].glob("replay/kernels/*.py"):
        module = f"cobandit.replay.kernels.{path.stem}"
        for statement in _tree(module).body:
            attributes = {
                node.attr
                for node in ast.walk(statement)
                if isinstance(node, ast.Attribute)
            }
            # a decorated function, or a call that registers the functions that it names
            defined = getattr(statement, "name", None)
            candidates = [defined] if defined else _names(statement, ast.Load)
            for name in attributes & _bound("cobandit.policies").keys():
                kernels.setdefault(name, set()).update(
                    place
                    for candidate in candidates
                    for place in _leads(module, [candidate])
                )

    return kernels


def _without_words(statement: ast.stmt) -> str:
    """Return the code of a statement without docstrings, comments and layout."""
    tree = ast.parse(ast.unparse(statement))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    # versions of Python use different quotes
    return ast.unparse(tree).replace('"', "'")


@cache
def _definition(place: Place) -> tuple[str, frozenset[Place]]:
    """Return the code of a definition, and the definitions to which it refers."""
    module, name = place
    code = []
    references = set[Place]()
    if module.startswith("cobandit.policies"):
        references |= _kernels().get(name, set())
    for statement in _bound(module)[name]:
        code.append(_without_words(statement))
        local_names = set[str]()  # parameters and variables of a function
        if isinstance(statement, ast.FunctionDef):
            local_names = _names(statement, ast.Store)
            local_names |= {
                node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)
            }
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute):
                path = ast.unparse(node).split(".")
                references |= (
                    set() if path[0] in local_names else set(_leads(module, path))
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # a name of a policy, or of a file; check the ending of the latter
                # first, because a docstring is too long for a path
                if node.value.isidentifier():
                    references |= set(_leads("cobandit.policies", [node.value]))
                if (
                    node.value.endswith(".yml")
                    and (facts := _file(module).with_name(node.value)).is_file()
                ):
                    code.append(facts.read_text(encoding="utf-8"))

    return "\n".join(code), frozenset(references)


def list_definitions(module: str, name: str) -> set[Place]:
    """Return a definition and all definitions to which it refers, also indirectly.

    Examples
    --------
    >>> definitions = list_definitions("cobandit.dominance", "margins_of_others")
    >>> sorted(name for _, name in definitions)
    ['margins', 'margins_of_others', 'means', 'numbers']
    """
    definitions: set[Place] = set()
    frontier = {(module, name)}
    while frontier:
        definitions |= frontier
        frontier = {
            place for place in frontier for place in _definition(place)[1]
        } - definitions
    return definitions


def code_checksum(function: Callable[..., Any]) -> str:
    """Return a checksum of a function and of all definitions to which it refers."""
    code = {
        _definition(place)[0]
        for place in list_definitions(function.__module__, function.__name__)
    }
    return sha256("\n".join(sorted(code)).encode()).hexdigest()
