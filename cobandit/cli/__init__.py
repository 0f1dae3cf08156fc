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

#: Letters of a name that a table on the terminal shows, at most.
LONGEST = 120


def console(stderr: bool = False) -> Console:
    """Make a console that reads no markup or emoji; colours are given as styles."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def plain(name: object, most: int = LONGEST) -> str:
    r"""Make a name fit to be shown: no line breaks, no control characters, and its middle cut if it is long.

    Examples
    --------
    >>> plain("[0-shot]\ngpt \x1b[31m"), plain("a" * 100_000 + "b", 10)
    ('[0-shot] gpt  [31m', 'aaaa...aab')
    """
    from cobandit._text import ellipsize

    return ellipsize("".join(c if c.isprintable() else " " for c in str(name)), most)


def read_value(text: str) -> Any:
    """Read a whole number, a number, or what YAML makes of it (which takes 5e-2 for text)."""
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
    given: Iterable[str],
    expected: str = "NAME=VALUE",
    split: Callable[[str], Sequence[str]] = lambda text: text.partition("="),
    read: Callable[[str], Any] = read_value,
) -> dict[str, Any]:
    """Read what an option is given as names with their values, each ``NAME=VALUE``.

    A text that has no name, or that ``split`` finds no separator in, is refused with
    what was ``expected``; so is a value that ``read`` raises ValueError for.

    Examples
    --------
    >>> read_pairs("--parameter", ["seed=3", "how={workers: 2}"])
    {'seed': 3, 'how': {'workers': 2}}
    """
    values = {}
    for text in given:
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


def print_lines(out: Console, *lines: str) -> None:
    """Print lines that may hold names, each over as many as the terminal needs."""
    for line in lines:
        out.print(plain(line, most=100_000))


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that updates bars on standard error: task, evaluations done, and their total."""
    with Progress(console=console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield tell


def run_app(app: typer.Typer) -> None:
    """Run a command; bad input ends it with one message and exit code 2, never with a traceback."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    err = console(stderr=True)
    try:
        app()
    except (CobanditError, OSError) as error:
        message = str(error)
        # a name that is too long, a folder that may not be read
        if isinstance(error, OSError):
            message = (
                f"{error.filename or 'a file'}: {error.strerror or error} -> check the"
                " path"
            )
        first, *others = message.splitlines()
        err.print(Text.assemble(("error: ", "red"), plain(first, most=2000)))
        for line in others:
            err.print(plain(line, most=2000))
        sys.exit(2)


InCatalogue = Annotated[
    str, typer.Argument(help="Name in the catalogue, or file with a card next to it.")
]
Budget = Annotated[
    float | None,
    typer.Option(help="What further evaluations may cost, in the table's unit."),
]
About = Annotated[
    Literal["instances", "benchmark"],
    typer.Option(
        help="Answers to settle: on instances like these, or on this benchmark."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help=(
            "Column of what instances have in common, such as a passage: its values"
            " count, not instances."
        )
    ),
]
Level = Annotated[
    float,
    typer.Option(help="Confidence that all settled answers are right, at most 0.9999."),
]
Workers = Annotated[
    int, typer.Option(help="Processes, or threads; -1 takes every core.")
]
Backend = Annotated[str, typer.Option(help="loky (processes), threading or dask.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of the Dask scheduler, tcp://host:port.")
]
