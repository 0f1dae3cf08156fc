"""What the tests of importers share."""

import shutil

import pytest
from support import log_writers


@pytest.fixture(scope="session")
def every_log(tmp_path_factory):
    """The logs of two configurations in every format."""
    log_writers.write_all(folder := tmp_path_factory.mktemp("logs"))
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch, every_log):
    """A folder of its own, and a copy of the logs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(every_log, tmp_path, dirs_exist_ok=True)
    return tmp_path
