"""Fixtures of the tests of importers."""

import shutil

import pytest
from support import logs


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A temporary working folder with a copy of the logs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(logs.STORED, tmp_path, dirs_exist_ok=True)
    return tmp_path
