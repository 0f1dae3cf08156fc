"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.companion.paper.derived import OPERATIONS, arithmetic, inconsistencies, theory_values
from cobandit.companion.paper.judge import Outcome, check, verdicts
from cobandit.companion.paper.ledger import VERDICTS, ledger, tally
from cobandit.companion.paper.numbers import RESULTS, ROLES, Published, as_frame, published
from cobandit.companion.paper.orderings import Claim, claims
from cobandit.companion.paper.printed import error_comparisons, error_counts, judge_printed, printed_cells
from cobandit.companion.paper.settled import settled

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
