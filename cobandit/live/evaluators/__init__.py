"""What evaluates a configuration on instances: one module each, against the small protocol of ``core``.

Adding a way to evaluate is adding such a module, here or, named ``module:name`` in the plan, anywhere else.
"""

from cobandit.live.evaluators.core import (
    Context,
    Evaluator,
    EvaluatorOptions,
    Failure,
    Kind,
    Row,
    as_row,
    evaluator,
    find_evaluator,
)

__all__ = [
    "Context",
    "Evaluator",
    "EvaluatorOptions",
    "Failure",
    "Kind",
    "Row",
    "as_row",
    "evaluator",
    "find_evaluator",
]
