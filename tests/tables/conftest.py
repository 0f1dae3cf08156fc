"""What the tests of importers share."""

import shutil

import pytest
from support import logs


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, and a copy of the logs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(logs.STORED, tmp_path, dirs_exist_ok=True)
    return tmp_path
