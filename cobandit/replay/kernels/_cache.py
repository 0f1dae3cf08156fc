"""Compiled runs are kept on disk, in a folder that is named by the content of what they are made of.

Numba itself notices a change in the file of a function, but not in a helper or a constant that the function
takes from another file, and would go on running the old code.
"""

import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.extending import register_jitable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # tqdm, which pooch loads, asks every notebook for ipywidgets
    import pooch

config: Any = numba.config

PACKAGE = Path(__file__).resolve().parents[2]
#: Days after which a folder that nobody used is removed: it may be that of another installation.
KEPT = 30.0


def sources() -> list[Path]:
    """Files that compiled code is made of: the kernels, and those whose constants they take."""
    folders = PACKAGE / "policies", PACKAGE / "replay" / "kernels"
    inside = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    return [*(PACKAGE / name for name in ("_check.py", "dominance.py", "theory/sharper.py")), *inside]


def make_folder() -> Path:
    """Make the folder, where the user says, in their cache or next to the code; remove old ones there."""
    digest = sha256()
    for file in sources():
        digest.update(f"{file.relative_to(PACKAGE)}\n".encode() + file.read_bytes())
    for place in Path(config.CACHE_DIR or pooch.os_cache("cobandit")), Path(__file__).parent / "__pycache__":
        folder = place / f"numba-{digest.hexdigest()[:16]}"
        with suppress(OSError):  # read only, as in a container
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            break
    else:
        return Path(tempfile.mkdtemp(prefix="cobandit-numba-"))
    oldest = time.time() - KEPT * 86_400
    for found in place.glob("numba-*"):
        with suppress(FileNotFoundError):  # another process was faster
            if found.stat().st_mtime < oldest:
                shutil.rmtree(found, ignore_errors=True)
    return folder


FOLDER = make_folder()


@contextmanager
def kept() -> Iterator[None]:
    """Keep what is compiled inside on disk; what others compile is kept where they say."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
    try:
        yield
    finally:
        config.CACHE_DIR = before


#: Compiled code that nobody calls by its address, and inner code not from Python either: these ways in would
#: take an eighth of the time to compile.  A division by zero gives what NumPy's does.
BY_NAME: Any = {"no_cfunc_wrapper": True, "error_model": "numpy"}
INNER: Any = {"no_cpython_wrapper": True, **BY_NAME}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile what Python calls, and keep the result on disk; what it calls in turn is ``inner``."""
    with kept():
        return njit(function, cache=True, nogil=True, **BY_NAME)


#: Compile what compiled code calls; called from Python, it is Python.
inner = register_jitable(**INNER)
