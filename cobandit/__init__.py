"""Cost-aware multi-objective bandits: the library behind the book.

Means and costs go in as arrays, objectives are maximised and lie in [0, 1], costs carry their unit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cobandit import theory
from cobandit.dominance import classification_gaps, margins, pareto_mask
from cobandit.errors import BudgetError, CobanditError, DatasetUnavailable, GuaranteeWarning
from cobandit.faults import TableError
from cobandit.live.journal import Journal
from cobandit.policies import (
    HVUCB,
    PSISR,
    AccuracyCostUCB,
    CoHVKLUCB,
    CoHVUCB,
    CoHVUCBV,
    CoPSI,
    CoPSIAdaptive,
    CoPSIExact,
    CoPSIOnce,
    UniformAllocation,
    UniformIdentification,
)
from cobandit.problem import Problem, hypervolume

if TYPE_CHECKING:
    from cobandit import replay as replay
    from cobandit import tables as tables
    from cobandit.advice.recommendation import recommend
    from cobandit.replay import play, replay_identification, replay_online, replay_paths, spec
    from cobandit.tables import EvaluationTable, datasets, load, open_table, read

    __version__: str

#: What needs pandas or the compiler, by the module that has it: imported when it is first used.
_LATER = {
    "advice": ("recommend",),
    "replay": ("play", "replay_identification", "replay_online", "replay_paths", "spec"),
    "tables": ("EvaluationTable", "datasets", "load", "open_table", "read"),
}
_MODULES = ("replay", "stats", "tables")


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__version__":
        value = _version()
    elif name in _MODULES:
        value = import_module(f"cobandit.{name}")
    else:
        home = next((module for module, names in _LATER.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'cobandit' has no attribute {name!r}")
        value = getattr(import_module(f"cobandit.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cobandit")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


__all__ = [
    "HVUCB",
    "PSISR",
    "AccuracyCostUCB",
    "BudgetError",
    "CoHVKLUCB",
    "CoHVUCB",
    "CoHVUCBV",
    "CoPSI",
    "CoPSIAdaptive",
    "CoPSIExact",
    "CoPSIOnce",
    "CobanditError",
    "DatasetUnavailable",
    "EvaluationTable",
    "GuaranteeWarning",
    "Journal",
    "Problem",
    "TableError",
    "UniformAllocation",
    "UniformIdentification",
    "classification_gaps",
    "datasets",
    "hypervolume",
    "load",
    "margins",
    "open_table",
    "pareto_mask",
    "play",
    "read",
    "recommend",
    "replay_identification",
    "replay_online",
    "replay_paths",
    "spec",
    "theory",
]
