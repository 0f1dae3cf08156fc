"""What the tests of importers share."""

import pytest
from support import log_writers


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, and the logs of two configurations in every format."""
    monkeypatch.chdir(tmp_path)
    log_writers.write_all(tmp_path)
    return tmp_path
