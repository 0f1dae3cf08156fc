"""A journal of a live run: kill the process at any point, start it again, and it goes on where it was."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.live.log import Lines
from cobandit.policies.asktell import AskTell

#: Of the lines; part of the first one.
FORMAT = 1


class Journal:
    """Ask and tell through a durable file, for evaluations that cost money.

    Every `ask` and `tell` is one line, on the disk before the call returns.  Opening the file again brings a
    fresh policy to the state that the last complete line left, by asking and telling it anew; the next `ask`
    then returns what it would have returned without the interruption.

    **What is done twice.**  An evaluation whose `tell` has returned is never asked for nor charged again.
    A process that dies between an `ask` and the end of its `tell` leaves that one evaluation *in flight*:
    whether it was made, or billed by whoever made it, cannot be known from here.  `in_flight` names its arm.
    If its result can still be found, `tell` it; otherwise the next `ask` returns the same arm, its evaluation
    is made again, and the policy charges it once.  Each process that hands an arm out writes its own ``ask``
    line, so the ``ask`` lines of an arm less its ``tell`` lines are the evaluations that may have been billed
    without a result: at most one for each time that a process died.

    **What a line is.**  A JSON object that ends with the CRC-32 of everything before it in the file.  The
    first line holds the policy's class, its options and the names of the arms.  A last line without its
    newline was being written when the process died, and is dropped unless the newline is all that it lacks.
    Any other line that does not fit its checksum is an error, and the file is left as it is.

    Parameters
    ----------
    path : str or path-like
        The file; it is made if absent.  One process at a time can have it open.
    policy : CoHVUCB, CoPSI, ...
        A fresh policy, made with the options with which the journal was started.  It has to be deterministic.
    names : sequence of str, optional
        What the K arms stand for.  Kept in the first line, so that a journal is not continued with another
        list, or another order, of configurations.

    Attributes
    ----------
    policy : CoHVUCB, CoPSI, ...
        To be looked at (``spent``, ``pulls``, ``recommend()``); it is told through the journal only.

    Raises
    ------
    CobanditError
        If the file is open elsewhere, damaged (with the line), or belongs to a run with another policy,
        other options or names; if the policy is not fresh; on a system without ``fcntl`` (Windows).

    Notes
    -----
    Opening takes as long as the policy needs to choose all arms again; each `ask` and each `tell` waits for
    one flush to the disk, which takes milliseconds.  The lock and the flush are promises of the file system:
    use a local disk, and know that a drive may lie about its own cache.

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
    0 CoHVUCB(2 arms, 2 objectives, spent 2.25 of 4 in 3 pulls)
    >>> run.policy.pulls, run.policy.spent
    (array([3, 4]), 4.0)
    """

    def __init__(self, path: str | os.PathLike[str], policy: AskTell, *, names: Sequence[str] | None = None):
        if policy.pulls.any() or policy.waiting is not None:
            raise CobanditError(f"the policy is not fresh ({policy}): make a new one to open a journal with")
        self.path = Path(path)
        self.policy = policy
        self._told = 0
        self._begun = False  # whether this object has handed out what the last ask returned
        header = _header(policy, names)
        self._lines = Lines(self.path)
        try:
            self._recover(header)
        except BaseException:
            self.close()
            raise

    @property
    def in_flight(self) -> int | None:
        """Arm whose evaluation was begun and not told; right after opening, by a process that has died."""
        return self.policy.waiting

    def ask(self) -> int | None:
        """Return the arm to evaluate next, None once the run is over; the journal knows before you do.

        Raises
        ------
        CobanditError
            If the journal is closed, could not be written, or the policy was told behind its back.
        """
        self._check_ready()
        try:
            arm = self.policy.ask()
            if not self._begun:
                self._lines.append({"ask": arm})
                self._begun = True
        except BaseException:  # an interrupted policy is in no state to go on
            self.close()
            raise
        return arm

    def tell(self, arm: int, reward: ArrayLike, cost: float | None = None) -> None:
        """Report the evaluation of the arm that was asked for, as to the policy; it is on disk on return.

        Parameters
        ----------
        arm : int
            What `ask` returned, or `in_flight`.
        reward : array_like, shape (D,)
            Objectives in [0, 1].
        cost : float, optional
            As the policy takes it.

        Warns
        -----
        GuaranteeWarning
            As the policy does.

        Raises
        ------
        CobanditError
            If the policy refuses it: nothing is written then.  If it could not be written: the journal is
            closed, and the message holds what was told, to be told again once the journal is open.
        """
        self._check_ready()
        values = _check.numbers(reward, "reward", 1)
        try:
            # A warning may have been made an error: it must not come between the policy and the line.
            with warnings.catch_warnings(record=True) as doubts:
                warnings.simplefilter("always")
                self.policy.tell(arm, values, cost)
            line = {
                "tell": int(arm),
                "reward": values.tolist(),
                "cost": None if cost is None else float(cost),
            }
            self._told += 1
            self._begun = False
            self._lines.append(line)
        except CobanditError:  # refused, or not written: it has closed the journal then
            raise
        except BaseException:
            self.close()
            raise
        for doubt in doubts:
            warnings.warn(doubt.message, stacklevel=2)

    def close(self) -> None:
        """Close the file and let others open it."""
        self._lines.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r}, {self.policy!r})"

    def _check_ready(self) -> None:
        if self._lines.closed:
            raise CobanditError(f"{self.path} is closed: open it again, with a fresh policy")
        if self.policy.pulls.sum() != self._told:
            raise CobanditError(
                f"{self.path} holds {self._told} evaluations, the policy has {self.policy.pulls.sum()}: tell "
                "the journal, not the policy, and open it again with a fresh policy"
            )

    def _recover(self, header: dict[str, Any]) -> None:
        """Bring the policy to the state that the file holds, and only then change the file."""
        entries = self._lines.entries
        if entries:
            self._compare(entries[0], header)
            for number, entry in enumerate(entries[1:], 2):
                self._replay(entry, number)
            self._lines.mend()
        elif self._lines.was_writing(header):
            self._lines.mend()
            self._lines.append(header)
        else:
            raise CobanditError(
                f"{self.path} is no journal, or its first line was cut short under another policy; it is "
                "left as it is: choose another file, or remove it"
            )

    def _compare(self, written: dict[str, Any], header: dict[str, Any]) -> None:
        there, here = (head | head.get("options", {}) | {"options": None} for head in (written, header))
        other = [
            f"{key} is {there.get(key)!r} there and {here.get(key)!r} here"
            for key in here | there
            if there.get(key) != here.get(key)
        ]
        if other:
            raise CobanditError(
                f"{self.path} belongs to another run: {'; '.join(other)}.  Continue it with what it was "
                "started with, or choose another file"
            )

    def _replay(self, entry: dict[str, Any], number: int) -> None:
        """Do to the policy what a line says was done."""
        try:
            if "tell" in entry:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it was given when the line was written
                    self.policy.tell(entry["tell"], entry["reward"], entry["cost"])
                self._told += 1
                self._begun = False
                return
            arm = self.policy.ask()
        except CobanditError as error:
            raise CobanditError(f"{self.path}, line {number}: the policy refuses it now: {error}") from error
        if arm != entry["ask"]:
            raise CobanditError(
                f"{self.path}, line {number}: the policy asked for arm {entry['ask']} then and for {arm} "
                "now: its code has changed since, or it is not deterministic.  The file is left as it is"
            )
        self._begun = arm is None  # the end is written once, an arm by each process that hands it out


def _header(policy: AskTell, names: Sequence[str] | None) -> dict[str, Any]:
    """What identifies a run, as it looks after a way through JSON."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != policy.n_arms:
            raise CobanditError(f"names: {policy.n_arms} are needed, one an arm, got {len(names)}")
    options = {name: _plain(value, name) for name, value in policy.options.items()}
    return {"journal": FORMAT, "policy": type(policy).__qualname__, "names": names, "options": options}


def _plain(value: Any, name: str) -> Any:
    """An option as JSON gives it back."""
    try:
        return json.loads(json.dumps(value, default=lambda x: np.asarray(x).tolist(), allow_nan=False))
    except (TypeError, ValueError):
        raise CobanditError(
            f"option {name} is {value!r}: a journal needs numbers, text or arrays of them "
            "(a seed, not a generator)"
        ) from None
