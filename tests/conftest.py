"""Fixtures for all tests, and the settings of Hypothesis."""

import gc
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from hypothesis import settings
from support.browsing import ARGUMENTS, CHROMIUM, Visit

import companion
from cobandit.tables import load
from cobandit.testing.small_tables import ragged_table

#: Examples of a property: "quick" in `make check` and `make test`, and "full" in
#: `make acceptance`.
EXAMPLES = {"quick": 25, "full": 100}
for profile, number in EXAMPLES.items():
    settings.register_profile(
        profile, deadline=None, derandomize=True, max_examples=number
    )
settings.load_profile("full")

SWEBENCH = "swebench-bash-only"
COMPANION = Path(companion.__file__).parent
#: Folder with records that are not bundled. Only tests that use the fixture `mirror` or
#: `swebench` read it, and nothing is fetched, so that all other tests are the same on
#: all machines. The processes of a run inherit it in a separate variable.
MIRROR = os.environ.setdefault(
    "COBANDIT_TESTED_MIRROR", os.environ.pop("COBANDIT_MIRROR", "")
)
os.environ["COBANDIT_OFFLINE"] = "1"
#: Fixtures that need data or programs that are not part of the project.
ELSEWHERE = {"swebench", "latex"}

# Imported modules and collected tests remain until the end. Without them, garbage
# collection takes much less time.
gc.disable()


def pytest_collection_finish():
    """Exclude what the collection of tests has made from garbage collection.

    While tests run, garbage is collected less often than by default, which saves a
    twentieth of their time.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def pytest_collection_modifyitems(items):
    """Mark slow tests, and tests with data from a mirror.

    Slow are examples of the companion, and acceptance tests.
    """
    for item in items:
        if item.path.is_relative_to(COMPANION) or item.get_closest_marker("acceptance"):
            item.add_marker("slow")
        if ELSEWHERE & {*getattr(item, "fixturenames", ())}:
            item.add_marker("mirror")


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Return a function ``once(name, fill)`` that returns a shared folder.

    One process fills the folder, and all other processes of the run wait for it. Copy
    the folder before you change its contents.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def filled(name, fill):
        folder = shared / name
        finished = shared / f"{name}.whole"
        with FileLock(shared / f"{name}.lock"):
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
                folder.mkdir()
                fill(folder)
                finished.touch()
        return folder

    return filled


@pytest.fixture(scope="session")
def swebench():
    """Load the table of SWE-bench, which is not bundled."""
    if not MIRROR:
        pytest.skip("COBANDIT_MIRROR names no folder with the records of SWE-bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COBANDIT_MIRROR", MIRROR)
        return load(SWEBENCH)


@pytest.fixture
def mirror(swebench, monkeypatch):
    """Return the folder with the records of SWE-bench, which the library then uses."""
    monkeypatch.setenv("COBANDIT_MIRROR", MIRROR)
    return Path(MIRROR)


@pytest.fixture(scope="session")
def small_table():
    """Return a table of six arms and two objectives, with missing evaluations."""
    return ragged_table(np.random.default_rng(6), 6, 2)


@pytest.fixture(scope="session")
def synthetic():
    """Load the bundled table synthetic-24."""
    return load("synthetic-24")


@pytest.fixture
def refused(monkeypatch, capfd):
    """Return a function that runs ``cobandit`` with bad input.

    The function expects exit code 2 and no output, and returns the error message.
    """
    from cobandit.cli import app

    def refused(*words, main=app.main):
        monkeypatch.setattr(sys, "argv", ["cobandit", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        output, err = capfd.readouterr()
        assert stopped.value.code == 2 and output == "" and "Traceback" not in err
        return err

    return refused


@pytest.fixture
def refused_by_book(refused):
    """Return a function like `refused` for ``cobandit-book``."""
    from companion.cli import app

    return partial(refused, main=app.main)


@pytest.fixture(scope="session")
def tested(once):
    """Return the results of the checks of all statements, the paper's and ours."""
    from companion.proofs import checks

    def fill(folder):
        table = checks.check_statements()
        table.to_pickle(folder / "table.pickle")

    return pd.read_pickle(once("statements", fill) / "table.pickle")


@pytest.fixture(scope="module")
def browser():
    """One Chromium at a time, and none between modules.

    Its driver keeps an event loop in this thread, which tests of asynchronous code
    cannot share.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """``visit(url)``: a `Visit`, which is left in the end."""
    visits = []
    yield lambda url: visits.append(Visit(browser, url)) or visits[-1]
    for entry in visits:
        entry.leave()
