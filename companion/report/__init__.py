"""Reports on evaluation tables: run the book's pages on them, and collect results."""

from companion.report.pages import tell
from companion.report.run import plan, rerun
from companion.report.usage import how_to_run, list_pages, run_page

__all__ = ["how_to_run", "list_pages", "plan", "rerun", "run_page", "tell"]
