"""Checks of an error's faults by code, place and remedy instead of by their words."""

from contextlib import contextmanager

import pytest

from cobandit.errors import TableError


@contextmanager
def fault(code, place="", names=(), remedy=""):
    """Expect an error with one fault, whose problem contains ``names``."""
    with pytest.raises(TableError) as caught:
        yield caught
    (only,) = caught.value.faults
    assert only.code == code, only
    assert place in only.file, only
    assert all(name in only.problem for name in names), only
    assert remedy in only.remedy, only
