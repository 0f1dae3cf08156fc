"""Evaluations that are made now: a journal that a run can be resumed from, and runs as a plan says."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
