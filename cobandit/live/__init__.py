"""Live evaluations: runs of a plan, and a journal from which a run resumes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
