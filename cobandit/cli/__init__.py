"""The ``cobandit`` command, one subcommand per file."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from cobandit.errors import CobanditError, raise_fault

#: Largest number of characters of a name in a table on the terminal.
LONGEST = 120


def console(stderr: bool = False) -> Console:
    """Make a console that prints markup and emoji codes literally."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def plain(name: object, longest: int = LONGEST) -> str:
    r"""Return a name without control characters, shortened in the middle.

    Examples
    --------
    >>> plain("[0-shot]\ngpt \x1b[31m"), plain("a" * 100_000 + "b", 10)
    ('[0-shot] gpt  [31m', 'aaaa...aab')
    """
    from cobandit._text import ellipsize

    printable = "".join(c if c.isprintable() else " " for c in str(name))
    return ellipsize(printable, longest)


def read_value(text: str) -> Any:
    """Read a text as a number or YAML value; YAML alone would read 5e-2 as text."""
    import yaml

    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError from error


def read_pairs(
    option: str,
    texts: Iterable[str],
    expected: str = "NAME=VALUE",
    split: Callable[[str], Sequence[str]] = lambda text: text.partition("="),
    read: Callable[[str], Any] = read_value,
) -> dict[str, Any]:
    """Read ``NAME=VALUE`` texts of an option as names and values.

    Raises
    ------
    CobanditError
        If a text has no name, ``split`` finds no separator in it, or ``read`` raises
        ValueError for its value. The message states the ``expected`` form.

    Examples
    --------
    >>> read_pairs("--parameter", ["seed=3", "how={workers: 2}"])
    {'seed': 3, 'how': {'workers': 2}}
    """
    values = {}
    for text in texts:
        name, separator, written = split(text)
        is_pair = bool(separator and name.strip())
        try:
            values[name.strip()] = read(written)
        except ValueError:
            is_pair = False
        if not is_pair:
            raise_fault(
                option,
                f"{text!r} is not of the form {expected}",
                f"write {expected}",
                code="option-form",
            )

    return values


def print_lines(terminal: Console, *lines: str) -> None:
    """Print lines with plain names, wrapped to the width of the terminal."""
    for line in lines:
        terminal.print(plain(line, longest=100_000))


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function of name, number done and total that updates a progress bar."""
    with Progress(console=console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield update


def run_app(app: typer.Typer) -> None:
    """Run the command line; bad input ends it with a message and exit code 2."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    err = console(stderr=True)
    try:
        app()
    except (CobanditError, OSError) as error:
        message = str(error)
        # for example a name that is too long, or a folder without permission
        if isinstance(error, OSError):
            message = (
                f"{error.filename or 'a file'}: {error.strerror or error} -> check the"
                " path and its permissions"
            )

        first, *others = message.splitlines()
        err.print(Text.assemble(("error: ", "red"), plain(first, longest=2000)))
        for line in others:
            err.print(plain(line, longest=2000))
        sys.exit(2)


InCatalogue = Annotated[
    str,
    typer.Argument(
        help="Name in the catalogue, or file with a card (YAML description) beside it."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(help="Budget of further evaluations, in the table's unit."),
]
About = Annotated[
    Literal["instances", "benchmark"],
    typer.Option(
        help=(
            "Whether answers are about instances like these, or only about this"
            " benchmark."
        )
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help=(
            "Column that groups related instances, such as the passage that"
            " questions are about. Decisions then treat groups, not instances, as"
            " independent."
        )
    ),
]
Level = Annotated[
    float,
    typer.Option(help="Confidence that all settled answers are right, at most 0.9999."),
]
Workers = Annotated[
    int, typer.Option(help="Number of processes or threads; -1 for every core.")
]
Backend = Annotated[str, typer.Option(help="loky (processes), threading or dask.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of the Dask scheduler, tcp://host:port.")
]
