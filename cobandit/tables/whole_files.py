"""Writing a file either completely or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cobandit.errors import raise_fault


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, whose file replaces ``path`` at the end of the context.

    After an error, ``path`` is unchanged, and the temporary file is removed.

    Raises
    ------
    TableError
        If the file could not be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("all of it")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('a.txt', 'all of it')]
    """
    partial = path.with_name(f".partial-{path.name}")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        problem = f"the file could not be written: {error}"
        remedy = "free some disk space, or choose another folder"
        raise_fault(path, problem, remedy, "not-written")
    finally:
        partial.unlink(missing_ok=True)
