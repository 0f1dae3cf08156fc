"""Count the files, and the lines of code, of each package.

    python benchmarks/lines.py                  # cobandit/, companion/ and tests/
    python benchmarks/lines.py book/_ext        # another folder and its sub-folders

Blank lines, comments and docstrings do not count as code.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
}
LAYOUT |= {tokenize.ENCODING, tokenize.ENDMARKER}


def count_code(source: str) -> int:
    r"""Count the lines of code in the source of a module.

    Examples
    --------
    >>> count_code('def f(x):\n    "Doc."\n    # why\n    return (x +\n        1)\n')
    3
    """
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        if isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and ast.get_docstring(node, clean=False) is not None
            ):
                lines -= set(
                    range(first.lineno, (first.end_lineno or first.lineno) + 1)
                )

    return len(lines)


def main(folders: list[str]) -> None:
    """Print the lines of code, and the number of files, of each folder."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for folder in folders or ["cobandit", "companion", "tests"]:
        for path in sorted(Path(folder).rglob("*.py")):
            inside = path.relative_to(folder).parts
            count = count_code(path.read_text(encoding="utf-8"))
            names = {f"{folder}/{inside[0] if len(inside) > 1 else ''}", folder}
            for name in names:
                lines[name] += count
                files[name] += 1
    for name in sorted(lines):
        print(f"{lines[name]:7,}  {files[name]:4} files  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
