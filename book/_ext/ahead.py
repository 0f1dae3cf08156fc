"""Run the pages of a build side by side, before Sphinx reads them one after another.

`run_ahead` leaves the outputs in the execution cache, where myst-nb looks for them. A page that fails is left
out: the build runs it again and reports the failure as it always does.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Lock

import availability
from joblib import Parallel, delayed
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

log = logging.getLogger(__name__)


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the notebooks among the pages to be read, one a core, and cache their outputs."""
    cache, lock = get_cache(app.config.nb_execution_cache_path), Lock()

    def run(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        if availability.missing(text):
            return
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        notebook = reader.read(text)
        with lock, suppress(KeyError):
            cache.match_cache_notebook(notebook)
            return
        timeout = app.config.nb_execution_timeout
        result = single_nb_execution(notebook, cwd=str(path.parent), timeout=timeout, allow_errors=False)
        if result.err is None:
            bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": result.time})
            with lock:
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            log.info("ran %s in %.1f seconds", path.name, result.time)

    paths = [path for path in availability.pages(Path(app.srcdir)) if f"notebooks/{path.stem}" in docnames]
    Parallel(n_jobs=-1, backend="threading")(delayed(run)(path) for path in paths)
