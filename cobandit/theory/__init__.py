"""Every constant and bound that the paper states, one function each, exactly as stated; some sharper ones.

Costs are the paper's: divided by the largest, in [lambda, 1].  ``cost_ratio`` is lambda, the smallest over
the largest cost; ``budget`` is B in units of the largest cost; ``alpha`` is the exploration constant of
Theorem 1.  Logarithms are natural.  Bounds that are this project's and not the paper's say so in their first
line.
"""

from cobandit.problem import cost_complexity as cost_complexity
from cobandit.theory.identification import allocation_constant as allocation_constant
from cobandit.theory.identification import difference_error_bound as difference_error_bound
from cobandit.theory.identification import difference_error_budget as difference_error_budget
from cobandit.theory.identification import difference_error_rate as difference_error_rate
from cobandit.theory.identification import exact_allocation_constant as exact_allocation_constant
from cobandit.theory.identification import identification_budget as identification_budget
from cobandit.theory.identification import identification_error_bound as identification_error_bound
from cobandit.theory.identification import least_error as least_error
from cobandit.theory.identification import may_leave as may_leave
from cobandit.theory.identification import needed_allocation_constant as needed_allocation_constant
from cobandit.theory.identification import overspend_bound as overspend_bound
from cobandit.theory.identification import pilot_failure_bound as pilot_failure_bound
from cobandit.theory.identification import planning_margin as planning_margin
from cobandit.theory.identification import reachable_complexity as reachable_complexity
from cobandit.theory.identification import reachable_sets as reachable_sets
from cobandit.theory.identification import sharpened_error_bound as sharpened_error_bound
from cobandit.theory.identification import summed_complexity as summed_complexity
from cobandit.theory.identification import variance_complexity as variance_complexity
from cobandit.theory.identification import variance_error_bound as variance_error_bound
from cobandit.theory.once import bernstein_serfling_tail as bernstein_serfling_tail
from cobandit.theory.once import hoeffding_serfling_tail as hoeffding_serfling_tail
from cobandit.theory.once import least_evaluations as least_evaluations
from cobandit.theory.once import least_instances as least_instances
from cobandit.theory.once import once_error_bound as once_error_bound
from cobandit.theory.once import paired_error_bound as paired_error_bound
from cobandit.theory.once import serfling_factor as serfling_factor
from cobandit.theory.online import confidence_radius as confidence_radius
from cobandit.theory.online import efficiency_regret_bound as efficiency_regret_bound
from cobandit.theory.online import failure_probability as failure_probability
from cobandit.theory.online import horizon as horizon
from cobandit.theory.online import index_constant as index_constant
from cobandit.theory.online import leading_constant as leading_constant
from cobandit.theory.online import optimal_utility_bound as optimal_utility_bound
from cobandit.theory.online import pull_bound as pull_bound
from cobandit.theory.online import standard_regret_bound as standard_regret_bound
from cobandit.theory.sharper import alpha_in_flight as alpha_in_flight
from cobandit.theory.sharper import bernoulli_divergence as bernoulli_divergence
from cobandit.theory.sharper import completed_utility_bound as completed_utility_bound
from cobandit.theory.sharper import counted_cost_bounds as counted_cost_bounds
from cobandit.theory.sharper import informative_budget as informative_budget
from cobandit.theory.sharper import instance_pull_bound as instance_pull_bound
from cobandit.theory.sharper import lean_pull_bound as lean_pull_bound
from cobandit.theory.sharper import least_divergence as least_divergence
from cobandit.theory.sharper import least_regret_slope as least_regret_slope
from cobandit.theory.sharper import leaving_bound as leaving_bound
from cobandit.theory.sharper import one_sided_failure_probability as one_sided_failure_probability
from cobandit.theory.sharper import radius_pull_bound as radius_pull_bound
from cobandit.theory.sharper import ratio_leading_constant as ratio_leading_constant
from cobandit.theory.sharper import split_pull_bound as split_pull_bound
from cobandit.theory.sharper import threshold_radius as threshold_radius
