"""Display of cells: numbered figures and tables, a switch for code, named dropdowns.

A cell whose metadata have ``mystnb: figure: {name, caption}`` is shown as a figure
(myst-nb creates the figure, and Sphinx numbers it). With ``classes: table``, it is
shown as a table. `NumberTables` numbers these tables together with the tables of the
text. `HideCode` hides the code of cells behind a switch at the top of the page. The
code of cells tagged ``show-input`` is always shown. `keep_numbers` reserves plain
numbers for the statements of the paper.
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxTranslator

from companion.pages.labels import letters

#: The switch needs no script: the style sheet shows the code if the box is ticked.
SWITCH = (
    '<p class="code-switch"><label><input type="checkbox" autocomplete="off"> Show the'
    " code</label></p>"
)


class drawn_table(nodes.figure):
    """A table from a cell, with caption and number."""


class NumberTables(SphinxTransform):
    """Convert figures of class ``table`` to tables with the caption above."""

    default_priority = 800  # before Sphinx assigns names and numbers

    def apply(self, **options: object) -> None:
        for figure in list(self.document.findall(nodes.figure)):
            if "table" in figure["classes"]:
                table = drawn_table("", *figure.children, **figure.attributes)
                # the theme styles elements with the class table
                table["classes"] = ["numbered-table"]
                for caption in [
                    part for part in table if isinstance(part, nodes.caption)
                ]:
                    table.remove(caption)
                    table.insert(0, caption)
                self.document.ids.update(dict.fromkeys(figure["ids"], table))
                figure.replace_self(table)


class HideCode(SphinxPostTransform):
    """Hide the code of a page, and add a switch that shows it."""

    default_priority = 198  # before myst-nb creates dropdowns
    formats = ("html",)

    def run(self, **options: object) -> None:
        hidden = []
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") != "cell_code" or not cell.children:
                continue
            if cell.get("hide_mode") in ("input", "input+output"):
                cell["hide_mode"] = cell["hide_mode"].partition("+")[2]
            shown = "show-input" in cell["cell_metadata"].get("tags", [])
            if cell[0].get("nb_element") == "cell_code_source" and not shown:
                cell[0]["classes"].append("page-code")
                hidden.append(cell)

        title = next(self.document.findall(nodes.title), None)
        if hidden and title and self.app.builder.name != "singlehtml":
            title.parent.insert(
                title.parent.index(title) + 1, nodes.raw("", SWITCH, format="html")
            )


def keep_numbers(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Reserve plain numbers such as 1 for the statements of the paper.

    Statements of the paper have the numbers in the configuration value
    ``paper_numbers``, by label. Other numbers contain the number of the chapter. On
    pages without a chapter number, figures and tables have letters.
    `companion.pages.labels` gives the same numbers and letters to rerun notebooks.
    """
    changed = []
    for page, kinds in env.toc_fignumbers.items():
        for numbers in kinds.values():
            for label, number in numbers.items():
                if label in app.config.paper_numbers:
                    numbers[label] = (app.config.paper_numbers[label],)
                elif len(number) == 1 and isinstance(number[0], int):
                    numbers[label] = (letters(number[0]),)
                else:
                    continue
                changed.append(page)
    return changed


def visit_fold(self: SphinxTranslator, node: HideCodeCellNode) -> None:
    """Write the beginning of a dropdown, whose summary is only its name."""
    classes = " ".join(["hide", *node["classes"]])
    self.body.append(
        "<details"
        f' class="{classes}"><summary>{self.encode(node["prompt_show"])}</summary>\n'
    )


def depart_fold(self: SphinxTranslator, node: HideCodeCellNode) -> None:
    self.body.append("</details>\n")


def caption_of(table: drawn_table) -> str | None:
    return next(
        (part.astext() for part in table if isinstance(part, nodes.caption)), None
    )


def setup(app: Sphinx) -> None:
    """Register the transforms; the extension `cobandit_book` calls this function."""
    app.add_config_value("paper_numbers", {}, "env", dict)
    app.connect(
        "env-get-updated", keep_numbers, priority=900
    )  # after Sphinx has counted everything
    app.add_transform(NumberTables)
    app.add_post_transform(HideCode)
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    visit = (
        lambda self, node: self.visit_figure(node),
        lambda self, node: self.depart_figure(node),
    )
    app.add_enumerable_node(drawn_table, "table", caption_of, html=visit)
