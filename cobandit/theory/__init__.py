"""Constants and bounds: those of the paper as stated, and others for our policies.

Costs are divided by the largest cost, as in the paper, so that they are in [lambda, 1].
``cost_ratio`` is lambda, the smallest cost over the largest. ``budget`` is B in units
of the largest cost. ``alpha`` is the exploration constant of Theorem 1. Logarithms are
natural. If a quantity is not in the paper, the first line of the function says
"(ours)".
"""

from cobandit.problem import cost_complexity as cost_complexity
from cobandit.theory.divergence import bernoulli_divergence as bernoulli_divergence
from cobandit.theory.divergence import least_divergence as least_divergence
from cobandit.theory.identification import allocation_constant as allocation_constant
from cobandit.theory.identification import (
    exact_allocation_constant as exact_allocation_constant,
)
from cobandit.theory.identification import (
    identification_error_bound as identification_error_bound,
)
from cobandit.theory.in_flight import alpha_in_flight as alpha_in_flight
from cobandit.theory.online import confidence_radius as confidence_radius
from cobandit.theory.online import efficiency_regret_bound as efficiency_regret_bound
from cobandit.theory.online import failure_probability as failure_probability
from cobandit.theory.online import horizon as horizon
from cobandit.theory.online import index_constant as index_constant
from cobandit.theory.online import leading_constant as leading_constant
from cobandit.theory.online import optimal_utility_bound as optimal_utility_bound
from cobandit.theory.online import pull_bound as pull_bound
from cobandit.theory.online import standard_regret_bound as standard_regret_bound
