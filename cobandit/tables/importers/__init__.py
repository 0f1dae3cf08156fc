"""From somebody's evaluation logs to an evaluation table and its card.

One module here reads one format and registers itself with `sources.importer`; adding a format is adding such
a module.  What they share is in ``sources`` (registry, options, notes), ``safe_reading``, ``logs`` (from logs
to one frame) and ``writing`` (the table, its card, the report, and what is added to an earlier table).
"""

import importlib
import pkgutil

from cobandit.tables.importers.sources import IMPORTERS as IMPORTERS
from cobandit.tables.importers.sources import Importer as Importer
from cobandit.tables.importers.writing import ImportedTable as ImportedTable
from cobandit.tables.importers.writing import import_logs as import_logs

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
