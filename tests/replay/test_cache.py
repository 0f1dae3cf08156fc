"""Compiled runs on disk: found again, never stale, and nobody else's business."""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba
import pytest

from cobandit.replay.kernels import _cache

ROOT = Path(__file__).resolve().parents[2]
HELPER = (
    "from cobandit.replay.kernels._cache import inner\n\n@inner\ndef helper():\n   "
    " return {}\n"
)
PROBE = """
from cobandit.replay.kernels._cache import compiled
from cobandit.replay.kernels.helper import helper

@compiled
def probe():
    return helper()
"""
USE = """
import numba
from cobandit.replay.kernels import _cache, probe
value = probe.probe()
n_hits = sum(probe.probe.stats.cache_hits.values())
print(value, n_hits, repr(numba.config.CACHE_DIR), _cache.FOLDER)
"""


@pytest.fixture
def package(tmp_path):
    """Copy the package with a compiled function that calls an imported helper."""
    ignored = shutil.ignore_patterns("__pycache__", "cli")
    shutil.copytree(ROOT / "cobandit", tmp_path / "cobandit", ignore=ignored)
    folder = tmp_path / "cobandit" / "replay" / "kernels"
    (folder / "probe.py").write_text(PROBE)
    return folder


def probed(package, value, **environment):
    """Return the value, whether code was loaded, the user's setting, the folder."""
    (package / "helper.py").write_text(HELPER.format(value))
    variables = {
        name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"
    }
    project = package.parents[2]
    variables |= {
        "PYTHONPATH": str(project),
        "XDG_CACHE_HOME": str(project / "cache"),
        **environment,
    }
    command = [sys.executable, "-c", USE]
    done = subprocess.run(
        command, cwd=project, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result, hits, setting, folder = done.stdout.split()
    return int(result), int(hits), setting, Path(folder)


@pytest.mark.acceptance
def test_change_in_an_imported_helper_is_noticed(package):
    *result, _ = probed(package, 1)
    assert result == [1, 0, "''"]  # what the user compiles is kept as before
    assert probed(package, 1)[:2] == (1, 1)
    assert probed(package, 2)[:2] == (2, 0)
    assert probed(package, 1)[:2] == (1, 1)  # and the former version is still there


@pytest.mark.slow
def test_folder_of_the_user_is_respected(package, tmp_path):
    result, _, setting, folder = probed(
        package, 1, NUMBA_CACHE_DIR=str(tmp_path / "mine")
    )
    assert (
        result == 1
        and folder.parent == tmp_path / "mine"
        and setting == repr(str(tmp_path / "mine"))
    )


def test_fallback_cache_is_beside_the_code_or_temporary(tmp_path, monkeypatch):
    (tmp_path / "blocked").write_text("a file, in which no folder can be made")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "blocked"))
    monkeypatch.setattr(_cache, "__file__", str(tmp_path / "code" / "_cache.py"))
    assert _cache.make_folder().parent == tmp_path / "code" / "__pycache__"
    monkeypatch.setattr(_cache, "__file__", str(tmp_path / "blocked" / "_cache.py"))
    result = _cache.make_folder()
    assert result.is_dir() and not result.is_relative_to(tmp_path)
    result.rmdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "blocked"))
    assert _cache.make_folder() is None


