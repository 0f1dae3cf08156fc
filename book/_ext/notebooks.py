"""List or refresh the notebooks.

    python book/_ext/notebooks.py list               # paths of the .ipynb files
    python book/_ext/notebooks.py refresh            # run every NAME.md, write NAME.ipynb with its outputs,
                                                     # draw the picture of README.md with the example in it
    python book/_ext/notebooks.py refresh once live  # these pages only

Tables that pages use are fetched first; one that cannot be had is named on stderr.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import availability
from joblib import Parallel, delayed


def ready() -> list[Path]:
    """MyST notebooks, with those of their tables at hand that can be had."""
    pages = availability.pages()
    for name in availability.missing(pages):
        print(f"table {name} is not available: pages do without it", file=sys.stderr)
    return pages


def refresh(path: Path) -> Path:
    """Run one MyST notebook and write its .ipynb; cell ids are numbers, so that a rerun changes no line."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient

    notebook = jupytext.read(path)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": path.parent}},
    ).execute()
    notebook.metadata.pop("language_info", None)  # holds the patch version of Python
    nbformat.write(notebook, path.with_suffix(".ipynb"))
    path.touch()  # jupytext takes the newer file of a pair for the source
    return path


def draw_readme() -> None:
    """Run the first example of README.md and keep the picture that it saves."""
    readme = (availability.ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", example], cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, check=True
        )
        shutil.copy(Path(folder) / "regret.png", availability.ROOT / "book" / "_static" / "readme.png")


def main(command: str, names: list[str]) -> None:
    if command == "refresh":
        if not names:
            draw_readme()
        done = Parallel(n_jobs=-1, backend="threading", return_as="generator_unordered")(
            delayed(refresh)(path) for path in ready() if not names or path.stem in names
        )
        for path in done:
            print(f"ran {path.name}", flush=True)
    else:
        for path in ready():
            print(path.with_suffix(".ipynb").relative_to(availability.ROOT))


if __name__ == "__main__":
    if sys.argv[1:] != ["list"] and sys.argv[1:2] != ["refresh"]:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
