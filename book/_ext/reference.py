"""The reference pages, one per package, which document every public name.

The pages are written when the book is built. A page ``book/api/PACKAGE`` begins with a
table of the package's names and the first lines of their docstrings, and then documents
the names module by module. A name is documented under its shortest path: at the top
level, otherwise in the package that exports it, otherwise in its module. Names and
paths with a leading underscore are private, and so are the modules in `PRIVATE`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.pycode import ModuleAnalyzer

import cobandit
import companion

FOLDER = "book/api/"
PRIVATE = ("cobandit.cli", "cobandit.__main__", "companion.cli")
"""Modules without a Python interface, such as commands, which have their own help."""

ATTRIBUTES = re.compile(r"Attributes\n-+\n(.*?)(?:\n\S+\n-+\n|$)", re.DOTALL)


@cache
def public_modules() -> tuple[ModuleType, ...]:
    """Import every public module, each package before its modules."""
    names = [
        module.name
        for package in (cobandit, companion)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    public = [
        name for name in names if "._" not in name and not name.startswith(PRIVATE)
    ]
    return tuple(map(importlib.import_module, public))


def package_of(module: ModuleType) -> str:
    """Return the name of the package on whose page a module is documented.

    Examples
    --------
    >>> import cobandit.dominance, cobandit.tables.importers.helm
    >>> import companion.paper.printed
    >>> package_of(cobandit.dominance), package_of(cobandit.tables.importers.helm)
    ('cobandit', 'cobandit.tables')
    >>> package_of(companion.paper.printed)
    'companion.paper'
    """
    parts = module.__name__.split(".")
    is_single_file = len(parts) == 2 and not hasattr(module, "__path__")
    return parts[0] if is_single_file else ".".join(parts[:2])


@cache
def find_places() -> dict[int, str]:
    """Return the shortest path of each documented function and class, by its id."""
    modules = public_modules()

    packages = [module for module in modules if hasattr(module, "__path__")]
    found: dict[int, str] = {}
    for module in (cobandit, *packages, *modules):
        for name in dir(module):
            thing = getattr(module, name)
            inside = f"{getattr(thing, '__module__', '')}.".startswith(
                f"{module.__name__}."
            )
            documented = (
                inspect.isroutine(thing) or inspect.isclass(thing)
            ) and inspect.getdoc(thing)
            if (
                inside
                and documented
                and name.isidentifier()
                and not name.startswith("_")
            ):
                found.setdefault(id(thing), f"{module.__name__}.{name}")

    return found


def documented_in(module: ModuleType) -> list[Any]:
    """List the documented functions and classes of a module, in its order."""
    places = find_places()
    return [
        thing
        for thing in vars(module).values()
        if getattr(thing, "__module__", None) == module.__name__ and id(thing) in places
    ]


def list_names(title: str, things: list[Any]) -> str:
    """Return the directive for a table of names with their first lines."""
    places = find_places()
    names = "\n".join(f"   ~{places[id(thing)]}" for thing in things)
    return (
        f"```{{eval-rst}}\n.. rubric:: {title}\n\n.. autosummary::\n  "
        f" :nosignatures:\n\n{names}\n```\n"
    )


def describe_class(thing: type) -> str:
    """Return the directive that documents a class.

    Members that the docstring of the class lists are left out.
    """
    kind = "exception" if issubclass(thing, BaseException) else "class"
    section = ATTRIBUTES.search(inspect.getdoc(thing) or "")
    listed = re.findall(r"(?m)^(\w[\w, ]*?) :", section[1] if section else "")
    # without a comment, Python's docstring of a field is "Alias for field number ..."
    comments = ModuleAnalyzer.for_module(thing.__module__).find_attr_docs()
    fields = [
        name
        for name in getattr(thing, "_fields", ())
        if (thing.__qualname__, name) not in comments
    ]
    excluded = ", ".join([*listed, *fields])
    text = f".. auto{kind}:: {find_places()[id(thing)]}\n   :members:\n"
    return text + (f"   :exclude-members: {excluded}\n" if excluded else "")


def describe_module(module: ModuleType) -> Iterator[str]:
    """Yield the directives that document a module and its contents, in source order."""
    places = find_places()
    # a module cannot be linked to if a function has the same name
    hidden = "   :no-index:\n" if module.__name__ in places.values() else ""
    yield f".. automodule:: {module.__name__}\n{hidden}"

    commented = {
        name for _, name in ModuleAnalyzer.for_module(module.__name__).find_attr_docs()
    }
    here = {id(thing) for thing in documented_in(module)}
    for name, thing in vars(module).items():
        if id(thing) in here and inspect.isclass(thing):
            yield describe_class(thing)
        elif id(thing) in here:
            yield f".. autofunction:: {places[id(thing)]}\n"
        elif name in commented and isinstance(thing, dict) and not name.startswith("_"):
            # a registry
            yield f".. autodata:: {module.__name__}.{name}\n   :no-value:\n"


def is_exported(thing: Any, package: str) -> bool:
    """Return whether a package itself exports a name."""
    return find_places()[id(thing)].rpartition(".")[0] == package


def write_page(package: str) -> Iterator[str]:
    """Yield the text of a package's page: tables of its names, and then each module."""
    every = [thing for module in public_modules() for thing in documented_in(module)]
    modules = [module for module in public_modules() if package_of(module) == package]

    yield f"# {package}\n"
    if exported := [thing for thing in every if is_exported(thing, package)]:
        yield list_names(f"Imported from {package}", exported)
    for module in modules:
        others = [
            thing for thing in documented_in(module) if not is_exported(thing, package)
        ]
        if others:
            yield list_names(f"In {module.__name__}", others)
    for module in modules:
        yield (
            "## "
            f"{module.__name__.removeprefix('cobandit.').removeprefix('companion.')}\n"
        )
        yield "\n".join(["```{eval-rst}", *describe_module(module), "```\n"])


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the source of a reference page by its content."""
    if page.startswith(FOLDER):
        source[0] += "\n".join(write_page(page.removeprefix(FOLDER)))


def show_types(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    signature: str,
    returns: str,
) -> tuple[str, str] | None:
    """Return the signature of an object, with types as written in the source."""
    if inspect.isclass(thing):
        parameters = write_fields(thing) or write_constructor(thing)
        return None if parameters is None else (f"({parameters})", "")

    definition = parse_definition(thing)
    if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    returned = definition.returns
    return_type = "" if returned is None else ast.unparse(returned)
    return f"({ast.unparse(definition.args)})", return_type


def parse_definition(thing: Any) -> ast.stmt | None:
    """Return the definition of a function or class, or None if it has no source."""
    module = getattr(thing, "__module__", None)
    definitions = parse_module(module) if module in sys.modules else {}
    return definitions.get(getattr(thing, "__qualname__", ""))


@cache
def parse_module(name: str) -> dict[str, ast.stmt]:
    """Return all definitions of a module by their qualified names."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (OSError, TypeError):
        return {}
    return dict(find_definitions(ast.parse(source).body))


