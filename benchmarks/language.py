"""Count bad habits of code and prose. A test requires that no count increases.

    python benchmarks/language.py

For comparison: httpx, attrs and scikit-learn have hardly any of the `SMALL_WORDS` as
names, and at most three of the `PHRASES` per 10,000 words of docstrings. At most half
of their long functions have no blank line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: Names of locals and parameters that do not describe their value.
SMALL_WORDS = """
about again all any asked at both by each found from given held here it kept least left
less made meant met more most much none off on other out own said seen so such taken
than that them there this told under up what when where which while who whole with
"""
PHRASES = re.compile(r"\bwhat (?:is|it|they)\b|\ball that\b", re.IGNORECASE)
#: Smallest number of lines of a long function.
LONG = 15


class Counts(NamedTuple):
    """Counts of one package, each relative to its total.

    Attributes
    ----------
    small_names : float
        Share of locals and parameters that are `SMALL_WORDS`.
    phrases : float
        Number of `PHRASES` per 10,000 words of docstrings.
    unbroken : float
        Share of long functions without a blank line.
    double_assignments : float
        Number of assignments of several values at once, per 1,000 lines.
    """

    small_names: float
    phrases: float
    unbroken: float
    double_assignments: float


def list_names(tree: ast.AST) -> Iterator[str]:
    """Yield each local and parameter of a module, as often as it is assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def list_docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module."""
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            yield ast.get_docstring(node) or ""


def list_long_functions(tree: ast.AST, lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each long function, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body and body[-1].end_lineno - body[0].lineno >= LONG:
                yield lines[body[0].lineno - 1 : body[-1].end_lineno]


def is_double_assignment(node: ast.AST) -> bool:
    """Return whether a statement assigns several values to several names at once."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    )


def count(paths: Iterable[Path]) -> Counts:
    """Count the bad habits in some modules."""
    names: list[str] = []
    docstrings: list[str] = []
    functions: list[list[str]] = []
    n_lines = n_double = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lines = text.splitlines()
        names += list_names(tree)
        docstrings += list_docstrings(tree)
        functions += list_long_functions(tree, lines)
        n_lines += len(lines)
        n_double += sum(map(is_double_assignment, ast.walk(tree)))

    small_words = set(SMALL_WORDS.split())
    prose = " ".join(docstrings)
    unbroken = [
        function for function in functions if all(line.strip() for line in function)
    ]
    return Counts(
        small_names=sum(name in small_words for name in names) / len(names),
        phrases=len(PHRASES.findall(prose)) / len(prose.split()) * 10_000,
        unbroken=len(unbroken) / len(functions),
        double_assignments=n_double / n_lines * 1_000,
    )


def count_package(package: str) -> Counts:
    """Count the bad habits in a package of this project."""
    return count((ROOT / package).rglob("*.py"))


def count_phrases_of_prose() -> float:
    """Count `PHRASES` per 10,000 words of pages, README, CONTRIBUTING and docs."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("notebooks", "book", "docs"):
        paths += (ROOT / folder).glob("*.md")
    prose = " ".join(
        re.sub(r"```\{code-cell.*?```", "", path.read_text("utf-8"), flags=re.S)
        for path in paths
    )
    return len(PHRASES.findall(prose)) / len(prose.split()) * 10_000


if __name__ == "__main__":
    for package in ("cobandit", "companion"):
        print(
            f"{package:10}",
            *(
                f"{name} {value:.3g}"
                for name, value in count_package(package)._asdict().items()
            ),
        )
    print(f"prose      phrases {count_phrases_of_prose():.3g}")
