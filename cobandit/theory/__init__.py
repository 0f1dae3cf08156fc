"""Every constant and bound that the paper states, one function each, exactly as stated; some sharper ones.

Costs are the paper's: divided by the largest, in [lambda, 1].  ``cost_ratio`` is lambda, the smallest over
the largest cost; ``budget`` is B in units of the largest cost; ``alpha`` is the exploration constant of
Theorem 1.  Logarithms are natural.  Bounds that are this project's and not the paper's say so in their first
line.
"""

from cobandit.problem import cost_complexity
from cobandit.theory.certainty import least_evaluations
from cobandit.theory.differences import (
    difference_error_bound,
    difference_error_budget,
    difference_error_rate,
)
from cobandit.theory.divergence import bernoulli_divergence, least_divergence, least_regret_slope
from cobandit.theory.identification import (
    allocation_constant,
    exact_allocation_constant,
    identification_budget,
    identification_error_bound,
    needed_allocation_constant,
    sharpened_error_bound,
    summed_complexity,
)
from cobandit.theory.in_flight import alpha_in_flight
from cobandit.theory.once import (
    bernstein_serfling_tail,
    hoeffding_serfling_tail,
    once_error_bound,
    paired_error_bound,
    serfling_factor,
)
from cobandit.theory.online import (
    confidence_radius,
    efficiency_regret_bound,
    failure_probability,
    horizon,
    index_constant,
    leading_constant,
    optimal_utility_bound,
    pull_bound,
    standard_regret_bound,
)
from cobandit.theory.random_costs import (
    overspend_bound,
    pilot_failure_bound,
    planning_margin,
    random_cost_error_bound,
)
from cobandit.theory.rates import error_rate, psi_sr_error_bound
from cobandit.theory.ratio import ratio_leading_constant, ratio_pull_bound
from cobandit.theory.reach import least_error, may_leave, reachable_complexity, reachable_sets
from cobandit.theory.sharper import (
    informative_budget,
    instance_pull_bound,
    lean_pull_bound,
    one_sided_failure_probability,
    threshold_pull_bound,
    threshold_radius,
)
from cobandit.theory.split import split_pull_bound
from cobandit.theory.standard import (
    completed_utility_bound,
    counted_cost_bounds,
    end_of_run,
    instance_standard_regret_bound,
)

__all__ = [
    "allocation_constant",
    "alpha_in_flight",
    "bernoulli_divergence",
    "bernstein_serfling_tail",
    "completed_utility_bound",
    "confidence_radius",
    "cost_complexity",
    "counted_cost_bounds",
    "difference_error_bound",
    "difference_error_budget",
    "difference_error_rate",
    "efficiency_regret_bound",
    "end_of_run",
    "error_rate",
    "exact_allocation_constant",
    "failure_probability",
    "hoeffding_serfling_tail",
    "horizon",
    "identification_budget",
    "identification_error_bound",
    "index_constant",
    "informative_budget",
    "instance_pull_bound",
    "instance_standard_regret_bound",
    "leading_constant",
    "lean_pull_bound",
    "least_divergence",
    "least_error",
    "least_evaluations",
    "least_regret_slope",
    "may_leave",
    "needed_allocation_constant",
    "once_error_bound",
    "one_sided_failure_probability",
    "optimal_utility_bound",
    "overspend_bound",
    "paired_error_bound",
    "pilot_failure_bound",
    "planning_margin",
    "psi_sr_error_bound",
    "pull_bound",
    "random_cost_error_bound",
    "ratio_leading_constant",
    "ratio_pull_bound",
    "reachable_complexity",
    "reachable_sets",
    "serfling_factor",
    "sharpened_error_bound",
    "split_pull_bound",
    "standard_regret_bound",
    "summed_complexity",
    "threshold_pull_bound",
    "threshold_radius",
]
