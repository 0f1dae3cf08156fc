"""Reconstructions of the paper's two evaluation tables, which are not public.

A generator draws a table from a hierarchical model of language models and their
configurations (`hierarchy`, `instances`). A Markov chain then changes the table until
its means agree with facts that the paper prints (`facts`, `chain`). The number of a
table is the seed of its chain. The paper's algorithms run only on the finished table
(`experiment`), so their results are predictions. ``book/protocol.md`` states all rules.

Names of language models are only labels. The effects of all models have the same
distribution, and no row describes the model whose name it has.
"""

from companion.reconstruction.tables import rows_of as rows_of
from companion.reconstruction.tables import write as write
