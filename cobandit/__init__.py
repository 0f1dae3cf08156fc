"""Cost-aware multi-objective bandits: the library behind the book.

Means and costs go in as arrays, objectives are maximised and lie in [0, 1], costs carry
their unit.  Names stand in ``__init__.pyi``; each is imported when it is first used, so
that whoever asks for help does not wait for numbers, tables or the compiler.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
