"""The built book: links, anchors, alternative texts, and the Sphinx extension."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import jupytext
import nbformat
import pytest
import yaml
from docutils.core import publish_doctree
from PIL import Image
from support.browsing import HTML, NEEDS_BOOK

import cobandit

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "book" / "_ext"

built = [pytest.mark.book, pytest.mark.slow, NEEDS_BOOK]


def contents() -> list[str]:
    return re.findall(
        r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )


#: Pages that are written for readers; the reference is looked up.
CHAPTERS = [name for name in contents() if not name.startswith("book/api")]
#: Every page that was built, those of the source code and the index included.
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts
)


class Page(HTMLParser):
    """Ids, links, images and text of one page."""

    def __init__(self, html: str):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.assets: list[str] = []
        self.images: list[dict[str, str]] = []
        self.text: list[str] = []
        self.prose: list[str] = []  # the text that is no code
        self.silent = self.code = self.undescribed = 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        arguments = {name: value or "" for name, value in attributes}
        self.ids |= {arguments[name] for name in ("id", "name") if name in arguments}
        self.silent += tag in ("script", "style")
        self.code += tag in ("pre", "code")
        if tag == "a" and "href" in arguments:
            self.links.append(arguments["href"])
        # an address that was published before leads on
        if arguments.get("http-equiv") == "refresh":
            self.links.append(arguments["content"].partition("url=")[2])
        if (tag == "link" and "stylesheet" in arguments.get("rel", "")) or (
            tag == "script" and "src" in arguments
        ):
            self.assets.append(arguments.get("href") or arguments["src"])
        if tag == "img":
            self.images.append(arguments)
        if arguments.get("role") == "img":  # a drawing within the page
            self.images.append({"src": "", "alt": arguments.get("aria-label", "")})
        self.undescribed += (
            arguments.get("class") == "panels" and "aria-label" not in arguments
        )

    def handle_endtag(self, tag):
        self.silent -= tag in ("script", "style")
        self.code -= tag in ("pre", "code")

    def handle_data(self, data):
        if not self.silent:
            self.text.append(data)
        if not self.silent and not self.code:
            self.prose.append(data)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def html_of(name: str) -> Path:
    return HTML / f"{name}.html"


class TestBuiltBook:
    pytestmark = built

    @pytest.mark.parametrize("name", contents())
    def test_every_page_exists(self, name):
        assert html_of(name).exists()

    @pytest.mark.parametrize("name", PAGES)
    def test_links_and_anchors_have_targets(self, name):
        page_path = HTML / name
        broken = []
        for link in page(page_path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (
                (page_path.parent / unquote(parts.path)).resolve()
                if parts.path
                else page_path
            )
            if not target.exists() or (
                parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in page(target).ids
            ):
                broken.append(link)
        assert not broken

    @pytest.mark.parametrize("name", contents())
    def test_pages_load_no_remote_files(self, name):
        page_path = html_of(name)
        assets = [
            *page(page_path).assets,
            *(image["src"] for image in page(page_path).images),
        ]
        away = [asset for asset in assets if urlsplit(asset).netloc]
        assert not away
        assert not [
            entry
            for entry in assets
            if not (page_path.parent / unquote(urlsplit(entry).path)).exists()
        ]

    def test_pages_have_link_previews(self):
        head = r'<meta (?:name|property)="(?:og:)?description" content="([^"]*)"'
        matches = {
            name: re.findall(head, html_of(name).read_text()) for name in CHAPTERS
        }
        assert all(len(set(texts)) == 1 and texts[0] for texts in matches.values()), (
            matches
        )
        assert len({texts[0] for texts in matches.values()}) == len(CHAPTERS)

    @pytest.mark.parametrize("name", contents())
    def test_images_have_descriptions(self, name):
        # myst-nb writes the file name as alternative text where a notebook gives none
        descriptions = [image.get("alt", "") for image in page(html_of(name)).images]
        assert not [words for words in descriptions if len(words) < 20 or "/" in words]
        assert not page(html_of(name)).undescribed
        assert len(descriptions) == len(set(descriptions)), (
            "two pictures with the same words"
        )

    @pytest.mark.parametrize("name", contents())
    def test_pages_show_no_internals(self, name):
        full_text = "".join(page(html_of(name)).text)
        remains = [
            word for word in ("To be computed", "<Figure size") if word in full_text
        ]
        # the reference shows errors and markup on purpose, in its code
        text = (
            "".join(page(html_of(name)).prose)
            if name.startswith("book/api")
            else full_text
        )
        remains += [
            word for word in ("{glue", "Traceback (most recent") if word in text
        ]
        remains += re.findall(r"\{(?:prf:ref|numref|eq|cite:?\w*)\}`", text)
        # which would hide the name of a fold from who listens
        assert not remains and "Toggle hidden content" not in html_of(name).read_text(
            encoding="utf-8"
        )

    @pytest.mark.parametrize(
        "name", [name for name in contents() if name.startswith("book/api/")]
    )
    def test_reference_lists_each_package_with_types(self, name):
        text = html_of(name).read_text(encoding="utf-8")
        assert 'class="autosummary' in text
        assert "Alias for field number" not in text

    def test_reference_has_a_page_for_every_package(self):
        names = {
            name.removeprefix("book/api/")
            for name in contents()
            if name.startswith("book/api/")
        }
        packages = [
            path.parent.relative_to(ROOT) for path in ROOT.glob("co*/*/__init__.py")
        ]
        public = {".".join(path.parts) for path in packages if path.name != "cli"}
        assert names == {"cobandit", *public}

    def test_reference_shows_types_as_written(self):
        text = "".join(page(html_of("book/api/cobandit.policies")).text)
        assert "n_objectives: int" in text and "tolerance: ArrayLike" in text

    def test_statements_have_the_numbers_of_the_paper(self):
        """Theorems, lemmas, corollaries are the paper's; our own are propositions."""
        caption = re.compile(
            r'caption-number">((?:Theorem|Lemma|Corollary) \d+) ?</span>([^<]*)'
        )
        matched = [
            match.groups()
            for name in contents()
            for match in caption.finditer(html_of(name).read_text(encoding="utf-8"))
        ]
        assert {"Theorem 1", "Theorem 2", "Lemma 1", "Lemma 2", "Corollary 1"} <= {
            number for number, _ in matched
        }
        assert [
            number for number, title in matched if f"paper’s {number}" not in title
        ] == []

    def test_protocol_is_complete_and_its_references_resolve(self):
        """The protocol stays as written, though a page of it has become a section."""
        html = html_of("notebooks/reconstructions").read_text(encoding="utf-8")
        protocol = (ROOT / "book" / "protocol-first.md").read_text(encoding="utf-8")
        headings = re.findall(r"(?m)^## (.+)$", protocol)
        assert (
            headings
            and [heading for heading in headings if f'">{heading}</h3>' not in html]
            == []
        )
        assert re.search(r'its ten runs; <a [^>]*href="#calibration"', html)

    @pytest.mark.parametrize("name", contents())
    def test_no_cell_printed_a_warning(self, name):
        assert not re.search(
            r'class="[^"]*\bstderr\b', html_of(name).read_text(encoding="utf-8")
        )


