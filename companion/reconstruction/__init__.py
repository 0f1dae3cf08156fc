"""Reconstructions of the paper's two tables, which are not public.

A generator draws a table from a hierarchy of models and configurations (`hierarchy`,
`instances`), and a chain walks it towards what follows from means (`facts`, `chain`).
A table is its number, the seed of its chain.  What the paper's own algorithms do on it
is looked at only afterwards (`experiment`): it is predicted. ``book/protocol.md``
states all rules.

Names of models are labels and nothing more: the effects of all models are drawn alike,
and no row says anything about the model it is named after.
"""

from companion.reconstruction.tables import rows_of as rows_of
from companion.reconstruction.tables import write as write
