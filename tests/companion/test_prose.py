"""Prose of pages without the book: plain words, sentences with their numbers."""

from __future__ import annotations

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

from companion.pages import labels
from companion.pages.prose import Markdown, plain_markdown
from companion.report.reading import WRITES_TEXT, for_jupyter, take_myst, with_outputs

PAGE = """\
---
jupytext:
  formats: "md:myst,ipynb"
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A page

By {prf:ref}`thm-cohv` one number is {glue:text}`one`, another {glue:text}`two`.

The missing one is {glue:text}`never`.

% if bundled
% otherwise: Of your table nothing is known.
On our table all is well.

+++ {"tags": ["bundled"]}

All the more.


```{code-cell} ipython3
:tags: [parameters]

dataset = "ours"  # whose table it is
```

```{code-cell} ipython3
---
mystnb: {figure: {name: fig-regrets, caption: "Our finding."}}
elsewhere: {caption: "A picture."}
---
from companion.pages.prose import Markdown, glue

glue("two", "2")
glue("one", f"{1}")
Markdown("See {prf:ref}`thm-cohv`.")
```

```{code-cell} ipython3
---
mystnb: {figure: {name: fig-fronts, caption: "Drawn."}}
---
from companion.pages.own_table import leave_out

Markdown("A drawing.") if dataset == "ours" else leave_out("It", "it is theirs")
```

```{code-cell} ipython3
---
tags: [hide-cell, bundled]
mystnb: {code_prompt_show: "Our answer"}
---
None if dataset != "ours" else Markdown("It is 42.")
```

```{code-cell} ipython3
---
tags: [hide-cell]
mystnb: {code_prompt_show: "The tests of {prf:ref}`thm-cohv`"}
---
Markdown("They pass.")
```
"""


def run(dataset="ours"):
    """Run the page like papermill: given parameters follow the page's."""
    notebook = for_jupyter(jupytext.reads(PAGE, fmt="md:myst"), "experiments")
    (place,) = (
        n
        for n, cell in enumerate(notebook.cells)
        if "parameters" in cell.metadata.get("tags", [])
    )
    notebook.cells.insert(
        place + 1, nbformat.v4.new_code_cell(f"dataset = {dataset!r}")
    )
    source = f"from companion.report import pages\npages.source = lambda page: {PAGE!r}"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(source))
    NotebookClient(notebook, kernel_name="python3").execute()
    return notebook


def texts(notebook):
    """All that a reader sees of it, in order."""
    shown = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            shown.append(cell.source)
        else:
            shown += [
                output.get("data", {}).get("text/markdown", "")
                for output in cell.outputs
            ]
    return [text for text in shown if text]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "message", "shown"),
    [
        (
            "ours",
            ["On our table all is well.", "All the more."],
            [
                "**Figure 6.2.** Our finding.",
                "A drawing.",
                "**Figure 6.1.** Drawn.",
                "*Our answer*",
                "It is 42.",
                "*The tests of Theorem 1*",
                "They pass.",
            ],
        ),
        (
            "theirs.csv",
            ["Of your table nothing is known."],
            [
                "**Figure 6.2.** A picture.",
                "*It is left out: it is theirs.*",
                "*The tests of Theorem 1*",
                "They pass.",
            ],
        ),
    ],
)
def test_sentences_are_shown_only_with_their_numbers(dataset, message, shown):
    ran = run(dataset)
    assert not [
        cell
        for cell in ran.cells
        if "{glue" in cell.source and "pages.source" not in cell.source
    ]
    assert texts(ran) == [
        "# A page",
        "By Theorem 1 one number is 1, another 2.",
        *message,
        "See Theorem 1.",
        *shown,
    ]


@pytest.mark.acceptance
def test_executed_page_of_the_book_is_the_same_in_jupyter():
    """The book executes the source, in which prose with numbers is not code."""
    source = jupytext.reads(PAGE, fmt="md:myst")
    NotebookClient(source, kernel_name="python3").execute()
    offered = with_outputs(source, "experiments")
    assert texts(offered) == texts(run())
    assert not [
        cell for cell in offered.cells if WRITES_TEXT in cell.metadata.get("tags", [])
    ]
    nbformat.validate(offered)
    take_myst(source)
    assert "See {prf:ref}`thm-cohv`." in texts(source)


def test_derived_notebook_does_not_overwrite_its_source():
    assert (
        "formats"
        not in for_jupyter(jupytext.reads(PAGE, fmt="md:myst"), "a").metadata[
            "jupytext"
        ]
    )


@pytest.mark.parametrize(
    ("myst", "words"),
    [
        ("(a-label)=\n## Heading", "## Heading"),
        ("*term*\n: its meaning", "*term*: its meaning"),
        (
            "{cite:p}`audibert2009exploration`, {cite:t}`ding2013budget`",
            "(Audibert 2009), Ding (2013)",
        ),
        (
            "[text](other.md#place), [web](https://a.org/b.md)",
            "text, [web](https://a.org/b.md)",
        ),
        ("{doc}`the schema </book/data>`", "the schema"),
        ("{ref}`open-choices`", "*What the paper leaves open*"),
        ("{numref}`fig-regrets` is", "Figure 6.2 of *The experiments again* is"),
        ("```console\n$ {doc}`x`\n```", "```console\n$ {doc}`x`\n```"),
        ("````{dropdown} More\n```{include} x.md\n```\n````", ""),
        (
            "```{dropdown} More\nthan {claim}`C1`\n```",
            "<details>\n<summary>More</summary>\n\nthan claim C1\n\n</details>",
        ),
        (
            "```{prf:remark} Why (ours)\n:label: x\n\nSo.\n```",
            "**Remark “Why”.**\n\nSo.",
        ),
        (
            "```{prf:lemma} The paper's Lemma 1\n:label: x\n\nSo.\n```",
            "**Lemma 1.**\n\nSo.",
        ),
    ],
)
def test_myst_becomes_plain_markdown(myst, words):
    assert plain_markdown(myst, "live") == words


def test_unchanged_words_carry_no_myst():
    assert Markdown("\nplain\n")._repr_mimebundle_()[1] == {}


def test_every_label_of_a_reference_has_words():
    known = labels.read_labels()
    assert all(label.words for label in known.values())
    assert labels.words_of("no-such-label") is None
