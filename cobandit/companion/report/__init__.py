"""From a table to a report: the book's pages run on it, with what comes out and how it came about."""

from cobandit.companion.report.run import plan, rerun

__all__ = ["plan", "rerun"]
