"""Reconstructions of the paper's two tables, which are not public.

A generator draws a table from a hierarchy of models and configurations (`hierarchy`,
`instances`), and a chain moves it towards the printed facts that follow from means
(`facts`, `chain`). A table is identified by its number, the seed of its chain. The
results of the paper's own algorithms on it are computed only afterwards (`experiment`):
they are predictions. ``book/protocol.md`` states all rules.

Names of models are only labels: the effects of all models are drawn alike, and no row
is about the model that it is named after.
"""

from companion.reconstruction.tables import rows_of as rows_of
from companion.reconstruction.tables import write as write
