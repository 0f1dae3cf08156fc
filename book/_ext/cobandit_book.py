"""Sphinx extension of this book, for everything that ``_config.yml`` cannot do.

1. `key_the_cache`: myst-nb reuses the outputs of a notebook whose cells have not
   changed, even if the library or the data have changed. Therefore, the name of the
   cache directory contains a hash of library and data.
2. `link_the_repository`: the repository and launch buttons appear once
   ``[project.urls]`` in pyproject.toml names a repository, and pages have absolute
   addresses once it names the documentation.
3. `find_by_last_name`: the reference documents ``cobandit.load``; a docstring may write
   ``load`` or ``cobandit.tables.load``, and the link still works.
4. `keep_the_sentence`: the first line of a property may contain a colon, but napoleon
   would read the text before the colon as a type.
5. `mend_bodies`: the bibliography is not marked as a list for screen readers, because
   its entries are not list items; lines do not break between a number and its percent
   sign; and source pages have no links to the reference, because viewcode assumes that
   everything is documented under its module.
6. `disconnect_unused`: Jupyter Book always adds Thebe, whose script is on another
   server. Autodoc parses each function to find types in comments.
7. `describe_pictures`: pictures from cells have an alternative text.
8. `say_how_made`: an i at the corner of each figure shows the data, the parameters and
   the code of the figure.
9. `ahead.run_ahead`: pages run in parallel, in kernels that start fast, while others
   are read.
10. `ahead.take_stored`: with COBANDIT_BOOK=stored in the environment, pages are not
    run, but show the outputs stored in their .ipynb. The page with measurements shows
    no outputs. `make test` builds the book in this way, because it tests the notebooks
    against these outputs anyway.
11. `find_the_section`: the protocol is never changed, so it may link to a page that has
    become a section since.
12. `cells`: figures and tables of cells are numbered, each page has one switch for its
    code, and dropdowns have names.
13. `offer_the_notebook`: the download menu of a page with code also offers it as a
    notebook with outputs.
14. `reference`: the reference pages are written from the docstrings.
15. `descriptions`: the head of a page has a description and a picture, for search
    engines and link previews.
16. `write_in_parallel`: pages are written by several processes.
17. `keep_index_entries`: a search also finds the index entries of pages that a build
    does not write again, because Sphinx forgets them.
18. `collect_garbage_rarely`: garbage collection takes a third of a build's time if it
    is not limited.
19. `search_names_once`: Sphinx searches each type in a docstring among all names.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import re
import shutil
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

import ahead
import cells
import descriptions
import nbformat
import provenance
from docutils.nodes import Element, Node, Text, container, document, raw
from joblib import cpu_count
from jupyter_cache import get_cache
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join, logging
from sphinx.util.index_entries import split_index_msg
from sphinx.util.nodes import make_refnode

from cobandit import figures
from companion.report.reading import with_outputs

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[2]
CACHES_KEPT = 3
STATIC = "book/_static"
BINDER = "https://mybinder.org"
DRAWING = '<div class="panels">'
# former pages that are now sections, with the labels of these sections
SECTIONS = {"notebooks/calibration": "calibration"}


def content_key(root: Path, *more: str) -> str:
    """Return a hash of the contents of both packages and of the bundled data.

    ``more`` has patterns of further files on which the outputs of pages depend.
    """
    digest = hashlib.sha256()
    patterns = ("cobandit/**/*.py", "companion/**/*.*", "data/**/*", *more)
    paths = (
        path
        for pattern in patterns
        for path in root.glob(pattern)
        if path.suffix != ".pyc"
    )
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def collect_garbage_rarely() -> None:
    """Collect garbage rarely, because it otherwise takes a third of a build's time.

    By default, Python collects after every 700 new objects, and many collections visit
    the trees of all pages, which have millions of nodes. With fewer collections, a
    build takes 1.0 GB of memory instead of 0.7 GB.
    """
    gc.freeze()
    gc.set_threshold(3_000_000, 100, 1000)
    # Python collects once more at exit, which would visit all trees again
    atexit.register(gc.freeze)


def key_the_cache(app: Sphinx, config: Config) -> None:
    """Choose the execution cache by a hash of the library and the data.

    If the hash is new, Sphinx reads all pages again. Only the newest caches are kept.
    """
    root = Path(app.srcdir)
    if config.cobandit_stored:
        config.cobandit_key = content_key(root, "notebooks/*.ipynb")
        config.nb_execution_excludepatterns = [
            *config.nb_execution_excludepatterns,
            ahead.MEASURES,
        ]
    else:
        config.cobandit_key = content_key(root)

    caches = Path(app.outdir).parent / ".jupyter_cache"
    config.nb_execution_cache_path = str(caches / config.cobandit_key)
    older = sorted(
        (
            path
            for path in caches.glob("*")
            if path.is_dir() and path.name != config.cobandit_key
        ),
        key=lambda path: path.stat().st_mtime,
    )
    for path in older[: -(CACHES_KEPT - 1)]:
        shutil.rmtree(path, ignore_errors=True)


def add_static_files(app: Sphinx, config: Config) -> None:
    """Add the style sheet and the scripts of the book, which load after the page."""
    config.html_static_path.append(STATIC)
    app.add_css_file("custom.css")
    for name in ("elements.js", "argument.js", "filter.js", "gaps.js", "reach.js"):
        app.add_js_file(name, loading_method="defer")


def fill_the_cache(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Fill the execution cache: with stored outputs if requested, or by running pages.

    Pages without stored outputs are always run, in the background: `ahead.wait_for_run`
    waits for a run before the page is read.
    """
    ahead.read_last(env, docnames)
    if app.config.cobandit_stored:
        ahead.take_stored(app, env, docnames)
    ahead.run_ahead(app, env, docnames)


