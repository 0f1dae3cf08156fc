"""Live evaluations: running a plan, with a journal from which a run can be resumed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
