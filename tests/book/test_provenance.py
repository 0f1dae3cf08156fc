"""Provenance of figures: the graph of a page contains exactly their sources."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell as code

EXTENSION = Path(__file__).parents[2] / "book" / "_ext"
provenance = pytest.importorskip("provenance")
KNOWN = frozenset({"gsm8k", "piqa"})


PAGE = (
    code('dataset = "gsm8k"\nseed = 3\nunused = 1', metadata={"tags": ["parameters"]}),
    code(
        "import cobandit as cb\nfrom cobandit import figures\nfrom companion.stored"
        " import results"
    ),
    code("table = cb.load(dataset)"),
    code('other = results.read_result("tuning")'),
    code('runs = cb.replay_online(table, ["CoHVUCB"], seed=seed)'),
    code('runs["used"] = 1'),
    code("table = 5"),
    code("figures.by_budget(runs, 'used', 'share')"),
)


def test_figure_names_only_its_sources():
    origin = provenance.trace(PAGE, len(PAGE) - 1, KNOWN)
    assert origin.data == ["gsm8k"]
    assert origin.parameters == ["dataset = 'gsm8k'", "seed = 3", "unused = 1"]
    assert origin.calls == [
        "cobandit.load",
        "cobandit.replay_online",
        "cobandit.figures.by_budget",
    ]
    assert origin.code == PAGE[-1].source


def test_provenance_lists_stored_results_and_named_tables():
    cells = [
        PAGE[1],
        code('found = results.read_result("tuning"), "piqa"'),
        code("found"),
    ]
    assert sorted(provenance.trace(cells, 2, KNOWN).data) == [
        "piqa",
        "stored result tuning",
    ]


@pytest.mark.parametrize(
    ("before", "drawn", "leads"),
    [
        ("x = 1", "def f(y):\n    return x + y", True),
        ("name = 2", "[f(name) for _ in [1]]", True),
        ("name = 2", "[name for name in [1]]", False),
        ("ax = 1", "for ax in [1]:\n    ax.plot()", False),
        ("ax = 1", "ax = 2\nax.plot()", False),
        ("runs = 1", "runs = runs.tail()", True),
        ("runs['used'] = 1", "runs", True),
        ("runs.append(1)", "runs", True),
        ("total = 0", "for i in [1]:\n    total += i", True),
        ("import x", "x.y", False),
    ],
)
def test_cells_are_traced_by_names_they_read_and_bind(before, drawn, leads):
    trees = dict(enumerate(map(provenance.ast.parse, [before, drawn])))
    assert provenance.lead_to(trees, 1) == ([0, 1] if leads else [1])


def test_names_are_escaped():
    cells = [code('a = "<b>"', metadata={"tags": ["parameters"]}), code('a + "<b>"')]
    html = provenance.as_html(provenance.trace(cells, 1, KNOWN), lambda name: "")
    assert "&lt;b&gt;" in html and "<b>" not in html


@pytest.mark.slow
def test_every_drawing_cell_of_the_book_can_be_traced():
    for source in sorted((EXTENSION.parents[1] / "notebooks").glob("*.md")):
        cells = jupytext.read(source).cells
        for number, cell in enumerate(cells):
            if cell.cell_type == "code" and "plt.show()" in cell.source:
                origin = provenance.trace(cells, number, KNOWN)
                assert origin.calls or origin.data, (
                    f"{source.name}: nothing is known of cell {number}"
                )
