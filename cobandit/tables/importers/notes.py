"""What an import has to tell, and which logs it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from cobandit.faults import Fault, TableError

MOST_LINES = 20
"""Logs that a report or a message lists, at most."""


@dataclass
class Notes:
    """What an import has to tell: remarks, what was left out and how often, what else was seen how often.

    ``logs`` are those that are left out whole, each as a line that says where, why and what to do; ``reruns``
    say which log counts in place of which; ``smallest`` is what an evaluation that cost nothing counts as.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.remarks.append("cost: tokens")
    >>> notes.left_out["samples that ended in an error"] += 2
    >>> notes.logs.append("b.eval: it ended as 'cancelled' -> run it again")
    >>> for line in notes.lines():
    ...     print(line)
    cost: tokens
    left out: b.eval: it ended as 'cancelled' -> run it again
    left out: 2 samples that ended in an error
    """

    remarks: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    logs: list[str] = field(default_factory=list)
    reruns: list[str] = field(default_factory=list)
    smallest: float | None = None

    def compare(self, file: Path, held: int, counted: Any) -> None:
        """Remark that a log holds fewer evaluations than it counts itself, as one that was cut short does.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.compare(Path("logs/a.jsonl"), 7, 12)
        >>> notes.remarks
        ['incomplete: a.jsonl holds 7 of the 12 evaluations that its run counted']
        """
        if type(counted) is int and held < counted:
            self.remarks.append(
                f"incomplete: {file.name} holds {held} of the {counted} evaluations that its run counted"
            )

    def lines(self) -> list[str]:
        """All of it, one line each."""
        left = [f"left out: {number:,} {reason}" for reason, number in self.left_out.items()]
        seen = [f"note: {number:,} {what}" for what, number in self.seen.items()]
        whole = self._whole()
        return [*self.remarks, *_first(self.reruns), *(whole + left or ["left out: nothing"]), *seen]

    def stop(self, where: str | Path, problem: str, remedy: str) -> NoReturn:
        """Raise an error as ``faults.stop`` does, followed by the logs that were left out.

        Raises
        ------
        TableError
            Always.
        """
        raise TableError("\n".join([str(Fault(str(where), problem, remedy)), *self._whole()]))

    def _whole(self) -> list[str]:
        return _first([f"left out: {line}" for line in self.logs])


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more:,} more of these"]


T = TypeVar("T")


def read_each(files: Iterable[Path], read: Callable[[Path], T], notes: Notes) -> dict[Path, T]:
    """Read each log; leave out those that cannot be used, each with its reason.

    Raises
    ------
    TableError
        If none can be used; the message has all reasons.

    Examples
    --------
    >>> def read(file):
    ...     if not file.suffix:
    ...         raise TableError(f"{file}: it is empty -> run it again")
    ...     return len(file.name)
    >>> list(read_each([Path("a.log"), Path("b")], read, notes := Notes()).values()), notes.logs
    ([5], ['b: it is empty -> run it again'])
    """
    found: dict[Path, T] = {}
    for file in files:
        try:
            found[file] = read(file)
        except TableError as error:
            notes.logs.append(str(error))
    if not found and notes.logs:
        only = f"none of the {len(notes.logs):,} logs can be used"
        raise TableError(notes.logs[0] if len(notes.logs) == 1 else "\n".join([only, *_first(notes.logs)]))
    return found
