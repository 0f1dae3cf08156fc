"""The files of a run: its plan, journals, answers and result."""

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

#: Largest number of differences between two plans in a message.
MOST_DIFFERENCES = 5


class RunFiles:
    """The files of a run, from which it can be resumed.

    Parameters
    ----------
    path : str or Path
        Folder of the run, which the run creates.

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
        """Whether a run has begun in this folder."""
        return self.plan.exists()

    @property
    def prices_day(self) -> date:
        """Day of the prices: the day of the run's first start; today for a new run."""
        day = self._read_prices().get("day")
        return date.today() if day is None else date.fromisoformat(day)

    @property
    def prices_source(self) -> str:
        """Source of the prices; empty without prices."""
        return self._read_prices().get("source", "")

    def _read_prices(self) -> dict[str, str]:
        if not self.prices.exists():
            return {}
        return dict(json.loads(self.prices.read_text(encoding="utf-8")))

    @property
    def has_results(self) -> bool:
        """Whether any journal has a result."""
        entries = [*read_entries(self.pilot), *read_entries(self.journal)]
        return any("tell" in entry for entry in entries)

    @property
    def is_busy(self) -> bool:
        """Whether a process is working on the run."""
        try:
            for path in (self.pilot, self.journal):
                if path.exists():
                    Lines(path).close()
        except CobanditError:
            return True
        return False

    @property
    def earlier(self) -> list[Path]:
        """Journals of earlier versions of the plan, oldest first."""
        return sorted(
            self.path.glob("earlier-*.journal"),
            key=lambda path: (len(path.name), path.name),
        )

    def set_aside(self, journal: Path) -> None:
        """Rename the journal of an earlier plan, so that its results can be reused.

        Raises
        ------
        TableError
            If the journal is open elsewhere.
        """
        with closing(Lines(journal)):
            journal.rename(self.path / f"earlier-{len(self.earlier) + 1}.journal")

    def read_earlier(self, plan: Plan) -> EarlierResults:
        """Return the results from journals of earlier plans, except failures."""
        rows: dict[Key, Row] = {}
        lost = 0.0
        for header, *entries in filter(None, map(read_entries, self.earlier)):
            # a method that repeats instances starts after the pilot; its rounds cannot
            # be reused
            first = 0 if "n_instances" in header["options"] else plan.pilot
            for entry in entries:
                if "tell" not in entry:
                    continue
                place = first + entry["number"]
                is_billed_failure = entry["reward"] is None
                has_failed = is_billed_failure or FAILED_KEY in entry["record"]
                if has_failed or place >= len(plan.order):
                    # failures of the pilot are charged by the pilot's journal
                    if is_billed_failure or place >= plan.pilot:
                        lost += entry["cost"]
                else:
                    rows[entry["tell"], place] = entry["record"]

        column = plan.cost.column
        non_pilot_costs = {
            key: row[column] for key, row in rows.items() if key[1] >= plan.pilot
        }
        return EarlierResults(rows, lost, non_pilot_costs)

    @contextmanager
    def copy(self) -> Iterator[RunFiles]:
        """Copy the journals, so that they can be read while the run writes."""
        if not self.begun:
            problem = "the folder does not contain a run"
            raise_fault(self.path, problem, "run the plan first", "no-run")
        with tempfile.TemporaryDirectory() as folder:
            for path in (self.plan, self.pilot, self.journal, *self.earlier):
                with suppress(FileNotFoundError):
                    shutil.copy(path, folder)
            yield RunFiles(folder)

    def read_written(self) -> dict[str, Any]:
        """Read the plan in the folder, with which the run was started last.

        The result has the form of `Plan.model_dump`.
        """
        try:
            return dict(json.loads(self.plan.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            problem = f"the plan in the folder cannot be read: {error}"
            remedy = "restore this file from a backup"
            raise_fault(self.plan, problem, remedy, "unreadable-plan")

    def check(self, plan: Plan) -> None:
        """Raise an error if the folder holds the run of another plan, or other files.

        Raises
        ------
        TableError
            With the code ``other-plan`` or ``other-folder``.
        """
        if not self.begun:
            is_file = self.path.exists() and not self.path.is_dir()
            if is_file or (self.path.exists() and any(self.path.iterdir())):
                problem = "this exists but is not a run folder"
                remedy = "choose another folder, or empty this one"
                raise_fault(self.path, problem, remedy, "other-folder")
            return

        free = () if self.journal.exists() else SCORING
        if self.find_differences(plan, free) and self.has_results:
            self.refuse(plan)

    def find_differences(self, plan: Plan, free: Collection[str] = ()) -> list[str]:
        """Return the differences from the plan in the folder that cannot be accepted.

        The evaluator's options in ``free``, and fields of the plan that may change at
        this stage of the run, are not compared.
        """
        is_fixed = self.journal.exists() and not plan.is_once
        may_change = CHANGEABLE if is_fixed else CHANGEABLE | AFTER_PILOT
        return plan.differences(self.read_written(), may_change, free)

    def refuse(self, plan: Plan) -> NoReturn:
        """Raise the error for a plan that differs from the plan in the folder.

        Raises
        ------
        TableError
            With the code ``other-plan``, and the differences.
        """
        differences = self.find_differences(plan)
        problem = (
            "the folder has the run of another plan:"
            f" {'; '.join(differences[:MOST_DIFFERENCES])}"
        )
        if len(differences) > MOST_DIFFERENCES:
            problem += f"; and {len(differences) - MOST_DIFFERENCES} more"
        written_reuse = self.read_written().get("reuse")
        if written_reuse != plan.reuse:
            problem += (
                f" (that run reuses {written_reuse or 'no table'}, but this plan reuses"
                f" {plan.reuse or 'none'})"
            )

        remedy = (
            "continue this run with its plan, or choose another folder and reuse the"
            " table of this run with --from"
        )
        raise_fault(self.path, problem, remedy, "other-plan")

    def check_instances(self, digests: Mapping[str, str], keep: bool = True) -> None:
        """Raise an error if instances or prices have changed since the first result.

        Parameters
        ----------
        digests : mapping of str to str
            Checksum of each instance, and of the prices.
        keep : bool
            Whether to store the checksums if the run has none yet.

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
            problem = (
                f"{len(changed)} of {len(digests)} instances and prices, such as"
                f" {changed[0]!r}, have changed since the run began, so the results"
                " of two versions would be mixed"
            )
            remedy = (
                "restore the old version; or start a run in another folder with --from"
                " and the table of this run, which repeats no evaluation and uses the"
                " new prices"
            )
            raise_fault(self.path, problem, remedy, "changed-instances")

    def begin(self, plan: Plan) -> None:
        """Create the folder, and write the plan into it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.write(self.plan, plan.model_dump(mode="json"))

    def write(self, path: Path, content: Any) -> None:
        """Write a file of JSON, either completely or not at all."""
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        with replace_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
