"""What the paper prints, as data: its numbers, what follows from them, the orderings that it claims."""

from cobandit.companion.paper.contrasts import WORDS as WORDS
from cobandit.companion.paper.contrasts import calibrate as calibrate
from cobandit.companion.paper.contrasts import combine as combine
from cobandit.companion.paper.contrasts import coverage as coverage
from cobandit.companion.paper.contrasts import judge_contrasts as judge_contrasts
from cobandit.companion.paper.contrasts import judge_readings as judge_readings
from cobandit.companion.paper.contrasts import judge_together as judge_together
from cobandit.companion.paper.contrasts import predict_numbers as predict_numbers
from cobandit.companion.paper.contrasts import resample_words as resample_words
from cobandit.companion.paper.contrasts import shares as shares
from cobandit.companion.paper.contrasts import widening as widening
from cobandit.companion.paper.derived import arithmetic as arithmetic
from cobandit.companion.paper.derived import inconsistencies as inconsistencies
from cobandit.companion.paper.derived import least_target_ratio as least_target_ratio
from cobandit.companion.paper.derived import theory_values as theory_values
from cobandit.companion.paper.judge import claims as claims
from cobandit.companion.paper.judge import verdicts as verdicts
from cobandit.companion.paper.numbers import RESULT_ROLES as RESULT_ROLES
from cobandit.companion.paper.numbers import Published as Published
from cobandit.companion.paper.numbers import as_frame as as_frame
from cobandit.companion.paper.numbers import published as published
from cobandit.companion.paper.printed import error_comparisons as error_comparisons
from cobandit.companion.paper.printed import error_counts as error_counts
from cobandit.companion.paper.printed import judge_printed as judge_printed
from cobandit.companion.paper.printed import ledger as ledger
from cobandit.companion.paper.printed import verdicts_on_reconstructions as verdicts_on_reconstructions
