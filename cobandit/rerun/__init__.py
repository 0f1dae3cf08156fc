"""From a table to a report: the book's pages run on it, with what comes out and how it came about."""

from cobandit.rerun.plan import Planned, plan
from cobandit.rerun.run import Outcome, rerun

__all__ = ["Outcome", "Planned", "plan", "rerun"]
