"""Evaluation tables, the cards that describe them, readers and importers."""

from cobandit.tables.card import Card as Card
from cobandit.tables.catalogue import available as available
from cobandit.tables.catalogue import datasets as datasets
from cobandit.tables.catalogue import load as load
from cobandit.tables.catalogue import load_bundled as load_bundled
from cobandit.tables.catalogue import open_table as open_table
from cobandit.tables.storage import read as read
from cobandit.tables.storage import save as save
from cobandit.tables.table import EvaluationTable as EvaluationTable
