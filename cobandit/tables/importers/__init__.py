"""From somebody's evaluation logs to an evaluation table and its card.

One module here reads one format and registers itself with `sources.importer`; adding a format is adding such
a module.  What they share is in ``log_samples`` (the skeleton: what a format's logs hold), ``logs``
(choosing, naming, averaging, from logs to one frame), ``scores`` (numbers of logged scores) and ``sources``
(registry, options, notes, and the table that is written or added to).
"""

import importlib
import pkgutil

from cobandit.tables.importers.sources import IMPORTERS as IMPORTERS
from cobandit.tables.importers.sources import ImportedTable as ImportedTable
from cobandit.tables.importers.sources import Importer as Importer
from cobandit.tables.importers.sources import import_logs as import_logs

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
