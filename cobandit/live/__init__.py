"""Evaluations that are made now: a journal that a run can be resumed from, and runs as a plan says."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cobandit.live.journal import Journal, Told

if TYPE_CHECKING:
    from cobandit.live.progress import Progress
    from cobandit.live.runner import Run, export, run

#: What needs pandas and an event loop, by its module: imported when it is first used.
_LATER = {"Progress": "progress", "Run": "runner", "export": "runner", "run": "runner"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'cobandit.live' has no attribute {name!r}")
    value = getattr(import_module(f"cobandit.live.{_LATER[name]}"), name)
    globals()[name] = value
    return value


__all__ = ["Journal", "Progress", "Run", "Told", "export", "run"]
