"""Reconstructions of the paper's two tables, which are not public.

A generator draws a table from a hierarchy of models and configurations (`hierarchy`, `instances`).  Given a
stated part of the published numbers (`facts`), a sampler (`sampler`) draws tables that agree with them;
``data/posterior.parquet`` holds these tables as parameters (`posterior`), the first of each data set is
bundled.  What the paper's own algorithms do on them is looked at only afterwards (`experiment`,
`inference`): it is predicted.  ``book/protocol.md`` states all rules.

Names of models are labels and nothing more: the effects of all models are drawn alike, and no row says
anything about the model it is named after.
"""

from cobandit.companion.reconstruction.posterior import STORE, rows_of, tables_of
from cobandit.companion.reconstruction.settings import SETTINGS
from cobandit.companion.reconstruction.tables import card, setting, table, write

__all__ = ["SETTINGS", "STORE", "card", "rows_of", "setting", "table", "tables_of", "write"]
