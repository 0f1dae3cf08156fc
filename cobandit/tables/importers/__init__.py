"""Importers, from evaluation logs to an evaluation table and its card.

A format is one module, which registers itself with `importer_registry.importer`: it
turns files into the `Log` objects of ``log_samples``.  The rest is shared, in this
order:

* ``log_choices`` reads the logs of the wanted tasks and chooses metrics,
* ``log_checks`` compares logs with each other and with their own summaries,
* ``scores`` and ``log_costs`` make numbers of scores and usage,
* ``combining_samples`` makes runs of configurations from samples,
* ``log_settings`` names the configurations,
* ``combining_runs`` and ``repeated_evaluations`` make one frame of the runs,
* ``earlier_table`` adds it to an earlier table, and ``importing`` writes table and
  card.

The importer of any other table, ``tidy``, has its options in ``tidy_options``, its
scores in ``tidy_scores``, wide files in ``wide_columns``, and columns in
``named_columns`` and ``file_columns``.
"""

import importlib
import pkgutil

from cobandit.tables.importers.importer_registry import IMPORTERS as IMPORTERS
from cobandit.tables.importers.importer_registry import Importer as Importer
from cobandit.tables.importers.importing import ImportedTable as ImportedTable
from cobandit.tables.importers.importing import import_logs as import_logs

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
