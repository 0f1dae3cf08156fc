"""From a table to a report: the book's pages run on it, with what comes out and how it came about."""

from cobandit.companion.report.plan import plan
from cobandit.companion.report.run import RerunResult, rerun

__all__ = ["RerunResult", "plan", "rerun"]
