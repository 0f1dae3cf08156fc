"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.companion.paper.audit_errors import with_audit_errors
from cobandit.companion.paper.calibration import calibrate, coverage, widening
from cobandit.companion.paper.contrasts import CONTRASTS, WORDS, shares
from cobandit.companion.paper.contrasts import intervals as predict_numbers
from cobandit.companion.paper.contrasts import judge as judge_contrasts
from cobandit.companion.paper.contrasts import read as judge_readings
from cobandit.companion.paper.derived import OPERATIONS, arithmetic, inconsistencies, theory_values
from cobandit.companion.paper.judge import Judgement, judge_claim, verdicts
from cobandit.companion.paper.ledger import ledger
from cobandit.companion.paper.numbers import RESULT_ROLES, ROLES, Published, as_frame, published
from cobandit.companion.paper.orderings import Claim, claims
from cobandit.companion.paper.printed import error_comparisons, error_counts, judge_printed, printed_cells
from cobandit.companion.paper.remarks import judge_remarks
from cobandit.companion.paper.targets import least_target_ratio

__all__ = [
    "CONTRASTS",
    "OPERATIONS",
    "RESULT_ROLES",
    "ROLES",
    "WORDS",
    "Claim",
    "Judgement",
    "Published",
    "arithmetic",
    "as_frame",
    "calibrate",
    "claims",
    "coverage",
    "error_comparisons",
    "error_counts",
    "inconsistencies",
    "judge_claim",
    "judge_contrasts",
    "judge_printed",
    "judge_readings",
    "judge_remarks",
    "least_target_ratio",
    "ledger",
    "predict_numbers",
    "printed_cells",
    "published",
    "shares",
    "theory_values",
    "verdicts",
    "widening",
    "with_audit_errors",
]
