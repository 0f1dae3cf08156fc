"""Cost-aware multi-objective bandits: the library behind the book.

Functions take means and costs as arrays. Objectives are maximised and are in [0, 1].
Costs have a unit. ``__init__.pyi`` lists the public names. Each of them is imported
when it is first used, so importing the package is fast.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
