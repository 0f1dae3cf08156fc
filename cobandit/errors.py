"""What can go wrong, as one family of errors: each message says what, where and what to do.

* ``CobanditError`` (a ``ValueError``): an argument is out of range or of the wrong shape

  * ``BudgetError``: the budget is too small; ``smallest`` is one that works
  * ``TableError``: a table, card, plan, log or option is not as it has to be; ``faults`` has all
  * ``DatasetUnavailable``: a table of the catalogue could not be had

* ``GuaranteeWarning`` (a ``UserWarning``): the run goes on without the paper's guarantee

Functions on arrays raise ``CobanditError`` by the checks in ``_check``.  What a user has written into a file,
a data frame or an option is refused by `cobandit.faults.refuse`, all faults at once, or ``stop``, the first.
"""


class CobanditError(ValueError):
    """Base of every error that cobandit raises for bad input.

    Every public function checks its arguments before it computes or changes anything.  What is out of range
    or of the wrong shape raises this error, which names the argument, what it got and what is allowed;
    docstrings list errors only where there is more to say.

    Examples
    --------
    >>> issubclass(BudgetError, CobanditError) and issubclass(CobanditError, ValueError)
    True
    """


class BudgetError(CobanditError):
    """The budget is too small for the method; ``smallest`` is the least one that works, in its unit."""

    def __init__(self, message: str, smallest: float):
        super().__init__(message, smallest)
        self.smallest = smallest

    def __str__(self) -> str:
        return str(self.args[0])


class DatasetUnavailable(CobanditError):
    """A table of the catalogue could not be found or fetched; the message says what was tried."""


class GuaranteeWarning(UserWarning):
    """Feedback left the range that the paper's guarantee assumes; the run goes on without it."""
