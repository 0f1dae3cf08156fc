"""Context managers that expect an error by its code and place, not by its words."""

from contextlib import contextmanager

import pytest

from cobandit.errors import (
    BudgetError,
    CobanditError,
    DatasetUnavailable,
    TableError,
)


@contextmanager
def fault(code, place="", names=(), remedy="", *, column=None, row=None):
    """Expect a `TableError` with one fault, whose description contains ``names``."""
    with pytest.raises(TableError) as caught:
        yield caught
    (only,) = caught.value.faults
    assert only.code == code, only
    assert place in only.file, only
    assert all(name in only.problem for name in names), only
    assert remedy in only.remedy, only
    assert column in (None, only.column), only
    assert row in (None, only.row), only


#: Classes of errors by code. All other codes belong to `CobanditError`.
KINDS = {"small-budget": BudgetError, "not-fetched": DatasetUnavailable}


@contextmanager
def bad_argument(code, argument="", names=()):
    """Expect an error about one argument, whose message contains ``names``."""
    with pytest.raises(CobanditError) as caught:
        yield caught
    error = caught.value
    # lists of faults in files and options are expected by `fault`
    assert type(error) is KINDS.get(code, CobanditError), error
    (only,) = error.faults
    assert (only.code, only.file) == (code, argument), only
    assert all(name in str(error) for name in names), error
