"""Compiled kernels: the same pulls as the policy classes, about 100 times faster.

A kernel runs many replications of one method at one budget, on the evaluations of a
table and with common random numbers. A kernel for a new method needs a formula
(`register_formula`). The formula may be in a new file of this folder, which is imported
automatically, or in your own module.

Compiled code unpacks tuples of arrays before its loops, because each access to a field
of a tuple would update reference counts.
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
