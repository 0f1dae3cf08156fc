"""Compiled runs are kept on disk, in a folder that is named by the content of what they are made of.

Numba itself notices a change in the file of a function, but not in a helper or a
constant that the function takes from another file, and would go on running the old
code.  Nor does it notice a file that was cut short, or that two processes which start
together give their files the same number.
"""

import atexit
import os
import pickle
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba
from numba import njit
from numba.core import ccallback, dispatcher
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps
from numba.extending import register_jitable

with warnings.catch_warnings():
    # tqdm, which pooch loads, asks every notebook for ipywidgets
    warnings.simplefilter("ignore")
    import pooch

config: Any = numba.config

PACKAGE = Path(__file__).resolve().parents[2]
#: Days after which a folder that nobody used is removed: it may be that of another
#: installation.
KEPT = 30.0


def sources() -> list[Path]:
    """Files that compiled code is made of: the kernels, and those whose constants they take."""
    folders = PACKAGE / "policies", PACKAGE / "replay" / "kernels"
    inside = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    return [
        *(
            PACKAGE / name
            for name in ("_budget.py", "dominance.py", "theory/divergence.py")
        ),
        *inside,
    ]


def make_folder() -> Path | None:
    """Make the folder, where the user says, in their cache or next to the code; remove old ones there.

    Where nothing of it can be written to it is a temporary one, for this process; None
    without such a place.
    """
    digest = sha256()
    for file in sources():
        digest.update(f"{file.relative_to(PACKAGE)}\n".encode() + file.read_bytes())
    for place in (
        Path(config.CACHE_DIR or pooch.os_cache("cobandit")),
        Path(__file__).parent / "__pycache__",
    ):
        folder = place / f"numba-{digest.hexdigest()[:16]}"
        with suppress(OSError):  # read only, as in a container
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            break
    else:
        try:
            temporary = Path(tempfile.mkdtemp(prefix="cobandit-numba-"))
        except OSError:
            return None
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return temporary

    oldest = time.time() - KEPT * 86_400
    for found in place.glob("numba-*"):
        with suppress(FileNotFoundError):  # another process was faster
            if found.stat().st_mtime < oldest:
                shutil.rmtree(found, ignore_errors=True)

    return folder


FOLDER = make_folder()


class SealedFiles:
    """A file for each signature of a function, which is taken only if it is whole.

    It stands for `numba.core.caching.IndexDataCacheFile`, whose index two processes may
    write at once.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any):
        self._folder = Path(cache_path)
        self._base = filename_base
        self._made_of = numba.__version__, source_stamp

    def _path(self, key: Any) -> Path:
        name = sha256(repr((self._made_of, key)).encode()).hexdigest()[:32]
        return self._folder / f"{self._base}.{name}.nbc"

    def flush(self) -> None:
        """Remove all files of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def save(self, key: Any, data: Any) -> None:
        """Write a file, all of it or nothing; a folder that cannot be written to is no error."""
        content = dumps((self._made_of, key, data))
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
        try:
            partial.write_bytes(sha256(content).digest() + content)
            partial.replace(path)
        except OSError:
            with suppress(OSError):
                partial.unlink()

    def load(self, key: Any) -> Any:
        """Read a file; None if there is none that is whole and of this key."""
        try:
            written = self._path(key).read_bytes()
        except OSError:
            return None
        size = sha256().digest_size
        seal, content = written[:size], written[size:]
        if sha256(content).digest() != seal:
            return None
        made_of, stored_key, data = pickle.loads(content)
        return data if (made_of, stored_key) == (self._made_of, key) else None


class SealedCache(FunctionCache):  # type: ignore[misc, unused-ignore]
    """Numba's cache of a function, with files that are whole or are made again."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = SealedFiles(
            self._cache_path, self._impl.filename_base, stamp
        )


@contextmanager
def kept() -> Iterator[None]:
    """Keep what is compiled inside on disk; what others compile is kept where they say."""
    before = config.CACHE_DIR
    config.CACHE_DIR = before if FOLDER is None else str(FOLDER)
    # both make the cache of a function when it is decorated
    makers: tuple[Any, ...] = (dispatcher, ccallback)
    for module in makers:
        module.FunctionCache = SealedCache
    try:
        yield
    finally:
        config.CACHE_DIR = before
        for module in makers:
            module.FunctionCache = FunctionCache


#: Compiled code that nobody calls by its address, and inner code not from Python
#: either: these ways in would take an eighth of the time to compile.  A division by
#: zero gives what NumPy's does.
BY_NAME: Any = {"no_cfunc_wrapper": True, "error_model": "numpy"}
INNER: Any = {"no_cpython_wrapper": True, **BY_NAME}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile what Python calls, and keep the result on disk; what it calls in turn is ``inner``."""
    with kept():
        return njit(function, cache=FOLDER is not None, nogil=True, **BY_NAME)


#: Compile what compiled code calls; called from Python, it is Python.
inner = register_jitable(**INNER)
