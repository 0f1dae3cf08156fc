"""How a figure was made is read off the page: what leads to it is in the graph, and nothing else."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell as code

EXTENSION = Path(__file__).parents[2] / "book" / "_ext"
KNOWN = frozenset({"gsm8k", "piqa"})


@pytest.fixture
def provenance(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(EXTENSION))
    import provenance

    return provenance


def rows_of(provenance, *cells):
    documented = {"load", "replay_online", "by_budget"}
    known = lambda name: "api.html#" + name if name.rpartition(".")[2] in documented else ""  # noqa: E731
    return provenance.rows_of(list(cells), len(cells) - 1, KNOWN, known), known


PAGE = (
    code('dataset = "gsm8k"\nseed = 3\nunused = 1', metadata={"tags": ["parameters"]}),
    code(
        "import cobandit as cb\nfrom cobandit import figures\nfrom cobandit.companion.stored import results"
    ),
    code("table = cb.load(dataset)"),
    code('other = results.read_result("tuning")'),
    code('runs = cb.replay_online(table, ["CoHVUCB"], seed=seed)'),
    code('runs["used"] = 1'),
    code("table = 5"),
    code("figures.by_budget(runs, 'used', 'share')"),
)


def test_graph_holds_what_leads_to_the_figure(provenance):
    rows, _ = rows_of(provenance, *PAGE)
    assert [(row.kind, row.text) for row in rows] == [
        ("table", "gsm8k"),
        ("parameters", "dataset = 'gsm8k', seed = 3"),
        ("step", "table"),
        ("step", "runs"),
        ("step", "runs"),
        ("figure", "this figure"),
    ]
    assert [row.above for row in rows] == [(), (0,), (1,), (1, 2), (3,), (4,)]
    assert rows[3].links == ("cobandit.replay_online",)


def test_stored_results_and_tables_by_name_are_in_it(provenance):
    rows, _ = rows_of(
        provenance, PAGE[1], code('found = results.read_result("tuning"), "piqa"'), code("found")
    )
    assert {(row.kind, row.text) for row in rows[:2]} == {
        ("result", "stored result tuning"),
        ("table", "piqa"),
    }
    assert rows[-1].above == (2,)


def test_loops_and_functions_depend_on_what_is_outside_of_them(provenance):
    cells = [code("x = 1\nname = 2"), code("def f(y):\n    return x + y"), code("[f(name) for name in [1]]")]
    rows, _ = rows_of(provenance, *cells)
    assert [row.text for row in rows] == ["x", "f", "this figure"]


def test_names_are_text_and_not_markup(provenance):
    cells = [code('a = "<b>"', metadata={"tags": ["parameters"]}), code("a")]
    rows, known = rows_of(provenance, *cells)
    assert "&lt;b&gt;" in provenance.drawing(rows, known) and "<b>" not in provenance.drawing(rows, known)


@pytest.mark.slow
def test_every_drawing_cell_of_the_book_can_be_followed(provenance):
    for source in sorted((EXTENSION.parents[1] / "notebooks").glob("*.md")):
        cells = jupytext.read(source).cells
        for number, cell in enumerate(cells):
            if cell.cell_type == "code" and "plt.show()" in cell.source:
                rows = provenance.rows_of(cells, number, KNOWN, lambda name: name)
                assert rows[-1].kind == "figure"
                assert all(other < i for i, row in enumerate(rows) for other in row.above)
