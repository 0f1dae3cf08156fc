"""Evaluation tables: schema, cards, readers, transforms and the catalogue."""

from cobandit.tables.card import Card
from cobandit.tables.catalogue import available, datasets, load, load_available, open_table
from cobandit.tables.readers import read
from cobandit.tables.saving import save
from cobandit.tables.table import EvaluationTable, Feedback

__all__ = [
    "Card",
    "EvaluationTable",
    "Feedback",
    "available",
    "datasets",
    "load",
    "load_available",
    "open_table",
    "read",
    "save",
]
