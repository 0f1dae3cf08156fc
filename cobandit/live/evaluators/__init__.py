"""Evaluators, which evaluate a configuration on instances, one file per kind.

A new kind of evaluator is a new module: either one of `BUILT_IN`, or any module that a
plan names as ``module:name``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
