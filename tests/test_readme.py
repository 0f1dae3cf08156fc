"""The examples of README.md run as they stand, and its picture is the one that they draw."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number, tmp_path):
    assert len(EXAMPLES) == 2
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXAMPLES[number]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    if number == 0:
        drawn, shown = tmp_path / "regret.png", ROOT / "book" / "_static" / "readme.png"
        assert compare_images(str(shown), str(drawn), tol=2) is None, "run make notebooks"
    else:
        assert done.stdout.startswith("[") and float(done.stdout.split()[-1]) <= 20
