"""Evaluators, which evaluate a configuration on instances, one file per kind.

A plan names an evaluator by its kind, one of `BUILT_IN`, or as ``module:name`` of any
other Python module.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
