"""Files that are written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cobandit.errors import CobanditError


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to a file, which is then replaced by it.

    Nothing is replaced, and nothing stays behind, where an error comes first.

    Raises
    ------
    CobanditError
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
        raise CobanditError(f"{path} could not be written: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
