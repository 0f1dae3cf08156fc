"""Files of a run: the plan that it was started with, its journals, its answers, and its result."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

from cobandit.errors import CobanditError, raise_fault
from cobandit.live.evaluators.base import Row
from cobandit.live.lines import Lines, read_entries
from cobandit.live.plan import AFTER_PILOT, CHANGEABLE, SCORING, Plan
from cobandit.live.records import FAILED_KEY, EarlierResults, Key
from cobandit.tables.whole_files import replace_file

#: Differences between two plans that a message lists.
MOST_DIFFERENCES = 5


class RunFiles:
    """The files of a run, which survive its process.

    Parameters
    ----------
    path : str or Path
        It is made when the run begins.

    Examples
    --------
    >>> RunFiles("runs/toy").table.as_posix()
    'runs/toy/table.parquet'
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.plan = self.path / "plan.json"
        self.pilot = self.path / "pilot.journal"
        self.journal = self.path / "run.journal"
        self.table = self.path / "table.parquet"
        self.recommendation = self.path / "recommendation.json"
        self.instances = self.path / "instances.json"
        self.answers = self.path / "answers.jsonl"
        self.prices = self.path / "prices.json"

    @property
    def begun(self) -> bool:
        """Whether a run has begun here."""
        return self.plan.exists()

    @property
    def prices_day(self) -> date:
        """The day whose prices are the run's: that of its first start, today for a new one."""
        return date.fromisoformat(
            self._read_prices().get("day", date.today().isoformat())
        )

    @property
    def prices_source(self) -> str:
        """Where the prices of the run are from; empty if nothing is charged by them."""
        return self._read_prices().get("source", "")

    def _read_prices(self) -> dict[str, str]:
        if not self.prices.exists():
            return {}
        return dict(json.loads(self.prices.read_text(encoding="utf-8")))

    @property
    def has_results(self) -> bool:
        """Whether a journal has a result."""
        entries = [*read_entries(self.pilot), *read_entries(self.journal)]
        return any("tell" in entry for entry in entries)

    @property
    def is_busy(self) -> bool:
        """Whether a process is at work here."""
        try:
            for path in (self.pilot, self.journal):
                if path.exists():
                    Lines(path).close()
        except CobanditError:
            return True
        return False

    @property
    def earlier(self) -> list[Path]:
        """Journals that were set aside when the plan changed, oldest first."""
        return sorted(
            self.path.glob("earlier-*.journal"),
            key=lambda path: (len(path.name), path.name),
        )

    def set_aside(self, journal: Path) -> None:
        """Set aside the journal of a plan that has changed; its results are not evaluated again.

        Raises
        ------
        CobanditError
            If it is open elsewhere.
        """
        with closing(Lines(journal)):
            journal.rename(self.path / f"earlier-{len(self.earlier) + 1}.journal")

    def read_earlier(self, plan: Plan) -> EarlierResults:
        """Read the results of journals that were set aside; failures are made again."""
        rows: dict[Key, Row] = {}
        lost = 0.0
        for header, *entries in filter(None, map(read_entries, self.earlier)):
            # a method that comes back to instances began after the pilot, and its later
            # rounds are of no use
            first = 0 if "n_instances" in header["options"] else plan.pilot
            for entry in entries:
                if "tell" not in entry:
                    continue
                place = first + entry["number"]
                was_billed_in_vain = entry["reward"] is None
                if (
                    was_billed_in_vain
                    or FAILED_KEY in entry["record"]
                    or place >= len(plan.order)
                ):
                    # a failure of the pilot is charged by the pilot's own journal
                    lost += (
                        entry["cost"]
                        if was_billed_in_vain or place >= plan.pilot
                        else 0.0
                    )
                else:
                    rows[entry["tell"], place] = entry["record"]

        column = plan.cost.column
        non_pilot_costs = {
            key: row[column] for key, row in rows.items() if key[1] >= plan.pilot
        }
        return EarlierResults(rows, lost, non_pilot_costs)

    @contextmanager
    def copy(self) -> Iterator[RunFiles]:
        """Copy the journals, to be looked at while the run goes on; a line being written is dropped."""
        if not self.begun:
            raise_fault(
                self.path, "the folder holds no run", "run the plan first", "no-run"
            )
        with tempfile.TemporaryDirectory() as folder:
            for path in (self.plan, self.pilot, self.journal, *self.earlier):
                with suppress(FileNotFoundError):
                    shutil.copy(path, folder)
            yield RunFiles(folder)

    def read_written(self) -> dict[str, Any]:
        """Read the plan with which the run went on last, as `Plan.model_dump` has it."""
        try:
            return dict(json.loads(self.plan.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            problem = f"the file cannot be read: {error}"
            raise_fault(
                self.plan, problem, "bring it back from a copy", "unreadable-plan"
            )

    def check(self, plan: Plan) -> None:
        """Refuse a folder that belongs to something else.

        Raises
        ------
        TableError
            If another plan has results here (``other-plan``), or the folder holds other
            files (``other-folder``).
        """
        if not self.begun:
            if self.path.exists() and (
                not self.path.is_dir() or any(self.path.iterdir())
            ):
                problem = "it exists but is not a run folder"
                raise_fault(
                    self.path,
                    problem,
                    "choose another folder, or empty this one",
                    "other-folder",
                )
            return

        free = () if self.journal.exists() else SCORING
        if self.find_differences(plan, free) and self.has_results:
            self.refuse(plan)

    def find_differences(self, plan: Plan, free: Collection[str] = ()) -> list[str]:
        """List the differences from the plan that was written, except in fields that may change now.

        Options of the evaluator in ``free`` are not compared.
        """
        may_change = (
            CHANGEABLE
            if self.journal.exists() and not plan.is_once
            else CHANGEABLE | AFTER_PILOT
        )
        return plan.differences(self.read_written(), may_change, free)

    def refuse(self, plan: Plan) -> NoReturn:
        """Refuse a plan whose evaluations would be mixed with those of another one.

        Raises
        ------
        TableError
            With the code ``other-plan``, and what differs.
        """
        other = self.find_differences(plan)
        more = (
            f"; and {len(other) - MOST_DIFFERENCES} more"
            if len(other) > MOST_DIFFERENCES
            else ""
        )
        started = self.read_written().get("reuse")
        if started != plan.reuse:
            more += (
                f" (it was started with {started or 'no table'}, this plan has"
                f" {plan.reuse or 'none'})"
            )

        raise_fault(
            self.path,
            "the folder holds the run of another plan:"
            f" {'; '.join(other[:MOST_DIFFERENCES])}{more}",
            "continue it with the plan that it was started with, or choose another"
            " folder, where --from takes over what the table of this run has",
            code="other-plan",
        )

    def check_instances(self, digests: Mapping[str, str], keep: bool = True) -> None:
        """Refuse instances and prices that have changed since there are results.

        Parameters
        ----------
        digests : mapping of str to str
            A checksum of each.
        keep : bool
            Whether a run that has no checksums keeps these from now on.

        Raises
        ------
        TableError
            With the code ``changed-instances``.
        """
        if not (self.has_results and self.instances.exists()):
            if keep:
                self.write(self.instances, dict(digests))
            return

        written = json.loads(self.instances.read_text(encoding="utf-8"))
        changed = [
            name
            for name, digest in digests.items()
            if written.get(name, digest) != digest
        ]
        if changed:
            raise_fault(
                self.path,
                f"{len(changed)} of {len(digests)} instances and prices, such as"
                f" {changed[0]!r}, are not what they were when the run was begun, and"
                " results of both would be mixed",
                "bring them back, or start a run in another folder: --from the table of"
                " this run, it asks nothing again and charges by its own prices",
                code="changed-instances",
            )

    def begin(self, plan: Plan) -> None:
        """Make the folder, with the plan in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.write(self.plan, plan.model_dump(mode="json"))

    def write(self, path: Path, content: Any) -> None:
        """Write JSON, all of it or nothing."""
        with replace_file(path) as partial:
            partial.write_text(
                json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8"
            )
