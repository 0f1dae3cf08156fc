"""Every constant and bound that the paper states, one function each, exactly as stated.

Costs are the paper's: in [lambda, 1].  ``min_cost`` is lambda, ``budget`` is B in the same unit,
``alpha`` the exploration constant of Theorem 1.  Logarithms are natural.
"""

from cobandit.problem import cost_complexity
from cobandit.theory.identification import allocation_constant, identification_error_bound
from cobandit.theory.online import (
    confidence_radius,
    efficiency_regret_bound,
    failure_probability,
    horizon,
    index_constant,
    optimal_utility_bound,
    pull_bound,
    standard_regret_bound,
)

__all__ = [
    "allocation_constant",
    "confidence_radius",
    "cost_complexity",
    "efficiency_regret_bound",
    "failure_probability",
    "horizon",
    "identification_error_bound",
    "index_constant",
    "optimal_utility_bound",
    "pull_bound",
    "standard_regret_bound",
]
