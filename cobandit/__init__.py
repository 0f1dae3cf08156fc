"""Cost-aware multi-objective bandits: the library behind the book.

Means and costs go in as arrays, objectives are maximised and lie in [0, 1], costs carry their unit.
"""

from importlib.metadata import PackageNotFoundError, version

from cobandit import experiments, theory
from cobandit.dominance import classification_gaps, margins, pareto_mask
from cobandit.errors import BudgetError, CobanditError, DatasetUnavailable, GuaranteeWarning, TableError
from cobandit.journal import Journal
from cobandit.policies import (
    HVUCB,
    PSISR,
    AccuracyCostUCB,
    CoHVUCB,
    CoPSI,
    UniformAllocation,
    UniformIdentification,
)
from cobandit.problem import Problem, hypervolume
from cobandit.recommendation import recommend
from cobandit.replay import play, replay_identification, replay_online, spec
from cobandit.tables import EvaluationTable, datasets, load, open_table, read

try:
    __version__ = version("cobandit")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "HVUCB",
    "PSISR",
    "AccuracyCostUCB",
    "BudgetError",
    "CoHVUCB",
    "CoPSI",
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
    "experiments",
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
    "spec",
    "theory",
]
