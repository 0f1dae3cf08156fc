"""From somebody's evaluation logs to an evaluation table and its card.

One module here reads one format and registers itself with :func:`~cobandit.tables.importers.core.importer`;
adding a format is adding such a module.  What they share is in ``core`` (registry, options, notes), ``files``
(bounded, safe reading), ``runs`` (from runs to one frame) and ``writing`` (the table, its card, the report).
"""

import importlib
import pkgutil

from cobandit.tables.importers.core import IMPORTERS, Importer
from cobandit.tables.importers.writing import ImportedTable, import_logs

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["IMPORTERS", "ImportedTable", "Importer", "import_logs"]
