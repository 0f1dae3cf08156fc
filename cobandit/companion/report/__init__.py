"""From a table to a report: the book's pages run on it, with what comes out and how it came about."""

from cobandit.companion.report.run import RerunResult, plan, rerun

__all__ = ["RerunResult", "plan", "rerun"]
