"""Pages for readers without the book: a page's MyST notebook as one that Jupyter shows as it is meant.

`for_jupyter` writes prose as plain Markdown, sets captions below figures and the words
of a fold above what is folded in the book, and hides code that only writes sentences.
Prose with computed numbers becomes cells that write it when the page is run, with the
numbers of that run; in `with_outputs`, which takes a page that has run already, it is
prose again.

What holds only for the tables that a page was written for is left out on others:
Markdown cells with the tag `BUNDLED`, blocks below a comment ``% if bundled`` (or below
``% if NAME``, where the page does not glue this name), and captions for which
``elsewhere`` in the cell's metadata has another.  A comment ``% otherwise: TEXT`` next
to the first says what stands there instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from companion.pages.labels import words_of
from companion.pages.own_table import BUNDLED
from companion.pages.prose import FENCE, GLUED, MYST, RECORD, plain_markdown

#: What the caption of a picture needs that a page leaves out where a table does not
#: allow it.
DRAWN = "drawn"
#: Tag of cells that write prose; the page's source has them as Markdown.
WRITES_TEXT = "writes-text"
HIDDEN = {"remove-input", "hide-input", "hide-cell"}
CONDITION = re.compile(r"^% if (?P<names>.+)$", re.MULTILINE)
OTHERWISE = re.compile(r"^% otherwise: ?(?P<text>.*)$", re.MULTILINE)


class Block(NamedTuple):
    """A part of a page's prose: plain text, the values that it needs, and what stands there without."""

    text: str
    needs: frozenset[str]
    otherwise: str


def for_jupyter(notebook: Any, page: str) -> Any:
    """Write a page as a notebook for Jupyter.

    Parameters
    ----------
    notebook : NotebookNode
        As its MyST source has it.
    page : str
        Its name.

    Returns
    -------
    NotebookNode
        Its code cells are those of the page, in order, and those tagged `WRITES_TEXT`.
    """
    told: list[Block] = []

    def write(block: Block) -> Any:
        told.append(block)
        return _hidden_cell("report", "tell", f'"{page}", {len(told) - 1}')

    made = _rewrite(notebook, page, write)
    if not any(BUNDLED in block.needs for block in told):
        return _numbered(made)
    for number, cell in enumerate(made.cells):
        if "parameters" in cell.metadata.get("tags", []):
            made.cells[number + 1 : number + 1] = _decide(cell.source)
            break
    return _numbered(made)


def told_blocks(notebook: Any, page: str) -> list[Block]:
    """Blocks of a page that need values, in the order in which `for_jupyter` numbers them."""
    import nbformat

    told: list[Block] = []

    def keep(block: Block) -> Any:
        told.append(block)
        return nbformat.v4.new_markdown_cell(block.text)

    _rewrite(notebook, page, keep)
    return told


def as_prose(notebook: Any) -> None:
    """Make prose of the cells that wrote some, in a page that has run as a notebook for Jupyter."""
    import nbformat

    cells = []
    for cell in notebook.cells:
        if WRITES_TEXT not in cell.metadata.get("tags", []):
            cells.append(cell)
            continue
        for output in cell.outputs:
            if text := output.get("data", {}).get("text/markdown"):
                prose = nbformat.v4.new_markdown_cell(text)
                prose["id"] = cell["id"]
                cells.append(prose)
    notebook.cells = cells


def with_outputs(notebook: Any, page: str) -> Any:
    """Write a page that has run as a notebook for Jupyter, with the numbers of its outputs."""
    values = {BUNDLED: "", DRAWN: "", **_glued(notebook)}

    def fill(block: Block) -> Any:
        import nbformat

        shown = block.text if block.needs <= values.keys() else block.otherwise
        return nbformat.v4.new_markdown_cell(
            GLUED.sub(lambda role: values[role["name"]], shown)
        )

    made = _numbered(_rewrite(notebook, page, fill))
    for cell in made.cells:
        for output in cell.get("outputs", []):
            if text := output.get("data", {}).get("text/markdown"):
                output.data["text/markdown"] = plain_markdown(text)
    return made


