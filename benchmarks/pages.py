"""Measure the processor time of the book's pages on tables of many shapes.

    python benchmarks/pages.py                # every page on every shape: some hours
    python benchmarks/pages.py --page once --shape largest

Repeat an option for more pages or shapes. Each page runs in a separate process, like
`cobandit-book page`. Its time includes all of its processes and their start. The exit
code is 1 if a page fails or takes more than `MOST` seconds of processor time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

from rich.console import Console
from rich.table import Table

import cobandit as cb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' tables

from companion.report import pages  # noqa: E402
from companion.report.run import SECTIONS  # noqa: E402
from tests.support import table_shapes as shapes  # noqa: E402

MOST = 90.0
#: Tables of large and extreme sizes, in addition to the tables of the tests.
LARGE: dict[str, Callable[[], cb.EvaluationTable]] = {
    "largest": partial(
        shapes.build,
        "largest",
        shapes.draw_means(150, 4),
        2000,
        costs=shapes.draw_costs(150, 300),
    ),
    "largest-millionfold": partial(
        shapes.build,
        "largest-millionfold",
        shapes.draw_means(150, 4),
        2000,
        costs=shapes.draw_costs(150, 1e6),
        holes=0.3,
    ),
    "many-equal": partial(
        shapes.build, "many-equal", shapes.draw_means(150, 2), 40, spread=False
    ),
    "two-long": partial(
        shapes.build,
        "two-long",
        shapes.draw_means(2, 4),
        2000,
        costs=shapes.draw_costs(2, 1e6),
    ),
}
SHAPES = LARGE | shapes.SHAPES


def measure(page: str, records: Path, output: Path) -> tuple[float, float, bool]:
    """Run a page on a table. Return processor time, elapsed time, and success."""
    command = "from companion.cli.app import main; main()"
    words = ["page", page, "-p", f"dataset={records}", "-o", str(output)]
    before = getrusage(RUSAGE_CHILDREN)
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", command, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    passed = perf_counter() - start
    after = getrusage(RUSAGE_CHILDREN)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, passed, not done.returncode


def main() -> int:
    """Measure the requested pages and print the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    of_the_book = sorted(path.stem for path in pages.pages_directory().glob("*.md"))
    on_tables = [
        *(name for name in of_the_book if "dataset" in pages.parameters(name)),
        *SECTIONS,
    ]
    parser.add_argument("--page", action="append", choices=on_tables)
    parser.add_argument("--shape", action="append", choices=SHAPES)
    arguments = parser.parse_args()

    shown = Table(
        "page",
        "shape",
        "processor s",
        "elapsed s",
        title="Pages on tables, default parameters",
    )
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for shape in arguments.shape or SHAPES:
            records = Path(folder) / f"{shape}.parquet"
            cb.save(SHAPES[shape](), records)
            for page in arguments.page or on_tables:
                used, passed, ended = measure(page, records, Path(folder) / "out.ipynb")
                good &= ended and used <= MOST
                shown.add_row(
                    page, shape, f"{used:.0f}" if ended else "failed", f"{passed:.0f}"
                )
                print(f"{page} on {shape}: {used:.0f} s", flush=True)
    Console().print(shown)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
