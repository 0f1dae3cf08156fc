"""The paper's numbers and claims as data, and our verdicts on them."""

from companion.paper.calibration import calibrate as calibrate
from companion.paper.calibration import coverage as coverage
from companion.paper.calibration import widening as widening
from companion.paper.contrasts import WORDS as WORDS
from companion.paper.contrasts import judge_contrasts as judge_contrasts
from companion.paper.contrasts import resample_words as resample_words
from companion.paper.derived import arithmetic as arithmetic
from companion.paper.derived import inconsistencies as inconsistencies
from companion.paper.derived import least_target_ratio as least_target_ratio
from companion.paper.derived import theory_values as theory_values
from companion.paper.joint_verdicts import combine as combine
from companion.paper.joint_verdicts import judge_readings as judge_readings
from companion.paper.joint_verdicts import judge_together as judge_together
from companion.paper.judge import claims as claims
from companion.paper.judge import verdicts as verdicts
from companion.paper.numbers import RESULT_ROLES as RESULT_ROLES
from companion.paper.numbers import Published as Published
from companion.paper.numbers import as_frame as as_frame
from companion.paper.numbers import published as published
from companion.paper.predicted_numbers import predict_numbers as predict_numbers
from companion.paper.predicted_numbers import shares as shares
from companion.paper.printed import error_comparisons as error_comparisons
from companion.paper.printed import error_counts as error_counts
from companion.paper.printed import judge_printed as judge_printed
from companion.paper.printed import ledger as ledger
from companion.paper.printed import (
    verdicts_on_reconstructions as verdicts_on_reconstructions,
)