def take_myst(notebook: Any) -> None:
    """Put the MyST of computed sentences in the place of their plain words: the book reads it."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if text := output.get("metadata", {}).pop(MYST, None):
                output.data["text/markdown"] = text


def _rewrite(notebook: Any, page: str, write: Any) -> Any:
    """Write prose, captions and hidden code of a notebook; ``write`` makes a cell of a block with values."""
    made = deepcopy(notebook)
    cells = []
    for cell in made.cells:
        if cell.cell_type == "markdown":
            prose = list(_blocks(cell.source, page))
            if BUNDLED in cell.metadata.get("tags", []):
                prose = [
                    block._replace(needs=block.needs | {BUNDLED}) for block in prose
                ]
        else:
            tags = {*cell.metadata.get("tags", [])}
            if HIDDEN & tags:
                cell.metadata.setdefault("jupyter", {})["source_hidden"] = True
            if heading := _heading(cell, page):
                needs = frozenset({BUNDLED} & tags)
                cells.append(
                    write(Block(heading, needs, "")) if needs else _prose_cell(heading)
                )
            cells.append(cell)
            prose = list(_caption(cell, page))
        for block in _joined(prose):
            cells.append(write(block) if block.needs else _prose_cell(block.text))

    made.cells = cells

    # its source is another file, which a tool that keeps pairs alike must not overwrite
    made.metadata.get("jupytext", {}).pop("formats", None)
    return made


def _numbered(notebook: Any) -> Any:
    """Give cells numbers for ids, so that a rerun changes no line."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def _decide(parameters: str) -> list[Any]:
    """Make the cell that decides whether a page runs on the tables that it was written for."""
    for node in ast.parse(parameters).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "dataset":
            default = ast.unparse(node.value)
            return [
                _hidden_cell(
                    "pages.own_table", "written_for", f"dataset, default={default}"
                )
            ]
    return []


def _hidden_cell(module: str, function: str, arguments: str) -> Any:
    """Make a cell of code that nobody has to see, and that the page's source does not have."""
    import nbformat

    source = f"from companion.{module} import {function}\n\n{function}({arguments})"
    hidden = {
        "tags": [WRITES_TEXT, "nbval-ignore-output"],
        "jupyter": {"source_hidden": True},
    }
    return nbformat.v4.new_code_cell(source, metadata=hidden)


def _blocks(text: str, page: str) -> Iterator[Block]:
    """Cut a cell of prose into paragraphs, and directives with all that they hold."""
    part: list[str] = []
    closing = None
    for line in [*text.split("\n"), ""]:
        opening = FENCE.match(line)
        if closing:
            closing = None if re.fullmatch(closing, line.strip()) else closing
        elif opening:
            closing = rf"{opening['mark'][0]}{{{len(opening['mark'])},}}"
        elif line.strip() == "$$":
            closing = r"\$\$"
        if line.strip() or closing:
            part.append(line)
        elif part:
            yield _block("\n".join(part), page)
            part = []

    if part:
        yield _block("\n".join(part), page)


def _block(text: str, page: str) -> Block:
    conditions = CONDITION.search(text)
    other = OTHERWISE.search(text)
    words = plain_markdown(text, page)
    needs = {found["name"] for found in GLUED.finditer(words)}
    needs |= {*conditions["names"].split()} if conditions else set()
    return Block(
        words, frozenset(needs), plain_markdown(other["text"], page) if other else ""
    )


def _joined(blocks: list[Block]) -> Iterator[Block]:
    """Join neighbours that need no value."""
    free: list[str] = []
    for block in blocks:
        if block.needs:
            if any(part.strip() for part in free):
                yield Block("\n\n".join(free), frozenset(), "")
            free = []
            yield block
        else:
            free.append(block.text)
    if any(part.strip() for part in free):
        yield Block("\n\n".join(free), frozenset(), "")


def _prose_cell(text: str) -> Any:
    import nbformat

    return nbformat.v4.new_markdown_cell(text)


def _heading(cell: Any, page: str) -> str:
    """Heading of what the book folds away: Jupyter shows its outputs without the words on the fold."""
    words = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
    return plain_markdown(f"*{words}*", page) if words else ""


def _caption(cell: Any, page: str) -> Iterator[Block]:
    """Caption of the figure or table that a cell draws, with its name on this page."""
    metadata = cell.metadata
    figure = metadata.get("mystnb", {}).get("figure", {})
    if "caption" not in figure:
        return

    name = words_of(figure["name"], page) or "Figure"
    block = _block(f"**{name}.** {figure['caption'].strip()}", page)
    if "caption" in metadata.get("elsewhere", {}):
        other = plain_markdown(
            f"**{name}.** {metadata['elsewhere']['caption'].strip()}", page
        )
        block = Block(block.text, block.needs | {BUNDLED}, other)

    if "leave_out(" in cell.source:
        block = block._replace(needs=block.needs | {DRAWN})
    yield block


def _glued(notebook: Any) -> dict[str, str]:
    """Values by the names that a page which has run gave them."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if record := output.get("metadata", {}).get("scrapbook"):
                text = output.data[f"{record['mime_prefix']}text/plain"]
                found[record["name"]] = (
                    text.strip("'\"") if record["mime_prefix"] == RECORD else text
                )
    return found