needs_sphinx = pytest.mark.skipif(
    shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) is None,
    reason="jupyter-book is not installed",
)

CONFIG = """\
title: A small book
only_build_toc_files: true
exclude_patterns: ["notebooks/*.ipynb", "_build", "stored"]
execute: {{execute_notebooks: cache}}
repository: {{url: ""}}
sphinx:
  local_extensions: {{cobandit_book: {extension}}}
  config: {{nb_execution_raise_on_error: true}}
"""
HEADER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

"""
RUNS = """\
# A page that runs

See [the other](other.md).

```{code-cell} ipython3
print(6 * 7)
```

```{code-cell} ipython3
from IPython.display import HTML

HTML('<div class="panels">a drawing</div>')
```
"""
OTHER = """\
(the-label)=
# Another page

```{code-cell} ipython3
print("another")
```
"""


@pytest.fixture
def small_book(tmp_path):
    (tmp_path / "book" / "_static").mkdir(parents=True)
    (tmp_path / "book" / "_static" / "custom.css").write_text("")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "cobandit").mkdir()
    (tmp_path / "cobandit" / "a.py").write_text("x = 1\n")
    (tmp_path / "_config.yml").write_text(CONFIG.format(extension=EXTENSION))
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n- file: notebooks/runs\n- file:"
        " notebooks/other\n"
    )
    (tmp_path / "intro.md").write_text("# Intro\n\nTo [a section](the-label).\n")
    (tmp_path / "notebooks" / "runs.md").write_text(HEADER + RUNS)
    (tmp_path / "notebooks" / "other.md").write_text(HEADER + OTHER)
    return tmp_path


def build(book: Path, *options: str, **extra: str) -> str:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        **extra,
    }
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", "-W", "-n", "--keep-going", *options, "."]
    done = subprocess.run(
        command, cwd=book, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def store_outputs(book: Path) -> None:
    """Write a notebook with the output ``stored N`` next to each page."""
    for number, source in enumerate(sorted((book / "notebooks").glob("*.md")), 43):
        notebook = jupytext.read(source)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        code[0].outputs = [
            nbformat.v4.new_output("stream", name="stdout", text=f"stored {number}")
        ]
        nbformat.write(notebook, source.with_suffix(".ipynb"))


@pytest.mark.acceptance
@needs_sphinx
def test_outputs_are_used_until_the_library_changes(small_book):
    """One book is built four times, because each build starts slowly."""
    # A build from stored outputs runs no notebook, and leaves no outputs for a build
    # that runs them.
    store_outputs(small_book)
    build(small_book, "--path-output", "stored", COBANDIT_BOOK="stored")
    for number, name in enumerate(["other", "runs"], 43):
        html = small_book / "stored" / "_build" / "html" / "notebooks" / f"{name}.html"
        assert f"stored {number}" in "".join(
            Page(html.read_text(encoding="utf-8")).text
        )

    build(small_book)
    runs = small_book / "_build" / "html" / "notebooks" / "runs.html"
    shown = Page(runs.read_text(encoding="utf-8"))
    assert "42" in "".join(shown.text)
    (link,) = (link for link in shown.links if link.endswith(".ipynb"))
    offered = nbformat.read(runs.parent / link, as_version=4)
    outputs = [cell.outputs for cell in offered.cells if cell.cell_type == "code"]
    assert outputs[0][0].text == "42\n"

    caches = small_book / "_build" / ".jupyter_cache"
    (first,) = caches.iterdir()
    assert "no targets are out of date" in build(small_book)
    assert list(caches.iterdir()) == [first]

    # The page is printed as PDF, and references to other pages stay within it.
    (small_book / "cobandit" / "a.py").write_text("x = 2\n")
    assert "config changed" in build(small_book, "--builder", "singlehtml"), (
        "a changed library makes every page run again"
    )
    assert len(list(caches.iterdir())) == 2
    html = (small_book / "_build" / "singlehtml" / "intro.html").read_text(
        encoding="utf-8"
    )
    assert "Another page" in html and ">a drawing<" in html


def test_title_page_names_the_installed_version():
    pdf = pytest.importorskip("pdf")
    title, lines = pdf.title_page()
    assert title and lines[-1].endswith(f"version {cobandit.__version__}")


@pytest.fixture
def cobandit_book():
    return pytest.importorskip("cobandit_book")


@pytest.mark.slow
def test_cache_key_follows_content_and_not_file_times(cobandit_book, tmp_path):
    (tmp_path / "cobandit").mkdir()
    (tmp_path / "data").mkdir()
    module = tmp_path / "cobandit" / "a.py"
    module.write_text("x = 1\n")
    first = cobandit_book.content_key(tmp_path)
    os.utime(module, (0, 0))
    assert cobandit_book.content_key(tmp_path) == first
    (tmp_path / "data" / "b.csv").write_text("1\n")
    assert cobandit_book.content_key(tmp_path) != first


@pytest.mark.slow
def test_first_page_matches_the_computed_verdicts_on_theorems(
    tested,
):
    from companion.proofs import checks

    page = " ".join((ROOT / "book" / "intro.md").read_text(encoding="utf-8").split())
    assert "Both theorems are correct, except for one repairable proof step" in page
    assert (
        "The shorter form in the paper's abstract" in page
        and "has a counterexample" in page
    )
    refuted = tested.loc[tested["outcome"] == checks.FAILS, "statement"]
    assert sorted(text.partition(" ")[0].strip(":,") for text in refuted) == [
        "Abstract",
        "Abstract",
        "Proof",
    ]
    assert "This holds with costs divided by the largest" in page
    tested = tested[~tested["ours"]]
    theorems = tested[tested["statement"].str.match("Theorem|Lemma|Corollary")]
    assert len(theorems) >= 10 and set(theorems["outcome"]) == {checks.HOLDS}


def test_example_card_of_the_data_page_is_valid():
    from cobandit.tables import Card

    page = (ROOT / "book" / "data.md").read_text(encoding="utf-8")
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    card = Card(**example)
    assert card.columns[:5] == (
        "config",
        "instance",
        "cost_usd",
        "correct",
        "latency_s",
    )
    assert card.columns[5:] == ("model", "prompt", card.cluster)


def test_search_keeps_index_entries_of_pages_that_are_not_written(cobandit_book):
    entries = [
        ("single", "papermill", "index-0", "main", None),
        ("pair", "front; cost", "index-1", "", None),
    ]
    env = SimpleNamespace(domaindata={"index": {"entries": {"reproduce": entries}}})
    cobandit_book.keep_index_entries(None, env)
    found_by_search = env._search_index_index_entries["reproduce"]
    assert ("papermill", "index-0", "main") in found_by_search
    assert {text for text, *_ in found_by_search} == {"papermill", "front", "cost"}


@pytest.mark.slow
def test_finished_pages_are_corrected(cobandit_book):
    back = '<a class="viewcode-back" href="../book/api.html#cobandit.CoPSI">[docs]</a>'
    page = {"body": f'<div role="list" class="citation-list">50 % of 3</div>{back}'}
    cobandit_book.mend_bodies(None, "", "", page, None)
    assert page["body"] == '<div class="citation-list">50\N{NO-BREAK SPACE}% of 3</div>'


@pytest.mark.parametrize(
    ("text", "whole"),
    {
        "let x. Then": "x.",
        "let x), and": "x),",
        "let (x) be": "(x)",
        "let (x or": "(x",
        "let x be": "",
    }.items(),
)
def test_lines_do_not_break_at_the_punctuation_of_formulas(cobandit_book, text, whole):
    formula = '<span class="math notranslate nohighlight">\\(x &lt; 1\\)</span>'
    page = {"body": text.replace("x", formula)}
    cobandit_book.mend_bodies(None, "", "", page, None)
    unbroken = f'<span class="unbroken">{whole}</span>' if whole else "x"
    expected = text.replace(whole or "x", unbroken, 1).replace("x", formula)
    assert page["body"] == expected


SITE = "https://example.org/book/"


@pytest.mark.parametrize("site", ["", pytest.param(SITE, marks=pytest.mark.slow)])
def test_links_have_a_picture_if_the_book_has_an_address(tmp_path, site):
    descriptions = pytest.importorskip("descriptions")
    app = SimpleNamespace(
        builder=SimpleNamespace(name="html"),
        config=SimpleNamespace(html_baseurl=site),
        outdir=tmp_path,
    )
    tree = publish_doctree("A page\n======\n\nA sentence.")
    context = {"title": "A page"}
    (tmp_path / "_static").mkdir()
    descriptions.describe_page(app, "page", "", context, tree)
    descriptions.draw_picture(app, None)

    head = re.findall(r'property="og:image" content="([^"]*)"', context["metatags"])
    assert head == ([f"{SITE}_static/link.png"] if site else [])
    pictures = list(tmp_path.rglob("*.png"))
    assert len(pictures) == bool(site)
    for picture in pictures:
        with Image.open(picture) as image:
            assert image.size == (1200, 630)


@pytest.mark.parametrize("address", ["", "https://example.org/someone/cobandit"])
def test_buttons_appear_if_the_project_has_an_address(
    cobandit_book, tmp_path, monkeypatch, address
):
    urls = (
        f'[project.urls]\nRepository = "{address}"\nDocumentation = "{SITE}"\n'
        if address
        else ""
    )
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "cobandit"\n{urls}')
    monkeypatch.setattr(cobandit_book, "ROOT", tmp_path)
    config = SimpleNamespace(html_theme_options={}, html_baseurl="")
    cobandit_book.link_the_repository(None, config)
    assert config.html_theme_options.get("repository_url", "") == address
    assert ("launch_buttons" in config.html_theme_options) == bool(address)
    assert config.html_baseurl == (SITE if address else "")
