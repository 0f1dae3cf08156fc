"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.published.derived import OPERATIONS, arithmetic, inconsistencies, theory_values
from cobandit.published.judge import Outcome, check, verdicts
from cobandit.published.ledger import ledger
from cobandit.published.numbers import ROLES, Published, as_frame, published
from cobandit.published.orderings import Claim, claims
from cobandit.published.printed import error_comparisons, error_counts, judge_printed, printed_cells

__all__ = [
    "OPERATIONS",
    "ROLES",
    "Claim",
    "Outcome",
    "Published",
    "arithmetic",
    "as_frame",
    "check",
    "claims",
    "error_comparisons",
    "error_counts",
    "inconsistencies",
    "judge_printed",
    "ledger",
    "printed_cells",
    "published",
    "theory_values",
    "verdicts",
]
