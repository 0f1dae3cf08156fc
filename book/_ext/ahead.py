"""Execute pages, or read their stored outputs, before Sphinx reads the pages.

The outputs are written to the execution cache, from which myst-nb reads them.
`run_ahead` runs the pages in parallel, while Sphinx reads others. A page that fails is
not cached, so the build runs it again and reports the failure. The page that measures
this machine is not run here. The build reads it last, and runs it when nothing else
runs.

`take_stored` runs no page. It copies the outputs in notebooks/*.ipynb to the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.pool import AsyncResult, ThreadPool
from pathlib import Path
from threading import Lock

import nbformat
from joblib import cpu_count
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from companion.report.reading import WRITES_TEXT, take_myst

log = logging.getLogger(__name__)

#: The page whose cells measure this machine. Its outputs differ between builds.
MEASURES = "book/reproduce.md"

#: Runs of pages, by the name of the page. `wait_for_run` waits for them.
RUNS: dict[str, AsyncResult[None]] = {}


def read_last(env: BuildEnvironment, docnames: list[str]) -> None:
    """Move the page `MEASURES` to the end, so that all runs have ended before it."""
    docnames.sort(key=lambda name: Path(env.doc2path(name)).match(MEASURES))


def notebooks(
    env: BuildEnvironment, docnames: list[str]
) -> Iterator[tuple[str, Path, NotebookNode]]:
    """Yield name, path and cells of each notebook, without the page `MEASURES`.

    Long pages come first, so that no core waits for a long run at the end.
    """
    sizes = {name: Path(env.doc2path(name)).stat().st_size for name in docnames}
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        path = Path(env.doc2path(name))
        text = path.read_text(encoding="utf-8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        if reader is not None and not path.match(MEASURES):
            yield name, path, reader.read(text)


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Begin to run the notebooks that are not in the cache, one per core.

    The runs go on in the background, and cache their outputs.
    """
    cache, lock = get_cache(app.config.nb_execution_cache_path), Lock()

    def run(path: Path, notebook: NotebookNode) -> None:
        with lock, suppress(KeyError):
            cache.match_cache_notebook(notebook)
            return

        timeout = app.config.nb_execution_timeout
        result = single_nb_execution(
            notebook, cwd=str(path.parent), timeout=timeout, allow_errors=False
        )
        if result.err is None:
            take_myst(notebook)
            bundle = CacheBundleIn(
                notebook, str(path), data={"execution_seconds": result.time}
            )
            with lock:
                cache.cache_notebook_bundle(
                    bundle, check_validity=False, overwrite=True
                )
            log.info("ran %s in %.1f seconds", path.name, result.time)

    # the threads of this pool do not delay the end of an interrupted build
    pool = ThreadPool(cpu_count())
    for name, path, notebook in notebooks(env, docnames):
        RUNS[name] = pool.apply_async(run, (path, notebook))
    pool.close()


def wait_for_run(app: Sphinx, name: str, source: list[str]) -> None:
    """Wait until the page that Sphinx reads next has run."""
    if run := RUNS.pop(name, None):
        run.get()


def code_of(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a page, without cells that were added to write prose."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if WRITES_TEXT not in cell.metadata.get("tags", [])]


def take_stored(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Copy the outputs stored in the .ipynb files of the pages to the cache."""
    cache = get_cache(app.config.nb_execution_cache_path)
    for _, path, notebook in notebooks(env, docnames):
        if not path.with_suffix(".ipynb").exists():
            continue
        stored = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
        here, there = code_of(notebook), code_of(stored)
        if [cell.source.strip() for cell in here] != [
            cell.source.strip() for cell in there
        ]:
            log.warning(
                "%s and its .ipynb have different cells: run make notebooks", path.name
            )
        for cell, run in zip(here, there, strict=False):
            cell.outputs, cell.execution_count = run.outputs, run.execution_count
        take_myst(notebook)
        bundle = CacheBundleIn(notebook, str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
