"""On-disk cache of compiled code, in a folder named by a digest of its source files.

Numba's cache has two gaps. It detects a change in the file of a function, but not in a
helper or a constant from another file, so outdated code would run. It also does not
detect a truncated file, or that two processes wrote files with the same number.
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
    # pooch imports tqdm, which warns in notebooks without ipywidgets
    warnings.simplefilter("ignore")
    import pooch

config: Any = numba.config

PACKAGE = Path(__file__).resolve().parents[2]
#: Days without use after which a cache folder is removed. Folders that were used
#: recently may belong to other installations.
KEPT = 30.0


def sources() -> list[Path]:
    """Return the source files of compiled code: kernels, and modules that they use."""
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
    """Make the cache folder, remove outdated cache folders, and return its path.

    The cache folder is in the folder of Numba's setting ``CACHE_DIR``, in the user's
    cache, or next to the code. If none of these is writable, it is a temporary folder
    of this process. Returns None if no folder can be created.
    """
    digest = sha256()
    for file in sources():
        digest.update(f"{file.relative_to(PACKAGE)}\n".encode() + file.read_bytes())
    for place in (
        Path(config.CACHE_DIR or pooch.os_cache("cobandit")),
        Path(__file__).parent / "__pycache__",
    ):
        folder = place / f"numba-{digest.hexdigest()[:16]}"
        with suppress(OSError):  # read-only, as in some containers
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
        with suppress(FileNotFoundError):  # another process has removed it
            if found.stat().st_mtime < oldest:
                shutil.rmtree(found, ignore_errors=True)

    return folder


FOLDER = make_folder()


class SealedFiles:
    """Cache files of a function, one per signature, each with a checksum.

    The class replaces `numba.core.caching.IndexDataCacheFile`, whose index two
    processes may write at the same time.
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
        """Write a file atomically; do nothing if the folder is not writable."""
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
        """Return the data of a key, or None if it has no complete file."""
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
    """Numba's cache of a function, with `SealedFiles`."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = SealedFiles(
            self._cache_path, self._impl.filename_base, stamp
        )


@contextmanager
def kept() -> Iterator[None]:
    """Use this module's cache for functions that are compiled inside the context.

    Other code in the process continues to use Numba's cache and its folder.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = before if FOLDER is None else str(FOLDER)
    # both modules make the cache of a function when it is decorated
    makers: tuple[Any, ...] = (dispatcher, ccallback)
    for module in makers:
        module.FunctionCache = SealedCache
    try:
        yield
    finally:
        config.CACHE_DIR = before
        for module in makers:
            module.FunctionCache = FunctionCache


#: Options of compiled code. Functions that are not called by their address need no
#: wrapper for C. Functions that only compiled code calls need no wrapper for Python.
#: Without these wrappers, compilation takes an eighth less time. Division by zero
#: behaves as in NumPy.
BY_NAME: Any = {"no_cfunc_wrapper": True, "error_model": "numpy"}
INNER: Any = {"no_cpython_wrapper": True, **BY_NAME}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and cache the result on disk.

    Functions that it calls have to be decorated with ``inner``.
    """
    with kept():
        return njit(function, cache=FOLDER is not None, nogil=True, **BY_NAME)


#: Decorator of a function that compiled code calls. Called from Python, it runs as
#: Python code.
inner = register_jitable(**INNER)
