"""Paired notebooks: NAME.md is the source, NAME.ipynb has the outputs too."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from support.browsing import HTML, NEEDS_BOOK
from support.reading import OF_THE_BOOK

from cobandit import tables
from companion.pages.labels import read_labels
from companion.report import pages
from companion.report.reading import WRITES_TEXT, for_jupyter

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "notebooks").glob("*.md"))
# The page that teaches the template says what it needs in its own way; the rest hold
# these three.
PARAMETERS = {"dataset", "replications", "seed"}
# a page on these tables and on what the paper prints
OF_THE_RECONSTRUCTIONS = {"reconstructions"}

#: Captions of tables there that show only what the paper prints.
PRINTED = {
    "Derived numbers: printed, recomputed, and the range that rounded inputs allow",
    "Printed errors of 500 replays, with Wilson's 95 % intervals",
    (
        "p of printed errors by McNemar's exact test, all overlaps, and by two tests"
        " that ignore pairing"
    ),
}

each_source = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


@cache
def read_stored(source: Path) -> nbformat.NotebookNode:
    """Read the notebook with outputs of a page. Tests do not change it."""
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


def cells(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source.strip()) for cell in notebook.cells]


def parameters_of(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [
        cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])
    ]


@pytest.mark.slow
@each_source
def test_paired_files_have_the_same_cells(source):
    stored = source.with_suffix(".ipynb")
    assert stored.exists(), f"{stored.name} is missing: run `make notebooks`"
    source_notebook = for_jupyter(jupytext.read(source), source.stem)
    stored_notebook = read_stored(source)
    assert cells(source_notebook) == cells(stored_notebook), (
        f"{source.name} and {stored.name} differ: run `make notebooks`"
    )
    tags = [
        [cell.metadata.get("tags", []) for cell in notebook.cells]
        for notebook in (source_notebook, stored_notebook)
    ]
    assert tags[0] == tags[1]
    nbformat.validate(stored_notebook)


@pytest.mark.parametrize(
    "stored", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_stored_notebook_has_a_source(stored):
    assert stored.with_suffix(".md").exists()


@each_source
def test_stored_notebook_was_run_in_order_and_without_error(source):
    notebook = read_stored(source)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs, "no outputs are stored"
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.slow
@each_source
def test_single_parameters_cell_is_parsed(source):
    notebook = jupytext.read(source)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    result = parameters_of(notebook)
    loads_a_table = re.search(r"\bcb\.(load|read)\(", code)
    assert len(result) <= 1
    for cell in result:
        for node in ast.parse(cell.source).body:
            ast.literal_eval(node.value)  # what a report and the command show of a page
    if not loads_a_table or source.stem in OF_THE_RECONSTRUCTIONS:
        return
    assert result, f"{source.name} loads a table and has no cell tagged `parameters`"
    assigned = {
        target.id
        for node in ast.parse(result[0].source).body
        for target in (
            node.targets
            if isinstance(node, ast.Assign)
            else [getattr(node, "target", None)]
        )
        if isinstance(target, ast.Name)
    }
    assert assigned >= PARAMETERS


@pytest.mark.slow
@each_source
def test_every_picture_has_a_description(source):
    """Cells that draw pass a text; test_book checks the resulting page."""
    for cell in jupytext.read(source).cells:
        if (
            cell.cell_type == "code"
            and "plt.show()" in cell.source
            and "remove" not in str(cell.metadata.get("tags"))
        ):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert alt.strip(), (
                "a picture without `mystnb: {image: {alt: ...}}` in"
                f" {source.name}:\n{cell.source}"
            )


@each_source
def test_notebook_stands_alone_without_the_book(source):
    notebook = read_stored(source)
    shown = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown += [output.get("data", {}).get("text/markdown", "") for output in outputs]
    assert not [matched[0] for text in shown if (matched := OF_THE_BOOK.search(text))]


@each_source
def test_prose_with_numbers_is_shown_in_a_stored_notebook(source):
    """Every name that the prose uses is glued on the tables of the stored page."""
    notebook = read_stored(source)
    written = [
        cell for cell in notebook.cells if WRITES_TEXT in cell.metadata.get("tags", [])
    ]
    texts = [
        output.data["text/markdown"] for cell in written for output in cell.outputs
    ]
    telling_cells = [cell for cell in written if "tell(" in cell.source]
    assert (
        len(texts) == len(telling_cells)
        and all(texts)
        and "glue:" not in "".join(texts)
    )


@pytest.mark.slow
@each_source
def test_page_ends_with_its_run_instructions(source):
    notebook = read_stored(source)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[-1].source == f'how_to_run("{source.stem}")'
    text = code[-1].outputs[0].data["text/markdown"]
    assert (
        code[-1].outputs[0].metadata["myst"].startswith("````{dropdown} Run this page")
    )
    known = pages.parameters(source.stem)
    assert all(parameter.meaning for parameter in known.values())
    assert all(f"`{name}` | `{item.default}`" in text for name, item in known.items())
    assert (
        f"cobandit-book page {source.stem}" in text
        and f"papermill notebooks/{source.stem}.ipynb" in text
    )


@each_source
def test_star_in_a_computed_sentence_is_not_emphasis(source):
    """L* within words between stars would end the emphasis early."""
    outputs = [
        output
        for cell in read_stored(source).cells
        for output in cell.get("outputs", [])
    ]
    texts = [output.get("data", {}).get("text/markdown", "") for output in outputs]
    assert not [text for text in texts if re.search(r"\*[^*\n$]*(?<!\\)\*\)\*", text)]


def captions_of(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Return caption and text of every table; numbered ones have the cell's caption."""
    matches = []
    for cell in notebook.cells:
        html = [
            output.data.get("text/html", "")
            for output in cell.get("outputs", [])
            if "data" in output
        ]
        numbered = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        for table in re.findall(r"<table.*?</table>", "".join(html), re.DOTALL):
            own_caption = re.search(r"<caption>(.*?)</caption>", table, re.DOTALL)
            matches.append((own_caption.group(1) if own_caption else numbered, table))
    return matches


