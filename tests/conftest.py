"""Fixtures of the whole run, and the settings of hypothesis."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from hypothesis import settings
from support.browsing import ARGUMENTS, CHROMIUM

import cobandit.companion
from cobandit.tables import load
from cobandit.testing import ragged_table

settings.register_profile("full", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("quick", settings.get_profile("full"), max_examples=25)  # for `make check`
settings.load_profile("full")

SWEBENCH = "swebench-bash-only"
COMPANION = Path(cobandit.companion.__file__).parent
MIRROR = Path(
    os.environ.get("COBANDIT_MIRROR", Path(__file__).resolve().parents[2] / "shared" / "data")
)  # as the tests were started, before one changes it


def pytest_collection_modifyitems(items):
    """`make check` leaves the companion's examples out; the library's run."""
    for item in items:
        if item.path.is_relative_to(COMPANION):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """``once(name, fill)``: a folder that the first process to ask fills, for all of a run's processes.

    The others wait for it. Who wants to change what is in it takes a copy.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def filled(name, fill):
        folder, whole = shared / name, shared / f"{name}.whole"
        with FileLock(shared / f"{name}.lock"):
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
                folder.mkdir()
                fill(folder)
                whole.touch()
        return folder

    return filled


@pytest.fixture(scope="session")
def swebench():
    """The real table; skipped where neither COBANDIT_MIRROR nor ../shared/data holds its records."""
    if not (MIRROR / SWEBENCH / "leaderboards.json").is_file():
        pytest.skip(f"COBANDIT_MIRROR names no directory with {SWEBENCH}/leaderboards.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COBANDIT_MIRROR", str(MIRROR))
        return load(SWEBENCH)


@pytest.fixture(scope="session")
def small_table():
    """Six arms, two objectives, ragged."""
    return ragged_table(np.random.default_rng(6), 6, 2)


@pytest.fixture(scope="session")
def synthetic():
    """The bundled table."""
    return load("synthetic-24")


@pytest.fixture(scope="session")
def tested(once):
    """Every statement that is tested, the paper's and ours, with what came out."""
    from cobandit.companion.proofs import checks

    def fill(folder):
        table = checks.check_statements()
        table.to_pickle(folder / "table.pickle")

    return pd.read_pickle(once("statements", fill) / "table.pickle")


@pytest.fixture(scope="module")
def browser():
    """One Chromium at a time, and none between modules.

    Its driver keeps an event loop in this thread, which tests of asynchronous code cannot share.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()
