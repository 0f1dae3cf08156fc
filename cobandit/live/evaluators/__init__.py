"""Evaluators: what evaluates a configuration on instances, in files of their own.

Adding a way to evaluate is adding a module: one of `BUILT_IN`, or any that a plan names
as ``module:name``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
