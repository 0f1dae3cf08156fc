"""Conversion of MyST notebooks of pages to notebooks for Jupyter.

`for_jupyter` converts prose to plain Markdown. It adds captions below figures, and
titles above outputs that the book shows in a dropdown. It hides code that only writes
sentences. Prose with computed numbers becomes code cells, which write the prose with
the numbers of the run. `with_outputs` converts a page that was already executed. There,
such prose becomes Markdown with the page's numbers.

Some text holds only for a page's default tables and is omitted on others:

* Markdown cells tagged `BUNDLED`.
* Blocks below a comment ``% if bundled``. Blocks below a comment ``% if NAME`` are
  omitted if the page glues no value of this name. A comment ``% otherwise: TEXT`` has
  the text for other tables.
* Captions, if the metadata of the cell have another caption in ``elsewhere``.
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

#: Name of the value that the caption of a figure needs if the page may leave out the
#: figure.
DRAWN = "drawn"
#: Tag of code cells that write prose, which is Markdown in the page's source.
WRITES_TEXT = "writes-text"
HIDDEN = {"remove-input", "hide-input", "hide-cell"}
CONDITION = re.compile(r"^% if (?P<names>.+)$", re.MULTILINE)
OTHERWISE = re.compile(r"^% otherwise: ?(?P<text>.*)$", re.MULTILINE)


class Block(NamedTuple):
    """A part of a page's prose.

    ``needs`` has the names of the computed values in the text. If one of them is
    missing, the text ``otherwise`` is shown.
    """

    text: str
    needs: frozenset[str]
    otherwise: str


def for_jupyter(notebook: Any, page: str) -> Any:
    """Convert a page to a notebook for Jupyter.

    Parameters
    ----------
    notebook : NotebookNode
        Notebook of the MyST source.
    page : str
        Name of the page.

    Returns
    -------
    NotebookNode
        Notebook with the code cells of the page, in the same order, and with new code
        cells tagged `WRITES_TEXT`.
    """
    blocks: list[Block] = []

    def write(block: Block) -> Any:
        blocks.append(block)
        return _hidden_cell("report", "tell", f'"{page}", {len(blocks) - 1}')

    rewritten = _rewrite(notebook, page, write)
    if not any(BUNDLED in block.needs for block in blocks):
        return _numbered(rewritten)
    for number, cell in enumerate(rewritten.cells):
        if "parameters" in cell.metadata.get("tags", []):
            rewritten.cells[number + 1 : number + 1] = _decide(cell.source)
            break
    return _numbered(rewritten)


def list_value_blocks(notebook: Any, page: str) -> list[Block]:
    """Return the blocks of a page that contain computed values, in their order."""
    import nbformat

    blocks: list[Block] = []

    def keep(block: Block) -> Any:
        blocks.append(block)
        return nbformat.v4.new_markdown_cell(block.text)

    _rewrite(notebook, page, keep)
    return blocks


def as_prose(notebook: Any) -> None:
    """Replace the code cells that wrote prose by Markdown cells, after execution."""
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
    """Convert an executed page of the book to a notebook for Jupyter, with outputs."""
    values = {BUNDLED: "", DRAWN: "", **_glued(notebook)}

    def fill(block: Block) -> Any:
        import nbformat

        shown = block.text if block.needs <= values.keys() else block.otherwise
        return nbformat.v4.new_markdown_cell(
            GLUED.sub(lambda role: values[role["name"]], shown)
        )

    rewritten = _numbered(_rewrite(notebook, page, fill))
    for cell in rewritten.cells:
        for output in cell.get("outputs", []):
            if text := output.get("data", {}).get("text/markdown"):
                output.data["text/markdown"] = plain_markdown(text)
    return rewritten


def take_myst(notebook: Any) -> None:
    """Replace the plain Markdown of computed sentences by their MyST source."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if text := output.get("metadata", {}).pop(MYST, None):
                output.data["text/markdown"] = text


def _rewrite(notebook: Any, page: str, write: Any) -> Any:
    """Return a notebook with converted prose, captions and hidden code.

    ``write`` returns the cell for a block that contains computed values.
    """
    rewritten = deepcopy(notebook)
    cells = []
    for cell in rewritten.cells:
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

    rewritten.cells = cells

    # do not let Jupytext pair the notebook with the page's source and overwrite it
    rewritten.metadata.get("jupytext", {}).pop("formats", None)
    return rewritten


def _numbered(notebook: Any) -> Any:
    """Set the ids of cells to numbers, so that the same page gives the same file."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def _decide(parameters: str) -> list[Any]:
    """Return a cell that records whether a page runs on its default tables.

    The cell is in a list, which is empty if the page has no parameter ``dataset``.
    """
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
    """Return a hidden code cell that calls a function of ``companion``."""
    import nbformat

    source = f"from companion.{module} import {function}\n\n{function}({arguments})"
    hidden = {
        "tags": [WRITES_TEXT, "nbval-ignore-output"],
        "jupyter": {"source_hidden": True},
    }
    return nbformat.v4.new_code_cell(source, metadata=hidden)


def _blocks(text: str, page: str) -> Iterator[Block]:
    """Yield the paragraphs and directives of a Markdown cell."""
    block_lines: list[str] = []
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
            block_lines.append(line)
        elif block_lines:
            yield _block("\n".join(block_lines), page)
            block_lines = []

    if block_lines:
        yield _block("\n".join(block_lines), page)


def _block(text: str, page: str) -> Block:
    conditions = CONDITION.search(text)
    otherwise = OTHERWISE.search(text)
    words = plain_markdown(text, page)
    needs = {match["name"] for match in GLUED.finditer(words)}
    needs |= {*conditions["names"].split()} if conditions else set()
    return Block(
        words,
        frozenset(needs),
        plain_markdown(otherwise["text"], page) if otherwise else "",
    )


def _joined(blocks: list[Block]) -> Iterator[Block]:
    """Join neighbouring blocks that contain no computed values."""
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
    """Return the title of a dropdown as Markdown, because Jupyter would not show it."""
    words = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
    return plain_markdown(f"*{words}*", page) if words else ""


def _caption(cell: Any, page: str) -> Iterator[Block]:
    """Yield the numbered caption of a cell's figure or table, if the cell has one."""
    metadata = cell.metadata
    figure = metadata.get("mystnb", {}).get("figure", {})
    if "caption" not in figure:
        return

    name = words_of(figure["name"], page) or "Figure"
    block = _block(f"**{name}.** {figure['caption'].strip()}", page)
    if "caption" in metadata.get("elsewhere", {}):
        other_caption = plain_markdown(
            f"**{name}.** {metadata['elsewhere']['caption'].strip()}", page
        )
        block = Block(block.text, block.needs | {BUNDLED}, other_caption)

    if "leave_out(" in cell.source:
        block = block._replace(needs=block.needs | {DRAWN})
    yield block


def _glued(notebook: Any) -> dict[str, str]:
    """Return the values that an executed page recorded for its prose, by name."""
    values = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if record := output.get("metadata", {}).get("scrapbook"):
                text = output.data[f"{record['mime_prefix']}text/plain"]
                values[record["name"]] = (
                    text.strip("'\"") if record["mime_prefix"] == RECORD else text
                )
    return values