def write_in_parallel(app: Sphinx, env: BuildEnvironment) -> None:
    """Write pages by one process per core, and prepare them in this process.

    This is set after all pages are read, because an extension that Jupyter Book loads
    does not allow reading by several processes.
    """
    app.parallel = cpu_count() + 1


def search_names_once(app: Sphinx, env: BuildEnvironment) -> None:
    """Remember the result of each search for a name of the reference.

    A type in a docstring, such as ``int``, is searched among all names, and most types
    occur hundreds of times.
    """
    domain = env.domains["py"]
    domain.find_obj = cache(domain.find_obj)


def link_the_repository(app: Sphinx, config: Config) -> None:
    """Enable buttons, and set the book's address, if pyproject.toml has their URLs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    urls = {name.lower(): url for name, url in project.get("urls", {}).items()}
    if site := urls.get("documentation"):
        config.html_baseurl = site
    if url := urls.get("repository") or urls.get("source"):
        options = config.html_theme_options
        options.update(
            repository_url=url, use_repository_button=True, use_issues_button=True
        )
        options["launch_buttons"] = {
            "binderhub_url": BINDER,
            "notebook_interface": "jupyterlab",
        }


@cache
def find_targets(env: BuildEnvironment) -> dict[str, set[tuple[str, str]]]:
    """Return page and anchor of documented functions and classes, by last name."""
    targets: dict[str, set[tuple[str, str]]] = {}
    for name, entry in env.domains["py"].objects.items():
        if entry.objtype in ("function", "class") and not entry.aliased:
            last = name.rpartition(".")[2]
            targets.setdefault(last, set()).add((entry.docname, entry.node_id))
    return targets


def find_by_last_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: Node
) -> Node | None:
    """Resolve a reference to a documented function or class by another of its paths."""
    last = node["reftarget"].rpartition(".")[2]
    if node.get("refdomain") != "py" or not last:
        return None

    targets = find_targets(env).get(last, set())
    if len(targets) != 1:
        return None

    ((docname, anchor),) = targets
    return make_refnode(app.builder, node["refdoc"], docname, anchor, text)


def find_the_section(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: Node
) -> Node | None:
    """Redirect a reference from a former page to its section."""
    label = SECTIONS.get(docname_join(node["refdoc"], node["reftarget"]))
    if node["reftype"] != "doc" or label is None:
        return None
    domain = env.domains["std"]
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, "ref", label, node, text
    )


def keep_the_sentence(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
):
    """Prefix the text of a property with a comment, so that napoleon finds no type."""
    if what in ("property", "attribute") and lines:
        lines[:0] = ["..", ""]


def disconnect_unused(app: Sphinx, config: Config) -> None:
    """Disconnect sphinx-thebe, and the search for types in comments.

    The book is not run in the browser. Its code has no types in comments, and the
    search for them parses each function.
    """
    unused = ("sphinx_thebe", "sphinx.ext.autodoc.type_comment")
    everyone = [entry for entries in app.events.listeners.values() for entry in entries]
    for entry in everyone:
        if getattr(entry.handler, "__module__", "").startswith(unused):
            app.disconnect(entry.id)
    sheets = app.registry.css_files
    sheets[:] = [sheet for sheet in sheets if "thebe" not in sheet[0]]


#: A formula within a line of text.
FORMULA = r'<span class="math notranslate nohighlight">[^<]*</span>'
#: Replacements in the finished pages.
MENDED = {
    rf"(\(?{FORMULA}[,.;:!?)\]]+|\({FORMULA})": r'<span class="unbroken">\1</span>',
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    r"(?<=\d) %": "\N{NO-BREAK SPACE}%",
    r'<a class="viewcode-back" [^>]*>\[docs\]</a>': "",
}


def mend_bodies(
    app: Sphinx, page: str, template: str, context: dict[str, object], tree: Node | None
) -> None:
    """Apply the replacements to a finished page."""
    if isinstance(body := context.get("body"), str):
        for pattern, other in MENDED.items():
            body = re.sub(pattern, other, body)
        context["body"] = body


def describe_pictures(app: Sphinx, doctree: document) -> None:
    """Add a cell's alternative text to its drawings, numbered if there are several."""
    for cell in doctree.findall(
        lambda node: isinstance(node, container) and "cell_metadata" in node
    ):
        words = cell["cell_metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        drawings = [
            node for node in cell.findall(raw) if node.astext().startswith(DRAWING)
        ]
        for number, drawing in enumerate(drawings, start=1):
            which = f" ({number} of {len(drawings)})" if len(drawings) > 1 else ""
            drawing.children = [
                Text(figures.described(drawing.astext(), words + which))
            ]


