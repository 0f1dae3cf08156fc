"""Each entry of the errata ends with a cell that runs by itself."""

import re
import subprocess
import sys
from pathlib import Path

from book_size import code_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "notebooks/errata.md").read_text(encoding="utf-8")


def test_each_entry_has_one_cell():
    entries = re.split(r"^\(errata-(\w+)\)=$", PAGE, flags=re.M)[1:]
    labels = entries[::2]
    assert len(labels) == PAGE.count("](#errata-") - 1  # O8 names O2
    for label, entry in zip(labels, entries[1::2], strict=True):
        section = entry.partition("\n## ")[0]
        assert section.count("```{code-cell}") == 1, label


def test_each_cell_needs_the_parameters_alone(tmp_path):
    parameters, *cells, _letter, _how_to_run = code_of("notebooks/errata")
    for number, cell in enumerate(cells):
        code = "\n".join([*parameters, *cell, ""])
        (tmp_path / f"cell-{number}.py").write_text(code, encoding="utf-8")

    # F821 is a name that nothing defines
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"]
    command += ["--select", "F821", "--output-format", "concise", str(tmp_path)]
    report = subprocess.run(command, capture_output=True, text=True, check=False)
    assert report.returncode == 0, report.stdout
