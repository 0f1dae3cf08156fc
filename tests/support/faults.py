"""Checks of the faults that an error lists: by code, place and remedy instead of by their words."""

from contextlib import contextmanager

import pytest

from cobandit.errors import TableError


@contextmanager
def fault(code, place="", names=(), remedy=""):
    """Expect an error with one fault; its problem has to contain ``names``, what a reader has to be shown."""
    with pytest.raises(TableError) as caught:
        yield caught
    (only,) = caught.value.faults
    assert only.code == code, only
    assert place in only.file, only
    assert all(name in only.problem for name in names), only
    assert remedy in only.remedy, only