def say_how_made(app: Sphinx, doctree: document, page: str) -> None:
    """Add the origin of each figure to its corner, except in the printed book.

    The origin consists of data, parameters and code (`provenance`).
    """
    if app.builder.format != "html" or app.builder.name == "singlehtml":
        return
    entries = app.env.domains["py"].objects.items()
    places = {
        name.rpartition(".")[
            2
        ]: f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"
        for name, entry in entries
        if entry.objtype in ("function", "class") and not entry.aliased
    }

    def documented(name: str) -> str:
        return places.get(name.rpartition(".")[2], "")

    for cell in list(
        doctree.findall(
            lambda node: isinstance(node, container) and "cell_index" in node
        )
    ):
        if _draws(cell):
            text = provenance.made(
                Path(app.env.doc2path(page)), cell["cell_index"], documented
            )
            folds = [
                part
                for part in cell.children
                if isinstance(part, HideCodeCellNode) and _draws(part)
            ]
            (folds or [cell])[-1].append(raw("", text, format="html"))


def _draws(part: Element) -> bool:
    """Whether a part of a page contains a figure."""
    return any('class="panels"' in node.astext() for node in part.findall(raw))


def offer_the_notebook(
    app: Sphinx, page: str, template: str, context: dict[str, object], tree: Node | None
) -> None:
    """Offer an executed page as a notebook with outputs, next to its source."""
    cells = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    if not cells.is_file():
        return
    with suppress(KeyError):  # the cache has no page that did not run
        cache = get_cache(app.config.nb_execution_cache_path)
        _, notebook = cache.merge_match_into_notebook(
            nbformat.read(cells, as_version=4)
        )
        offered = Path(app.outdir) / "_sources" / f"{page}.ipynb"
        offered.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(with_outputs(notebook, offered.stem), offered)
        context["ipynb_source"] = f"{page}.ipynb"


def keep_index_entries(app: Sphinx, env: BuildEnvironment) -> None:
    """Add the index entries of all pages to the index of the search.

    Entries of the reference are left out, since the search finds its names anyway.
    """
    env._search_index_index_entries = {
        page: sorted(
            {
                (text, target, main)
                for kind, words, target, main, _ in entries
                for text in split_index_msg(kind, words)
            }
        )
        for page, entries in env.domaindata["index"]["entries"].items()
        if not page.startswith("book/api/")
    }


def setup(app: Sphinx) -> dict[str, bool]:
    collect_garbage_rarely()
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("reference")
    app.add_config_value("cobandit_key", "", "env", str)
    app.add_config_value(
        "cobandit_stored", os.environ.get("COBANDIT_BOOK") == "stored", "env", bool
    )
    cells.setup(app)
    app.connect("config-inited", key_the_cache)
    app.connect("config-inited", add_static_files)
    app.connect("config-inited", link_the_repository)
    app.connect("config-inited", disconnect_unused)
    app.connect("autodoc-process-docstring", keep_the_sentence, priority=400)
    app.connect("env-before-read-docs", fill_the_cache)
    app.connect("source-read", ahead.wait_for_run)
    app.connect("env-updated", write_in_parallel)
    app.connect("env-updated", search_names_once)
    app.connect("env-updated", keep_index_entries)
    app.connect("doctree-read", describe_pictures)
    app.connect("doctree-resolved", say_how_made)

    # before the theme builds the menu
    app.connect("html-page-context", offer_the_notebook, priority=400)
    app.connect("missing-reference", find_by_last_name)
    app.connect("missing-reference", find_the_section)
    app.connect("html-page-context", mend_bodies)
    app.connect("html-page-context", descriptions.describe_page)
    app.connect("build-finished", descriptions.draw_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
