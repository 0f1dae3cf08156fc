"""Cost-aware multi-objective bandits: the library behind the book.

Means and costs go in as arrays, objectives are maximised and lie in [0, 1], costs carry their unit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cobandit.errors import BudgetError, CobanditError, DatasetUnavailable, GuaranteeWarning

if TYPE_CHECKING:
    from cobandit import dominance as dominance
    from cobandit import faults as faults
    from cobandit import live as live
    from cobandit import policies as policies
    from cobandit import problem as problem
    from cobandit import replay as replay
    from cobandit import stats as stats
    from cobandit import tables as tables
    from cobandit import theory as theory
    from cobandit.advice.recommendation import recommend
    from cobandit.dominance import classification_gaps, margins, pareto_mask
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
    from cobandit.replay import play, replay_identification, replay_online, replay_paths, spec
    from cobandit.tables import EvaluationTable, datasets, load, open_table, read

    __version__: str

#: By the module that has it: imported when it is first used, so that whoever asks for help does not wait for
#: numbers, tables or the compiler.
_LATER = {
    "advice": ("recommend",),
    "dominance": ("classification_gaps", "margins", "pareto_mask"),
    "faults": ("TableError",),
    "live.journal": ("Journal",),
    "policies": (
        "HVUCB",
        "PSISR",
        "AccuracyCostUCB",
        "CoHVKLUCB",
        "CoHVUCB",
        "CoHVUCBV",
        "CoPSI",
        "CoPSIAdaptive",
        "CoPSIExact",
        "CoPSIOnce",
        "UniformAllocation",
        "UniformIdentification",
    ),
    "problem": ("Problem", "hypervolume"),
    "replay": ("play", "replay_identification", "replay_online", "replay_paths", "spec"),
    "tables": ("EvaluationTable", "datasets", "load", "open_table", "read"),
}
_MODULES = ("dominance", "faults", "live", "policies", "problem", "replay", "stats", "tables", "theory")


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
