"""The report of an import: remarks, excluded logs, and counts per configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cobandit.tables.usage import Doubt


@dataclass
class Notes:
    """The report of an import, which the steps of the import fill.

    ``remarks`` are lines on what was imported. ``left_out`` has the number of
    evaluations that are left out, by reason. ``logs`` lists the logs that are left out,
    each as a line with place, reason and remedy. ``smallest`` is the cost that replaces
    zero. ``doubts`` has, per kind, the number of values that could not be read
    reliably, and the first such value. ``counts`` has the numbers of flawed evaluations
    by configuration and kind, and ``counted`` has the same numbers as lines.

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
    logs: list[str] = field(default_factory=list)
    smallest: float | None = None
    doubts: dict[str, tuple[int, str]] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)

    def count(
        self,
        kind: str,
        configs: Iterable[str],
        every: Iterable[str] = (),
        how: str = "",
    ) -> None:
        """Count flawed evaluations of one kind per configuration, for the report.

        Parameters
        ----------
        kind : str
            Kind of flaw, such as `cobandit.tables.card.CUT_OFF`.
        configs : iterable of str
            Configuration of each flawed evaluation.
        every : iterable of str
            Configuration of every evaluation, flawed or not.
        how : str
            Treatment of these evaluations, for the remark.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.count("answers cut off", ["a"], ["a", "a", "b"])
        >>> notes.counted
        ['answers cut off: 1 of 2 evaluations of a']
        >>> notes.counts
        {'a': Counter({'answers cut off': 1})}
        """
        totals = Counter(every)
        label = f"{kind}, {how}" if how else kind
        lines = []
        for config, number in Counter(configs).items():
            total = f" of {totals[config]:,}" if totals else ""
            lines.append(f"{label}: {number:,}{total} evaluations of {config}")
            self.counts.setdefault(config, Counter())[kind] += number
        self.counted += limit_lines(lines)

    def doubt(self, place: str, doubts: Iterable[Doubt]) -> None:
        """Count the doubts about a place: values that could not be read reliably."""
        for kind, text in doubts:
            number, first = self.doubts.get(kind, (0, f"{place}: {text}"))
            self.doubts[kind] = number + 1, first

    def compare(self, file: str, written: int, n_read: int, counted: Any) -> None:
        """Add a remark if a log has more or fewer evaluations than its run counted.

        ``written`` is the number of evaluations before duplicates were removed. The
        count of the run may also equal this number.
        """
        if type(counted) is not int or counted in (written, n_read):
            return
        if n_read < counted:
            self.remarks.append(
                f"incomplete: {file} has {n_read} of the {counted} evaluations of its"
                " run"
            )
        else:
            self.remarks.append(
                f"differs: {file} has {n_read} evaluations, but its run counted"
                f" {counted}"
            )

    def lines(self) -> list[str]:
        """Return the whole report, line by line."""
        counted = [
            f"left out: {number:,} {reason}" for reason, number in self.left_out.items()
        ]
        doubts = [
            f"doubtful usage, {number:,} times {kind}; the first: {first}"
            for kind, (number, first) in self.doubts.items()
        ]
        return [
            *self.remarks,
            *self.counted,
            *doubts,
            *(self.list_logs() + counted or ["left out: nothing"]),
        ]

    def list_logs(self) -> list[str]:
        """Return one line per log that is left out."""
        return limit_lines([f"left out: {line}" for line in self.logs])


def limit_lines(lines: list[str], limit: int = 3) -> list[str]:
    """Return the first lines, and a line with the number of omitted lines."""
    n_more = len(lines) - limit
    return lines if n_more <= 0 else [*lines[:limit], f"and {n_more:,} more of these"]
