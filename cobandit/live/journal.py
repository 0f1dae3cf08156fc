"""The journal of a live run, for resuming the run after a crash."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.errors import CobanditError, raise_fault
from cobandit.live.headers import add_defaults, compare_nested, copy_plain, make_header
from cobandit.live.lines import Lines, closed_by_errors
from cobandit.policies.asktell import AskTell, Pull


class JournaledResult(NamedTuple):
    """Result of an evaluation in a journal."""

    #: The evaluation: the arm, and how many evaluations of this arm came before.
    pull: Pull
    #: Rewards, shape (D,); None for a failure.
    reward: NDArray[np.float64] | None
    #: Cost; None if none was reported.
    cost: float | None
    #: Further values that were reported with the result.
    record: dict[str, Any] | None


class Journal(AbstractContextManager["Journal"]):
    """A durable record of a policy's `ask` and `tell`, for evaluations that cost money.

    Every `ask`, `tell` and `leave_out` writes one line, which is on the disk before the
    call returns. Opening the file again repeats these calls on a fresh policy. The
    policy then continues after the last complete line as if there had been no
    interruption.

    **Repeated evaluations.** An evaluation is never requested or charged again after
    its `tell` has returned. If a process dies, its evaluations without a `tell` remain
    *in flight*: the journal cannot know whether they were made or billed. `in_flight`
    lists them. If a result can still be obtained, report it by `tell`. Otherwise `ask`
    returns the evaluations in flight again, oldest first and before any new one. The
    policy charges each of them once. The service may have billed one more call for
    every process that died during the evaluation.

    **Format.** A line is a JSON object that ends with the CRC-32 of everything before
    it in the file. The first line has the policy's class, its options and the names of
    the arms. If the last line has no newline, a process died while writing. This line
    is completed if only the newline is missing, and removed otherwise. Any other line
    that does not match its checksum raises an error, and the file is not changed.

    Parameters
    ----------
    path : str or path-like
        Path of the journal. A missing file is created, with an empty lock file next to
        it (``.lock``). Only one process at a time can open a journal.
    policy : CoHVUCB, CoPSI, ...
        A fresh policy with the same options as at the journal's creation. The policy
        has to be deterministic.
    names : sequence of str, optional
        Names of the K arms. They are stored in the first line, so that a journal cannot
        be continued with other configurations or another order.

    Attributes
    ----------
    policy : CoHVUCB, CoPSI, ...
        The policy. Read its state (``spent``, ``pulls``, ``recommend()``), but report
        results only to the journal.

    Raises
    ------
    TableError
        If the file is damaged, is open elsewhere, cannot be opened or locked, or
        belongs to a run with another policy, other options or other names; or if the
        policy already has evaluations.

    Notes
    -----
    Opening a journal repeats all choices of the policy, and takes as long as these
    choices. Writing a line takes milliseconds, because it waits for a flush to the
    disk. Lock and flush rely on the file system, so use a local disk. Some drives do
    not flush their internal cache.

    Examples
    --------
    >>> import tempfile, cobandit as cb
    >>> evaluate = {0: ([0.8, 0.5], 1.0), 1: ([0.5, 0.5], 0.25)}
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/run.journal"
    >>> with Journal(path, cb.CoHVUCB(2, 2, budget=4, cost_range=(0.25, 1))) as run:
    ...     for _ in range(3):
    ...         arm = run.ask()
    ...         run.tell(arm, *evaluate[arm])
    ...     run.ask()  # begun, and its result never reported
    0
    >>> with Journal(path, cb.CoHVUCB(2, 2, budget=4, cost_range=(0.25, 1))) as run:
    ...     print(run.in_flight, run.policy)
    ...     while (arm := run.ask()) is not None:
    ...         run.tell(arm, *evaluate[arm])
    [0] CoHVUCB(2 arms, 2 objectives, spent 2.25 of 4 in 3 pulls, 1 in flight)
    >>> run.policy.pulls, run.policy.spent
    (array([3, 4]), 4.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        policy: AskTell,
        *,
        names: Sequence[str] | None = None,
    ):
        if policy.begun.any() or policy.spent:
            problem = f"the policy already has evaluations: {policy}"
            remedy = "open the journal with a new policy"
            raise_fault(path, problem, remedy, "used-policy")

        self.path = Path(path)
        self.policy = policy
        self._results: list[JournaledResult] = []
        self._n_scored = 0  # number of results with a reward

        # evaluations in flight by key; True if `ask` has to return the evaluation
        # again, because the process that requested it died
        self._flying: dict[tuple[int, int], bool] = {}
        self._has_end_line = False
        header = make_header(policy, names)
        self._lines = Lines(self.path)
        with closed_by_errors(self):
            self._recover(header)
        self._flying = dict.fromkeys(self._flying, True)

    @property
    def in_flight(self) -> list[Pull]:
        """Evaluations that were requested and have no result, oldest first.

        Right after opening, these evaluations belong to processes that died.
        """
        return [Pull(*key) for key in self._flying]

    def records(self) -> list[JournaledResult]:
        """Return all results so far, including failures, in the order of reporting."""
        return list(self._results)

    def ask(self) -> Pull | None:
        """Return the next evaluation to make, and write a line for it.

        After opening, the evaluations `in_flight` are returned first, each of them
        once.

        Raises
        ------
        TableError
            If the journal is closed or cannot be written, or if the policy was used
            without the journal.
        """
        self._check_ready()
        with closed_by_errors(self):
            pull = self._ask()
            if pull is not None:
                self._lines.append({"ask": int(pull), "number": pull.number})
            elif not self._has_end_line and self.policy.finished:
                self._lines.append({"ask": None})
                self._has_end_line = True
        return pull

    def tell(
        self,
        arm: int,
        reward: ArrayLike | None,
        cost: float | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Report the result of an evaluation in flight, and write a line for it.

        Parameters
        ----------
        arm : Pull or int
            The evaluation: a return value of `ask`, or one of `in_flight`.
        reward : array_like, shape (D,), or None
            Objectives in [0, 1]; None for a failure.
        cost : float, optional
            Cost of the evaluation, as in `tell` of the policy.
        record : mapping, optional
            Further values to store with the result, by name: numbers, text or lists of
            them. `records` returns them.

        Warns
        -----
        GuaranteeWarning
            In the same cases as `tell` of the policy.

        Raises
        ------
        CobanditError
            If the policy refuses the result, or the record cannot be written as JSON.
            Then no line is written.
        TableError
            If the line cannot be written. The journal is then closed. The message
            contains the result, so that it can be reported after opening the journal
            again.
        """
        self._check_ready()
        plain_record = None
        if record is not None:
            plain_record = copy_plain(record, "record")
            if not isinstance(plain_record, dict):
                problem = f"record is {record!r}"
                remedy = "give a mapping of names to values"
                raise_fault(self.path, problem, remedy, "bad-record")

        pull = self.policy.find(arm)
        # a refusal by the policy changes nothing, so the journal stays open
        with closed_by_errors(self, but=(CobanditError,)):
            # A user may turn warnings into errors. Such an error must not occur between
            # the policy's update and the writing of the line.
            with warnings.catch_warnings(record=True, action="always") as caught:
                result = self._tell(pull, reward, cost, plain_record)
            values = None if result.reward is None else result.reward.tolist()
            self._lines.append(
                {
                    "tell": int(pull),
                    "number": pull.number,
                    "reward": values,
                    "cost": result.cost,
                    "record": plain_record,
                }
            )

        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)

    def leave_out(self, pull: int) -> None:
        """Exclude the instance of an evaluation for all arms, and write a line for it.

        Raises
        ------
        CobanditError
            If the policy cannot leave out instances. Then nothing is written.
        TableError
            If the line cannot be written, as in `tell`.
        """
        self._check_ready()
        # a failed evaluation, which is no longer in flight, can also be left out
        evaluation = pull if isinstance(pull, Pull) else self.policy.find(pull)
        with closed_by_errors(self, but=(CobanditError,)):
            self._leave_out(evaluation)
            self._lines.append(
                {"leave_out": int(evaluation), "number": evaluation.number}
            )

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._lines.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r}, {self.policy!r})"

    def _check_ready(self) -> None:
        if self._lines.file.closed:
            remedy = "open the journal again, with a new policy"
            raise_fault(self.path, "the journal is closed", remedy, "closed-journal")

        n_results = self.policy.pulls.sum()
        n_flying = self.policy.in_flight.sum()
        if (self._n_scored, len(self._flying)) != (n_results, n_flying):
            problem = "the journal and its policy have different evaluations"
            remedy = (
                "open the journal again with a new policy, and call ask and tell of the"
                " journal, not of the policy"
            )
            raise_fault(self.path, problem, remedy, "policy-used-directly")

    def _ask(self) -> Pull | None:
        repeated = next((key for key, waits in self._flying.items() if waits), None)
        pull = self.policy.ask() if repeated is None else Pull(*repeated)
        if pull is not None:
            self._flying[pull.key] = False
        return pull

    def _tell(
        self,
        pull: Pull,
        reward: ArrayLike | None,
        cost: float | None,
        record: dict[str, Any] | None,
    ) -> JournaledResult:
        self.policy.tell(pull, reward, cost)
        result = JournaledResult(
            pull=pull,
            reward=None if reward is None else np.array(reward, dtype=np.float64),
            cost=None if cost is None else float(cost),
            record=record,
        )
        self._results.append(result)
        self._n_scored += result.reward is not None
        del self._flying[pull.key]
        return result

    def _leave_out(self, pull: Pull) -> None:
        self.policy.leave_out(pull)
        self._flying.pop(pull.key, None)

    def _recover(self, header: dict[str, Any]) -> None:
        """Repeat the journaled calls; raise if the policy answers differently.

        An incomplete last line is completed or removed only afterwards.
        """
        entries = self._lines.entries
        if entries:
            old_header = add_defaults(entries[0], self.policy)
            differences = [words for _, words in compare_nested(old_header, header)]
            if differences:
                problem = f"the journal is from another run: {'; '.join(differences)}"
                remedy = (
                    "open it with the policy, options and names of that run, or choose"
                    " another file"
                )
                raise_fault(self.path, problem, remedy, "other-policy")
            for number, entry in enumerate(entries[1:], 2):
                self._replay(entry, number)
            self._lines.mend()
        elif self._lines.was_writing(header):
            self._lines.mend()
            self._lines.append(header)
        else:
            problem = (
                "this file is not a journal, or its first line is incomplete and from"
                " another policy"
            )
            remedy = "choose another file, or remove this one, which was not changed"
            raise_fault(self.path, problem, remedy, "not-a-journal")

    def _replay(self, entry: dict[str, Any], line: int) -> None:
        """Repeat the call that a line of the journal records."""
        place = f"{self.path}, line {line}"
        call, arm = next(iter(entry.items()))
        number = entry.get("number", -1)  # the line of the end has no number
        expected: tuple[int | None, int] = (arm, number)
        actual = expected
        try:
            if call == "tell":
                # the warning was already shown when the line was written
                with warnings.catch_warnings(action="ignore"):
                    self._tell(
                        Pull(arm, number),
                        entry["reward"],
                        entry["cost"],
                        entry["record"],
                    )
            elif call == "leave_out":
                self._leave_out(Pull(arm, number))
            elif expected not in self._flying:
                # a later process requested this evaluation again, which was in flight
                pull = self._ask()
                self._has_end_line = pull is None
                actual = (None, -1) if pull is None else pull.key
        except CobanditError as error:
            problem = f"the policy now refuses this result: {error}"
            remedy = "restore the policy's code, or choose another file"
            raise_fault(place, problem, remedy, "policy-refuses")

        if actual != expected:
            problem = (
                f"the policy requested evaluation {number} of arm {arm} then, but"
                f" evaluation {actual[1]} of arm {actual[0]} now"
            )
            remedy = (
                "the policy's code has changed, or it is not deterministic. Restore"
                " the code, or choose another file; this file was not changed"
            )
            raise_fault(place, problem, remedy, "policy-differs")
