"""What compares two builds finds a difference, and none in what a page measures."""

import determinism
import pytest

PAGE = (
    '<h1>T</h1><section id="a"><div class="cell_output'
    ' docutils">{output}</div></section><p>{text}</p>'
)
INDEX = (
    'Search.setIndex({{"docnames": ["{name}"], "titles": ["T"], "objects": {{}},'
    ' "terms": {{"{term}": 0}}}})'
)


def built(
    folder,
    output="1 s",
    text="same",
    page="book/reproduce",
    name="a",
    term="x",
    extra="",
):
    (folder / "book").mkdir(parents=True)
    (folder / f"{page}.html").write_text(PAGE.format(output=output, text=text))
    (folder / "searchindex.js").write_text(INDEX.format(name=name, term=term))
    if extra:
        (folder / extra).write_text("more")
    return folder


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({}, []),
        ({"term": "y"}, []),
        ({"output": "2 s"}, []),
        ({"text": "other"}, ["book/reproduce.html: differs"]),
        ({"name": "b"}, ["searchindex.js: differs"]),
        ({"extra": "more.html"}, ["more.html: only in one build"]),
    ],
)
def test_two_builds_are_compared(tmp_path, options, result):
    assert (
        determinism.differences(built(tmp_path / "a"), built(tmp_path / "b", **options))
        == result
    )


def test_outputs_of_unmeasured_pages_must_agree(tmp_path):
    first = built(tmp_path / "a", page="book/intro")
    second = built(tmp_path / "b", page="book/intro", output="2 s")
    assert determinism.differences(first, second) == ["book/intro.html: differs"]
