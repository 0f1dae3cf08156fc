"""Fetches one file into the cache, and gives up in good time whatever blocks."""

from __future__ import annotations

import threading
import time
import warnings
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # tqdm, which pooch loads, asks every notebook for ipywidgets
    import pooch

PATIENCE = 8.0
"""Seconds without a byte after which a download is given up."""


class _Watched:
    """A file that notes when it was last written to, and takes nothing more once the download is given up."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.abandoned = False

    def download(self, url: str, output_file: str, registry: Any) -> None:
        """Download as pooch does, through this object (the signature is that of a pooch downloader)."""
        with open(output_file, "wb") as self.file:
            pooch.HTTPDownloader(timeout=PATIENCE)(url, self, registry)

    def write(self, chunk: bytes) -> int:
        """Pass a chunk on to the file."""
        if self.abandoned:
            raise TimeoutError("the download was given up")
        self.last = time.monotonic()
        return self.file.write(chunk)


def cache_directory() -> Path:
    """Where fetched files are kept, as the operating system has it."""
    return Path(pooch.os_cache("cobandit"))


def fetch(url: str, target: Path, sha256: str) -> str | None:
    """Download a file, check its sum and put it in place.

    A timeout on the socket would not do: it covers neither the resolution of names nor a proxy that stalls
    between two of its own steps. So the download runs in a daemon thread, which cannot keep the interpreter
    alive, and is given up when no byte has come for ``PATIENCE`` seconds. A slow line that does deliver is
    left to finish.

    Parameters
    ----------
    url : str
        What to download.
    target : Path
        Where to put it. The directory is made; the file appears only when complete and with the right sum.
    sha256 : str
        The sum that it has to have.

    Returns
    -------
    str or None
        What went wrong, or None. There is one attempt.
    """
    watched = _Watched()
    outcome: list[str | None] = []

    def retrieve() -> None:
        try:
            pooch.retrieve(
                url, f"sha256:{sha256}", fname=target.name, path=target.parent, downloader=watched.download
            )
            outcome.append(None)
        except Exception as error:
            # whatever it is (no name, no route, no space, wrong sum), it belongs into the user's message
            outcome.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=retrieve, name="cobandit-fetch", daemon=True)
    thread.start()
    while thread.is_alive():
        left = watched.last + PATIENCE - time.monotonic()
        if left <= 0:
            watched.abandoned = True
            return f"no answer within {PATIENCE:g} seconds"
        thread.join(left)
    return outcome[0]
