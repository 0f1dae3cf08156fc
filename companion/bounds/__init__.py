"""Bounds that are not in the paper: sharper bounds, and bounds for cases left open.

Arguments and units are as in :mod:`cobandit.theory`. A summary line that ends in
*(ours)* marks a result of this project.
"""

from companion.bounds.certainty import least_evaluations as least_evaluations
from companion.bounds.certainty import least_instances as least_instances
from companion.bounds.differences import (
    difference_error_bound as difference_error_bound,
)
from companion.bounds.differences import (
    difference_error_budget as difference_error_budget,
)
from companion.bounds.differences import difference_error_rate as difference_error_rate
from companion.bounds.finite_benchmarks import (
    bernstein_serfling_tail as bernstein_serfling_tail,
)
from companion.bounds.finite_benchmarks import (
    hoeffding_serfling_tail as hoeffding_serfling_tail,
)
from companion.bounds.finite_benchmarks import once_error_bound as once_error_bound
from companion.bounds.finite_benchmarks import paired_error_bound as paired_error_bound
from companion.bounds.finite_benchmarks import serfling_factor as serfling_factor
from companion.bounds.informative_budgets import (
    informative_budget as informative_budget,
)
from companion.bounds.leaving_bounds import leaving_bound as leaving_bound
from companion.bounds.leaving_bounds import (
    one_sided_failure_probability as one_sided_failure_probability,
)
from companion.bounds.pull_counts import instance_pull_bound as instance_pull_bound
from companion.bounds.pull_counts import lean_pull_bound as lean_pull_bound
from companion.bounds.pull_counts import radius_pull_bound as radius_pull_bound
from companion.bounds.pull_counts import threshold_radius as threshold_radius
from companion.bounds.random_costs import overspend_bound as overspend_bound
from companion.bounds.random_costs import pilot_failure_bound as pilot_failure_bound
from companion.bounds.random_costs import planning_margin as planning_margin
from companion.bounds.reachable_sets import may_leave as may_leave
from companion.bounds.reachable_sets import reachable_complexity as reachable_complexity
from companion.bounds.reachable_sets import reachable_sets as reachable_sets
from companion.bounds.sharpened_identification import (
    identification_budget as identification_budget,
)
from companion.bounds.sharpened_identification import least_error as least_error
from companion.bounds.sharpened_identification import (
    needed_allocation_constant as needed_allocation_constant,
)
from companion.bounds.sharpened_identification import (
    sharpened_error_bound as sharpened_error_bound,
)
from companion.bounds.sharpened_identification import (
    summed_complexity as summed_complexity,
)
from companion.bounds.split_pull_counts import (
    ratio_leading_constant as ratio_leading_constant,
)
from companion.bounds.split_pull_counts import split_pull_bound as split_pull_bound
from companion.bounds.utility import completed_utility_bound as completed_utility_bound
from companion.bounds.utility import counted_cost_bounds as counted_cost_bounds
from companion.bounds.utility import least_regret_slope as least_regret_slope
from companion.bounds.variances import variance_complexity as variance_complexity
from companion.bounds.variances import variance_error_bound as variance_error_bound
