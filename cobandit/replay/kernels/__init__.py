"""The algorithms, compiled: the pulls of the readable classes, a hundred times faster.

A kernel plays many replications of one method at one budget; feedback comes from a
table by arm-wise bootstrap on common random numbers.  A new method needs a formula, in
a file of its own here, which is found, or in a module of yours.

Compiled code unpacks the tuples that hold arrays before its loops: each look at a field
counts references.
"""

from importlib import import_module
from pkgutil import iter_modules

from cobandit.replay.kernels.elimination import elimination_target as elimination_target
from cobandit.replay.kernels.run_data import FeedbackRows as FeedbackRows
from cobandit.replay.kernels.run_data import Record as Record
from cobandit.replay.kernels.run_data import Terms as Terms
from cobandit.replay.kernels.run_data import record as record
from cobandit.replay.kernels.selection import online_index as online_index
from cobandit.replay.kernels.streams import instance as instance
from cobandit.replay.kernels.streams import shared_order as shared_order

for _found in iter_modules(__path__, f"{__name__}."):
    import_module(_found.name)