def find_definitions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.stmt]]:
    """Yield all functions, classes and methods with their qualified names.

    Methods have no parameter ``self`` or ``cls``.
    """
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if prefix:
                remove_self(statement)
            yield f"{prefix}{statement.name}", statement
        elif isinstance(statement, ast.ClassDef):
            qualified = f"{prefix}{statement.name}"
            yield qualified, statement
            yield from find_definitions(statement.body, f"{qualified}.")


def remove_self(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Remove the parameter ``self`` or ``cls`` of a method."""
    parameters = definition.args.posonlyargs or definition.args.args
    if parameters and parameters[0].arg in ("self", "cls"):
        del parameters[0]


def write_fields(thing: type) -> str | None:
    """Return the fields of a NamedTuple with their types, or None for other classes."""
    definition = parse_definition(thing) if hasattr(thing, "_fields") else None
    if not isinstance(definition, ast.ClassDef):
        return None
    fields = [line for line in definition.body if isinstance(line, ast.AnnAssign)]
    return ", ".join(map(ast.unparse, fields))


def write_constructor(thing: type) -> str | None:
    """Return the parameters of a constructor with types, or None without its source.

    The parameters include the parameters of inherited constructors, to which a
    constructor may pass its options.
    """
    written: dict[str, str] = {}
    for base in reversed(thing.__mro__):
        if inspect.isfunction(vars(base).get("__init__")):
            definition = parse_definition(base.__init__)
            if isinstance(definition, ast.FunctionDef):
                written |= write_parameters(definition)
    if not written:
        return None

    parameters = inspect.signature(thing).parameters.values()
    if any(parameter.name not in written for parameter in parameters):
        return None
    parts: list[str] = []
    for parameter in parameters:
        is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if is_keyword and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(written[parameter.name])
    return ", ".join(parts)


def write_parameters(definition: ast.FunctionDef) -> dict[str, str]:
    """Return each parameter of a method with its type and default."""
    arguments = definition.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    defaults = [None] * first_default + arguments.defaults
    pairs = [
        *zip(positional, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    written = {}
    for argument, default in pairs:
        text = ast.unparse(argument)
        written[argument.arg] = (
            text if default is None else f"{text} = {ast.unparse(default)}"
        )
    if arguments.vararg:
        written[arguments.vararg.arg] = f"*{ast.unparse(arguments.vararg)}"
    if arguments.kwarg:
        written[arguments.kwarg.arg] = f"**{ast.unparse(arguments.kwarg)}"
    return written


def allow_equal_names(app: Sphinx, config: Config) -> None:
    """Allow classes of equal names; a type in a docstring then links to the first."""
    config.suppress_warnings.append("ref.python")


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autosummary")
    app.connect("config-inited", allow_equal_names)
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-signature", show_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
