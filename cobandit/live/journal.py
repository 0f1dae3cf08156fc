"""A journal of a live run: kill the process at any point, start it again, and it goes on where it was."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.errors import CobanditError
from cobandit.live.headers import add_defaults, compare_nested, copy_plain, make_header
from cobandit.live.lines import Lines, closed_by_errors
from cobandit.policies.asktell import AskTell, Pull


class Told(NamedTuple):
    """One evaluation in a journal.

    ``reward`` (D,) is None for a failure, ``cost`` None if none was given, and
    ``record`` what else was to be kept.
    """

    pull: Pull
    reward: NDArray[np.float64] | None
    cost: float | None
    record: dict[str, Any] | None


class Journal(AbstractContextManager["Journal"]):
    """Ask and tell through a durable file, for evaluations that cost money.

    Every `ask`, `tell` and `leave_out` is one line, on the disk before the call
    returns.  Opening the file again brings a fresh policy to the state that the last
    complete line left, by asking and telling it again; it then goes on as it would have
    without the interruption.

    **What is done twice.**  An evaluation whose `tell` has returned is never asked for
    nor charged again. A process that dies leaves those that it had begun and not told
    *in flight*: whether they were made, or billed by whoever made them, cannot be known
    from here.  `in_flight` names them.  If the result of one can still be found, `tell`
    it; otherwise `ask` hands them out again, in their order and before anything new,
    they are made again, and the policy charges each once.  Each process that hands an
    evaluation out writes its own ``ask`` line, so the ``ask`` lines of an evaluation
    less its ``tell`` lines say how often it may have been billed without a result: at
    most once for each time that a process died.

    **What a line is.**  A JSON object that ends with the CRC-32 of everything before it
    in the file.  The first line holds the policy's class, its options and the names of
    the arms.  A last line without its newline was being written when the process died,
    and is dropped unless the newline is all that it lacks. Any other line that does not
    fit its checksum is an error, and the file is left as it is.

    Parameters
    ----------
    path : str or path-like
        The file; it is made if absent, and next to it an empty one whose name ends with
        ``.lock``.  One process at a time can have it open.
    policy : CoHVUCB, CoPSI, ...
        A fresh policy, made with the options with which the journal was started.  It
        has to be deterministic.
    names : sequence of str, optional
        What the K arms stand for.  Kept in the first line, so that a journal is not
        continued with another list, or another order, of configurations.

    Attributes
    ----------
    policy : CoHVUCB, CoPSI, ...
        To be looked at (``spent``, ``pulls``, ``recommend()``); it is told through the
        journal only.

    Raises
    ------
    CobanditError
        If the file is open elsewhere, damaged (with the line), cannot be opened or
        locked, or belongs to a run with another policy, other options or names; if the
        policy is not fresh.

    Notes
    -----
    Opening takes as long as the policy needs to choose all arms again; each line waits for one flush to the
    disk, which takes milliseconds.  The lock and the flush are promises of the file system: use a local disk,
    and know that a drive may lie about its own cache.

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
    ...     run.ask()  # begun, and never told
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
            raise CobanditError(
                f"the policy is not fresh ({policy}): make a new one to open a journal"
                " with"
            )

        self.path = Path(path)
        self.policy = policy
        self._told: list[Told] = []
        self._scored = 0  # evaluations with a reward

        # by evaluation in flight, whether it has to be handed out again, since its
        # process died
        self._flying: dict[tuple[int, int], bool] = {}
        self._ended = False  # whether the end of the run has its line
        header = make_header(policy, names)
        self._lines = Lines(self.path)
        with closed_by_errors(self):
            self._recover(header)
        self._flying = dict.fromkeys(self._flying, True)

    @property
    def in_flight(self) -> list[Pull]:
        """Evaluations begun and not told, oldest first; right after opening, those of processes that died."""
        return [Pull(*key) for key in self._flying]

    def records(self) -> list[Told]:
        """Return every evaluation told so far, failures too, in order."""
        return list(self._told)

    def ask(self) -> Pull | None:
        """Hand out the next evaluation, as the policy does; its line is on disk on return.

        Right after opening those `in_flight` come first, once each.

        Raises
        ------
        CobanditError
            If the journal is closed, could not be written, or the policy was told
            behind its back.
        """
        self._check_ready()
        with closed_by_errors(self):
            pull = self._ask()
            if pull is not None:
                self._lines.append({"ask": int(pull), "number": pull.number})
            elif not self._ended and self.policy.finished:
                self._lines.append({"ask": None})
                self._ended = True
        return pull

    def tell(
        self,
        arm: int,
        reward: ArrayLike | None,
        cost: float | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Report an evaluation that is in flight, as to the policy; it is on disk on return.

        Parameters
        ----------
        arm : Pull or int
            What `ask` returned, or one of `in_flight`.
        reward : array_like, shape (D,), or None
            Objectives in [0, 1]; None is a failure.
        cost : float, optional
            As the policy takes it.
        record : mapping, optional
            Further values to keep of the evaluation, for `records`: names, with
            numbers, text or lists of them.

        Warns
        -----
        GuaranteeWarning
            As the policy does.

        Raises
        ------
        CobanditError
            If the policy refuses it, or the record cannot be kept: nothing is written
            then.  If it could not be written: the journal is closed, and the message
            holds the evaluation, to be told again once the journal is open.
        """
        self._check_ready()
        kept = None if record is None else copy_plain(record, "record")
        if not isinstance(kept, dict | None):
            raise CobanditError(
                f"record is {record!r}: a mapping of names to values is needed"
            )

        pull = self.policy.find(arm)
        with closed_by_errors(self, but=(CobanditError,)):  # a refusal changes nothing
            # A warning may have been made an error: it must not come between the policy
            # and the line.
            with warnings.catch_warnings(record=True, action="always") as doubts:
                told = self._tell(pull, reward, cost, kept)
            values = None if told.reward is None else told.reward.tolist()
            evaluation = {"tell": int(pull), "number": pull.number}
            self._lines.append(
                evaluation | {"reward": values, "cost": told.cost, "record": kept}
            )

        for doubt in doubts:
            warnings.warn(doubt.message, stacklevel=2)

    def leave_out(self, pull: int) -> None:
        """Leave the instance of an evaluation out, as the policy does; it is on disk on return.

        Raises
        ------
        CobanditError
            If the policy refuses it: nothing is written then.  As `tell` if it could
            not be written.
        """
        self._check_ready()
        # a failure may be left out, too, and is not in flight
        evaluation = pull if isinstance(pull, Pull) else self.policy.find(pull)
        with closed_by_errors(self, but=(CobanditError,)):
            self._leave_out(evaluation)
            self._lines.append(
                {"leave_out": int(evaluation), "number": evaluation.number}
            )

    def close(self) -> None:
        """Close the file and let others open it."""
        self._lines.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r}, {self.policy!r})"

    def _check_ready(self) -> None:
        if self._lines.file.closed:
            raise CobanditError(
                f"{self.path} is closed: open it again, with a fresh policy"
            )
        if (self._scored, len(self._flying)) != (
            self.policy.pulls.sum(),
            self.policy.in_flight.sum(),
        ):
            raise CobanditError(
                f"{self.path} holds other evaluations than its policy: ask and tell the"
                " journal, not the policy, and open it again with a fresh policy"
            )

    def _ask(self) -> Pull | None:
        again = next((key for key, waits in self._flying.items() if waits), None)
        pull = self.policy.ask() if again is None else Pull(*again)
        if pull is not None:
            self._flying[pull.key] = False
        return pull

    def _tell(
        self,
        pull: Pull,
        reward: ArrayLike | None,
        cost: float | None,
        record: dict[str, Any] | None,
    ) -> Told:
        self.policy.tell(pull, reward, cost)
        values = None if reward is None else np.array(reward, dtype=np.float64)
        told = Told(pull, values, None if cost is None else float(cost), record)
        self._told.append(told)
        self._scored += values is not None
        del self._flying[pull.key]
        return told

    def _leave_out(self, pull: Pull) -> None:
        self.policy.leave_out(pull)
        self._flying.pop(pull.key, None)

    def _recover(self, header: dict[str, Any]) -> None:
        """Bring the policy to the state of the file, and only then change the file."""
        entries = self._lines.entries
        if entries:
            there = add_defaults(entries[0], self.policy)
            differences = [words for _, words in compare_nested(there, header)]
            if differences:
                raise CobanditError(
                    f"{self.path} belongs to another run: {'; '.join(differences)}."
                    " Continue it with its own policy, options and names, or choose"
                    " another file"
                )
            for number, entry in enumerate(entries[1:], 2):
                self._replay(entry, number)
            self._lines.mend()
        elif self._lines.was_writing(header):
            self._lines.mend()
            self._lines.append(header)
        else:
            raise CobanditError(
                f"{self.path} is no journal, or its first line was cut short under"
                " another policy. It is left as it is: choose another file, or"
                " remove it"
            )

    def _replay(self, entry: dict[str, Any], line: int) -> None:
        """Repeat a line on the policy."""
        what, arm = next(iter(entry.items()))

        number = entry.get("number", -1)  # the line of the end has none
        asked: tuple[int | None, int] = arm, number
        try:
            if what == "tell":
                # it was given when the line was written
                with warnings.catch_warnings(action="ignore"):
                    self._tell(
                        Pull(arm, number),
                        entry["reward"],
                        entry["cost"],
                        entry["record"],
                    )
            elif what == "leave_out":
                self._leave_out(Pull(arm, number))
            elif asked not in self._flying:
                # else handed out once more, by a process that found it there
                pull = self._ask()
                self._ended = pull is None
                asked = (None, -1) if pull is None else pull.key
        except CobanditError as error:
            raise CobanditError(
                f"{self.path}, line {line}: the policy refuses it now: {error}"
            ) from error

        if asked != (arm, number):
            raise CobanditError(
                f"{self.path}, line {line}: the policy asked for evaluation {number} of"
                f" arm {arm} then and for {asked[1]} of arm {asked[0]} now: its code"
                " has changed since, or it is not deterministic. The file is left as"
                " it is"
            )
