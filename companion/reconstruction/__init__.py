"""Reconstructions of the paper's two tables, which are not public.

A generator draws a table from a hierarchical model of language models and their
configurations (`hierarchy`, `instances`). A Markov chain moves the table towards the
printed facts that follow from means (`facts`, `chain`). A table is identified by its
number, which is the seed of its chain. The paper's algorithms run on the table only
afterwards (`experiment`), so their results are predictions. ``book/protocol.md`` states
all rules.

Names of models are only labels. The effects of all models have the same distribution,
and no row describes the model of that name.
"""

from companion.reconstruction.tables import rows_of as rows_of
from companion.reconstruction.tables import write as write
