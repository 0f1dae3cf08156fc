"""The algorithms again, compiled: the same pulls as the readable classes, some hundred times faster.

A kernel plays many replications of one method at one budget; feedback comes from a table by arm-wise
bootstrap on common random numbers.  A new method needs a tuple and a formula, in a file of its own here,
which is found, or in a module of yours.

Compiled code unpacks the tuples that hold arrays before its loops: each look at a field counts references.
"""

from importlib import import_module
from pkgutil import iter_modules

from cobandit.replay.kernels.elimination import elimination_target
from cobandit.replay.kernels.online import online_index
from cobandit.replay.kernels.registry import (
    IDENTIFICATION,
    ONCE,
    ONLINE,
    FeedbackRows,
    IdentificationTerms,
    Kernel,
    OnlineTerms,
    PhaseState,
    Record,
    kernel_of,
    record,
)
from cobandit.replay.kernels.stream import instance, shared_order

__all__ = [
    "IDENTIFICATION",
    "ONCE",
    "ONLINE",
    "FeedbackRows",
    "IdentificationTerms",
    "Kernel",
    "OnlineTerms",
    "PhaseState",
    "Record",
    "elimination_target",
    "instance",
    "kernel_of",
    "online_index",
    "record",
    "shared_order",
]

for _found in iter_modules(__path__, f"{__name__}."):
    import_module(_found.name)
