"""Evaluation tables: schema, cards, readers, transforms and the catalogue."""

from cobandit.tables.card import Card
from cobandit.tables.catalogue import at_hand, available, datasets, load, open_table
from cobandit.tables.readers import read
from cobandit.tables.table import EvaluationTable, Feedback

__all__ = [
    "Card",
    "EvaluationTable",
    "Feedback",
    "at_hand",
    "available",
    "datasets",
    "load",
    "open_table",
    "read",
]
