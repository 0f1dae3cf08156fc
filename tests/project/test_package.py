"""The wheel: its contents, its use outside the checkout, and its import time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from functools import partial
from pathlib import Path

import pytest

from companion.pages.labels import read_labels

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 8_000_000  # bytes


def build(folder):
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(folder),
    ]
    for project in (ROOT, ROOT / "companion"):
        subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def wheels(once):
    """The wheels of the library and of the book's package."""
    folder = once("wheels", build)
    return [
        next(folder.glob(f"{name}-*.whl")) for name in ("cobandit", "cobandit_book")
    ]


def install(wheels, folder):
    """Make an environment with these wheels and this environment's dependencies."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True
    )
    python = next(folder.glob("[bS]*/python*"))
    command = [
        str(python),
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]
    site = Path(
        subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)

    others = [path for path in sys.path if path.endswith("site-packages")] or [
        sysconfig.get_path("purelib")
    ]
    (site / "others.pth").write_text("\n".join(others) + "\n")


@pytest.fixture(scope="module")
def installed(wheels, once):
    """An environment with the library alone."""
    return next(once("library", partial(install, wheels[:1])).glob("[bS]*/python*"))


@pytest.fixture(scope="module")
def installed_book(wheels, once):
    """An environment with both packages."""
    return next(once("book", partial(install, wheels)).glob("[bS]*/python*"))


def run(python, code, folder, *flags):
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "PYTHONHOME")
    }
    # templates, as installed here
    environment["JUPYTER_PATH"] = str(Path(sys.prefix, "share", "jupyter"))
    command = [str(python), *flags, "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.slow
def test_wheel_contains_tables_and_types_and_little_else(wheels):
    wheel, _ = wheels
    names = zipfile.ZipFile(wheel).namelist()
    tables = [path.name for path in (ROOT / "data").glob("*.*")]
    assert {f"cobandit/data/{name}" for name in tables} <= set(names)
    assert {"cobandit/py.typed", "cobandit/__init__.pyi"} <= set(names)
    assert all(name.startswith(("cobandit/", "cobandit-")) for name in names)
    assert not [name for name in names if name.endswith(".pyc") or "/results/" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < LARGEST


@pytest.mark.slow
def test_wheel_of_the_book_contains_pages_and_results(wheels):
    names = set(zipfile.ZipFile(wheels[1]).namelist())
    assert {
        "companion/notebooks/your-data.md",
        "companion/results/manifest.json",
    } <= names
    assert {"companion/paper/numbers.yml", "companion/report/report.html.j2"} <= names
    assert all(name.startswith(("companion/", "cobandit_book-")) for name in names)
    assert wheels[1].stat().st_size < LARGEST


@pytest.mark.slow
def test_installed_pages_number_figures_as_the_book(installed_book, tmp_path):
    code = """
import json
from companion.pages.labels import read_labels
print(json.dumps({label: words for label, (words, _) in read_labels().items()}))
"""
    done = run(installed_book, code, tmp_path)
    assert done.returncode == 0, done.stderr
    installed = json.loads(done.stdout)
    figures = {
        label: words
        for label, words in installed.items()
        if words.startswith(("Figure ", "Table "))
    }
    assert figures.keys() >= {"fig-argument", "fig-contrasts", "fig-gaps"}
    assert figures == {label: read_labels()[label].words for label in figures}


@pytest.mark.acceptance
def test_package_works_outside_the_checkout(installed, tmp_path):
    code = """
import json, cobandit as cb
names = ["synthetic-24", "gsm8k", "piqa", "word-sums", "piqa-small"]
runs = cb.replay_online(cb.load("synthetic-24"), ["CoHVUCB"], rho=[2], replications=2)
print(json.dumps({"file": cb.__file__, "version": cb.__version__, "runs": len(runs),
                  "arms": [cb.load(name).n_arms for name in names]}))
"""
    done = run(installed, code, tmp_path, "-W", "error")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert Path(report["file"]).is_relative_to(installed.parents[1])
    assert report["runs"] == 2 and report["arms"][0] == 24 and len(report["arms"]) == 5


@pytest.mark.slow
def test_command_works_outside_the_checkout(installed, tmp_path):
    code = (
        "import sys; from cobandit.cli.app import main; sys.argv = ['cobandit',"
        " 'datasets']; main()"
    )
    done = run(installed, code, tmp_path, "-W", "error")
    assert done.returncode == 0, done.stderr
    assert "synthetic-24" in done.stdout and "bundled" in done.stdout


@pytest.mark.acceptance
def test_report_works_outside_the_checkout(installed_book, tmp_path):
    """The book's wheel has the sources of the pages."""
    code = """
import sys
from companion.cli import app
sys.argv = "cobandit-book rerun synthetic-24 -o r --fast --page landscape".split()
app.main()
"""
    done = run(installed_book, code, tmp_path)
    assert done.returncode == 0, done.stderr
    pages = json.loads((tmp_path / "r" / "manifest.json").read_text())["pages"]
    assert [page["status"] for page in pages if page["page"] == "landscape"] == ["done"]


def test_import_is_quick_silent_and_lazy(tmp_path):
    """Processor time, since the clock tells what else the machine does."""
    code = """
import sys, time
began = time.process_time()
import cobandit
took = time.process_time() - began
heavy = {"pandas", "numba", "pyarrow", "scipy", "matplotlib", "joblib", "dask"}
heavy = (heavy | {"pydantic"}) & set(sys.modules)
print(took, sorted(heavy))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    took, heavy = done.stdout.split(maxsplit=1)
    assert heavy.strip() == "[]"
    assert float(took) < 1


IN_PYTHON = """
import cobandit as cb
print(cb.recommend(cb.load("synthetic-24"), within={"accuracy": 0.06}, tolerance=0.02))
"""
ON_THE_COMMAND_LINE = """
from cobandit.cli.app import app
app(["recommend", "synthetic-24"], standalone_mode=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("recommend", [IN_PYTHON, ON_THE_COMMAND_LINE])
def test_recommendation_imports_no_slow_package(recommend, tmp_path):
    """None of these has a part in a recommendation, and all take long to import."""
    code = f"""
import sys
{recommend}
slow = {{"scipy.stats", "scipy.optimize", "numba", "seaborn", "matplotlib", "joblib"}}
slow |= {{"pooch"}}
print(sorted(slow & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout
    assert done.stderr.strip() == "[]"


def test_every_public_name_exists_and_is_listed():
    import cobandit as cb

    assert set(cb.__all__) <= set(dir(cb))
    assert all(getattr(cb, name) is not None for name in cb.__all__)
    assert cb.tables.load is cb.load and cb.stats is not None
    with pytest.raises(AttributeError, match="lod"):
        _ = cb.lod