def divide(x, y):
    return x / y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of compiled code."""
    monkeypatch.setattr(_cache, "FOLDER", tmp_path / "compiled")
    return tmp_path / "compiled"


def compile_again():
    """Return the function of a fresh process, and whether each signature was loaded."""
    function = _cache.compiled(divide)
    result = function(1, 2), function(1.0, 0.0), function(1j, 2.0)
    return result, sum(function.stats.cache_hits.values())


EXPECTED = 0.5, float("inf"), 0.5j


@pytest.mark.slow
def test_truncated_or_changed_file_is_rebuilt(folder):
    """At any place: whatever is no longer whole is compiled again, without a word."""
    assert compile_again() == (EXPECTED, 0)
    assert compile_again() == (EXPECTED, 3)
    path = min(folder.rglob("*.nbc"))
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    for damaged in (b"", content[:20], content[:middle], content[:-1], flipped):
        path.write_bytes(damaged)
        assert compile_again() == (EXPECTED, 2)
        assert path.read_bytes() != damaged


@pytest.mark.slow
def test_eight_processes_share_an_empty_folder(folder):
    """With several signatures, whose files numba would number as they come."""
    with ProcessPoolExecutor(8, mp_context=get_context("fork")) as pool:
        started = [pool.submit(compile_again) for _ in range(8)]
        assert [process.result()[0] for process in started] == [EXPECTED] * 8
    assert compile_again() == (EXPECTED, 3)
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 3


@pytest.mark.parametrize("damage", [b"", b"x" * 40, None])
def test_damaged_files_count_as_absent(tmp_path, damage):
    files = _cache.SealedFiles(str(tmp_path), "probe", "stamp")
    files.save(("f", 1), [1, 2])
    files.save(("f", 2), [3])
    assert (files.load(("f", 1)), files.load(("f", 2)), files.load(("f", 3))) == (
        [1, 2],
        [3],
        None,
    )
    assert _cache.SealedFiles(str(tmp_path), "probe", "newer").load(("f", 1)) is None
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    assert files.load(("f", 1)) is None
    files.save(("f", 1), [4])
    assert files.load(("f", 1)) == [4]
    files.flush()
    assert not list(tmp_path.iterdir())


def test_unwritable_folder_is_no_error(tmp_path):
    (tmp_path / "blocked").write_text("a file, in which nothing can be made")
    files = _cache.SealedFiles(str(tmp_path / "blocked"), "probe", "stamp")
    files.save("f", [1])
    assert files.load("f") is None


@pytest.mark.slow
def test_compiled_code_is_stored_in_the_cache_only():
    """Numba's own cache fails if neither package nor user folder is writable."""
    plain = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "cobandit").rglob("*.py")
        if path.name not in ("_cache.py", "formulas.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and any(keyword.arg == "cache" for keyword in node.keywords)
    ]
    assert not plain


def test_stale_folders_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for name, age in (
        ("old", 60),
        ("recent", 9),
        (_cache.make_folder().name.removeprefix("numba-"), 60),
    ):
        folder = tmp_path / f"numba-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "run.nbi").write_text("")
        used = folder.stat().st_mtime - age * 86_400
        os.utime(folder, (used, used))
    used_now = _cache.make_folder().name
    assert {path.name for path in tmp_path.iterdir()} == {used_now, "numba-recent"}


def test_folder_name_covers_every_input_of_compilation():
    """Kernels import nothing from other files of the project but classes of errors."""
    read = {
        path.relative_to(ROOT / "cobandit").with_suffix("").as_posix()
        for path in _cache.sources()
    }
    imported = set()
    for path in (ROOT / "cobandit" / "replay" / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("cobandit."):
                imported.add(node.module.removeprefix("cobandit.").replace(".", "/"))
    imported -= {"errors"}
    assert {
        name for name in imported if name not in read and f"{name}/__init__" not in read
    } == set()


@pytest.mark.slow
def test_compiled_code_uses_one_sort():
    """Only `np.argsort` sorts: code loaded from disk must not use `np.sort` beside it.

    Inside, both call a function of the same name on the same types.  Of two such
    symbols that were compiled by different processes and loaded by a third, one stands
    for both, and the wrong one crashes.
    """
    compiled = 0
    for source in (ROOT / "cobandit").rglob("*.py"):
        for function in ast.walk(ast.parse(source.read_text())):
            decorators = map(ast.unparse, getattr(function, "decorator_list", []))
            if any(
                name.startswith(
                    ("compiled", "inner", "njit", "online_index", "elimination_target")
                )
                for name in decorators
            ):
                compiled += 1
                called = {
                    ast.unparse(node.func)
                    for node in ast.walk(function)
                    if isinstance(node, ast.Call)
                }
                assert not {
                    name for name in called if name.split(".")[-1] in ("sort", "sorted")
                }, source
    assert compiled > 30
