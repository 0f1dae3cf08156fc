"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.published.derived import OPERATIONS, arithmetic, inconsistencies, theory_values
from cobandit.published.judge import Outcome, check, verdicts
from cobandit.published.ledger import VERDICTS, ledger, tally
from cobandit.published.numbers import RESULTS, ROLES, Published, as_frame, published
from cobandit.published.orderings import Claim, claims
from cobandit.published.printed import error_comparisons, error_counts, judge_printed, printed_cells
from cobandit.published.settled import settled

__all__ = [
    "OPERATIONS",
    "RESULTS",
    "ROLES",
    "VERDICTS",
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
    "settled",
    "tally",
    "theory_values",
    "verdicts",
]
