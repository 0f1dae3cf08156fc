"""The reference: every public name of both packages, written into ``book/api`` when the book is built.

A name is documented where a user finds it: at the top level, else in the package that exports it, else in the
module that defines it.  What begins with an underscore, here or in its path, is private, and so is `PRIVATE`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.pycode import ModuleAnalyzer

import cobandit
import companion

PAGE = "book/api"
PRIVATE = ("cobandit.cli", "cobandit.__main__", "companion.cli")
"""Modules that are no interface: commands say themselves what they take."""

ATTRIBUTES = re.compile(r"Attributes\n-+\n(.*?)(?:\n\S+\n-+\n|$)", re.DOTALL)


def public_modules() -> list[ModuleType]:
    """Import every public module, a package before what is in it."""
    names = [
        module.name
        for package in (cobandit, companion)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [
        importlib.import_module(name) for name in names if "._" not in name and not name.startswith(PRIVATE)
    ]


def section_of(module: str) -> str:
    """Name the package that a module is told with.

    Examples
    --------
    >>> section_of("cobandit.tables.importers.helm"), section_of("companion.paper.printed")
    ('cobandit.tables', 'companion.paper')
    """
    return ".".join(module.split(".")[:2])


def find_places(modules: list[ModuleType]) -> dict[int, str]:
    """Find the shortest path of each function and class that says what it is, by its identity."""
    found: dict[int, str] = {}
    for module in (cobandit, *(each for each in modules if hasattr(each, "__path__")), *modules):
        for name in dir(module):
            thing = getattr(module, name)
            inside = f"{getattr(thing, '__module__', '')}.".startswith(f"{module.__name__}.")
            documented = (inspect.isroutine(thing) or inspect.isclass(thing)) and inspect.getdoc(thing)
            if inside and documented and name.isidentifier() and not name.startswith("_"):
                found.setdefault(id(thing), f"{module.__name__}.{name}")
    return found


def describe_class(thing: type, path: str) -> str:
    """Ask for a class with its members, but for those that its docstring lists as attributes."""
    kind = "exception" if issubclass(thing, BaseException) else "class"
    section = ATTRIBUTES.search(inspect.getdoc(thing) or "")
    listed = re.findall(r"(?m)^(\w[\w, ]*?) :", section[1] if section else "")
    text = f".. auto{kind}:: {path}\n   :members:\n"
    return text + (f"   :exclude-members: {', '.join(listed)}\n" if listed else "")


def write_reference(modules: list[ModuleType]) -> Iterator[str]:
    """Write the sections, module by module, each with its contents in the order of the source."""
    where, section = find_places(modules), ""
    for module in modules:
        if section != (section := section_of(module.__name__)):
            yield f"\n## {section}\n"
        # a function may have the name of its module, which then cannot be linked to
        hidden = "   :no-index:\n" if module.__name__ in where.values() else ""
        said = {name for _, name in ModuleAnalyzer.for_module(module.__name__).find_attr_docs()}
        yield f"```{{eval-rst}}\n.. automodule:: {module.__name__}\n{hidden}"
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) == module.__name__ and id(thing) in where:
                path = where[id(thing)]
                yield describe_class(thing, path) if inspect.isclass(thing) else f".. autofunction:: {path}\n"
            elif name in said and isinstance(thing, dict) and not name.startswith("_"):  # a registry
                yield f".. autodata:: {module.__name__}.{name}\n   :no-value:\n"
        yield "```\n"


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the reference below what its page says."""
    if page == PAGE:
        source[0] += "\n".join(write_reference(public_modules()))


def allow_equal_names(app: Sphinx, config: Config) -> None:
    """Let two modules have a class of one name: a type in a docstring then leads to the first."""
    config.suppress_warnings.append("ref.python")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", allow_equal_names)
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
