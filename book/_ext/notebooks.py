"""Run the notebooks, and store their outputs.

    python book/_ext/notebooks.py refresh            # all pages
    python book/_ext/notebooks.py refresh once live  # only these pages

The program runs every NAME.md, and writes NAME.ipynb with its outputs. Without names,
it also runs the first example in README.md, which draws the picture of README.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from joblib import Parallel, delayed

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("notebooks/*.md"))


def refresh(path: Path) -> Path:
    """Run a MyST notebook, and write its .ipynb. Ids of cells are reproducible."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient

    from companion.report.reading import for_jupyter

    notebook = for_jupyter(jupytext.read(path), path.stem)
    NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": path.parent}},
    ).execute()
    notebook.metadata.pop("language_info", None)  # contains the patch version of Python
    nbformat.write(notebook, path.with_suffix(".ipynb"))
    path.touch()  # jupytext regards the newer file of a pair as the source
    return path


def draw_readme() -> None:
    """Run the first example in README.md, and store the picture that it saves."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", example],
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg"},
            check=True,
        )
        shutil.copy(
            Path(folder) / "front.png", ROOT / "book" / "_static" / "readme.png"
        )


def main(names: list[str]) -> None:
    if not names:
        draw_readme()
    done = Parallel(n_jobs=-1, backend="threading", return_as="generator_unordered")(
        delayed(refresh)(path) for path in PAGES if not names or path.stem in names
    )
    for path in done:
        print(f"ran {path.name}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] != ["refresh"] or not {*sys.argv[2:]} <= {
        path.stem for path in PAGES
    }:
        sys.exit(__doc__)
    main(sys.argv[2:])