@pytest.mark.slow
@each_source
def test_tables_of_reconstructions_are_labelled(source):
    """Pages about reconstructions say so in captions, others in captions or cells."""
    known = tables.datasets()
    reconstructions = known.loc[known["kind"] == "reconstruction", "name"].tolist()
    notebook = read_stored(source)
    default = "\n".join(cell.source for cell in parameters_of(notebook))
    named = {name for name in known["name"] if f'"{name}"' in default}
    about_them = source.stem in OF_THE_RECONSTRUCTIONS or (
        named and named <= set(reconstructions)
    )
    shown = captions_of(notebook)
    if source.stem in OF_THE_RECONSTRUCTIONS:
        assert {caption for caption, _ in shown} >= PRINTED
        shown = [(caption, table) for caption, table in shown if caption not in PRINTED]
    for caption, table in shown:
        unsaid = re.search(
            rf"\b({'|'.join(reconstructions)})\b(?!-| \(reconstruction)", table
        )
        assert "reconstruction" in caption or not (about_them or unsaid), (
            f"{source.stem}: the table {caption!r} does not say that it shows"
            " reconstructions"
        )


#: A figure or table of a built page: its label, then its number.
NUMBERED = re.compile(
    r'<(?:figure|table)[^>]* id="(?P<label>(?:fig|tab|exhibit)-[\w-]+)".*?'
    r'class="caption-number">(?P<number>[^<]+)<',
    re.DOTALL,
)


@pytest.mark.book
@pytest.mark.slow
@NEEDS_BOOK
def test_notebooks_number_figures_and_tables_as_the_book():
    labels = read_labels()
    by_page = {
        path.stem: {
            match["label"]: match["number"].strip()
            for match in NUMBERED.finditer(path.read_text(encoding="utf-8"))
        }
        for folder in ("book", "notebooks")
        for path in (HTML / folder).glob("*.html")
    }
    numbered = {
        (page, label): number
        for page, numbers in by_page.items()
        for label, number in numbers.items()
    }
    words = {(page, label): labels[label].words for page, label in numbered}
    assert numbered == words
    assert {labels[label].page for _, label in numbered} >= {"intro", "copsi", "live"}
