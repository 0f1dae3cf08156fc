"""Cases of a test that `make test` runs, and further ones for `make acceptance`."""

from collections.abc import Sequence
from typing import Any

import pytest


def sample(cases: Sequence[Any], first: int = 1) -> list[Any]:
    """Return the first cases, and the others with the mark ``acceptance``."""
    later = [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.acceptance,
        )
        for case in cases[first:]
    ]
    return [*cases[:first], *later]
