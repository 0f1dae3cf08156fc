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
from cobandit.live.records import FAILED, EarlierResults, Key
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
        return date.fromisoformat(self._read_prices().get("day", date.today().isoformat()))

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
        """Whether an evaluation was told."""
        return any("tell" in entry for path in (self.pilot, self.journal) for entry in read_entries(path))

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
        """Journals that were set aside when the plan changed, the oldest first."""
        return sorted(self.path.glob("earlier-*.journal"), key=lambda path: (len(path.name), path.name))

    def set_aside(self, journal: Path) -> None:
        """Put a journal of a plan that has changed since aside: what it holds is not evaluated again.

        Raises
        ------
        CobanditError
            If somebody has it open.
        """
        with closing(Lines(journal)):
            journal.rename(self.path / f"earlier-{len(self.earlier) + 1}.journal")

    def read_earlier(self, plan: Plan) -> EarlierResults:
        """Take the evaluations of journals that were set aside; failures are made again."""
        rows: dict[Key, Row] = {}
        lost = 0.0
        for header, *entries in filter(None, map(read_entries, self.earlier)):
            # a method that comes back to instances began after the pilot, and its later rounds are of no use
            first = 0 if "n_instances" in header["options"] else plan.pilot
            for entry in (entry for entry in entries if "tell" in entry):
                place = first + entry["number"]
                if entry["reward"] is None or FAILED in entry["record"] or place >= len(plan.order):
                    lost += entry["cost"] if entry["reward"] is None or place >= plan.pilot else 0.0
                else:
                    rows[entry["tell"], place] = entry["record"]
        besides = {key: row[plan.cost.column] for key, row in rows.items() if key[1] >= plan.pilot}
        return EarlierResults(rows, lost, besides)

    @contextmanager
    def copy(self) -> Iterator[RunFiles]:
        """Copy the journals, to be looked at while the run goes on; a line being written is dropped."""
        if not self.begun:
            raise CobanditError(f"{self.path} holds no run: run the plan first")
        with tempfile.TemporaryDirectory() as folder:
            for path in (self.plan, self.pilot, self.journal, *self.earlier):
                with suppress(FileNotFoundError):
                    shutil.copy(path, folder)
            yield RunFiles(folder)

    def read_written(self) -> dict[str, Any]:
        """Read what the plan was when the run went on last, as `Plan.model_dump` has it."""
        try:
            return dict(json.loads(self.plan.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise CobanditError(f"{self.plan} cannot be read: {error}: bring it back from a copy") from None

    def check(self, plan: Plan) -> None:
        """Refuse a folder that belongs to something else.

        Raises
        ------
        CobanditError
            If another plan has results here, with what differs, or the folder holds other files.
        """
        if not self.begun:
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise CobanditError(
                    f"{self.path} is there and holds no run: choose another folder, or empty it"
                )
            return
        free = () if self.journal.exists() else SCORING
        if self.find_differences(plan, free) and self.has_results:
            self.refuse(plan)

    def find_differences(self, plan: Plan, free: Collection[str] = ()) -> list[str]:
        """List what is other than in the plan that was written, but for what may change now.

        Options of the evaluator in ``free`` are not compared.
        """
        may_change = CHANGEABLE if self.journal.exists() and not plan.is_once else CHANGEABLE | AFTER_PILOT
        return plan.differences(self.read_written(), may_change, free)

    def refuse(self, plan: Plan) -> NoReturn:
        """Refuse a plan whose evaluations would be mixed with those of another one.

        Raises
        ------
        TableError
            With the code ``other-plan``, and what differs.
        """
        other = self.find_differences(plan)
        more = f"; and {len(other) - MOST_DIFFERENCES} more" if len(other) > MOST_DIFFERENCES else ""
        started = self.read_written().get("reuse")
        if started != plan.reuse:
            more += f" (it was started with {started or 'no table'}, this plan has {plan.reuse or 'none'})"
        raise_fault(
            self.path,
            f"the folder holds the run of another plan: {'; '.join(other[:MOST_DIFFERENCES])}{more}",
            "continue it with the plan that it was started with, or choose another folder, where --from "
            "takes over what the table of this run has",
            code="other-plan",
        )

    def check_instances(self, digests: Mapping[str, str], keep: bool = True) -> None:
        """Refuse instances that are not what they were; a run that did not keep that keeps it from now on.

        Raises
        ------
        CobanditError
            If what is asked in an instance, or what it costs, has changed since there are results.
        """
        if not (self.has_results and self.instances.exists()):
            if keep:
                self.write(self.instances, dict(digests))
            return
        written = json.loads(self.instances.read_text(encoding="utf-8"))
        changed = [name for name, digest in digests.items() if written.get(name, digest) != digest]
        if changed:
            raise CobanditError(
                f"{len(changed)} of {len(digests)} instances and prices, such as {changed[0]!r}, are not "
                f"what they were when {self.path} was begun: bring that back, or start a run of its own in "
                "another folder (results of both would be mixed).  With --from the table of this run, that "
                "one asks nothing again, and charges what is there by its own prices"
            )

    def begin(self, plan: Plan) -> None:
        """Make the folder, with the plan in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.write(self.plan, plan.model_dump(mode="json"))

    def write(self, path: Path, content: Any) -> None:
        """Write JSON, all of it or nothing."""
        with replace_file(path) as partial:
            partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
