"""Names of files and folders that every file system accepts."""

import re

_FORBIDDEN = re.compile(r"[^\w.+=,@-]+")
_RESERVED = re.compile(r"data|(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)

#: Longest name, in characters.
LONGEST_NAME = 100


def model_folders(model: str) -> tuple[str, str]:
    """Return folder names for a model: its developer (before the slash) and its name.

    Examples
    --------
    >>> model_folders("meta/llama 3"), model_folders("small")
    (('meta', 'llama_3'), ('unknown', 'small'))
    """
    developer, slash, name = model.partition("/")
    if not slash:
        return "unknown", portable_name(model)
    return portable_name(developer), portable_name(name)


def portable_name(name: str) -> str:
    """Return a name without characters and words that some file systems forbid.

    Examples
    --------
    >>> [portable_name(name) for name in ("llama 3.1: 8B", "a/b", "data", "...")]
    ['llama_3.1_8B', 'a_b', 'data_', 'unnamed']
    """
    plain = _FORBIDDEN.sub("_", name)[:LONGEST_NAME].strip(".") or "unnamed"
    return f"{plain}_" if _RESERVED.fullmatch(plain) else plain
