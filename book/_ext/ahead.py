"""Execute pages, or read their stored outputs, before Sphinx reads the pages.

The outputs are written to the execution cache, from which myst-nb reads them.
`run_ahead` runs the pages in parallel. A page that fails is not cached, so the build
runs it again and reports the failure. The page that measures this machine is not run
here, but later by the build, when nothing else runs.

`take_stored` runs no page. It copies the outputs in notebooks/*.ipynb to the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

import nbformat
import warm
from joblib import Parallel, delayed
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

#: The page whose cells measure this machine for two minutes. Its outputs differ between
#: builds.
MEASURES = "book/reproduce.md"


def notebooks(
    env: BuildEnvironment, docnames: list[str]
) -> Iterator[tuple[Path, NotebookNode]]:
    """Yield the path and the cells of each notebook, without the page `MEASURES`."""
    for path in (Path(env.doc2path(name)) for name in sorted(docnames)):
        text = path.read_text(encoding="utf-8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        if reader is not None and not path.match(MEASURES):
            yield path, reader.read(text)


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the notebooks that are not in the cache, one per core, and cache outputs."""
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

    warm.use()
    pages = notebooks(env, docnames)
    Parallel(n_jobs=-1, backend="threading")(delayed(run)(*page) for page in pages)


def code_of(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of a page, without cells that were added to write prose."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if WRITES_TEXT not in cell.metadata.get("tags", [])]


def take_stored(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Copy the outputs stored in the .ipynb files of the pages to the cache."""
    cache = get_cache(app.config.nb_execution_cache_path)
    for path, notebook in notebooks(env, docnames):
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
