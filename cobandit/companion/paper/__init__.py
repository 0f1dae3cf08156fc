"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.companion.paper.audit_errors import with_audit_errors
from cobandit.companion.paper.derived import OPERATIONS, arithmetic, inconsistencies, theory_values
from cobandit.companion.paper.judge import Judgement, judge_claim, verdicts
from cobandit.companion.paper.ledger import TESTED_ROLES, VERDICTS, ledger, tally
from cobandit.companion.paper.numbers import RESULT_ROLES, ROLES, Published, as_frame, published
from cobandit.companion.paper.orderings import Claim, claims
from cobandit.companion.paper.predictive import group_of, judge_groups, judge_prediction
from cobandit.companion.paper.printed import error_comparisons, error_counts, judge_printed, printed_cells
from cobandit.companion.paper.remarks import judge_remarks

__all__ = [
    "OPERATIONS",
    "RESULT_ROLES",
    "ROLES",
    "TESTED_ROLES",
    "VERDICTS",
    "Claim",
    "Judgement",
    "Published",
    "arithmetic",
    "as_frame",
    "claims",
    "error_comparisons",
    "error_counts",
    "group_of",
    "inconsistencies",
    "judge_claim",
    "judge_groups",
    "judge_prediction",
    "judge_printed",
    "judge_remarks",
    "ledger",
    "printed_cells",
    "published",
    "tally",
    "theory_values",
    "verdicts",
    "with_audit_errors",
]
