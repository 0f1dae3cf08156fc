"""Regrets, scores, tests and intervals, for replays and for evaluation tables."""

from cobandit.stats.contrasts import leaders as leaders
from cobandit.stats.contrasts import paired_contrasts as paired_contrasts
from cobandit.stats.summaries import summarise as summarise
