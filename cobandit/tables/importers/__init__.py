"""Importers, which turn evaluation logs into an evaluation table and its card.

The card is a YAML file that describes the table. Each format has one module, which
registers itself with `importer_registry.importer` and turns files into the `Log`
objects of ``log_samples``. All formats share the steps after this, in this order:

* ``log_choices`` reads the logs of the chosen tasks, and chooses metrics,
* ``log_checks`` compares logs with each other and with their summaries,
* ``scores`` and ``log_costs`` convert scores and usage to numbers,
* ``combining_samples`` groups the samples into runs, one or more per configuration,
* ``log_settings`` names the configurations,
* ``combining_runs`` and ``repeated_evaluations`` combine the runs in one frame,
* ``earlier_table`` adds this frame to an earlier table,
* ``importing`` writes the table and its card.

The module ``tidy`` imports any other table. It uses ``tidy_options`` for its options,
``tidy_scores`` for scores, ``wide_columns`` for wide files, and ``named_columns`` and
``file_columns`` for columns.
"""

import importlib
import pkgutil

from cobandit.tables.importers.importer_registry import IMPORTERS as IMPORTERS
from cobandit.tables.importers.importer_registry import Importer as Importer
from cobandit.tables.importers.importing import ImportedTable as ImportedTable
from cobandit.tables.importers.importing import import_logs as import_logs

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
