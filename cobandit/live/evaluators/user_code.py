"""Importing a user's modules and functions, and describing their errors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cobandit._text import suggest
from cobandit.errors import raise_fault


def import_module(name: str) -> Any:
    """Import a module that the user names; the current folder is searched first.

    Raises
    ------
    TableError
        If the module does not exist, or raises an error on import.
    """
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = (
            f"the module cannot be imported in {folder} by {sys.executable}: {error}"
        )
        remedy = (
            "write the name without '.py' and with dots between folders, start in"
            " the folder of the module, and install the packages that it needs"
        )
        raise_fault(repr(name), problem, remedy, "no-module")
    except (Exception, SystemExit) as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{last.filename}, line {last.lineno}"
        problem = f"the import of this module fails ({place}): {describe_error(error)}"
        raise_fault(repr(name), problem, "correct the module", "failing-module")


def load_function(name: str, *arguments: str) -> Callable[..., Any]:
    """Import ``module:function``, and check that it accepts the given arguments.

    Raises
    ------
    TableError
        If the function does not exist, or does not take the arguments.

    Examples
    --------
    >>> load_function("shutil:wich", "name")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 'shutil:wich': the module 'shutil' has no 'wich' -> \
did you mean 'which'? check the name
    """
    module_name, _, path = name.partition(":")
    module = import_module(module_name)
    try:
        function: Callable[..., Any] = pkgutil.resolve_name(name)
    except AttributeError:
        remedy = suggest(
            path, (n for n in vars(module) if not n.startswith("_")), "check the name"
        )
        problem = f"the module {module_name!r} has no {path!r}"
        raise_fault(repr(name), problem, remedy, "no-function")

    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        call = f"{path}({', '.join(arguments)})"
        problem = f"the function cannot be called as {call}: {error}"
        remedy = "define the function with these parameters"
        raise_fault(repr(name), problem, remedy, "parameters")
    except ValueError:  # a compiled function without a signature
        pass

    return function


def describe_error(error: BaseException) -> str:
    """Describe an error of user code in one line.

    Examples
    --------
    >>> describe_error(KeyError("model")), describe_error(TimeoutError())
    ("KeyError: 'model'", 'TimeoutError')
    """
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
